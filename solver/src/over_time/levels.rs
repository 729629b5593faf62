//! The levels, one after the other: who rises, who is held at what it has, and who runs all its tasks.
//!
//! A user has at least `clamp(θ − base, least, most)` at level `θ`: nothing more once all its tasks run, and no less than
//! it is guaranteed. The level is the largest `θ` at which all can have that, which is found from above: with the roles
//! that users have at some `θ`, the prices of a linear program bound the true level, and the next `θ` is that bound
//! (Newton's method on a concave function, a few steps). The bound holds for any prices, so all but the last of these
//! programs are left as soon as their bound is clear.

mod freezing;

use super::interior_point::{Point, Role, Snapshot};
use super::problem::{Member, Problem, Quantum};
use super::simplex;
use crate::interior_point::advance;
use crate::tolerance::over_time::{CLOSE, FREEZING, GOAL, HARDLY, MISSED, NEAR, SAME};
use fairplan_instances::{Deadline, TaskLevel};
use freezing::Frozen;

/// What users have from elsewhere, and from here at least and at most: weighted dominant shares.
pub(super) struct Asked {
    pub base: Vec<f64>,
    pub least: Vec<f64>,
    pub most: Vec<f64>,
    /// Whether every level is to be proved by its own prices, users by their multipliers.
    pub proved: bool,
}

/// What came of it.
pub(super) struct Outcome {
    /// By quantum the tasks of each of its entries on each class.
    pub tasks: Vec<Vec<f64>>,
    /// Prices are of whole classes.
    pub levels: Vec<TaskLevel>,
    pub iterations: usize,
    /// The widest gap that was left, in parts of a level; infinite where levels are missing.
    pub gap: f64,
}

/// Most iterations from one start, of which a third is usual; and starts, two for each penalty.
const MAX_ITERATIONS: usize = 120;
const TRIES: usize = 8;
/// The try that is the simplex method's, where there are at most so many pairs of a demand and a class; and most of its programs.
const BY_SIMPLEX: usize = 2;
const PAIRS_FOR_SIMPLEX: usize = 5_000;
const MAX_PROGRAMS: usize = 40;
/// A point is left that goes less than this part of so many steps in a row.
const SLOW: f64 = 0.01;
const MAX_SLOW: usize = 10;
/// The first penalty for what is missing of a share, in parts of the level's own multipliers; and the last.
const PENALTIES: (f64, f64) = (1e2, 1e8);

/// What is known of a user.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// Frozen with this much from here.
    Frozen(f64),
}

impl State {
    /// What the user is frozen with.
    fn share(self) -> f64 {
        match self {
            Self::Open => 0.0,
            Self::Frozen(share) => share,
        }
    }
}

