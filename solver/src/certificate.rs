//! What the solution proves: values, bounds and prices of the levels over the users themselves.

use crate::bins::{Amounts, Bins, NO_BIN};
use crate::level::dot;
use crate::population::Population;
use crate::progress::Progress;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::sums::{column, in_parts, table_of_sums};
use crate::task_rows::cost_with_task_rows;
use crate::tolerance::level::{
    ALL_TASKS, CLEARLY, FREEZING, HIDDEN, MEASURED, ROUNDED, ROUNDING, SHORTFALL, TOLERANCE, UNCERTAINTY,
    UNPRICED,
};
use fairplan_instances::{Allocation, ClassId, Instance, Level, LimitedBy, ResourceId, Status};
use std::ops::Range;

/// Values, bounds and prices of the levels over the users themselves, from the final allocation; and whether they
/// prove it.
pub(crate) fn certify(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    progress: &Progress,
    raised: Vec<Vec<f64>>,
    allocation: &Allocation,
) -> (Vec<Level>, Status) {
    let users = &reduction.users;
    let mut costs = vec![0.0; users.len()];
    let (mut levels, mut status) = (Vec::new(), Status::Optimal);
    let of_user = |i| allocation.dominant_share(instance, users.user_id(i));
    let of_users = column(users.users(), of_user);
    let shares = match users.lines {
        None => of_users.clone(),
        Some(_) => column(users.len(), |i| of_users[users.user_of(i)] * users.part(i)),
    };
    let has_bin = |i: &usize| bins.of[*i] != NO_BIN;
    let by_capacity = |i: &usize| progress.limited_by[*i] == LimitedBy::Capacity;
    // Levels above were solved with what these have at their level. Above the last one there is none: what its users miss is in its gap.
    let is_below = |i: &usize| progress.level_of[*i] as usize + 1 < raised.len();
    let misses = |i: usize| 1.0 - shares[i] / progress.amounts.amount[i] > SHORTFALL;
    let any_misses =
        |range: Range<usize>| range.filter(has_bin).filter(by_capacity).filter(is_below).any(misses);
    if in_parts(users.len(), any_misses).contains(&true) {
        status = Status::Uncertified;
    }
    let certifier = Certifier { reduction, bins, progress, shares: &shares };
    let mut gaps: Vec<f64> = Vec::new();
    for (position, raw) in raised.into_iter().enumerate() {
        let mut prices = raw.clone();
        drop_rounding_noise(&mut prices, &reduction.capacities);
        let mut proof = certifier.prove(position, &prices, &gaps, &mut costs);
        if !proof.holds() && prices != raw {
            // What looks like rounding may be all that keeps users off a class that is next to nothing of the whole.
            let other = certifier.prove(position, &raw, &gaps, &mut costs);
            if other.holds() || other.gap < proof.gap {
                (proof, prices) = (other, raw);
            }
        }
        gaps.push(proof.uncertainty);
        if !proof.holds() || certifier.leaves_hidden_ways(position, &prices) {
            status = Status::Uncertified;
        }
        // The multipliers of value: those of Σ_rising y = 1.
        let prices = prices_of_classes(instance, &reduction.members, &prices, 1.0 / proof.rising);
        let limit_prices = Vec::new();
        levels.push(Level { value: proof.value, bound: proof.bound, prices, limit_prices });
    }
    (levels, status)
}

/// The users and what they have, by which levels are proved.
struct Certifier<'a> {
    reduction: &'a Reduction,
    bins: &'a Bins,
    progress: &'a Progress,
    /// The dominant share of each user.
    shares: &'a [f64],
}

/// What some prices prove of a level.
struct Proof {
    value: f64,
    bound: f64,
    /// What the shares of those who rise cost for each level.
    rising: f64,
    gap: f64,
    /// The gap, with what the levels below leave uncertain.
    uncertainty: f64,
    /// The largest gain that the prices leave open to a user whom capacity freezes here.
    gain: f64,
}

impl Proof {
    fn holds(&self) -> bool {
        self.gap <= TOLERANCE && self.uncertainty <= UNCERTAINTY && self.gain <= FREEZING
    }
}

