//! What allocations in fractions take of each row, added up without rounding.

use super::filling::OfLevels;
use super::fraction::Fraction;
use super::rows::Rows;
use super::stated::{Holding, Stated, Work};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, ResourceId, User};
use num_bigint::BigInt;

/// What is taken of each row: capacities, class by class, and limits.
pub(super) struct UsedRows {
    pub taken: Vec<Fraction>,
    pub amounts: Vec<Fraction>,
    pub capacities: usize,
}

impl UsedRows {
    pub fn of(stated: &Stated<'_>, holdings: &[Holding]) -> Self {
        let instance = stated.instance;
        let (m, pooled) = (instance.resources().len(), stated.objective.is_pooled());
        let classes = if pooled { 1 } else { instance.classes().len() };
        let mut amounts = Vec::with_capacity(classes * m);
        for (class, r) in (0..classes).flat_map(|class| (0..m).map(move |r| (class, ResourceId(r)))) {
            amounts.push(Fraction::whole(match pooled {
                true => BigInt::from(instance.total_units(r)),
                false => {
                    BigInt::from(instance.capacity_units(ClassId(class), r)) * instance.classes()[class].count
                }
            }));
        }
        let capacities = amounts.len();
        amounts.extend(instance.limit_rows().iter().map(|row| Fraction::whole(instance.limit_units(row))));
        // What a unit of each level takes, what is known as a fraction, and what is known as a long one.
        let mut of_levels: Vec<Rows> = stated.levels.iter().map(|_| Rows::default()).collect();
        let mut known = Rows::default();
        let mut long = Vec::new();
        for (user, holding) in instance.users().zip(holdings) {
            for_each_part(stated, user, holding, |kind, class, amount| {
                let mut add = |row: usize, units: u128| {
                    let units = Fraction::whole(units);
                    match &amount {
                        PartAmount::OfLevels(tasks) => {
                            known.add(row, &tasks.constant.times(&units));
                            for (level, tasks) in &tasks.levels {
                                of_levels[*level].add(row, &tasks.times(&units));
                            }
                        }
                        PartAmount::Known(tasks) if tasks.below().bits() < LONG => {
                            known.add(row, &tasks.times(&units))
                        }
                        PartAmount::Known(tasks) => long.push((row, tasks.times(&units))),
                    }
                };
                for r in (0..m).map(ResourceId) {
                    add(class * m + r.0, stated.usable.demand_units(user, kind, r));
                }
                for j in instance.limits_above(user) {
                    let row = &instance.limit_rows()[j];
                    if pooled || row.covers(ClassId(class)) {
                        add(capacities + j, stated.usable.demand_units(user, kind, row.resource));
                    }
                }
            });
        }
        let mut taken = vec![Fraction::zero(); amounts.len()];
        for (row, sum) in known.sums() {
            taken[row] = sum;
        }
        for (rows, level) in of_levels.into_iter().zip(&stated.levels) {
            for (row, sum) in rows.sums() {
                taken[row] = taken[row].plus(&sum.times(&level.value));
            }
        }
        for (row, term) in long {
            taken[row] = taken[row].plus(&term);
        }
        Self { taken, amounts, capacities }
    }

    pub fn is_full(&self, row: usize) -> bool {
        self.taken[row] == self.amounts[row]
    }

    /// `exact-capacity`: nothing is overloaded, not by the smallest fraction.
    pub fn kept(&self, stated: &Stated<'_>) -> Verdict {
        let mut worst = Worst::of("exact-capacity", 0.0);
        if let Some(row) = (0..self.taken.len()).find(|row| self.taken[*row] > self.amounts[*row]) {
            worst.fail(|| format!("{} is overloaded", name_of_row(stated, self.capacities, row)));
        }
        worst.verdict()
    }
}

/// Bits from which a denominator is added apart: few are so long.
const LONG: u64 = 256;

pub(super) fn name_of_row(stated: &Stated<'_>, capacities: usize, row: usize) -> String {
    let instance = stated.instance;
    let m = instance.resources().len();
    match row.checked_sub(capacities) {
        Some(limit) => format!("limit {limit}, of {}", instance.name_of(instance.limit_rows()[limit].owner)),
        None if stated.objective.is_pooled() => format!("{} of the pool", instance.resources()[row % m]),
        None => format!("{} of class {}", instance.resources()[row % m], instance.classes()[row / m].id),
    }
}

/// Tasks on a class.
pub(super) enum PartAmount {
    /// So many for each unit of some levels.
    OfLevels(OfLevels),
    Known(Fraction),
}

/// Visits the kinds and classes where a user has tasks; the pool is class 0 and the user itself its kind.
pub(super) fn for_each_part(
    stated: &Stated<'_>,
    user: User<'_>,
    holding: &Holding,
    mut visit: impl FnMut(usize, usize, PartAmount),
) {
    let of_level = |rate: Option<Fraction>| match &holding.work {
        Work::Of(work) => PartAmount::Known(rate.map_or_else(|| work.clone(), |rate| work.over(&rate))),
        Work::OfLevel(level) => {
            let per_level = stated.work_per_level(user);
            let tasks = rate.map_or_else(|| per_level.clone(), |rate| per_level.over(&rate));
            PartAmount::OfLevels(OfLevels::level(*level, tasks))
        }
        Work::OfLevels(sum) => {
            PartAmount::OfLevels(rate.map_or_else(|| (**sum).clone(), |rate| sum.over(&rate)))
        }
    };
    if stated.objective.is_pooled() {
        visit(user.index().0, 0, of_level(None));
        return;
    }
    for part in &holding.parts {
        let amount = match &part.tasks {
            Some(tasks) => PartAmount::Known(tasks.clone()),
            None => of_level(Some(Fraction::decimal(user.rule().rate(ClassId(part.class))))),
        };
        visit(part.kind, part.class, amount);
    }
}

pub(super) fn in_full(stated: &Stated<'_>, amount: PartAmount) -> Fraction {
    match amount {
        PartAmount::OfLevels(tasks) => tasks.at(|level| &stated.levels[level].value),
        PartAmount::Known(tasks) => tasks,
    }
}
