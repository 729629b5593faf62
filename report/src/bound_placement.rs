//! The placement of a bracket of whole tasks: how many tasks each user has and how many wait, and the tasks server by server.

use crate::foreign::{Foreign, list};
use crate::placement::{ServerResult, ServerResults, tasks_on_servers};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Instance, Placement, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A placement, server by server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
pub struct BoundPlacement<S = Vec<ServerResult>> {
    /// How many tasks each user has on all servers, in the instance's order.
    pub users: Vec<UserTotal>,
    /// How many tasks of each group wait, in the instance's order. Absent where there are no groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupWaiting>,
    /// The tasks on each server: all servers of the first class, then of the second, and so on.
    pub servers: S,
}

impl<'a> BoundPlacement<ServerResults<'a>> {
    /// What a document says of a placement.
    pub(crate) fn new(instance: &'a Instance, placement: &'a Placement) -> Self {
        let (of_users, of_groups) = waiting(instance, placement);
        let users = instance.users().zip(&placement.tasks).zip(of_users);
        let users =
            users.map(|((user, tasks), waiting)| UserTotal { id: user.id().into(), tasks: *tasks, waiting });
        let groups = instance.groups().iter().zip(of_groups);
        let groups = groups.map(|(group, waiting)| GroupWaiting { id: group.id.clone(), waiting });
        let servers = ServerResults { instance, placement };
        Self { users: users.collect(), groups: groups.collect(), servers }
    }
}

/// How many tasks of each user and of each group wait; `None` of those of whom nobody has a number of tasks.
fn waiting(instance: &Instance, placement: &Placement) -> (Vec<Option<u64>>, Vec<Option<u64>>) {
    let of_user = |i: usize| placement.waiting(instance.user(UserId(i)));
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    ((0..instance.user_count()).map(of_user).collect(), instance.of_groups(None, of_user, add))
}

impl BoundPlacement {
    /// The placement, matched with its instance. Fails where the two cannot be matched.
    pub(crate) fn read(&self, instance: &Instance) -> Result<Placement, Foreign> {
        let ids = self.users.iter().map(|user| &*user.id);
        list("placement.users", ids, instance.users().map(|user| user.id()))?;
        let ids = self.groups.iter().map(|group| &*group.id);
        list("placement.groups", ids, instance.groups().iter().map(|group| &*group.id))?;
        let placement = Placement {
            tasks: self.users.iter().map(|user| user.tasks).collect(),
            servers: tasks_on_servers(&self.servers, instance, "placement.servers")?,
        };
        let (of_users, of_groups) = waiting(instance, &placement);
        let stated = |list: &str, (i, (stated, computed)): (usize, (Option<u64>, Option<u64>))| {
            let told = |tasks: Option<u64>| tasks.map_or_else(|| "nothing".into(), |tasks| tasks.to_string());
            let place = format!("placement.{list}[{i}].waiting");
            let problem = || format!("by the tasks that are placed it is {}", told(computed));
            if stated == computed { Ok(()) } else { Err(Foreign::new(place, &told(stated), problem())) }
        };
        let users = self.users.iter().map(|user| user.waiting).zip(of_users).enumerate();
        users.into_iter().try_for_each(|user| stated("users", user))?;
        let groups = self.groups.iter().map(|group| group.waiting).zip(of_groups).enumerate();
        groups.into_iter().try_for_each(|group| stated("groups", group))?;
        Ok(placement)
    }
}

impl<S: Sync> Tabular for BoundPlacement<S> {
    /// A row a user, in the instance's order.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("tasks", "tasks", Kind::Count, |user| user.tasks)
            .column("waiting", "tasks waiting", Kind::Count, |user| user.waiting)
            .done()
    }
}

/// How many tasks a user has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserTotal {
    /// The user's id.
    pub id: String,
    /// Tasks placed.
    pub tasks: u64,
    /// Tasks that wait. Absent for a user without a number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// How many tasks of a group wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupWaiting {
    /// The group's id.
    pub id: String,
    /// Tasks of all users below it that wait. Absent where none of them has a number of tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// How many tasks each user has.
pub fn tasks_placed(users: &[UserTotal]) -> Table<'_> {
    Table::of(users)
        .column("user", "user", Kind::Id, |user| &user.id)
        .column("tasks", "tasks", Kind::Count, |user| user.tasks)
        .column("waiting", "tasks waiting", Kind::Count, |user| user.waiting)
        .done()
}
