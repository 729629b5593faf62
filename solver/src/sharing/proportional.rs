//! Proportional fairness by its prices: with a part `f_k` of the transactions in class `k` and prices `q` that sum to 1,
//! a transaction works at the rate `1 / (n a_k·q)` (MRF eq. 3).
//!
//! The prices are the smallest point of `Σ_j q_j − Σ_k f_k ln(a_k·q)` over `q >= 0`. With `load_j = Σ_k f_k a_kj / a_k·q`
//! its conditions are `load_j <= 1`, and `load_j = 1` where `q_j > 0`: a primal-dual interior point method in as many
//! unknowns as there are resources, which converges quadratically. The conditions are checked before rates are returned.

use super::parts::{Parts, uncertified};
use crate::interior_point::to_bound;
use crate::tolerance::sharing::{COMPLEMENTARY, FOUND, NEVER_ALL, RESIDUAL, RIDGE};
use fairplan_instances::{InstanceError, Objective, Sharing};

/// Most steps; about ten are usual.
const STEPS: usize = 100;

/// Each step aims at this part of the complementarity that is left, less as it gets small.
const SHRINK: f64 = 0.1;

/// A step goes this part of the way to where a price or a slack would be zero, or all but the complementarity that is
/// left, but never all of it.
const TO_BOUNDARY: f64 = 0.99;

pub(super) struct Proportional {
    parts: Parts,
    fractions: Vec<f64>,
    prices: Vec<f64>,
    slacks: Vec<f64>,
    loads: Vec<f64>,
    matrix: Vec<f64>,
    step: Vec<f64>,
}

impl Proportional {
    pub fn new(parts: Parts) -> Self {
        let m = parts.resources;
        Self {
            fractions: vec![0.0; parts.classes()],
            prices: vec![0.0; m],
            slacks: vec![0.0; m],
            loads: vec![0.0; m],
            matrix: vec![0.0; m * m],
            step: vec![0.0; m],
            parts,
        }
    }

    /// What a unit of work of class `k` costs.
    fn cost(&self, k: usize) -> f64 {
        self.parts.of(k).iter().zip(&self.prices).map(|(part, price)| part * price).sum()
    }

    /// The loads at the prices, and minus their derivatives.
    fn linearise(&mut self) {
        self.loads.fill(0.0);
        self.matrix.fill(0.0);
        for k in (0..self.fractions.len()).filter(|k| self.fractions[*k] > 0.0) {
            let inverse = 1.0 / self.cost(k);
            let amount = self.fractions[k] * inverse;
            let parts = self.parts.of(k);
            for (j, part) in parts.iter().enumerate() {
                self.loads[j] += amount * part;
                for (i, other) in parts[..=j].iter().enumerate() {
                    self.matrix[j * parts.len() + i] += amount * inverse * part * other;
                }
            }
        }
    }

    /// One step towards a smaller complementarity.
    fn advance(&mut self, complementarity: f64) {
        let target = complementarity * SHRINK.min(complementarity);
        let to_boundary = TO_BOUNDARY.max(1.0 - complementarity).min(NEVER_ALL);
        let m = self.prices.len();
        let largest = (0..m).map(|j| self.matrix[j * m + j]).fold(0.0, f64::max);
        for j in 0..m {
            self.matrix[j * m + j] += self.slacks[j] / self.prices[j] + RIDGE * largest;
            self.step[j] = target / self.prices[j] - (1.0 - self.loads[j]);
        }
        // What the slacks must follow: 1 - load + H dq, with the multiple of dq taken back from the diagonal.
        solve(&mut self.matrix, &mut self.step);
        let (mut length, mut slack_steps) = (1.0f64, [0.0; 64]);
        for j in 0..m {
            let slack = self.slacks[j];
            let change = (target - slack * self.step[j]) / self.prices[j] - slack;
            slack_steps[j] = change;
            for (at, by) in [(self.prices[j], self.step[j]), (slack, change)] {
                length = to_bound(length, to_boundary * at, by);
            }
        }
        for j in 0..m {
            self.prices[j] += length * self.step[j];
            self.slacks[j] += length * slack_steps[j];
        }
    }
}

/// Solves `matrix · x = right` in place; the lower triangle of a positive definite matrix, row-major.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let m = right.len();
    for j in 0..m {
        for i in 0..=j {
            let inner: f64 = (0..i).map(|c| matrix[j * m + c] * matrix[i * m + c]).sum();
            let rest = matrix[j * m + i] - inner;
            matrix[j * m + i] =
                if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / matrix[i * m + i] };
        }
        let inner: f64 = (0..j).map(|c| matrix[j * m + c] * right[c]).sum();
        right[j] = (right[j] - inner) / matrix[j * m + j];
    }
    for j in (0..m).rev() {
        let inner: f64 = (j + 1..m).map(|c| matrix[c * m + j] * right[c]).sum();
        right[j] = (right[j] - inner) / matrix[j * m + j];
    }
}

impl Sharing for Proportional {
    fn rates(&mut self, counts: &[u32], rates: &mut [f64]) -> Result<(), InstanceError> {
        rates.fill(0.0);
        let all: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        if all == 0.0 {
            return Ok(());
        }
        for (fraction, count) in self.fractions.iter_mut().zip(counts) {
            *fraction = f64::from(*count) / all;
        }
        let m = self.prices.len();
        self.prices.fill(1.0 / m as f64);
        self.linearise();
        for (slack, load) in self.slacks.iter_mut().zip(&self.loads) {
            *slack = (1.0 - load).max(0.1);
        }
        for _ in 0..STEPS {
            let products = self.prices.iter().zip(&self.slacks).map(|(price, slack)| price * slack);
            let complementarity = products.clone().sum::<f64>() / m as f64;
            let residual =
                self.slacks.iter().zip(&self.loads).map(|(slack, load)| (1.0 - load - slack).abs());
            if products.fold(0.0, f64::max) <= COMPLEMENTARY && residual.fold(0.0, f64::max) <= RESIDUAL {
                break;
            }
            self.advance(complementarity);
            self.linearise();
        }
        let over = self.loads.iter().copied().fold(1.0, f64::max);
        let idle = self.prices.iter().zip(&self.loads).map(|(price, load)| price * (1.0 - load).max(0.0));
        // The largest of numbers overlooks those that are none.
        let is_known = self.loads.iter().all(|load| load.is_finite());
        let missed = if is_known { idle.fold(over - 1.0, f64::max) } else { f64::INFINITY };
        if missed > FOUND {
            return Err(uncertified(Objective::ProportionalFairness, counts, missed));
        }
        for k in (0..counts.len()).filter(|k| counts[*k] > 0) {
            rates[k] = 1.0 / (all * over * self.cost(k));
        }
        Ok(())
    }
}
