//! `fairplan.solution.v1`: what `solve` writes and `verify` reads.

mod alone;
mod claim;
mod columns;
mod compared;
mod document;
mod fractions;
mod levels;
mod numbers;
mod placed_kinds;
mod tables;
mod users;
mod write;

pub use alone::{AloneMember, AloneResult, AloneTasks, divisions_of_groups};
pub(crate) use alone::{CountedOfGroups, whole_tasks_of_groups};
pub use claim::StatedSolution;
pub use columns::{Names, Texts, UserColumns};
pub use compared::difference_of_results;
pub use document::{
    CertificateResult, ClassResult, ExactClassPrice, ExactLevelResult, ExactResult, ExactTaskPrice,
    SolutionBody, SolutionDocument, SolutionStats,
};
pub use levels::{ClassPrice, LevelResult};
pub use numbers::StatedNumbers;
pub use tables::{classes_of, classes_with_capacity, placements_of, stated_users_of, users_of};
pub use users::{ClassTasks, ExactUserResult, UserResult};
pub use write::{UserResults, solution_document};
