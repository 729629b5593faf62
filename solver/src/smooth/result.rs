//! From the last round to a solution: tasks from shares, value and bound over the users themselves.

use super::rounds::{Solved, share};
use super::wishes::Judgement;
use crate::bins::{Bins, NO_BIN, level_problem};
use crate::certificate::{TOLERANCE, prices_of_classes};
use crate::reduction::{CHUNK, NO_KIND, Reduction};
use crate::repair::{MARGIN, SplitRows, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::Compensated;
use fairplan_instances::{Allocation, Instance, LimitedBy, Status, Total, UserId};
use rayon::prelude::*;

/// A user that has all but this part of its tasks running has them all.
const ALL_TASKS: f64 = 5e-10;
/// Values up to ten to this power, and down to its inverse, are stated as they are.
const PLAIN: f64 = 250.0;

/// Tasks from splits: every user takes its bin's split, shrunk where rounding had overloaded a class, at its share.
pub(super) fn allocate(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    solved: Option<&Solved>,
) -> Allocation {
    let (users, classes) = (&reduction.users, instance.classes().len());
    let mut tasks = vec![0.0; users.len()];
    let Some(solved) = solved else {
        return Allocation::new(classes, tasks, vec![0; users.len()], vec![0.0; classes]);
    };
    let groups = &solved.grouping.groups;
    let splits = feasible_splits(&level_problem(reduction, &solved.grouping), &solved.solution.splits);
    let SplitRows { work, placed, rows } = SplitRows::new(reduction, groups, &splits, classes);
    let mut split_of = vec![groups.len() as u32; users.len()];
    let of_user = |i: usize| -> Option<(u32, f64)> {
        if bins.of[i] == NO_BIN || solved.amounts.amount[i] == 0.0 {
            return None;
        }
        let group = solved.grouping.group(bins.of[i], solved.amounts.rising[i]);
        if work[group] == 0.0 {
            return None;
        }
        let share = share(reduction, bins, &solved.grouping, &solved.amounts, &work, i);
        let view = instance.user(UserId(users.position(i)));
        let tasks = share / (view.task_share() * work[group] / placed[group]);
        let limit = view.tasks().map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
        Some((group as u32, tasks.min(limit)))
    };
    let found: Vec<Option<(u32, f64)>> = (0..users.len()).into_par_iter().map(of_user).collect();
    for (i, (group, placed)) in found.into_iter().enumerate().filter_map(|(i, found)| Some((i, found?))) {
        let position = users.position(i);
        (split_of[position], tasks[position]) = (group, placed);
    }
    Allocation::new(classes, tasks, split_of, rows)
}

/// What limits each user of the instance.
pub(super) fn limits(instance: &Instance, reduction: &Reduction, allocation: &Allocation) -> Vec<LimitedBy> {
    let users = &reduction.users;
    let mut limited_by = vec![LimitedBy::Capacity; users.len()];
    for i in 0..users.len() {
        let position = UserId(users.position(i));
        if users.kind[i] == NO_KIND {
            limited_by[position.0] = LimitedBy::NoUsableClass;
        } else if let Some(limit) = instance.user(position).tasks()
            && allocation.tasks(position) >= limit as f64 * (1.0 - ALL_TASKS)
        {
            limited_by[position.0] = LimitedBy::Tasks;
        }
    }
    limited_by
}

/// Value, bound and prices over the users themselves, from the final allocation; and whether they prove it.
pub(super) fn certify(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    solved: Option<&Solved>,
    allocation: &Allocation,
) -> (Total, Status) {
    let rows = instance.classes().len() * reduction.resources;
    let Some(solved) = solved else {
        let total = Total { value: 0.0, bound: 0.0, relative_gap: 0.0, prices: vec![0.0; rows], exponent: 0 };
        return (total, Status::Optimal);
    };
    let users = &reduction.users;
    let shares: Vec<f64> = (0..users.len())
        .into_par_iter()
        .map(|i| allocation.dominant_share(instance, UserId(users.position(i))))
        .collect();
    let prices = &solved.solution.prices;
    let mut costs = vec![0.0; users.len()];
    cheapest_costs(users, prices, &reduction.capacities, &mut costs);
    let judge = |utility| Judgement::of(reduction, bins, utility, prices, &costs, |i| shares[i]);
    let mut utility = solved.utility;
    let mut judgement = judge(utility);
    let balanced = judgement.balanced(utility);
    let better = judge(balanced);
    if better.relative_gap() <= judgement.relative_gap().max(0.5 * TOLERANCE) {
        (utility, judgement) = (balanced, better);
    }

    let log_worth = judgement.worth.ln() - utility.log_scale;
    let decimals = log_worth / std::f64::consts::LN_10;
    let exponent = if decimals.abs() <= PLAIN { 0 } else { decimals.round() as i32 };
    let log_unit = f64::from(exponent) * std::f64::consts::LN_10;
    let value = value(reduction, bins, alpha, &shares, log_unit);
    let relative_gap = judgement.relative_gap().max(0.0);
    let bound = value + relative_gap * (log_worth - log_unit).exp();
    let scale = (-utility.log_scale - log_unit).exp();
    let prices = prices_of_classes(instance, reduction, prices, scale);
    let finite = value.is_finite() && bound.is_finite() && prices.iter().all(|price| price.is_finite());
    let status = if finite && relative_gap <= TOLERANCE { Status::Optimal } else { Status::Uncertified };
    (Total { value, bound, relative_gap, prices, exponent }, status)
}

/// `Σ w U(G)` over the users in a bin, in units of `exp(log_unit)`.
fn value(reduction: &Reduction, bins: &Bins, alpha: f64, shares: &[f64], log_unit: f64) -> f64 {
    let of_user = |i: usize, share: f64| {
        let weight = reduction.users.weight(i);
        if alpha == 1.0 {
            weight * share.ln()
        } else if alpha == 0.0 {
            weight * share
        } else {
            weight * ((1.0 - alpha) * share.ln() - log_unit).exp() / (1.0 - alpha)
        }
    };
    let parts: Vec<f64> = shares
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, shares)| {
            let mut sum = Compensated::default();
            let users = shares.iter().enumerate().map(|(offset, share)| (chunk * CHUNK + offset, *share));
            users.filter(|(i, _)| bins.of[*i] != NO_BIN).for_each(|(i, share)| sum.add(of_user(i, share)));
            sum.value()
        })
        .collect();
    let mut sum = Compensated::default();
    parts.into_iter().for_each(|part| sum.add(part));
    sum.value()
}
