//! Whole tasks on servers, counted exactly.

use crate::{Instance, KindId, ResourceId, User};

/// The tasks on one server: `(position of the user, number of tasks)`, users in order, no zeros. Where users have kinds of tasks, it is
/// `(position of the kind, number of its pieces)`: a user without kinds has one, its task itself, see [`KindId`].
pub type ServerTasks = Vec<(u32, u64)>;

/// Where a placement policy put whole tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Tasks placed for each user, in the instance's order; of a user with kinds the whole tasks that its pieces make.
    pub tasks: Vec<u64>,
    /// The tasks on each server: all servers of the first class, then of the second, and so on.
    pub servers: Vec<ServerTasks>,
}

impl Placement {
    /// The tasks of a user that have no server; `None` where a user always has more.
    pub fn waiting(&self, user: User<'_>) -> Option<u64> {
        user.tasks().map(|all| all.saturating_sub(self.tasks[user.index().0]))
    }

    /// What is placed of each kind. Counts that are beyond 64 bits stay at the most.
    pub fn pieces(&self, instance: &Instance) -> Vec<u64> {
        if !instance.has_kinds() {
            return self.tasks.clone();
        }
        let mut pieces = vec![0u64; instance.kind_count()];
        for (kind, count) in self.servers.iter().flatten() {
            let sum = &mut pieces[*kind as usize];
            *sum = sum.saturating_add(*count);
        }
        pieces
    }

    /// What the tasks take of a resource, in whole smallest units; pieces that make no whole task with them.
    pub fn units_of(&self, instance: &Instance, resource: ResourceId) -> u128 {
        let of = |(kind, count): (usize, &u64)| {
            instance.kind(KindId(kind)).piece_units(resource).saturating_mul(u128::from(*count))
        };
        self.pieces(instance).iter().enumerate().map(of).fold(0, u128::saturating_add)
    }

    /// How many tasks of all users have no server, of those who have a number of them.
    pub fn all_waiting(&self, instance: &Instance) -> u64 {
        instance.users().filter_map(|user| self.waiting(user)).fold(0, u64::saturating_add)
    }

    /// The pieces that belong to no whole task, of each kind that has any.
    pub fn loose_pieces(&self, instance: &Instance) -> Vec<(KindId, u64)> {
        let beyond = |(k, pieces): (usize, u64)| {
            let kind = instance.kind(KindId(k));
            let in_tasks = self.tasks[kind.user().index().0].saturating_mul(kind.each());
            Some((KindId(k), pieces.checked_sub(in_tasks)?)).filter(|(_, loose)| *loose > 0)
        };
        self.pieces(instance).into_iter().enumerate().filter_map(beyond).collect()
    }
}
