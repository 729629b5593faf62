//! Sums over users whose tasks consist of several kinds: every user by itself, without bins, since what a kind is worth depends on
//! the others that it is needed with.

use super::bundles::{Bundles, User};
use super::duality::{DualityGap, without_task_row};
use super::result::{Claim, limits, nothing};
use super::utility::Utility;
use crate::interior_point::{Stopping, run};
use crate::level::{Groups, LevelProblem, dot};
use crate::population::NO_PATTERN;
use crate::progress::{cap, fastest_rates};
use crate::question::Question;
use crate::repair::{SplitRows, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::Compensated;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::sum::{KINDS, SHADED};
use fairplan_instances::{Allocation, Certificate, Solution, SolverError, Statistics};

/// Solves an instance with kinds for an objective that is a sum.
///
/// # Errors
/// Where users without kinds have limited tasks that do different work on different classes.
pub(crate) fn solve(question: &Question<'_>, method: &'static str) -> Result<Solution, SolverError> {
    let (instance, reduction, alpha) = (question.instance, question.reduction(), question.alpha());
    let users = &reduction.users;
    if reduction.has_task_rows.contains(&true) {
        let problem = "users with kinds beside users whose tasks are limited and do different work on different \
                       classes are not solved for a sum; leave out these rates or tasks";
        return Err(SolverError::Unsupported(problem.into()));
    }
    let fastest = fastest_rates(reduction);
    let of_line = |line: usize| cap(reduction, &fastest, line) / users.part(line);
    let caps: Vec<f64> =
        (0..users.users()).map(|i| users.lines_of(i).map(of_line).fold(f64::INFINITY, f64::min)).collect();
    let weight = |i: usize| {
        let first = users.lines_of(i).next()?;
        (caps[i] > 0.0).then(|| users.weight(first) / users.part(first))
    };
    // The kinds as groups of a level problem, which are what is repaired and written down.
    let mut groups = Groups::new();
    let mut group_of = vec![usize::MAX; users.len()];
    let mut taking = Vec::new();
    for i in 0..users.users() {
        let Some(weight) = weight(i) else { continue };
        let first = groups.len();
        for line in users.lines_of(i) {
            let direction: Vec<f64> = users.directions.iter().map(|column| column[line]).collect();
            let rates = &reduction.patterns[users.pattern[line] as usize];
            let usable = rates.iter().copied().enumerate().filter(|(_, rate)| *rate > 0.0);
            group_of[line] = groups.len();
            groups.push(&direction, users.pattern[line], true, usable);
        }
        let parts = users.lines_of(i).map(|line| users.part(line)).collect();
        taking.push(User { weight, cap: caps[i], lines: first..groups.len(), parts });
    }
    let able = |i: usize| users.lines_of(i).all(|line| users.pattern[line] != NO_PATTERN);
    let classes = instance.classes().len();
    let statistics = Statistics {
        classes_merged: reduction.classes(),
        users_merged: taking.len(),
        ..Statistics::default()
    };
    let solution = |allocation: Allocation, (total, status), iterations: u64| Solution {
        objective: question.objective,
        backend: question.backend,
        method,
        status,
        limited_by: limits(instance, &allocation, |user| able(user.0)),
        allocation,
        exact: None,
        certificate: Certificate::Total(total),
        statistics: Statistics { iterations, rounds: 1, ..statistics.clone() },
        guaranteed: Vec::new(),
    };
    if taking.is_empty() {
        let splits = vec![0; users.len()];
        let nobody =
            Allocation::of_kinds(instance, classes, vec![0.0; users.users()], splits, vec![0.0; classes]);
        return Ok(solution(nobody, nothing(instance), 0));
    }
    let problem = LevelProblem {
        resources: reduction.resources,
        capacities: &reduction.capacities,
        groups: &groups,
        limits: None,
    };
    let mut bundles = Bundles::start(&problem, &taking, alpha);
    let iterations =
        run(&mut bundles, Stopping { accuracy: KINDS.0, small: (KINDS.1, KINDS.2) }, question.deadline);
    let (placed_of_lines, prices, utility) = bundles.best();
    let splits = feasible_splits(&problem, &placed_of_lines);
    let SplitRows { placed, rows, .. } = SplitRows::new(reduction, &groups, &splits, classes);
    let tasks = |line: usize| match group_of[line] {
        usize::MAX => 0.0,
        group => {
            let limit = instance.user(users.user_id(users.user_of(line))).tasks();
            let most = limit.map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
            (placed[group] / users.task_share(instance, line)).min(most)
        }
    };
    // A task runs as far as all its kinds do.
    let tasks = users.by_user((0..users.len()).map(tasks).collect(), f64::min);
    let split_of = group_of.iter().map(|group| (*group).min(groups.len()) as u32).collect();
    let allocation = Allocation::of_kinds(instance, classes, tasks, users.by_position(split_of), rows);

    let share = |i: usize| allocation.dominant_share(instance, users.user_id(i));
    let shares: Vec<f64> = (0..users.users()).map(share).collect();
    let mut costs = vec![0.0; users.len()];
    cheapest_costs(users, &prices, &reduction.capacities, &mut costs);
    let price = |i: usize| users.lines_of(i).map(|line| costs[line] * users.part(line)).sum::<f64>();
    let worth = dot(&prices, &reduction.capacities);
    let utility = match alpha {
        // Nobody without a limit may be worth more than it pays.
        0.0 => {
            let unlimited = (0..users.users()).filter(|i| caps[*i] == f64::INFINITY);
            let least = unlimited.filter_map(|i| Some(price(i) / weight(i)?)).fold(f64::INFINITY, f64::min);
            let most = least.ln() - SHADED * f64::EPSILON;
            if most < f64::INFINITY { Utility::new(0.0, most) } else { utility }
        }
        _ => utility,
    };
    let judge = |utility: Utility| {
        let mut sums = [Compensated::default(); 5];
        for i in 0..users.users() {
            if let Some(weight) = weight(i) {
                let terms = without_task_row(utility, weight, caps[i], price(i), shares[i]);
                sums.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(term));
            }
        }
        DualityGap::from_parts(&[sums], worth)
    };
    let claim = Claim { instance, members: &reduction.members, prices: &prices, utility, shares: &shares };
    let proved = claim.prove(|i| (shares[i] > 0.0 || alpha < 1.0).then(|| weight(i)).flatten(), judge);
    Ok(solution(allocation, proved, iterations))
}
