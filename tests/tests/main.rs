//! Everything that must hold of fairplan as a whole, in one binary.

// A failed expectation is how a test speaks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// What only tests of HiGHS call.
#![cfg_attr(not(feature = "highs"), allow(dead_code, unused_imports))]

mod audit;
mod bottleneck;
mod bounds_between_servers;
mod bounds_under_guarantees;
mod bounds_under_limits;
mod clarabel;
mod closing;
mod command_line;
mod conformance;
mod corrupted_results;
mod determinism;
mod edges;
mod every_field;
mod exact;
mod explain;
mod flat;
mod fuzz;
mod groups;
mod groups_asked;
mod groups_audited;
mod guarantees;
#[cfg(feature = "highs")]
mod guide;
mod kinds;
mod limits;
mod lying_backend;
mod many_users;
mod metamorphic;
mod moves;
mod offline;
mod offline_in_fractions;
mod online;
mod oracle;
mod over_time;
mod packages;
mod peers;
mod planning;
mod pooled;
mod prices;
mod published;
#[cfg(feature = "highs")]
mod python;
mod quotas;
mod quotas_audited;
mod quotas_placed;
mod quotations;
mod red_team;
mod ruled_kinds;
mod ruled_moves;
mod ruled_quotas;
mod rules_of_whole_tasks;
mod scale;
mod second_checker;
mod setup;
mod sharing;
mod simulation;
mod solve_then_verify;
mod solving;
mod stochastic;
mod sums;
mod sums_under_quotas;
mod whole_task_sums;
mod whole_tasks;
