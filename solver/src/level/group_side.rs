//! The Schur complement on the group side: `diag(E) − Σ_l k_lᵀ B_l⁻¹ k_l`, from factors of the class blocks
//! `B_l = Σ_g Θ_gl a_g a_gᵀ + diag(u/p)`.

use super::weights::Weights;
use super::{LevelProblem, dot};
use crate::interior_point::{Cholesky, take_square_away, zeros};
use fairplan_instances::Deadline;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of classes and resources multiplied at a time, so that the products stay in cache.
const BLOCK: usize = 1024;
/// Parts into which the classes are cut, whatever the number of threads, so that sums never change; and the fewest
/// classes that make a part.
const PARTS: (usize, usize) = (4, 256);
/// Classes with fewer than one of so many groups on average are multiplied one by one: beside them even the fastest product of all
/// groups loses.
const FEW: usize = 4;

fn part_length(classes: usize) -> usize {
    classes.div_ceil(PARTS.0).max(PARTS.1)
}

/// A group and one of its pairs with a class.
#[derive(Clone, Copy)]
struct OfGroup {
    g: usize,
    pair: usize,
}

/// The factored class blocks.
#[derive(Default)]
pub(super) struct GroupSide {
    blocks: Vec<Block>,
    /// Where columns of groups are written, kept from step to step: fresh memory of this size costs as much as what is done with it.
    columns: Vec<f64>,
}

/// `B_l = L Lᵀ` of a class.
struct Block {
    factor: Cholesky,
    /// As [`Cholesky::substitution`]: every group of the class is multiplied with it.
    half: Vec<f64>,
}

impl Block {
    fn new(block: DMatrix<f64>) -> Option<Self> {
        let factor = Cholesky::new(block)?;
        Some(Self { half: factor.substitution(), factor })
    }

    /// Writes `scale L⁻¹ a`, and returns the square of `L⁻¹ a`. `M` is the number of resources, if the compiler is to know it.
    fn half_of<const M: usize>(&self, load: &[f64], scale: f64, into: &mut [f64]) -> f64 {
        let m = if M == 0 { load.len() } else { M };
        let (load, into) = (&load[..m], &mut into[..m]);
        let mut square = 0.0;
        for (r, row) in self.half.chunks_exact(m).enumerate() {
            let half = row[r] * load[r] - dot(&row[..r], &into[..r]);
            square += half * half;
            into[r] = half;
        }
        into.iter_mut().for_each(|half| *half *= scale);
        square
    }

    /// The same, with what a pair is multiplied with; and returns what the pair leaves on the diagonal.
    fn of_pair(
        &self,
        problem: &LevelProblem<'_>,
        theta: f64,
        OfGroup { g, pair }: OfGroup,
        into: &mut [f64],
    ) -> f64 {
        let (rate, load) = (problem.groups.rate[pair], problem.load(g));
        let square = knowing_resources!(load.len(), self.half_of(load, theta * rate, into));
        rate * rate * theta * (1.0 - theta * square).max(0.0)
    }
}

impl GroupSide {
    /// The matrix, in this memory, where `slack` is `u/p` of each row. `None` when rounding has made that impossible, or time was over
    /// before.
    pub fn matrix(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        slack: impl Fn(usize) -> f64 + Sync,
        memory: Vec<f64>,
        deadline: &Deadline,
    ) -> Option<DMatrix<f64>> {
        let (k, n, groups) = (problem.classes(), problem.groups.len(), problem.groups);
        let length = part_length(k);
        let parts = || (0..k.div_ceil(length)).into_par_iter();
        let classes = |part: usize| part * length..((part + 1) * length).min(k);
        let blocks: Option<Vec<Vec<Block>>> = parts()
            .map(
                |part| {
                    if deadline.is_over() { None } else { blocks(problem, weights, &slack, classes(part)) }
                },
            )
            .collect();
        self.blocks = blocks?.into_iter().flatten().collect();
        let mut diagonal = DVector::from_column_slice(&weights.e_own);
        let mut matrix = zeros(memory, n);
        if groups.pair_count() * FEW < n * k {
            let add = |part| {
                if deadline.is_over() { None } else { Some(self.few(problem, weights, classes(part))) }
            };
            let added: Option<Vec<(DMatrix<f64>, DVector<f64>)>> = parts().map(add).collect();
            for (products, on_diagonal) in added? {
                matrix += products;
                diagonal += on_diagonal;
            }
        } else {
            self.take_many_away(problem, weights, &mut matrix, &mut diagonal, deadline)?;
        }
        matrix.set_diagonal(&diagonal);
        Some(matrix)
    }

    /// `B_l⁻¹` of the rows of each class.
    pub fn solve_blocks(&self, right: &[f64]) -> Vec<f64> {
        let m = right.len() / self.blocks.len();
        let mut solved = vec![0.0; right.len()];
        let length = part_length(self.blocks.len());
        let parts = solved.par_chunks_mut(length * m).zip(right.par_chunks(length * m));
        parts.zip(self.blocks.par_chunks(length)).for_each(|((solved, right), blocks)| {
            let mut residual = vec![0.0; m];
            for ((x, b), block) in solved.chunks_mut(m).zip(right.chunks(m)).zip(blocks) {
                block.factor.solve_into(b, x, &mut residual);
            }
        });
        solved
    }

