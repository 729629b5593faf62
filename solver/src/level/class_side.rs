//! The Schur complement on the class side: `blockdiag(B_l) − Σ_g k_g k_gᵀ / E_g`, assembled class by class. (A task row
//! takes a second such term away.)
//!
//! A group adds to the block of classes `l` and `l'` one number times `a_g a_gᵀ`, which never changes. Large
//! equal terms are never subtracted: what a group leaves on a diagonal block is computed from its other classes.
//! Rows of different classes are independent, so threads share them; every entry is summed in the groups' order.

use super::LevelProblem;
use super::limit_side;
use super::weights::Weights;
use crate::interior_point::zeros;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// With fewer pairs than this the work is not worth a second thread.
const SHARED: usize = 2000;

/// What stays the same while a problem is solved.
pub(super) struct ClassSide {
    /// The lower triangle of `a_g a_gᵀ`, row-major `groups × triangle`.
    outer: Vec<f64>,
    triangle: usize,
    /// The groups and pairs of each class, and where each class begins.
    of_class: Vec<(u32, u32)>,
    starts: Vec<usize>,
}

impl ClassSide {
    pub fn new(problem: &LevelProblem<'_>) -> Self {
        let (m, groups) = (problem.resources, problem.groups);
        let mut outer = Vec::with_capacity(groups.len() * m * (m + 1) / 2);
        for load in groups.loads.chunks_exact(m) {
            for (r, a) in load.iter().enumerate() {
                outer.extend(load[..=r].iter().map(|b| a * b));
            }
        }
        let mut starts = vec![0; problem.classes() + 1];
        groups.class.iter().for_each(|class| starts[*class as usize + 1] += 1);
        for l in 0..problem.classes() {
            starts[l + 1] += starts[l];
        }
        let mut next = starts.clone();
        let mut of_class = vec![(0, 0); groups.pair_count()];
        for g in 0..groups.len() {
            for pair in groups.pairs(g) {
                let place = &mut next[groups.class[pair] as usize];
                of_class[*place] = (g as u32, pair as u32);
                *place += 1;
            }
        }
        Self { outer, triangle: m * (m + 1) / 2, of_class, starts }
    }

    /// The matrix, in this memory, where `slack` is `u/p` of each row. Only its upper triangle is filled.
    pub fn matrix(
        &self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        slack: impl Fn(usize) -> f64 + Sync,
        memory: Vec<f64>,
    ) -> DMatrix<f64> {
        let (m, order) = (problem.resources, problem.capacities.len());
        let classes_together = if problem.groups.pair_count() < SHARED { problem.classes() } else { 1 };
        // Column-major, so the rows of a class in the lower triangle are these columns in the upper one.
        let mut matrix = zeros(memory, order);
        let of_classes = problem.classes() * m * order;
        let columns =
            matrix.as_mut_slice()[..of_classes].par_chunks_mut(m * order).with_min_len(classes_together);
        columns.enumerate().for_each(|(l, columns)| {
            let mut sums = vec![0.0; (l + 1) * self.triangle];
            match self.triangle {
                1 => self.sum_blocks::<1>(problem, weights, l, &mut sums),
                3 => self.sum_blocks::<3>(problem, weights, l, &mut sums),
                6 => self.sum_blocks::<6>(problem, weights, l, &mut sums),
                10 => self.sum_blocks::<10>(problem, weights, l, &mut sums),
                _ => self.sum_blocks::<0>(problem, weights, l, &mut sums),
            }
            for (r, column) in columns.chunks_exact_mut(order).enumerate() {
                for (block, sums) in column.chunks_exact_mut(m).zip(sums.chunks_exact(self.triangle)) {
                    for (s, entry) in block.iter_mut().enumerate() {
                        let (low, high) = (r.min(s), r.max(s));
                        *entry = sums[high * (high + 1) / 2 + low];
                    }
                }
                column[l * m + r] += slack(l * m + r);
            }
        });
        limit_side::add(problem, weights, slack, &mut matrix);
        matrix
    }

    /// Adds up the blocks that class `l` has with the classes up to itself. `T` is the size of a triangle, if
    /// the compiler is to know it.
    fn sum_blocks<const T: usize>(
        &self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        l: usize,
        sums: &mut [f64],
    ) {
        let (groups, own) = (problem.groups, &weights.theta_rate);
        let triangle = if T == 0 { self.triangle } else { T };
        let mut add = |class: usize, weight: f64, outer: &[f64]| {
            let block = &mut sums[class * triangle..][..triangle];
            block.iter_mut().zip(outer).for_each(|(sum, a)| *sum += weight * a);
        };
        for &(g, pair) in &self.of_class[self.starts[l]..self.starts[l + 1]] {
            let (g, pair) = (g as usize, pair as usize);
            let outer = &self.outer[g * triangle..][..triangle];
            let before = groups.pairs(g).start..pair;
            let scale = -own[pair] / weights.e[g];
            for (class, own) in groups.class[before.clone()].iter().zip(&own[before.clone()]) {
                add(*class as usize, scale * own, outer);
            }
            if let Some(row) = &weights.task_rows[g] {
                let scale = -weights.theta[pair] / row.e;
                for (class, theta) in groups.class[before.clone()].iter().zip(&weights.theta[before]) {
                    add(*class as usize, scale * theta, outer);
                }
            }
            add(l, weights.left(problem, g, pair), outer);
        }
    }
}
