//! What every proof of an offline optimum over servers asks of its levels: whose they are, and of what their prices may be.

use crate::verdict::Worst;
use fairplan_instances::{ClassId, Instance, ResourceId, TaskLevel};

/// The level of each of so many users who has one.
pub(crate) fn level_of(levels: &[TaskLevel], users: usize, worst: &mut Worst) -> Vec<Option<usize>> {
    let mut level_of = vec![None; users];
    for (position, level) in levels.iter().enumerate() {
        for user in &level.users {
            match level_of.get_mut(*user as usize) {
                Some(of @ None) => *of = Some(position),
                _ => worst.fail(|| format!("user {user} of level {position} does not belong there")),
            }
        }
        if !level.users.is_sorted_by(|a, b| a < b) {
            worst.fail(|| format!("the users of level {position} are not in their order"));
        }
        if level.users.is_empty() {
            worst.fail(|| format!("level {position} has no users"));
        }
    }
    level_of
}

/// Whether a class has any of a resource; rows go by quantum, class and resource.
pub(crate) fn is_there(instance: &Instance, row: usize) -> bool {
    let m = instance.resources().len();
    let (class, r) = (row / m % instance.classes().len(), ResourceId(row % m));
    instance.classes()[class].count > 0 && instance.capacity_units(ClassId(class), r) > 0
}
