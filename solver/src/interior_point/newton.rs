//! The Newton step of the interior point through its small Schur complement.
//!
//! A group meets every class and a class meets every group, but groups do not meet each other, nor classes.
//! Eliminating whichever side is larger leaves a system of order `classes × resources` or `groups`.

use super::cholesky::Cholesky;
use super::point::{Goals, Point};
use crate::level::{LevelProblem, dot};
use nalgebra::DMatrix;

/// Rows of classes and resources multiplied at a time on the group side, so that the products stay in cache.
const BLOCK: usize = 1024;

/// Proximal term: prices and multipliers move as if each slack were larger by this part of its row. Where a
/// slack vanishes, the right-hand side of its row is rounding noise, which would otherwise become a large step
/// along a direction in which nothing is determined. What a step leaves unsatisfied this way is of the order of
/// this times the step, and the next residual takes it up.
const PROXIMAL: f64 = 1e-5;

/// The factored normal equations at one iterate.
pub(super) struct NewtonSystem {
    by_class: bool,
    /// `Θ` of each pair.
    theta: Vec<f64>,
    /// The rate of each pair; with a task row, less the group's mean over Θ: see `TaskRow`.
    rate: Vec<f64>,
    /// `E_g` and its part that does not come from Θ.
    e: Vec<f64>,
    e_own: Vec<f64>,
    /// The eliminated task row of each group that has one.
    task_rows: Vec<Option<TaskRow>>,
    schur: Option<Cholesky>,
    /// Factors of the class blocks `B_l`, used when the groups remain.
    blocks: Vec<Cholesky>,
    /// Column and pivot of the level, see `pin_scale`.
    level_column: Vec<f64>,
    level_pivot: f64,
    /// The multiple of the level row that pins the scale.
    pin: f64,
    /// 1 for rising groups, 0 for settled ones.
    rising: Vec<f64>,
}

impl NewtonSystem {
    pub fn new(problem: &LevelProblem<'_>) -> Self {
        let n = problem.groups.len();
        let has_task_rows = (0..n).any(|g| problem.groups.has_task_row(g));
        Self {
            // Task rows are eliminated on the class side only.
            by_class: problem.capacities.len() <= n || has_task_rows,
            theta: vec![0.0; problem.groups.pair_count()],
            rate: problem.groups.rate.clone(),
            e: vec![0.0; n],
            e_own: vec![0.0; n],
            task_rows: vec![None; n],
            schur: None,
            blocks: Vec::new(),
            level_column: Vec::new(),
            level_pivot: 0.0,
            pin: 0.0,
            rising: problem.groups.rising.iter().map(|rising| f64::from(u8::from(*rising))).collect(),
        }
    }

    /// Builds and factors the system. False when rounding has made that impossible.
    pub fn factor(&mut self, problem: &LevelProblem<'_>, now: &Point) -> bool {
        let groups = problem.groups;
        for g in 0..groups.len() {
            let (share, elastic) =
                if groups.rising[g] { (now.t.abs(), 0.0) } else { (1.0, now.q[g] / now.o[g]) };
            self.e_own[g] = (now.v[g] + PROXIMAL * share) / now.y[g] + elastic;
            for pair in groups.pairs(g) {
                self.theta[pair] = now.zeta[pair] / now.s[pair];
            }
            if groups.has_task_row(g) {
                let own = (now.f[g] + PROXIMAL * groups.limit[g]) / now.z[g];
                let pairs = groups.pairs(g);
                let row =
                    TaskRow::of(own, self.e_own[g], &groups.rate[pairs.clone()], &self.theta[pairs.clone()]);
                self.rate[pairs].copy_from_slice(&row.rates);
                self.e_own[g] += row.mean * row.mean * own;
                self.task_rows[g] = Some(row);
            }
            self.e[g] = self.e_own[g];
            for pair in groups.pairs(g) {
                self.e[g] += self.rate[pair] * self.rate[pair] * self.theta[pair];
            }
        }
        let matrix = if self.by_class {
            Some(self.class_matrix(problem, now))
        } else {
            self.group_matrix(problem, now)
        };
        let Some(mut matrix) = matrix else { return false };
        self.pin_scale(problem, &mut matrix);
        let Some(schur) = Cholesky::new(matrix) else { return false };
        if !self.by_class {
            self.level_column = schur.solve(&self.rising);
            self.level_pivot = dot(&self.rising, &self.level_column);
        }
        self.schur = Some(schur);
        self.level_pivot > 0.0
    }

