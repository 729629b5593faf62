//! Sums over users that are exact to the last digits and do not depend on the number of threads.

use crate::bins::{Amounts, Bins, Grouping, NO_BIN};
use crate::reduction::CHUNK;
use rayon::prelude::*;

/// A sum that carries its own rounding error along (Neumaier).
#[derive(Clone, Copy, Default)]
pub(crate) struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    pub fn add(&mut self, x: f64) {
        let total = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() { (self.sum - total) + x } else { (x - total) + self.sum };
        self.sum = total;
    }

    pub fn value(self) -> f64 {
        self.sum + self.error
    }
}

/// Total of `amount · cost` for each group, in an order that does not depend on threads.
pub(crate) fn costs_of_groups(
    bins: &Bins,
    grouping: &Grouping,
    amounts: &Amounts,
    costs: &[f64],
) -> Vec<f64> {
    let mut sums = vec![Compensated::default(); grouping.groups.len()];
    for (i, bin) in bins.of.iter().enumerate() {
        if *bin != NO_BIN && amounts.amount[i] > 0.0 {
            sums[grouping.group(*bin, amounts.rising[i])].add(amounts.amount[i] * costs[i]);
        }
    }
    sums.into_iter().map(Compensated::value).collect()
}

/// `Σ amount · cost` over the rising and over the settled users.
pub(crate) fn total_costs(bins: &Bins, amounts: &Amounts, costs: &[f64]) -> (f64, f64) {
    let parts: Vec<[Compensated; 2]> = costs
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, costs)| {
            let mut sums = [Compensated::default(); 2];
            for (offset, cost) in costs.iter().enumerate() {
                let i = chunk * CHUNK + offset;
                if bins.of[i] != NO_BIN {
                    sums[usize::from(!amounts.rising[i])].add(amounts.amount[i] * cost);
                }
            }
            sums
        })
        .collect();
    let mut totals = [Compensated::default(); 2];
    for part in parts {
        totals[0].add(part[0].value());
        totals[1].add(part[1].value());
    }
    (totals[0].value(), totals[1].value())
}
