//! Progressive filling of a pool: the level of all rises until a resource is used up, which stops those who need it.

use super::pool::{Pool, PoolUser};

/// Halvings of the interval in which a level is searched: more than a double has digits.
const HALVINGS: usize = 1100;

/// Tasks of each user where at level `λ` a user may have `quota_r + λ · weight` of each resource `r` in parts of the pool,
/// and the level rises for everybody who does not need a resource that is used up.
pub(super) fn fill(pool: &Pool, quota: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let tasks_at = |id: usize, level: f64| {
        let user: &PoolUser = &pool.users[id];
        let most = |(r, demand): (usize, &f64)| match *demand {
            0.0 => f64::INFINITY,
            // There is none of it.
            f64::INFINITY => 0.0,
            demand => (quota(id, r) + level * user.weight) / demand,
        };
        user.demand.iter().enumerate().map(most).fold(user.most, f64::min)
    };
    let mut tasks = vec![0.0; pool.users.len()];
    let mut rising: Vec<usize> = (0..pool.users.len()).collect();
    let mut used_up = vec![false; pool.resources];
    // What those who have stopped use.
    let mut settled = vec![0.0; pool.resources];
    let mut level = 0.0;
    while !rising.is_empty() {
        let used_at = |level: f64| {
            let mut used = settled.clone();
            for &id in &rising {
                let tasks = tasks_at(id, level);
                used.iter_mut()
                    .zip(&pool.users[id].demand)
                    .for_each(|(used, demand)| *used += if tasks > 0.0 { demand * tasks } else { 0.0 });
            }
            used
        };
        let overfull = |level: f64| -> Vec<bool> {
            used_at(level).iter().zip(&used_up).map(|(used, up)| !up && *used > 1.0).collect()
        };
        let fits = |level: f64| !overfull(level).contains(&true);
        // From this level on everybody has all they can have.
        let lightest = rising.iter().map(|id| pool.users[*id].weight).fold(f64::INFINITY, f64::min);
        let highest = level + 1.0 / lightest;
        if fits(highest) {
            rising.iter().for_each(|&id| tasks[id] = tasks_at(id, highest));
            break;
        }
        let (mut low, mut high) = (level, highest);
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if fits(middle) { low = middle } else { high = middle }
        }
        level = low;
        let full = overfull(high);
        let (stopped, others): (Vec<usize>, Vec<usize>) = rising.iter().partition(|id| {
            pool.users[**id].demand.iter().zip(&full).any(|(demand, full)| *full && *demand > 0.0)
        });
        for &id in &stopped {
            tasks[id] = tasks_at(id, level);
            settled
                .iter_mut()
                .zip(&pool.users[id].demand)
                .for_each(|(used, demand)| *used += if tasks[id] > 0.0 { demand * tasks[id] } else { 0.0 });
        }
        rising = others;
        used_up.iter_mut().zip(full).for_each(|(up, full)| *up |= full);
    }
    tasks
}
