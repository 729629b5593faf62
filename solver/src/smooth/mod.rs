//! Objectives that are a sum over the users: proportional fairness, alpha-fairness, utilitarian.
//!
//! `rounds` puts users into bins and solves for groups of them (over kinds of tasks helped by `extrapolation`), as `problem` states it, in
//! `stages` where α is large; `interior_point` solves that, group by group (`block`, `elimination`, `rows`, `tally`) around a small system
//! (`schur`). `utility` and `consumer` say what a user demands at given prices, `sizes` what groups of users do, `duality` what the prices
//! prove; `result` states it, where needed once `least` has served whoever lacks next to nothing. Many users with kinds of tasks are solved
//! in the same way, kind by kind; few, those with limited tasks, groups and all that is under quotas one by one (`together`, `bundles`), and so
//! are users that add nothing to the sum of all, sum by sum (`apart`).

mod apart;
mod block;
mod bundles;
mod consumer;
mod digits;
mod duality;
mod elimination;
mod extrapolation;
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
use crate::level::dot;
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
/// What a row is guessed to be worth at least, in parts of an average one.
const LEAST_GUESS: f64 = 1e-3;

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
    if reduction.users.lines.is_some() {
        return guess_of_whole_users(reduction, bins, alpha, solver);
    }
    if reduction.users.len() < SAMPLED_FROM {
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

/// The prices where each user has all its kinds on the same class: where classes have the same prices those of its kinds on any, and
/// where they do not a start that is nearer than one that knows nothing of demands. They are found in a round or two.
fn guess_of_whole_users(
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    solver: &dyn SumSolver,
) -> Result<Option<Guess>, InstanceError> {
    let Some(whole) = reduction.of_whole_users() else { return Ok(None) };
    let mut bins_of_whole = Bins::by_direction(&whole, bins.pattern.len());
    for (i, bin) in bins_of_whole.of.iter_mut().enumerate() {
        if reduction.users.lines_of(i).any(|line| bins.of[line] == NO_BIN) {
            *bin = NO_BIN;
        }
    }
    if bins_of_whole.of.iter().all(|bin| *bin == NO_BIN) {
        return Ok(None);
    }
    let rounds = Rounds {
        reduction: &whole,
        alpha,
        alike: false,
        most: GUESSING_ROUNDS,
        budget: f64::INFINITY,
        solver,
    };
    let Solved { solution, utility, .. } = rounds.run(&mut bins_of_whole, None)?;
    // What no whole user can use has no price here, but may have one for a kind.
    let least = LEAST_GUESS * dot(&solution.prices, &whole.capacities) / whole.capacities.len() as f64;
    let price = |(price, capacity): (&f64, &f64)| {
        if *capacity > 0.0 { price.max(least / capacity) } else { *price }
    };
    let prices = solution.prices.iter().zip(&whole.capacities).map(price).collect();
    Ok(Some(Guess::Prices(prices, utility)))
}

#[cfg(test)]
mod tests {
    use crate::backend;
    use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
    use fairplan_instances::{Draft, DraftKind, Objective, Status};

    /// Rounds of proportional fairness over so many users of three kinds each.
    fn rounds_over_kinds(users: u64, cluster: Cluster) -> u64 {
        let options = PopulationOptions { kind: PopulationKind::Spread, users: 3 * users, cluster, seed: 1 };
        let mut draft = Draft::from(&population(&options).unwrap());
        let all = std::mem::take(&mut draft.users);
        for three in all.chunks_exact(3) {
            let mut user = three[0].clone();
            let kind = |(k, part): (usize, &fairplan_instances::DraftUser)| DraftKind {
                profile: None,
                id: format!("kind-{k}"),
                each: 1 + k as u64,
                demand: part.demand.clone(),
                eligible: None,
            };
            user.kinds = three.iter().enumerate().map(kind).collect();
            draft.users.push(user);
        }
        let instance = draft.build().unwrap();
        let solution = backend("auto").unwrap().solve(&instance, Objective::ProportionalFairness).unwrap();
        assert_eq!((solution.status, solution.method), (Status::Optimal, "aggregation"));
        solution.statistics.rounds
    }

    #[test]
    fn a_sum_over_kinds_begins_at_the_prices_of_whole_users_which_are_its_own_where_classes_have_the_same() {
        let rounds = rounds_over_kinds(3_000, Cluster::Google);
        assert!(rounds <= 2, "{rounds} rounds");
    }

    #[test]
    fn rounds_over_kinds_on_unlike_classes_are_mixed_so_that_they_need_not_come_nearer_by_a_part_each_time() {
        let rounds = rounds_over_kinds(10_000, Cluster::Random { classes: 20, resources: 4 });
        assert!(rounds <= 12, "{rounds} rounds");
    }
}
