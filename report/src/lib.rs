//! Results: their formats and JSON Schemas, tables, the summaries on a terminal, and writing them whole or not at
//! all.

pub mod allocated_bound;
pub mod allocation;
pub mod bound;
pub mod bound_placement;
pub mod comparison;
pub mod divisible_bound;
pub mod export;
pub mod figure;
pub mod flows;
mod foreign;
pub mod formats;
pub mod given_placement;
pub mod instance_tables;
mod json;
pub mod moves;
mod names;
pub mod offline;
pub mod output;
pub mod page;
pub mod placement;
pub mod planning;
pub mod plot;
pub mod proportional_bound;
pub mod reproduction;
mod results;
mod schema;
pub mod simulation;
pub mod solution;
pub mod summary;
pub mod table;
pub mod task_allocation;
mod tolerance;
mod unchecked;
mod units;
pub mod verification;

#[cfg(test)]
mod tests;

pub use foreign::Foreign;
pub use formats::read_tabular;
pub use json::{MalformedResult, format_of, read_json, write_json};
pub use unchecked::{
    UncheckedField, unchecked, unchecked_of_moves, unchecked_of_proof, unchecked_of_solution,
    unchecked_of_sum, unchecked_of_whole_tasks,
};
