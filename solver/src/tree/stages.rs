//! Groups and their users as a max-min in stages: raise the level at the root as far as the servers hold what the tree makes of
//! it, let those who can have no more keep what they have, and go on with the rest.
//!
//! Between two breaks everybody's share is a straight line in the level, so that one level problem finds how far it can
//! rise: with the slopes as weights, and what shares are above them as base. If that is beyond the piece, its prices say
//! where to look next. Newton's method from both sides, since what one user leaves another takes.

use super::affordable::{Bracket, MOST_PIECES};
use super::filling::{Piece, Sides, Tree};
use super::held::held_by_limits;
use super::told_limits::{ToldLimits, at_ceilings};
use crate::aggregation::{Solved, gives_up, solve_level};
use crate::bins::{Amounts, Bins, NO_BIN, level_problem};
use crate::certificate::prices_of_classes;
use crate::level::{LevelSolver, dot};
use crate::population::{NO_PATTERN, Population};
use crate::progress::{cap, fastest_rates};
use crate::question::{Guaranteed, Question};
use crate::reduction::Reduction;
use crate::repair::{SplitRows, feasible_splits};
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::{ABOVE, KEPT, MISSING, NO_RISE, NOTHING_LEFT, PIECE, ROUNDING, TOLERANCE};
use fairplan_instances::{
    Allocation, Certificate, FEW_USERS, LimitedBy, Shortfall, Solution, SolverError, Statistics, Status,
    guaranteed_shares,
};
use rayon::prelude::*;