/// Raises the levels until everybody has its last, or the time is over.
pub(super) fn lexicographic(problem: &Problem, asked: &Asked, deadline: &Deadline) -> Outcome {
    let users = problem.users.len();
    let idle = |user: usize| asked.most[user] <= 0.0;
    let mut state: Vec<State> =
        (0..users).map(|user| if idle(user) { State::Frozen(0.0) } else { State::Open }).collect();
    let mut outcome = Outcome { tasks: problem.nothing(), levels: Vec::new(), iterations: 0, gap: 0.0 };
    let all = problem.most();
    let is_small = problem.pairs() <= PAIRS_FOR_SIMPLEX;
    let mut penalty = PENALTIES.0;
    while state.contains(&State::Open) {
        if deadline.is_over() {
            outcome.gap = f64::INFINITY;
            break;
        }
        let mut search = Search::new(problem, asked, &state, &all, deadline);
        let pooled = pooled_bound(&search);
        let mut best: Option<(f64, Frozen)> = None;
        for attempt in 0..TRIES {
            let by_simplex = attempt == BY_SIMPLEX && is_small;
            search.every_row = by_simplex || attempt % 2 == 1;
            // Not from where the last try ended: its bound may be lost in rounding.
            let mut upper = pooled;
            let mut point = Point::new(problem, search.roles(upper), search.scale(upper), penalty);
            let gap = match by_simplex {
                true => search.solve_by_simplex(&mut point, &mut upper, penalty),
                false => search.solve(&mut point, &mut upper, &mut outcome.iterations),
            };
            let solved = search.finish(&point, upper);
            // What is short of rounding counts as it runs, not as the point has it, which may overload what there is.
            let mut gap = gap.max(search.short(&problem.work(&solved.tasks), upper));
            if asked.proved {
                gap = gap.max((solved.bound - upper) / search.scale(upper));
                let told = solved.left < FREEZING && (by_simplex || !is_small || !solved.is_light);
                gap = gap.max(if told { 0.0 } else { CLOSE * solved.left.max(1.0) });
            }
            if best.as_ref().is_none_or(|(least, _)| gap <= *least) {
                best = Some((gap, solved));
            }
            if gap < CLOSE || deadline.is_over() {
                break;
            }
            let spent = |user: usize| {
                let missing = match point.role(user) {
                    Role::Full(all) => all - point.work[user],
                    _ => point.missing[user],
                };
                point.y[user] > 0.5 * penalty && missing > MISSED * search.scale(upper)
            };
            if !by_simplex && search.every_row && (0..users).any(spent) && penalty < PENALTIES.1 {
                penalty *= 100.0;
            }
        }
        let Some((gap, solved)) = best else { break };
        outcome.gap = outcome.gap.max(gap);
        let Frozen { level, frozen, tasks, .. } = solved;
        outcome.tasks = tasks;
        frozen.into_iter().for_each(|(user, share)| state[user] = State::Frozen(share));
        outcome.levels.extend(level);
    }
    outcome
}

/// A bound on the level from the pools of all resources: in no quantum is more of one used than there is, or than all
/// tasks need.
fn pooled_bound(search: &Search<'_>) -> f64 {
    let problem = search.problem;
    let bound = |r: usize| {
        // What a share costs where it costs least.
        let cost = |user: &Member| {
            let of_slot = |slot: usize| {
                let part = problem.part[user.classes[slot] * problem.resources + r];
                user.loads(slot, problem.resources)[r] * part / user.gain[slot]
            };
            let least = (0..user.classes.len()).map(of_slot).fold(f64::INFINITY, f64::min);
            if least.is_finite() { least } else { 0.0 }
        };
        let cost: Vec<f64> = problem.users.iter().map(cost).collect();
        let used = |quantum: &Quantum| -> f64 {
            let needs = quantum.users.iter().zip(&quantum.limit);
            needs.map(|(user, limit)| cost[*user] * limit * problem.users[*user].best_gain()).sum()
        };
        let all: f64 = problem.quanta.iter().map(|quantum| used(quantum).min(1.0)).sum();
        let open = (0..cost.len()).filter(|user| search.state[*user] == State::Open);
        match open.map(|user| cost[user]).fold(0.0, f64::max) {
            // What is frozen may come to a rounding more than there is: that says nothing of those who need none of it.
            0.0 => f64::INFINITY,
            _ => search.bounded(&cost, all, f64::MAX),
        }
    };
    (0..problem.resources).map(bound).fold(f64::INFINITY, f64::min)
}

/// A search for a level.
struct Search<'a> {
    problem: &'a Problem,
    asked: &'a Asked,
    state: &'a [State],
    /// What each user would have if all its tasks ran where they give most.
    all: &'a [f64],
    /// Whether even those who run all their tasks have a row of their own: another way where the first is lost in
    /// rounding.
    every_row: bool,
    /// A tenth of what a user could have from here at most: rises by much less are not told apart.
    unit: f64,
    deadline: &'a Deadline,
}

/// The gap at a point and the bound on the level that it is a gap to, in a search where none was smaller.
struct Best {
    gap: f64,
    upper: f64,
    /// Kept when the gap is small.
    point: Option<Snapshot>,
}

impl<'a> Search<'a> {
    fn new(
        problem: &'a Problem,
        asked: &'a Asked,
        state: &'a [State],
        all: &'a [f64],
        deadline: &'a Deadline,
    ) -> Self {
        let alone = |member: &Member| -> f64 {
            member.alone.iter().zip(&member.gain).map(|(tasks, gain)| tasks * gain).sum()
        };
        let quanta = problem.quanta.len() as f64;
        let could = problem.users.iter().zip(&asked.most).map(|(user, most)| most.min(quanta * alone(user)));
        let unit = 0.1 * could.fold(0.0, f64::max);
        Self { problem, asked, state, all, deadline, every_row: false, unit }
    }

