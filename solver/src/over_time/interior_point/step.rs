//! An iteration: predictor and corrector. It costs a factorisation a quantum, in parallel, and one of a matrix as large as
//! there are users.

use super::{Point, Role, add, part_size};
use crate::interior_point::{Cholesky, NewtonSystem, Prediction, StepLength};
use crate::over_time::block::{Block, products};
use crate::tolerance::over_time::{LEAST_CENTRING, REGULARISATION, SHORTEST_STEP, STEP_PART};
use fairplan_instances::Deadline;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// The changes of the users' own numbers.
pub(in crate::over_time) struct UserStep {
    y: Vec<f64>,
    over: Vec<f64>,
    missing: Vec<f64>,
    slack: Vec<f64>,
    level: f64,
}

impl NewtonSystem for Point<'_> {
    type Factors = Cholesky;
    type Step = UserStep;
    const LEAST_CENTRING: f64 = LEAST_CENTRING;
    const STEP_PART: (f64, f64) = STEP_PART;

    fn factor(&mut self, deadline: &Deadline) -> Option<Cholesky> {
        let counts = self.counts();
        self.factor_users(&counts, deadline)
    }

    fn predict(&mut self, factor: &Cholesky) -> (UserStep, Prediction) {
        let complements = self.blocks.iter().map(Block::complements).sum::<usize>() as f64
            + self.roles.iter().map(|role| role.complements()).sum::<usize>() as f64;
        let step = self.find_step(factor, None);
        let after = self.products(&step, self.reach(&step).shortened(1.0));
        let now = self.products(&step, StepLength { primal: 0.0, dual: 0.0 });
        (step, Prediction { now: now / complements, after: after / complements })
    }

    fn correct(&mut self, factor: &Cholesky, predictor: UserStep, target: f64) -> (UserStep, StepLength) {
        let step = self.find_step(factor, Some((&predictor, target)));
        let StepLength { primal, dual } = self.reach(&step);
        // A step that ends before every bound, however near, is taken whole: then what the equations miss is gone.
        let whole = |part: f64, longest: f64| if part >= 1.0 { longest } else { part };
        let StepLength { primal: farthest, dual: farthest_dual } = StepLength::LONGEST;
        (step, StepLength { primal: whole(primal, farthest), dual: whole(dual, farthest_dual) })
    }

    fn take(&mut self, step: &UserStep, reach: StepLength) -> bool {
        if !step.level.is_finite() || reach.primal.max(reach.dual) <= SHORTEST_STEP {
            return false;
        }
        self.blocks
            .par_iter_mut()
            .with_min_len(self.problem.quanta_together())
            .for_each(|block| block.advance(reach));
        self.level += reach.primal * step.level;
        for user in 0..self.roles.len() {
            self.over[user] += reach.primal * step.over[user];
            self.missing[user] += reach.primal * step.missing[user];
            self.y[user] += reach.dual * step.y[user];
            self.slack[user] += reach.dual * step.slack[user];
        }
        self.sum_work();
        true
    }
}