    /// The Schur complement alone hardly feels a common scaling of all prices and multipliers; it is the row
    /// `Σ_rising y = 1` that fixes it. On the class side that row eliminates the level: `+ κ κᵀ / e` with
    /// `κ = Σ_rising k_g / E_g` and `e = Σ_rising 1 / E_g`. On the group side a multiple of the row is added to
    /// the others, which changes no solution.
    fn pin_scale(&mut self, problem: &LevelProblem<'_>, matrix: &mut DMatrix<f64>) {
        if self.by_class {
            let per_group: Vec<f64> = self.rising.iter().zip(&self.e).map(|(rising, e)| rising / e).collect();
            self.level_pivot = per_group.iter().sum();
            self.level_column = self.onto_classes(problem, &per_group);
        } else {
            self.level_pivot =
                self.rising.iter().enumerate().map(|(g, rising)| rising / matrix[(g, g)]).sum::<f64>();
            self.level_column.clone_from(&self.rising);
        }
        let column = nalgebra::DVector::from_column_slice(&self.level_column);
        self.pin = 1.0 / self.level_pivot;
        matrix.ger(self.pin, &column, &column, 1.0);
    }

    /// `Σ_g k_g x_g` with `k_g,lr = Θ_gl ρ_gl a_gr`.
    fn onto_classes(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let groups = problem.groups;
        let mut sum = vec![0.0; problem.capacities.len()];
        for (g, x) in x.iter().enumerate() {
            for pair in groups.pairs(g) {
                let weight = self.theta[pair] * self.rate[pair] * x;
                sum[problem.rows(pair)]
                    .iter_mut()
                    .zip(problem.load(g))
                    .for_each(|(sum, a)| *sum += weight * a);
            }
        }
        sum
    }

    /// `k_g · x` for every group.
    fn onto_groups(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let groups = problem.groups;
        let term = |g: usize, pair: usize| {
            self.theta[pair] * self.rate[pair] * dot(problem.load(g), &x[problem.rows(pair)])
        };
        (0..groups.len()).map(|g| groups.pairs(g).map(|pair| term(g, pair)).sum()).collect()
    }

