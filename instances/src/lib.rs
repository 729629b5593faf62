//! The vocabulary of fairplan: clusters and users in exact decimals, what solving and placing them yields,
//! and every way an instance comes in: files, generators, importers. No solver, no clock.

mod allocation;
mod decimal;
mod error;
pub mod files;
pub mod generate;
mod google2011;
mod ids;
pub mod import;
mod lint;
mod model;
mod objective;
mod placement;
mod ratio;
mod solution;
mod violation;

pub use allocation::Allocation;
pub use decimal::{Decimal, DecimalError};
pub use error::InstanceError;
pub use ids::IdTable;
pub use lint::{Warning, WarningKind, lint};
pub use model::{
    ClassId, Draft, DraftUser, Instance, InstanceBuilder, NewUser, PlacementRule, ResourceId, RuleId,
    ServerClass, User, UserId,
};
pub use objective::{Alpha, Objective, ObjectiveError};
pub use placement::{Placement, ServerTasks};
pub use ratio::compare_ratios;
pub use solution::{Certificate, Level, LimitedBy, Solution, Solver, SolverError, Statistics, Status, Total};
pub use violation::Violation;
