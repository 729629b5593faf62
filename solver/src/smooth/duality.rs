//! What prices prove of what users have: the duality gap, summed up in one pass over all users.

use super::consumer::Consumer;
use super::sizes::cap;
use super::utility::Utility;
use crate::bins::{Bins, NO_BIN};
use crate::level::dot;
use crate::population::CHUNK;
use crate::reduction::Reduction;
use crate::sums::Compensated;
use crate::tolerance::sum::{BALANCED, BARELY};
use rayon::prelude::*;

/// Users summed up plainly before their sum is added with care.
const FEW: usize = 32;

/// What prices prove of shares, in the unit of the prices.
#[derive(Clone, Copy, Debug)]
pub(super) struct DualityGap {
    /// `Σ w θ G^(1−α)`.
    pub worth: f64,
    /// How far the bound that the prices prove is above what the shares are worth.
    pub gap: f64,
    /// What users whose tasks have no price pay, and what their shares are worth at the margin.
    pub paid_freely: f64,
    worth_freely: f64,
}

impl DualityGap {
    /// Of `share(i)` of every user in a bin, with all its kinds where it has some; `costs` are of kinds then.
    pub fn of(
        reduction: &Reduction,
        bins: &Bins,
        utility: Utility,
        prices: &[f64],
        costs: &[f64],
        share: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        let users = &reduction.users;
        let is_in_bin = |i: &usize| users.lines_of(*i).all(|line| bins.of[line] != NO_BIN);
        let of_user = |i: usize| match users.lines {
            None => user(reduction, utility, prices, i, costs[i], share(i)),
            Some(_) => {
                let price = users.lines_of(i).map(|line| costs[line] * users.part(line)).sum();
                let unlimited = (0.0, f64::INFINITY);
                without_task_row(utility, users.weight_of_user(i), unlimited, price, share(i))
            }
        };
        let chunk = |start: usize| {
            let mut sums = [Compensated::default(); 5];
            let end = (start + CHUNK).min(users.users());
            for first in (start..end).step_by(FEW) {
                // Terms have one sign, so that sums of a few are as good as the terms.
                let mut few = [0.0; 5];
                for i in (first..(first + FEW).min(end)).filter(is_in_bin) {
                    few.iter_mut().zip(of_user(i)).for_each(|(sum, x)| *sum += x);
                }
                sums.iter_mut().zip(few).for_each(|(sum, x)| sum.add(x));
            }
            sums
        };
        let starts: Vec<usize> = (0..users.users()).step_by(CHUNK).collect();
        let parts: Vec<[Compensated; 5]> = starts.into_par_iter().map(chunk).collect();
        Self::from_parts(&parts, dot(prices, &reduction.capacities))
    }

    /// From what users add up to, part by part (see [`Consumer::dual_terms`]), and what all capacity costs.
    pub fn from_parts(parts: &[[Compensated; 5]], capacity_worth: f64) -> Self {
        let mut sums = [Compensated::default(); 5];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| sum.add(part.value()));
        }
        let [worth, paid, lost, paid_freely, worth_freely] = sums.map(Compensated::value);
        Self { worth, gap: capacity_worth - paid + lost, paid_freely, worth_freely }
    }

    /// The relative gap; infinite where these prices prove nothing.
    pub fn relative_gap(&self) -> f64 {
        let gap = self.gap / self.worth;
        if gap.is_nan() { f64::INFINITY } else { gap }
    }

    /// By how much more the users whose tasks have no price could be worth if work were free, in parts of the worth of all:
    /// without an end, unless α is above one.
    pub fn gain_where_free(&self, alpha: f64) -> f64 {
        if alpha <= 1.0 {
            return f64::INFINITY;
        }
        (self.paid_freely + self.worth_freely / (alpha - 1.0)) / self.worth
    }

    /// The scale of utilities at which users whose tasks have no price together pay what their shares are worth at the
    /// margin, where that is another but near enough for prices to hold the others at their limits.
    pub fn balanced(&self, utility: Utility) -> Option<Utility> {
        let ratio = self.paid_freely / self.worth_freely;
        let is_another = ratio > 0.5 && ratio < 2.0 && (ratio - 1.0).abs() > BALANCED;
        is_another.then(|| utility.scaled(ratio.ln()))
    }
}

