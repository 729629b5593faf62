//! What an allocation must reduce to in simple cases (DRFH Sec. III-C): DRF on one server, max-min fairness of one
//! resource, max-min fairness of the resource that all users need most.

use super::case::{Case, work};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::work::{amount, shortfall};
use crate::tolerance::{AT_THE_CAP, LEFT};
use fairplan_instances::wording::counted;
use fairplan_instances::{ClassId, Instance, InstanceError, ResourceId};

/// Why what is fair among users alone says nothing where they are in groups.
const OF_GROUPS: &str =
    "groups are served first, and users inside each: what is fair among users alone is not what is asked for";

/// Why the same says nothing where users are held by limits, have guarantees, or need several kinds of tasks together.
const OF_PLAIN_USERS: &str =
    "guarantees, limits and kinds of tasks come before what is fair among users of one demand on one server";

/// Why it says nothing, if it does not.
fn says_nothing(case: &Case<'_>) -> Option<Searched> {
    let why = match (case.instance.has_groups(), case.instance.quotas().is_empty(), case.instance.has_kinds())
    {
        (true, ..) => OF_GROUPS,
        (_, false, _) | (.., true) => OF_PLAIN_USERS,
        _ => return None,
    };
    Some(Searched::NotApplicable(why.into()))
}

/// On each server alone, the shares are those of DRF.
pub(super) fn single_server(
    case: &Case<'_>,
    worst: &mut LargestViolation,
) -> Result<Searched, InstanceError> {
    if let Some(nothing) = says_nothing(case) {
        return Ok(nothing);
    }
    let mut servers = 0;
    for (l, class) in case.draft.classes.iter().enumerate().filter(|(_, class)| class.count > 0) {
        let mut draft = case.draft.clone();
        draft.classes = vec![class.clone()];
        draft.classes[0].set_count(1);
        draft.users = (case.instance.users().zip(&case.draft.users))
            .filter(|(user, _)| user.can_use(ClassId(l)))
            .map(|(_, user)| user.clone())
            .collect();
        for user in &mut draft.users {
            // A rate on the only class changes how much work a task is, not how servers are shared.
            (user.eligible, user.rates) = (None, Vec::new());
        }
        let Some((variant, solution)) = case.solve(&draft)? else { continue };
        servers += 1;
        for (user, due) in variant.users().zip(water_fill(&variant)) {
            let here = work(user, &solution.allocation);
            differ(worst, here, due, |here, due| {
                format!(
                    "alone on a server of class {}, user {} has {here} tasks, by DRF {due}",
                    class.id,
                    user.id()
                )
            });
        }
    }
    Ok(Searched::All(format!("one server of each of {}", counted(servers, "class", "classes"))))
}

/// With one resource alone, all have the same of it for their weight, unless they have no more tasks.
pub(super) fn single_resource(
    case: &Case<'_>,
    worst: &mut LargestViolation,
) -> Result<Searched, InstanceError> {
    if let Some(nothing) = says_nothing(case) {
        return Ok(nothing);
    }
    if case.instance.rules().len() > 1 {
        return Ok(Searched::NotApplicable("users are restricted to classes, or faster on some".into()));
    }
    for r in 0..case.draft.resources.len() {
        let mut draft = case.draft.clone();
        draft.resources = vec![case.draft.resources[r].clone()];
        draft.classes.iter_mut().for_each(|class| class.capacity = vec![class.capacity[r]]);
        draft.users.iter_mut().for_each(|user| user.demand = vec![user.demand[r]]);
        draft.users.retain(|user| !user.demand[0].is_zero());
        let Some((variant, solution)) = case.solve(&draft)? else { continue };
        for (user, due) in variant.users().zip(water_fill(&variant)) {
            let here = work(user, &solution.allocation);
            differ(worst, here, due, |here, due| {
                let resource = &case.draft.resources[r];
                format!(
                    "with {resource} alone, user {} has {here} tasks, by max-min fairness {due}",
                    user.id()
                )
            });
        }
    }
    Ok(Searched::All("each resource alone".into()))
}

/// Among users of one dominant resource, shares of that resource are max-min fair.
pub(super) fn bottleneck(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    for r in 0..case.draft.resources.len() {
        let mut draft = case.draft.clone();
        draft.users = (case.instance.users().zip(&case.draft.users))
            .filter(|(user, _)| user.dominant_resource() == ResourceId(r))
            .map(|(_, user)| user.clone())
            .collect();
        let due = case.solve_drfh(&draft)?;
        let (Some((variant, fair)), Some((_, solution))) = (due, case.solve(&draft)?) else {
            continue;
        };
        for user in variant.users() {
            let (here, due) = (work(user, &solution.allocation), work(user, &fair.allocation));
            differ(worst, here, due, |here, due| {
                let resource = &case.draft.resources[r];
                format!(
                    "of the users that need {resource} most, user {} has {here} tasks, fair are {due}",
                    user.id()
                )
            });
        }
    }
    Ok(Searched::All("the users of each dominant resource apart".into()))
}

fn differ(
    worst: &mut LargestViolation,
    one: f64,
    other: f64,
    witness: impl FnOnce(String, String) -> String,
) {
    worst.see(shortfall(one.min(other), one.max(other)), || witness(amount(one), amount(other)));
}

/// DRF of users on one pool, by progressive filling: all rise together, and those that need what has run out, or have
/// no more tasks, stop. Tasks of each user.
fn water_fill(instance: &Instance) -> Vec<f64> {
    let m = instance.resources().len();
    // Loads per unit of level: weight times direction.
    let rise: Vec<Vec<f64>> = instance
        .users()
        .map(|user| {
            let tasks = user.weight().to_f64() / user.task_share();
            (0..m)
                .map(|r| {
                    tasks * user.demand_doubles()[r] / instance.total(ResourceId(r)).max(f64::MIN_POSITIVE)
                })
                .collect()
        })
        .collect();
    let cap = |i: usize| {
        let user = instance.user(fairplan_instances::UserId(i));
        user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 * user.task_share() / user.weight().to_f64())
    };
    let caps: Vec<f64> = (0..rise.len()).map(cap).collect();
    let mut left = vec![1.0f64; m];
    let mut level = vec![0.0; rise.len()];
    let mut rising: Vec<usize> = (0..rise.len()).collect();
    let mut at = 0.0;
    while !rising.is_empty() {
        let speed: Vec<f64> = (0..m).map(|r| rising.iter().map(|&i| rise[i][r]).sum()).collect();
        let until_full = (0..m).filter(|&r| speed[r] > 0.0).map(|r| (left[r] / speed[r]).max(0.0));
        let until_cap = rising.iter().map(|&i| caps[i] - at);
        let step = until_full.chain(until_cap).fold(f64::INFINITY, f64::min);
        at += step;
        left.iter_mut().zip(&speed).for_each(|(left, speed)| *left -= step * speed);
        let full = |r: usize| left[r] <= LEFT;
        let stops =
            |i: usize| caps[i] <= at * (1.0 + AT_THE_CAP) || (0..m).any(|r| rise[i][r] > 0.0 && full(r));
        let before = rising.len();
        rising.retain(|&i| {
            if stops(i) {
                level[i] = at;
            }
            !stops(i)
        });
        if rising.len() == before {
            // Rounding alone: nobody rises any further.
            rising.drain(..).for_each(|i| level[i] = at);
        }
    }
    instance
        .users()
        .zip(level)
        .map(|(user, level)| level * user.weight().to_f64() / user.task_share())
        .collect()
}
