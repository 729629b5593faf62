//! What a mechanism made of a series of demands: totals, metrics and, on request, every quantum.

use crate::Metrics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Totals of all users, and the metrics of the Karma paper (Sec. 5) and of Fair Shares (Sec. 3.1).
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicOutcome {
    /// Totals over all quanta, by user.
    pub users: Vec<UserTotals>,
    /// Measures of the whole.
    pub metrics: Metrics,
    /// Every quantum, if asked for.
    pub quanta: Option<Vec<QuantumOutcome>>,
}

/// What one user demanded and got over all quanta, in slices.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct UserTotals {
    /// Its true demand.
    pub demand: u64,
    /// What it was allocated.
    pub allocated: u64,
    /// What it was allocated and truly demanded: in each quantum the smaller of the two.
    pub useful: u64,
    /// The part of its demand that was satisfied, 0 to 1; for an auction, weighed by what it paid (Fair Shares
    /// eq. 2). `None` when it demanded nothing.
    pub welfare: Option<f64>,
    /// Quanta in which it demanded something.
    pub busy: u64,
    /// In so many of these it was satisfied: the sum of the parts of its demand that were.
    pub satisfied: f64,
    /// Credits left at the end, of mechanisms that have credits.
    pub credits: Option<f64>,
    /// Requests that a cache answers, under a [`CacheModel`], as a part of those when all is in the cache.
    /// `None` without a model, or when it demanded nothing.
    pub throughput: Option<f64>,
    /// Whether it reports its true demand and, in an auction, bids its true valuation.
    pub conformant: bool,
}

/// One quantum. Users in the order of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantumOutcome {
    /// Slices allocated to each user.
    pub allocated: Vec<u64>,
    /// Credits of each user after the quantum; empty for mechanisms without credits.
    pub credits: Vec<f64>,
}

/// What slices do for their user (Karma Sec. 5): of the working set, which is what a user demands, the part on its
/// slices is answered from memory, and the rest `slowdown` times slower. Every slice of the working set has its own
/// requests under way, one after the other. So slices in memory do the work and the others little: as the paper has it,
/// throughput is roughly in proportion to the slices allocated in total. (A user with a single request under way would
/// spend nearly all its time on the few that memory does not answer.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheModel {
    /// How many times slower the backing store is; the paper measured 50 to 100.
    pub slowdown: f64,
}

/// Slices as a cache (Karma Sec. 5): what is on them is answered from memory, the rest so many times slower; every slice
/// of the working set has its own requests under way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheMetrics {
    /// How many times slower the store behind the cache is.
    pub slowdown: f64,
    /// The mean throughput of the users.
    pub throughput_mean: f64,
    /// Median over smallest throughput of the users: Karma's performance disparity.
    pub throughput_disparity: f64,
    /// Largest over smallest throughput of the users.
    pub throughput_max_over_min: f64,
}

impl CacheModel {
    /// Requests that are answered in a quantum, in those of a slice in memory.
    pub fn answered(self, useful: u64, demand: u64) -> f64 {
        useful as f64 + (demand - useful) as f64 / self.slowdown
    }

    /// Of the users who demanded anything; all 1 if nobody did.
    pub fn metrics(self, users: &[UserTotals]) -> CacheMetrics {
        let mut throughputs: Vec<f64> = users.iter().filter_map(|user| user.throughput).collect();
        throughputs.sort_by(f64::total_cmp);
        let count = throughputs.len();
        let ratio = |of: f64| throughputs.first().map_or(1.0, |least| of / least);
        let middle = |position: usize| throughputs.get(position).copied().unwrap_or(1.0);
        let median = (middle(count.saturating_sub(1) / 2) + middle(count / 2)) / 2.0;
        CacheMetrics {
            slowdown: self.slowdown,
            throughput_mean: if count == 0 { 1.0 } else { throughputs.iter().sum::<f64>() / count as f64 },
            throughput_disparity: ratio(median),
            throughput_max_over_min: ratio(middle(count.saturating_sub(1))),
        }
    }
}
