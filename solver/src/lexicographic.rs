//! DRFH as a lexicographic max-min: raise the level of all users, freeze those that cannot rise further, go on
//! with the rest (DRFH eq. 7 and Sec. V-A).
//!
//! A user whose tasks run out below the level is settled at what it has tasks for. Settling such users gives
//! room to the others, so the level is raised again until no further user runs out: each time from the tasks
//! that ran out at the last level, which is Newton's method on a concave function and takes a few steps; fewer where the level is
//! nearly known, from a like instance. Users with
//! task rows hold back the level by their own rows instead; those it will reach are found beforehand (`search`).

use crate::aggregation::{Solved, gives_up, solve_level};
use crate::bins::{Amounts, Bins, NO_BIN, level_problem};
use crate::certificate::certify;
use crate::level::LevelSolver;
use crate::open_part::OpenPart;
use crate::progress::Progress;
use crate::question::Question;
use crate::reduction::Reduction;
use crate::repair::{SplitRows, feasible_splits};
use crate::search::settle_users_whose_tasks_will_run_out;
use crate::sums::column;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::NEARLY_KNOWN;
use fairplan_instances::{Allocation, Certificate, InstanceError, LimitedBy, Solution, Statistics};

/// How each level is solved.
pub(crate) enum LevelBy {
    /// In rounds over bins that are made finer, within this budget (see [`solve_level`]).
    Rounds { budget: f64 },
    /// Over what earlier levels left open: from bins of users that are alike, without limits and task rows.
    OpenPart(OpenPart),
}

/// Solves an instance from these bins with any way to solve a level, for an objective that is a lexicographic max-min;
/// what goes beyond a budget is an error, or, where there may be no time for another way, the levels so far.
pub(crate) fn solve(
    question: &Question<'_>,
    method: &'static str,
    mut bins: Bins,
    solver: &dyn LevelSolver,
    mut levels_by: LevelBy,
) -> Result<Solution, InstanceError> {
    let (instance, objective, reduction) = (question.instance, question.objective, question.reduction());
    let users = &reduction.users;
    let mut progress = Progress::start(reduction, &mut bins);
    let mut costs = vec![0.0; users.len()];
    let mut statistics = Statistics { classes_merged: reduction.classes(), ..Statistics::default() };
    // The prices of each level, in the reduction's terms.
    let mut levels: Vec<Vec<f64>> = Vec::new();
    let mut last: Option<(Solved, Vec<bool>)> = None;
    let ends = solver.deadline().time_left().is_some();
    let mut guess = question.near.and_then(|level| Guess::make(&mut progress, reduction, level));
    while progress.amounts.rising.iter().any(|rising| *rising) {
        let level = levels.len() as u32;
        let mut solve = |bins: &mut Bins, amounts: &Amounts, costs: &mut [f64]| {
            let solved = match &mut levels_by {
                LevelBy::Rounds { budget } => solve_level(reduction, bins, amounts, solver, costs, *budget)?,
                LevelBy::OpenPart(open) => open.solve_level(reduction, bins, amounts, solver)?,
            };
            statistics.iterations += solved.iterations;
            statistics.rounds += solved.rounds;
            if solved.gave_up && !ends { Err(gives_up()) } else { Ok(solved) }
        };
        settle_users_whose_tasks_will_run_out(
            reduction,
            &mut bins,
            &mut progress,
            level,
            &mut solve,
            solver.deadline(),
        )?;
        progress.hold_kinds_together(reduction);
        let solved = solve(&mut bins, &progress.amounts, &mut costs)?;
        if let Some(guess) = guess.take()
            && !guess.stands(solved.solution.level)
        {
            progress = guess.before;
            // Who was given all its tasks took no less than it could have: the others can have this level.
            let _ = Guess::make(&mut progress, reduction, solved.solution.level);
            continue;
        }
        let was_rising = progress.amounts.rising.clone();
        if !progress.settle_users_out_of_tasks(reduction, solved.solution.level, level) {
            progress.freeze(reduction, &bins, &solved, level);
            if let LevelBy::OpenPart(open) = &mut levels_by {
                open.close(reduction, &solved);
            }
            levels.push(solved.solution.prices.clone());
        }
        progress.hold_kinds_together(reduction);
        let is_last = solved.gave_up || solver.deadline().is_over();
        last = Some((solved, was_rising));
        if is_last {
            break;
        }
    }
    let allocation = match &last {
        Some((solved, was_rising)) => {
            statistics.users_merged = solved.grouping.groups.len();
            allocate(question, &bins, &progress, solved, was_rising)
        }
        None if objective.is_pooled() => Allocation::pooled(vec![0.0; users.len()]),
        None => Allocation::of_kinds(
            instance,
            instance.classes().len(),
            vec![0.0; users.users()],
            vec![0; users.len()],
            vec![0.0; instance.classes().len()],
        ),
    };
    let (levels, status) = certify(instance, reduction, &bins, &progress, levels, &allocation);
    Ok(Solution {
        objective,
        backend: question.backend,
        method,
        status,
        allocation,
        exact: None,
        certificate: Certificate::Levels { levels, level_of: users.by_user(progress.level_of, |one, _| one) },
        limited_by: users.by_user(progress.limited_by, |one, _| one),
        statistics,
        guaranteed: Vec::new(),
    })
}

