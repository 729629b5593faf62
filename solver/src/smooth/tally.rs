//! What blocks add up over their groups: right-hand sides, how far a step can go, what a point loses.

use crate::interior_point::StepLength;

/// What the groups of a block add to the right-hand sides, and to the level's row and column.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    pub right: Vec<f64>,
    /// `Σ r y e − Σ r (…)`: what the level's row still asks for once the groups are eliminated.
    pub missing: f64,
    /// `Σ r k / Ẽ` and `Σ r² / Ẽ`.
    pub column: Vec<f64>,
    pub pivot: f64,
}

impl Folded {
    pub fn new(rows: usize) -> Self {
        Self { right: vec![0.0; rows], missing: 0.0, column: vec![0.0; rows], pivot: 0.0 }
    }

    pub fn add(&mut self, other: &Self) {
        self.right.iter_mut().zip(&other.right).for_each(|(sum, x)| *sum += x);
        self.column.iter_mut().zip(&other.column).for_each(|(sum, x)| *sum += x);
        self.missing += other.missing;
        self.pivot += other.pivot;
    }
}

/// How far a step can go, and the sums of the products `x z`, `dx z`, `x dz` and `dx dz`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Travel {
    pub reach: StepLength,
    pub products: [f64; 4],
}

impl Travel {
    pub fn new() -> Self {
        Self { reach: StepLength::LONGEST, products: [0.0; 4] }
    }

    /// Takes a primal variable with its dual into account.
    pub fn see(&mut self, (x, dx): (f64, f64), (z, dz): (f64, f64)) {
        self.reach.see((x, dx), (z, dz));
        let products = [x * z, dx * z, x * dz, dx * dz];
        self.products.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }

    pub fn merge(&mut self, other: &Self) {
        self.reach = self.reach.and(other.reach);
        self.products.iter_mut().zip(other.products).for_each(|(sum, product)| *sum += product);
    }

    /// The sum of the products after so much of the step.
    pub fn products_after(&self, StepLength { primal, dual }: StepLength) -> f64 {
        let [now, with_dx, with_dz, with_both] = self.products;
        now + primal * with_dx + dual * with_dz + primal * dual * with_both
    }
}

/// What a point loses against the optimum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// Complementarity, and what works out of line with their multipliers lose.
    pub loss: f64,
    /// `Σ y v`.
    pub worth: f64,
    /// The largest loss of a group in parts of its own worth.
    pub widest: f64,
    /// The largest part by which rounding passes a limit.
    pub overload: f64,
}

impl Losses {
    pub fn merge(&mut self, other: &Self) {
        self.loss += other.loss;
        self.worth += other.worth;
        self.widest = self.widest.max(other.widest);
        self.overload = self.overload.max(other.overload);
    }
}
