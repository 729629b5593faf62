//! The checker: re-proves results from the instance and the claim alone, and shares no code with any solver.
//!
//! Whether a class is overloaded or a task limit passed is decided in exact integers. Bounds and shares are
//! computed in doubles rounded outward, so what is proved here holds in exact arithmetic.

mod alone;
mod beyond;
mod bottlenecks;
mod claim;
mod cuts;
mod devices;
mod divisible;
mod domains;
mod exact;
mod export;
mod feasibility;
mod form;
mod fractions;
mod groups;
mod kept;
mod kinds;
mod levels;
mod limit_rows;
mod limited_tasks;
mod limits;
mod max_min;
mod offline;
mod parts;
mod placement;
mod prices;
mod printed;
mod proof;
mod purchase;
mod purchase_bounds;
mod purchase_costs;
mod rounding;
mod shortfall;
mod simplex;
mod solution;
mod task_levels;
mod task_limits;
mod task_optimum;
mod tolerance;
mod total;
mod used;
mod users;
mod verdict;
mod whole_guarantees;
mod whole_tasks;

pub use claim::{PlacementClaim, Printed, PrintedPlacement, SolutionClaim, Tasks};
pub use divisible::{DivisibleClaim, proved_divisible, verify_divisible};
pub use export::{AmountClaim, ExportClaim, ExportedTenantClaim, verify_export};
pub use form::well_formed;
pub use kept::guarantees_stay;
pub use offline::{OfflineClaim, OfflineProof, verify_offline};
pub use placement::{verify_placement, verify_rules};
pub use proof::SolutionProof;
pub use purchase::least_cost;
pub use purchase_bounds::{FrontierClaim, PlanClaim, PurchaseBounds, verify_plan};
pub use purchase_costs::{
    BoughtClaim, CostsOverTimeClaim, NeededClaim, PurchaseClaim, StageClaim, verify_costs_over_time,
};
pub use shortfall::verify_shortfall;
pub use solution::verify_solution;
pub use task_optimum::{TaskClaim, TaskProof, verify_task_optimum};
pub use tolerance::{OFFLINE_TOLERANCE, TASK_TOLERANCE};
pub use verdict::Verdict;
pub use whole_guarantees::whole_guarantees;
pub use whole_tasks::{
    AllocatedClaim, MovesClaim, PrintedMoves, ProportionalClaim, WholeTaskClaim, has_level, is_best,
    is_best_sum, verify_allocated, verify_moves, verify_proportional, verify_whole_tasks,
};
