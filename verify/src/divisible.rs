//! What divisible tasks can reach at best, as results about whole tasks state it, proved from prices alone.
//!
//! With `c_i` the least that a unit of work costs user `i` at prices `p` of servers and `q` of limits and reserves, and
//! `W = Σ C_lr p_lr + Σ b_j q_j`, no allocation gives everybody a weighted share above `W / Σ_i c_i w_i/δ_i`, nor above what anybody's tasks
//! and limits allow (where users are guaranteed something, above the level at which `max(w_i t, F_i)` costs `W`); and no sum of `w_i ln G_i` is above `W + Σ_i max_G (w_i ln G − c_i G/δ_i)`, `G` being at most what the user's tasks allow.

use crate::claim::Tasks;
use crate::form::{check_limit_prices, check_prices};
use crate::groups::{Bounds, divided_in, prove_bound, smallest, tree_of};
use crate::levels::LevelPrices;
use crate::limited_tasks::{Limited, sure_shares};
use crate::rounding::{Sum, down, up};
use crate::tolerance;
use crate::users::{UsableClasses, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, Level, Objective, UserId};

/// A bound on what divisible tasks can reach, as claimed.
#[derive(Clone, Copy, Debug)]
pub struct DivisibleClaim<'a> {
    /// Of which objective: the largest smallest weighted dominant share, or the largest sum of logarithms.
    pub objective: Objective,
    /// The bound.
    pub bound: f64,
    /// What proves it, row-major `classes × resources`; `None` where nothing but the users' tasks does.
    pub prices: Option<&'a [f64]>,
    /// The prices of limits and reserves beside these, one for each of [`Instance::limit_rows`]; empty where none is counted.
    pub limit_prices: &'a [f64],
    /// Whether everybody has the whole tasks that it is guaranteed itself, in the smallest share.
    pub above_guarantees: bool,
}

/// `divisible`: whether a bound is the one that its prices prove, and the prices are in its unit. Never panics on a claim.
pub fn verify_divisible(instance: &Instance, claim: DivisibleClaim<'_>) -> Verdict {
    let mut verdict = Worst::of("divisible", tolerance::STATED);
    match proved(instance, claim) {
        Ok(Proved { bound, scale, size }) => {
            let what = || format!("divisible: {} is stated, {bound} is proved", claim.bound);
            match size {
                Some(size) => verdict.see((claim.bound - bound).abs() / size, what),
                None => verdict.compare(claim.bound, bound, || "divisible".into()),
            }
            verdict.compare(1.0, scale, || "weighted prices of all users".into());
        }
        Err(problem) => verdict.fail(|| problem),
    }
    verdict.verdict()
}

/// The bound that these prices, or without any the tasks of users, prove; `None` where they prove none.
pub fn proved_divisible(instance: &Instance, claim: DivisibleClaim<'_>) -> Option<f64> {
    let bound = proved(instance, claim).ok()?.bound;
    verify_divisible(instance, DivisibleClaim { bound, ..claim }).holds.then_some(bound)
}

/// What prices prove.
struct Proved {
    bound: f64,
    /// 1 when the prices are the derivative of the bound.
    scale: f64,
    /// In parts of what the stated bound may be off; `None` of itself.
    size: Option<f64>,
}