/// Solves an instance with groups from these bins with any way to solve a level; each level within the `budget` (see
/// [`solve_level`]).
pub(crate) fn solve(
    question: &Question<'_>,
    method: &'static str,
    bins: Bins,
    solver: &dyn LevelSolver,
    budget: f64,
) -> Result<Solution, SolverError> {
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

/// What is said where tasks of users in groups are limited and do different work on different classes.
pub(crate) const UNLIKE_TASKS_IN_GROUPS: &str = "users in groups whose tasks are limited and do different work on different classes are \
                                                 not solved; leave out their rates or their tasks";

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

/// A stage that settled everybody, each at its rate times the level.
struct Only {
    rates: Vec<f64>,
    level: f64,
    solved: Solved,
}

impl<'a> Stages<'a> {
    fn start(
        question: &'a Question<'a>,
        mut bins: Bins,
        solver: &'a dyn LevelSolver,
        budget: f64,
    ) -> Result<Self, SolverError> {
        let reduction = question.reduction();
        if reduction.has_task_rows.contains(&true) {
            return Err(SolverError::Unsupported(UNLIKE_TASKS_IN_GROUPS.into()));
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

    /// Whether all that is guaranteed fits the servers together.
    fn keep_guarantees(&mut self) -> Result<(), SolverError> {
        if !self.tree.has_floors() {
            return Ok(());
        }
        let piece = self.tree.at(0.0, &self.ceilings);
        let floors: Vec<f64> = (0..self.shares.len()).map(|i| piece.share(i, 0.0)).collect();
        if !floors.iter().any(|floor| *floor > 0.0) {
            return Ok(());
        }
        let mut costs = vec![0.0; self.reduction.users.len()];
        let (held, prices) = self.holds(&floors, &mut costs)?;
        let by_limit = self.told.least_part(&floors);
        let mut part = f64::INFINITY;
        if !held {
            cheapest_costs(&self.reduction.users, &prices, &self.reduction.capacities, &mut costs);
            costs = self.costs_of_shares(&costs);
            let paid: f64 = floors.iter().zip(&costs).map(|(floor, cost)| floor * cost).sum();
            part = dot(&prices, &self.reduction.capacities) / paid;
        }
        let (instance, reduction) = (self.question.instance, self.reduction);
        let nothing = vec![0.0; reduction.capacities.len()];
        let (part, prices, limit) = match by_limit {
            Some((less, place)) if less < part => (less, nothing, Some(place)),
            _ => (part, prices, None),
        };
        if part >= 1.0 - KEPT {
            return if held || part <= 1.0 + TOLERANCE { Ok(()) } else { Err(gives_up()) };
        }
        if let Some(place) = limit {
            costs = vec![0.0; floors.len()];
            self.told.takes(place).for_each(|(i, cost)| costs[i] = cost);
        }
        let paid: f64 = floors.iter().zip(&costs).map(|(floor, cost)| floor * cost).sum();
        let mut of_limits = reduction.users.limits.prices(instance, &prices, 1.0 / paid);
        if let Some(place) = limit {
            self.told.price(instance, place, 1.0 / paid, &mut of_limits);
        }
        let of_classes = prices_of_classes(instance, &reduction.members, &prices, 1.0 / paid);
        let mut of_users = vec![0.0; instance.user_count()];
        for (i, (floor, cost)) in floors.iter().zip(&costs).enumerate() {
            of_users[reduction.users.user_id(i).0] = floor * cost / paid;
        }
        let proof = (part, of_classes, of_limits);
        let Guaranteed { groups, solutions } = self.question.guaranteed();
        let objective = self.question.objective;
        let shortfall = Shortfall::new(instance, objective, proof, &of_users, solutions.clone(), groups);
        Err(SolverError::Guarantees(Box::new(shortfall)))
    }

    /// Raises the level until somebody can have no more. False when nothing is left to raise.
    fn raise(&mut self) -> Result<bool, SolverError> {
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
        // The level before is possible, which rounding may deny.
        let level = level.max(self.last_level());
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
            let by_tasks = *share >= of_tasks[i];
            if by_tasks || frozen(i) {
                (*open, *ceiling, *level_of) = (false, *share, stage);
                *limited_by = if by_tasks { LimitedBy::Tasks } else { LimitedBy::Capacity };
            }
        };
        state.into_par_iter().with_min_len(FEW_USERS).enumerate().for_each(settle);
    }

    /// The highest level that the servers hold; `None` if they hold everybody at its ceiling.
    ///
    /// The level of the stage before is possible; no level is beyond what some prices allow. A piece is raised as far as it goes
    /// once some level on it is known to be possible.
    fn highest(&mut self) -> Result<Option<Highest>, SolverError> {
        self.sides = Some(self.tree.sides(&self.ceilings));
        let mut costs = vec![0.0; self.reduction.users.len()];
        let mut bracket = Bracket { low: self.last_level(), ..Bracket::EVERYTHING };
        let even = |c: &f64| if *c > 0.0 { 1.0 / c } else { 0.0 };
        let even: Vec<f64> = self.reduction.capacities.iter().map(even).collect();
        let (mut level, mut known) = self.affordable(&even, &mut costs, bracket.low.max(1.0));
        for _ in 0..MOST_PIECES {
            if level == f64::INFINITY {
                let (held, prices) = self.holds(&self.ceilings.clone(), &mut costs)?;
                if held {
                    return Ok(None);
                }
                (level, known) = self.affordable(&prices, &mut costs, 1.0);
                level = bracket.inside(level);
            }
            let known_here = known.take().filter(|piece| piece.is_at(level));
            let piece = known_here.unwrap_or_else(|| self.piece_at(level));
            if piece.from > bracket.low * (1.0 + PIECE) {
                let shares = self.shares_at(&piece, level);
                let (held, prices) = self.holds(&shares, &mut costs)?;
                if !held {
                    bracket.high = level;
                    (level, known) = self.affordable(&prices, &mut costs, level);
                    level = bracket.inside(level);
                    continue;
                }
                bracket.low = level;
            }
            if !self.somebody_rises(&piece) {
                if piece.to < f64::INFINITY && self.tree.has_floors() {
                    // All are at their floors: the servers hold that until somebody's part is more.
                    bracket.low = piece.to;
                    level = piece.to * (1.0 + 2.0 * PIECE);
                    continue;
                }
                // Beyond the last break all are at their ceilings, and the servers hold that.
                return Ok(None);
            }
            let below = piece.lowest_line();
            let solved = self.solve(&self.amounts(&piece, below), &mut costs)?;
            let reached = below + solved.solution.level;
            let beyond = reached > piece.to * (1.0 + PIECE) && bracket.high > piece.to * (1.0 + PIECE);
            if !beyond || self.solver.deadline().is_over() {
                // Where the piece begins is known to be possible, though it may be so by a hair: who is at its floor rises from there.
                let least = if self.tree.has_floors() {
                    piece.from.max(bracket.low)
                } else {
                    bracket.low.min(reached)
                };
                let level = reached.max(least).min(piece.to);
                if !self.tree.has_floors() {
                    return Ok(Some(Highest { level, piece, solved }));
                }
                let of_level = self.in_dominant_shares(&piece.slope).iter().sum::<f64>();
                // What is left beside floors may be nothing, but for rounding.
                let level = if level * of_level <= NOTHING_LEFT { 0.0 } else { level };
                let rises = solved.solution.level * of_level > NO_RISE;
                let solved = if rises { solved } else { self.just_above(&piece, level + ABOVE / of_level)? };
                return Ok(Some(Highest { level, piece, solved }));
            }
            bracket.low = piece.to;
            let next;
            (next, known) = self.affordable(&solved.solution.prices, &mut costs, reached);
            let after = piece.to * (1.0 + 2.0 * PIECE);
            level = if next == f64::INFINITY { next } else { bracket.inside(next).max(after) };
        }
        Err(gives_up())
    }

    /// What all have at a level of a piece; what is left of a part beside floors by rounding is nothing.
    pub fn shares_at(&self, piece: &Piece, level: f64) -> Vec<f64> {
        let rounding = if self.tree.has_floors() { PIECE * level } else { 0.0 };
        let share = |i: usize| match piece.share(i, level) {
            nothing if nothing <= rounding * piece.slope[i] => 0.0,
            share => share,
        };
        column(self.shares.len(), share)
    }

    /// Whether somebody rises on a piece of whom something is left to decide.
    fn somebody_rises(&self, piece: &Piece) -> bool {
        let has_floors = self.tree.has_floors();
        piece.slope.iter().zip(&self.open).any(|(slope, open)| *slope > 0.0 && (*open || !has_floors))
    }

    /// Where those who rise begin at nothing and cannot, a level problem over them alone says nothing: prices are those at which all
    /// could not have a little more in proportion, who rises among them.
    fn just_above(&mut self, piece: &Piece, level: f64) -> Result<Solved, SolverError> {
        let above = level.min(piece.to);
        let shares = self.shares_at(piece, above);
        let all = Amounts::new(self.in_dominant_shares(&shares), vec![true; self.unit.len()]);
        self.solve(&all, &mut vec![0.0; self.reduction.users.len()])
    }

    /// Whether the servers hold these shares, and prices that tell.
    pub fn holds(&mut self, shares: &[f64], costs: &mut [f64]) -> Result<(bool, Vec<f64>), SolverError> {
        let all = Amounts::new(self.in_dominant_shares(shares), vec![true; self.unit.len()]);
        let solved = self.solve(&all, costs)?;
        Ok((solved.solution.level >= 1.0 - MISSING, solved.solution.prices))
    }

    /// The level up to which these prices allow the users' shares, and the piece that it is on, as far as that is known.
    fn affordable(&self, prices: &[f64], costs: &mut [f64], start: f64) -> (f64, Option<Piece>) {
        let capacities = &self.reduction.capacities;
        cheapest_costs(&self.reduction.users, prices, capacities, costs);
        let of_share: Vec<f64> = self.costs_of_shares(costs);
        let find = |sides: &Sides| self.tree.affordable(sides, &of_share, dot(prices, capacities), start);
        self.sides.as_ref().map_or_else(|| find(&self.tree.sides(&self.ceilings)), find)
    }

    /// The piece at a level.
    fn piece_at(&self, level: f64) -> Piece {
        let at = |sides: &Sides| self.tree.piece(level, sides);
        self.sides.as_ref().map_or_else(|| at(&self.tree.sides(&self.ceilings)), at)
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

    /// The users of a piece as a level problem has them, with the level counted from `below` on.
    fn amounts(&self, piece: &Piece, below: f64) -> Amounts {
        let (unit, users) = (&self.unit, &self.reduction.users);
        let user = |line: usize| users.user_of(line);
        let rising: Vec<bool> = column(unit.len(), |line| piece.slope[user(line)] > 0.0);
        let amount = |line: usize| {
            let i = user(line);
            let of_user = if rising[line] { piece.slope[i] } else { piece.base[i] };
            of_user * unit[line]
        };
        let rounding = if self.tree.has_floors() { PIECE } else { ROUNDING };
        let base = |line: usize| {
            let i = user(line);
            let risen = piece.slope[i] * below;
            let share = if rising[line] { piece.base[i] + risen } else { 0.0 };
            // The line that is lowest begins at nothing, but for rounding.
            if share > risen * rounding && share > 0.0 { share * unit[line] } else { 0.0 }
        };
        let some = (0..rising.len()).into_par_iter().with_min_len(FEW_USERS).any(|line| base(line) > 0.0);
        let base = some.then(|| column(rising.len(), base));
        Amounts { amount: column(rising.len(), amount), base, rising }
    }

    /// Whether time is over.
    pub fn is_over(&self) -> bool {
        self.solver.deadline().is_over()
    }

    fn solve(&mut self, amounts: &Amounts, costs: &mut [f64]) -> Result<Solved, SolverError> {
        let solved = solve_level(self.reduction, &mut self.bins, amounts, self.solver, costs, self.budget)?;
        self.statistics.iterations += solved.iterations;
        self.statistics.rounds += solved.rounds;
        Ok(solved)
    }

    /// Who can have no more. Whether one can is the same for all users of a pattern (it depends on which prices are zero), so the
    /// rising groups of a pattern vote by size.
    fn frozen(&self, piece: &Piece, solved: &Solved) -> Vec<bool> {
        let (groups, m) = (&solved.grouping.groups, self.reduction.resources);
        let mut votes = vec![0.0; self.reduction.patterns.len()];
        for g in (0..groups.len()).filter(|g| groups.rising[*g]) {
            let size: f64 = groups.loads[g * m..(g + 1) * m].iter().sum();
            votes[groups.pattern[g] as usize] += if solved.solution.frozen[g] { size } else { -size };
        }
        let (open, has_floors) = (&self.open, self.tree.has_floors());
        let rises = |i: usize| open[i] && piece.slope[i] > 0.0;
        let users = &self.reduction.users;
        let held = |line: usize| votes[users.pattern[line] as usize] > 0.0;
        // Who is at its floor, or in a group that is, does not rise here and is held as others of its pattern are, for good.
        let may_rise = |i: usize| rises(i) || (open[i] && has_floors);
        // A task needs all its kinds, so a user is held where one of them is.
        let is_frozen = |i: usize| may_rise(i) && users.lines_of(i).any(held);
        let frozen: Vec<bool> = column(open.len(), is_frozen);
        if frozen.contains(&true) {
            return frozen;
        }
        // Somebody always freezes: when rounding hides who, all do, and the certificate tells.
        column(open.len(), rises)
    }

    /// Tasks from shares: everybody takes its bin's split, shrunk where rounding had overloaded a class.
    fn allocate(&mut self) -> Result<Allocation, SolverError> {
        let (instance, n) = (self.question.instance, self.reduction.users.len());
        let classes = instance.classes().len();
        let shares = Amounts::new(self.in_dominant_shares(&self.shares), vec![true; n]);
        let pooled = self.question.objective.is_pooled();
        if !shares.amount.iter().any(|share| *share > 0.0) {
            let nobody = vec![0.0; self.shares.len()];
            return Ok(match pooled {
                true => Allocation::pooled(nobody),
                false => Allocation::of_kinds(instance, classes, nobody, vec![0; n], vec![0.0; classes]),
            });
        }
        // At most so much of its amount has each.
        let (amounts, level, solved) = match self.only.take() {
            Some(Only { rates, level, solved }) => {
                (Amounts { amount: self.in_dominant_shares(&rates), ..shares }, level, solved)
            }
            None => {
                let solved = self.solve(&shares, &mut vec![0.0; n])?;
                (shares, 1.0, solved)
            }
        };
        let groups = &solved.grouping.groups;
        let problem = level_problem(self.reduction, &solved.grouping);
        let splits = feasible_splits(&problem, &solved.solution.splits);
        let SplitRows { work, placed, rows } = SplitRows::new(self.reduction, groups, &splits, classes);
        let users = &self.reduction.users;
        let group = |i: usize| {
            let has_share = self.bins.of[i] != NO_BIN && amounts.amount[i] > 0.0;
            has_share.then(|| solved.grouping.group(self.bins.of[i], true))
        };
        let tasks = |i: usize| {
            let Some(g) = group(i) else { return 0.0 };
            let view = instance.user(users.user_id(users.user_of(i)));
            let per_task = users.task_share(instance, i) * work[g] / placed[g];
            let most = view.tasks().map_or(f64::INFINITY, |limit| limit as f64) * (1.0 - MARGIN);
            (amounts.amount[i] * work[g].min(level) / per_task).min(most)
        };
        // A task runs as far as all its kinds do.
        let mut tasks = users.by_user(column(n, tasks), f64::min);
        self.told.keep(users, &mut tasks);
        if pooled {
            return Ok(Allocation::pooled(tasks));
        }
        let split_of = column(n, |i| group(i).unwrap_or(groups.len()) as u32);
        Ok(Allocation::of_kinds(instance, classes, tasks, users.by_position(split_of), rows))
    }
}

/// Dominant share of each user per unit of its share as the objective has it, given those of the kinds here.
fn units_of_users(users: &Population, unit: &[f64]) -> Vec<f64> {
    let of_user = |user: usize| users.lines_of(user).next().map(|line| unit[line] / users.part(line));
    column(users.users(), |user| of_user(user).unwrap_or(1.0))
}

/// The tree with what its users are guaranteed, counted as the objective counts shares; who can run nowhere is guaranteed nothing.
fn above_guarantees(tree: Tree, question: &Question<'_>, of_tasks: &[f64]) -> Tree {
    let (instance, users) = (question.instance, &question.reduction().users);
    if !instance.has_guarantees() {
        return tree;
    }
    let shares = guaranteed_shares(instance, question.objective, &question.guaranteed().solutions);
    // What is nearly all is all.
    let floor = |i: usize| match shares[users.user_id(i).0] {
        _ if of_tasks[i] == 0.0 => 0.0,
        share if share >= of_tasks[i] * (1.0 - KEPT) => of_tasks[i],
        share => share,
    };
    let floors: Vec<f64> = (0..users.users()).map(floor).collect();
    tree.above_floors(&floors)
}

/// What is settled of a user: whether it is open, its share, its ceiling, its level and what limits it.
type Settled<'a> = (&'a mut bool, &'a mut f64, &'a mut f64, &'a mut u32, &'a mut LimitedBy);

/// The end of a stage.
struct Highest {
    level: f64,
    piece: Piece,
    solved: Solved,
}

impl Piece {
    /// The lowest level at which nobody's line is below nothing: from there on shares are a base and so much a level.
    fn lowest_line(&self) -> f64 {
        let root = |(base, slope): (&f64, &f64)| if *slope > 0.0 { -base / slope } else { 0.0 };
        let lines = self.base.par_iter().zip(&self.slope).with_min_len(FEW_USERS);
        lines.map(root).reduce(|| 0.0, f64::max)
    }
}
