//! Whole tasks on servers, counted exactly.

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