impl Certifier<'_> {
    /// Proves the level at this position by these prices, given how uncertain the levels below it are.
    fn prove(&self, position: usize, prices: &[f64], gaps: &[f64], costs: &mut [f64]) -> Proof {
        let Self { reduction, bins, progress, shares } = *self;
        let users = &reduction.users;
        let has_bin = |i: &usize| bins.of[*i] != NO_BIN;
        let by_capacity = |i: &usize| progress.limited_by[*i] == LimitedBy::Capacity;
        cheapest_costs(users, prices, &reduction.capacities, costs);
        let rises = |i: &usize| {
            let (at, by_tasks) =
                (progress.level_of[*i] as usize, progress.limited_by[*i] == LimitedBy::Tasks);
            at > position || (at == position && !by_tasks)
        };
        let amount = |i: usize| if rises(&i) { users.weight(i) } else { shares[i] };
        let amounts = Amounts::new(column(users.len(), amount), column(users.len(), |i| rises(&i)));
        let reached = |range: Range<usize>| {
            let reached = range.filter(has_bin).filter(rises).map(|i| shares[i] / users.weight(i));
            reached.fold(f64::INFINITY, f64::min)
        };
        let value = in_parts(users.len(), reached).into_iter().fold(f64::INFINITY, f64::min);
        let lent = cost_with_task_rows(reduction, &amounts, prices, value, costs);
        let (rising, settled) = bins.total_costs(&amounts, costs);
        let worth = dot(prices, &reduction.capacities) + lent;
        let bound = (worth - settled) / rising;
        // What users settled at earlier levels may have missed there counts here at its price: where that is
        // steep, a level is less certain than its own gap says.
        let missed = table_of_sums(users.len(), 1, |range, sum| {
            for i in range.filter(|i| !amounts.rising[*i]).filter(has_bin).filter(by_capacity) {
                sum[0].add(gaps[progress.level_of[i] as usize] * amounts.amount[i] * costs[i]);
            }
        });
        // What the worth of all capacity leaves for one user when all others keep what they have up to this level.
        let left = (worth - settled - value * rising).max(0.0) + ROUNDING * worth;
        let is_frozen = |i: &usize| progress.level_of[*i] as usize == position && by_capacity(i);
        let measure = |share: f64| share.min(MEASURED);
        let of_users = users.costs_of_users(costs);
        // What more of a user's share costs, all its kinds together.
        let gain = |i: usize| match &of_users {
            None => costs[i] * measure(shares[i]),
            Some(of_users) => of_users[i] * measure(shares[i] / users.part(i)),
        };
        let clear = ClearPrices::of(reduction, prices);
        let price = |range: Range<usize>| {
            let frozen = range.filter(has_bin).filter(is_frozen).filter(|i| !self.nearly_all_tasks(*i));
            // Who is so small that rounding would be a gain is held by clear prices, too.
            let counts = |i: usize, gain: f64| {
                left > ROUNDED * worth || gain * FREEZING >= ROUNDED * worth || !clear.hold(users, i)
            };
            frozen
                .map(|i| (i, gain(i)))
                .filter(|(i, gain)| counts(*i, *gain))
                .map(|(_, gain)| gain)
                .fold(f64::INFINITY, f64::min)
        };
        let price = in_parts(users.len(), price).into_iter().fold(f64::INFINITY, f64::min);
        let gap = 1.0 - value / bound;
        let uncertainty = gap.max(0.0) + missed[0] / (rising * bound);
        Proof { value, bound, rising, gap, uncertainty, gain: left / price }
    }

    /// Whether some user of a later level could use a class that this one has closed: where its task needs so little of
    /// what has a price here that the tolerance of this level pays for it, nothing is certain about its share.
    fn leaves_hidden_ways(&self, position: usize, prices: &[f64]) -> bool {
        let Self { reduction, bins, progress, .. } = *self;
        let (users, m) = (&reduction.users, reduction.resources);
        let little = HIDDEN * dot(prices, &reduction.capacities);
        let is_later = |i: &usize| bins.of[*i] != NO_BIN && progress.level_of[*i] as usize > position;
        let needs_little = |i: &usize| users.directions.iter().any(|d| d[*i] > 0.0 && d[*i] < HIDDEN);
        let has_way = |i: usize| {
            let rates = &reduction.patterns[users.pattern[i] as usize];
            prices.chunks(m).zip(rates).any(|(row, rate)| {
                let cost: f64 = row.iter().zip(&users.directions).map(|(price, d)| price * d[i]).sum();
                *rate > 0.0 && cost > 0.0 && cost < little
            })
        };
        let part = |range: Range<usize>| range.filter(is_later).filter(needs_little).any(has_way);
        in_parts(users.len(), part).contains(&true)
    }

    /// Whether a user has hardly any tasks left to gain by.
    fn nearly_all_tasks(&self, user: usize) -> bool {
        let cap = self.progress.cap(self.reduction, user);
        cap - self.shares[user] <= ALL_TASKS * self.shares[user]
    }
}

