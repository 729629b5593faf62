//! An iteration: predictor and corrector. It costs a factorisation a quantum, in parallel, and one of a matrix as large as
//! there are users.

use super::{Point, Role, add, part_size};
use crate::interior_point::Cholesky;
use crate::over_time::block::{Block, Reach, products, reach};
use fairplan_instances::Deadline;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Part of its terms that is added to a diagonal: more than their rounding, so that multipliers which nothing decides
/// stay where they are.
const REGULARISATION: f64 = 1e-13;

/// The products are not made smaller by more than this in one step, or some of them would vanish long before others.
const LEAST_AIM: f64 = 1e-3;

/// Part of the way to the nearest bound that a step goes.
const SHORT_OF_BOUNDS: f64 = 0.995;

/// The changes of the users' own numbers.
struct UserStep {
    y: Vec<f64>,
    over: Vec<f64>,
    missing: Vec<f64>,
    slack: Vec<f64>,
    level: f64,
}

impl UserStep {
    fn none(users: usize) -> Self {
        let zeros = || vec![0.0; users];
        Self { y: zeros(), over: zeros(), missing: zeros(), slack: zeros(), level: 0.0 }
    }
}

impl Point<'_> {
    /// One iteration: the larger part of its step that was taken. `None` when there is no step, or no time for one.
    pub fn iterate(&mut self, deadline: &Deadline) -> Option<f64> {
        let counts = self.counts();
        let factor = self.factor(&counts, deadline)?;
        let complements = self.blocks.iter().map(Block::complements).sum::<usize>() as f64
            + self.roles.iter().map(|role| role.complements()).sum::<usize>() as f64;
        let nowhere = Reach { primal: 0.0, dual: 0.0 };
        let mut step = UserStep::none(counts.len());
        let now = self.products(&step, nowhere);
        self.find_step(&factor, &counts, &mut step, None);
        let affine = self.reach(&step);
        let after = self.products(&step, affine);
        let mu = now / complements * (after / now).powi(3).clamp(LEAST_AIM, 1.0);
        self.find_step(&factor, &counts, &mut step, Some(mu));
        let reach = self.reach(&step);
        let short = |part: f64| if part < 1.0 { SHORT_OF_BOUNDS * part } else { 1.0 };
        let taken = Reach { primal: short(reach.primal), dual: short(reach.dual) };
        let moved = taken.primal.max(taken.dual);
        if moved.is_nan() || moved <= 1e-6 || !step.level.is_finite() {
            return None;
        }
        self.blocks.par_iter_mut().for_each(|block| block.advance(taken));
        self.level += taken.primal * step.level;
        for user in 0..counts.len() {
            self.over[user] += taken.primal * step.over[user];
            self.missing[user] += taken.primal * step.missing[user];
            self.y[user] += taken.dual * step.y[user];
            self.slack[user] += taken.dual * step.slack[user];
        }
        self.sum_work();
        Some(moved)
    }

    /// The factored equations of the users' multipliers.
    fn factor(&mut self, counts: &[bool], deadline: &Deadline) -> Option<Cholesky> {
        let problem = self.problem;
        let users = counts.len();
        let parts: Vec<Option<(DMatrix<f64>, Vec<f64>)>> = self
            .blocks
            .par_chunks_mut(part_size(problem))
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

    /// Finds a step towards products of zero or, after that, towards `mu`.
    fn find_step(&mut self, factor: &Cholesky, counts: &[bool], step: &mut UserStep, mu: Option<f64>) {
        let problem = self.problem;
        let users = counts.len();
        let aim = |a: f64, b: f64, da: f64, db: f64| mu.map_or(0.0, |mu| mu - da * db) - a * b;
        let of_over: Vec<f64> = (0..users)
            .map(|user| aim(self.over[user], self.y[user], step.over[user], step.y[user]))
            .collect();
        let of_missing: Vec<f64> = (0..users)
            .map(|user| aim(self.missing[user], self.slack[user], step.missing[user], step.slack[user]))
            .collect();
        let y = &self.y;
        let parts: Vec<Vec<f64>> = self
            .blocks
            .par_chunks_mut(part_size(problem))
            .map(|blocks| {
                let mut right = vec![0.0; users];
                for block in blocks {
                    block.aim(mu);
                    block.right_hand_side(problem, y, counts, &mut right);
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
        step.level = (lacking - among(&own)) / among(&of_level);
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
        self.blocks.par_iter_mut().for_each(|block| block.step(problem, &self.y, dy, counts));
    }

    fn reach(&self, step: &UserStep) -> Reach {
        let primal = reach(&self.over, &step.over).min(reach(&self.missing, &step.missing));
        let dual = reach(&self.y, &step.y).min(reach(&self.slack, &step.slack));
        let blocks: Vec<Reach> = self.blocks.par_iter().map(Block::reach).collect();
        blocks.into_iter().fold(Reach { primal, dual }, Reach::and)
    }

    /// The sum of all products after parts of a step.
    fn products(&self, step: &UserStep, parts: Reach) -> f64 {
        let Reach { primal, dual } = parts;
        let of_blocks: Vec<f64> = self.blocks.par_iter().map(|block| block.products(parts)).collect();
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