fn proved(instance: &Instance, claim: DivisibleClaim<'_>) -> Result<Proved, String> {
    if let Some(prices) = claim.prices {
        check_prices(instance, "divisible_prices", prices, false)?;
    }
    if !claim.limit_prices.is_empty() {
        check_limit_prices(instance, "divisible_limit_prices", claim.limit_prices)?;
        claim.prices.ok_or("divisible_limit_prices are stated without divisible_prices")?;
    }
    let n = instance.user_count();
    let usable_classes = UsableClasses::of(instance);
    let nothing = Tasks::Listed { starts: vec![0; instance.kind_count() + 1], entries: Vec::new() };
    let users = UserShares::of_all(instance, claim.objective, &usable_classes, &nothing);
    let prices = claim.prices.map(|prices| {
        let limit_prices = claim.limit_prices.to_vec();
        let level = Level { value: 0.0, bound: 0.0, prices: prices.to_vec(), limit_prices };
        LevelPrices::of(instance, &usable_classes, &level)
    });
    let cost = |i: usize| {
        prices.as_ref().map_or(0.0, |prices| prices.slope(instance.user(UserId(i)), &usable_classes))
    };
    let worth = prices.as_ref().map(|prices| prices.worth(instance));
    match claim.objective {
        Objective::Drfh => {
            let limited = Limited::of(instance).divided;
            let caps = caps(instance, &users, &limited);
            let floors = if claim.above_guarantees { sure_shares(instance) } else { Vec::new() };
            if instance.has_groups() || !floors.is_empty() {
                let each = Each { users: &users, caps: &caps, limited: &limited, floors: &floors };
                let priced = worth.map(|worth| Priced { worth, cost: &cost });
                return proved_in_groups(instance, claim.bound, &each, priced);
            }
            let by_tasks = caps.iter().copied().fold(f64::INFINITY, f64::min);
            let Some(worth) = worth else { return Ok(Proved { bound: by_tasks, scale: 1.0, size: None }) };
            let mut sum = Sum::new();
            (0..n).for_each(|i| sum.add(down(cost(i) * users[i].work_per_level)));
            let scale = sum.below();
            Ok(Proved { bound: by_tasks.min(up(worth / scale)), scale, size: None })
        }
        Objective::ProportionalFairness => {
            let worth = worth.ok_or("no prices prove the bound")?;
            let (mut over, mut under, mut weights) = (Sum::new(), Sum::new(), 0.0);
            over.add(worth);
            for user in instance.users() {
                let i = user.index().0;
                // The weighted share is at most the cap.
                let (weight, most) = (user.weight().to_f64(), users[i].cap * user.weight().to_f64());
                if most == 0.0 {
                    continue;
                }
                let price = cost(i) / user.task_share();
                let share = (weight / price).min(most);
                let best = weight * share.ln() - if share < most { weight } else { price * share };
                // What is no number is at most infinite.
                if best < 0.0 {
                    under.add(-best)
                } else {
                    over.add(best)
                }
                weights += weight;
            }
            let bound = over.above() - under.below();
            Ok(Proved { bound, scale: 1.0, size: Some(f64::max(weights, bound.abs())) })
        }
        other => Err(format!("whole tasks are not bounded for {other}")),
    }
}

/// What tasks allow each user, over its weight, and its limits.
fn caps(instance: &Instance, users: &[UserShares], limited: &[f64]) -> Vec<f64> {
    let by_tasks = users.iter().map(|user| user.cap);
    if !instance.has_limits() {
        return by_tasks.collect();
    }
    let has_rates = |i: usize| !instance.user(UserId(i)).rule().rates().is_empty();
    let cap = |(i, cap): (usize, f64)| match limited[i] < f64::INFINITY && !has_rates(i) {
        true => cap.min(up(limited[i] / users[i].work_per_level)),
        false => cap,
    };
    by_tasks.enumerate().map(cap).collect()
}

/// What is known of each user: what its tasks are worth and let it have, what limits let it have too, how many tasks these are, and of what
/// it is sure, if anybody is of anything.
struct Each<'a> {
    users: &'a [UserShares],
    caps: &'a [f64],
    limited: &'a [f64],
    floors: &'a [Bounds],
}

/// What prices say: what all capacity is worth at most, and what work costs a user.
struct Priced<'a> {
    worth: f64,
    cost: &'a dyn Fn(usize) -> f64,
}

/// The same of the smallest weighted share among the children of the root, where users may be guaranteed something: what prices prove of the
/// first level, given with what work costs, or else what tasks and limits allow.
fn proved_in_groups(
    instance: &Instance,
    stated: f64,
    each: &Each<'_>,
    prices: Option<Priced<'_>>,
) -> Result<Proved, String> {
    let Each { users, caps, limited, floors } = *each;
    let cap = |i: usize| match caps[i] {
        0.0 => 0.0,
        cap => cap * instance.user(UserId(i)).weight().to_f64(),
    };
    // Whom limits let have less than all its tasks wants more.
    let wants = |i: usize| {
        let all = instance.user(UserId(i)).tasks().map_or(f64::INFINITY, |tasks| tasks as f64);
        caps[i] > 0.0 && (limited[i] < all || all == f64::INFINITY)
    };
    let tree = tree_of(instance, floors);
    let [by_tasks, _] = smallest(&divided_in(instance, &tree, cap, wants));
    let bound = match prices {
        None => by_tasks,
        Some(Priced { worth, cost }) => {
            prove_bound(instance, &tree, users, cost, worth, stated)?;
            by_tasks.min(stated)
        }
    };
    Ok(Proved { bound, scale: 1.0, size: None })
}