    /// What a user has from here at least, at a level.
    fn due(&self, user: usize, level: f64) -> f64 {
        match self.state[user] {
            State::Frozen(share) => share,
            State::Open => {
                (level - self.asked.base[user]).max(self.asked.least[user]).min(self.asked.most[user])
            }
        }
    }

    /// What everybody's role is at a level.
    fn roles(&self, level: f64) -> Vec<Role> {
        let role = |user: usize| {
            let (base, due) = (self.asked.base[user], self.due(user, level));
            let rises = self.state[user] == State::Open
                && level - base > self.asked.least[user]
                && level - base < self.asked.most[user];
            match due {
                _ if rises => Role::Rising { base },
                due if due > 0.0 && due >= self.all[user] && !self.every_row => Role::Full(due),
                due if due > 0.0 => Role::Held(due),
                _ => Role::Idle,
            }
        };
        (0..self.state.len()).map(role).collect()
    }

    /// How much of a level is decided here.
    fn scale(&self, level: f64) -> f64 {
        let lowest = self.lowest(|user| self.asked.base[user]);
        let least =
            if self.asked.base.iter().any(|base| *base > 0.0) { self.unit } else { f64::MIN_POSITIVE };
        (level - lowest).max(least)
    }

    /// The least of a quantity of the open users.
    fn lowest(&self, of: impl Fn(usize) -> f64) -> f64 {
        let open = (0..self.state.len()).filter(|user| self.state[*user] == State::Open);
        open.map(of).fold(f64::INFINITY, f64::min)
    }

    /// Closes the gap between a point and the bound `upper` on the level, which falls on the way. Returns what is left
    /// of the gap.
    fn solve(&self, point: &mut Point<'_>, upper: &mut f64, iterations: &mut usize) -> f64 {
        let mut best = Best { gap: f64::INFINITY, upper: *upper, point: None };
        let mut slow = 0;
        for _ in 0..MAX_ITERATIONS {
            let y = point.multipliers();
            let bound = point.bound(&y);
            if !bound.is_finite() {
                break;
            }
            *upper = self.bounded(&y, bound, *upper);
            let found = self.gap_as_held(point, &y, bound, *upper);
            if found.gap <= GOAL {
                *upper = found.upper;
                return found.gap;
            }
            // Rounding takes over where the last digits are.
            if found.gap < best.gap {
                let point = (found.gap < NEAR).then(|| point.snapshot());
                best = Best { point, ..found };
            } else if best.gap < CLOSE && found.gap > 100.0 * best.gap {
                break;
            }
            point.go_on(self.roles(*upper));
            match advance(point, self.deadline) {
                Some(reach) => slow = if reach.primal.max(reach.dual) < SLOW { slow + 1 } else { 0 },
                None => break,
            }
            if slow == MAX_SLOW {
                break;
            }
            *iterations += 1;
        }
        if let Some(snapshot) = best.point {
            point.restore(snapshot);
            *upper = best.upper;
        }
        best.gap
    }

    /// The same by linear programs, one for each set of roles.
    fn solve_by_simplex(&self, point: &mut Point<'a>, upper: &mut f64, penalty: f64) -> f64 {
        let mut gap = f64::INFINITY;
        for _ in 0..MAX_PROGRAMS {
            let roles = self.roles(*upper);
            let Some(found) = simplex::level(self.problem, &roles, *upper, self.deadline) else { break };
            *point = Point::new(self.problem, roles, self.scale(*upper), penalty);
            point.restore(found);
            let y = point.multipliers();
            let bound = point.bound(&y);
            if !bound.is_finite() {
                break;
            }
            let before = *upper;
            let bounded = self.bounded(&y, bound, before);
            // What everybody has is no more than the level, whatever is lost in rounding.
            let has_all =
                (0..y.len()).all(|user| point.missing[user] <= GOAL * point.role(user).due(0.0).max(0.0));
            let bounded = if has_all { bounded.max(point.level.min(before)) } else { bounded };
            let found = self.gap_as_held(point, &y, bound, bounded);
            (gap, *upper) = (found.gap, found.upper);
            if gap <= GOAL || *upper >= before {
                break;
            }
        }
        gap
    }

