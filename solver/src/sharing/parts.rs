//! What sharing rules see of the traffic, and what they say when they fail.

use fairplan_instances::{InstanceError, Objective};

/// The parts of each resource that a unit of work takes in a unit of time, by class; row-major.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub resources: usize,
    pub parts: Vec<f64>,
}

impl Parts {
    pub fn of(&self, class: usize) -> &[f64] {
        &self.parts[class * self.resources..(class + 1) * self.resources]
    }

    pub fn classes(&self) -> usize {
        self.parts.len() / self.resources
    }
}

/// An allocation whose conditions are missed by `missed`.
pub(super) fn uncertified(objective: Objective, counts: &[u32], missed: f64) -> InstanceError {
    let problem = format!("the allocation of {counts:?} transactions misses its conditions by {missed:.1e}");
    InstanceError::Backend { backend: "sharing", problem: format!("{objective}: {problem}") }
}
