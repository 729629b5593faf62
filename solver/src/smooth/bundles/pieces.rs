//! Sums over bundles by linear programs, in which what a share is worth is straight between some points: as many as are needed.
//!
//! ```text
//! max Σ λ f(b) − M l    Σ_l ρ z_kl + π l = π Σ λ b  (y_k)    Σ d_k z_kl <= c  (p)    Σ λ = 1 over the points b of a user
//! ```
//! At prices `p` a user would take the share of which the last unit is worth what it pays. Where that is better than its points it is
//! one more of them, until none is: then these prices prove what is found. (Inner linearisation, as G. B. Dantzig and P. Wolfe,
//! Decomposition principle for linear programs, Operations Research 8, 1960.) An α of zero has two points: least and most.
//!
//! Unlike an interior point a basis does not mind how little guarantees and limits leave between them.

use super::floors::LACKING;
use super::{NO_ROW, User};
use crate::level::LevelProblem;
use crate::linear_program::{Column, Outcome, Program, Row, Settings};
use crate::linear_solver::Growing;
use crate::smooth::utility::Utility;
use crate::tolerance::level::KEPT;
use crate::tolerance::sum::{LINEAR, NOTICED};
use fairplan_instances::{Deadline, InstanceError};

/// First points beside the share that a user is thought to have, as logarithms of what the last unit of them is worth.
const FIRST: [f64; 6] = [-3.0, -0.3, -0.03, 0.03, 0.3, 3.0];
/// By how much all may be worth more or less than they were thought to be before that is made the unit of everything.
const NEAR: f64 = 2.0;

/// What a way finds.
pub(in crate::smooth) struct Found {
    /// Shares of kinds on classes.
    pub splits: Vec<f64>,
    /// Of rows, and the unit of these.
    pub prices: Vec<f64>,
    pub utility: Utility,
    pub iterations: u64,
}

/// What a share is worth to a user: `−worth · shortfall(G / unit)`.
struct Worth {
    /// The share that it is thought to have; of a linear sum the most.
    unit: f64,
    /// What its last unit would be worth for all of that.
    worth: f64,
    /// The least and the most that it may have, in units.
    least: f64,
    most: f64,
}

/// A program, and which of its columns and rows are whose.
struct Pieces<'a> {
    problem: &'a LevelProblem<'a>,
    users: &'a [User],
    /// Utilities in the unit of worths.
    utility: Utility,
    worths: Vec<Worth>,
    program: Program,
    /// The row of each capacity and limit.
    row_of: Vec<usize>,
    /// The first row of each user: those of its kinds, and then that of its points.
    first_row: Vec<usize>,
    /// The size of each pair's unit, 0 where it has no column.
    unit_of_pair: Vec<f64>,
    /// The column of each user's lack.
    lack: Vec<Option<usize>>,
}

/// How hard to look: for points until what all would gain by more is less than this part of what they are worth, and with no more than so
/// many programs.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub better: f64,
    pub programs: u64,
}

/// Shares of kinds on classes and their prices, near the shares that are `thought` right, and what users have by them.
///
/// # Errors
/// Where a program came to no end, or no price keeps all guarantees.
pub(super) fn pieces(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    thought: &[f64],
    effort: Effort,
    deadline: &Deadline,
) -> Result<(Found, Vec<f64>), InstanceError> {
    let mut programs = 0;
    let (mut thought, mut lackings) = (thought.to_vec(), LACKING.into_iter().peekable());
    while let Some(lacking) = lackings.peek() {
        let mut pieces = Pieces::new(problem, users, alpha, &thought);
        pieces.state(*lacking);
        let left = Effort { programs: effort.programs.saturating_sub(programs), ..effort };
        let (outcome, solved) = pieces.solve(left, deadline)?;
        programs += solved;
        let is_last = programs >= effort.programs || deadline.is_over();
        if !is_last && pieces.lacks(&outcome) > KEPT {
            // Whoever has what others lack is worth less than it will be: the same shares at a higher price of that.
            lackings.next();
            continue;
        }
        let found = pieces.found(&outcome, programs);
        // What all are worth is the unit of what it costs to lack something, and of what is too little to tell.
        thought = pieces.shares(&found.splits);
        if is_last || alpha == 0.0 || (1.0 / NEAR..NEAR).contains(&pieces.worth_of(&thought)) {
            return Ok((found, thought));
        }
    }
    Err(InstanceError::Backend {
        backend: "simplex",
        problem: "guarantees cannot be kept at any price".into(),
    })
}

