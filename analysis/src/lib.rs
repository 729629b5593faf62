//! Questions asked of any [`Solver`](fairplan_instances::Solver): has an objective the properties it is said to have
//! ([`audit`]), why has a user its share ([`explain()`]), what would another cluster or other users change (`what_if/`).
//!
//! Nothing here knows how a solver works or proves what it returns: a question is the same instance with a user, a demand or a
//! server changed, solved again.

mod audit;
mod explain;
mod what_if;

pub use audit::{AuditSettings, Finding, Outcome, PROPERTIES, audit};
pub use explain::{ClassView, Explanation, Holding, PriceRange, SmallerDemand, explain};
pub use what_if::{
    Difference, Growth, Loser, Loss, PartChange, ResourceWorth, ServerWorth, Shortfall, Step, UserChange,
    differences, growth, losses, worth_of_servers,
};
