//! What is claimed: an allocation or a placement, with whatever a result states about it.

use fairplan_instances::{
    Allocation, Certificate, ExactSolution, GroupResult, GuaranteeResult, KeptGuarantees, KindId,
    LimitResult, LimitedBy, Objective, PlacedGroup, Placement, ResourceId, ServerTasks, Solution, User,
    UserId,
};
use std::borrow::Cow;
use std::ops::Range;

/// Tasks per user and server class, however they are held.
#[derive(Clone, Debug)]
pub enum Tasks<'a> {
    /// As solvers hold them.
    Allocation(&'a Allocation),
    /// As result files list them.
    Listed {
        /// Where the entries of each user's kinds start (of each user, where it has none), and after the last where they end:
        /// kinds + 1 numbers.
        starts: Vec<usize>,
        /// `(position of the class, tasks there)`, the kinds one after another in the instance's order.
        entries: Vec<(u32, f64)>,
    },
    /// Where all servers are one: tasks per user, in the instance's order.
    Pooled(Cow<'a, [f64]>),
}

impl Tasks<'_> {
    /// Whether all servers are one, so that kinds of tasks make no difference.
    pub(crate) fn is_pooled(&self) -> bool {
        match self {
            Self::Allocation(allocation) => allocation.is_pooled(),
            Self::Pooled(_) => true,
            Self::Listed { .. } => false,
        }
    }

    /// The kinds of a user whose tasks are claimed apart: by their positions, or that of the user in a pool.
    pub(crate) fn kinds(&self, user: User<'_>) -> Range<usize> {
        let UserId(i) = user.index();
        if self.is_pooled() { i..i + 1 } else { user.kind_range() }
    }

    /// The tasks of a user that run: a task needs all its kinds. In plain doubles.
    pub(crate) fn running(&self, user: User<'_>) -> f64 {
        let of_kind = |kind: usize| {
            let mut running = 0.0;
            self.visit(user.index().0, kind, |_, here| running += here);
            running
        };
        self.kinds(user).map(of_kind).fold(f64::INFINITY, f64::min)
    }

    /// Visits every number of tasks of one of a user's [`Self::kinds`] that is not zero, the impossible ones included, with the
    /// position of its class; the pool is class 0.
    pub(crate) fn visit(&self, user: usize, kind: usize, mut visit: impl FnMut(usize, f64)) {
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
                for (class, fraction) in allocation.split_of_kind(KindId(kind)).iter().enumerate() {
                    let here = tasks * fraction;
                    if here != 0.0 {
                        visit(class, here);
                    }
                }
            }
            Self::Listed { starts, entries } => {
                for (class, here) in &entries[starts[kind]..starts[kind + 1]] {
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
    /// Tasks that wait, of users who have a number of them; `None` where none are stated.
    pub unplaced: Option<f64>,
    /// What groups get.
    pub groups: &'a [GroupResult],
    /// What is used of limits, and what more of them is worth.
    pub limits: &'a [LimitResult],
    /// What is guaranteed, and what those have.
    pub guarantees: &'a [GuaranteeResult],
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
    /// What is stated in fractions; then these are what is proved.
    pub exact: Option<&'a ExactSolution>,
    /// What else a result file states; `None` for a solution in memory.
    pub printed: Option<Printed<'a>>,
    /// What is said of the divisions of what groups are guaranteed, in the order of [`fairplan_instances::Instance::guaranteed_groups`].
    pub guaranteed: Vec<Self>,
}

impl<'a> From<&'a Solution> for SolutionClaim<'a> {
    fn from(solution: &'a Solution) -> Self {
        Self {
            objective: solution.objective,
            tasks: Tasks::Allocation(&solution.allocation),
            certificate: &solution.certificate,
            limited_by: &solution.limited_by,
            exact: solution.exact.as_deref(),
            printed: None,
            guaranteed: solution.guaranteed.iter().map(Self::from).collect(),
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
    /// What groups have, in the instance's order.
    pub groups: &'a [PlacedGroup],
    /// Which guarantees are kept; `None` where nothing is guaranteed.
    pub guarantees: Option<&'a KeptGuarantees>,
    /// The whole tasks that levels count as guaranteed to each user, where that is more than what users are guaranteed themselves.
    pub whole_guarantees: Option<&'a [u64]>,
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
