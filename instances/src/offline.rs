//! The best that could have been done, had all demands been known: what it is asked of, and what it is.

use crate::{DemandSeries, Entitlement, FairShares, GuaranteedFraction, Metrics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Demands that are all known beforehand, to be served as evenly as possible over all quanta.
#[derive(Clone, Copy)]
pub struct OfflineProblem<'a> {
    /// The demands.
    pub series: &'a DemandSeries,
    /// What is due to whom: the slices of every quantum, and the users' weights.
    pub shares: &'a FairShares,
    /// Everybody gets at least this fraction of its fair share in every quantum, or its demand if that is less.
    pub guaranteed: Option<GuaranteedFraction>,
    /// What is evened out.
    pub measure: OfflineMeasure,
    /// Whether slices are whole; otherwise they can be divided at will.
    pub whole_slices: bool,
}

/// What the lexicographic max-min is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfflineMeasure {
    /// Slices over all quanta, by weight; of tasks on servers, weighted dominant shares.
    Totals,
    /// The part of its demand that each user is allocated; of tasks on servers, of the work that all of them would do where
    /// they do most.
    Welfare,
}

impl OfflineProblem<'_> {
    /// Calls `each` with every quantum, what is due in it, and what is guaranteed of each demand above zero.
    pub fn for_each_quantum(&self, mut each: impl FnMut(usize, &Entitlement, &[u64])) {
        let series = self.series;
        let mut changes = series.member_changes().into_iter().peekable();
        let mut due = self.shares.entitlement(series, 0);
        let mut guaranteed = Vec::new();
        for quantum in 0..series.quantum_count() {
            if changes.next_if_eq(&quantum).is_some() {
                due = self.shares.entitlement(series, quantum);
            }
            let (users, slices) = series.demands(quantum);
            let part = |(user, slices): (&u32, &u64)| match self.guaranteed {
                Some(fraction) => due.guaranteed_share(*user as usize, fraction).min(*slices),
                None => 0,
            };
            guaranteed.clear();
            guaranteed.extend(users.iter().zip(slices).map(part));
            each(quantum, &due, &guaranteed);
        }
    }

    /// What each user's total is divided by: its fair share in lowest terms or, for welfare, its demand. 0 for who
    /// demands nothing and does not count.
    pub fn weights(&self) -> Vec<u64> {
        let totals = self.series.totals();
        match self.measure {
            OfflineMeasure::Welfare => totals,
            OfflineMeasure::Totals => {
                let weights = self.shares.weights(totals.len());
                totals
                    .iter()
                    .zip(weights)
                    .map(|(total, weight)| if *total > 0 { weight } else { 0 })
                    .collect()
            }
        }
    }

    /// The smallest measure of the users who demand anything, of their totals over all quanta; 0 if nobody does.
    pub fn smallest(&self, totals: &[f64]) -> f64 {
        let counting = totals.iter().zip(self.weights()).filter(|(_, weight)| *weight > 0);
        counting.map(|(total, weight)| total / weight as f64).reduce(f64::min).unwrap_or(0.0)
    }

    /// The measures of an allocation as a whole.
    pub fn metrics(&self, optimum: &OfflineOptimum) -> Metrics {
        let mut slices = 0u64;
        self.for_each_quantum(|_, due, _| slices += due.capacity());
        let totals = optimum.totals(self.series);
        let utilization = totals.iter().sum::<f64>() / slices as f64;
        Metrics::of_amounts(self.series, &optimum.allocated, &totals, utilization)
    }
}

/// A mechanism held against the optimum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// The mechanism.
    pub mechanism: String,
    /// The smallest measure that its useful slices come to.
    pub value: f64,
    /// `1 - value / optimum`.
    pub regret: f64,
    /// `(optimum - value)` over the number of quanta.
    pub regret_per_quantum: f64,
}

impl Against {
    /// A mechanism whose smallest measure is `value`, beside an optimum over so many quanta.
    pub fn new(mechanism: &str, value: f64, optimum: f64, quanta: usize) -> Self {
        Self {
            mechanism: mechanism.into(),
            value,
            regret: if optimum == 0.0 { 0.0 } else { 1.0 - value / optimum },
            regret_per_quantum: (optimum - value) / quanta as f64,
        }
    }

    /// Whether the regrets that are stated are those of the value beside them.
    pub fn is_beside(&self, optimum: f64, quanta: usize) -> bool {
        *self == Self::new(&self.mechanism, self.value, optimum, quanta)
    }
}

/// An allocation over all quanta, and what proves that none is more even.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineOptimum {
    /// Slices allocated to each demand above zero, in the order of the series. Whole if asked for.
    pub allocated: Vec<f64>,
    /// Users who end up at the same level, lowest first. The users of the first levels together are a cut: however
    /// slices are divided, they cannot get more in total than they do.
    pub levels: Vec<OfflineLevel>,
    /// Rounds over the quanta.
    pub rounds: usize,
    /// The same as fractions, if asked for; then the doubles are no larger than they.
    pub exact: Option<ExactOffline>,
}

/// An offline optimum as fractions: texts in lowest terms, `5/7` or `3`, as in [`ExactSolution`](crate::ExactSolution).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactOffline {
    /// The smallest measure of all who demand anything; 0 if nobody does.
    pub value: String,
    /// The value of each level.
    pub levels: Vec<String>,
    /// What each user gets over all quanta.
    pub totals: Vec<String>,
    /// What each demand above zero is allocated, in the order of the series.
    pub allocated: Vec<String>,
}

/// Users at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineLevel {
    /// What each of them could get at most, over its weight, once the lower levels have theirs.
    pub value: f64,
    /// The users, ascending.
    pub users: Vec<u32>,
}

impl OfflineOptimum {
    /// What each user gets over all quanta.
    pub fn totals(&self, series: &DemandSeries) -> Vec<f64> {
        let mut totals = vec![0.0; series.user_count()];
        let mut entry = 0;
        for quantum in 0..series.quantum_count() {
            for user in series.demands(quantum).0 {
                totals[*user as usize] += self.allocated[entry];
                entry += 1;
            }
        }
        totals
    }
}
