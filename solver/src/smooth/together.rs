//! Sums over those whose tasks rise together, each by itself and without bins: users whose tasks consist of several kinds, since what
//! a kind is worth depends on the others that it is needed with; and groups, whose members have fixed parts of what their group has.
//!
//! A child of the root is worth `w U(S)`, where a group has `S = Σ_i S_i` and the tree gives `S_i = φ_i S`. A member's kinds are parts of its
//! part. So a group is one bundle of all kinds of all its members, and the sum is over bundles. Limits and reserves are rows beside the
//! capacities, and what a child is guaranteed is a floor of its share.

use super::bundles::{Bundles, User};
use super::duality::{DualityGap, without_task_row};
use super::result::{Claim, limits, nothing};
use super::utility::Utility;
use crate::interior_point::{Stopping, run};
use crate::level::{Groups, LevelProblem, dot};
use crate::limits::LimitsOfPatterns;
use crate::population::NO_PATTERN;
use crate::progress::{cap, fastest_rates};
use crate::question::Question;
use crate::repair::{SplitRows, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::Compensated;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::{KEPT, TOLERANCE};
use crate::tolerance::sum::{KINDS, SHADED, USED_UP};
use crate::tree::{LeftNothing, Tree, held_by_limits, keep_guarantees, left_nothing};
use fairplan_instances::{
    Allocation, Certificate, ClassId, Kind, Solution, SolverError, Statistics, Status, Total, UserId,
    Violation, guaranteed_shares, taken_of_limits,
};

/// What it costs to lack all that one is guaranteed, in parts of what everybody has at first: more where somebody still lacks some of it. Prices
/// may be as high as this where guarantees are nearly all there is, and what rounding leaves of a row costs so much more: so little comes first.
const LACKING: [f64; 6] = [0.3, 3.0, 1e2, 1e4, 1e6, 1e8];
/// So many users are named in a message.
const NAMED: usize = 3;
/// How often steps begin again from the best point where they came to no end.
const MOST_STARTS: usize = 3;

/// A child of the root that can have something: a user, or a group by its members.
struct Child {
    weight: f64,
    /// The largest share that its tasks allow.
    cap: f64,
    /// The share that it is guaranteed; of a group what its members' guarantees come to if all are in proportion to their parts.
    floor: f64,
    /// Its users, and what part of its share each of them has.
    users: Vec<(usize, f64)>,
}

/// The children of the root, in the order of their first users, given what each user is guaranteed.
fn children(question: &Question<'_>, sure: &[f64]) -> Vec<Child> {
    let (instance, reduction) = (question.instance, question.reduction());
    let users = &reduction.users;
    let fastest = fastest_rates(reduction);
    let cap_of_line = |line: usize| cap(reduction, &fastest, line) / users.part(line);
    let cap = |i: usize| users.lines_of(i).map(cap_of_line).fold(f64::INFINITY, f64::min);
    let caps: Vec<f64> = (0..users.users()).map(cap).collect();
    let able = || (0..caps.len()).filter(|i| caps[*i] > 0.0);
    let user = |i: usize| -> Child {
        let weight = users.lines_of(i).next().map_or(0.0, |line| users.weight(line) / users.part(line));
        Child { weight, cap: caps[i], floor: sure[i].min(caps[i]), users: vec![(i, 1.0)] }
    };
    if !instance.has_groups() {
        return able().map(user).collect();
    }
    // Who can have nothing leaves its part to its siblings; the others go on without an end, and so in proportion.
    let tree = Tree::new(instance, question.objective, reduction);
    let ceilings: Vec<f64> = caps.iter().map(|cap| if *cap > 0.0 { f64::INFINITY } else { 0.0 }).collect();
    let rises = tree.at(1.0, &ceilings).slope;
    let mut children: Vec<Child> = Vec::new();
    let mut child_of = vec![None; instance.groups().len()];
    for i in able() {
        let Some(group) = instance.outermost_group(users.user_id(i)) else {
            children.push(user(i));
            continue;
        };
        let weight = instance.groups()[group.0].weight.to_f64();
        let at = *child_of[group.0].get_or_insert_with(|| {
            children.push(Child { weight, cap: f64::INFINITY, floor: f64::INFINITY, users: Vec::new() });
            children.len() - 1
        });
        let part = rises[i] / weight;
        children[at].users.push((i, part));
        children[at].floor = children[at].floor.min(sure[i] / part);
    }
    children
}

/// Solves an instance with kinds, groups or quotas for an objective that is a sum.
///
/// # Errors
/// Where the guarantees cannot be kept together, or leave somebody nothing that a logarithm needs; where users without kinds have limited tasks that do different work on different classes;
/// and where a member of a group could have more than its part, or is guaranteed more.
pub(crate) fn solve(question: &Question<'_>, method: &'static str) -> Result<Solution, SolverError> {
    let (instance, reduction, alpha) = (question.instance, question.reduction(), question.alpha());
    let users = &reduction.users;
    if reduction.has_task_rows.contains(&true) {
        let problem = "beside users with kinds, in groups or under quotas, users whose tasks are limited and do different work on \
                       different classes are not solved for a sum; leave out these rates or tasks";
        return Err(SolverError::Unsupported(problem.into()));
    }
    if instance.has_guarantees() {
        keep_guarantees(question)?;
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
    let stopping = Stopping { accuracy: KINDS.0, small: (KINDS.1, KINDS.2) };
    let solve = |lacking: f64| {
        let mut bundles = Bundles::start(&problem, &taking, alpha, lacking, question.deadline);
        let mut iterations = run(&mut bundles, stopping, question.deadline);
        for _ in 0..MOST_STARTS {
            if !stopping.is_lost(bundles.gap()) || question.deadline.is_over() {
                break;
            }
            let mut again = bundles.again();
            iterations += run(&mut again, stopping, question.deadline);
            if again.gap() >= bundles.gap() {
                break;
            }
            bundles = again;
        }
        (bundles, iterations)
    };
    let (mut bundles, mut iterations) = solve(LACKING[0]);
    // By what is lacking of guarantees, where that is more than counts as none, else by the gap.
    let off = |bundles: &Bundles<'_>| bundles.lacks().max(KEPT).max(bundles.gap());
    for lacking in &LACKING[1..] {
        if !instance.has_guarantees() || off(&bundles) <= KEPT || question.deadline.is_over() {
            break;
        }
        let (other, spent) = solve(*lacking);
        iterations += spent;
        if off(&other) < off(&bundles) {
            bundles = other;
        }
    }
    let (placed_of_lines, prices, utility) = bundles.best();
    let splits = feasible_splits(&problem, &placed_of_lines);
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
        return Err(SolverError::Unsupported(format!(
            "user {} is guaranteed more than its part of its group, so that the others have less than theirs: of a group whose members \
             have no fixed parts {} is not solved, as the group may become cheaper the more it has, and there may be several optima; \
             lower the guarantee or take drfh, tsf or drf",
            instance.user(users.user_id(*i)).id(),
            question.objective
        )));
    }
    if let Some(user) = could_have_more(question, &children, &allocation) {
        return Err(SolverError::Unsupported(format!(
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
        for (c, child) in children.iter().enumerate() {
            let terms = without_task_row(
                utility,
                child.weight,
                (child.floor, child.cap),
                unit * paying[c],
                shares[c],
            );
            sums.iter_mut().zip(terms).for_each(|(sum, term)| sum.add(term));
        }
        DualityGap::from_parts(&[sums], unit * worth)
    };
    let (members, limits) = (&reduction.members, &users.limits);
    let claim = Claim { instance, members, limits, prices: &prices, utility, shares: &shares };
    let proved = claim.prove(|c| (shares[c] > 0.0 || alpha < 1.0).then_some(children[c].weight), judge);
    let solved = solution(allocation, proved, iterations);
    if alpha > 0.0 && instance.has_guarantees() && solved.status != Status::Optimal {
        nobody_is_left_nothing(question)?;
    }
    Ok(solved)
}

/// That guarantees leave something to everybody who has none: a sum of an `α` above zero has no prices, or no optimum at all, where they do not.
fn nobody_is_left_nothing(question: &Question<'_>) -> Result<(), SolverError> {
    let Some(LeftNothing { user, guaranteed }) = left_nothing(question)? else { return Ok(()) };
    let (instance, objective) = (question.instance, question.objective);
    let name = |user: &UserId| instance.user(*user).id();
    let some: Vec<&str> = guaranteed.iter().take(NAMED).map(name).collect();
    let more = match guaranteed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let why = match question.alpha() {
        alpha if alpha < 1.0 => "has no prices that prove it",
        _ => "has no optimum",
    };
    let problem = format!(
        "has nothing where all guarantees are kept, so {objective} {why}: what it needs is guaranteed to {}{more}; lower one of these \
         guarantees, guarantee it something or take drfh, tsf or drf",
        some.join(", ")
    );
    Err(Violation::new("user", name(&user), problem).into())
}

/// What each user is guaranteed, as a dominant share.
fn sure_of(question: &Question<'_>) -> Vec<f64> {
    let (instance, users) = (question.instance, &question.reduction().users);
    if !instance.has_guarantees() {
        return vec![0.0; users.users()];
    }
    let shares = guaranteed_shares(instance, question.objective, &question.guaranteed().solutions);
    (0..users.users()).map(|i| shares[users.user_id(i).0]).collect()
}

/// The first member of a group that could have more than its part, since nothing that it needs is used up on some class.
fn could_have_more(question: &Question<'_>, children: &[Child], allocation: &Allocation) -> Option<UserId> {
    let (instance, loads) = (question.instance, allocation.loads(question.instance));
    let m = instance.resources().len();
    let (rows, taken) = (instance.limit_rows(), taken_of_limits(instance, allocation));
    let is_used_up = |j: &usize| taken[*j] >= rows[*j].amount.to_f64() * (1.0 - USED_UP);
    let full_rows: Vec<Vec<usize>> = match rows.is_empty() {
        true => vec![Vec::new(); instance.user_count()],
        false => (instance.users())
            .map(|user| instance.limits_above(user).into_iter().filter(is_used_up).collect())
            .collect(),
    };
    let has_room = |kind: Kind<'_>, class: usize| {
        let is_held =
            |j: &usize| rows[*j].covers(ClassId(class)) && kind.demand_doubles()[rows[*j].resource.0] > 0.0;
        if full_rows[kind.user().index().0].iter().any(is_held) {
            return false;
        }
        let (server, loads) = (&instance.classes()[class], &loads[class * m..(class + 1) * m]);
        let needs = kind.demand_doubles().iter().zip(server.capacity.iter().zip(loads));
        kind.can_use(ClassId(class))
            && needs.filter(|(demand, _)| **demand > 0.0).all(|(_, (capacity, load))| {
                *load < capacity.to_f64() * server.count as f64 * (1.0 - USED_UP)
            })
    };
    let classes = 0..instance.classes().len();
    let is_free = |kind: Kind<'_>| classes.clone().any(|class| has_room(kind, class));
    let members = children.iter().filter(|child| child.users.len() > 1).flat_map(|child| &child.users);
    let users = members.map(|(i, _)| question.reduction().users.user_id(*i));
    users.into_iter().find(|user| instance.user(*user).kinds().all(is_free))
}
