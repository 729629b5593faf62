//! How far the level of a stage can rise, and who can have no more there.
//!
//! Between two breaks everybody's share is a straight line in the level, so that one level problem finds how far it can rise: with the slopes
//! as weights, and what shares are above them as base. If that is beyond the piece, its prices say where to look next. Newton's method from
//! both sides, since what one user leaves another takes.

use super::super::affordable::{Bracket, MOST_PIECES};
use super::super::filling::{Piece, Sides};
use super::Stages;
use crate::aggregation::{Solved, gives_up, solve_level};
use crate::bins::Amounts;
use crate::level::dot;
use crate::streaming::cheapest_costs;
use crate::sums::column;
use crate::tolerance::level::{
    ABOVE, BEGINS, CLOSED, MISSING, NO_RISE, NOTHING_LEFT, PIECE, ROUNDING, TAKEN,
};
use fairplan_instances::{FEW_USERS, InstanceError};
use rayon::prelude::*;

/// So often half of what prices leave above a level is asked for at most.
pub(super) const MOST_HALVES: usize = 30;

impl Stages<'_> {
    /// The highest level that the servers hold; `None` if they hold everybody at its ceiling.
    ///
    /// The level of the stage before is possible; no level is beyond what some prices allow. A piece is raised as far as it goes
    /// once some level on it is known to be possible.
    pub(super) fn highest(&mut self) -> Result<Option<Highest>, InstanceError> {
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
            // Who rises may have taken what the others are to keep, where there is next to nothing left to rise by.
            let is_lowered = self.tree.has_floors() && solved.missing() > TAKEN;
            let reached = match is_lowered {
                true => self.lowered(&piece, piece.from.max(bracket.low), reached)?,
                false => reached,
            };
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
                let rises = !is_lowered && solved.solution.level * of_level > NO_RISE;
                // Where lines begin at nothing, what they rose by rounding is nothing.
                let begins = below.max(least);
                let level = if !rises && level - begins <= BEGINS * level { begins } else { level };
                let (level, solved) = match rises {
                    true => (level, solved),
                    false => self.just_above(&piece, level, of_level)?,
                };
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

    /// The highest level of a piece, not above `level`, that the servers hold; that one where they hold all of the piece. From above: prices
    /// at which they do not hold a level rule out all down to the one that is worth as much as the servers are.
    fn lowered(&mut self, piece: &Piece, least: f64, level: f64) -> Result<f64, InstanceError> {
        let mut costs = vec![0.0; self.reduction.users.len()];
        let mut here = level.min(piece.to);
        for step in 0..MOST_PIECES {
            let shares = self.shares_at(piece, here);
            let (held, prices) = self.holds(&shares, &mut costs)?;
            if held {
                return Ok(if step == 0 { level } else { here });
            }
            let (next, _) = self.affordable(&prices, &mut costs, here);
            if next <= least {
                return Ok(least);
            }
            // What the prices do not rule out is held but for rounding.
            if next >= here * (1.0 - PIECE) || self.is_over() {
                return Ok(here.min(next));
            }
            here = next;
        }
        Err(gives_up())
    }

    /// Whether somebody rises on a piece of whom something is left to decide.
    fn somebody_rises(&self, piece: &Piece) -> bool {
        let has_floors = self.tree.has_floors();
        piece.slope.iter().zip(&self.open).any(|(slope, open)| *slope > 0.0 && (*open || !has_floors))
    }

    /// Where those who rise begin at nothing and cannot, a level problem over them alone says nothing: prices are those at which all
    /// could not have a little more in proportion, who rises among them. Of what is next to full a little more may be too much of several things,
    /// and the prices of one that holds nobody yet rule out less than there is above the level: then half of that is asked for, until
    /// they rule out all of it. What the servers hold on the way is the level.
    fn just_above(
        &mut self,
        piece: &Piece,
        mut level: f64,
        of_level: f64,
    ) -> Result<(f64, Solved), InstanceError> {
        let mut costs = vec![0.0; self.reduction.users.len()];
        let (mut above, mut halves) = (level + ABOVE / of_level, 0);
        loop {
            // Where the piece ends with the level, what is next tells.
            let beyond = (above > piece.to).then(|| self.piece_at(above));
            let shares = self.shares_at(beyond.as_ref().unwrap_or(piece), above);
            let all = Amounts::new(self.in_dominant_shares(&shares), vec![true; self.unit.len()]);
            let solved = self.solve(&all, &mut costs)?;
            let is_held = solved.solution.level >= 1.0 - MISSING;
            // Above nothing what seems to be held may be rounding of what is guaranteed.
            if is_held && level > 0.0 && halves > 0 && beyond.is_none() {
                level = above;
            }
            let (bound, _) = self.affordable(&solved.solution.prices, &mut costs, above);
            let left = bound - level;
            let is_ruled_out = left <= CLOSED * level || left * of_level <= NOTHING_LEFT;
            // Where the servers hold as much as that the level was told too low, and no step of this size finds the highest.
            let is_far = is_held && halves == 0;
            if is_ruled_out || is_far || halves == MOST_HALVES || self.is_over() {
                return Ok((level, solved));
            }
            above = level + 0.5 * left.min(ABOVE / of_level);
            halves += 1;
        }
    }

    /// Whether the servers hold these shares, and prices that tell.
    pub fn holds(&mut self, shares: &[f64], costs: &mut [f64]) -> Result<(bool, Vec<f64>), InstanceError> {
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

    pub(super) fn solve(&mut self, amounts: &Amounts, costs: &mut [f64]) -> Result<Solved, InstanceError> {
        let solved = solve_level(self.reduction, &mut self.bins, amounts, self.solver, costs, self.budget)?;
        self.statistics.iterations += solved.iterations;
        self.statistics.rounds += solved.rounds;
        if solved.gave_up { Err(gives_up()) } else { Ok(solved) }
    }

    /// Who can have no more. Whether one can is the same for all users of a pattern (it depends on which prices are zero), so the
    /// rising groups of a pattern vote by size.
    pub(super) fn frozen(&self, piece: &Piece, solved: &Solved) -> Vec<bool> {
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
}

/// The end of a stage.
pub(super) struct Highest {
    pub(super) level: f64,
    pub(super) piece: Piece,
    pub(super) solved: Solved,
}

impl Piece {
    /// The lowest level at which nobody's line is below nothing: from there on shares are a base and so much a level.
    fn lowest_line(&self) -> f64 {
        let root = |(base, slope): (&f64, &f64)| if *slope > 0.0 { -base / slope } else { 0.0 };
        let lines = self.base.par_iter().zip(&self.slope).with_min_len(FEW_USERS);
        lines.map(root).reduce(|| 0.0, f64::max)
    }
}
