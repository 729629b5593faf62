//! The primal-dual interior-point method of this crate: one loop, to which each problem brings its Newton system.
//!
//! ```text
//! primal  min c·x   A x = b, x >= 0   (y)         dual  max b·y   Aᵀ y + z = c, z >= 0   (x)
//! path    x_i z_i = μ ω_i for every i; at μ = 0 both are solved
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | x, z | primal variables, their reduced costs |
//! | y | multipliers of the rows |
//! | ω | weight of a product `x z` |
//! | μ | mean of the products over their weights |
//! | σ | centring: the part of μ that a step aims at |
//!
//! An iteration (Mehrotra) first looks where the step straight to μ = 0 would lead, the predictor: the less of μ that leaves,
//! the less centring is needed. The corrector aims at σμ and makes up for the second order of the predictor. Primal and
//! dual variables then go their own part of the way to the nearest bound.
//!
//! What `x`, `y` and `z` are, each problem states in its own symbols: a max-min level (`level::interior_point`), a sum over
//! users (`smooth::interior_point`), a level over many quanta (`over_time::interior_point`).

mod cholesky;
mod products;

pub(crate) use cholesky::{Cholesky, zeros};
pub(crate) use products::take_square_away;

use crate::tolerance::interior_point::{LEAST_CENTRING, LOST, SHORTEST_STEP, STEP_PART};
use fairplan_instances::Deadline;

/// The interior-point method as a solver of levels and of sums, which ends by a deadline.
#[derive(Default)]
pub(crate) struct InteriorPoint(pub Deadline);

/// Most steps of one run; a plain problem takes 8 to 30.
const MAX_STEPS: u64 = 150;
/// Steps without half the gap after which a run ends whose gap is still large.
const PATIENCE: u64 = 15;

/// A problem at a point, with the Newton system of its optimality conditions there.
pub(crate) trait NewtonSystem {
    /// What is worked out once for both steps of an iteration.
    type Factors;
    /// A step of what ties the problem together; a problem may keep the rest of it to itself.
    type Step;
    /// The least part of the products that a step aims at.
    const LEAST_CENTRING: f64 = LEAST_CENTRING;
    /// Parts of the way to the nearest bound that a step goes, at least and at most.
    const STEP_PART: (f64, f64) = STEP_PART;

    /// The largest part of the mean products, which are given, that the next step aims at. Less than all is for problems whose
    /// steps are lengthened by further correctors.
    fn most_centring(&mut self, _products: f64) -> f64 {
        1.0
    }

    /// Sets up the system and factors it. `None` when rounding has made that impossible, or time was over before.
    fn factor(&mut self, deadline: &Deadline) -> Option<Self::Factors>;

    /// The predictor, the step to products of zero, and what it would lead to.
    fn predict(&mut self, factors: &Self::Factors) -> (Self::Step, Prediction);

    /// The step to products of `target` times their weights, corrected for the predictor; and how far it can go.
    fn correct(
        &mut self,
        factors: &Self::Factors,
        predictor: Self::Step,
        target: f64,
    ) -> (Self::Step, StepLength);

    /// Goes so far along a step. False, without going, if it is no number.
    fn take(&mut self, step: &Self::Step, reach: StepLength) -> bool;
}

/// A problem whose points can be judged by themselves, whatever the way to them.
pub(crate) trait Iterate: NewtonSystem {
    /// Steps without half the gap after which a run ends whose gap is still large.
    const PATIENCE: u64 = PATIENCE;

    /// How far the present point is from being optimal.
    fn quality(&mut self) -> Quality;

    /// Remembers the present point as the best so far.
    fn keep(&mut self, quality: Quality);
}

/// Mean products: now, and after the longest predictor step.
pub(crate) struct Prediction {
    pub now: f64,
    pub after: f64,
}

/// Parts of a step: of its primal and of its dual variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLength {
    pub primal: f64,
    pub dual: f64,
}

impl StepLength {
    /// Nothing in the way. Longer than a whole step, so that what stays off the bounds can still be a whole one.
    pub const LONGEST: Self = Self { primal: 1.25, dual: 1.25 };

    /// The ratio test: no farther than keeps a variable above zero, of which this is the value and the step.
    pub fn see(&mut self, (x, dx): (f64, f64), (z, dz): (f64, f64)) {
        self.primal = to_bound(self.primal, x, dx);
        self.dual = to_bound(self.dual, z, dz);
    }

