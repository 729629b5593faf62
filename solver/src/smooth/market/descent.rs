//! Newton's method on the prices: until what all users load the classes with at their best is what there is.
//!
//! With `C` the capacities, `U(p)` the users' load, and free capacity `u`, a price goes with `u p = μ`, and
//!
//! ```text
//! C − U(p) − u = 0,   so a step is   (−U'(p) + u/p) dp = −(C − U(p)) + μ/p
//! ```
//! Loads jump where users change classes, so this gets as near as a few users' loads; `undecided` does the rest.

use super::demand::{AggregateDemand, aggregate_demand};
use super::users::Users;
use crate::interior_point::{Cholesky, to_bound};
use crate::level::dot;
use crate::smooth::utility::Utility;
use crate::tolerance::market::{AFTER_SAMPLE, CENTRING, FOUND, WORTHLESS};
use fairplan_instances::Deadline;
use nalgebra::DMatrix;

/// Prices on their way.
pub(super) struct Descent<'a> {
    pub users: &'a Users,
    pub utility: Utility,
    pub prices: Vec<f64>,
    /// By what part prices were still changing.
    pub uncertainty: f64,
}

/// Users that a first look takes.
const SAMPLE: usize = 1 << 14;
/// Part of the way to nothing that a price may go in one step.
const TOWARDS_NOTHING: f64 = 0.9;
/// A step is short enough if the slope where it ends is at most this part of the one it began with.
const TURNED: f64 = 0.5;
/// Most steps, and most times that one is shortened.
const MOST: (usize, usize) = (60, 4);

impl<'a> Descent<'a> {
    /// Begins with prices that make every row worth as much, in a unit in which users would spend that much.
    pub fn new(users: &'a Users, alpha: f64) -> Self {
        let prices: Vec<f64> =
            users.classes.capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        let mut descent =
            Self { users, utility: Utility::new(alpha, 0.0), prices, uncertainty: f64::INFINITY };
        let stride = descent.stride();
        let mut costs = vec![0.0; users.class_count()];
        let mut spent = 0.0;
        for i in (0..users.len()).step_by(stride) {
            if let Some(consumer) = users.consumer(i, descent.utility, &descent.prices, &mut costs) {
                let pairs = consumer.costs.iter().zip(consumer.rates).filter(|(_, rate)| **rate > 0.0);
                let price = pairs.map(|(cost, rate)| cost / rate).fold(f64::INFINITY, f64::min);
                spent += stride as f64 * price * descent.utility.demand(consumer.weight, price);
            }
        }
        let worth = dot(&descent.prices, &users.classes.capacities);
        descent.utility = descent.utility.scaled(alpha * (worth / spent).ln());
        descent
    }

    fn stride(&self) -> usize {
        (self.users.len() / SAMPLE).max(1)
    }

    /// Descends with a sample of the users, then with all.
    pub fn run(&mut self, deadline: &Deadline) {
        if self.stride() > 1 {
            self.descend(self.stride(), CENTRING.0, deadline);
        }
        self.descend(1, if self.stride() > 1 { AFTER_SAMPLE } else { CENTRING.0 }, deadline);
    }

    fn demand(&self, stride: usize, prices: &[f64]) -> AggregateDemand {
        aggregate_demand(self.users, stride, self.utility, prices, 0.0)
    }

    fn descend(&mut self, stride: usize, mut centring: f64, deadline: &Deadline) {
        let part = self.users.len().div_ceil(stride) as f64 / self.users.len() as f64;
        let capacities: Vec<f64> = self.users.classes.capacities.iter().map(|c| c * part).collect();
        let rows = capacities.iter().filter(|c| **c > 0.0).count() as f64;
        let prices = self.prices.clone();
        let mut now = self.demand(stride, &prices);
        let mut last = f64::INFINITY;
        for _ in (0..MOST.0).take_while(|_| !deadline.is_over()) {
            let mu = centring * dot(&self.prices, &capacities) / rows;
            let over = excess_supply(&capacities, &now.usage, &self.prices, mu);
            let Some(step) = newton_step(&capacities, &now, &self.prices, mu) else { return };
            let before = -dot(&over, &step);
            let towards_nothing = |length, (p, dp): (&f64, &f64)| to_bound(length, TOWARDS_NOTHING * p, *dp);
            let mut length = self.prices.iter().zip(&step).fold(1.0, towards_nothing);
            self.uncertainty = change(&capacities, &self.prices, &step);
            let mut shortened = 0;
            loop {
                let next: Vec<f64> = self.prices.iter().zip(&step).map(|(p, dp)| p + length * dp).collect();
                let found = self.demand(stride, &next);
                let after = dot(&excess_supply(&capacities, &found.usage, &next, mu), &step);
                if after <= TURNED * before {
                    (self.prices, now) = (next, found);
                    break;
                }
                shortened += 1;
                if shortened > MOST.1 {
                    return;
                }
                length *= (before / (before + after)).clamp(0.1, 0.7);
            }
            let slow = self.uncertainty > 0.5 * last && self.uncertainty < FOUND.1;
            if self.uncertainty < FOUND.0 || slow {
                return;
            }
            last = self.uncertainty;
            centring = (centring * CENTRING.1).max(CENTRING.2);
        }
    }
}

/// The excess supply `C − U − μ/p`, 0 where there is no capacity.
fn excess_supply(capacities: &[f64], usage: &[f64], prices: &[f64], mu: f64) -> Vec<f64> {
    let row = |((c, usage), p): ((&f64, &f64), &f64)| if *c > 0.0 { c - usage - mu / p } else { 0.0 };
    capacities.iter().zip(usage).zip(prices).map(row).collect()
}

fn newton_step(capacities: &[f64], now: &AggregateDemand, prices: &[f64], mu: f64) -> Option<Vec<f64>> {
    let over = excess_supply(capacities, &now.usage, prices, mu);
    let free = |row: usize| (capacities[row] - now.usage[row]).max(mu / prices[row]);
    solve(&now.slope, |row| if capacities[row] > 0.0 { Some(free(row) / prices[row]) } else { None }, &over)
        .map(|step| step.into_iter().map(|dp| -dp).collect())
}

/// Solves `(slope + diag) x = right`; rows without a `diag` are left out.
pub(super) fn solve(slope: &[f64], diag: impl Fn(usize) -> Option<f64>, right: &[f64]) -> Option<Vec<f64>> {
    let rows = right.len();
    let entry = |a: usize, b: usize| match (a == b, diag(a)) {
        (true, Some(diag)) => slope[a * rows + a] + diag,
        (true, None) => 1.0,
        (false, _) => slope[a * rows + b],
    };
    Some(Cholesky::new(DMatrix::from_fn(rows, rows, entry))?.solve(right))
}

/// The largest part by which a step changes the price of a row that is worth something.
pub(super) fn change(capacities: &[f64], prices: &[f64], step: &[f64]) -> f64 {
    let least = WORTHLESS * dot(prices, capacities) / prices.len() as f64;
    let rows = capacities.iter().zip(prices).zip(step).filter(|((c, p), _)| *c * *p > least);
    rows.map(|((_, p), dp)| (dp / p).abs()).fold(0.0, f64::max)
}
