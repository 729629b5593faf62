//! Bottleneck max fairness (MRF Sec. 2.4): all servers as one, and every user has the largest weighted share of some
//! resource that is used up.
//!
//! Let `a_ir = D_ir / C_r` be what a task takes of the pool, `M_r` the largest weighted share of resource `r` that anybody
//! has. A user runs `x_i = w_i min_r M_r / a_ir` tasks, over the used-up resources that it needs: the one where that is
//! least holds it. So an allocation is given by the levels `M_r`, and is bottleneck max fair when the loads
//! `Σ_i a_ir x_i`, which are concave and piecewise linear in the levels, are 1 where a level is finite and at most 1
//! elsewhere.
//!
//! With two resources there is one solution, found by sorting (`two_resources`). With more there can be several, even a
//! continuum (MRF Sec. 2.4). The one returned is the end of a path (`path`): nobody may have more than `β` of any
//! resource, and `β` rises from nothing; resources that are used up have lower levels of their own; the path ends where
//! everybody is held by a used-up resource. A path like this always ends, which also proves that a solution exists.

mod demands;
mod newton;
mod path;
mod two_resources;

pub(crate) use demands::Demands;

use crate::tolerance::allocation::MARGIN;
use crate::tolerance::bottleneck::FOUND;
use demands::merge;
use fairplan_instances::{
    Allocation, Certificate, FEW_USERS, Instance, LimitedBy, Objective, ResourceId, Solution, Statistics,
    Status, User,
};
use rayon::prelude::*;

/// Up to this many different users the path is followed for all of them; beyond, for this many bins of them.
const FOLLOWED: usize = 2_000;

/// Solves an instance that the objective applies to.
pub(crate) fn solve(instance: &Instance, backend: &'static str) -> Solution {
    let needed: Vec<ResourceId> = (0..instance.resources().len())
        .map(ResourceId)
        .filter(|&r| instance.users().any(|user| !user.demand()[r.0].is_zero()))
        .collect();
    let demands = demands(instance, &needed);
    // Sorting takes users as they come.
    let merged = (needed.len() > 2).then(|| merge(&demands));
    let method = if merged.is_some() { "bottleneck-path" } else { "bottleneck-sort" };
    let alike = merged.as_ref().unwrap_or(&demands);
    let (levels, iterations) = levels(alike);
    let statistics = Statistics { iterations, users_merged: alike.len(), ..Statistics::default() };
    let status = if demands.missed(&levels) <= FOUND { Status::Optimal } else { Status::Uncertified };
    let fullest = demands.loads(&levels).into_iter().fold(1.0, f64::max);
    let tasks = (0..instance.user_count()).into_par_iter().with_min_len(FEW_USERS).map(|i| {
        let user = instance.user(fairplan_instances::UserId(i));
        let share = user.weight().to_f64() * demands.held(i, &levels).1 / fullest * (1.0 - MARGIN);
        share / part_of_all(user, instance)
    });
    Solution {
        objective: Objective::BottleneckMaxFairness,
        backend,
        method,
        status,
        allocation: Allocation::pooled(tasks.collect()),
        exact: None,
        certificate: Certificate::Bottlenecks,
        limited_by: vec![LimitedBy::Capacity; instance.user_count()],
        statistics: Statistics { classes_merged: 1, ..statistics },
        guaranteed: Vec::new(),
    }
}

/// The levels of users that all differ, and the steps taken: a solution, unless they miss the definition.
pub(crate) fn levels(demands: &Demands) -> (Vec<f64>, u64) {
    if demands.resources <= 2 { (two_resources::levels(demands), 0) } else { many_resources(demands) }
}

/// The largest part of the servers that one task takes, by whatever shares are measured.
fn part_of_all(user: User<'_>, instance: &Instance) -> f64 {
    let demand = user.demand_doubles().iter().enumerate().filter(|(_, demand)| **demand > 0.0);
    demand.map(|(r, demand)| demand / instance.total(ResourceId(r))).fold(0.0, f64::max)
}

/// Every user by itself.
fn demands(instance: &Instance, needed: &[ResourceId]) -> Demands {
    let totals: Vec<f64> = needed.iter().map(|&r| instance.total(r)).collect();
    let mut directions = Vec::with_capacity(instance.user_count() * needed.len());
    for user in instance.users() {
        let demand = user.demand_doubles();
        let parts = needed.iter().zip(&totals).map(|(r, total)| demand[r.0] / total);
        let largest = parts.clone().fold(0.0, f64::max);
        directions.extend(parts.map(|part| part / largest));
    }
    let weights = instance.users().map(|user| user.weight().to_f64()).collect();
    Demands { resources: needed.len(), directions, weights }
}

/// Levels for more than two resources, and the steps taken. Where no path led to a solution, the last levels found.
fn many_resources(demands: &Demands) -> (Vec<f64>, u64) {
    let mut steps = 0;
    let mut last = vec![1.0; demands.resources];
    for attempt in 0..path::ATTEMPTS {
        let bins = (demands.len() > FOLLOWED).then(|| newton::bins(demands, FOLLOWED << attempt));
        let (end, taken) = path::follow(bins.as_ref().unwrap_or(demands), attempt);
        steps += taken;
        let Some(end) = end else { continue };
        let (levels, taken) = newton::polish(demands, end);
        steps += taken;
        if demands.missed(&levels) <= FOUND {
            return (levels, steps);
        }
        last = levels;
    }
    (last, steps)
}