    /// The same for many variables.
    pub fn of_all(self, (x, dx): (&[f64], &[f64]), (z, dz): (&[f64], &[f64])) -> Self {
        Self { primal: all_to_bound(self.primal, x, dx), dual: all_to_bound(self.dual, z, dz) }
    }

    /// No farther than either.
    pub fn and(self, other: Self) -> Self {
        Self { primal: self.primal.min(other.primal), dual: self.dual.min(other.dual) }
    }

    /// Longer by so much, but no more than the whole step.
    pub fn longer(self, by: f64) -> Self {
        Self { primal: (self.primal + by).min(1.0), dual: (self.dual + by).min(1.0) }
    }

    /// No more than the whole step, after shortening it to a part.
    pub fn shortened(self, part: f64) -> Self {
        Self { primal: (part * self.primal).min(1.0), dual: (part * self.dual).min(1.0) }
    }
}

/// The ratio test for one variable: the longest step, up to `longest`, that keeps it above zero; none of what is no number.
pub(crate) fn to_bound(longest: f64, x: f64, dx: f64) -> f64 {
    if dx >= 0.0 {
        longest
    } else if dx.is_nan() {
        0.0
    } else {
        longest.min(-x / dx)
    }
}

/// The ratio test for many variables at once.
fn all_to_bound(longest: f64, x: &[f64], dx: &[f64]) -> f64 {
    // The steepest way down, found in four lanes. Rows without capacity stay at zero: 0 / 0 is never larger.
    let steeper = |most: f64, x: f64, dx: f64| if -dx / x > most { -dx / x } else { most };
    let mut lanes = [1.0 / longest; 4];
    let (fours, rest) = x.as_chunks::<4>();
    for (x, dx) in fours.iter().zip(dx.as_chunks::<4>().0) {
        for i in 0..4 {
            lanes[i] = steeper(lanes[i], x[i], dx[i]);
        }
    }
    for (x, dx) in rest.iter().zip(&dx[x.len() - rest.len()..]) {
        lanes[0] = steeper(lanes[0], *x, *dx);
    }
    1.0 / lanes.into_iter().fold(0.0, f64::max)
}

/// How far a point is from being optimal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quality {
    /// The relative gap between primal and dual.
    pub gap: f64,
    /// The widest gap of a part of the problem relative to that part; 0 where that does not matter.
    pub widest: f64,
    /// Whether the products are too small to make that gap: the rest of it is rounding.
    pub rounding: bool,
}

impl Quality {
    pub const UNKNOWN: Self = Self { gap: f64::INFINITY, widest: f64::INFINITY, rounding: false };

    /// Whether one of the two is at most half, and the gap no larger.
    fn halves(self, before: Self) -> bool {
        self.gap < 0.5 * before.gap || self.gap <= before.gap && self.widest < 0.5 * before.widest
    }
}

/// When a run has found what it was to find, or nothing better any more.
#[derive(Clone, Copy)]
pub(crate) struct Stopping {
    /// The gap that is asked for; its root is enough of a part of the problem.
    pub accuracy: f64,
    /// Below this gap rounding takes over: a run ends after so many steps without half of it.
    pub small: (f64, u64),
    /// A gap that is good enough where what is left of it is rounding.
    pub rounded: f64,
}

impl Stopping {
    /// Whether a run whose best point has this gap is worth beginning again from another point.
    pub fn is_lost(self, gap: f64) -> bool {
        gap > LOST.0.max(LOST.1 * self.accuracy)
    }

    fn is_reached(
        self,
        Quality { gap, widest, rounding }: Quality,
        steps_without_halving: u64,
        patience: u64,
    ) -> bool {
        let close_enough =
            gap <= self.accuracy && widest <= self.accuracy.sqrt() || rounding && gap <= self.rounded;
        // What is lost is no answer: rounding or not, it may yet be found again.
        let near_rounding = rounding && !self.is_lost(gap);
        let patience = if near_rounding || gap < self.small.0 { self.small.1 } else { patience };
        close_enough || steps_without_halving >= patience
    }
}

