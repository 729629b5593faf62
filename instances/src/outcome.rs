//! What a mechanism made of a series of demands: totals, metrics and, on request, every quantum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Totals of all users, and the metrics of the Karma paper (Sec. 5) and of Fair Shares (Sec. 3.1).
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicOutcome {
    /// Totals over all quanta, by user.
    pub users: Vec<UserTotals>,
    /// Measures of the whole.
    pub metrics: DynamicMetrics,
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

/// Measures of the whole, as Karma Sec. 5 and Fair Shares Sec. 3.1 define them. Users without any demand do not count in any
/// of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicMetrics {
    /// Useful slices over all slices there were.
    pub utilization: f64,
    /// Smallest over largest welfare of the conformant users (of all users, if nobody is conformant).
    pub fairness: f64,
    /// The smallest welfare.
    pub welfare_min: f64,
    /// The mean welfare.
    pub welfare_mean: f64,
    /// Smallest over largest total of useful slices.
    pub allocation_min_over_max: f64,
    /// Like `fairness`, within a quantum, among those who demand something in it; the mean over the quanta in which
    /// somebody does.
    pub short_term_fairness: f64,
    /// Mean welfare of the conformant users less that of the others: above zero, honesty pays. Absent unless there
    /// are both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incentive: Option<f64>,
    /// Slices that a user has and did not have in the quantum before: the mean over the quanta from the second on.
    pub handoffs_per_quantum: f64,
    /// What the mechanism keeps account of, for conformant users and for the others. Absent unless there are both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disparity: Option<Disparity>,
}

/// The mean account of two kinds of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disparity {
    /// Of what: `credits` at the end, the `unit_price` of won slices as a part of the valuation, `tickets` held in a
    /// quantum.
    pub quantity: String,
    /// The mean of the conformant users.
    pub conformant: f64,
    /// The mean of the others.
    pub non_conformant: f64,
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

impl CacheModel {
    /// Requests that are answered in a quantum, in those of a slice in memory.
    pub fn answered(self, useful: u64, demand: u64) -> f64 {
        useful as f64 + (demand - useful) as f64 / self.slowdown
    }
}
