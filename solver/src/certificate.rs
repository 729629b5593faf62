//! What the solution proves: values, bounds and prices of the levels over the users themselves.

use crate::bins::{Amounts, Bins, NO_BIN};
use crate::level::dot;
use crate::progress::Progress;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::sums::{column, in_parts, table_of_sums, total_costs};
use crate::task_rows::cost_with_task_rows;
use fairplan_instances::{Allocation, ClassId, Instance, Level, LimitedBy, ResourceId, Status, UserId};
use rayon::prelude::*;
use std::ops::Range;

/// The relative gap up to which a solution is called optimal.
pub const TOLERANCE: f64 = 1e-9;

/// The same for a level above the first, with what the levels below it leave uncertain.
const UNCERTAINTY: f64 = 1e-8;

/// How much of the share that a level gave it a user may lose to the levels above.
const SHORTFALL: f64 = 1e-10;

/// A demand below this part of the same task's dominant one can be met from what the tolerance of an earlier
/// level leaves, so with several levels nothing is certain about such a user's share.
const HIDDEN: f64 = 1e-8;

/// Values, bounds and prices of the levels over the users themselves, from the final allocation; and whether they
/// prove it.
pub(crate) fn certify(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    progress: &Progress,
    raised: Vec<Vec<f64>>,
    costs: &mut [f64],
    allocation: &Allocation,
) -> (Vec<Level>, Status) {
    let users = &reduction.users;
    let (mut levels, mut status) = (Vec::new(), Status::Optimal);
    let shares = column(users.len(), |i| allocation.dominant_share(instance, UserId(users.position(i))));
    let has_bin = |i: &usize| bins.of[*i] != NO_BIN;
    let by_capacity = |i: &usize| progress.limited_by[*i] == LimitedBy::Capacity;
    let misses = |i: usize| 1.0 - shares[i] / progress.amounts.amount[i] > SHORTFALL;
    let any_misses = |range: Range<usize>| range.filter(has_bin).filter(by_capacity).any(misses);
    if in_parts(users.len(), any_misses).contains(&true) {
        status = Status::Uncertified;
    }
    let is_hidden = |d: &f64| *d > 0.0 && *d < HIDDEN;
    if raised.len() > 1 && users.directions.par_iter().flatten().any(is_hidden) {
        status = Status::Uncertified;
    }
    let mut gaps: Vec<f64> = Vec::new();
    for (position, mut level_prices) in raised.into_iter().enumerate() {
        drop_rounding_noise(&mut level_prices, &reduction.capacities);
        cheapest_costs(users, &level_prices, &reduction.capacities, costs);
        let rises = |i: &usize| {
            let (at, by_tasks) =
                (progress.level_of[*i] as usize, progress.limited_by[*i] == LimitedBy::Tasks);
            at > position || (at == position && !by_tasks)
        };
        let amount = |i: usize| if rises(&i) { users.weight(i) } else { shares[i] };
        let amounts =
            Amounts { amount: column(users.len(), amount), rising: column(users.len(), |i| rises(&i)) };
        let reached = |range: Range<usize>| {
            let reached = range.filter(has_bin).filter(rises).map(|i| shares[i] / users.weight(i));
            reached.fold(f64::INFINITY, f64::min)
        };
        let value = in_parts(users.len(), reached).into_iter().fold(f64::INFINITY, f64::min);
        let lent = cost_with_task_rows(reduction, &amounts, &level_prices, value, costs);
        let (rising, settled) = total_costs(bins, &amounts, costs);
        let bound = (dot(&level_prices, &reduction.capacities) + lent - settled) / rising;
        // What users settled at earlier levels may have missed there counts here at its price: where that is
        // steep, a level is less certain than its own gap says.
        let missed = table_of_sums(users.len(), 1, |range, sum| {
            for i in range.filter(|i| !amounts.rising[*i]).filter(has_bin).filter(by_capacity) {
                sum[0].add(gaps[progress.level_of[i] as usize] * amounts.amount[i] * costs[i]);
            }
        });
        let gap = 1.0 - value / bound;
        gaps.push(gap.max(0.0) + missed[0] / (rising * bound));
        if !(gap <= TOLERANCE && gaps[position] <= UNCERTAINTY) {
            status = Status::Uncertified;
        }
        // The multipliers of value: those of Σ_rising y = 1.
        let prices = prices_of_classes(instance, &reduction.members, &level_prices, 1.0 / rising);
        levels.push(Level { value, bound, prices });
    }
    (levels, status)
}

/// Prices of the instance's own classes and units, `scale` times those of the merged classes with these members.
pub(crate) fn prices_of_classes(
    instance: &Instance,
    members: &[Vec<ClassId>],
    prices: &[f64],
    scale: f64,
) -> Vec<f64> {
    let m = instance.resources().len();
    let mut of_classes = vec![0.0; instance.classes().len() * m];
    for (members, row) in members.iter().zip(prices.chunks(m)) {
        for &ClassId(class) in members {
            for (r, price) in row.iter().enumerate() {
                if *price > 0.0 {
                    of_classes[class * m + r] = scale * price / instance.total(ResourceId(r));
                }
            }
        }
    }
    of_classes
}

/// An interior point leaves a price of rounding size where the true one is zero.
fn drop_rounding_noise(prices: &mut [f64], capacities: &[f64]) {
    let total = dot(prices, capacities);
    for (price, capacity) in prices.iter_mut().zip(capacities) {
        if *price * capacity < 1e-12 * total {
            *price = 0.0;
        }
    }
}
