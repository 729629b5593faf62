//! The capacity rows at an iterate, and what a step makes of them.

use super::block::{Aim, Block, Setting, SharedStep};
use super::tally::Travel;
use rayon::prelude::*;

/// The capacity rows at an iterate.
pub(super) struct Rows<'a> {
    pub used: &'a [bool],
    /// The weights of the products `u p`.
    pub weight: &'a [f64],
    /// `c − Σ a ζ − u`.
    pub residual: &'a [f64],
    pub u: &'a [f64],
    pub p: &'a [f64],
}

impl Rows<'_> {
    /// What the aim adds to `u p`, less the product itself.
    fn goal(&self, row: usize, aim: Aim<'_>) -> f64 {
        let (u, p) = (self.u[row], self.p[row]);
        match aim.affine {
            None => -u * p,
            Some(affine) => {
                let dp = affine.p[row];
                let du = -u - u / p * dp;
                aim.target * self.weight[row] - u * p - du * dp
            }
        }
    }

    /// What the rows add to the right-hand sides of the classes.
    pub fn right(&self, aim: Aim<'_>) -> Vec<f64> {
        let right = |row: usize| self.goal(row, aim) / self.p[row] - self.residual[row];
        (0..self.residual.len()).map(|row| if self.used[row] { right(row) } else { 0.0 }).collect()
    }

    pub fn slack_step(&self, row: usize, aim: Aim<'_>, step: &SharedStep) -> f64 {
        (self.goal(row, aim) - self.u[row] * step.p[row]) / self.p[row]
    }

    /// `u/p`; rows without a price are kept out of the step by a unit.
    pub fn diagonal(&self, row: usize) -> f64 {
        if self.used[row] { self.u[row] / self.p[row] } else { 1.0 }
    }

    /// How far a step can go, and where to.
    pub fn travel(
        &self,
        setting: &Setting<'_>,
        blocks: &mut [Block],
        aim: Aim<'_>,
        step: &SharedStep,
        solved: bool,
    ) -> Travel {
        let parts: Vec<Travel> =
            blocks.par_iter_mut().map(|block| block.travel(setting, aim, step, solved)).collect();
        let mut travel = Travel::new();
        parts.iter().for_each(|part| travel.merge(part));
        for row in (0..self.u.len()).filter(|&row| self.used[row]) {
            let du = self.slack_step(row, aim, step);
            travel.see((self.u[row], du), (self.p[row], step.p[row]));
        }
        travel
    }
}
