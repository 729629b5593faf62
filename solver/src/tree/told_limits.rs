//! Limits over all classes: what counts in them follows from shares alone, so the levels at which they are met are told without the
//! servers.
//!
//! Where such a limit is met a price of it alone proves that nobody who counts in it can have more, and it needs no row in the
//! level problem. Of a single user it is a ceiling of its share, which filling knows from the beginning. Of several users it stops them
//! all at once; then filling goes on anew.

use super::affordable::{Bracket, MOST_PIECES};
use super::filling::{Piece, Sides, Tree};
use crate::aggregation::gives_up;
use crate::limits::is_told_from_shares;
use crate::population::Population;
use crate::sums::Compensated;
use crate::tolerance::allocation::MARGIN;
use crate::tolerance::level::{PIECE, TOGETHER};
use fairplan_instances::{FilledTree, Instance, InstanceError, Owner};

/// The limits of an instance that are told from shares; none is the usual case.
pub(super) struct ToldLimits {
    limits: Vec<ToldLimit>,
    /// Tasks of each user for a share of one.
    tasks_per_share: Vec<f64>,
    /// Of each user the lowest limit that is its ceiling; empty where nobody has one.
    ceiling_of: Vec<Option<usize>>,
}

/// A limit over all classes.
struct ToldLimit {
    /// Which of the instance's limits it is.
    row: usize,
    /// Whether it is the ceiling of a single user.
    is_ceiling: bool,
    /// The users that count in it, and which part of it a task of theirs takes.
    takes: Vec<(u32, f64)>,
}

/// Where some of the limits are met.
pub(super) struct Met {
    pub level: f64,
    /// Positions among the limits.
    pub limits: Vec<usize>,
    /// What all have there.
    pub piece: Piece,
}

impl ToldLimits {
    /// There are no limits.
    pub fn none() -> Self {
        Self { limits: Vec::new(), tasks_per_share: Vec::new(), ceiling_of: Vec::new() }
    }

    /// Those of an instance, given the tasks that a share of one is worth to each user; who has none counts in no limit.
    pub fn of(instance: &Instance, users: &Population, tasks_per_share: Vec<f64>) -> Self {
        let mut limits = Vec::new();
        let mut place_of_row = vec![None; instance.limit_rows().len()];
        for (row, limit) in instance.limit_rows().iter().enumerate() {
            if is_told_from_shares(instance, limit) {
                let is_own = matches!(limit.owner, Owner::User(_)) && !limit.is_reserve();
                // Floors are filled before ceilings: beside guarantees a limit of one user is like those of several.
                let is_ceiling = is_own && !instance.has_guarantees();
                place_of_row[row] = Some(limits.len());
                limits.push(ToldLimit { row, is_ceiling, takes: Vec::new() });
            }
        }
        let mut told = Self { limits, tasks_per_share, ..Self::none() };
        if told.limits.is_empty() {
            return told;
        }
        for i in (0..users.users()).filter(|i| told.tasks_per_share[*i] > 0.0) {
            let user = instance.user(users.user_id(i));
            for row in instance.limits_above(user) {
                let (Some(place), limit) = (place_of_row[row], &instance.limit_rows()[row]) else { continue };
                let units = user.demand_units(limit.resource);
                if units > 0 {
                    let part = units as f64 / instance.limit_units(limit) as f64;
                    told.limits[place].takes.push((i as u32, part));
                }
            }
        }
        told.find_ceilings(users.users());
        told
    }

    fn find_ceilings(&mut self, users: usize) {
        for (place, limit) in self.limits.iter().enumerate().filter(|(_, limit)| limit.is_ceiling) {
            for (i, part) in &limit.takes {
                self.ceiling_of.resize(users, None);
                let lowest = &mut self.ceiling_of[*i as usize];
                if lowest.is_none_or(|other: usize| self.limits[other].takes[0].1 < *part) {
                    *lowest = Some(place);
                }
            }
        }
    }

