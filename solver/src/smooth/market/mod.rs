//! Sums over users of which each has its own rates, by prices alone.
//!
//! Users that do different work on the same classes cannot share bins. But where classes are few, so are prices, and each
//! user's best response to given prices is worked out in a moment (`users`, [`super::consumer`]). So the prices are found that
//! clear the market: by Newton's method on aggregate demand (`demand`, `descent`), up to the few users that are hardly
//! decided between classes. Those are solved for exactly, all others moving with the prices (`undecided`).
//! Then `outcome` states it, and proves it as any other sum.

mod demand;
mod descent;
mod outcome;
mod undecided;
mod users;

use super::result::limits;
use super::utility::Utility;
use crate::question::Question;
use crate::tolerance::market::{CLOSED, UNDECIDED};
use demand::{AggregateDemand, BestResponse, aggregate_demand};
use descent::{Descent, change};
use fairplan_instances::{Certificate, Instance, InstanceError, Solution, Statistics};
use undecided::{Decided, decide};
use users::Users;

/// With so many placement rules users cannot share bins; with more rows a pass costs too much.
const MANY_RULES: usize = 256;
const FEW_ROWS: usize = 64;
/// Below this α demand swings too far with the prices.
const CURVED_FROM: f64 = 0.2;

/// Most users that are solved for as undecided, and most rounds of that.
const MOST_UNDECIDED: usize = 20_000;
const MOST_ROUNDS: u64 = 8;

/// Whether this is the way to solve the sum with this `alpha`.
pub(crate) fn suits(instance: &Instance, alpha: f64) -> bool {
    instance.rules().len() > MANY_RULES && alpha >= CURVED_FROM && can_solve(instance, alpha)
}

/// Whether it is a way at all.
pub(crate) fn can_solve(instance: &Instance, alpha: f64) -> bool {
    instance.classes().len() * instance.resources().len() <= FEW_ROWS && alpha > 0.0
}

/// Solves it.
pub(crate) fn solve(question: &Question<'_>, method: &'static str) -> Result<Solution, InstanceError> {
    let (instance, alpha, deadline) = (question.instance, question.alpha(), question.deadline);
    let users = Users::new(instance);
    let mut descent = Descent::new(&users, alpha);
    descent.run(deadline);
    let Descent { utility, prices, mut uncertainty, .. } = descent;
    let mut decided = Decided { prices, splits: Vec::new(), steps: 0 };
    let (mut steps, mut rounds) = (0, 0);
    loop {
        let (times, least, most) = UNDECIDED;
        let seen = (times * uncertainty).clamp(least, most);
        let mut now = aggregate_demand(&users, 1, utility, &decided.prices, seen);
        let error = clearing_error(&users, &now, utility, &decided);
        if error <= CLOSED || rounds == MOST_ROUNDS || deadline.is_over() {
            break;
        }
        now.undecided.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        now.undecided.truncate(MOST_UNDECIDED);
        let uncertain = seen.min(uncertainty);
        let next = decide(&users, utility, &decided.prices, now, uncertain, deadline);
        let step: Vec<f64> = next.prices.iter().zip(&decided.prices).map(|(p, first)| p - first).collect();
        uncertainty = change(&users.classes.capacities, &decided.prices, &step);
        decided = next;
        steps += decided.steps;
        rounds += 1;
    }
    let allocation = outcome::allocate(instance, &users, utility, &decided);
    let limited_by = limits(instance, &allocation, |user| users.rates(user.0).iter().any(|rate| *rate > 0.0));
    let (total, status) = outcome::certify(instance, &users, utility, &decided.prices, &allocation);
    Ok(Solution {
        objective: question.objective,
        backend: question.backend,
        method,
        status,
        allocation,
        exact: None,
        certificate: Certificate::Total(total),
        limited_by,
        guaranteed: Vec::new(),
        statistics: Statistics {
            classes_merged: users.class_count(),
            users_merged: users.len(),
            iterations: steps,
            rounds,
            ..Statistics::default()
        },
    })
}

/// The part of what all capacity is worth that is unsold or sold twice when the undecided do as they decided.
fn clearing_error(users: &Users, now: &AggregateDemand, utility: Utility, decided: &Decided) -> f64 {
    let m = users.resources;
    let mut usage = now.usage.clone();
    let mut costs = vec![0.0; users.class_count()];
    for (user, splits) in &decided.splits {
        let direction = users.direction(*user);
        let best = users
            .consumer(*user, utility, &decided.prices, &mut costs)
            .and_then(|consumer| BestResponse::of(&consumer));
        if let Some(best) = best {
            best.add(direction, |row, x| usage[row] -= x, |_, _, _| {});
        }
        for (l, split) in splits.iter().enumerate() {
            direction.iter().enumerate().for_each(|(r, part)| usage[l * m + r] += split * part);
        }
    }
    let capacities = &users.classes.capacities;
    let worth: f64 = capacities.iter().zip(&decided.prices).map(|(c, p)| c * p).sum();
    let unsold: f64 = capacities
        .iter()
        .zip(&usage)
        .zip(&decided.prices)
        .map(|((c, usage), p)| (c - usage).max(0.0) * p)
        .sum();
    let overload = capacities.iter().zip(&usage).filter(|(c, _)| **c > 0.0).map(|(c, usage)| usage / c - 1.0);
    unsold / worth + overload.fold(0.0, f64::max)
}
