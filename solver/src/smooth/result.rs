//! From the last round to a solution: tasks from shares, value and bound over the users themselves.

use super::duality::DualityGap;
use super::rounds::{Solved, share};
use super::utility::Utility;
use crate::bins::{Bins, NO_BIN, level_problem};
use crate::certificate::prices_of_classes;
use crate::limits::Limits;
use crate::population::CHUNK;
use crate::reduction::Reduction;
use crate::repair::{SplitRows, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::Compensated;
use crate::tolerance::allocation::ALL_TASKS;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::TOLERANCE;
use crate::tolerance::sum::NO_LOSS;
use fairplan_instances::{
    Allocation, ClassId, FEW_USERS, Instance, LimitedBy, Status, Total, UserId, one_less,
};
use rayon::prelude::*;

/// From this logarithm on the judged worth is only part of the worth (see [`Utility::marginal`]).
const UNBOUNDED: f64 = 400.0;
/// Values up to ten to this power, and down to its inverse, are stated as they are.
const PLAIN: f64 = 100.0;
/// Where somebody's last unit is worth less than ten to this power in the unit of the value, prices have one in which it is worth that.
const SMALL: f64 = -150.0;
/// But no price is higher than ten to this power then, and no sum of them beyond a double.
const LARGE: f64 = 290.0;

/// Tasks from splits: every user takes its bin's split, shrunk where rounding had overloaded a class, at its share.
pub(super) fn allocate(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    solved: Option<&Solved>,
) -> Allocation {
    let (users, classes) = (&reduction.users, instance.classes().len());
    let stated = |tasks: Vec<f64>, split_of: Vec<u32>, rows: Vec<f64>| match users.lines {
        None => Allocation::new(classes, tasks, split_of, rows),
        Some(_) => Allocation::of_kinds(instance, classes, tasks, split_of, rows),
    };
    let Some(solved) = solved else {
        return stated(vec![0.0; users.users()], vec![0; users.len()], vec![0.0; classes]);
    };
    let groups = &solved.grouping.groups;
    let splits = feasible_splits(&level_problem(reduction, &solved.grouping), &solved.solution.splits);
    let SplitRows { work, placed, rows } = SplitRows::new(reduction, groups, &splits, classes);
    let of_user = |i: usize| -> Option<(u32, f64)> {
        if bins.of[i] == NO_BIN || solved.amounts.amount[i] == 0.0 {
            return None;
        }
        let group = solved.grouping.group(bins.of[i], solved.amounts.rising[i]);
        if work[group] == 0.0 {
            return None;
        }
        let share = share(reduction, bins, &solved.grouping, &solved.amounts, &work, i);
        let tasks = share / (users.task_share(instance, i) * work[group] / placed[group]);
        let limit = instance.user(users.user_id(users.user_of(i))).tasks();
        let limit = limit.map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
        Some((group as u32, tasks.min(limit)))
    };
    let nothing = (groups.len() as u32, 0.0);
    let (mut split_of, mut tasks) = (Vec::new(), Vec::new());
    let found =
        (0..users.len()).into_par_iter().with_min_len(FEW_USERS).map(|i| of_user(i).unwrap_or(nothing));
    found.unzip_into_vecs(&mut split_of, &mut tasks);
    // A task runs as far as all its kinds do.
    stated(users.by_user(tasks, f64::min), users.by_position(split_of), rows)
}

/// What limits each user of the instance, given whether it can run anywhere.
pub(super) fn limits(
    instance: &Instance,
    allocation: &Allocation,
    is_able: impl Fn(UserId) -> bool + Sync,
) -> Vec<LimitedBy> {
    let of_user = |position: usize| {
        let position = UserId(position);
        let has_all = |limit: u64| allocation.tasks(position) >= limit as f64 * (1.0 - ALL_TASKS);
        if !is_able(position) {
            LimitedBy::NoUsableClass
        } else if instance.user(position).tasks().is_some_and(has_all) {
            LimitedBy::Tasks
        } else {
            LimitedBy::Capacity
        }
    };
    (0..instance.user_count()).into_par_iter().with_min_len(FEW_USERS).map(of_user).collect()
}

/// The value, bound and prices of nobody's having anything.
pub(super) fn nothing(instance: &Instance) -> (Total, Status) {
    let rows = instance.classes().len() * instance.resources().len();
    (
        Total {
            value: 0.0,
            bound: 0.0,
            relative_gap: 0.0,
            prices: vec![0.0; rows],
            limit_prices: vec![0.0; instance.limit_rows().len()],
            exponent: 0,
            price_exponent: 0,
        },
        Status::Optimal,
    )
}

/// What is to be proved of final shares.
pub(super) struct Claim<'a> {
    pub instance: &'a Instance,
    /// Members of the merged classes that the prices are of, and the limits if any.
    pub members: &'a [Vec<ClassId>],
    pub limits: &'a Limits,
    pub prices: &'a [f64],
    pub utility: Utility,
    /// The share of each user.
    pub shares: &'a [f64],
}