/// What one user adds to the sums: what its share is worth, what it pays, what it loses against its best at these
/// prices, and the first two again, payment first, if its tasks have no price.
pub(super) fn user(
    reduction: &Reduction,
    utility: Utility,
    prices: &[f64],
    i: usize,
    price: f64,
    share: f64,
) -> [f64; 5] {
    let weight = reduction.users.weight(i);
    let pattern = reduction.users.pattern[i] as usize;
    if reduction.has_task_rows[pattern] {
        let cost = |prices: &[f64]| -> f64 {
            prices.iter().zip(&reduction.users.directions).map(|(p, column)| p * column[i]).sum()
        };
        let costs: Vec<f64> = prices.chunks(reduction.resources).map(cost).collect();
        let consumer = Consumer {
            utility,
            weight,
            tasks: reduction.users.tasks(i),
            rates: &reduction.patterns[pattern],
            costs: &costs,
        };
        return consumer.dual_terms(share);
    }
    without_task_row(utility, weight, (0.0, cap(reduction, i)), price, share)
}

/// The same of a user whose tasks do all the same work, worth `cap` together, who is guaranteed `floor` and pays so much for a share.
pub(super) fn without_task_row(
    utility: Utility,
    weight: f64,
    (floor, cap): (f64, f64),
    price: f64,
    share: f64,
) -> [f64; 5] {
    let marginal = utility.marginal(weight, share);
    let worth = if share > 0.0 { marginal * share } else { 0.0 };
    // Of what it is guaranteed as much as it has: more would be worth less than it costs.
    let kept = floor.min(share);
    if kept > 0.0 && utility.marginal(weight, floor) < price {
        let beyond = (price - marginal) * (share - kept);
        return [worth, price * share, beyond.max(0.0), 0.0, 0.0];
    }
    if utility.alpha == 0.0 {
        let most = if marginal > price { cap } else { 0.0 };
        let best = if most > 0.0 { (marginal - price) * most } else { 0.0 };
        return [worth, worth, best, 0.0, 0.0];
    }
    let demand = utility.demand(weight, price);
    if demand < cap || cap == f64::INFINITY {
        let lost = utility.lost(price, demand, share, worth);
        // What its guarantee costs who is barely above that is known to a root only: that says nothing of the scale.
        let is_barely_above = floor > 0.0 && share <= floor * (1.0 + BARELY);
        let (paid, of_free) = (price * share, if is_barely_above { 0.0 } else { 1.0 });
        [worth, paid, lost, of_free * paid, of_free * worth]
    } else {
        let lost = utility.marginal(weight, cap) * cap * utility.shortfall(share / cap);
        // With all tasks it may be worth so much less that a double cannot tell.
        let lost = if lost.is_finite() { lost } else { utility.most_lost(worth) };
        [worth, price * cap, lost, 0.0, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_barely_above_its_guarantee_says_nothing_of_the_scale() {
        let utility = Utility::new(1.0, 0.0);
        let freely = |part: f64| {
            let share = 1.0 + part * BARELY;
            without_task_row(utility, 1.0, (1.0, f64::INFINITY), 0.9, share)[3]
        };
        assert_eq!(freely(0.9), 0.0);
        assert!(freely(1.1) > 0.0);
    }

    #[test]
    fn scales_are_balanced_just_outside_the_tolerance_and_not_just_inside() {
        let paying = |part: f64| DualityGap { worth: 1.0, gap: 0.0, paid_freely: part, worth_freely: 1.0 };
        let utility = Utility::new(1.0, 0.0);
        assert!(paying(1.0 + 0.9 * BALANCED).balanced(utility).is_none());
        assert!(paying(1.0 + 1.1 * BALANCED).balanced(utility).is_some());
        assert!(paying(2.1).balanced(utility).is_none(), "too far off for prices to hold the others");
    }
}
