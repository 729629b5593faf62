//! Sums over those whose tasks rise together, each by itself and without bins: users whose tasks consist of several kinds, since what
//! a kind is worth depends on the others that it is needed with; and groups, whose members have fixed parts of what their group has.
//!
//! A child of the root is worth `w U(S)`, where a group has `S = Σ_i S_i` and the tree gives `S_i = φ_i S`. A member's kinds are parts of its
//! part. So a group is one bundle of all kinds of all its members, and the sum is over bundles. Limits and reserves are rows beside the
//! capacities, and what a child is guaranteed is a floor of its share.

mod children;
mod refused;

use super::apart::{Plain, apart, keeping};
use super::bundles::{Finding, Found, User, find};
use super::duality::{self, DualityGap};
use super::result::{Claim, limits, nothing};
use super::utility::Utility;
use crate::highs::{HAS_HIGHS, Highs, HighsAlgorithm};
use crate::interior_point::InteriorPoint;
use crate::level::{Groups, LevelProblem, dot};
use crate::limits::LimitsOfPatterns;
use crate::population::NO_PATTERN;
use crate::question::Question;
use crate::repair::{SplitRows, feasible_splits, room};
use crate::streaming::cheapest_costs;
use crate::sums::Compensated;
use crate::tolerance::allocation::{MARGIN, NEARLY_ALL_TASKS};
use crate::tolerance::level::TOLERANCE;
use crate::tolerance::sum::SHADED;
use crate::tree::{held_by_limits, keep_guarantees};
use children::{Child, children, sure_of};
use fairplan_instances::{Allocation, Certificate, InstanceError, Solution, Statistics, Status, Total};
use refused::{could_have_more, nobody_is_left_nothing};

/// How shares and prices are found: of the sum of all, or sum by sum.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Sum(Finding),
    Apart,
    /// The same where whoever is settled keeps what it has, wherever it has it.
    Keeping,
}