impl Point<'_> {
    /// The factored equations of the users' multipliers.
    fn factor_users(&mut self, counts: &[bool], deadline: &Deadline) -> Option<Cholesky> {
        let problem = self.problem;
        let users = counts.len();
        let parts: Vec<Option<(DMatrix<f64>, Vec<f64>)>> = self
            .blocks
            .par_chunks_mut(part_size(problem))
            .with_min_len(problem.quanta_together())
            .map(|blocks| {
                let mut half = DMatrix::zeros(blocks.len() * problem.rows, users);
                let mut diagonal = vec![0.0; users];
                for (position, block) in blocks.iter_mut().enumerate() {
                    let mut rows = half.view_mut((position * problem.rows, 0), (problem.rows, users));
                    if deadline.is_over() || !block.factor(problem, counts, &mut diagonal, &mut rows) {
                        return None;
                    }
                }
                Some((half.transpose() * half, diagonal))
            })
            .collect();
        let mut matrix = DMatrix::zeros(users, users);
        for (user, role) in self.roles.iter().enumerate() {
            matrix[(user, user)] = match role {
                Role::Rising { .. } => self.over[user] / self.y[user],
                Role::Held(_) => self.over[user] / self.y[user] + self.missing[user] / self.slack[user],
                Role::Full(_) | Role::Idle => 1.0,
            };
        }
        let mut before: Vec<f64> = (0..users).map(|user| matrix[(user, user)]).collect();
        for part in parts {
            let (products, diagonal) = part?;
            matrix -= products;
            for (user, more) in diagonal.iter().enumerate() {
                matrix[(user, user)] += more;
                before[user] += more;
            }
        }
        // Scaling all multipliers changes next to nothing, so that the matrix cannot tell how much; but their sum over
        // those who rise is given, which may as well be said here.
        let rising = |user: &usize| matches!(self.roles[*user], Role::Rising { .. });
        let rising: Vec<usize> = (0..users).filter(rising).collect();
        self.of_sum = rising.iter().map(|user| before[*user]).fold(0.0, f64::max) / rising.len() as f64;
        for (a, b) in rising.iter().flat_map(|a| rising.iter().map(move |b| (*a, *b))) {
            matrix[(a, b)] += self.of_sum;
        }
        (0..users).for_each(|user| matrix[(user, user)] += REGULARISATION * before[user]);
        // What is left of a diagonal that cancels is rounding.
        (0..users).for_each(|user| matrix[(user, user)] = matrix[(user, user)].max(f64::MIN_POSITIVE));
        Cholesky::new(matrix)
    }

    /// The step to products of zero or, given that as the predictor, to a target.
    fn find_step(&mut self, factor: &Cholesky, corrects: Option<(&UserStep, f64)>) -> UserStep {
        let (problem, counts) = (self.problem, self.counts());
        let (users, mu) = (counts.len(), corrects.map(|(_, target)| target));
        let aim = |a: &[f64], b: &[f64], of: fn(&UserStep) -> (&[f64], &[f64])| -> Vec<f64> {
            let target = |user: usize| match corrects {
                Some((predictor, target)) => target - of(predictor).0[user] * of(predictor).1[user],
                None => 0.0,
            };
            (0..users).map(|user| target(user) - a[user] * b[user]).collect()
        };
        let of_over = aim(&self.over, &self.y, |step| (&step.over, &step.y));
        let of_missing = aim(&self.missing, &self.slack, |step| (&step.missing, &step.slack));
        let y = &self.y;
        let parts: Vec<Vec<f64>> = self
            .blocks
            .par_chunks_mut(part_size(problem))
            .with_min_len(problem.quanta_together())
            .map(|blocks| {
                let mut right = vec![0.0; users];
                for block in blocks {
                    block.aim(mu);
                    block.right_hand_side(problem, y, &counts, &mut right);
                }
                right
            })
            .collect();
        let mut right = vec![0.0; users];
        parts.iter().for_each(|part| add(&mut right, part));
        let mut rising = vec![0.0; users];
        let mut multipliers = 0.0;
        for (user, role) in self.roles.iter().enumerate() {
            match role {
                Role::Rising { base } => {
                    rising[user] = 1.0;
                    multipliers += self.y[user];
                    right[user] +=
                        self.level + self.over[user] - base - self.work[user] + of_over[user] / self.y[user];
                }
                Role::Held(share) => {
                    right[user] += share + self.over[user] - self.missing[user] - self.work[user]
                        + of_over[user] / self.y[user]
                        - of_missing[user] / self.slack[user];
                }
                Role::Full(_) | Role::Idle => {}
            }
        }
        let lacking = 1.0 - multipliers;
        right.iter_mut().zip(&rising).for_each(|(right, rising)| *right += rising * self.of_sum * lacking);
        let (own, of_level) = (factor.solve(&right), factor.solve(&rising));
        let among = |numbers: &[f64]| numbers.iter().zip(&rising).map(|(x, rising)| x * rising).sum::<f64>();
        let zeros = || vec![0.0; users];
        let level = (lacking - among(&own)) / among(&of_level);
        let mut step = UserStep { y: zeros(), over: zeros(), missing: zeros(), slack: zeros(), level };
        for (user, role) in self.roles.iter().enumerate().filter(|(user, _)| counts[*user]) {
            let dy = own[user] + step.level * of_level[user];
            step.y[user] = dy;
            step.over[user] = (of_over[user] - self.over[user] * dy) / self.y[user];
            if let Role::Held(_) = role {
                step.missing[user] = (of_missing[user] + self.missing[user] * dy) / self.slack[user];
                step.slack[user] = -dy;
            }
        }
        let dy = &step.y;
        self.blocks
            .par_iter_mut()
            .with_min_len(self.problem.quanta_together())
            .for_each(|block| block.step(problem, &self.y, dy, &counts));
        step
    }

    /// How far a step can go: nowhere where it is no number.
    fn reach(&self, step: &UserStep) -> StepLength {
        let own = [&step.over, &step.y, &step.missing, &step.slack];
        if own.into_iter().flatten().any(|part| !part.is_finite()) {
            return StepLength { primal: 0.0, dual: 0.0 };
        }
        let own = StepLength::LONGEST
            .of_all((&self.over, &step.over), (&self.y, &step.y))
            .of_all((&self.missing, &step.missing), (&self.slack, &step.slack));
        let blocks: Vec<StepLength> =
            self.blocks.par_iter().with_min_len(self.problem.quanta_together()).map(Block::reach).collect();
        blocks.into_iter().fold(own, StepLength::and)
    }

    /// The sum of all products after parts of a step.
    fn products(&self, step: &UserStep, parts: StepLength) -> f64 {
        let StepLength { primal, dual } = parts;
        let of_blocks: Vec<f64> = self
            .blocks
            .par_iter()
            .with_min_len(self.problem.quanta_together())
            .map(|block| block.products(parts))
            .collect();
        of_blocks.iter().sum::<f64>()
            + products((&self.over, &step.over, primal), (&self.y, &step.y, dual))
            + products((&self.missing, &step.missing, primal), (&self.slack, &step.slack, dual))
    }
}

impl Role {
    fn complements(self) -> usize {
        match self {
            Self::Rising { .. } => 1,
            Self::Held(_) => 2,
            Self::Full(_) | Self::Idle => 0,
        }
    }
}
