//! Whole tasks on servers, counted exactly.

use crate::{Instance, ResourceId, User};

/// The tasks on one server: `(position of the user, number of tasks)`, users in order, no zeros.
pub type ServerTasks = Vec<(u32, u64)>;

/// Where a placement policy put whole tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Tasks placed for each user, in the instance's order.
    pub tasks: Vec<u64>,
    /// The tasks on each server: all servers of the first class, then of the second, and so on.
    pub servers: Vec<ServerTasks>,
}

impl Placement {
    /// What the tasks take of a resource, in whole smallest units.
    pub fn units_of(&self, instance: &Instance, resource: ResourceId) -> u128 {
        let of =
            |(user, tasks): (User<'_>, &u64)| user.demand_units(resource).saturating_mul(u128::from(*tasks));
        instance.users().zip(&self.tasks).map(of).fold(0, u128::saturating_add)
    }
}