/// Solves an instance with kinds, groups or quotas for an objective that is a sum, whichever way shares and prices are found.
///
/// # Errors
/// Where the guarantees cannot be kept together, or leave somebody nothing that a logarithm needs; where users without kinds have limited tasks that do different work on different classes;
/// and where a member of a group could have more than its part, or is guaranteed more.
pub(crate) fn solve(
    question: &Question<'_>,
    method: &'static str,
    by: By,
) -> Result<Solution, InstanceError> {
    let (instance, reduction, alpha) = (question.instance, question.reduction(), question.alpha());
    let users = &reduction.users;
    let is_plain = !question.is_sum_over_bundles();
    if reduction.has_task_rows.contains(&true)
        && !(is_plain && matches!(by, By::Apart | By::Keeping | By::Sum(Finding::InManyDigits)))
    {
        let problem = "beside users with kinds, in groups or under quotas, users whose tasks are limited and do different work on \
                       different classes are not solved for a sum; leave out these rates or tasks";
        return Err(InstanceError::Unsupported(problem.into()));
    }
    if instance.has_guarantees() {
        keep_guarantees(question, &InteriorPoint(question.deadline.clone()))?;
    }
    let sure = sure_of(question);
    let children = children(question, &sure);
    // The kinds as groups of a level problem, which are what is repaired and written down.
    let mut groups = Groups::new();
    let mut group_of = vec![usize::MAX; users.len()];
    let mut taking = Vec::new();
    for child in &children {
        let first = groups.len();
        let mut parts = Vec::new();
        for (i, part) in &child.users {
            for line in users.lines_of(*i) {
                let direction: Vec<f64> = users.directions.iter().map(|column| column[line]).collect();
                let rates = &reduction.patterns[users.pattern[line] as usize];
                let usable = rates.iter().copied().enumerate().filter(|(_, rate)| *rate > 0.0);
                group_of[line] = groups.len();
                groups.push(&direction, users.pattern[line], true, usable);
                if reduction.has_task_rows[users.pattern[line] as usize] {
                    groups.limit[group_of[line]] = users.tasks(line);
                }
                parts.push(part * users.part(line));
            }
        }
        let Child { weight, cap, floor, .. } = *child;
        taking.push(User { weight, cap, floor, lines: first..groups.len(), parts });
    }
    let able =
        users.by_user(users.pattern.iter().map(|pattern| *pattern != NO_PATTERN).collect(), |a, b| a && b);
    let classes = instance.classes().len();
    let statistics = Statistics {
        classes_merged: reduction.classes(),
        users_merged: taking.len(),
        ..Statistics::default()
    };
    let guaranteed = question.guaranteed().solutions.clone();
    let are_divided = guaranteed.iter().all(|solution| solution.status == Status::Optimal);
    let lacks = |allocation: &Allocation, i: usize| {
        allocation.dominant_share(instance, users.user_id(i)) < sure[i] * (1.0 - TOLERANCE)
    };
    let solution = |allocation: Allocation, (total, status): (Total, Status), iterations: u64| {
        let is_kept = !(0..users.users()).any(|i| lacks(&allocation, i));
        let mut limited_by = limits(instance, &allocation, |user| able[user.0]);
        held_by_limits(instance, &allocation, &mut limited_by);
        Solution {
            objective: question.objective,
            backend: question.backend,
            method,
            status: if are_divided && is_kept { status } else { Status::Uncertified },
            limited_by,
            allocation,
            exact: None,
            certificate: Certificate::Total(total),
            statistics: Statistics { iterations, rounds: 1, ..statistics.clone() },
            guaranteed: guaranteed.clone(),
        }
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
        limits: (!users.limits.is_empty()).then_some(LimitsOfPatterns {
            limits: &users.limits,
            set_of_pattern: &reduction.limits_of_pattern,
        }),
    };
    let Found { splits: placed_of_lines, prices, utility, iterations } = match by {
        By::Sum(finding) => find(&problem, &taking, alpha, finding, question.deadline)?,
        By::Apart => {
            let positions = children.iter().map(|child| child.users[0].0 as u32).collect();
            let plain = is_plain.then_some(Plain { reduction, positions });
            apart(&problem, &taking, plain.as_ref(), alpha, question.deadline)?
        }
        By::Keeping => keeping(&problem, &taking, alpha, question.deadline)?,
    };
    let mut splits = feasible_splits(&problem, &placed_of_lines);
    give_nearly_all(&problem, &taking, &mut splits);
    let SplitRows { work, placed, rows } = SplitRows::new(reduction, &groups, &splits, classes);
    // All members have their parts of what the one that is off by most has: so much of what each has placed.
    let mut kept = vec![1.0; users.len()];
    for (child, user) in children.iter().zip(&taking).filter(|(child, _)| child.users.len() > 1) {
        let has = |(line, part): (usize, &f64)| work[line] / part;
        let share = user.lines.clone().zip(&user.parts).map(has).fold(f64::INFINITY, f64::min);
        let lines = child.users.iter().flat_map(|(i, _)| users.lines_of(*i));
        for ((line, group), part) in lines.zip(user.lines.clone()).zip(&user.parts) {
            kept[line] = if work[group] > 0.0 { (share * part / work[group]).min(1.0) } else { 0.0 };
        }
    }
    let tasks = |line: usize| match group_of[line] {
        usize::MAX => 0.0,
        group => {
            let limit = instance.user(users.user_id(users.user_of(line))).tasks();
            let all = limit.map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
            (placed[group] * kept[line] / users.task_share(instance, line)).min(all)
        }
    };
    // A task runs as far as all its kinds do.
    let tasks = users.by_user((0..users.len()).map(tasks).collect(), f64::min);
    let split_of = group_of.iter().map(|group| (*group).min(groups.len()) as u32).collect();
    let allocation = Allocation::of_kinds(instance, classes, tasks, users.by_position(split_of), rows);
    let in_groups = || children.iter().filter(|child| child.users.len() > 1).flat_map(|child| &child.users);
    if let Some((i, _)) = in_groups().find(|(i, _)| lacks(&allocation, *i)) {
        return Err(InstanceError::NoOneAnswer(format!(
            "user {} is guaranteed more than its part of its group, so that the others have less than theirs: of a group whose members \
             have no fixed parts {} is not solved, as the group may become cheaper the more it has, and there may be several optima; \
             lower the guarantee or take drfh, tsf or drf",
            instance.user(users.user_id(*i)).id(),
            question.objective
        )));
    }
    if let Some(user) = could_have_more(question, &children, &allocation) {
        return Err(InstanceError::NoOneAnswer(format!(
            "user {} could have more than its part of its group, since what it needs is not used up: who has what the others \
             leave is not solved for {}; take drfh, tsf or drf",
            instance.user(user).id(),
            question.objective
        )));
    }

    let share = |child: &Child| {
        let has = |(i, part): &(usize, f64)| allocation.dominant_share(instance, users.user_id(*i)) / part;
        child.users.iter().map(has).fold(f64::INFINITY, f64::min)
    };
    let shares: Vec<f64> = children.iter().map(share).collect();
    let mut costs = vec![0.0; users.len()];
    cheapest_costs(users, &prices, &reduction.capacities, &mut costs);
    let of_user = |i: usize| users.lines_of(i).map(|line| costs[line] * users.part(line)).sum::<f64>();
    let price_of = |child: &Child| child.users.iter().map(|(i, part)| part * of_user(*i)).sum::<f64>();
    let paying: Vec<f64> = children.iter().map(price_of).collect();
    let worth = dot(&prices, &reduction.capacities);
    let utility = match alpha {
        // Nobody without a limit may be worth more than it pays.
        0.0 => {
            let unlimited = children.iter().zip(&paying).filter(|(child, _)| child.cap == f64::INFINITY);
            let least = unlimited.map(|(child, price)| price / child.weight).fold(f64::INFINITY, f64::min);
            let most = least.ln() - SHADED * f64::EPSILON;
            // Who has something may be limited, and then pays what it is worth to whoever the others are.
            Utility::new(0.0, most.min(utility.log_scale()))
        }
        _ => utility,
    };
    let judge = |utility: Utility, unit: f64| {
        let mut sums = [Compensated::default(); 5];
        let prices: Vec<f64> = prices.iter().map(|price| unit * price).collect();
        for (c, child) in children.iter().enumerate() {
            let (price, share) = (unit * paying[c], shares[c]);
            let terms = match is_plain {
                true => duality::user(reduction, utility, &prices, child.users[0].0, price, share),
                false => {
                    let bounds = (child.floor, child.cap);
                    duality::without_task_row(utility, child.weight, bounds, price, share)
                }
            };
            sums.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(term));
        }
        DualityGap::from_parts(&[sums], unit * worth)
    };
    let (members, limits) = (&reduction.members, &users.limits);
    let claim = Claim { instance, members, limits, prices: &prices, utility, shares: &shares };
    let proved = claim.prove(|c| (shares[c] > 0.0 || alpha < 1.0).then_some(children[c].weight), judge);
    let solved = solution(allocation, proved, iterations);
    if instance.has_guarantees() && solved.status != Status::Optimal {
        if HAS_HIGHS && question.is_small() {
            // Where they miss one another by next to nothing an interior point may not tell.
            keep_guarantees(question, &Highs(HighsAlgorithm::Simplex, question.deadline.clone()))?;
        }
        if alpha > 0.0 {
            nobody_is_left_nothing(question)?;
        }
    }
    Ok(solved)
}