/// Iterates until the best point is as good as asked or none gets better, or time is over. Returns the number of steps.
pub(crate) fn run<P: Iterate>(problem: &mut P, stopping: Stopping, deadline: &Deadline) -> u64 {
    let (mut best, mut halved_at) = (Quality::UNKNOWN, 0);
    for step in 0..MAX_STEPS {
        let quality = problem.quality();
        // Among equals the earlier point is nearer to the path, and tells better what vanishes.
        if quality.halves(best) {
            (best, halved_at) = (quality, step);
            problem.keep(quality);
        }
        let found = Quality { rounding: quality.rounding, ..best };
        let is_done = stopping.is_reached(found, step - halved_at, P::PATIENCE) || deadline.is_over();
        if is_done || advance(problem, deadline).is_none() {
            return step;
        }
    }
    MAX_STEPS
}

/// One iteration: the parts of its step that were taken. `None` when no step can be taken any more, or not in time.
pub(crate) fn advance<S: NewtonSystem>(system: &mut S, deadline: &Deadline) -> Option<StepLength> {
    let factors = system.factor(deadline)?;
    let (predictor, Prediction { now, after }) = system.predict(&factors);
    let centring = (after / now).powi(3).clamp(S::LEAST_CENTRING, system.most_centring(now));
    let (step, longest) = system.correct(&factors, predictor, centring * now);
    let part = (1.0 - after.abs() / now).max(S::STEP_PART.0).min(S::STEP_PART.1);
    let reach = longest.shortened(part);
    let moves = reach.primal > SHORTEST_STEP || reach.dual > SHORTEST_STEP;
    (moves && system.take(&step, reach)).then_some(reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_just_inside_each_tolerance_and_not_just_outside() {
        let stopping = Stopping { accuracy: 1e-14, small: (1e-11, 2), rounded: 0.0 };
        let reached = |gap, widest, steps| {
            stopping.is_reached(Quality { gap, widest, rounding: false }, steps, PATIENCE)
        };
        assert!(reached(0.99e-14, 0.0, 0) && !reached(1.01e-14, 0.0, 0));
        assert!(reached(1e-14, 0.99e-7, 0) && !reached(1e-14, 1.01e-7, 0));
        assert!(reached(0.9e-11, 0.0, 2) && !reached(0.9e-11, 0.0, 1));
        assert!(reached(1.1e-11, 0.0, 15) && !reached(1.1e-11, 0.0, 14));
        let rounded =
            |gap, steps| stopping.is_reached(Quality { gap, widest: 0.0, rounding: true }, steps, PATIENCE);
        assert!(rounded(0.99 * LOST.0, 2) && !rounded(0.99 * LOST.0, 1));
        assert!(rounded(1.01 * LOST.0, 15) && !rounded(1.01 * LOST.0, 14));
        let stopping = Stopping { rounded: 1e-10, ..stopping };
        let enough = |gap, rounding| stopping.is_reached(Quality { gap, widest: 0.0, rounding }, 0, PATIENCE);
        assert!(enough(0.99e-10, true) && !enough(1.01e-10, true) && !enough(0.99e-10, false));
    }

    #[test]
    fn a_run_is_lost_just_outside_the_tolerance_and_not_just_inside() {
        let fine = Stopping { accuracy: 1e-14, small: (1e-11, 2), rounded: 0.0 };
        assert!(fine.is_lost(1.01 * LOST.0) && !fine.is_lost(0.99 * LOST.0));
        let coarse = Stopping { accuracy: 1e-6, ..fine };
        assert!(coarse.is_lost(1.01e-6 * LOST.1) && !coarse.is_lost(0.99e-6 * LOST.1));
        assert!(fine.is_lost(f64::INFINITY));
    }

    #[test]
    fn a_step_goes_to_the_nearest_bound_however_it_is_asked() {
        let (x, dx) = ([1.0, 0.0, 2.0, 4.0, 3.0, 0.5], [-0.5, 0.0, -1.6, 1.0, -6.0, -1.0]);
        assert_eq!(all_to_bound(1.25, &x, &dx), 0.5);
        assert_eq!((0..6).fold(1.25, |longest, i| to_bound(longest, x[i], dx[i])), 0.5);
        assert_eq!(all_to_bound(1.25, &x[..1], &dx[..1]), 1.25);
        assert_eq!((to_bound(1.25, 1.0, f64::NAN), to_bound(1.25, 1.0, f64::NEG_INFINITY)), (0.0, 0.0));
    }
}
