//! Objectives that are a sum over the users: proportional fairness, alpha-fairness, utilitarian.
//!
//! `rounds` puts users into bins and solves for groups of them, as `problem` states it, in `stages` where α is large; `interior_point` solves that,
//! group by group (`block`, `elimination`, `rows`, `tally`) around a small system (`schur`). `utility` and
//! `consumer` say what a user demands at given prices, `sizes` what groups of users do, `duality` what the prices prove;
//! `result` states it, where needed once `least` has served whoever lacks next to nothing. Many users with kinds of tasks are solved in the same
//! way, kind by kind; few, those with limited tasks, groups and all that is under quotas one by one (`together`, `bundles`).

mod block;
mod bundles;
mod consumer;
mod duality;
mod elimination;
mod interior_point;
mod least;
mod linear;
pub(crate) mod market;
mod problem;
mod result;
mod rounds;
mod rows;
mod schur;
mod sizes;
mod stages;
mod tally;
pub(crate) mod together;
mod utility;

use crate::bins::{Bins, NO_BIN};
use crate::population::NO_PATTERN;
use crate::question::Question;
use crate::reduction::Reduction;
use fairplan_instances::{Certificate, InstanceError, Solution, Statistics, Status};
use rounds::{GUESSING_ROUNDS, Guess, MOST_ROUNDS, Rounds, Solved};

pub(crate) use bundles::Finding;
pub(crate) use linear::LinearSum;
pub(crate) use problem::{SumProblem, SumSolution, SumSolver};

/// From so many users on, the prices of a sample are nearly those of all; it takes every so many-th.
const SAMPLED_FROM: usize = 200_000;
const STRIDE: usize = 8;

/// Solves an instance for an objective that is a sum, from these bins, with any way to solve for groups; `alike` says that
/// the users of each bin are alike in everything, and `shares` what each user here is thought to get, if that is known. An error
/// when the `budget` is spent before it closes.
pub(crate) fn solve_over(
    question: &Question<'_>,
    method: &'static str,
    mut bins: Bins,
    alike: bool,
    solver: &dyn SumSolver,
    budget: f64,
    shares: Option<Vec<f64>>,
) -> Result<Solution, InstanceError> {
    let (instance, reduction, alpha) = (question.instance, question.reduction(), question.alpha());
    let users = &reduction.users;
    leave_out_users_without_tasks(reduction, &mut bins);
    let mut solved = if bins.of.iter().any(|bin| *bin != NO_BIN) {
        let (most, guess) = match shares {
            Some(shares) => (1, Some(Guess::Shares(shares))),
            None if alike => (MOST_ROUNDS, None),
            None => (MOST_ROUNDS, guess(reduction, &bins, alpha, solver)?),
        };
        let rounds = Rounds { reduction, alpha, alike, most, budget, solver };
        Some(rounds.run(&mut bins, guess)?)
    } else {
        None
    };
    let stated = |solved: Option<&Solved>| {
        let allocation = result::allocate(instance, reduction, &bins, solved);
        let proof = result::certify(instance, reduction, &bins, solved, &allocation);
        (allocation, proof)
    };
    let (mut allocation, (mut total, mut status)) = stated(solved.as_ref());
    let is_plain = users.lines.is_none();
    if let Some(solved) = solved.as_mut().filter(|_| is_plain && status != Status::Optimal && alpha > 0.0) {
        least::serve(reduction, &bins, solved);
        let served = stated(Some(solved));
        if served.1.0.relative_gap < total.relative_gap {
            (allocation, (total, status)) = served;
        }
    }
    let can_run = users.pattern.iter().map(|pattern| *pattern != NO_PATTERN).collect();
    let able = users.by_user(can_run, |a, b| a && b);
    let limited_by = result::limits(instance, &allocation, |user| able[user.0]);
    let statistics = Statistics {
        classes_merged: reduction.classes(),
        users_merged: solved.as_ref().map_or(0, |solved| solved.grouping.groups.len()),
        iterations: solved.as_ref().map_or(0, |solved| solved.iterations),
        rounds: solved.as_ref().map_or(0, |solved| solved.rounds),
        ..Statistics::default()
    };
    Ok(Solution {
        objective: question.objective,
        backend: question.backend,
        method,
        status,
        allocation,
        exact: None,
        certificate: Certificate::Total(total),
        limited_by,
        statistics,
        guaranteed: Vec::new(),
    })
}

/// Nor is a kind in a bin whose user has another that can run nowhere.
fn leave_out_users_without_tasks(reduction: &Reduction, bins: &mut Bins) {
    let users = &reduction.users;
    for i in (0..users.len()).filter(|&i| users.tasks(i) == 0.0) {
        bins.of[i] = NO_BIN;
    }
    for i in (0..users.users()).filter(|_| users.lines.is_some()) {
        if users.lines_of(i).any(|line| bins.of[line] == NO_BIN) {
            users.lines_of(i).for_each(|line| bins.of[line] = NO_BIN);
        }
    }
}

/// The prices of a sample of the users in these bins, where there are so many that those are nearly the prices of all.
fn guess(
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    solver: &dyn SumSolver,
) -> Result<Option<Guess>, InstanceError> {
    // Kinds are needed together, and a sample has some of them only.
    if reduction.users.len() < SAMPLED_FROM || reduction.users.lines.is_some() {
        return Ok(None);
    }
    let sample = reduction.sample(STRIDE);
    let of: Vec<u32> = (0..sample.users.len()).map(|i| bins.of[sample.users.position(i)]).collect();
    if of.iter().all(|bin| *bin == NO_BIN) {
        return Ok(None);
    }
    let mut bins = Bins { of, pattern: bins.pattern.clone() };
    let rounds = Rounds {
        reduction: &sample,
        alpha,
        alike: false,
        most: GUESSING_ROUNDS,
        budget: f64::INFINITY,
        solver,
    };
    let Solved { solution, utility, .. } = rounds.run(&mut bins, None)?;
    Ok(Some(Guess::Prices(solution.prices, utility)))
}