/// Gives those of one kind who lack next to nothing of their tasks these too, where they run, if there is room for it everywhere.
fn give_nearly_all(problem: &LevelProblem<'_>, users: &[User], splits: &mut [f64]) {
    let mut left: Option<Vec<f64>> = None;
    for user in users.iter().filter(|user| user.lines.len() == 1 && user.cap < f64::INFINITY) {
        let (line, work) = (user.lines.start, problem.work(splits, user.lines.start));
        let lacking = user.cap / work - 1.0;
        if !(lacking > 0.0 && lacking <= NEARLY_ALL_TASKS) {
            continue;
        }
        let left = left.get_or_insert_with(|| room(problem, splits));
        let more = |pair: usize| {
            let more = splits[pair] * lacking;
            problem.needs(line, pair).map(move |(row, d)| (row, d * more))
        };
        let all: Vec<(usize, f64)> = problem.groups.pairs(line).flat_map(more).collect();
        all.iter().for_each(|(row, more)| left[*row] -= more);
        if all.iter().all(|(row, more)| *more == 0.0 || left[*row] >= 0.0) {
            problem.groups.pairs(line).for_each(|pair| splits[pair] *= 1.0 + lacking);
        } else {
            all.iter().for_each(|(row, more)| left[*row] += more);
        }
    }
}
