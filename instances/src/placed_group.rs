//! What groups have of a placement of whole tasks.

use crate::table::{Kind, Table};
use crate::{Instance, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the members of one group have together, those of groups inside it included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacedGroup {
    /// The group's id.
    pub id: String,
    /// The group it belongs to. Absent for a child of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The sum of its members' dominant shares.
    #[schemars(range(min = 0))]
    pub share: f64,
    /// Tasks placed.
    pub tasks: u64,
    /// Tasks that wait, of members who have a number of them. Absent where no member has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// What all groups have, in the instance's order, given the dominant share and the tasks placed of each user.
pub fn placed_groups(instance: &Instance, shares: &[f64], tasks: &[u64]) -> Vec<PlacedGroup> {
    let of_user = |i: usize| {
        let all = instance.user(UserId(i)).tasks();
        (shares[i], tasks[i], all.map(|all| all.saturating_sub(tasks[i])))
    };
    let either = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    let join = |a: (f64, u64, Option<u64>), b: (f64, u64, Option<u64>)| {
        (a.0 + b.0, a.1.saturating_add(b.1), either(a.2, b.2))
    };
    let groups = instance.groups().iter().zip(instance.of_groups((0.0, 0, None), of_user, join));
    groups
        .map(|(group, (share, tasks, waiting))| PlacedGroup {
            id: group.id.clone(),
            parent: group.parent.map(|parent| instance.groups()[parent.0].id.clone()),
            share,
            tasks,
            waiting,
        })
        .collect()
}

/// The table of groups of a placement.
pub fn placed_groups_table(groups: &[PlacedGroup]) -> Table<'_> {
    Table::of(groups)
        .column("id", "group", Kind::Id, |group| &group.id)
        .column("parent", "inside", Kind::Name, |group| group.parent.as_ref())
        .column("share", "share", Kind::Share, |group| group.share)
        .column("tasks", "tasks", Kind::Count, |group| group.tasks)
        .column("waiting", "waiting", Kind::Count, |group| group.waiting)
        .done()
}