impl<'a> Pieces<'a> {
    fn new(problem: &'a LevelProblem<'a>, users: &'a [User], alpha: f64, thought: &[f64]) -> Self {
        // In the end nobody has less than its floor.
        let unit = |u: usize| match alpha {
            0.0 => most_alone(problem, &users[u]),
            _ => thought[u].max(users[u].floor),
        };
        let units: Vec<f64> = (0..users.len()).map(unit).collect();
        // In units in which all are worth one.
        let log = |(user, unit): (&User, &f64)| user.weight.ln() + (1.0 - alpha) * unit.ln();
        let logs: Vec<f64> = users.iter().zip(&units).map(log).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
        // Who is worth next to nothing would not be noticed; of a linear sum nobody may be worth more than it is.
        let noticed = if alpha > 0.0 { NOTICED / users.len() as f64 } else { 0.0 };
        let worth = |((user, unit), log): ((&User, &f64), &f64)| Worth {
            unit: *unit,
            worth: (log - total).exp().max(noticed),
            least: user.floor / unit,
            most: user.cap.min(2.0 * most_alone(problem, user).max(user.floor)) / unit,
        };
        let worths = users.iter().zip(&units).zip(&logs).map(worth).collect();
        Self {
            problem,
            users,
            utility: Utility::new(alpha, -total),
            worths,
            program: Program::maximise(),
            row_of: vec![NO_ROW; problem.capacities.len()],
            first_row: Vec::new(),
            unit_of_pair: vec![0.0; problem.groups.pair_count()],
            lack: Vec::new(),
        }
    }

    /// Rows, and the columns that there are at first.
    fn state(&mut self, lacking: f64) {
        let (problem, users) = (self.problem, self.users);
        for (at, _) in problem.capacities.iter().enumerate().filter(|(_, capacity)| **capacity > 0.0) {
            self.row_of[at] = self.program.at_most(1.0, []).0;
        }
        for (u, user) in users.iter().enumerate() {
            self.first_row.push(self.program.rows.len());
            user.lines.clone().for_each(|_| {
                self.program.equal(0.0, []);
            });
            self.program.equal(1.0, []);
            for (at, line) in user.lines.clone().enumerate() {
                for pair in problem.groups.pairs(line) {
                    let mut entries = self.taken(line, pair);
                    let work = problem.groups.rate[pair] / (user.parts[at] * self.worths[u].unit);
                    entries.push((Row(self.first_row[u] + at), work));
                    let largest = entries.iter().map(|(_, entry)| *entry).fold(0.0, f64::max);
                    if largest.is_finite() {
                        entries.iter_mut().for_each(|(_, entry)| *entry /= largest);
                        self.unit_of_pair[pair] = 1.0 / largest;
                        self.program.column(0.0, f64::INFINITY, false, entries);
                    }
                }
            }
            let Worth { least, .. } = self.worths[u];
            let lack = (least > 0.0).then(|| {
                let rows = (0..user.lines.len()).map(|at| (Row(self.first_row[u] + at), 1.0));
                self.program.column(-lacking / least, least, false, rows).0
            });
            self.lack.push(lack);
            for point in self.first_points(u) {
                let column = self.point(u, point);
                self.program.columns.push(column);
            }
        }
    }

    /// What a pair takes of rows, in parts of them.
    fn taken(&self, line: usize, pair: usize) -> Vec<(Row, f64)> {
        let (problem, load) = (self.problem, self.problem.load(line));
        let of_class = problem.rows(pair).zip(load.iter().copied());
        let met = problem.limits_met(line, problem.groups.class[pair]).map(|(row, r)| (row, load[r]));
        let needed = of_class.chain(met).filter(|(at, d)| *d > 0.0 && self.row_of[*at] != NO_ROW);
        needed.map(|(at, d)| (Row(self.row_of[at]), d / problem.capacities[at])).collect()
    }

    /// In units.
    fn first_points(&self, u: usize) -> Vec<f64> {
        let Worth { least, most, .. } = self.worths[u];
        if self.utility.alpha == 0.0 {
            return vec![least, most];
        }
        let mut points: Vec<f64> = FIRST.iter().map(|log| (log / self.utility.alpha).exp()).collect();
        points.extend([1.0, least]);
        points.iter_mut().for_each(|point| *point = point.clamp(least, most));
        points.retain(|point| *point > 0.0);
        points.sort_by(f64::total_cmp);
        points.dedup();
        points
    }

    /// What a point is worth.
    fn worth_at(&self, u: usize, point: f64) -> f64 {
        -self.worths[u].worth * self.utility.shortfall(point)
    }

    /// The column of a point.
    fn point(&self, u: usize, point: f64) -> Column {
        let lines = self.users[u].lines.len();
        let rows = (0..lines).map(|at| (Row(self.first_row[u] + at), -point));
        let entries = rows.chain([(Row(self.first_row[u] + lines), 1.0)]).collect();
        Column { cost: self.worth_at(u, point), most: f64::INFINITY, is_whole: false, entries }
    }

