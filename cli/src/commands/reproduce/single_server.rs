//! DRF inside each server on its own, the baseline that DRFH improves on (DRFH Sec. III-D).

use fairplan_instances::{ClassId, Instance, User};

/// Tasks of each user when every server divides its own capacity by DRF among the users that can run there:
/// within a server all dominant shares (of that server) rise together, in proportion to the weights, until a
/// resource runs out; its users stop, the others go on.
pub(super) fn drf_per_server(instance: &Instance) -> Vec<f64> {
    let mut tasks = vec![0.0; instance.user_count()];
    for (l, class) in instance.classes().iter().enumerate() {
        let capacity: Vec<f64> = class.capacity.iter().map(|amount| amount.to_f64()).collect();
        let users: Vec<User<'_>> = instance.users().filter(|user| user.can_use(ClassId(l))).collect();
        for (user, here) in users.iter().zip(drf(&capacity, &users)) {
            tasks[user.index().0] += here * class.count as f64;
        }
    }
    tasks
}

/// DRF in one server by progressive filling (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011): tasks of
/// each user. Task limits are not looked at.
fn drf(capacity: &[f64], users: &[User<'_>]) -> Vec<f64> {
    // A user's tasks per unit of level: its weight over the dominant share of one task.
    let pace: Vec<f64> = users
        .iter()
        .map(|user| {
            let shares = user.demand_doubles().iter().zip(capacity).filter(|(demand, _)| **demand > 0.0);
            user.weight().to_f64() / shares.map(|(demand, capacity)| demand / capacity).fold(0.0, f64::max)
        })
        .collect();
    let mut tasks = vec![0.0; users.len()];
    let mut active = vec![true; users.len()];
    let mut left = capacity.to_vec();
    while active.contains(&true) {
        // How fast each resource goes, and how far the level can rise until the first is used up.
        let mut speed = vec![0.0; capacity.len()];
        for ((user, pace), _) in users.iter().zip(&pace).zip(&active).filter(|(_, active)| **active) {
            for (speed, demand) in speed.iter_mut().zip(user.demand_doubles()) {
                *speed += pace * demand;
            }
        }
        let rises: Vec<f64> = left
            .iter()
            .zip(&speed)
            .map(|(left, speed)| if *speed > 0.0 { left / speed } else { f64::INFINITY })
            .collect();
        let rise = rises.iter().copied().fold(f64::INFINITY, f64::min);
        let used_up: Vec<bool> = rises.iter().map(|other| *other <= rise * (1.0 + 1e-12)).collect();
        for (left, speed) in left.iter_mut().zip(&speed) {
            *left = (*left - speed * rise).max(0.0);
        }
        for (i, user) in users.iter().enumerate().filter(|(i, _)| active[*i]).collect::<Vec<_>>() {
            tasks[i] += pace[i] * rise;
            let stopped = user.demand_doubles().iter().zip(&used_up).any(|(demand, up)| *demand > 0.0 && *up);
            active[i] = !stopped;
        }
    }
    tasks
}