    /// The class side: `blockdiag(B_l) − Σ_g k_g k_gᵀ / E_g`, without ever subtracting large equal terms: what
    /// a group leaves on the diagonal blocks is computed from its other classes. Lower triangle only.
    fn class_matrix(&self, problem: &LevelProblem<'_>, now: &Point) -> DMatrix<f64> {
        let (m, groups) = (problem.resources, problem.groups);
        let order = problem.capacities.len();
        // Row-major here, so that a row of the lower triangle is contiguous; symmetric, so that is no matter.
        let mut matrix = DMatrix::zeros(order, order);
        let entries = matrix.as_mut_slice();
        let mut k_g: Vec<f64> = Vec::new();
        for g in 0..groups.len() {
            let (load, pairs, e) = (problem.load(g), groups.pairs(g), self.e[g]);
            let own = |pair: usize| self.rate[pair] * self.rate[pair] * self.theta[pair];
            k_g.clear();
            for pair in pairs.clone() {
                let weight = self.theta[pair] * self.rate[pair];
                let row = problem.rows(pair).start;
                // Every class before this one, as one contiguous run when the group has all classes.
                for (r, a) in load.iter().enumerate() {
                    let scale = -weight * a / e;
                    let line = &mut entries[(row + r) * order..(row + r) * order + row];
                    for (before, k_before) in pairs.clone().zip(k_g.chunks(m)) {
                        let to = problem.rows(before);
                        line[to].iter_mut().zip(k_before).for_each(|(entry, k)| *entry += scale * k);
                    }
                }
                k_g.extend(load.iter().map(|a| weight * a));
                let others = if let Some(task_row) = &self.task_rows[g] {
                    for before in pairs.clone().take_while(|before| *before < pair) {
                        let scale = -self.theta[pair] * self.theta[before] / task_row.e;
                        let to = problem.rows(before);
                        for (r, a) in load.iter().enumerate() {
                            let line = &mut entries[(row + r) * order..][to.clone()];
                            line.iter_mut().zip(load).for_each(|(entry, b)| *entry += scale * a * b);
                        }
                    }
                    e * task_row.left[pair - pairs.start]
                } else if own(pair) < 0.5 * e {
                    e - own(pair)
                } else {
                    self.e_own[g] + pairs.clone().filter(|other| *other != pair).map(own).sum::<f64>()
                };
                let weight = self.theta[pair] * (others / e);
                for (r, a) in load.iter().enumerate() {
                    let start = (row + r) * order + row;
                    let line = &mut entries[start..start + r + 1];
                    line.iter_mut().zip(load).for_each(|(entry, b)| *entry += weight * a * b);
                }
            }
        }
        for row in 0..order {
            entries[row * order + row] += row_slack(problem, now, row);
        }
        // Column-major, the rows above are the upper triangle.
        for row in 0..order {
            for column in 0..row {
                entries[column * order + row] = entries[row * order + column];
            }
        }
        matrix
    }

    /// The group side: `diag(E) − Σ_l k_lᵀ B_l⁻¹ k_l`, from factors of the class blocks.
    fn group_matrix(&mut self, problem: &LevelProblem<'_>, now: &Point) -> Option<DMatrix<f64>> {
        let (k, m, groups) = (problem.classes(), problem.resources, problem.groups);
        let n = groups.len();
        let mut blocks = vec![0.0; k * m * m];
        for g in 0..n {
            let load = problem.load(g);
            for pair in groups.pairs(g) {
                let start = groups.class[pair] as usize * m * m;
                for (row, a) in blocks[start..start + m * m].chunks_mut(m).zip(load) {
                    let weight = self.theta[pair] * a;
                    row.iter_mut().zip(load).for_each(|(entry, b)| *entry += weight * b);
                }
            }
        }
        self.blocks.clear();
        for (l, block) in blocks.chunks(m * m).enumerate() {
            let mut block = DMatrix::from_row_slice(m, m, block);
            for r in 0..m {
                block[(r, r)] += row_slack(problem, now, l * m + r);
            }
            self.blocks.push(Cholesky::new(block)?);
        }
        let mut matrix = DMatrix::zeros(n, n);
        let mut diagonal = self.e_own.clone();
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
                    let (l, rate, theta) = (groups.class[pair] as usize, groups.rate[pair], self.theta[pair]);
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
        matrix.set_diagonal(&nalgebra::DVector::from_vec(diagonal));
        Some(matrix)
    }

