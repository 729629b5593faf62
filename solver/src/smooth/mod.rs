//! Objectives that are a sum over the users: proportional fairness, alpha-fairness, utilitarian.
//!
//! `rounds` puts users into bins and solves for groups of them, as `problem` states it; `interior_point` solves that,
//! group by group (`block`, `elimination`, `tally`) around a small system (`schur`). `wishes` and `utility` say what users would
//! take at given prices and what that proves; `result` states it.

mod block;
mod elimination;
mod interior_point;
mod problem;
mod result;
mod rounds;
mod schur;
mod tally;
mod utility;
mod wishes;

use crate::bins::{Bins, NO_BIN};
use crate::lexicographic::FirstBins;
use crate::reduction::Reduction;
use fairplan_instances::{Certificate, Instance, Objective, Solution, SolverError, Statistics};

pub(crate) use interior_point::InteriorPoint;
pub(crate) use problem::{SumProblem, SumSolution, SumSolver};

/// Below this α users of a bin would have shares too far apart for fixed proportions to be of use.
const AGGREGATED_FROM: f64 = 0.2;

/// Solves an instance for the objective that is the sum with this `alpha`, with any way to solve for groups.
pub(crate) fn solve(
    instance: &Instance,
    (objective, alpha): (Objective, f64),
    backend: &'static str,
    method: [&'static str; 2],
    first_bins: FirstBins,
    solver: &dyn SumSolver,
) -> Result<Solution, SolverError> {
    let reduction = Reduction::new(instance, objective);
    let users = &reduction.users;
    let aggregated = match first_bins {
        FirstBins::ByDirection { bins, least, pairs } if alpha >= AGGREGATED_FROM => {
            let target = bins.min(pairs / reduction.classes().max(1)).max(least);
            (users.len() > target).then_some(target)
        }
        _ => None,
    };
    let (mut bins, method) = match aggregated {
        Some(target) => (Bins::by_direction(&reduction, target), method[1]),
        None => (Bins::alike(&reduction, alpha), method[0]),
    };
    for i in (0..users.len()).filter(|&i| users.tasks(i) == 0.0) {
        bins.of[i] = NO_BIN;
    }
    let solved = if bins.of.iter().any(|bin| *bin != NO_BIN) {
        Some(rounds::solve_rounds(&reduction, &mut bins, alpha, aggregated.is_none(), solver)?)
    } else {
        None
    };
    let allocation = result::allocate(instance, &reduction, &bins, solved.as_ref());
    let limited_by = result::limits(instance, &reduction, &allocation);
    let (total, status) = result::certify(instance, &reduction, &bins, alpha, solved.as_ref(), &allocation);
    let statistics = Statistics {
        classes_merged: reduction.classes(),
        users_merged: solved.as_ref().map_or(0, |solved| solved.grouping.groups.len()),
        iterations: solved.as_ref().map_or(0, |solved| solved.iterations),
        rounds: solved.as_ref().map_or(0, |solved| solved.rounds),
        ..Statistics::default()
    };
    Ok(Solution {
        objective,
        backend,
        method,
        status,
        allocation,
        certificate: Certificate::Total(total),
        limited_by,
        statistics,
    })
}
