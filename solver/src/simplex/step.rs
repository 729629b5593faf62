//! Steps from basis to basis: first until no variable is beyond its bounds, then until none is better elsewhere.

use super::basis::{EXCHANGES, Simplex, VariableStatus};
use super::pricing::Pricing;
use crate::linear_program::{Ended, Outcome};
use crate::tolerance::simplex::{ENTRY, GIVEN, MOVED, SOUND, STANDS};
use fairplan_instances::Deadline;

/// Steps without any progress after which bounds are moved apart.
const STUCK: u32 = 20;

/// How often bounds are moved before numbers are returned as they are.
const MOVES: u32 = 40;

/// Steps between two looks at the clock.
const LOOKS: u64 = 32;

/// Steps of one program at most, for each of its rows and columns.
const STEPS: u64 = 200;

impl Simplex {
    /// The optimum, from the basis at hand.
    pub fn solve(&mut self, deadline: &Deadline) -> Outcome {
        self.moved.clone_from(&self.bounds);
        (0..self.place.len())
            .filter(|v| !matches!(self.place[*v], VariableStatus::Basic(_)))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|variable| self.settle(variable));
        let ended = Run::new(self).run(deadline);
        let multipliers = self.multipliers();
        let value = |column: usize| self.value[self.rows + column] * self.column_scale[column];
        let columns: Vec<f64> = (0..self.columns.len()).map(value).collect();
        let costs = self.cost[self.rows..].iter().zip(&self.value[self.rows..]);
        let sum: f64 = costs.map(|(cost, value)| cost * value).sum();
        Outcome { ended, columns, multipliers, value: self.sign * sum, bound: f64::NAN }
    }
}

/// What a step came to.
enum Step {
    Done,
    /// No variable is better elsewhere.
    Nothing,
    /// Something falls for ever.
    Unbounded,
}

struct Run<'a> {
    simplex: &'a mut Simplex,
    pricing: Pricing,
    /// Whether variables beyond their bounds are being brought back.
    first: bool,
    /// Whether no variable is beyond its bounds, once that was looked at.
    is_within: Option<bool>,
    /// Whether reduced costs are those of the factors.
    is_fresh: bool,
    is_moved: bool,
    stuck: u32,
    moves: u32,
    /// Variables that had no sound pivot at this basis.
    is_barred: Vec<bool>,
    barred: usize,
}

impl<'a> Run<'a> {
    pub fn new(simplex: &'a mut Simplex) -> Self {
        let variables = simplex.place.len();
        if simplex.is_factored && simplex.factor.exchanges() == 0 {
            simplex.value_basis();
        } else {
            simplex.factorise();
        }
        Self {
            simplex,
            pricing: Pricing::new(variables),
            first: false,
            is_within: None,
            is_fresh: false,
            is_moved: false,
            stuck: 0,
            moves: 0,
            is_barred: vec![false; variables],
            barred: 0,
        }
    }

    pub fn run(mut self, deadline: &Deadline) -> Ended {
        let most = STEPS * (self.simplex.place.len() as u64 + 100);
        for step in 0..most {
            if step % LOOKS == 0 && deadline.is_over() {
                return Ended::OutOfTime;
            }
            if self.simplex.factor.exchanges() >= EXCHANGES {
                self.factorise();
            }
            match self.step() {
                Step::Done => {}
                _ if !self.is_fresh || self.barred > 0 => {
                    let again = self.barred > 0 && self.is_fresh && self.simplex.factor.exchanges() == 0;
                    self.unbar();
                    if again {
                        return self.ended(Ended::Undecided);
                    }
                    self.factorise();
                }
                Step::Nothing if self.is_moved => self.move_back(),
                Step::Nothing if self.first => return Ended::Infeasible,
                Step::Nothing => return Ended::Optimal,
                Step::Unbounded => return Ended::Otherwise("unbounded".into()),
            }
        }
        self.ended(Ended::Undecided)
    }

    fn ended(mut self, ended: Ended) -> Ended {
        if self.is_moved {
            self.move_back();
        }
        ended
    }

    fn unbar(&mut self) {
        if self.barred > 0 {
            self.is_barred.fill(false);
            self.barred = 0;
        }
    }

