//! Short summaries for people, as wide as their terminal: what came out, in plain words and aligned numbers.

pub(crate) mod grid;
mod traces;
mod warnings;

pub use crate::results::allocated_bound::summary as allocated_bound;
pub use crate::results::allocation::summary as allocation;
pub use crate::results::audit::summary as audits;
pub use crate::results::bound::summary as bound;
pub use crate::results::comparison::summary as comparison;
pub use crate::results::difference::summary as difference;
pub use crate::results::entitlements::summary as entitlements;
pub use crate::results::explanation::summary as explanation;
pub use crate::results::export::summary as export;
pub use crate::results::flows::{summary as flows, traffic};
pub use crate::results::group_explanation::summary as group_explanation;
pub use crate::results::growth::summary as growth;
pub use crate::results::losses::summary as losses;
pub use crate::results::moves::summary as moves;
pub use crate::results::offline::summary as offline;
pub use crate::results::placement::summary as placement;
pub use crate::results::plan::summary as plan;
pub use crate::results::proportional_bound::summary as proportional_bound;
pub use crate::results::reproduction::summary as reproduction;
pub use crate::results::sentences::{demands, heading};
pub use crate::results::simulation::summary as simulation;
pub use crate::results::solution::summary as solution;
pub use crate::results::task_allocation::summary as task_allocation;
pub use crate::results::task_offline::summary as task_offline;
pub use crate::results::verification::summary as verification;
pub use crate::results::worth::summary as worth;
pub use grid::fit_terminal;
pub use traces::trace;
pub use warnings::warnings;
