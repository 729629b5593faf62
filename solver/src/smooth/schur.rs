//! The Newton system of a sum, solved through its smaller side.
//!
//! A group meets every class and a class meets every group, but groups do not meet each other, nor classes.
//! Eliminating the groups leaves a system of order `classes × resources`; eliminating the classes, one with a row for
//! every group and a second one for every group with a limit.

use super::block::{Aim, Block, Scratch, Setting, SharedStep};
use super::problem::SumProblem;
use super::rows::Rows;
use super::tally::Folded;
use crate::interior_point::{Cholesky, take_square_away};
use crate::level::dot;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Rows of classes and resources multiplied at a time on the side of the groups, so that the products stay in cache.
const BATCH: usize = 1024;

/// Up to this order of the classes' side it is taken even where the groups' side is smaller.
const BY_CLASS_UP_TO: usize = 64;

/// The factored system at one iterate.
pub(super) enum Schur {
    /// Groups eliminated.
    OfClasses {
        factor: Cholesky,
        /// Column and pivot of the level; none without one.
        level: Option<(Vec<f64>, f64)>,
    },
    /// Classes eliminated.
    OfGroups(OfGroups),
}

/// What is left of the system when the classes are eliminated. Row `j` is a group's row for its work, with the rates as
/// coefficients, or for its tasks, with −1.
pub(super) struct OfGroups {
    factor: Cholesky,
    blocks: Vec<Cholesky>,
    /// `Θ` of each pair.
    theta: Vec<f64>,
    /// The row of each group's work; the row of its tasks, if it has one, is the next.
    rows: Vec<usize>,
    /// The level's coefficients, what the system makes of them, and their product.
    level: Option<(Vec<f64>, Vec<f64>, f64)>,
    pin: f64,
}

/// Whether to eliminate the groups, not the classes: that never takes the difference of large numbers, and is no more
/// work up to this order anyway.
pub(super) fn by_class(problem: &SumProblem<'_>) -> bool {
    let limited = (0..problem.groups.len()).filter(|&g| problem.is_limited(g)).count();
    problem.capacities.len() <= BY_CLASS_UP_TO.max(problem.groups.len() + limited)
}

/// Sums over blocks, in their order whatever the number of threads.
fn folded(blocks: &[Block], rows: usize, fold: impl Fn(&Block, &mut Folded) + Sync) -> Folded {
    let part = |block: &Block| {
        let mut part = Folded::new(rows);
        fold(block, &mut part);
        part
    };
    let parts: Vec<Folded> = blocks.par_iter().map(part).collect();
    let mut sum = Folded::new(rows);
    parts.iter().for_each(|part| sum.add(part));
    sum
}

impl Schur {
    /// Builds and factors the system. Returns with it the sums for the predictor. `None` when rounding has made that
    /// impossible.
    pub fn new(
        setting: &Setting<'_>,
        blocks: &[Block],
        rows: &Rows<'_>,
        by_class: bool,
    ) -> Option<(Self, Sums)> {
        if by_class {
            return Self::of_classes(setting, blocks, rows);
        }
        let of_groups = OfGroups::new(setting, blocks, rows)?;
        let sums = of_groups.sums(setting, blocks, Aim::STRAIGHT);
        Some((Self::OfGroups(of_groups), sums))
    }

    fn of_classes(setting: &Setting<'_>, blocks: &[Block], rows: &Rows<'_>) -> Option<(Self, Sums)> {
        let order = setting.problem.capacities.len();
        let part = |block: &Block| {
            let (mut folded, mut matrix) = (Folded::new(order), vec![0.0; order * order]);
            block.fold(setting, Aim::STRAIGHT, &mut folded, Some(&mut matrix));
            (folded, matrix)
        };
        let parts: Vec<(Folded, Vec<f64>)> = blocks.par_iter().map(part).collect();
        let mut folded = Folded::new(order);
        // Row-major lower triangles: column-major they are the upper one.
        let mut matrix = DMatrix::zeros(order, order);
        for (part, entries) in &parts {
            folded.add(part);
            matrix.as_mut_slice().iter_mut().zip(entries).for_each(|(sum, x)| *sum += x);
        }
        for row in 0..order {
            matrix[(row, row)] += rows.diagonal(row);
            for column in 0..row {
                matrix[(row, column)] = matrix[(column, row)];
            }
        }
        let level = setting.level.then(|| (std::mem::take(&mut folded.column), folded.pivot));
        if let Some((column, pivot)) = &level {
            // The level's row, eliminated: it pins the scale of all prices, which the rest hardly feels.
            let column = DVector::from_column_slice(column);
            matrix.ger(1.0 / pivot, &column, &column, 1.0);
        }
        let factor = Cholesky::new(matrix)?;
        Some((Self::OfClasses { factor, level }, Sums { folded, rows: Vec::new() }))
    }