impl Claim<'_> {
    /// Value, bound and prices over the users themselves; and whether they prove the shares, by the duality of them at these
    /// utilities and prices of so many times as much.
    /// Users without a weight can have nothing and do not count.
    pub fn prove(
        &self,
        weight: impl Fn(usize) -> Option<f64> + Sync,
        judge: impl Fn(Utility, f64) -> DualityGap,
    ) -> (Total, Status) {
        let mut utility = self.utility;
        let mut duality = judge(utility, 1.0);
        let mut log_part = 0.0;
        if duality.worth.ln() >= UNBOUNDED {
            // In the unit of what all are worth: no more than a part of that can be told in the unit of these prices.
            log_part = self.log_worth(&weight) + utility.log_scale();
            utility = utility.scaled(-log_part);
            duality = judge(utility, (-log_part).exp());
        }
        if let Some(balanced) = duality.balanced(utility) {
            let better = judge(balanced, (-log_part).exp());
            if better.relative_gap() <= duality.relative_gap().max(TOLERANCE) {
                (utility, duality) = (balanced, better);
            }
        }
        let gap = duality.relative_gap();
        if utility.alpha > 1.0 && gap > TOLERANCE && gap.is_finite() {
            // Some user may be worth so much more than all others, by having less, that prices of theirs are a loss: as if all were
            // next to free.
            let free = utility.scaled((gap / NO_LOSS).ln());
            let better = judge(free, (-log_part).exp());
            if better.relative_gap() < gap {
                (utility, duality) = (free, better);
            }
        }
        let log_worth = duality.worth.ln() - utility.log_scale();
        let decimals = log_worth / std::f64::consts::LN_10;
        let exponent = if decimals.abs() <= PLAIN { 0 } else { decimals.round() as i32 };
        let log_unit = f64::from(exponent) * std::f64::consts::LN_10;
        // Where the last unit of somebody's share is worth next to nothing beside all, prices have a unit of their own.
        let least = self.least_log_margin(&weight) / std::f64::consts::LN_10;
        let is_small = utility.alpha > 1.0 && least - f64::from(exponent) < SMALL;
        let highest = self.prices.iter().copied().fold(0.0, f64::max).ln() - utility.log_scale() - log_part;
        let least_unit = highest / std::f64::consts::LN_10 - LARGE;
        let price_exponent =
            if is_small { (least - SMALL).max(least_unit).min(exponent.into()) as i32 } else { exponent };
        let log_price_unit = f64::from(price_exponent) * std::f64::consts::LN_10;
        let value = self.value(&weight, log_unit);
        // Prices too small for a double next to the worth of shares are none beside it: work is free then.
        let scale = (-utility.log_scale() - log_part - log_unit).exp();
        let vanish = scale < f64::MIN_POSITIVE && duality.paid_freely > 0.0;
        let freely = if vanish { duality.gain_where_free(utility.alpha) } else { 0.0 };
        let scale = (-utility.log_scale() - log_part - log_price_unit).exp();
        let relative_gap = duality.relative_gap().max(0.0) + freely;
        let bound = value + relative_gap * (log_worth - log_unit).exp();
        let prices = prices_of_classes(self.instance, self.members, self.prices, scale);
        let limit_prices = self.limits.prices(self.instance, self.prices, scale);
        let mut all = prices.iter().chain(&limit_prices);
        let finite = value.is_finite() && bound.is_finite() && all.all(|price| price.is_finite());
        let status = if finite && relative_gap <= TOLERANCE { Status::Optimal } else { Status::Uncertified };
        (Total { value, bound, relative_gap, prices, limit_prices, exponent, price_exponent }, status)
    }

    /// `ln` of what the last unit of its share is worth to whom it is worth least.
    fn least_log_margin(&self, weight: impl Fn(usize) -> Option<f64>) -> f64 {
        let of_user = |(i, share): (usize, &f64)| {
            weight(i).filter(|_| *share > 0.0).map(|weight| weight.ln() - self.utility.alpha * share.ln())
        };
        self.shares.iter().enumerate().filter_map(of_user).fold(f64::INFINITY, f64::min)
    }

    /// `ln Σ w G^(1−α)`.
    fn log_worth(&self, weight: impl Fn(usize) -> Option<f64>) -> f64 {
        let power = 1.0 - self.utility.alpha;
        let of_user = |(i, share): (usize, &f64)| weight(i).map(|weight| weight.ln() + power * share.ln());
        let logs: Vec<f64> = self.shares.iter().enumerate().filter_map(of_user).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
    }

    /// `Σ w U(G)`, in units of `exp(log_unit)`.
    fn value(&self, weight: impl Fn(usize) -> Option<f64> + Sync, log_unit: f64) -> f64 {
        let (alpha, less) = (self.utility.alpha, one_less(self.utility.alpha));
        let of_user = |weight: f64, share: f64| {
            if alpha == 1.0 {
                weight * share.ln()
            } else if alpha == 0.0 {
                weight * share
            } else {
                weight * (less * share.ln() - log_unit).exp() / less
            }
        };
        let part = |(chunk, shares): (usize, &[f64])| {
            let mut sum = Compensated::default();
            for (offset, share) in shares.iter().enumerate() {
                if let Some(weight) = weight(chunk * CHUNK + offset) {
                    sum.add(of_user(weight, *share));
                }
            }
            sum.value()
        };
        let parts: Vec<f64> = self.shares.par_chunks(CHUNK).enumerate().map(part).collect();
        let mut sum = Compensated::default();
        parts.into_iter().for_each(|part| sum.add(part));
        sum.value()
    }
}

