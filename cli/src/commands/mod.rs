//! One file a command: what is typed, what it means, what is done.

pub mod allocate;
pub mod audit;
pub mod bound;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod entitlements;
pub mod explain;
pub mod export;
pub mod flows;
pub mod generate;
pub mod import;
pub mod offline;
pub mod place;
pub mod plan;
pub mod report;
pub mod reproduce;
pub mod schema;
pub mod simulate;
pub mod solve;
pub mod sweep;
mod traces;
pub mod verify;
