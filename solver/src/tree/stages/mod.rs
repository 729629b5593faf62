//! Groups and their users as a max-min in stages: raise the level at the root as far as the servers hold what the tree makes of
//! it, let those who can have no more keep what they have, and go on with the rest.

mod allocated;
mod guaranteed;
mod highest;

use super::filling::{Piece, Sides, Tree};
use super::held::held_by_limits;
use super::told_limits::{ToldLimits, at_ceilings};
use crate::bins::{Bins, NO_BIN};
use crate::level::LevelSolver;
use crate::population::{NO_PATTERN, Population};
use crate::progress::{cap, fastest_rates};
use crate::question::Question;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::allocation::ALL_TASKS;
use crate::tolerance::level::{BEGINS, NO_RISE, PIECE};
use allocated::Only;
use fairplan_instances::{Certificate, FEW_USERS, InstanceError, LimitedBy, Solution, Statistics, Status};
use guaranteed::above_guarantees;
pub(crate) use guaranteed::{LeftNothing, left_nothing};
use highest::Highest;
use rayon::prelude::*;

/// Solves an instance with groups from these bins with any way to solve a level; each level within the `budget` (see
/// [`solve_level`]).
pub(crate) fn solve(
    question: &Question<'_>,
    method: &'static str,
    bins: Bins,
    solver: &dyn LevelSolver,
    budget: f64,
) -> Result<Solution, InstanceError> {
    let mut stages = Stages::start(question, bins, solver, budget)?;
    stages.keep_guarantees()?;
    while stages.raise()? {
        if solver.deadline().is_over() {
            break;
        }
    }
    let allocation = stages.allocate()?;
    let (levels, closed) = stages.certify(&allocation);
    let users = &stages.reduction.users;
    // By kinds they stand in the instance's order already.
    let in_order = users.lines.is_some();
    let mut stages = Stages {
        level_of: if in_order { stages.level_of } else { users.by_position(stages.level_of) },
        limited_by: if in_order { stages.limited_by } else { users.by_position(stages.limited_by) },
        ..stages
    };
    held_by_limits(question.instance, &allocation, &mut stages.limited_by);
    let guaranteed = question.guaranteed().solutions.clone();
    let is_optimal = |solution: &Solution| solution.status == Status::Optimal;
    Ok(Solution {
        objective: question.objective,
        backend: question.backend,
        method,
        status: if closed && guaranteed.iter().all(is_optimal) {
            Status::Optimal
        } else {
            Status::Uncertified
        },
        allocation,
        exact: None,
        certificate: Certificate::Levels { levels, level_of: stages.level_of },
        limited_by: stages.limited_by,
        statistics: stages.statistics,
        guaranteed,
    })
}

/// Whether the servers hold all that is guaranteed together, as far as a level problem tells.
///
/// # Errors
/// Where they do not, with the proof.
pub(crate) fn keep_guarantees(
    question: &Question<'_>,
    solver: &dyn LevelSolver,
) -> Result<(), InstanceError> {
    let bins = Bins::exact(question.reduction());
    match Stages::start(question, bins, solver, f64::INFINITY)?.keep_guarantees() {
        Err(error @ InstanceError::Guarantees(_)) => Err(error),
        // What is found above them says whether they are kept.
        _ => Ok(()),
    }
}

/// The level of a stage, and what ends it.
pub(super) struct Raised {
    pub level: f64,
    pub by: RaisedBy,
}

/// What ends a stage.
pub(super) enum RaisedBy {
    /// Prices, in the reduction's terms.
    Prices(Vec<f64>),
    /// Limits that are told from shares, by their positions among these.
    Limits(Vec<usize>),
}

