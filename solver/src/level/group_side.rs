//! The Schur complement on the group side: `diag(E) − Σ_l k_lᵀ B_l⁻¹ k_l`, from factors of the class blocks
//! `B_l = Σ_g Θ_gl a_g a_gᵀ + diag(u/p)`.

use super::weights::Weights;
use super::{LevelProblem, dot};
use crate::interior_point::{Cholesky, take_square_away};
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
    blocks: Vec<Cholesky>,
}

impl GroupSide {
    /// The matrix, where `slack` is `u/p` of each row. `None` when rounding has made that impossible, or time was over
    /// before.
    pub fn matrix(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        slack: impl Fn(usize) -> f64 + Sync,
        deadline: &Deadline,
    ) -> Option<DMatrix<f64>> {
        let (k, n) = (problem.classes(), problem.groups.len());
        let length = part_length(k);
        let parts: Option<Vec<Part>> = (0..k.div_ceil(length))
            .into_par_iter()
            .map(|part| {
                let classes = part * length..((part + 1) * length).min(k);
                if deadline.is_over() { None } else { Part::of(problem, weights, &slack, classes) }
            })
            .collect();
        let mut matrix = DMatrix::zeros(n, n);
        let mut diagonal = DVector::from_column_slice(&weights.e_own);
        self.blocks.clear();
        for part in parts? {
            matrix += part.products;
            diagonal += part.diagonal;
            self.blocks.extend(part.blocks);
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
                block.solve_into(b, x, &mut residual);
            }
        });
        solved
    }
}

/// What some classes add.
struct Part {
    blocks: Vec<Cholesky>,
    /// `−Σ_l k_lᵀ B_l⁻¹ k_l`, right off the diagonal only.
    products: DMatrix<f64>,
    /// What is left on the diagonal of `Σ_l ρ² Θ` after that, without subtracting large equal terms.
    diagonal: DVector<f64>,
}

impl Part {
    fn of(
        problem: &LevelProblem<'_>,
        weights: &Weights,
        slack: &impl Fn(usize) -> f64,
        classes: Range<usize>,
    ) -> Option<Self> {
        let (m, groups) = (problem.resources, problem.groups);
        let n = groups.len();
        // Pairs are in the order of their classes.
        let first = |g: usize, class: usize| {
            let pairs = groups.pairs(g);
            pairs.start + groups.class[pairs].partition_point(|l| (*l as usize) < class)
        };
        let mut blocks = vec![0.0; classes.len() * m * m];
        for g in 0..n {
            let load = problem.load(g);
            for pair in first(g, classes.start)..first(g, classes.end) {
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
            Cholesky::new(block)
        };
        let blocks: Option<Vec<Cholesky>> = classes.clone().zip(blocks.chunks(m * m)).map(factor).collect();
        let blocks = blocks?;
        let mut added = Self { blocks, products: DMatrix::zeros(n, n), diagonal: DVector::zeros(n) };
        let pairs: usize = (0..n).map(|g| first(g, classes.end) - first(g, classes.start)).sum();
        let next: Vec<usize> = (0..n).map(|g| first(g, classes.start)).collect();
        if pairs * FEW < n * classes.len() {
            added.add_few(problem, weights, classes, next);
        } else {
            added.add_many(problem, weights, classes, next);
        }
        Some(added)
    }

    /// What all classes add, by products of blocks of classes with every group; `next` is where each group's pairs begin.
    fn add_many(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        classes: Range<usize>,
        mut next: Vec<usize>,
    ) {
        let (m, n, groups) = (problem.resources, problem.groups.len(), problem.groups);
        let mut half = vec![0.0; m];
        let per_block = (BLOCK / m).max(1);
        for start in classes.clone().step_by(per_block) {
            let end = (start + per_block).min(classes.end);
            let mut columns = DMatrix::zeros((end - start) * m, n);
            for g in 0..n {
                let mut column = columns.column_mut(g);
                while next[g] < groups.pairs(g).end && (groups.class[next[g]] as usize) < end {
                    let pair = next[g];
                    let l = groups.class[pair] as usize;
                    let of_group = OfGroup { g, pair };
                    let scale = self.half(problem, weights, of_group, l - classes.start, &mut half);
                    for (r, half) in half.iter().enumerate() {
                        column[(l - start) * m + r] = scale * half;
                    }
                    next[g] += 1;
                }
            }
            take_square_away(&mut self.products, 0, &columns);
        }
    }

    /// The same class by class, where each has few of the groups.
    fn add_few(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        classes: Range<usize>,
        next: Vec<usize>,
    ) {
        let (m, n, groups) = (problem.resources, problem.groups.len(), problem.groups);
        let mut of_class: Vec<Vec<OfGroup>> = vec![Vec::new(); classes.len()];
        for (g, start) in next.into_iter().enumerate() {
            for pair in start..groups.pairs(g).end {
                let Some(here) = of_class.get_mut(groups.class[pair] as usize - classes.start) else { break };
                here.push(OfGroup { g, pair });
            }
        }
        let (mut half, mut columns) = (vec![0.0; m], Vec::new());
        for (l, pairs) in of_class.iter().enumerate() {
            columns.clear();
            for pair in pairs {
                let scale = self.half(problem, weights, *pair, l, &mut half);
                columns.extend(half.iter().map(|half| scale * half));
            }
            let products = self.products.as_mut_slice();
            for (j, (column, OfGroup { g, .. })) in columns.chunks_exact(m).zip(pairs).enumerate() {
                let into = &mut products[g * n..][..n];
                for (other, OfGroup { g: above, .. }) in columns.chunks_exact(m).zip(&pairs[..j]) {
                    into[*above] -= dot(column, other);
                }
            }
        }
    }

    /// Writes `L⁻¹ a_g` of a pair on the class whose factors are at `l`, adds what it leaves on the diagonal, and returns what
    /// it is to be multiplied with.
    fn half(
        &mut self,
        problem: &LevelProblem<'_>,
        weights: &Weights,
        OfGroup { g, pair }: OfGroup,
        l: usize,
        half: &mut [f64],
    ) -> f64 {
        let (rate, theta) = (problem.groups.rate[pair], weights.theta[pair]);
        self.blocks[l].half_solve(problem.load(g), half);
        self.diagonal[g] += rate * rate * theta * (1.0 - theta * dot(half, half)).max(0.0);
        theta * rate
    }
}
