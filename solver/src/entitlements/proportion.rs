//! Each resource divided by itself in proportion to weights, nobody getting more than it requests.

use super::Pool;

/// Tasks of each user that fit into its part of each resource.
pub(super) fn divide(pool: &Pool) -> Vec<f64> {
    let mut tasks: Vec<f64> = pool.users.iter().map(|user| user.most).collect();
    for r in 0..pool.resources {
        let mut asking: Vec<usize> =
            (0..pool.users.len()).filter(|id| pool.users[*id].demand[r] > 0.0).collect();
        // Who is satisfied first comes first.
        let request = |id: usize| pool.users[id].tasks * pool.users[id].demand[r];
        let satisfied_at = |id: usize| request(id) / pool.users[id].weight;
        asking.sort_by(|a, b| satisfied_at(*a).total_cmp(&satisfied_at(*b)).then(a.cmp(b)));
        // The weights from each on, summed from the end so that the last has all that is left.
        let mut weights = vec![0.0; asking.len() + 1];
        for (position, id) in asking.iter().enumerate().rev() {
            weights[position] = weights[position + 1] + pool.users[*id].weight;
        }
        let mut left = 1.0;
        for (position, &id) in asking.iter().enumerate() {
            let user = &pool.users[id];
            let part = request(id).min(left * (user.weight / weights[position]));
            left = f64::max(left - part, 0.0);
            tasks[id] = tasks[id].min(part / user.demand[r]);
        }
    }
    tasks
}
