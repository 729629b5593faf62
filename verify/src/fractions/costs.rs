//! What a unit of work costs at a level's prices, compared in whole numbers.

use super::fraction::Fraction;
use super::stated::{Holding, Part, Stated, StatedLevel, Work};
use crate::users::UsableClasses;
use fairplan_instances::{ClassId, Instance, LimitRow, Objective, ResourceId, User};

/// A level's prices, per smallest unit.
pub(crate) struct LevelCosts<'a> {
    instance: &'a Instance,
    usable: &'a UsableClasses,
    pooled: bool,
    /// Row-major `classes × resources`; one class where all servers are one.
    prices: Vec<Fraction>,
    limit_prices: Vec<Fraction>,
    task_prices: &'a [(usize, Fraction)],
    nothing: Fraction,
    /// For each class the first with the same prices: where no limit has any, costs are alike there.
    alike: Vec<usize>,
    any_limit: bool,
}

impl<'a> LevelCosts<'a> {
    pub fn of(
        instance: &'a Instance,
        objective: Objective,
        usable: &'a UsableClasses,
        level: &'a StatedLevel,
    ) -> Self {
        let (m, pooled) = (instance.resources().len(), objective.is_pooled());
        let per_unit = |price: &Fraction, r: ResourceId| {
            let exponent = instance.unit_exponent(r);
            let power = Fraction::whole(num_bigint::BigInt::from(10).pow(u32::from(exponent.unsigned_abs())));
            if exponent < 0 { price.over(&power) } else { price.times(&power) }
        };
        let rows = if pooled { m } else { level.prices.len() };
        let prices: Vec<Fraction> = level.prices[..rows]
            .iter()
            .enumerate()
            .map(|(position, price)| per_unit(price, ResourceId(position % m)))
            .collect();
        let limit_prices: Vec<Fraction> = (level.limit_prices.iter().zip(instance.limit_rows()))
            .map(|(price, row): (&Fraction, &LimitRow)| per_unit(price, row.resource))
            .collect();
        let classes: Vec<&[Fraction]> = prices.chunks(m.max(1)).collect();
        let alike = (0..classes.len())
            .map(|class| (0..class).find(|other| classes[*other] == classes[class]).unwrap_or(class))
            .collect();
        Self {
            instance,
            usable,
            pooled,
            alike,
            any_limit: limit_prices.iter().any(Fraction::is_positive),
            prices,
            limit_prices,
            task_prices: &level.task_prices,
            nothing: Fraction::zero(),
        }
    }

    /// The rows that have a price: capacities, then limits.
    pub fn priced_rows(&self) -> Vec<usize> {
        let all = self.prices.iter().chain(&self.limit_prices);
        all.enumerate().filter(|(_, price)| price.is_positive()).map(|(row, _)| row).collect()
    }

    /// The price of one of a user's tasks.
    pub fn of_tasks(&self, user: User<'_>) -> &Fraction {
        let found = self.task_prices.binary_search_by_key(&user.index().0, |(user, _)| *user);
        found.map_or(&self.nothing, |position| &self.task_prices[position].1)
    }

    /// What one task costs on a class.
    fn of_task(&self, user: User<'_>, kind: usize, class: usize) -> Fraction {
        let m = self.instance.resources().len();
        let mut cost = self.of_tasks(user).clone();
        for r in (0..m).map(ResourceId) {
            let price = &self.prices[class * m + r.0];
            let units = self.usable.demand_units(user, kind, r);
            if units > 0 && price.is_positive() {
                cost = cost.plus(&price.times(&Fraction::whole(units)));
            }
        }
        if self.any_limit {
            for j in self.instance.limits_above(user) {
                let row = &self.instance.limit_rows()[j];
                let price = &self.limit_prices[j];
                let units = self.usable.demand_units(user, kind, row.resource);
                if units > 0 && price.is_positive() && (self.pooled || row.covers(ClassId(class))) {
                    cost = cost.plus(&price.times(&Fraction::whole(units)));
                }
            }
        }
        cost
    }

    /// What a unit of work costs a user where it works, all its kinds together: the least, where it works where that is cheapest.
    pub fn of_work(&self, user: User<'_>, holding: &Holding) -> Fraction {
        if self.pooled {
            return self.of_task(user, user.index().0, 0);
        }
        let mut sum = Fraction::zero();
        let mut before = None;
        for Part { kind, class, .. } in
            holding.parts.iter().filter(|part| before.replace(part.kind) != Some(part.kind))
        {
            let rate = Fraction::decimal(self.usable.of_kind(*kind).rate(*class));
            sum = sum.plus(&self.of_task(user, *kind, *class).over(&rate));
        }
        sum
    }

    /// Whether work of a user costs anything on a class.
    pub fn is_positive(&self, user: User<'_>, kind: usize, class: usize) -> bool {
        let m = self.instance.resources().len();
        let takes = |r: usize| self.usable.demand_units(user, kind, ResourceId(r)) > 0;
        (0..m).any(|r| self.prices[class * m + r].is_positive() && takes(r))
            || self.of_tasks(user).is_positive()
            || self.any_limit && self.of_task(user, kind, class).is_positive()
    }

    /// Whether work costs no less on any other class.
    pub fn is_cheapest(&self, user: User<'_>, kind: usize, class: usize) -> bool {
        let usable = self.usable.of_kind(kind);
        if self.pooled || usable.classes.len() == 1 {
            return true;
        }
        let alike = |other: usize| {
            !self.any_limit
                && self.alike[other] == self.alike[class]
                && usable.rate(other) == usable.rate(class)
        };
        let mut own = None;
        usable.classes.iter().filter(|other| **other != class && !alike(**other)).all(|&other| {
            let own = own.get_or_insert_with(|| {
                self.of_task(user, kind, class).over(&Fraction::decimal(usable.rate(class)))
            });
            self.of_task(user, kind, other).over(&Fraction::decimal(usable.rate(other))) >= *own
        })
    }
}

/// Whether a user who has all its tasks would have more if they ran on other classes.
pub(crate) fn could_do_more(stated: &Stated<'_>, user: User<'_>, holding: &Holding) -> bool {
    let (Work::Of(work), Some(all)) = (&holding.work, user.tasks()) else { return false };
    if stated.objective.is_pooled() || user.has_kinds() {
        return false;
    }
    let usable = stated.usable.of_user(user.index().0);
    let fastest = usable.classes.iter().map(|class| Fraction::decimal(usable.rate(*class))).max();
    fastest.is_some_and(|fastest| *work < fastest.times(&Fraction::whole(all)))
}