    /// Whether somebody has a limit of its own that is a ceiling.
    pub fn has_ceilings(&self) -> bool {
        !self.ceiling_of.is_empty()
    }

    /// Whether there are limits that are no ceilings.
    pub fn has_shared(&self) -> bool {
        self.limits.iter().any(|limit| !limit.is_ceiling)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.limits.len()
    }

    /// What a user's share is at most by limits of its own.
    pub fn ceiling(&self, user: usize) -> f64 {
        self.ceiling_of(user)
            .map_or(f64::INFINITY, |place| 1.0 / self.part_of_share(user, self.limits[place].takes[0].1))
    }

    /// The limit that is a user's ceiling.
    pub fn ceiling_of(&self, user: usize) -> Option<usize> {
        self.ceiling_of.get(user).copied().flatten()
    }

    /// The users that count in a limit, and the part of it that a share of one takes.
    pub fn takes(&self, place: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let limit = &self.limits[place];
        limit.takes.iter().map(|(i, part)| (*i as usize, self.part_of_share(*i as usize, *part)))
    }

    fn part_of_share(&self, user: usize, of_task: f64) -> f64 {
        of_task * self.tasks_per_share[user]
    }

    /// The largest part of these shares that the limits leave, and which of them leaves no more; `None` without limits.
    pub fn least_part(&self, shares: &[f64]) -> Option<(f64, usize)> {
        let taken = |place: usize| {
            let mut sum = Compensated::default();
            self.takes(place).for_each(|(i, part)| sum.add(part * shares[i]));
            sum.value()
        };
        let all = (0..self.len()).map(|place| (taken(place), place));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(taken, place)| (1.0 / taken, place))
    }

    /// Sets the price of a limit among those of all limits of the instance: so much for all of it.
    pub fn price(&self, instance: &Instance, place: usize, of_all: f64, prices: &mut [f64]) {
        let row = self.limits[place].row;
        prices[row] = of_all / instance.limit_rows()[row].amount.to_f64();
    }

    /// The first level from here on at which one of these limits is met that several may share.
    ///
    /// # Errors
    /// If no level is found in doubles.
    pub fn next(
        &self,
        tree: &Tree,
        sides: &Sides,
        from: f64,
        is_met: &[bool],
    ) -> Result<Option<Met>, InstanceError> {
        let waits = |place: &usize| !self.limits[*place].is_ceiling && !is_met[*place];
        let waiting: Vec<usize> = (0..self.len()).filter(waits).collect();
        let mut bracket = Bracket { low: from, ..Bracket::EVERYTHING };
        let mut level = if from > 0.0 { from * (1.0 + 2.0 * PIECE) } else { 1.0 };
        for _ in 0..MOST_PIECES {
            let piece = tree.piece(level, sides);
            let mut roots: Vec<f64> = waiting.iter().map(|place| self.root(*place, &piece)).collect();
            if tree.has_floors() && roots.iter().any(|root| piece.ends_at(*root)) {
                // Who still counts in it may be at its floor: until its part is more a limit that is full holds nobody.
                let after = tree.piece(piece.after(), sides);
                for (place, root) in waiting.iter().zip(&mut roots).filter(|(_, root)| piece.ends_at(**root))
                {
                    if self.rising(*place, &after) == 0.0 {
                        *root = f64::INFINITY;
                    }
                }
            }
            let root = roots.iter().copied().fold(f64::INFINITY, f64::min);
            let is_here = root >= piece.from * (1.0 - PIECE) && root <= piece.to * (1.0 + PIECE);
            if root < f64::INFINITY && (is_here || bracket.is_closed()) {
                let level = root.clamp(piece.from, piece.to).max(from);
                let together = root.max(level) * (1.0 + TOGETHER);
                let limits = waiting.iter().zip(&roots).filter(|(_, root)| **root <= together);
                let limits = limits.map(|(place, _)| *place).collect();
                return Ok(Some(Met { level, limits, piece }));
            }
            if root > piece.to || root == f64::INFINITY {
                bracket.low = bracket.low.max(piece.to);
                if piece.to == f64::INFINITY || root == f64::INFINITY && !tree.has_floors() {
                    return Ok(None);
                }
                // All that count in them may be at their floors for long.
                level = match root < f64::INFINITY {
                    true => bracket.inside(root),
                    false => bracket.inside((2.0 * level).max(piece.to * (1.0 + 2.0 * PIECE))),
                };
            } else {
                bracket.high = piece.from;
                level = bracket.inside(root);
            }
        }
        Err(gives_up())
    }

    /// The level at which a limit is met on the line of a piece; infinite where it never is, nothing where it is passed before.
    fn root(&self, place: usize, piece: &Piece) -> f64 {
        let (mut constant, mut rising) = (Compensated::default(), Compensated::default());
        for (i, part) in self.takes(place) {
            constant.add(part * piece.base[i]);
            rising.add(part * piece.slope[i]);
        }
        match rising.value() > 0.0 {
            true => ((1.0 - constant.value()) / rising.value()).max(0.0),
            false if constant.value() <= 1.0 + PIECE => f64::INFINITY,
            false => 0.0,
        }
    }

    /// How much more of a limit one level takes on a piece.
    fn rising(&self, place: usize, piece: &Piece) -> f64 {
        self.takes(place).map(|(i, part)| part * piece.slope[i]).sum()
    }

    /// Takes from tasks (in the instance's order) what rounding has put above a limit.
    pub fn keep(&self, users: &Population, tasks: &mut [f64]) {
        for limit in &self.limits {
            let position = |i: &u32| users.user_id(*i as usize).0;
            let mut sum = Compensated::default();
            limit.takes.iter().for_each(|(i, part)| sum.add(part * tasks[position(i)]));
            if sum.value() > 1.0 - MARGIN {
                let factor = (1.0 - 2.0 * MARGIN) / sum.value();
                limit.takes.iter().for_each(|(i, _)| tasks[position(i)] *= factor);
            }
        }
    }
}

