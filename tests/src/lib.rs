//! What the tests judge by: exact oracles that share no code with the solvers or the checker, and seeded
//! random instances. An oracle panics rather than return a doubtful answer.

#![allow(clippy::expect_used, clippy::panic)]

mod bottleneck;
mod conic;
mod dice;
mod draft;
mod exact;
mod families;
mod fraction;
pub mod fuzz;
mod max_min;
mod over_time;
mod quota_families;
mod random_instances;
mod random_trees;
mod reserves;
mod simplex;
mod tree;
mod water_filling;
mod whole_tasks;

pub use bottleneck::{ExactBottlenecks, exact_bottlenecks};
pub use conic::{Bundle, Conic, bundles, by_clarabel, sum_of_utilities, takes_part};
pub use dice::Dice;
pub use draft::{
    decimal, draft, kind, plain_draft, plain_user, printed, with_bundles_as_tasks, with_capacity,
};
pub use exact::{
    is_as_the_oracle_of_servers_says, is_as_the_oracle_of_trees_says, is_as_the_oracle_says, read_fraction,
};
pub use fairplan_instances::{Draft, DraftUser};
use fairplan_solver::{BACKENDS, HAS_HIGHS};
pub use families::{FAMILIES, Family, family, unlike_classes, with_demands};
pub use fraction::Fraction;
pub use max_min::{ExactMaxMin, exact_max_min, exact_max_min_of};
pub use over_time::{demanded, exact_gains, exact_over_time};
pub use random_instances::{
    odd_draft, random_crowd, random_crowd_with_own_rates, random_draft, random_draft_with_task_rows,
    random_draft_without_rates, with_random_kinds, with_random_profiles, with_random_server_rules,
};
pub use random_trees::{
    random_kinds_under_limits, random_kinds_under_quotas, random_kinds_under_quotas_of_classes, random_tree,
    random_tree_with_limits, random_tree_with_quotas, random_tree_with_quotas_of_classes,
};
pub use reserves::{owners_of, reserved_together};
pub use simplex::Tableau;
pub use tree::{Unkept, exact_filling, exact_tree};
pub use water_filling::water_filling;
pub use whole_tasks::{
    best_whole_allocation, best_whole_level, best_whole_sum, compare_breakpoints, holds_few_pieces,
};

/// The backends that answer in this build.
pub fn backend_names() -> impl Iterator<Item = &'static str> {
    BACKENDS.names().filter(|name| HAS_HIGHS || *name != "highs")
}
