//! The Schur complement on the group side: `diag(E) − Σ_l k_lᵀ B_l⁻¹ k_l`, from factors of the class blocks
//! `B_l = Σ_g Θ_gl a_g a_gᵀ + diag(u/p)`.

use super::cholesky::Cholesky;
use super::weights::Weights;
use crate::level::{LevelProblem, dot};
use nalgebra::{DMatrix, DVector};

/// Rows of classes and resources multiplied at a time, so that the products stay in cache.
const BLOCK: usize = 1024;

/// The factored class blocks.
#[derive(Default)]
pub(super) struct GroupSide {
    blocks: Vec<Cholesky>,
}

impl GroupSide {
    /// The matrix, where `slack` is `u/p` of each row. `None` when rounding has made that impossible.
    pub fn matrix(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        slack: impl Fn(usize) -> f64,
    ) -> Option<DMatrix<f64>> {
        let (k, m, groups) = (problem.classes(), problem.resources, problem.groups);
        let n = groups.len();
        let mut blocks = vec![0.0; k * m * m];
        for g in 0..n {
            let load = problem.load(g);
            for pair in groups.pairs(g) {
                let start = groups.class[pair] as usize * m * m;
                for (row, a) in blocks[start..start + m * m].chunks_mut(m).zip(load) {
                    let weight = weights.theta[pair] * a;
                    row.iter_mut().zip(load).for_each(|(entry, b)| *entry += weight * b);
                }
            }
        }
        self.blocks.clear();
        for (l, block) in blocks.chunks(m * m).enumerate() {
            let mut block = DMatrix::from_row_slice(m, m, block);
            for r in 0..m {
                block[(r, r)] += slack(l * m + r);
            }
            self.blocks.push(Cholesky::new(block)?);
        }
        let mut matrix = DMatrix::zeros(n, n);
        let mut diagonal = weights.e_own.clone();
        let mut next: Vec<usize> = (0..n).map(|g| groups.pairs(g).start).collect();
        let mut half = vec![0.0; m];
        let per_block = (BLOCK / m).max(1);
        for start in (0..k).step_by(per_block) {
            let end = (start + per_block).min(k);
            let mut columns = DMatrix::zeros((end - start) * m, n);
            for g in 0..n {
                let mut column = columns.column_mut(g);
                // Pairs are in the order of their classes.
                while next[g] < groups.pairs(g).end && (groups.class[next[g]] as usize) < end {
                    let pair = next[g];
                    let (l, rate, theta) =
                        (groups.class[pair] as usize, groups.rate[pair], weights.theta[pair]);
                    self.blocks[l].half_solve(problem.load(g), &mut half);
                    diagonal[g] += rate * rate * theta * (1.0 - theta * dot(&half, &half)).max(0.0);
                    for (r, half) in half.iter().enumerate() {
                        column[(l - start) * m + r] = theta * rate * half;
                    }
                    next[g] += 1;
                }
            }
            matrix.gemm_tr(-1.0, &columns, &columns, 1.0);
        }
        matrix.set_diagonal(&DVector::from_vec(diagonal));
        Some(matrix)
    }

    /// `B_l⁻¹` of the rows of each class.
    pub fn solve_blocks(&self, right: &[f64]) -> Vec<f64> {
        let m = right.len() / self.blocks.len();
        right.chunks(m).zip(&self.blocks).flat_map(|(right, block)| block.solve(right)).collect()
    }
}
