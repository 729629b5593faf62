//! What is claimed: an allocation or a placement, with whatever a result states about it.

use fairplan_instances::{
    Allocation, Certificate, GroupResult, LimitResult, LimitedBy, Objective, Placement, ResourceId,
    ServerTasks, Solution, UserId,
};
use std::borrow::Cow;

/// Tasks per user and server class, however they are held.
#[derive(Clone, Debug)]
pub enum Tasks<'a> {
    /// As solvers hold them.
    Allocation(&'a Allocation),
    /// As result files list them.
    Listed {
        /// Where each user's entries start, and after the last user where they end: users + 1 numbers.
        starts: Vec<usize>,
        /// `(position of the class, tasks there)`, the users one after another in the instance's order.
        entries: Vec<(u32, f64)>,
    },
    /// Where all servers are one: tasks per user, in the instance's order.
    Pooled(Cow<'a, [f64]>),
}

impl Tasks<'_> {
    /// Visits every number of tasks of a user that is not zero, the impossible ones included, with the position of its
    /// class; the pool is class 0.
    pub(crate) fn visit(&self, user: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Allocation(allocation) if allocation.is_pooled() => {
                let tasks = allocation.tasks(UserId(user));
                if tasks != 0.0 {
                    visit(0, tasks);
                }
            }
            Self::Pooled(tasks) => {
                if tasks[user] != 0.0 {
                    visit(0, tasks[user]);
                }
            }
            Self::Allocation(allocation) => {
                let tasks = allocation.tasks(UserId(user));
                for (class, fraction) in allocation.split(UserId(user)).iter().enumerate() {
                    let here = tasks * fraction;
                    if here != 0.0 {
                        visit(class, here);
                    }
                }
            }
            Self::Listed { starts, entries } => {
                for (class, here) in &entries[starts[user]..starts[user + 1]] {
                    if *here != 0.0 {
                        visit(*class as usize, *here);
                    }
                }
            }
        }
    }
}

/// The numbers a result states that follow from its allocation and its certificate. All lists in the instance's order.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// The value of the objective.
    pub value: f64,
    /// The smallest weighted share of the root's children that still want more; `None` if none does.
    pub level: Option<f64>,
    /// What groups get.
    pub groups: &'a [GroupResult],
    /// What is used of limits, and what more of them is worth.
    pub limits: &'a [LimitResult],
    /// The certificate's lower bound on the best value.
    pub primal: f64,
    /// The certificate's upper bound on the best value.
    pub dual: f64,
    /// How far `dual` is above `primal`: see [`SolutionProof::relative_gap`](crate::SolutionProof).
    pub relative_gap: f64,
    /// Tasks per user, over all classes.
    pub tasks: &'a [f64],
    /// Dominant share per user.
    pub dominant_shares: &'a [f64],
    /// Dominant resource per user.
    pub dominant_resources: &'a [ResourceId],
    /// Used part of each class's capacity, row-major `classes × resources`; 0 where there is no capacity. Empty where
    /// all servers are one.
    pub class_utilization: &'a [f64],
    /// Used part of the whole cluster's capacity, one a resource; 0 where there is no capacity.
    pub utilization: &'a [f64],
    /// Increase of `value` per unit of capacity, row-major `classes × resources`.
    pub prices: &'a [f64],
}

/// A solution as claimed; nothing in it is believed.
#[derive(Clone, Debug)]
pub struct SolutionClaim<'a> {
    /// Which allocation it is said to be.
    pub objective: Objective,
    /// Tasks per user and class.
    pub tasks: Tasks<'a>,
    /// What is said to prove it. Users without a usable class have level 0.
    pub certificate: &'a Certificate,
    /// What limits each user.
    pub limited_by: &'a [LimitedBy],
    /// What else a result file states; `None` for a solution in memory.
    pub printed: Option<Printed<'a>>,
}

impl<'a> From<&'a Solution> for SolutionClaim<'a> {
    fn from(solution: &'a Solution) -> Self {
        Self {
            objective: solution.objective,
            tasks: Tasks::Allocation(&solution.allocation),
            certificate: &solution.certificate,
            limited_by: &solution.limited_by,
            printed: None,
        }
    }
}

/// The numbers a placement result states that follow from the placement.
#[derive(Clone, Copy, Debug)]
pub struct PrintedPlacement<'a> {
    /// The value of the objective.
    pub value: f64,
    /// The smallest weighted share of those that have tasks left and fit some server; `None` if there are none.
    pub level: Option<f64>,
    /// Tasks that wait; `None` where it is not said.
    pub unplaced: Option<u64>,
    /// Dominant share per user.
    pub dominant_shares: &'a [f64],
    /// Used part of the whole cluster's capacity, one a resource; 0 where there is no capacity.
    pub utilization: &'a [f64],
}

/// A placement of whole tasks as claimed; nothing in it is believed.
#[derive(Clone, Copy, Debug)]
pub struct PlacementClaim<'a> {
    /// Tasks placed for each user, in the instance's order.
    pub tasks: &'a [u64],
    /// The tasks on each server: all servers of the first class, then of the second, and so on.
    pub servers: &'a [ServerTasks],
    /// What else a result file states; `None` for a placement in memory.
    pub printed: Option<PrintedPlacement<'a>>,
}

impl<'a> From<&'a Placement> for PlacementClaim<'a> {
    fn from(placement: &'a Placement) -> Self {
        Self { tasks: &placement.tasks, servers: &placement.servers, printed: None }
    }
}
