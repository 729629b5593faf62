//! The cheapest servers with which every user reaches what is asked for.
//!
//! Two problems ask each other (`planner.rs`): a program in the counts of servers alone says what to buy by all rows known
//! so far (`master.rs`), a max-min over the users says whether that is enough, and if not its prices are a new row
//! (`cuts.rs`, `candidates.rs`). So the whole-number program has as many variables as there are types to buy, for any number of
//! users, and its bound is valid whenever it is stopped. Counts may first be fractions, which finds most rows cheaply.
//! `checked.rs` asks for more until a placement of whole tasks fits, or DRFH by itself gives everybody enough, and as much as
//! rules of whole tasks need at least (`rules.rs`); `obstacle.rs` says what stands in the way.

mod candidates;
mod checked;
mod cuts;
mod master;
mod obstacle;
mod planner;
mod rules;

pub use checked::{PlaceAll, ServingOrder};
pub use planner::Planner;
