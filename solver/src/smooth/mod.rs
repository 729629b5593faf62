//! Objectives that are a sum over the users: proportional fairness, alpha-fairness, utilitarian.
//!
//! `rounds` puts users into bins and solves for groups of them, as `problem` states it; `interior_point` solves that,
//! group by group (`block`, `elimination`, `tally`) around a small system (`schur`). `wishes` and `utility` say what users would
//! take at given prices and what that proves; `result` states it.

mod block;
mod elimination;
mod interior_point;
mod market;
mod problem;
mod result;
mod rounds;
mod schur;
mod stand;
mod tally;
mod utility;
mod wishes;

use crate::bins::{Bins, NO_BIN};
use crate::lexicographic::FirstBins;
use crate::reduction::{NO_KIND, Reduction};
use fairplan_instances::{Certificate, Instance, Objective, Solution, SolverError, Statistics, Status};

pub(crate) use interior_point::InteriorPoint;
pub(crate) use problem::{SumProblem, SumSolution, SumSolver};

/// Below this α users of a bin would have shares too far apart for fixed proportions to be of use.
const AGGREGATED_FROM: f64 = 0.2;

/// Up to so many users, a sum that does not close over bins is solved over again without.
const IN_FULL: usize = 20_000;

/// From so many users on, the prices of a sample are nearly those of all; it takes every so many-th.
const SAMPLED_FROM: usize = 200_000;
const STRIDE: usize = 8;

/// Solves an instance for the objective that is the sum with this `alpha`, with any way to solve for groups.
pub(crate) fn solve(
    instance: &Instance,
    (objective, alpha): (Objective, f64),
    backend: &'static str,
    method: [&'static str; 2],
    first_bins: FirstBins,
    solver: &dyn SumSolver,
) -> Result<Solution, SolverError> {
    let is_over = || solver.deadline().is_over();
    let shares_bins = matches!(first_bins, FirstBins::ByDirection { .. });
    if shares_bins && market::suits(instance, alpha) {
        let solution = market::solve(instance, (objective, alpha), backend, solver.deadline())?;
        if solution.status == Status::Optimal || instance.user_count() > IN_FULL || is_over() {
            return Ok(solution);
        }
    }
    let reduction = Reduction::new(instance, objective);
    let users = reduction.users.len();
    let attempt = |bins: Bins, alike: bool| {
        let method = method[usize::from(!alike)];
        solve_over(instance, &reduction, bins, (objective, alpha), alike, (backend, method, solver))
    };
    if let FirstBins::ByDirection { bins, least, pairs } = first_bins
        && alpha >= AGGREGATED_FROM
    {
        let target = bins.min(pairs / reduction.classes().max(1)).max(least);
        if users > target {
            let solution = attempt(Bins::by_direction(&reduction, target), false)?;
            if solution.status == Status::Optimal || users > IN_FULL || is_over() {
                return Ok(solution);
            }
        }
    }
    let solution = attempt(Bins::alike(&reduction, alpha), true)?;
    let is_open = solution.status == Status::Uncertified && !is_over();
    if is_open && market::can_solve(instance, alpha) && users <= IN_FULL {
        let other = market::solve(instance, (objective, alpha), backend, solver.deadline())?;
        if other.status == Status::Optimal {
            return Ok(other);
        }
    }
    Ok(solution)
}

/// Solves from these bins; `alike` says that the users of each are alike in everything.
fn solve_over(
    instance: &Instance,
    reduction: &Reduction,
    mut bins: Bins,
    (objective, alpha): (Objective, f64),
    alike: bool,
    (backend, method, solver): (&'static str, &'static str, &dyn SumSolver),
) -> Result<Solution, SolverError> {
    let users = &reduction.users;
    leave_out_users_without_tasks(reduction, &mut bins);
    let solved = if bins.of.iter().any(|bin| *bin != NO_BIN) {
        let guess = if alike { None } else { guess(reduction, &bins, alpha, solver)? };
        Some(rounds::solve_rounds(reduction, &mut bins, alpha, alike, guess, solver)?)
    } else {
        None
    };
    let allocation = result::allocate(instance, reduction, &bins, solved.as_ref());
    let able = users.by_position(users.kind.iter().map(|kind| *kind != NO_KIND).collect());
    let limited_by = result::limits(instance, &allocation, |user| able[user.0]);
    let (total, status) = result::certify(instance, reduction, &bins, solved.as_ref(), &allocation);
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

fn leave_out_users_without_tasks(reduction: &Reduction, bins: &mut Bins) {
    for i in (0..reduction.users.len()).filter(|&i| reduction.users.tasks(i) == 0.0) {
        bins.of[i] = NO_BIN;
    }
}

/// The prices of a sample of the users in these bins, where there are so many that those are nearly the prices of all.
fn guess(
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    solver: &dyn SumSolver,
) -> Result<Option<rounds::Guess>, SolverError> {
    if reduction.users.len() < SAMPLED_FROM {
        return Ok(None);
    }
    let sample = reduction.sample(STRIDE);
    let of: Vec<u32> = (0..sample.users.len()).map(|i| bins.of[sample.users.position(i)]).collect();
    if of.iter().all(|bin| *bin == NO_BIN) {
        return Ok(None);
    }
    let mut bins = Bins { of, kind: bins.kind.clone() };
    rounds::guess(&sample, &mut bins, alpha, solver).map(Some)
}
