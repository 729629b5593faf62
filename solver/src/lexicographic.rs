//! DRFH as a lexicographic max-min: raise the level of all users, freeze those that cannot rise further, go on
//! with the rest (DRFH eq. 7 and Sec. V-A).
//!
//! A user whose tasks run out below the level is settled at what it has tasks for. Settling such users gives
//! room to the others, so the level is raised again until no further user runs out: each time from the tasks
//! that ran out at the last level, which is Newton's method on a concave function and takes a few steps.

use crate::aggregation::{Solved, solve_level};
use crate::bins::{Amounts, Bins, NO_BIN, level_problem};
use crate::level::{LevelSolver, dot};
use crate::reduction::{NO_KIND, Population, Reduction};
use crate::repair::{MARGIN, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::total_costs;
use fairplan_instances::{
    Allocation, Certificate, ClassId, Instance, Level, LimitedBy, Objective, ResourceId, Solution,
    SolverError, Statistics, Status, UserId,
};
use rayon::prelude::*;

/// The relative gap up to which a solution is called optimal.
pub const TOLERANCE: f64 = 1e-9;

/// The same for a level above the first, with what the levels below it leave uncertain.
const UNCERTAINTY: f64 = 1e-8;

/// How much of the share that a level gave it a user may lose to the levels above.
const SHORTFALL: f64 = 1e-10;

/// A demand below this part of the same task's dominant one can be met from what the tolerance of an earlier
/// level leaves, so with several levels nothing is certain about such a user's share.
const HIDDEN: f64 = 1e-8;

/// Part of a group's tasks that is dropped with the specks an interior point leaves on classes it does not use.
const SPECKS: f64 = 1e-14;

/// How users are put into bins at the start.
#[derive(Clone, Copy)]
pub(crate) enum FirstBins {
    /// Users of exactly equal direction share a bin: no further merging.
    Exact,
    /// About this many `bins` by direction, refined as needed, when there are more users than that; fewer, but
    /// not below `least`, where each of them would meet so many classes that there were more than `pairs`.
    ByDirection { bins: usize, least: usize, pairs: usize },
}

/// What is known of the users while the levels rise.
struct Progress {
    amounts: Amounts,
    level_of: Vec<u32>,
    limited_by: Vec<LimitedBy>,
}

/// Solves an instance with any way to solve a level.
pub(crate) fn solve(
    instance: &Instance,
    backend: &'static str,
    method: [&'static str; 2],
    first_bins: FirstBins,
    solver: &dyn LevelSolver,
) -> Result<Solution, SolverError> {
    let reduction = Reduction::new(instance)?;
    let users = &reduction.users;
    let (mut bins, method) = match first_bins {
        FirstBins::ByDirection { bins, least, pairs } => {
            let target = bins.min(pairs / reduction.classes().max(1)).max(least);
            if users.len() > target {
                (Bins::by_direction(&reduction, target), method[1])
            } else {
                (Bins::exact(users), method[0])
            }
        }
        FirstBins::Exact => (Bins::exact(users), method[0]),
    };
    let mut progress = Progress::start(users, &mut bins);
    let mut costs = vec![0.0; users.len()];
    let mut statistics = Statistics { classes_merged: reduction.classes(), ..Statistics::default() };
    // The prices of each level, in the reduction's terms.
    let mut levels: Vec<Vec<f64>> = Vec::new();
    let mut last: Option<(Solved, Vec<bool>)> = None;
    while progress.amounts.rising.iter().any(|rising| *rising) {
        let solved = solve_level(&reduction, &mut bins, &progress.amounts, solver, &mut costs)?;
        statistics.iterations += solved.iterations;
        statistics.rounds += solved.rounds;
        let was_rising = progress.amounts.rising.clone();
        let level = levels.len() as u32;
        if !progress.settle_users_out_of_tasks(users, solved.solution.level, level) {
            progress.freeze(&bins, &solved, level);
            levels.push(solved.solution.prices.clone());
        }
        last = Some((solved, was_rising));
    }
    let allocation = match &last {
        Some((solved, was_rising)) => {
            statistics.users_merged = solved.grouping.groups.len();
            allocate(instance, &reduction, &bins, &progress, solved, was_rising)
        }
        None => Allocation::new(
            instance.classes().len(),
            vec![0.0; users.len()],
            vec![0; users.len()],
            vec![0.0; instance.classes().len()],
        ),
    };
    let mut level_of = vec![0; users.len()];
    let mut limited_by = vec![LimitedBy::Capacity; users.len()];
    for i in 0..users.len() {
        level_of[users.position(i)] = progress.level_of[i];
        limited_by[users.position(i)] = progress.limited_by[i];
    }
    let (levels, status) = certify(instance, &reduction, &bins, &progress, levels, &mut costs, &allocation);
    Ok(Solution {
        objective: Objective::Drfh,
        backend,
        method,
        status,
        allocation,
        certificate: Certificate::Levels { levels, level_of },
        limited_by,
        statistics,
    })
}

impl Progress {
    /// Everybody rises, except those that can run nowhere or have no tasks.
    fn start(users: &Population, bins: &mut Bins) -> Self {
        let n = users.len();
        let mut progress = Self {
            amounts: Amounts { amount: vec![1.0; n], rising: vec![true; n] },
            level_of: vec![0; n],
            limited_by: vec![LimitedBy::Capacity; n],
        };
        if let Some(weights) = &users.weights {
            progress.amounts.amount.copy_from_slice(weights);
        }
        for i in 0..n {
            if users.kind[i] == NO_KIND {
                progress.settle(i, 0.0, 0, LimitedBy::NoUsableClass);
            } else if users.cap(i) == 0.0 {
                progress.settle(i, 0.0, 0, LimitedBy::Tasks);
            } else {
                continue;
            }
            bins.of[i] = NO_BIN;
        }
        progress
    }

    fn settle(&mut self, user: usize, share: f64, level: u32, limited_by: LimitedBy) {
        self.amounts.amount[user] = share;
        self.amounts.rising[user] = false;
        self.level_of[user] = level;
        self.limited_by[user] = limited_by;
    }

    /// Settles the users that have tasks for less than the level. True when there were any.
    fn settle_users_out_of_tasks(&mut self, users: &Population, level: f64, position: u32) -> bool {
        let Some(caps) = &users.caps else { return false };
        let mut any = false;
        for (i, cap) in caps.iter().enumerate() {
            if self.amounts.rising[i] && *cap <= users.weight(i) * level {
                self.settle(i, *cap, position, LimitedBy::Tasks);
                any = true;
            }
        }
        any
    }

    /// Settles the rising users of every kind that cannot rise further. Whether a kind can is the same for all
    /// of its users (it depends on which prices are zero), so the groups of a kind vote by size.
    fn freeze(&mut self, bins: &Bins, solved: &Solved, position: u32) {
        let groups = &solved.grouping.groups;
        let m = groups.loads.len() / groups.len();
        let kinds = bins.kind.iter().copied().max().map_or(0, |kind| kind as usize + 1);
        let mut votes = vec![0.0; kinds];
        for g in (0..groups.len()).filter(|&g| groups.rising[g]) {
            let size: f64 = groups.loads[g * m..(g + 1) * m].iter().sum();
            votes[groups.kind[g] as usize] += if solved.solution.frozen[g] { size } else { -size };
        }
        // Some kind always freezes: when rounding hides which, all do, and the certificate tells.
        let all = votes.iter().all(|vote| *vote <= 0.0);
        for i in 0..bins.of.len() {
            if self.amounts.rising[i] && (all || votes[bins.kind[bins.of[i] as usize] as usize] > 0.0) {
                let share = self.amounts.amount[i] * solved.solution.level;
                self.settle(i, share, position, LimitedBy::Capacity);
            }
        }
    }
}

/// Tasks from splits: every user takes its bin's split, shrunk where rounding had overloaded a class.
fn allocate(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    progress: &Progress,
    solved: &Solved,
    was_rising: &[bool],
) -> Allocation {
    let users = &reduction.users;
    let classes = instance.classes().len();
    let groups = &solved.grouping.groups;
    let splits = feasible_splits(&level_problem(reduction, &solved.grouping), &solved.solution.splits);
    let mut work = vec![0.0; groups.len()];
    let mut placed = vec![0.0; groups.len()];
    // One more row, all zero, for users without a group.
    let mut rows = vec![0.0; (groups.len() + 1) * classes];
    for g in 0..groups.len() {
        let pairs = groups.pairs(g);
        let specks = SPECKS * splits[pairs.clone()].iter().sum::<f64>() / pairs.len() as f64;
        let used: Vec<usize> = pairs.filter(|pair| splits[*pair] > specks).collect();
        work[g] = used.iter().map(|pair| groups.rate[*pair] * splits[*pair]).sum();
        placed[g] = used.iter().map(|pair| splits[*pair]).sum();
        for pair in used {
            for class in &reduction.members[groups.class[pair] as usize] {
                rows[g * classes + class.0] = splits[pair] / placed[g] * reduction.part_of_merged[class.0];
            }
        }
    }
    let level =
        (0..groups.len()).filter(|&g| groups.rising[g]).map(|g| work[g]).fold(f64::INFINITY, f64::min);
    let mut tasks = vec![0.0; users.len()];
    let mut split_of = vec![groups.len() as u32; users.len()];
    for i in 0..users.len() {
        if bins.of[i] == NO_BIN || progress.amounts.amount[i] == 0.0 {
            continue;
        }
        let position = users.position(i);
        let group = solved.grouping.group(bins.of[i], was_rising[i]);
        split_of[position] = group as u32;
        // Rising users get the level and no more; settled ones their share as far as rounding leaves it.
        let due =
            if was_rising[i] { users.weight(i) * level } else { progress.amounts.amount[i] * work[group] };
        let share = match progress.limited_by[i] {
            LimitedBy::Capacity if was_rising[i] => due,
            _ => due.min(progress.amounts.amount[i]),
        };
        let view = instance.user(UserId(position));
        let per_task = view.task_share() * work[group] / placed[group];
        tasks[position] = share / per_task;
        if let Some(limit) = view.tasks() {
            tasks[position] = tasks[position].min(limit as f64 * (1.0 - MARGIN));
        }
    }
    Allocation::new(classes, tasks, split_of, rows)
}

/// Values, bounds and prices of the levels over the users themselves, from the final allocation; and whether they
/// prove it.
fn certify(
    instance: &Instance,
    reduction: &Reduction,
    bins: &Bins,
    progress: &Progress,
    raised: Vec<Vec<f64>>,
    costs: &mut [f64],
    allocation: &Allocation,
) -> (Vec<Level>, Status) {
    let users = &reduction.users;
    let m = reduction.resources;
    let (mut levels, mut status) = (Vec::new(), Status::Optimal);
    let shares: Vec<f64> = (0..users.len())
        .into_par_iter()
        .map(|i| allocation.dominant_share(instance, UserId(users.position(i))))
        .collect();
    let settled = |i: &usize| bins.of[*i] != NO_BIN && progress.limited_by[*i] == LimitedBy::Capacity;
    let missed = |i: usize| 1.0 - shares[i] / progress.amounts.amount[i];
    if (0..users.len()).filter(settled).map(missed).fold(0.0, f64::max) > SHORTFALL {
        status = Status::Uncertified;
    }
    let is_hidden = |d: &f64| *d > 0.0 && *d < HIDDEN;
    if raised.len() > 1 && users.directions.iter().flatten().any(is_hidden) {
        status = Status::Uncertified;
    }
    let mut gaps: Vec<f64> = Vec::new();
    for (position, mut level_prices) in raised.into_iter().enumerate() {
        drop_rounding_noise(&mut level_prices, &reduction.capacities);
        cheapest_costs(users, &level_prices, &reduction.capacities, costs);
        let mut amounts = Amounts { amount: shares.clone(), rising: vec![false; users.len()] };
        let mut value = f64::INFINITY;
        for i in 0..users.len() {
            let (at, by_tasks) = (progress.level_of[i] as usize, progress.limited_by[i] == LimitedBy::Tasks);
            if at > position || (at == position && !by_tasks) {
                amounts.rising[i] = true;
                amounts.amount[i] = users.weight(i);
                if bins.of[i] != NO_BIN {
                    value = value.min(shares[i] / users.weight(i));
                }
            }
        }
        let (rising, settled) = total_costs(bins, &amounts, costs);
        let bound = (dot(&level_prices, &reduction.capacities) - settled) / rising;
        // What users settled at earlier levels may have missed there counts here at its price: where that is
        // steep, a level is less certain than its own gap says.
        let missed: f64 = (0..users.len())
            .filter(|&i| !amounts.rising[i] && bins.of[i] != NO_BIN)
            .filter(|&i| progress.limited_by[i] == LimitedBy::Capacity)
            .map(|i| gaps[progress.level_of[i] as usize] * amounts.amount[i] * costs[i])
            .sum();
        let gap = 1.0 - value / bound;
        gaps.push(gap.max(0.0) + missed / (rising * bound));
        if !(gap <= TOLERANCE && gaps[position] <= UNCERTAINTY) {
            status = Status::Uncertified;
        }
        // The multipliers of value: those of Σ_rising y = 1.
        let scale = 1.0 / rising;
        let mut prices = vec![0.0; instance.classes().len() * m];
        for (members, row) in reduction.members.iter().zip(level_prices.chunks(m)) {
            for &ClassId(class) in members {
                for (r, price) in row.iter().enumerate() {
                    if *price > 0.0 {
                        prices[class * m + r] = scale * price / instance.total(ResourceId(r));
                    }
                }
            }
        }
        levels.push(Level { value, bound, prices });
    }
    (levels, status)
}

/// An interior point leaves a price of rounding size where the true one is zero.
fn drop_rounding_noise(prices: &mut [f64], capacities: &[f64]) {
    let total = dot(prices, capacities);
    for (price, capacity) in prices.iter_mut().zip(capacities) {
        if *price * capacity < 1e-12 * total {
            *price = 0.0;
        }
    }
}
