//! The offline optimum: demands that are all known beforehand, served so that the totals are as even as can be.
//!
//! The totals that can be reached form a polymatroid, so one allocation is best at once for the smallest total, the
//! next smallest and so on, and for every other even-handed objective. `water_filling.rs` goes round the quanta and
//! in each raises the users with the lowest totals, the others held fixed. `levels.rs` reads off which users end up
//! at one level and computes what that level is, exactly, from the demands alone: that proves the result. Whole slices
//! are rounded from there and exchanged until nothing is more even (`whole.rs`). As fractions, the levels' slices are given by a
//! flow in whole parts (`exact.rs`, `transport.rs`).

mod exact;
mod flow;
mod levels;
#[cfg(feature = "highs")]
mod linear_program;
mod transport;
mod water_filling;
mod whole;

use crate::tolerance::offline::GOAL;
use exact::ExactFlow;
use fairplan_instances::{Deadline, InstanceError, OfflineOptimum, OfflineProblem};
use flow::{ByUser, Flow};
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
    let mut divided = Divided::new(problem, deadline);
    let levels = match problem.whole_slices {
        true => whole::even_out(&mut divided.flow, &divided.by_user, deadline),
        false => divided.levels.finish(),
    };
    OfflineOptimum { allocated: divided.flow.allocated(problem), levels, rounds: divided.rounds, exact: None }
}

/// The same in fractions beside the doubles, of slices that are divided at will.
///
/// # Errors
/// [`InstanceError::Unsupported`] for whole slices, which are counted as they are; [`InstanceError::OutOfTime`].
pub fn exact_offline_optimum_within(
    problem: &OfflineProblem<'_>,
    deadline: &Deadline,
) -> Result<OfflineOptimum, InstanceError> {
    if problem.whole_slices {
        let problem = "whole slices are counted, so they are exact as they are; leave --exact out".into();
        return Err(InstanceError::Unsupported(problem));
    }
    let Divided { flow, by_user, levels, rounds } = Divided::new(problem, deadline);
    ExactFlow::new(&flow, &by_user, &levels.finish()).optimum(problem, rounds, deadline)
}

/// Slices divided as evenly as doubles have it.
struct Divided {
    flow: Flow,
    by_user: ByUser,
    levels: Levels,
    rounds: usize,
}

impl Divided {
    fn new(problem: &OfflineProblem<'_>, deadline: &Deadline) -> Self {
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
        Self { flow, by_user, levels, rounds }
    }
}

#[cfg(test)]
mod random_series;
#[cfg(test)]
#[cfg(feature = "highs")]
mod tests;
