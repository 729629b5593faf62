//! `fairplan.solution.v1`: what `solve` writes and `verify` reads.

mod claim;
mod columns;
mod document;
mod numbers;
mod pools;
mod write;

pub use claim::StatedSolution;
pub use columns::{Names, Texts, UserColumns};
pub use document::{
    CertificateResult, ClassPrice, ClassResult, ClassTasks, LevelResult, LimitName, ObjectiveName,
    SolutionBody, SolutionDocument, SolutionStats, StatusName, UserResult,
};
pub use numbers::StatedNumbers;
pub use write::{Headline, UserResults, solution_document};
