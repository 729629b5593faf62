//! A point of the interior-point method, which is also a step, and its five families of complementary products.

use super::LevelProblem;
use crate::interior_point::StepLength;

/// Values, or steps, of every variable. Symbols as in the table of the method.
#[derive(Clone, Default)]
pub(super) struct Point {
    pub t: f64,
    pub zeta: Vec<f64>,
    pub s: Vec<f64>,
    pub u: Vec<f64>,
    pub p: Vec<f64>,
    pub v: Vec<f64>,
    pub y: Vec<f64>,
    pub q: Vec<f64>,
    pub o: Vec<f64>,
    pub f: Vec<f64>,
    pub z: Vec<f64>,
}

/// One number a complementarity product, in the order ζs, up, vy, qo, fz.
#[derive(Clone)]
pub(super) struct Goals(pub [Vec<f64>; 5]);

impl Goals {
    pub fn sum(&self) -> f64 {
        self.0.iter().flatten().sum()
    }
}

/// What a centrality corrector aims at (Gondzio): that a step this long leads to products between these factors of the target.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    pub reach: StepLength,
    pub target: f64,
    pub within: (f64, f64),
}

impl Point {
    /// The primal and the dual factor of each family.
    fn families(&self) -> [(&[f64], &[f64]); 5] {
        [
            (&self.zeta, &self.s),
            (&self.u, &self.p),
            (&self.v, &self.y),
            (&self.q, &self.o),
            (&self.f, &self.z),
        ]
    }

    /// Sum of all complementarity products.
    pub fn complementarity(&self) -> f64 {
        self.families().iter().map(|(x, z)| crate::level::dot(x, z)).sum()
    }

    /// The same after steps of these lengths.
    pub fn complementarity_after(&self, step: &Self, StepLength { primal, dual }: StepLength) -> f64 {
        let mut sum = 0.0;
        for ((x, z), (dx, dz)) in self.families().into_iter().zip(step.families()) {
            for i in 0..x.len() {
                sum += (x[i] + primal * dx[i]) * (z[i] + dual * dz[i]);
            }
        }
        sum
    }

    /// How far a step can go.
    pub fn longest_steps(&self, step: &Self) -> StepLength {
        let families = self.families().into_iter().zip(step.families());
        families.fold(StepLength::LONGEST, |reach, ((x, z), (dx, dz))| reach.of_all((x, dx), (z, dz)))
    }

    /// What must be added to each product to reach `ω·target`, given the products of the `affine` step.
    pub fn goals(&self, omega: &Goals, target: f64, affine: Option<&Self>) -> Goals {
        let mut goals = omega.clone();
        for (goals, (x, z)) in goals.0.iter_mut().zip(self.families()) {
            for (i, goal) in goals.iter_mut().enumerate() {
                *goal = *goal * target - x[i] * z[i];
            }
        }
        for (goals, (dx, dz)) in goals.0.iter_mut().zip(affine.into_iter().flat_map(Self::families)) {
            for (i, goal) in goals.iter_mut().enumerate() {
                *goal -= dx[i] * dz[i];
            }
        }
        goals
    }

    /// Changes goals so that the products a longer step would lead to come within factors of the target.
    pub fn aim_at_the_path(&self, goals: &mut Goals, step: &Self, omega: &Goals, aim: Aim) {
        let Aim { reach: StepLength { primal, dual }, target, within: (least, most) } = aim;
        let families = self.families().into_iter().zip(step.families()).zip(&omega.0);
        for (goals, (((x, z), (dx, dz)), omega)) in goals.0.iter_mut().zip(families) {
            for (i, goal) in goals.iter_mut().enumerate() {
                let (product, target) = ((x[i] + primal * dx[i]) * (z[i] + dual * dz[i]), omega[i] * target);
                let wanted = product.clamp(least * target, most * target);
                *goal += (wanted - product).max(-most * target);
            }
        }
    }

    /// Takes a step.
    pub fn take(&mut self, step: &Self, StepLength { primal, dual }: StepLength) {
        self.t += primal * step.t;
        for (x, dx, length) in [
            (&mut self.zeta, &step.zeta, primal),
            (&mut self.u, &step.u, primal),
            (&mut self.v, &step.v, primal),
            (&mut self.q, &step.q, primal),
            (&mut self.f, &step.f, primal),
            (&mut self.s, &step.s, dual),
            (&mut self.p, &step.p, dual),
            (&mut self.y, &step.y, dual),
            (&mut self.o, &step.o, dual),
            (&mut self.z, &step.z, dual),
        ] {
            x.iter_mut().zip(dx).for_each(|(x, dx)| *x += length * dx);
        }
    }
}

/// What an iterate uses of each class and what its prices ask for each pair.
#[derive(Default)]
pub(super) struct Measured {
    pub usage: Vec<f64>,
    pub costs: Vec<f64>,
}

impl Measured {
    pub fn of(problem: &LevelProblem<'_>, now: &Point) -> Self {
        Self { usage: problem.usage(&now.zeta), costs: problem.costs(&now.p) }
    }
}