/// The stages so far.
pub(super) struct Stages<'a> {
    pub question: &'a Question<'a>,
    pub reduction: &'a Reduction,
    pub tree: Tree,
    bins: Bins,
    solver: &'a dyn LevelSolver,
    budget: f64,
    /// Dominant share per unit of the objective's own share of its user, for each user (for each kind where they have kinds);
    /// all else is by user.
    unit: Vec<f64>,
    /// What each user can have at most, in the objective's shares: what its tasks are worth, or what it holds.
    pub ceilings: Vec<f64>,
    /// What each user's tasks are worth, in the objective's shares.
    pub of_tasks: Vec<f64>,
    /// The limits that are told from shares, and which of them are met.
    pub told: ToldLimits,
    pub is_met: Vec<bool>,
    /// Whether something is left to decide about a user.
    pub open: Vec<bool>,
    pub shares: Vec<f64>,
    pub level_of: Vec<u32>,
    pub limited_by: Vec<LimitedBy>,
    pub raised: Vec<Raised>,
    /// The sides of the stage that is raised, as the ceilings are.
    sides: Option<Sides>,
    /// What the first stage raised, on which nobody is held yet.
    pub first: Option<Piece>,
    /// The only stage, where everybody rose in one proportion: its splits are those of what all have in the end.
    only: Option<Only>,
    statistics: Statistics,
}

impl<'a> Stages<'a> {
    fn start(
        question: &'a Question<'a>,
        mut bins: Bins,
        solver: &'a dyn LevelSolver,
        budget: f64,
    ) -> Result<Self, InstanceError> {
        let reduction = question.reduction();
        if reduction.has_task_rows.contains(&true) {
            let problem = "under quotas, users whose tasks are limited and do different work on different classes are solved in \
                           fractions alone; take auto or exact, or leave out their rates or their tasks";
            return Err(InstanceError::Unsupported(problem.into()));
        }
        let (users, tree) = (&reduction.users, Tree::new(question.instance, question.objective, reduction));
        let n = users.users();
        let fastest = fastest_rates(reduction);
        let unit: Vec<f64> =
            column(users.len(), |line| users.weight(line) / tree.user_weight(users.user_of(line)));
        let cap_of = |line: usize| match cap(reduction, &fastest, line) {
            0.0 => 0.0,
            cap => cap / unit[line],
        };
        // A task needs all its kinds.
        let of_tasks: Vec<f64> = match users.lines {
            None => column(n, cap_of),
            Some(_) => column(n, |i| users.lines_of(i).map(cap_of).fold(f64::INFINITY, f64::min)),
        };
        let limited_by = |i: usize| match of_tasks[i] {
            _ if users.lines_of(i).any(|line| users.pattern[line] == NO_PATTERN) => LimitedBy::NoUsableClass,
            0.0 => LimitedBy::Tasks,
            _ => LimitedBy::Capacity,
        };
        let of_lines = bins.of.par_iter_mut().with_min_len(FEW_USERS).enumerate();
        let nothing = |(line, _): &(usize, &mut u32)| of_tasks[users.user_of(*line)] == 0.0;
        of_lines.filter(nothing).for_each(|(_, bin)| *bin = NO_BIN);
        let tree = above_guarantees(tree, question, &of_tasks);
        let told = match question.instance.limit_rows().is_empty() {
            true => ToldLimits::none(),
            false => {
                let units = units_of_users(users, &unit);
                let tasks_per_share = column(n, |i| match of_tasks[i] > 0.0 {
                    true => units[i] / question.instance.user(users.user_id(i)).task_share(),
                    false => 0.0,
                });
                ToldLimits::of(question.instance, users, tasks_per_share)
            }
        };
        // A limit of all tasks but for rounding says nothing beside these.
        let ceilings = column(n, |i| match told.ceiling(i) {
            own if own < of_tasks[i] * (1.0 - PIECE) => own,
            _ => of_tasks[i],
        });
        Ok(Self {
            open: of_tasks.iter().map(|ceiling| *ceiling > 0.0).collect(),
            shares: vec![0.0; n],
            level_of: vec![0; n],
            limited_by: (0..n).into_par_iter().with_min_len(FEW_USERS).map(limited_by).collect(),
            ceilings,
            is_met: vec![false; told.len()],
            told,
            statistics: Statistics { classes_merged: reduction.classes(), ..Statistics::default() },
            raised: Vec::new(),
            sides: None,
            first: None,
            only: None,
            question,
            reduction,
            tree,
            bins,
            solver,
            budget,
            unit,
            of_tasks,
        })
    }