    /// The step that adds `goals` to the complementarity products.
    pub fn direction(
        &self,
        problem: &LevelProblem<'_>,
        now: &Point,
        penalty: &[f64],
        goals: &Goals,
    ) -> Point {
        let (groups, rising) = (problem.groups, &problem.groups.rising);
        let [goal_zs, goal_up, goal_vy, goal_qo, goal_fz] = &goals.0;
        let (n, pairs, rows) = (groups.len(), groups.pair_count(), problem.capacities.len());

        // Residuals of the linear equations: rounding only, but cheap to keep from growing.
        let mut free = problem.capacities.to_vec();
        let mut reduced = vec![0.0; pairs];
        let mut right_class = vec![0.0; rows];
        let mut right_group = vec![0.0; n];
        let mut elastic = vec![0.0; n];
        let mut right_tasks = vec![0.0; n];
        for g in 0..n {
            let load = problem.load(g);
            let mut right = goal_vy[g] / now.y[g] + now.v[g];
            let mut tasks = 0.0;
            for pair in groups.pairs(g) {
                let (rate, at) = (groups.rate[pair], problem.rows(pair));
                reduced[pair] = dot(load, &now.p[at.clone()]) - rate * now.y[g] + now.z[g] - now.s[pair];
                let pull = goal_zs[pair] / now.s[pair] - self.theta[pair] * reduced[pair];
                for (r, a) in at.zip(load) {
                    free[r] -= a * now.zeta[pair];
                    right_class[r] += a * pull;
                }
                right -= rate * (now.zeta[pair] + pull);
                tasks += now.zeta[pair] + pull;
            }
            if rising[g] {
                right += now.t;
            } else {
                elastic[g] = penalty[g] - now.y[g] - now.o[g];
                right += 1.0 - now.q[g] - (goal_qo[g] - now.q[g] * elastic[g]) / now.o[g];
            }
            if let Some(row) = &self.task_rows[g] {
                right_tasks[g] = goal_fz[g] / now.z[g] + now.f[g] - groups.limit[g] + tasks;
                right += row.mean * right_tasks[g];
                for pair in groups.pairs(g) {
                    let weight = self.theta[pair] * right_tasks[g] / row.e;
                    right_class[problem.rows(pair)].iter_mut().zip(load).for_each(|(r, a)| *r -= weight * a);
                }
            }
            right_group[g] = right;
        }
        let with_capacity = || (0..rows).filter(|&i| problem.capacities[i] > 0.0);
        for i in with_capacity() {
            right_class[i] += goal_up[i] / now.p[i] - (free[i] - now.u[i]);
        }
        let level_residual = 1.0 - dot(&self.rising, &now.y);

        let (t, p, y) = self.solve(problem, &right_class, &right_group, level_residual);

        let mut s = vec![0.0; pairs];
        let mut zeta = vec![0.0; pairs];
        let mut u = vec![0.0; rows];
        let (mut v, mut q, mut o) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut f, mut z) = (vec![0.0; n], vec![0.0; n]);
        for g in 0..n {
            if let Some(row) = &self.task_rows[g] {
                let met = |pair| self.theta[pair] * dot(problem.load(g), &p[problem.rows(pair)]);
                let met: f64 = groups.pairs(g).map(met).sum();
                z[g] = (right_tasks[g] - met) / row.e + row.mean * y[g];
                f[g] = (goal_fz[g] - now.f[g] * z[g]) / now.z[g];
            }
            for pair in groups.pairs(g) {
                let cost = dot(problem.load(g), &p[problem.rows(pair)]) - groups.rate[pair] * y[g] + z[g];
                s[pair] = cost + reduced[pair];
                zeta[pair] = (goal_zs[pair] - now.zeta[pair] * s[pair]) / now.s[pair];
            }
            v[g] = (goal_vy[g] - now.v[g] * y[g]) / now.y[g];
            if !rising[g] {
                o[g] = elastic[g] - y[g];
                q[g] = (goal_qo[g] - now.q[g] * o[g]) / now.o[g];
            }
        }
        for i in with_capacity() {
            u[i] = (goal_up[i] - now.u[i] * p[i]) / now.p[i];
        }
        Point { t, zeta, s, u, p, v, y, q, o, f, z }
    }

    /// Back-substitution: from right-hand sides to the steps of level, prices and multipliers.
    fn solve(
        &self,
        problem: &LevelProblem<'_>,
        right_class: &[f64],
        right_group: &[f64],
        level_residual: f64,
    ) -> (f64, Vec<f64>, Vec<f64>) {
        let n = problem.groups.len();
        let Some(schur) = &self.schur else { return (f64::NAN, vec![0.0; right_class.len()], vec![0.0; n]) };
        if self.by_class {
            let over: Vec<f64> = right_group.iter().zip(&self.e).map(|(f, e)| f / e).collect();
            let folded = self.onto_classes(problem, &over);
            let missing = level_residual - dot(&self.rising, &over);
            let right: Vec<f64> = (0..folded.len())
                .map(|i| right_class[i] + folded[i] + self.level_column[i] * missing * self.pin)
                .collect();
            let p = schur.solve(&right);
            let t = (missing - dot(&self.level_column, &p)) / self.level_pivot;
            let met = self.onto_groups(problem, &p);
            let y = (0..n).map(|g| (right_group[g] + met[g] + self.rising[g] * t) / self.e[g]).collect();
            return (t, p, y);
        }
        let block_solve = |right: &[f64]| -> Vec<f64> {
            right
                .chunks(problem.resources)
                .zip(&self.blocks)
                .flat_map(|(right, block)| block.solve(right))
                .collect()
        };
        let met = self.onto_groups(problem, &block_solve(right_class));
        let right: Vec<f64> =
            (0..n).map(|g| right_group[g] + met[g] + self.rising[g] * level_residual * self.pin).collect();
        let mut y = schur.solve(&right);
        let t = (level_residual - dot(&self.rising, &y)) / self.level_pivot;
        y.iter_mut().zip(&self.level_column).for_each(|(y, column)| *y += column * t);
        let folded = self.onto_classes(problem, &y);
        let right: Vec<f64> = right_class.iter().zip(&folded).map(|(f, k)| f + k).collect();
        (t, block_solve(&right), y)
    }
}

