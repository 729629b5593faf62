//! What people read of each result, one file a format: its answer in a sentence or two, its summary in a terminal, its
//! section of a page.

pub(crate) mod allocated_bound;
pub(crate) mod allocated_comparison;
pub(crate) mod allocation;
pub(crate) mod audit;
pub(crate) mod bound;
pub(crate) mod comparison;
mod comparison_bars;
pub(crate) mod difference;
pub(crate) mod entitlements;
pub(crate) mod explanation;
pub(crate) mod export;
pub(crate) mod flows;
pub(crate) mod group_explanation;
pub(crate) mod growth;
pub(crate) mod losses;
pub(crate) mod moves;
pub(crate) mod offline;
pub(crate) mod placement;
pub(crate) mod plan;
pub(crate) mod proportional_bound;
pub(crate) mod reproduction;
pub(crate) mod sentences;
pub(crate) mod series;
pub(crate) mod simulation;
pub(crate) mod solution;
pub(crate) mod task_allocation;
pub(crate) mod task_offline;
pub(crate) mod verification;
pub(crate) mod worth;