    /// The most that anybody who has so much lacks of what is due to it at a level. (A point's roles do not say that: at
    /// a lower level than theirs, users may be due what they are guaranteed instead of rising.)
    fn lacking(&self, work: &[f64], level: f64) -> f64 {
        (0..work.len()).map(|user| self.due(user, level) - work[user]).fold(0.0, f64::max)
    }

    /// The largest part that somebody who has so much lacks: of the level, or of what it is held at, be it all its tasks.
    fn short(&self, work: &[f64], level: f64) -> f64 {
        let part = |user: usize| {
            let due = self.due(user, level);
            let rises = self.state[user] == State::Open && due < self.asked.most[user];
            (due - work[user]) / if rises { self.scale(level) } else { due.max(f64::MIN_POSITIVE) }
        };
        (0..work.len()).map(part).fold(0.0, f64::max)
    }

    /// The gap to the bound, in parts of the level. Where users who are held have a hair more than they are held at, which
    /// rounding leaves them, the bound may be the one for what they have.
    fn gap_as_held(&self, point: &Point<'_>, y: &[f64], bound: f64, upper: f64) -> Best {
        let scale = self.scale(upper);
        let gap = self.lacking(&point.work, upper) / scale;
        let frozen = (0..y.len()).filter_map(|user| match self.state[user] {
            State::Frozen(share) if y[user] > 0.0 => Some((y[user], (point.work[user] - share).max(0.0))),
            _ => None,
        });
        let (most, worth) =
            frozen.fold((0.0_f64, 0.0), |(most, worth), (y, more)| (most.max(more), worth + y * more));
        let as_held = self.bounded(y, bound - worth, upper);
        let gap_as_held = most.max(self.lacking(&point.work, as_held)) / scale;
        match gap_as_held < gap {
            true => Best { gap: gap_as_held, upper: as_held, point: None },
            false => Best { gap, upper, point: None },
        }
    }

    /// The largest level up to `most` at which what is due, weighed by `y`, is at most `bound`.
    fn bounded(&self, y: &[f64], bound: f64, most: f64) -> f64 {
        let due = |level: f64| -> f64 { (0..y.len()).map(|user| y[user] * self.due(user, level)).sum() };
        let highest = (0..y.len()).filter(|user| self.state[*user] == State::Open);
        let highest = highest.map(|user| self.asked.base[user] + self.asked.most[user]).fold(0.0, f64::max);
        let most = most.min(highest);
        if due(most) <= bound {
            return self.where_somebody_rises(most);
        }
        // What nobody has to rise for can be had; somebody is to rise.
        let had = self.lowest(|user| self.asked.base[user] + self.asked.least[user]);
        let (mut low, mut high) = (had, most);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if due(middle) <= bound { low = middle } else { high = middle }
        }
        self.where_somebody_rises(high.max((had + HARDLY * self.unit).min(most)))
    }

    /// The level, or the next below it at which somebody rises: between those whose tasks have all run and those who have
    /// more already, what is due stays the same, and nothing would tell how far the level goes.
    fn where_somebody_rises(&self, level: f64) -> f64 {
        let open = (0..self.state.len()).filter(|user| self.state[*user] == State::Open);
        let ranges: Vec<(f64, f64)> = open
            .map(|user| {
                (
                    self.asked.base[user] + self.asked.least[user],
                    self.asked.base[user] + self.asked.most[user],
                )
            })
            .collect();
        if ranges.iter().any(|(from, top)| *from < level && level < *top) {
            return level;
        }
        let highest = ranges.into_iter().filter(|(_, top)| *top <= level).max_by(|a, b| a.1.total_cmp(&b.1));
        highest.map_or(level, |(from, top)| top - (SAME * self.scale(top)).min(0.5 * (top - from)))
    }
}
