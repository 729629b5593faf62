//! DRF inside each server apart (DRFH Sec. III-D), the baseline that DRFH improves on.
//!
//! Progressive filling (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011): within a server the dominant shares of
//! all users that can run there, shares of that server, rise together in proportion to the weights until a resource is
//! used up; the users that need it stop, the others go on. Servers of a class are alike, so one stands for all. Of a user
//! with kinds a server holds whole tasks.

use crate::exact::METHOD_OF_FILLING;
use crate::sums::Compensated;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::USED_UP;
use fairplan_instances::{
    Allocation, Certificate, ClassId, Instance, LimitedBy, Objective, Solution, Statistics, Status, User,
    UserId,
};
use rayon::prelude::*;

/// Solves an instance that the objective applies to. It has no levels over the servers together, and so no prices.
pub(crate) fn solve(instance: &Instance, backend: &'static str) -> Solution {
    let (n, classes) = (instance.user_count(), instance.classes().len());
    let filled: Vec<Filled> = (0..classes).into_par_iter().map(|l| fill(instance, ClassId(l))).collect();
    let mut tasks = vec![0.0; n];
    let mut splits = vec![0.0; n * classes];
    for (l, filled) in filled.iter().enumerate() {
        let servers = instance.classes()[l].count as f64 * (1.0 - MARGIN);
        for (i, here) in filled.users.iter().zip(&filled.tasks) {
            splits[i * classes + l] = here * servers;
        }
    }
    for (tasks, split) in tasks.iter_mut().zip(splits.chunks_mut(classes)) {
        *tasks = split.iter().sum();
        if *tasks > 0.0 {
            split.iter_mut().for_each(|here| *here /= *tasks);
        }
    }
    let split_of =
        instance.users().flat_map(|user| user.kinds().map(move |_| user.index().0 as u32)).collect();
    let limit = |tasks: &f64| if *tasks > 0.0 { LimitedBy::Capacity } else { LimitedBy::NoUsableClass };
    Solution {
        objective: Objective::DrfPerServer,
        backend,
        method: METHOD_OF_FILLING,
        status: Status::Optimal,
        limited_by: tasks.iter().map(limit).collect(),
        allocation: Allocation::of_kinds(instance, classes, tasks, split_of, splits),
        exact: None,
        certificate: Certificate::Bottlenecks,
        guaranteed: Vec::new(),
        statistics: Statistics {
            iterations: filled.iter().map(|filled| filled.rounds).sum(),
            users_merged: n,
            classes_merged: classes,
            ..Statistics::default()
        },
    }
}

/// One server, filled.
#[derive(Default)]
struct Filled {
    /// The users that can run whole tasks there.
    users: Vec<usize>,
    /// The tasks of each of them.
    tasks: Vec<f64>,
    /// How often a resource was used up.
    rounds: u64,
}

/// Fills one server of a class.
fn fill(instance: &Instance, class: ClassId) -> Filled {
    let capacity: Vec<f64> = instance.classes()[class.0].capacity.iter().map(|c| c.to_f64()).collect();
    let users: Vec<usize> =
        (0..instance.user_count()).filter(|&i| instance.user(UserId(i)).can_run_whole_on(class)).collect();
    let user = |position: usize| instance.user(UserId(users[position]));
    // A user's tasks per unit of level: its weight over the dominant share of one task.
    let pace = |user: User<'_>| {
        let parts = user.demand_doubles().iter().zip(&capacity).filter(|(demand, _)| **demand > 0.0);
        user.weight().to_f64() / parts.map(|(demand, capacity)| demand / capacity).fold(0.0, f64::max)
    };
    let paces: Vec<f64> = (0..users.len()).map(|position| pace(user(position))).collect();
    let mut tasks = vec![0.0; users.len()];
    let mut rising: Vec<usize> = (0..users.len()).collect();
    let mut left = capacity.clone();
    let (mut level, mut rounds) = (0.0, 0);
    while !rising.is_empty() {
        // How fast each resource goes, and how far the level can rise until the first is used up.
        let mut speed = vec![Compensated::default(); capacity.len()];
        for &position in &rising {
            for (speed, demand) in speed.iter_mut().zip(user(position).demand_doubles()) {
                speed.add(paces[position] * demand);
            }
        }
        let speed: Vec<f64> = speed.into_iter().map(Compensated::value).collect();
        let going = || (0..left.len()).filter(|&r| speed[r] > 0.0);
        let rise = going().map(|r| left[r] / speed[r]).fold(f64::INFINITY, f64::min);
        level += rise;
        let used_up: Vec<usize> =
            going().filter(|&r| left[r] - speed[r] * rise <= USED_UP * capacity[r]).collect();
        left.iter_mut().zip(&speed).for_each(|(left, speed)| *left = (*left - speed * rise).max(0.0));
        rising.retain(|&position| {
            tasks[position] = paces[position] * level;
            !used_up.iter().any(|&r| user(position).demand_doubles()[r] > 0.0)
        });
        rounds += 1;
    }
    Filled { users, tasks, rounds }
}