/// Who is thought to run out of tasks below the first level.
struct Guess {
    level: f64,
    /// What was known before.
    before: Progress,
}

impl Guess {
    /// Settles those with tasks for less than this level. `None`, and nothing is settled, where that is nobody or everybody.
    fn make(progress: &mut Progress, reduction: &Reduction, level: f64) -> Option<Self> {
        let level = level * (1.0 - NEARLY_KNOWN);
        if !(level > 0.0 && level.is_finite()) || reduction.has_task_rows.contains(&true) {
            return None;
        }
        let before = progress.clone();
        let any = progress.settle_users_out_of_tasks(reduction, level, 0);
        progress.hold_kinds_together(reduction);
        if any && progress.amounts.rising.contains(&true) {
            return Some(Self { level, before });
        }
        *progress = before;
        None
    }

    /// Whether all that were settled have tasks for no more than the level that the others reach.
    fn stands(&self, reached: f64) -> bool {
        reached >= self.level
    }
}

/// Tasks from splits: every user takes its bin's split, shrunk where rounding had overloaded a class.
fn allocate(
    question: &Question<'_>,
    bins: &Bins,
    progress: &Progress,
    solved: &Solved,
    was_rising: &[bool],
) -> Allocation {
    let (instance, reduction) = (question.instance, question.reduction());
    let users = &reduction.users;
    let classes = instance.classes().len();
    let groups = &solved.grouping.groups;
    let splits = feasible_splits(&level_problem(reduction, &solved.grouping), &solved.solution.splits);
    let SplitRows { work, placed, rows } = SplitRows::new(reduction, groups, &splits, classes);
    let level =
        (0..groups.len()).filter(|&g| groups.rising[g]).map(|g| work[g]).fold(f64::INFINITY, f64::min);
    let has_share = |i: usize| bins.of[i] != NO_BIN && progress.amounts.amount[i] > 0.0;
    let group = |i: usize| solved.grouping.group(bins.of[i], was_rising[i]);
    let tasks = |i: usize| {
        if !has_share(i) {
            return 0.0;
        }
        let group = group(i);
        // Rising users get the level and no more; settled ones their share as far as rounding leaves it.
        let due =
            if was_rising[i] { users.weight(i) * level } else { progress.amounts.amount[i] * work[group] };
        let share = match progress.limited_by[i] {
            LimitedBy::Capacity if was_rising[i] => due,
            _ => due.min(progress.amounts.amount[i]),
        };
        let view = instance.user(users.user_id(users.user_of(i)));
        let per_task = users.task_share(instance, i) * work[group] / placed[group];
        let most = view.tasks().map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
        (share / per_task).min(most)
    };
    // A task runs as far as all its kinds do.
    let tasks = users.by_user(column(users.len(), tasks), f64::min);
    if question.objective.is_pooled() {
        return Allocation::pooled(tasks);
    }
    let split = |i: usize| if has_share(i) { group(i) } else { groups.len() };
    let split_of = column(users.len(), |i| split(i) as u32);
    Allocation::of_kinds(instance, classes, tasks, users.by_position(split_of), rows)
}