    /// Solves, with more points while they are better than those that there are; and how many programs that took.
    fn solve(&mut self, effort: Effort, deadline: &Deadline) -> Result<(Outcome, u64), InstanceError> {
        let settings =
            Settings { primal: Some(LINEAR), dual: Some(LINEAR), simplex: true, ..Settings::default() };
        let mut growing = Growing::new(self.program.clone(), settings);
        // What is less is not told from none by a program.
        let least = LINEAR.max(effort.better / self.users.len() as f64);
        let mut programs = 0;
        loop {
            let outcome = growing.solve(deadline)?.optimal()?;
            programs += 1;
            let better: Vec<Column> =
                (0..self.users.len()).filter_map(|u| self.better(u, &outcome, least)).collect();
            if better.is_empty() || programs >= effort.programs {
                return Ok((outcome, programs));
            }
            better.into_iter().for_each(|column| growing.add(column));
        }
    }

    /// The point that a user would take at these prices, if that is better than those it has by more than the least gain that counts.
    fn better(&self, u: usize, outcome: &Outcome, least_gain: f64) -> Option<Column> {
        if self.utility.alpha == 0.0 {
            return None;
        }
        let (lines, first) = (self.users[u].lines.len(), self.first_row[u]);
        let Worth { worth, least, most, .. } = self.worths[u];
        let price = -outcome.multipliers[first..first + lines].iter().sum::<f64>();
        let wish = if price > 0.0 { (worth / price).powf(1.0 / self.utility.alpha) } else { most };
        let wish = wish.clamp(least, most);
        let gain = self.worth_at(u, wish) - price * wish - outcome.multipliers[first + lines];
        (wish > 0.0 && gain > least_gain).then(|| self.point(u, wish))
    }

    /// The largest part of what a user is guaranteed that it lacks.
    fn lacks(&self, outcome: &Outcome) -> f64 {
        let lacks = |(column, worth): (&Option<usize>, &Worth)| {
            column.map_or(0.0, |column| outcome.columns[column] / worth.least)
        };
        self.lack.iter().zip(&self.worths).map(lacks).fold(0.0, f64::max)
    }

    /// What each user has by these splits.
    fn shares(&self, splits: &[f64]) -> Vec<f64> {
        let share = |(user, worth): (&User, &Worth)| {
            let of_line = |(line, part): (usize, &f64)| self.problem.work(splits, line) / part;
            let least = user.lines.clone().zip(&user.parts).map(of_line).fold(f64::INFINITY, f64::min);
            if least > 0.0 { least } else { worth.unit }
        };
        self.users.iter().zip(&self.worths).map(share).collect()
    }

    /// What such shares are worth together.
    fn worth_of(&self, shares: &[f64]) -> f64 {
        let worth = |(worth, share): (&Worth, &f64)| {
            worth.worth * (share / worth.unit).max(worth.least).powf(1.0 - self.utility.alpha)
        };
        self.worths.iter().zip(shares).map(worth).sum()
    }

    fn found(&self, outcome: &Outcome, iterations: u64) -> Found {
        let mut splits = vec![0.0; self.unit_of_pair.len()];
        let mut column = 0;
        for (u, user) in self.users.iter().enumerate() {
            for pair in user.lines.clone().flat_map(|line| self.problem.groups.pairs(line)) {
                if self.unit_of_pair[pair] > 0.0 {
                    splits[pair] = outcome.columns[column].max(0.0) * self.unit_of_pair[pair];
                    column += 1;
                }
            }
            column += usize::from(self.lack[u].is_some()) + self.first_points(u).len();
        }
        let price = |(row, capacity): (&usize, &f64)| match *row {
            NO_ROW => 0.0,
            row => outcome.multipliers[row].max(0.0) / capacity,
        };
        let prices = self.row_of.iter().zip(self.problem.capacities).map(price).collect();
        Found { splits, prices, utility: self.utility, iterations }
    }
}

/// No more than this share fits if a user has all there is.
fn most_alone(problem: &LevelProblem<'_>, user: &User) -> f64 {
    let of_line = |(line, part): (usize, &f64)| -> f64 {
        let fits = |pair: usize| {
            let row = problem.capacities[problem.rows(pair)].iter().zip(problem.load(line));
            let needed = row.filter(|(_, d)| **d > 0.0);
            problem.groups.rate[pair] * needed.map(|(c, d)| c / d).fold(f64::INFINITY, f64::min)
        };
        problem.groups.pairs(line).map(fits).sum::<f64>() / part
    };
    user.lines.clone().zip(&user.parts).map(of_line).fold(f64::INFINITY, f64::min)
}