    /// Raises the level until somebody can have no more. False when nothing is left to raise.
    fn raise(&mut self) -> Result<bool, InstanceError> {
        self.meet_shared_limits()?;
        if !self.open.contains(&true) {
            return Ok(false);
        }
        let top = self.highest()?;
        self.sides = None;
        self.meet_ceilings(top.as_ref().map_or(f64::INFINITY, |top| top.level));
        let Some(top) = top else {
            // There is room for all that anybody still asks for.
            let ceilings = self.ceilings.clone();
            self.settle(|_| false, &ceilings);
            return Ok(false);
        };
        let Highest { level, piece, solved } = top;
        // The level before is possible, which rounding may deny; beside floors steps over the ends of pieces may seem to rise above it.
        let last = self.last_level();
        let is_last = self.tree.has_floors() && level <= last * (1.0 + BEGINS);
        let level = if is_last { last } else { level.max(last) };
        if self.settle_at_the_end(&piece, level, &solved.solution.prices) {
            return Ok(true);
        }
        let stage = self.raised.len() as u32;
        let frozen = self.frozen(&piece, &solved);
        let shares = self.shares_at(&piece, level);
        self.settle(|i| frozen[i], &shares);
        self.statistics.users_merged = solved.grouping.groups.len();
        self.raised.push(Raised { level, by: RaisedBy::Prices(solved.solution.prices.clone()) });
        debug_assert!(self.level_of.iter().all(|level| *level <= stage));
        if stage == 0 {
            let in_proportion = level == solved.solution.level && !self.open.contains(&true) && {
                let lines = piece.base.par_iter().zip(&piece.slope).with_min_len(FEW_USERS);
                lines
                    .zip(&self.of_tasks)
                    .all(|((base, slope), all)| *base == 0.0 && (*slope > 0.0) == (*all > 0.0))
            };
            self.only = in_proportion.then(|| Only { rates: piece.slope.clone(), level, solved });
            self.first = Some(piece);
        }
        Ok(true)
    }

    /// Tells the levels up to this one at which users come to limits of their own, and settles who has come to an end there.
    pub fn meet_ceilings(&mut self, most: f64) {
        if !self.told.has_ceilings() {
            return;
        }
        let waits = |i: &usize| self.open[*i] && self.ceilings[*i] < self.of_tasks[*i];
        let which = (0..self.open.len()).filter(waits);
        let (instance, users) = (self.question.instance, &self.reduction.users);
        let mut last = self.last_level();
        for here in at_ceilings(instance, users, &self.ceilings, which, most) {
            last = here.level.max(last);
            let piece = self.tree.at(last, &self.ceilings);
            let mut shares = self.shares_at(&piece, last);
            here.users.iter().for_each(|i| shares[*i] = self.ceilings[*i]);
            let limits = here.users.iter().filter_map(|i| self.told.ceiling_of(*i)).collect();
            self.stop(last, limits, &here.users, &shares);
        }
    }

    /// The level of the last stage so far.
    pub fn last_level(&self) -> f64 {
        self.raised.last().map_or(0.0, |raised| raised.level)
    }

    /// Ends a stage where limits stop these users at these shares.
    pub fn stop(&mut self, level: f64, limits: Vec<usize>, users: &[usize], shares: &[f64]) {
        let mut stops = vec![false; shares.len()];
        users.iter().for_each(|i| stops[*i] = true);
        self.settle(|i| stops[i], shares);
        self.raised.push(Raised { level, by: RaisedBy::Limits(limits) });
    }

    /// Settles those whose tasks end where a piece does, if beyond it nobody rises who pays at the prices of its level: then what is full holds
    /// nobody there, as who still needs it is at its floor, and that is no level. False if it is one.
    fn settle_at_the_end(&mut self, piece: &Piece, level: f64, prices: &[f64]) -> bool {
        if !piece.ends_at(level) {
            return false;
        }
        let mut costs = vec![0.0; self.reduction.users.len()];
        cheapest_costs(&self.reduction.users, prices, &self.reduction.capacities, &mut costs);
        let costs = self.costs_of_shares(&costs);
        let after = self.tree.at(piece.after(), &self.ceilings);
        if after.cost(&costs).1 > NO_RISE * piece.cost(&costs).1 {
            return false;
        }
        let mut shares = self.shares_at(piece, level);
        for (share, all) in shares.iter_mut().zip(&self.of_tasks) {
            *share = if *share >= all * (1.0 - PIECE) { *all } else { *share };
        }
        let before = self.open.clone();
        self.settle(|_| false, &shares);
        before != self.open
    }

