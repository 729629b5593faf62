//! What users would take at given prices, and what that proves of what they have: passes over all users.

use super::stand::Stand;
use super::utility::Utility;
use crate::bins::{Amounts, Bins, Grouping, NO_BIN};
use crate::level::dot;
use crate::reduction::{CHUNK, Reduction};
use crate::sums::Compensated;
use crate::tolerance::sum::{BALANCED, LEAST_AMOUNT, LEAST_COST, LEAST_WORTH, TASKS_LEFT};
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
    let rates = &reduction.kinds[reduction.users.kind[user] as usize];
    tasks * rates.iter().copied().fold(0.0, f64::max)
}

/// Sets the amounts: what every user in a bin wishes, `rising` unless it has no tasks for more.
pub(super) fn set_amounts(
    reduction: &Reduction,
    bins: &Bins,
    wish: impl Fn(usize) -> f64 + Sync,
    amounts: &mut Amounts,
) {
    let Amounts { amount, rising } = amounts;
    let pieces = amount.par_chunks_mut(CHUNK).zip(rising.par_chunks_mut(CHUNK)).enumerate();
    pieces.for_each(|(chunk, (amount, rising))| {
        for (offset, (amount, rising)) in amount.iter_mut().zip(rising).enumerate() {
            let i = chunk * CHUNK + offset;
            if bins.of[i] != NO_BIN {
                let (wish, cap) = (wish(i), cap(reduction, i));
                (*amount, *rising) = (wish.min(cap).max(LEAST_AMOUNT), wish < cap);
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
                } else if reduction.has_task_rows[users.kind[i] as usize] {
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

/// Users summed up plainly before their sum is added with care.
const FEW: usize = 32;

/// What prices prove of shares, in the unit of the prices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// `Σ w θ G^(1−α)`.
    pub worth: f64,
    /// How far the bound that the prices prove is above what the shares are worth.
    pub gap: f64,
    /// What users whose tasks have no price pay, and what their shares are worth at the margin.
    pub paid_freely: f64,
    worth_freely: f64,
}

impl Judgement {
    /// Judges `share(i)` of every user in a bin.
    pub fn of(
        reduction: &Reduction,
        bins: &Bins,
        utility: Utility,
        prices: &[f64],
        costs: &[f64],
        share: impl Fn(usize) -> f64 + Sync,
    ) -> Self {
        let chunk = |start: usize| {
            let mut sums = [Compensated::default(); 5];
            let end = (start + CHUNK).min(costs.len());
            for first in (start..end).step_by(FEW) {
                // Terms have one sign, so that sums of a few are as good as the terms.
                let mut few = [0.0; 5];
                for i in (first..(first + FEW).min(end)).filter(|&i| bins.of[i] != NO_BIN) {
                    let user = user(reduction, utility, prices, i, costs[i], share(i));
                    few.iter_mut().zip(user).for_each(|(sum, x)| *sum += x);
                }
                sums.iter_mut().zip(few).for_each(|(sum, x)| sum.add(x));
            }
            sums
        };
        let starts: Vec<usize> = (0..costs.len()).step_by(CHUNK).collect();
        let parts: Vec<[Compensated; 5]> = starts.into_par_iter().map(chunk).collect();
        Self::from_parts(&parts, dot(prices, &reduction.capacities))
    }

    /// From what users add up to, part by part (see [`Stand::judge`]), and what all capacity costs.
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
fn user(
    reduction: &Reduction,
    utility: Utility,
    prices: &[f64],
    i: usize,
    price: f64,
    share: f64,
) -> [f64; 5] {
    let weight = reduction.users.weight(i);
    let marginal = utility.marginal(weight, share);
    let worth = if share > 0.0 { marginal * share } else { 0.0 };
    let kind = reduction.users.kind[i] as usize;
    if reduction.has_task_rows[kind] {
        let cost = |prices: &[f64]| -> f64 {
            prices.iter().zip(&reduction.users.directions).map(|(p, column)| p * column[i]).sum()
        };
        let costs: Vec<f64> = prices.chunks(reduction.resources).map(cost).collect();
        let stand = Stand {
            utility,
            weight,
            tasks: reduction.users.tasks(i),
            rates: &reduction.kinds[kind],
            costs: &costs,
        };
        return stand.judge(share);
    }
    let cap = cap(reduction, i);
    if utility.alpha == 0.0 {
        let most = if marginal > price { cap } else { 0.0 };
        let best = if most > 0.0 { (marginal - price) * most } else { 0.0 };
        return [worth, worth, best, 0.0, 0.0];
    }
    let wish = utility.wish(weight, price);
    if wish < cap {
        [worth, price * share, price * wish * utility.regret(share / wish), price * share, worth]
    } else {
        let lost = utility.marginal(weight, cap) * cap * utility.shortfall(share / cap);
        [worth, price * cap, lost, 0.0, 0.0]
    }
}
