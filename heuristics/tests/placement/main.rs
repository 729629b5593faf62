//! Placement policies from outside: against a plain scan, against trying all, and on known numbers.
#![cfg(test)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agree_with_scan;
mod inside_servers;
mod many_tasks;
mod measured_by_others;
mod random_policy;
mod reference_values;
mod refusals;
mod scan;