    fn factorise(&mut self) {
        self.simplex.factorise();
        self.is_within = None;
        self.is_fresh = false;
    }

    fn move_back(&mut self) {
        let simplex = &mut *self.simplex;
        simplex.moved.clone_from(&simplex.bounds);
        for variable in 0..simplex.place.len() {
            if !matches!(simplex.place[variable], VariableStatus::Basic(_)) {
                simplex.settle(variable);
            }
        }
        self.is_moved = false;
        self.stuck = 0;
        self.factorise();
    }

    /// Moves the bounds on which basic variables stand apart, each by another little.
    fn move_apart(&mut self) {
        let simplex = &mut *self.simplex;
        for variable in simplex.basis.iter().map(|variable| *variable as usize) {
            let (least, most) = simplex.moved[variable];
            let value = simplex.value[variable];
            // A fixed sequence that looks like chance: the same program takes the same steps.
            simplex.draws =
                simplex.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let by =
                MOVED * (1.0 + (simplex.draws >> 40) as f64 / (1u64 << 24) as f64) * value.abs().max(1.0);
            if (value - least).abs() <= simplex.primal {
                simplex.moved[variable].0 = least - by;
            } else if (value - most).abs() <= simplex.primal {
                simplex.moved[variable].1 = most + by;
            }
        }
        self.is_moved = true;
        self.moves += 1;
        self.stuck = 0;
    }

    /// By how much a variable is below its bounds, above them if more than zero.
    fn beyond(simplex: &Simplex, variable: usize) -> f64 {
        let (least, most) = simplex.moved[variable];
        let value = simplex.value[variable];
        if value < least - simplex.primal * least.abs().max(1.0) {
            value - least
        } else if value > most + simplex.primal * most.abs().max(1.0) {
            value - most
        } else {
            0.0
        }
    }

    fn step(&mut self) -> Step {
        let simplex = &*self.simplex;
        let is_within = |simplex: &Simplex| {
            simplex.basis.iter().all(|variable| Self::beyond(simplex, *variable as usize) == 0.0)
        };
        let first = !*self.is_within.get_or_insert_with(|| is_within(simplex));
        if first != self.first {
            self.is_fresh = false;
            self.first = first;
        }
        if first {
            let cost = |variable: usize| match simplex.place[variable] {
                VariableStatus::Basic(_) => match Self::beyond(simplex, variable) {
                    0.0 => 0.0,
                    beyond => beyond.signum(),
                },
                _ => 0.0,
            };
            self.pricing.refresh(simplex, cost);
            self.is_fresh = simplex.factor.exchanges() == 0;
        } else if !self.is_fresh && simplex.factor.exchanges() == 0 {
            self.pricing.refresh(simplex, |variable| simplex.cost[variable]);
            self.is_fresh = true;
        } else if !self.is_fresh {
            self.factorise();
            return Step::Done;
        }
        let Some((entering, rises)) = self.pricing.entering(simplex, first, &self.is_barred) else {
            self.is_fresh &= simplex.factor.exchanges() == 0;
            return Step::Nothing;
        };
        self.enter(entering, rises)
    }

