//! Lexicographic max-mins as fractions, and what filling each server comes to.
//!
//! `program.rs` states a level in whole numbers, `vertex/` goes from vertex to vertex of it, `levels.rs` from level to level (who rises how in groups is `filling.rs`), and
//! `result.rs` tells the outcome in fractions and in doubles. Nothing here has a tolerance.

mod alone;
mod crossover;
mod filling;
mod fit;
mod guide;
mod levels;
mod number;
mod of_levels;
mod over_time;
mod per_server;
mod program;
mod result;
pub(crate) mod simplex;
mod sparse;
mod sums;
mod system;
mod vertex;

use crate::question::Question;
use fairplan_instances::{InstanceError, Objective, Solution};
use guide::Guide;
use levels::raise;
use program::Program;
use sums::LONGEST;
use vertex::Stuck;

pub(crate) use number::Rational;
pub use over_time::{accepted_task_optimum_within, exact_task_optimum_within};
pub(crate) use result::METHOD;

/// What results call the filling of servers, in doubles and in fractions.
pub(crate) const METHOD_OF_FILLING: &str = "progressive-filling";
pub(crate) use sparse::Sparse;

/// Pairs of a user and a class where it may run up to which an answer as fractions is looked for where nothing else is proved.
pub(crate) const SMALL: usize = 10_000;

/// The same where users may run on few classes each and fractions come before the other ways, which prove little then; with so many rows at
/// most: what steps take grows with the cube of these.
pub(crate) const SMALL_WHERE_UNLIKE: (usize, usize) = (15_000, 300);

/// The same of a linear sum in whole numbers, whose basis has a row for every resource of every class.
pub(crate) const SMALL_SUM: usize = 2_000;

/// The same of levels, of which there are many, each with rows for the users too.
pub(crate) const SMALL_LEVELS: usize = 300;

/// Pairs of a user and a class up to which exact steps alone are fast enough; beyond, a solution in doubles points the way.
const UNGUIDED: usize = 200;

/// The objectives that can be solved exactly, for people.
const KNOWN: &str = "drfh, tsf, drf and drf-per-server";

/// Whether the objective and the instance can be solved exactly; if not, why.
pub(crate) fn covers(question: &Question<'_>) -> Result<(), InstanceError> {
    let refuse = |problem: String| Err(InstanceError::Unsupported(problem));
    let (instance, objective) = (question.instance, question.objective);
    match objective {
        Objective::Drfh | Objective::TaskShareFairness | Objective::DrfPooled | Objective::DrfPerServer => {}
        Objective::ProportionalFairness | Objective::AlphaFair(_) => {
            return refuse(format!(
                "the optimum of {objective} has no fractions: it is irrational in general; --exact knows {KNOWN}"
            ));
        }
        _ => return refuse(format!("--exact does not know {objective}; it knows {KNOWN}")),
    }
    if instance.has_guarantees() {
        return refuse(
            "--exact does not know guarantees: what a group's members are sure of follows from dividing its guarantee first, which is \
             done in doubles; leave them out, or leave --exact out"
                .into(),
        );
    }
    Ok(())
}

/// What is said of fractions of more bits than are worked with.
fn too_long(bits: u64) -> InstanceError {
    let digits = bits * 3 / 10;
    InstanceError::Unsupported(format!(
        "the exact fractions of this instance have more than {digits} digits, since the demands of its users have no shorter common \
         multiple; give the demands fewer digits, or solve in doubles"
    ))
}

/// What is said where there is no further vertex.
fn told(stuck: Stuck) -> InstanceError {
    match stuck {
        Stuck::OutOfTime => InstanceError::OutOfTime,
        Stuck::TooLong => too_long(LONGEST),
        Stuck::Contradiction(problem) => {
            InstanceError::Backend { backend: METHOD, problem: format!("contradicts itself: {problem}") }
        }
    }
}

/// The exact solution; large instances are led to it by one in doubles.
pub(crate) fn solve(
    question: &Question<'_>,
    in_doubles: impl Fn() -> Option<Solution>,
) -> Result<Solution, InstanceError> {
    covers(question)?;
    if question.objective == Objective::DrfPerServer {
        let deadline = question.deadline;
        return per_server::solve(question.instance, question.backend, &|| deadline.is_over());
    }
    let program = Program::new(question.instance, question.objective);
    let is_over = || question.deadline.is_over();
    let guide = (question.pairs() > UNGUIDED)
        .then(in_doubles)
        .flatten()
        .map(|solution| Guide::new(&program, &solution));
    let per_level = alone::works_per_level(&program, &is_over).map_err(told)?;
    raise(&program, per_level, guide.as_ref(), &is_over).map_err(told)?.solution(question.backend)
}