/// Value, bound and prices over the users themselves, from the final allocation; and whether they prove it.
pub(super) fn certify(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    solved: Option<&Solved>,
    allocation: &Allocation,
) -> (Total, Status) {
    let Some(solved) = solved else { return nothing(instance) };
    let users = &reduction.users;
    let share = |i: usize| allocation.dominant_share(instance, users.user_id(i));
    let shares: Vec<f64> = (0..users.users()).into_par_iter().with_min_len(FEW_USERS).map(share).collect();
    let prices = &solved.solution.prices;
    let mut costs = vec![0.0; users.len()];
    cheapest_costs(users, prices, &reduction.capacities, &mut costs);
    let (members, limits) = (&reduction.members, &users.limits);
    let claim = Claim { instance, members, limits, prices, utility: solved.utility, shares: &shares };
    let is_in_bin = |i: usize| users.lines_of(i).all(|line| bins.of[line] != NO_BIN);
    let weight = |i: usize| is_in_bin(i).then(|| users.weight_of_user(i));
    claim.prove(weight, |utility, unit| {
        let in_unit = |numbers: &[f64]| numbers.iter().map(|x| x * unit).collect::<Vec<f64>>();
        DualityGap::of(reduction, bins, utility, &in_unit(prices), &in_unit(&costs), |i| shares[i])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::Draft;

    #[test]
    fn who_has_all_its_tasks_just_inside_the_tolerance_is_held_by_them_and_just_outside_by_capacity() {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        draft.users[0].tasks = Some(8);
        let instance = draft.build().unwrap();
        let reason = |missing: f64| {
            let allocation = Allocation::from_matrix(2, &[8.0 * (1.0 - missing), 0.0, 0.0, 8.0]);
            limits(&instance, &allocation, |_| true)[0]
        };
        assert_eq!(reason(0.9 * ALL_TASKS), LimitedBy::Tasks);
        assert_eq!(reason(1.1 * ALL_TASKS), LimitedBy::Capacity);
    }
}