/// Users that come to a level of their own limits together.
pub(super) struct AtCeilings {
    pub level: f64,
    pub users: Vec<usize>,
}

/// The levels at which these users come to their ceilings, rising, given what all may have at most; none above `most`.
pub(super) fn at_ceilings(
    instance: &Instance,
    users: &Population,
    ceilings: &[f64],
    which: impl Iterator<Item = usize>,
    most: f64,
) -> Vec<AtCeilings> {
    let mut of_users = vec![f64::INFINITY; ceilings.len()];
    ceilings.iter().enumerate().for_each(|(i, ceiling)| of_users[users.user_id(i).0] = *ceiling);
    let tree = FilledTree::new(instance, |user| of_users[user.0]);
    let levels = which.map(|i| (tree.level(users.user_id(i), ceilings[i]), i));
    together(levels.filter(|(level, _)| *level <= most).collect())
}

/// Users and the levels that they come to, by level; what differs by rounding is one.
fn together(mut levels: Vec<(f64, usize)>) -> Vec<AtCeilings> {
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut all: Vec<AtCeilings> = Vec::new();
    for (level, user) in levels {
        match all.last_mut().filter(|last| level <= last.level * (1.0 + TOGETHER)) {
            Some(last) => last.users.push(user),
            None => all.push(AtCeilings { level, users: vec![user] }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_just_inside_the_tolerance_are_one_and_just_outside_two() {
        let met = |apart: f64| -> Vec<Vec<usize>> {
            together(vec![(0.5 * (1.0 + apart), 7), (0.5, 3)]).into_iter().map(|met| met.users).collect()
        };
        assert_eq!(met(0.9 * TOGETHER), [vec![3, 7]]);
        assert_eq!(met(1.1 * TOGETHER), [vec![3], vec![7]]);
    }
}
