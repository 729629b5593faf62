//! The offline optimum: demands that are all known beforehand, served so that the totals are as even as can be.
//!
//! The totals that can be reached form a polymatroid, so one allocation is best at once for the smallest total, the
//! next smallest and so on, and for every other even-handed objective. `water_filling.rs` goes round the quanta and
//! in each raises the users with the lowest totals, the others held fixed. `levels.rs` reads off which users end up
//! at one level and computes what that level is, exactly, from the demands alone: that proves the result. Whole slices
//! are rounded from there and exchanged until nothing is more even (`whole.rs`).

mod flow;
mod levels;
#[cfg(feature = "highs")]
mod linear_program;
mod water_filling;
mod whole;

use crate::tolerance::offline::GOAL;
use fairplan_instances::{Deadline, OfflineOptimum, OfflineProblem};
use flow::Flow;
use levels::Levels;
#[cfg(feature = "highs")]
pub use linear_program::{OfflineLevels, offline_levels_by_highs};

/// Most rounds over the quanta.
const MAX_ROUNDS: usize = 20_000;

/// Serves the demands as evenly as possible. The caller judges by the levels how close the totals came.
pub fn offline_optimum(problem: &OfflineProblem<'_>) -> OfflineOptimum {
    offline_optimum_within(problem, &Deadline::never())
}

/// The same, to end by a deadline: then with totals that may be short of the levels, and with whole slices without the levels
/// that were not found in time.
pub fn offline_optimum_within(problem: &OfflineProblem<'_>, deadline: &Deadline) -> OfflineOptimum {
    let mut flow = Flow::new(problem);
    let by_user = flow.by_user();
    let mut rounds = 0;
    let mut next_look = 4;
    let mut levels = Levels::of(&flow, &by_user);
    while levels.gap(&flow) > GOAL && rounds < MAX_ROUNDS && !deadline.is_over() {
        while rounds < next_look && !deadline.is_over() {
            flow.round();
            rounds += 1;
        }
        flow.sum();
        levels = Levels::of(&flow, &by_user);
        next_look = rounds + (rounds / 4).clamp(4, 64);
    }
    let levels = match problem.whole_slices {
        true => whole::even_out(&mut flow, &by_user, deadline),
        false => levels.finish(),
    };
    OfflineOptimum { allocated: flow.allocated(problem), levels, rounds }
}

#[cfg(test)]
#[cfg(feature = "highs")]
mod tests;