/// The task row of a group, eliminated before its share row. With `e = Σ_l Θ_l + f/z` and the mean rate
/// `ρ̄ = Σ_l Θ_l ρ_l / e`, what is left is a share row with rates `ρ_l − ρ̄`, and a second term `k kᵀ / e` to subtract on the
/// class side, where `k_lr = Θ_l a_r`.
#[derive(Clone)]
struct TaskRow {
    e: f64,
    /// `ρ̄`
    mean: f64,
    /// `ρ_l − ρ̄` of each pair.
    rates: Vec<f64>,
    /// For each pair `1 − Θ_l (1/e + (ρ_l − ρ̄)²/E)`: the part of its block on the class side that both rows leave.
    left: Vec<f64>,
}

impl TaskRow {
    /// From `f/z`, from the part of `E` that does not come from Θ, and from the rates and Θ of the pairs. Nothing here
    /// subtracts large equal terms: Θ grows without bound on the classes that the group uses in the end.
    fn of(own: f64, own_of_share: f64, rate: &[f64], theta: &[f64]) -> Self {
        let (e, mean) = Self::sum(own, rate, theta);
        let rates: Vec<f64> = (rate.iter())
            .map(|at| (own * at + rate.iter().zip(theta).map(|(r, theta)| theta * (at - r)).sum::<f64>()) / e)
            .collect();
        // `e E` over some pairs, the determinant of the two rows.
        let determinant = |rate: &[f64], theta: &[f64]| {
            let (e, mean) = Self::sum(own, rate, theta);
            let spread =
                rate.iter().zip(theta).map(|(r, theta)| theta * (r - mean) * (r - mean)).sum::<f64>();
            e * (own_of_share + mean * mean * own + spread)
        };
        let all = determinant(rate, theta);
        let others = |of: &[f64], l: usize| [&of[..l], &of[l + 1..]].concat();
        let left = (0..rate.len()).map(|l| determinant(&others(rate, l), &others(theta, l)) / all).collect();
        Self { e, mean, rates, left }
    }

    /// `e` and `ρ̄` over some pairs.
    fn sum(own: f64, rate: &[f64], theta: &[f64]) -> (f64, f64) {
        let e = own + theta.iter().sum::<f64>();
        (e, dot(rate, theta) / e)
    }
}

/// `u/p` of a capacity row; a row without capacity is kept out of the step by a unit on its diagonal.
fn row_slack(problem: &LevelProblem<'_>, now: &Point, row: usize) -> f64 {
    let capacity = problem.capacities[row];
    if capacity > 0.0 { (now.u[row] + PROXIMAL * capacity) / now.p[row] } else { 1.0 }
}
