//! Users as the rules of schedulers see them: in parts of the pool.

use fairplan_instances::{Instance, UserId};

/// Users in parts of the pool.
pub(super) struct Pool {
    /// How many resources there are.
    pub resources: usize,
    pub users: Vec<PoolUser>,
}

pub(super) struct PoolUser {
    /// What one task is of the total of each resource.
    pub demand: Vec<f64>,
    pub weight: f64,
    /// How many tasks it has; may be infinite.
    pub tasks: f64,
    /// The most it can run: all its tasks, or what the empty pool holds.
    pub most: f64,
}

impl Pool {
    pub fn new(instance: &Instance, totals: &[f64]) -> Self {
        let resources = instance.resources().len();
        let user = |id: UserId| {
            let user = instance.user(id);
            let part = |r: usize| match user.demand()[r].to_f64() {
                0.0 => 0.0,
                demand => demand / totals[r],
            };
            let demand: Vec<f64> = (0..resources).map(part).collect();
            let fits = 1.0 / demand.iter().copied().fold(0.0, f64::max);
            let tasks = user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64);
            PoolUser { demand, weight: user.weight().to_f64(), tasks, most: tasks.min(fits) }
        };
        Self { resources, users: (0..instance.user_count()).map(|id| user(UserId(id))).collect() }
    }
}
