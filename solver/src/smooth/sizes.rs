//! What users demand at given prices, and the sizes of the groups that this makes of them: passes over all users.

use super::utility::Utility;
use crate::bins::{Amounts, Bins, Grouping, NO_BIN};
use crate::population::CHUNK;
use crate::reduction::Reduction;
use crate::sums::Compensated;
use crate::tolerance::sum::{LEAST_AMOUNT, LEAST_COST, LEAST_WORTH, TASKS_LEFT};
use rayon::prelude::*;

/// A group that a limit keeps from more counts as worth at most this many times its price, and at most its square in the
/// second round, up to the last power: enough to hold it at the limit where prices are a few times higher in the end, and
/// little enough to keep all numbers of one size.
const MOST_WORTH: f64 = 64.0;
const LAST_POWER: u64 = 4;

/// Where tasks do different work on different classes, being out of tasks does not settle a share: then a user counts
/// as worth this many times its price, or the mean cost, before less is counted.
const MOST_WORTH_OF_TASKS: f64 = 1e8;

/// Largest share that a user has tasks for, whatever it costs; infinite when unlimited.
pub(super) fn cap(reduction: &Reduction, user: usize) -> f64 {
    let tasks = reduction.users.tasks(user);
    if tasks == f64::INFINITY {
        return tasks;
    }
    let rates = &reduction.patterns[reduction.users.pattern[user] as usize];
    tasks * rates.iter().copied().fold(0.0, f64::max)
}

/// Sets the amounts: what every user in a bin demands, `rising` unless it has no tasks for more.
pub(super) fn set_amounts(
    reduction: &Reduction,
    bins: &Bins,
    demand: impl Fn(usize) -> f64 + Sync,
    amounts: &mut Amounts,
) {
    let Amounts { amount, rising, .. } = amounts;
    let pieces = amount.par_chunks_mut(CHUNK).zip(rising.par_chunks_mut(CHUNK)).enumerate();
    pieces.for_each(|(chunk, (amount, rising))| {
        for (offset, (amount, rising)) in amount.iter_mut().zip(rising).enumerate() {
            let i = chunk * CHUNK + offset;
            if bins.of[i] != NO_BIN {
                let (demand, cap) = (demand(i), cap(reduction, i));
                (*amount, *rising) = (demand.min(cap).max(LEAST_AMOUNT), demand < cap);
            }
        }
    });
}

/// Sizes, expected costs and limits of the groups, from what their users are worth and pay at the amounts.
pub(super) struct Sizes {
    pub size: Vec<f64>,
    pub cost: Vec<f64>,
    pub limit: Vec<f64>,
    /// `ln` of what the sizes are of `θ Σ w s^(1−α)`.
    pub log_scale: f64,
    /// `ln` of how many times more than it counts as a group is worth: above 0 only where tasks have run out.
    log_excess: Vec<f64>,
}

/// What the sizes follow from.
pub(super) struct Sizing<'a> {
    pub reduction: &'a Reduction,
    pub bins: &'a Bins,
    pub grouping: &'a Grouping,
    pub amounts: &'a Amounts,
    pub utility: Utility,
    /// What a unit of share costs each user, and what all capacity costs.
    pub costs: &'a [f64],
    pub capacity_worth: f64,
    /// Whether groups that still rise have limits too: those of bins whose users are alike in everything.
    pub all_limits: bool,
    /// The first is 1.
    pub round: u64,
}

impl Sizing<'_> {
    pub fn sizes(&self) -> Sizes {
        let &Self { reduction, bins, grouping, amounts, utility, costs, capacity_worth, all_limits, round } =
            self;
        let most_worth = MOST_WORTH.powi(round.min(LAST_POWER) as i32);
        let groups = grouping.groups.len();
        let (users, parts) = (&reduction.users, 8);
        let length = users.len().div_ceil(parts).max(1);
        let mean = capacity_worth / users.len() as f64;
        let part = |p: usize| {
            let mut sums = vec![[Compensated::default(); 3]; groups];
            let mut limits = vec![f64::INFINITY; groups];
            for i in p * length..((p + 1) * length).min(users.len()) {
                let (bin, amount) = (bins.of[i], amounts.amount[i]);
                if bin == NO_BIN || amount == 0.0 {
                    continue;
                }
                let (rising, group) = (amounts.rising[i], grouping.group(bin, amounts.rising[i]));
                let price = costs[i].max(LEAST_WORTH * mean / amount);
                let worth =
                    if rising && !all_limits { price } else { utility.marginal(users.weight(i), amount) };
                let counted = if utility.alpha == 0.0 {
                    worth
                } else if reduction.has_task_rows[users.pattern[i] as usize] {
                    worth.min(MOST_WORTH_OF_TASKS * price.max(mean / amount))
                } else if !rising {
                    worth.min(most_worth * price)
                } else {
                    worth
                };
                sums[group][0].add(amount * counted);
                let cost = (amount * worth.min(price)).max(LEAST_COST * mean);
                sums[group][1].add(cost.min(amount * counted));
                sums[group][2].add(amount * worth);
                if all_limits || !rising {
                    limits[group] = limits[group].min(users.tasks(i) / amount);
                }
            }
            (sums, limits)
        };
        let parts: Vec<_> = (0..users.len().div_ceil(length)).into_par_iter().map(part).collect();
        let mut sums = vec![[Compensated::default(); 3]; groups];
        let mut limit = grouping.groups.limit.clone();
        for (part, limits) in &parts {
            for (sums, part) in sums.iter_mut().zip(part) {
                sums.iter_mut().zip(part).for_each(|(sum, part)| sum.add(part.value()));
            }
            limit.iter_mut().zip(limits).for_each(|(limit, other)| *limit = limit.min(*other));
        }
        let total: f64 = sums.iter().map(|sums| sums[0].value()).sum();
        Sizes {
            size: sums.iter().map(|sums| sums[0].value() / total).collect(),
            cost: sums.iter().map(|sums| sums[1].value() / total).collect(),
            limit,
            log_scale: -total.ln(),
            log_excess: sums
                .iter()
                .map(|[counted, _, worth]| (worth.value() / counted.value()).ln())
                .collect(),
        }
    }
}

impl Sizes {
    /// By how much the logarithm of the scale of utilities was too high for `tasks` of the groups to be what they are.
    ///
    /// Groups that count as less than they are worth say nothing of the scale, as long as they have all their tasks
    /// running. Where there are no others, one that turns out to have tasks left is worth what it counts as.
    pub fn log_scale_excess(&self, tasks: impl Fn(usize) -> f64) -> f64 {
        if self.log_excess.iter().any(|excess| *excess <= 0.0) {
            return 0.0;
        }
        let has_tasks_left = |g: &usize| tasks(*g) < self.limit[*g] * (1.0 - TASKS_LEFT);
        let excesses = (0..self.log_excess.len()).filter(has_tasks_left).map(|g| self.log_excess[g]);
        excesses.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_tasks_left_just_outside_the_tolerance_and_not_just_inside() {
        let sizes = Sizes {
            size: vec![1.0],
            cost: vec![1.0],
            limit: vec![2.0],
            log_scale: 0.0,
            log_excess: vec![3.0],
        };
        assert_eq!(sizes.log_scale_excess(|_| 2.0 * (1.0 - 0.9 * TASKS_LEFT)), 0.0);
        assert_eq!(sizes.log_scale_excess(|_| 2.0 * (1.0 - 1.1 * TASKS_LEFT)), 3.0);
    }
}
