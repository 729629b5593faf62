//! The checker: re-proves results from the instance and the claim alone, and shares no code with any solver.
//!
//! Whether a class is overloaded or a task limit passed is decided in exact integers. Bounds and shares are
//! computed in doubles rounded outward, so what is proved here holds in exact arithmetic. [`audit`] tests the
//! properties that objectives are said to have, [`explain()`] says why a user has its share, and `what_if/` what another
//! cluster or other users would change, by asking a solver they know nothing of.

mod audit;
mod bottlenecks;
mod claim;
mod divisible;
mod exact;
mod explain;
mod feasibility;
mod form;
mod levels;
mod limits;
mod max_min;
mod offline;
mod parts;
mod placement;
mod prices;
mod printed;
mod purchase;
mod rounding;
mod solution;
mod task_limits;
mod task_optimum;
mod tolerance;
mod total;
mod users;
mod verdict;
mod what_if;
mod whole_tasks;

pub use audit::{AuditSettings, Finding, Outcome, PROPERTIES, audit};
pub use claim::{PlacementClaim, Printed, PrintedPlacement, SolutionClaim, Tasks};
pub use divisible::{DivisibleClaim, verify_divisible};
pub use explain::{ClassView, Explanation, Holding, PriceRange, SmallerDemand, explain};
pub use form::well_formed;
pub use offline::{OFFLINE_TOLERANCE, OfflineClaim, OfflineProof, verify_offline};
pub use placement::verify_placement;
pub use purchase::least_cost;
pub use solution::{SolutionProof, verify_solution};
pub use task_optimum::{TASK_TOLERANCE, TaskClaim, TaskProof, verify_task_optimum};
pub use verdict::Verdict;
pub use what_if::{
    Difference, Growth, Loser, Loss, PartChange, ResourceWorth, ServerWorth, Shortfall, Step, UserChange,
    differences, growth, losses, worth_of_servers,
};
pub use whole_tasks::{
    LOGARITHMS_MEET, ProportionalClaim, StatedBounds, WholeTaskClaim, reaches, verify_proportional,
    verify_whole_tasks,
};