    /// Settles those whose tasks all run, and those that are frozen, at these shares.
    fn settle(&mut self, frozen: impl Fn(usize) -> bool + Sync, shares: &[f64]) {
        let stage = self.raised.len() as u32;
        let Self { open, shares: of_users, ceilings, level_of, limited_by, of_tasks, .. } = self;
        let state = (open, of_users, ceilings, level_of, limited_by);
        let settle = |(i, (open, share, ceiling, level_of, limited_by)): (usize, Settled<'_>)| {
            if !*open {
                return;
            }
            *share = shares[i];
            let by_tasks = *share >= of_tasks[i] * (1.0 - ALL_TASKS);
            if by_tasks || frozen(i) {
                (*open, *ceiling, *level_of) = (false, *share, stage);
                *limited_by = if by_tasks { LimitedBy::Tasks } else { LimitedBy::Capacity };
            }
        };
        state.into_par_iter().with_min_len(FEW_USERS).enumerate().for_each(settle);
    }

    /// What all have at a level of a piece; what is left of a part beside floors by rounding is nothing, and what is guaranteed to somebody tiny is
    /// not lost in the rounding of its group.
    pub fn shares_at(&self, piece: &Piece, level: f64) -> Vec<f64> {
        let rounding = if self.tree.has_floors() { PIECE * level } else { 0.0 };
        let (tree, ceilings) = (&self.tree, &self.ceilings);
        let floor = |i: usize| tree.floor(i).min(ceilings[i]);
        let share = |i: usize| match piece.share(i, level) {
            nothing if nothing <= rounding * piece.slope[i] => floor(i),
            share => share.max(floor(i)),
        };
        column(self.shares.len(), share)
    }

    /// Costs of the objective's shares, from those of dominant shares; nothing for users that can run nowhere.
    pub fn costs_of_shares(&self, costs: &[f64]) -> Vec<f64> {
        let (unit, of_tasks, users) = (&self.unit, &self.of_tasks, &self.reduction.users);
        let cost = |line: usize| costs[line] * unit[line];
        if users.lines.is_none() {
            return column(of_tasks.len(), |i| if of_tasks[i] == 0.0 { 0.0 } else { cost(i) });
        }
        let of_kinds = |i: usize| users.lines_of(i).map(cost).sum::<f64>();
        column(of_tasks.len(), |i| if of_tasks[i] == 0.0 { 0.0 } else { of_kinds(i) })
    }

    /// Dominant share of each user per unit of its share as the objective has it.
    pub fn units_of_users(&self) -> Vec<f64> {
        units_of_users(&self.reduction.users, &self.unit)
    }

    /// The dominant shares (of the kinds, where users have kinds) that users' shares come to.
    pub fn in_dominant_shares(&self, shares: &[f64]) -> Vec<f64> {
        let (unit, users) = (&self.unit, &self.reduction.users);
        column(unit.len(), |line| shares[users.user_of(line)] * unit[line])
    }

    /// Whether time is over.
    pub fn is_over(&self) -> bool {
        self.solver.deadline().is_over()
    }
}

/// Dominant share of each user per unit of its share as the objective has it, given those of the kinds here.
fn units_of_users(users: &Population, unit: &[f64]) -> Vec<f64> {
    let of_user = |user: usize| users.lines_of(user).next().map(|line| unit[line] / users.part(line));
    column(users.users(), |user| of_user(user).unwrap_or(1.0))
}

/// What is settled of a user: whether it is open, its share, its ceiling, its level and what limits it.
type Settled<'a> = (&'a mut bool, &'a mut f64, &'a mut f64, &'a mut u32, &'a mut LimitedBy);