    /// The sums for another aim.
    pub fn sums(&self, setting: &Setting<'_>, blocks: &[Block], aim: Aim<'_>) -> Sums {
        match self {
            Self::OfClasses { .. } => {
                let rows = setting.problem.capacities.len();
                let folded = folded(blocks, rows, |block, part| block.fold(setting, aim, part, None));
                Sums { folded, rows: Vec::new() }
            }
            Self::OfGroups(of_groups) => of_groups.sums(setting, blocks, aim),
        }
    }

    /// Whether the groups' own steps come with the solution; otherwise each block works out its own.
    pub fn sets_groups(&self) -> bool {
        matches!(self, Self::OfGroups(_))
    }

    /// Solves for the shared step; `of_rows` is what capacity rows add to the right-hand side.
    pub fn solve(
        &self,
        problem: &SumProblem<'_>,
        sums: &Sums,
        of_rows: &[f64],
        blocks: &mut [Block],
    ) -> SharedStep {
        let right: Vec<f64> = sums.folded.right.iter().zip(of_rows).map(|(x, y)| x + y).collect();
        match self {
            Self::OfClasses { factor, level: None } => SharedStep { t: 0.0, p: factor.solve(&right) },
            Self::OfClasses { factor, level: Some((column, pivot)) } => {
                let missing = sums.folded.missing / pivot;
                let right: Vec<f64> = right.iter().zip(column).map(|(x, y)| x + y * missing).collect();
                let p = factor.solve(&right);
                SharedStep { t: missing - dot(column, &p) / pivot, p }
            }
            Self::OfGroups(of_groups) => of_groups.solve(problem, sums, &right, blocks),
        }
    }
}

/// Right-hand sides: those of the classes, and on the side of the groups also theirs.
pub(super) struct Sums {
    folded: Folded,
    rows: Vec<[f64; 2]>,
}

impl OfGroups {
    fn new(setting: &Setting<'_>, blocks: &[Block], capacity_rows: &Rows<'_>) -> Option<Self> {
        let (problem, m) = (setting.problem, setting.problem.resources);
        let (k, n) = (problem.classes(), problem.groups.len());
        let (mut theta, mut scratch) = (Vec::with_capacity(problem.groups.pair_count()), Scratch::default());
        let (mut rows, mut order) = (Vec::with_capacity(n), 0);
        let (mut diagonal, mut beside, mut level) = (Vec::new(), Vec::new(), Vec::new());
        for block in blocks {
            for g in block.groups.clone() {
                block.local(setting, g, Aim::STRAIGHT, &mut scratch);
                theta.extend_from_slice(&scratch.theta);
                let [of_work, of_tasks] = block.own_terms(setting, g);
                rows.push(order);
                diagonal.push(of_work);
                level.push(block.r(g));
                beside.push(0.0);
                if problem.is_limited(g) {
                    diagonal.push(of_tasks);
                    level.push(0.0);
                    beside.push(0.0);
                }
                order = diagonal.len();
            }
        }
        let mut of_classes = vec![0.0; k * m * m];
        for g in 0..n {
            let load = problem.load(g);
            for pair in problem.groups.pairs(g) {
                let start = problem.row(pair) * m;
                for (row, a) in of_classes[start..start + m * m].chunks_mut(m).zip(load) {
                    let weight = theta[pair] * a;
                    row.iter_mut().zip(load).for_each(|(x, b)| *x += weight * b);
                }
            }
        }
        let mut factors = Vec::with_capacity(k);
        for (l, block) in of_classes.chunks(m * m).enumerate() {
            let mut block = DMatrix::from_row_slice(m, m, block);
            for r in 0..m {
                block[(r, r)] += capacity_rows.diagonal(l * m + r);
            }
            factors.push(Cholesky::new(block)?);
        }
        let mut matrix = DMatrix::zeros(order, order);
        let mut next: Vec<usize> = (0..n).map(|g| problem.groups.pairs(g).start).collect();
        let mut half = vec![0.0; m];
        let batch = (BATCH / m).max(1);
        for start in (0..k).step_by(batch) {
            let end = (start + batch).min(k);
            let mut columns = DMatrix::zeros((end - start) * m, order);
            for g in 0..n {
                let row = rows[g];
                // Pairs are in the order of their classes.
                while next[g] < problem.groups.pairs(g).end && (problem.groups.class[next[g]] as usize) < end
                {
                    let pair = next[g];
                    let (l, rate) = (problem.groups.class[pair] as usize, problem.groups.rate[pair]);
                    factors[l].half_solve(problem.load(g), &mut half);
                    // What the pair leaves: never the difference of two large numbers of its own.
                    let left = theta[pair] * (1.0 - theta[pair] * dot(&half, &half)).max(0.0);
                    diagonal[row] += rate * rate * left;
                    for (r, half) in half.iter().enumerate() {
                        columns[((l - start) * m + r, row)] = theta[pair] * rate * half;
                    }
                    if problem.is_limited(g) {
                        diagonal[row + 1] += left;
                        beside[row] -= rate * left;
                        for (r, half) in half.iter().enumerate() {
                            columns[((l - start) * m + r, row + 1)] = -theta[pair] * half;
                        }
                    }
                    next[g] += 1;
                }
            }
            take_square_away(&mut matrix, 0, columns.as_slice());
        }
        matrix.set_diagonal(&DVector::from_vec(diagonal));
        for g in (0..n).filter(|&g| problem.is_limited(g)) {
            let row = rows[g];
            (matrix[(row, row + 1)], matrix[(row + 1, row)]) = (beside[row], beside[row]);
        }
        let mut pin = 0.0;
        if setting.level {
            // A multiple of the level's row, added to the others: it pins the scale and changes no solution.
            pin = 1.0 / level.iter().enumerate().map(|(j, r)| r * r / matrix[(j, j)]).sum::<f64>();
            let column = DVector::from_column_slice(&level);
            matrix.ger(pin, &column, &column, 1.0);
        }
        let factor = Cholesky::new(matrix)?;
        let level = setting.level.then(|| {
            let solved = factor.solve(&level);
            let pivot = dot(&level, &solved);
            (level, solved, pivot)
        });
        Some(Self { factor, blocks: factors, theta, rows, level, pin })
    }

