//! An offline optimum that is stated in fractions, proved without any tolerance.
//!
//! The same proof as of doubles: whatever is decided, the users of the first levels get no more than `ρ` of them together, which is a
//! whole number of slices. Levels rise, everybody has just its level times its weight, and all of the first levels have just `ρ`:
//! so nobody can have more unless somebody has less who has no more.

use super::fraction::Fraction;
use super::rows::Rows;
use crate::exact::{Dyadic, Tally, excess};
use crate::tolerance::EXACT_DOUBLES;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ExactOffline, OfflineLevel, OfflineProblem};

/// An offline optimum whose fractions could be read.
pub(crate) struct ExactSlices {
    value: Fraction,
    levels: Vec<Fraction>,
    totals: Vec<Fraction>,
    allocated: Vec<Fraction>,
}

impl ExactSlices {
    /// Reads the fractions of a claim with so many levels.
    pub fn read(problem: &OfflineProblem<'_>, exact: &ExactOffline, levels: usize) -> Result<Self, Verdict> {
        let mut form = Worst::of("exact-form", 0.0);
        let mut read = |what: &str, texts: &[String], expected: usize| -> Vec<Fraction> {
            if texts.len() != expected {
                form.fail(|| format!("{what}: {} fractions are stated, {expected} are needed", texts.len()));
            }
            let fractions: Result<Vec<_>, String> = texts.iter().map(|text| Fraction::read(text)).collect();
            fractions.unwrap_or_else(|problem| {
                form.fail(|| format!("{what}: {problem}"));
                Vec::new()
            })
        };
        let series = problem.series;
        let value = read("the value", std::slice::from_ref(&exact.value), 1);
        let levels = read("levels", &exact.levels, levels);
        let totals = read("totals", &exact.totals, series.user_count());
        let allocated = read("allocated", &exact.allocated, series.entry_count());
        match form.passes().then(|| value.into_iter().next()).flatten() {
            Some(value) => Ok(Self { value, levels, totals, allocated }),
            None => Err(form.verdict()),
        }
    }

    /// Whether every demand gets no more than it is, no less than is guaranteed, and every quantum holds, in fractions and in
    /// doubles; and what each user gets in total.
    pub fn fits(&self, problem: &OfflineProblem<'_>, doubles: &[f64]) -> (Vec<Verdict>, Vec<Fraction>) {
        let series = problem.series;
        let (mut within, mut capacity) = (Worst::of("allocation", 0.0), Worst::of("capacity", 0.0));
        let mut close = Worst::of("exact-doubles", EXACT_DOUBLES);
        let mut totals = Rows::default();
        let mut start = 0;
        problem.for_each_quantum(|quantum, due, guaranteed| {
            let (users, slices) = series.demands(quantum);
            let entries = start..start + users.len();
            start = entries.end;
            let (amounts, doubles) = (&self.allocated[entries.clone()], &doubles[entries]);
            let mut used = Rows::default();
            for (position, (amount, double)) in amounts.iter().zip(doubles).enumerate() {
                let (user, sure, most) = (users[position] as usize, guaranteed[position], slices[position]);
                let place = || {
                    let label = series.label(quantum);
                    format!("user {} in quantum {label}", series.user_id(user).escape_debug())
                };
                if *amount < Fraction::whole(sure) || *amount > Fraction::whole(most) {
                    within.fail(|| {
                        let near = amount.near();
                        format!("{} gets {near}, where {sure} to {most} can be given", place())
                    });
                }
                used.add(0, amount);
                totals.add(user, amount);
                match double.is_finite() && *double >= 0.0 {
                    true => close.compare(*double, amount.near(), place),
                    false => close.fail(place),
                }
            }
            let all = due.capacity();
            let is_over = used.sums().remove(&0).is_some_and(|used| used > Fraction::whole(all));
            let mut tally = Tally::against(all.into());
            let usable = doubles.iter().filter(|double| double.is_finite() && **double >= 0.0);
            usable.clone().for_each(|double| tally.add(Dyadic::of(*double), Dyadic::at_least(1)));
            let doubles_over = !tally.fits() && excess(usable.map(|double| (*double, 1)), all.into()) > 0.0;
            if is_over || doubles_over {
                capacity.fail(|| format!("quantum {} has {all} slices", series.label(quantum)));
            }
        });
        let mut sums = totals.sums();
        let totals =
            (0..series.user_count()).map(|user| sums.remove(&user).unwrap_or_else(Fraction::zero)).collect();
        (vec![within.verdict(), capacity.verdict(), close.verdict()], totals)
    }

    /// Whether levels rise, everybody has just what its level says, and the users of the first levels have just the cut; and whether
    /// the numbers that are stated beside are those.
    pub fn levels(
        &self,
        problem: &OfflineProblem<'_>,
        levels: &[OfflineLevel],
        totals: &[Fraction],
        cuts: &[u128],
    ) -> Vec<Verdict> {
        let weights = problem.weights();
        let mut gaps = Worst::of("level-gaps", 0.0);
        let mut close = Worst::of("exact-level-doubles", EXACT_DOUBLES);
        let mut given = Fraction::zero();
        for (k, (level, value)) in levels.iter().zip(&self.levels).enumerate() {
            close.compare(level.value, value.near(), || format!("levels[{k}].value"));
            if k > 0 && *value <= self.levels[k - 1] {
                gaps.fail(|| format!("level {k} is no higher than the one before"));
            }
            for user in level.users.iter().map(|user| *user as usize) {
                if totals[user] != value.times(&Fraction::whole(weights[user])) {
                    gaps.fail(|| {
                        let id = problem.series.user_id(user).escape_debug();
                        format!("user {id} has {}, which is not level {k}", totals[user].near())
                    });
                }
                given = given.plus(&totals[user]);
            }
            if given != Fraction::whole(cuts[k]) {
                let (given, cut) = (given.near(), cuts[k]);
                gaps.fail(|| format!("the users of the first {} levels get {given} of {cut} slices", k + 1));
            }
        }
        let mut stated = Worst::of("exact-numbers", 0.0);
        let least = self.levels.first().cloned().unwrap_or_else(Fraction::zero);
        if self.value != least {
            stated.fail(|| "the value is not that of the lowest level".into());
        }
        if let Some(user) = (0..totals.len()).find(|user| totals[*user] != self.totals[*user]) {
            stated.fail(|| {
                let id = problem.series.user_id(user).escape_debug();
                format!(
                    "user {id} is said to have {} and has {}",
                    self.totals[user].near(),
                    totals[user].near()
                )
            });
        }
        vec![gaps.verdict(), close.verdict(), stated.verdict()]
    }
}
