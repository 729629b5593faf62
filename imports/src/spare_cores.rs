//! Whether a limit leaves a queue cores: tasks can do without what is neither cores nor memory, so a queue that has the most of that has
//! tasks without it too.

use crate::tolerance::SUMS;
use fairplan_instances::ResourceKind;

/// A resource that a queue's tasks ask for.
pub(crate) struct Asked {
    /// The most that the queue may have.
    pub(crate) most: f64,
    /// All there is.
    pub(crate) all: f64,
    /// How much a task takes, in any unit that is the same for all resources.
    pub(crate) of_a_task: f64,
}

impl Asked {
    /// How many tasks the queue may have by it.
    pub(crate) fn tasks(&self) -> f64 {
        self.most / self.of_a_task
    }

    /// Whether the limit of the resource of this name leaves cores.
    pub(crate) fn leaves(&self, name: &str, cores: &Self) -> bool {
        let is_needed = ResourceKind::of(name) == ResourceKind::Cores || name == "memory";
        let is_limited = !is_needed && self.of_a_task > 0.0 && self.most < self.all;
        is_limited && self.tasks() < cores.tasks() * (1.0 - SUMS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_of_what_tasks_can_do_without_leaves_cores() {
        let of = |most: f64| Asked { most, all: 8.0, of_a_task: 1.0 };
        let cores = Asked { most: 64.0, all: 64.0, of_a_task: 8.0 };
        assert!(of(4.0).leaves("nvidia.com/gpu", &cores));
        assert!(!of(4.0).leaves("memory", &cores) && !of(4.0).leaves("vcores", &cores));
        let few = |most: f64| Asked { most, all: 64.0, of_a_task: 8.0 };
        assert!(!of(4.0).leaves("nvidia.com/gpu", &few(32.0)), "cores end with it");
        // No limit, and none that is below all there is.
        let many = Asked { most: 640.0, all: 640.0, of_a_task: 8.0 };
        assert!(!of(8.0).leaves("nvidia.com/gpu", &many) && !of(9.0).leaves("nvidia.com/gpu", &many));
        assert!(!Asked { of_a_task: 0.0, ..of(4.0) }.leaves("nvidia.com/gpu", &cores));
    }

    #[test]
    fn cores_are_left_just_outside_the_tolerance_and_not_just_inside() {
        let cores = Asked { most: 8.0, all: 64.0, of_a_task: 1.0 };
        let below = |by: f64| Asked { most: 8.0 * (1.0 - by), all: 64.0, of_a_task: 1.0 };
        assert!(!below(0.9 * SUMS).leaves("gpu", &cores) && below(1.1 * SUMS).leaves("gpu", &cores));
    }
}