    fn enter(&mut self, entering: usize, rises: bool) -> Step {
        let simplex = &mut *self.simplex;
        let mut vector = vec![0.0; simplex.rows];
        let mut along = vec![0.0; simplex.rows];
        simplex.scatter(entering, 1.0, &mut vector);
        simplex.factor.solve(&mut vector, &mut along);
        let direction = if rises { 1.0 } else { -1.0 };
        let (least, most) = simplex.moved[entering];
        let moving: Vec<usize> = (0..along.len()).filter(|position| along[*position] != 0.0).collect();
        let (length, leaves) = match Self::blocking(simplex, &along, &moving, direction, self.first) {
            Some((length, _)) if length >= most - least => (most - least, None),
            Some((length, position)) => (length, Some(position)),
            None if (most - least).is_finite() => (most - least, None),
            None if self.first => {
                self.is_barred[entering] = true;
                self.barred += 1;
                return Step::Done;
            }
            None => {
                self.is_fresh &= simplex.factor.exchanges() == 0;
                return Step::Unbounded;
            }
        };
        if let Some(position) = leaves
            && along[position].abs() < SOUND
            && simplex.factor.exchanges() > 0
        {
            self.factorise();
            return Step::Done;
        }
        if let Some(position) = leaves
            && along[position].abs() < ENTRY
        {
            self.is_barred[entering] = true;
            self.barred += 1;
            return Step::Done;
        }
        let gain = self.pricing.reduced[entering].abs() * length;
        self.stuck = if length <= STANDS && gain <= STANDS { self.stuck + 1 } else { 0 };
        for position in &moving {
            simplex.value[simplex.basis[*position] as usize] -= direction * length * along[*position];
        }
        simplex.value[entering] += direction * length;
        // Nobody else moved.
        let mut moved = moving.iter().map(|position| simplex.basis[*position] as usize).chain([entering]);
        self.is_within = (!self.first).then(|| moved.all(|variable| Self::beyond(simplex, variable) == 0.0));
        match leaves {
            None => {
                simplex.place[entering] = if rises { VariableStatus::Upper } else { VariableStatus::Lower };
                simplex.settle(entering);
            }
            Some(position) => {
                let leaving = simplex.basis[position] as usize;
                self.pricing.exchange(simplex, position, entering, leaving);
                let (least, most) = simplex.moved[leaving];
                let value = simplex.value[leaving];
                let is_above = (value - most).abs() < (value - least).abs();
                simplex.place[leaving] = if is_above { VariableStatus::Upper } else { VariableStatus::Lower };
                simplex.settle(leaving);
                simplex.basis[position] = entering as u32;
                simplex.place[entering] = VariableStatus::Basic(position as u32);
                simplex.factor.exchange(position, &along);
                self.unbar();
            }
        }
        if self.stuck > STUCK && self.moves < MOVES {
            self.move_apart();
        }
        Step::Done
    }

    /// How far the step goes, and whose bound ends it: of those that end it at about the same length the one with the largest pivot.
    fn blocking(
        simplex: &Simplex,
        along: &[f64],
        moving: &[usize],
        direction: f64,
        first: bool,
    ) -> Option<(f64, usize)> {
        let bound_of = |position: usize| -> Option<(f64, f64)> {
            let variable = simplex.basis[position] as usize;
            let speed = -direction * along[position];
            if speed.abs() <= ENTRY {
                return None;
            }
            let (least, most) = simplex.moved[variable];
            let value = simplex.value[variable];
            let beyond = if first { Self::beyond(simplex, variable) } else { 0.0 };
            let room = if speed > 0.0 {
                // From below its bounds it passes the first on its way.
                if beyond > 0.0 { return None } else { most - value }
            } else if beyond < 0.0 {
                return None;
            } else {
                value - least
            };
            room.is_finite().then_some((room, speed.abs()))
        };
        let mut longest = f64::INFINITY;
        for &position in moving {
            if let Some((room, speed)) = bound_of(position) {
                longest = longest.min((room + GIVEN * simplex.primal).max(0.0) / speed);
            }
        }
        let mut best: Option<(f64, f64, usize)> = None;
        for &position in moving {
            if let Some((room, speed)) = bound_of(position)
                && room.max(0.0) / speed <= longest
                && best.is_none_or(|(most, ..)| speed > most)
            {
                best = Some((speed, room.max(0.0) / speed, position));
            }
        }
        let held = best.map(|(_, length, position)| (length, position));
        if !first {
            return held;
        }
        // The last of those that come back within their bounds.
        let mut last: Option<(f64, usize)> = None;
        for &position in moving {
            let variable = simplex.basis[position] as usize;
            let (beyond, speed) = (Self::beyond(simplex, variable), -direction * along[position]);
            if speed.abs() > ENTRY && beyond * speed < 0.0 {
                let length = beyond.abs() / speed.abs();
                if last.is_none_or(|(most, _)| length > most) {
                    last = Some((length, position));
                }
            }
        }
        match (held, last) {
            (Some(held), Some(last)) => Some(if last.0 < held.0 { last } else { held }),
            (held, last) => held.or(last),
        }
    }
}
