//! How evenly users are served over time: the measures of Karma Sec. 5 and Fair Shares Sec. 3.1.

use crate::DemandSeries;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measures of the whole, as Karma Sec. 5 and Fair Shares Sec. 3.1 define them. Users without any demand do not count in any
/// of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DynamicMetrics")]
pub struct Metrics {
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

impl Metrics {
    /// Those of amounts that are all demanded, by honest users without accounts: one for each demand above zero, in the order of the series.
    /// `standings` are the users' totals as they are compared with each other, and `utilization` is known.
    pub(crate) fn of_amounts(
        series: &DemandSeries,
        amounts: &[f64],
        standings: &[f64],
        utilization: f64,
    ) -> Self {
        let demands = series.totals();
        let mut totals = vec![0.0; series.user_count()];
        // What each user had last, and in which quantum.
        let mut before = vec![(0, 0.0); series.user_count()];
        let (mut gained, mut busy, mut fairness) = (0.0, 0u64, 0.0);
        let mut amounts = amounts.iter();
        for quantum in 0..series.quantum_count() {
            let mut within = LeastAndMost::default();
            let (users, wanted) = series.demands(quantum);
            for ((user, wanted), amount) in users.iter().zip(wanted).zip(amounts.by_ref()) {
                let user = *user as usize;
                within.see(amount / *wanted as f64);
                totals[user] += amount;
                let (last, had) = before[user];
                let had = if last + 1 == quantum { had } else { 0.0 };
                if quantum > 0 {
                    gained += f64::max(amount - had, 0.0);
                }
                before[user] = (quantum, *amount);
            }
            if let Some(within) = within.ratio() {
                fairness += within;
                busy += 1;
            }
        }
        let demanding = || (0..totals.len()).filter(|user| demands[*user] > 0);
        let welfare = || demanding().map(|user| totals[user] / demands[user] as f64);
        let (all, count) = (LeastAndMost::of(welfare()), demanding().count());
        Self {
            utilization,
            fairness: all.ratio().unwrap_or(1.0),
            welfare_min: all.least().unwrap_or(1.0),
            welfare_mean: if count == 0 { 1.0 } else { welfare().sum::<f64>() / count as f64 },
            allocation_min_over_max: LeastAndMost::of(demanding().map(|user| standings[user]))
                .ratio()
                .unwrap_or(1.0),
            short_term_fairness: if busy == 0 { 1.0 } else { fairness / busy as f64 },
            incentive: None,
            handoffs_per_quantum: gained / series.quantum_count().saturating_sub(1).max(1) as f64,
            disparity: None,
        }
    }
}

/// The smallest and the largest of some numbers, of which there may be none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeastAndMost(Option<(f64, f64)>);

impl LeastAndMost {
    /// Those of all numbers.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut of = Self::default();
        numbers.for_each(|number| of.see(number));
        of
    }

    /// Takes note of one more.
    pub fn see(&mut self, number: f64) {
        let (least, most) = self.0.unwrap_or((number, number));
        self.0 = Some((least.min(number), most.max(number)));
    }

    /// The smallest.
    pub fn least(self) -> Option<f64> {
        self.0.map(|(least, _)| least)
    }

    /// The smallest over the largest; 1 when all are zero: they are equal.
    pub fn ratio(self) -> Option<f64> {
        self.0.map(|(least, most)| if most == 0.0 { 1.0 } else { least / most })
    }
}