/// Which prices are clear.
struct ClearPrices<'a> {
    reduction: &'a Reduction,
    /// Row-major `classes × resources`.
    clear: Vec<bool>,
}

impl<'a> ClearPrices<'a> {
    fn of(reduction: &'a Reduction, prices: &[f64]) -> Self {
        let prices = &prices[..reduction.classes() * reduction.resources];
        let least = CLEARLY * prices.iter().copied().fold(0.0, f64::max);
        Self { reduction, clear: prices.iter().map(|price| *price > 0.0 && *price >= least).collect() }
    }

    /// Whether one of the kinds of this user needs something that is clearly priced wherever it can run.
    fn hold(&self, users: &Population, line: usize) -> bool {
        let m = self.reduction.resources;
        users.lines_of(users.user_of(line)).any(|line| {
            let rates = self.reduction.patterns[users.pattern[line] as usize].iter();
            let needs = |row: &[bool]| {
                row.iter().zip(&users.directions).any(|(clear, need)| *clear && need[line] > 0.0)
            };
            self.clear.chunks(m).zip(rates).all(|(row, rate)| *rate == 0.0 || needs(row))
        })
    }
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
                    of_classes[class * m + r] = scale * price / instance.measure(ResourceId(r));
                }
            }
        }
    }
    of_classes
}

/// An interior point leaves a price of rounding size where the true one is zero.
pub(crate) fn drop_rounding_noise(prices: &mut [f64], capacities: &[f64]) {
    let total = dot(prices, capacities);
    for (price, capacity) in prices.iter_mut().zip(capacities) {
        if *price * capacity < UNPRICED * total {
            *price = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_just_inside_each_tolerance_and_not_just_outside() {
        let proof =
            |gap, uncertainty, gain| Proof { value: 1.0, bound: 1.0, rising: 1.0, gap, uncertainty, gain };
        assert!(proof(0.999 * TOLERANCE, 0.999 * UNCERTAINTY, 0.999 * FREEZING).holds());
        assert!(!proof(1.001 * TOLERANCE, 0.0, 0.0).holds());
        assert!(!proof(0.0, 1.001 * UNCERTAINTY, 0.0).holds());
        assert!(!proof(0.0, 0.0, 1.001 * FREEZING).holds());
        assert!(!proof(f64::NAN, 0.0, 0.0).holds());
    }

    #[test]
    fn prices_are_rounding_below_their_part_of_all_capacity() {
        let mut prices = [1.0, 0.9 * UNPRICED, 1.1 * UNPRICED];
        drop_rounding_noise(&mut prices, &[1.0, 1.0, 1.0]);
        assert_eq!(prices.map(|price| price > 0.0), [true, false, true]);
    }

    #[test]
    fn a_price_is_clear_just_above_its_part_of_the_highest_and_not_just_below() {
        let instance = fairplan_instances::generate::drfh_fig1().unwrap();
        let reduction = Reduction::new(&instance, fairplan_instances::Objective::Drfh);
        let hold =
            |second: f64| ClearPrices::of(&reduction, &[1.0, 0.0, second, 0.0]).hold(&reduction.users, 0);
        assert!(hold(1.01 * CLEARLY) && !hold(0.99 * CLEARLY) && !hold(0.0));
    }
}