    fn sums(&self, setting: &Setting<'_>, blocks: &[Block], aim: Aim<'_>) -> Sums {
        let mut folded = Folded::new(setting.problem.capacities.len());
        let rows = blocks.iter().flat_map(|block| block.rows(setting, aim, &mut folded)).collect();
        Sums { folded, rows }
    }

    fn solve(
        &self,
        problem: &SumProblem<'_>,
        sums: &Sums,
        right: &[f64],
        blocks: &mut [Block],
    ) -> SharedStep {
        let m = problem.resources;
        let of_classes = |right: &[f64]| -> Vec<f64> {
            right.chunks(m).zip(&self.blocks).flat_map(|(right, block)| block.solve(right)).collect()
        };
        let met = of_classes(right);
        let mut right_rows = Vec::with_capacity(self.rows.len());
        for (g, [of_work, of_tasks]) in sums.rows.iter().enumerate() {
            let [mut by_work, mut by_tasks] = [0.0; 2];
            for pair in problem.groups.pairs(g) {
                let cost = self.theta[pair] * problem.cost_at(&met, g, pair);
                by_work += problem.groups.rate[pair] * cost;
                by_tasks += cost;
            }
            right_rows.push(of_work + by_work);
            if problem.is_limited(g) {
                right_rows.push(of_tasks - by_tasks);
            }
        }
        let mut t = 0.0;
        let mut x;
        if let Some((level, solved, pivot)) = &self.level {
            let missing = sums.folded.missing;
            right_rows.iter_mut().zip(level).for_each(|(right, r)| *right += self.pin * r * missing);
            x = self.factor.solve(&right_rows);
            t = (missing - dot(level, &x)) / pivot;
            x.iter_mut().zip(solved).for_each(|(x, column)| *x += column * t);
        } else {
            x = self.factor.solve(&right_rows);
        }
        let mut right = right.to_vec();
        let steps: Vec<[f64; 2]> = (0..problem.groups.len())
            .map(|g| {
                let row = self.rows[g];
                [x[row], if problem.is_limited(g) { x[row + 1] } else { 0.0 }]
            })
            .collect();
        for (g, [dy, dlambda]) in steps.iter().enumerate() {
            for pair in problem.groups.pairs(g) {
                let moved = self.theta[pair] * (problem.groups.rate[pair] * dy - dlambda);
                let row = problem.row(pair);
                right[row..row + m].iter_mut().zip(problem.load(g)).for_each(|(sum, a)| *sum += a * moved);
            }
        }
        for block in blocks {
            let groups = block.groups.clone();
            block.set_steps(&steps[groups]);
        }
        SharedStep { t, p: of_classes(&right) }
    }
}
