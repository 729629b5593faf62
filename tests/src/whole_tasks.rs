//! The best smallest share of whole tasks by trying everything: an oracle that knows no bound.

use fairplan_instances::{Breakpoint, ClassId, Instance, ResourceId, UserId, compare_ratios};
use std::cmp::Ordering;
use std::collections::HashSet;

/// `δ_i / w_i`, exactly. Weights here have few digits.
fn one_task(instance: &Instance, user: usize) -> (u128, u128) {
    let user = instance.user(UserId(user));
    let resource = user.dominant_resource();
    let weight = user.weight().scaled(-6).expect("weights of at most six decimals");
    (user.demand_units(resource) * 1_000_000, instance.total_units(resource) * weight)
}

/// Compares two weighted dominant shares exactly.
pub fn compare_breakpoints(instance: &Instance, a: Breakpoint, b: Breakpoint) -> Ordering {
    let share = |at: Breakpoint| {
        let (over, under) = one_task(instance, at.user.0);
        (over * u128::from(at.tasks), under)
    };
    compare_ratios(share(a), share(b))
}

/// The largest smallest weighted dominant share over the users that can have tasks, by all ways to fill all servers; `None`
/// where there are too many, or no such user.
pub fn best_whole_tasks(instance: &Instance, most_states: usize) -> Option<Breakpoint> {
    let m = instance.resources().len();
    let demand = |i: usize| -> Vec<u128> {
        (0..m).map(|r| instance.user(UserId(i)).demand_units(ResourceId(r))).collect()
    };
    let demands: Vec<Vec<u128>> = (0..instance.user_count()).map(demand).collect();
    let contents = |l: usize| -> HashSet<Vec<u64>> {
        let capacity: Vec<u128> =
            (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let mut found = HashSet::new();
        let mut open = vec![(vec![0u64; demands.len()], capacity)];
        while let Some((tasks, room)) = open.pop() {
            let mut is_full = true;
            for (i, demand) in demands.iter().enumerate() {
                let may_run = instance.user(UserId(i)).rule().allows(ClassId(l));
                if may_run && demand.iter().zip(&room).all(|(d, c)| d <= c) {
                    is_full = false;
                    let mut more = tasks.clone();
                    more[i] += 1;
                    // Tasks in rising order only, so that each content is met once.
                    if tasks[i + 1..].iter().all(|later| *later == 0) {
                        open.push((more, room.iter().zip(demand).map(|(c, d)| c - d).collect()));
                    }
                }
            }
            if is_full {
                found.insert(tasks);
            }
        }
        found
    };
    let mut reached: HashSet<Vec<u64>> = HashSet::from([vec![0; demands.len()]]);
    for (l, class) in instance.classes().iter().enumerate() {
        let contents = contents(l);
        for _ in 0..class.count {
            let mut next = HashSet::new();
            for before in &reached {
                for content in &contents {
                    let limits = instance.users().map(|user| user.tasks().unwrap_or(u64::MAX));
                    let after =
                        before.iter().zip(content).zip(limits).map(|((a, b), limit)| (a + b).min(limit));
                    next.insert(after.collect::<Vec<u64>>());
                }
            }
            if next.len() > most_states {
                return None;
            }
            reached = next;
        }
    }
    let can_have: Vec<usize> =
        (0..demands.len()).filter(|&i| reached.iter().any(|tasks| tasks[i] > 0)).collect();
    let smallest = |tasks: &Vec<u64>| {
        let own = can_have.iter().map(|&i| Breakpoint { user: UserId(i), tasks: tasks[i] });
        own.min_by(|a, b| compare_breakpoints(instance, *a, *b))
    };
    reached.iter().filter_map(smallest).max_by(|a, b| compare_breakpoints(instance, *a, *b))
}
