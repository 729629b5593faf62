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

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{InstanceBuilder, NewUser, ServerClass};

    #[test]
    fn users_that_need_other_resources_go_on_when_the_first_is_used_up() {
        let decimals = |texts: [&str; 2]| texts.map(|text| text.parse().unwrap());
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
        let class = ServerClass { id: "a".into(), count: 2, capacity: decimals(["9", "18"]).into() };
        builder.class(class).unwrap();
        for (id, demand, weight) in
            [("a", ["1", "4"], "1"), ("b", ["3", "1"], "1"), ("c", ["1", "0"], "1"), ("d", ["0", "1"], "2")]
        {
            let demand = decimals(demand);
            builder.user(NewUser { weight: weight.parse().unwrap(), ..NewUser::new(id, &demand) }).unwrap();
        }
        // Per server: tasks a 4.5 t, b 3 t, c 9 t, d 36 t. CPU 4.5 t + 9 t + 9 t = 9 at t = 0.4, but memory
        // 18 t + 3 t + 36 t = 18 already at t = 6/19; then c alone takes what CPU is left.
        let tasks = drf_per_server(&builder.build().unwrap());
        let t = 6.0 / 19.0;
        let expected = [9.0 * t, 6.0 * t, 18.0 - 9.0 * t - 18.0 * t, 72.0 * t];
        for (tasks, expected) in tasks.iter().zip(expected) {
            assert!((tasks - expected).abs() < 1e-12, "{tasks} {expected}");
        }
    }
}