    /// What all classes add, `−Σ_l k_lᵀ B_l⁻¹ k_l` off the diagonal and on it what is left of `Σ_l ρ² Θ` without subtracting large
    /// equal terms: by products of blocks of classes with every group. `None` when time is over.
    fn take_many_away(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        matrix: &mut DMatrix<f64>,
        diagonal: &mut DVector<f64>,
        deadline: &Deadline,
    ) -> Option<()> {
        let (m, n, groups) = (problem.resources, problem.groups.len(), problem.groups);
        let per_block = (BLOCK / m).max(1);
        let mut next: Vec<usize> = (0..n).map(|g| groups.pairs(g).start).collect();
        for start in (0..problem.classes()).step_by(per_block) {
            if deadline.is_over() {
                return None;
            }
            let end = (start + per_block).min(problem.classes());
            let rows = (end - start) * m;
            let Self { blocks, columns, .. } = &mut *self;
            columns.clear();
            columns.resize(rows * n, 0.0);
            let of_groups = columns.par_chunks_mut(rows).zip(&mut next).zip(diagonal.as_mut_slice());
            of_groups.enumerate().for_each(|(g, ((column, next), diagonal))| {
                while *next < groups.pairs(g).end && (groups.class[*next] as usize) < end {
                    let (pair, l) = (*next, groups.class[*next] as usize);
                    let into = &mut column[(l - start) * m..][..m];
                    *diagonal += blocks[l].of_pair(problem, weights.theta[pair], OfGroup { g, pair }, into);
                    *next += 1;
                }
            });
            take_square_away(matrix, 0, columns);
        }
        Some(())
    }

    /// The same of some classes one by one, where each has few of the groups: what they add off the diagonal and on it.
    fn few(
        &self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        classes: Range<usize>,
    ) -> (DMatrix<f64>, DVector<f64>) {
        let (m, n, groups) = (problem.resources, problem.groups.len(), problem.groups);
        let (mut matrix, mut diagonal) = (DMatrix::zeros(n, n), DVector::zeros(n));
        let mut of_class: Vec<Vec<OfGroup>> = vec![Vec::new(); classes.len()];
        for g in 0..n {
            for pair in first_pair(problem, g, classes.start)..first_pair(problem, g, classes.end) {
                of_class[groups.class[pair] as usize - classes.start].push(OfGroup { g, pair });
            }
        }
        let mut columns = Vec::new();
        for (l, pairs) in classes.zip(&of_class) {
            columns.clear();
            columns.resize(pairs.len() * m, 0.0);
            for (into, of_group) in columns.chunks_exact_mut(m).zip(pairs) {
                diagonal[of_group.g] +=
                    self.blocks[l].of_pair(problem, weights.theta[of_group.pair], *of_group, into);
            }
            let products = matrix.as_mut_slice();
            for (j, (column, OfGroup { g, .. })) in columns.chunks_exact(m).zip(pairs).enumerate() {
                let into = &mut products[g * n..][..n];
                for (other, OfGroup { g: above, .. }) in columns.chunks_exact(m).zip(&pairs[..j]) {
                    into[*above] -= dot(column, other);
                }
            }
        }
        (matrix, diagonal)
    }
}

/// The first pair of a group with this class or a later one: pairs are in the order of their classes.
fn first_pair(problem: &LevelProblem<'_>, g: usize, class: usize) -> usize {
    let pairs = problem.groups.pairs(g);
    pairs.start + problem.groups.class[pairs].partition_point(|l| (*l as usize) < class)
}

/// The blocks `B_l` of some classes, factored.
fn blocks(
    problem: &LevelProblem<'_>,
    weights: &Weights,
    slack: &impl Fn(usize) -> f64,
    classes: Range<usize>,
) -> Option<Vec<Block>> {
    let (m, groups) = (problem.resources, problem.groups);
    let mut blocks = vec![0.0; classes.len() * m * m];
    for g in 0..groups.len() {
        let load = problem.load(g);
        for pair in first_pair(problem, g, classes.start)..first_pair(problem, g, classes.end) {
            let start = (groups.class[pair] as usize - classes.start) * m * m;
            for (row, a) in blocks[start..start + m * m].chunks_mut(m).zip(load) {
                let weight = weights.theta[pair] * a;
                row.iter_mut().zip(load).for_each(|(entry, b)| *entry += weight * b);
            }
        }
    }
    let factor = |(l, block): (usize, &[f64])| {
        let mut block = DMatrix::from_row_slice(m, m, block);
        (0..m).for_each(|r| block[(r, r)] += slack(l * m + r));
        Block::new(block)
    };
    classes.zip(blocks.chunks(m * m)).map(factor).collect()
}
