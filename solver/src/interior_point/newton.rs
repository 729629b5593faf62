//! The Newton step of the interior point through its small Schur complement.
//!
//! A group meets every class and a class meets every group, but groups do not meet each other, nor classes.
//! Eliminating whichever side is larger leaves a system of order `classes × resources` or `groups`.

use super::Iterate;
use super::cholesky::Cholesky;
use crate::level::LevelProblem;
use nalgebra::DMatrix;

/// A step for every variable of the iterate.
#[derive(Clone)]
pub(super) struct Direction {
    pub t: f64,
    pub zeta: Vec<f64>,
    pub s: Vec<f64>,
    pub u: Vec<f64>,
    pub p: Vec<f64>,
    pub v: Vec<f64>,
    pub y: Vec<f64>,
    pub q: Vec<f64>,
    pub o: Vec<f64>,
}

/// What a step should add to each complementarity product, to first order.
#[derive(Clone)]
pub(super) struct Goals {
    pub zeta_s: Vec<f64>,
    pub u_p: Vec<f64>,
    pub v_y: Vec<f64>,
    pub q_o: Vec<f64>,
}

/// Rows (groups, or classes times resources) multiplied at a time, so that the products stay in cache.
const BLOCK: usize = 1024;

/// Proximal term: prices and multipliers move as if each slack were larger by this part of its row. Where a
/// slack vanishes, the right-hand side of its row is rounding noise, which would otherwise become a large step
/// along a direction in which nothing is determined. What a step leaves unsatisfied this way is of the order of
/// this times the step, and the next residual takes it up.
const PROXIMAL: f64 = 1e-5;

/// The factored normal equations at one iterate.
pub(super) struct NewtonSystem {
    by_class: bool,
    theta: Vec<f64>,
    /// `E_g` and its part that does not come from Θ.
    e: Vec<f64>,
    e_own: Vec<f64>,
    schur: Option<Cholesky>,
    /// Factors of the class blocks `B_l`, used when the groups remain.
    blocks: Vec<Option<Cholesky>>,
    /// The Schur solution for a unit step of the level, with the rising groups' part of it.
    level_column: Vec<f64>,
    level_pivot: f64,
    /// The multiple of the level row that pins the scale.
    pin: f64,
    /// 1 for rising groups, 0 for settled ones.
    rising: Vec<f64>,
}

impl NewtonSystem {
    pub fn new(problem: &LevelProblem<'_>) -> Self {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        Self {
            by_class: k * m <= n,
            theta: vec![0.0; n * k],
            e: vec![0.0; n],
            e_own: vec![0.0; n],
            schur: None,
            blocks: Vec::new(),
            level_column: Vec::new(),
            level_pivot: 0.0,
            pin: 0.0,
            rising: problem.groups.rising.iter().map(|rising| f64::from(u8::from(*rising))).collect(),
        }
    }

    /// Builds and factors the system. False when rounding has made that impossible.
    pub fn factor(&mut self, problem: &LevelProblem<'_>, now: &Iterate) -> bool {
        let (k, n) = (problem.classes(), problem.groups.len());
        for g in 0..n {
            let rates = problem.rates(g);
            let mut e = 0.0;
            for l in 0..k {
                let pair = g * k + l;
                self.theta[pair] = if rates[l] > 0.0 { now.zeta[pair] / now.s[pair] } else { 0.0 };
                e += rates[l] * rates[l] * self.theta[pair];
            }
            let settled = if problem.groups.rising[g] { 0.0 } else { now.q[g] / now.o[g] };
            let share = if problem.groups.rising[g] { now.t.abs() } else { 1.0 };
            self.e_own[g] = (now.v[g] + PROXIMAL * share) / now.y[g] + settled;
            self.e[g] = e + self.e_own[g];
        }
        let matrix = if self.by_class {
            self.class_matrix(problem, now)
        } else {
            match self.group_matrix(problem, now) {
                Some(matrix) => matrix,
                None => return false,
            }
        };
        let mut matrix = matrix;
        self.pin_scale(problem, &mut matrix);
        let Some(schur) = Cholesky::new(matrix) else { return false };
        if !self.by_class {
            self.level_column = schur.solve(&self.rising);
            self.level_pivot = super::dot(&self.rising, &self.level_column);
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
        matrix.ger(1.0 / self.level_pivot, &column, &column, 1.0);
        self.pin = 1.0 / self.level_pivot;
    }

    /// `Σ_g k_g x_g` with `k_g,lr = Θ_gl ρ_gl a_gr`.
    fn onto_classes(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let (k, m) = (problem.classes(), problem.resources);
        let mut sum = vec![0.0; k * m];
        for (g, x) in x.iter().enumerate() {
            let (load, rates) = (problem.load(g), problem.rates(g));
            for l in 0..k {
                let weight = self.theta[g * k + l] * rates[l] * x;
                for (sum, a) in sum[l * m..(l + 1) * m].iter_mut().zip(load) {
                    *sum += weight * a;
                }
            }
        }
        sum
    }

    /// `k_g · x` for every group.
    fn onto_groups(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        (0..n)
            .map(|g| {
                let (load, rates) = (problem.load(g), problem.rates(g));
                (0..k)
                    .map(|l| {
                        self.theta[g * k + l] * rates[l] * super::dot(load, &x[l * m..(l + 1) * m])
                    })
                    .sum()
            })
            .collect()
    }

    /// The class side: `blockdiag(B_l) − Σ_g k_g k_gᵀ / E_g`, without ever subtracting large equal terms: what
    /// a group leaves on the diagonal is computed from its other classes.
    fn class_matrix(&self, problem: &LevelProblem<'_>, now: &Iterate) -> DMatrix<f64> {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        let mut matrix = DMatrix::zeros(k * m, k * m);
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            let mut rows = DMatrix::zeros(k * m, end - start);
            for g in start..end {
                let (load, rates, root) = (problem.load(g), problem.rates(g), self.e[g].sqrt());
                let mut column = rows.column_mut(g - start);
                for l in 0..k {
                    let weight = self.theta[g * k + l] * rates[l] / root;
                    for r in 0..m {
                        column[l * m + r] = weight * load[r];
                    }
                }
            }
            matrix.gemm(-1.0, &rows, &rows.transpose(), 1.0);
        }
        let mut blocks = vec![0.0; k * m * m];
        for g in 0..n {
            let (load, rates) = (problem.load(g), problem.rates(g));
            let theta = &self.theta[g * k..(g + 1) * k];
            for l in 0..k {
                let own = rates[l] * rates[l] * theta[l];
                if own == 0.0 {
                    continue;
                }
                let others = if own < 0.5 * self.e[g] {
                    self.e[g] - own
                } else {
                    let rest: f64 = (0..k).filter(|&j| j != l).map(|j| rates[j] * rates[j] * theta[j]).sum();
                    rest + self.e_own[g]
                };
                let weight = theta[l] * (others / self.e[g]);
                for r in 0..m {
                    for c in 0..m {
                        blocks[(l * m + r) * m + c] += weight * load[r] * load[c];
                    }
                }
            }
        }
        for l in 0..k {
            for r in 0..m {
                for c in 0..m {
                    matrix[(l * m + r, l * m + c)] = blocks[(l * m + r) * m + c];
                }
                matrix[(l * m + r, l * m + r)] += row_slack(problem, now, l * m + r);
            }
        }
        matrix
    }

    /// The group side: `diag(E) − Σ_l k_lᵀ B_l⁻¹ k_l`, from factors of the class blocks.
    fn group_matrix(&mut self, problem: &LevelProblem<'_>, now: &Iterate) -> Option<DMatrix<f64>> {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        self.blocks.clear();
        for l in 0..k {
            let mut block = DMatrix::zeros(m, m);
            for g in 0..n {
                let (load, theta) = (problem.load(g), self.theta[g * k + l]);
                for r in 0..m {
                    for c in 0..m {
                        block[(r, c)] += theta * load[r] * load[c];
                    }
                }
            }
            for r in 0..m {
                block[(r, r)] += row_slack(problem, now, l * m + r);
            }
            self.blocks.push(Some(Cholesky::new(block)?));
        }
        let mut matrix = DMatrix::zeros(n, n);
        let mut diagonal = self.e_own.clone();
        let per_block = (BLOCK / m).max(1);
        for start in (0..k).step_by(per_block) {
            let end = (start + per_block).min(k);
            let mut columns = DMatrix::zeros((end - start) * m, n);
            for l in start..end {
                let block = self.blocks[l].as_ref()?;
                for g in 0..n {
                    let (load, rate, theta) = (problem.load(g), problem.rates(g)[l], self.theta[g * k + l]);
                    if theta == 0.0 {
                        continue;
                    }
                    let half = block.half_solve(load);
                    let inner = theta * super::dot(&half, &half);
                    diagonal[g] += rate * rate * theta * (1.0 - inner).max(0.0);
                    for r in 0..m {
                        columns[((l - start) * m + r, g)] = theta * rate * half[r];
                    }
                }
            }
            matrix.gemm_tr(-1.0, &columns, &columns, 1.0);
        }
        for g in 0..n {
            matrix[(g, g)] = diagonal[g];
        }
        Some(matrix)
    }

    /// The step that adds `goals` to the complementarity products.
    pub fn direction(
        &self,
        problem: &LevelProblem<'_>,
        now: &Iterate,
        penalty: &[f64],
        goals: &Goals,
    ) -> Direction {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        let rising = &problem.groups.rising;

        // Residuals of the linear equations: rounding only, but cheap to keep from growing.
        let mut free = problem.capacities.to_vec();
        let mut reduced = vec![0.0; n * k];
        let mut right_class = vec![0.0; k * m];
        let mut right_group = vec![0.0; n];
        let mut elastic = vec![0.0; n];
        for g in 0..n {
            let (load, rates) = (problem.load(g), problem.rates(g));
            let mut work = 0.0;
            for l in (0..k).filter(|&l| rates[l] > 0.0) {
                let pair = g * k + l;
                let cost = super::dot(load, &now.p[l * m..(l + 1) * m]) - rates[l] * now.y[g];
                reduced[pair] = cost - now.s[pair];
                let pull = goals.zeta_s[pair] / now.s[pair] - self.theta[pair] * reduced[pair];
                for r in 0..m {
                    free[l * m + r] -= load[r] * now.zeta[pair];
                    right_class[l * m + r] += load[r] * pull;
                }
                work += rates[l] * now.zeta[pair];
                right_group[g] -= rates[l] * pull;
            }
            right_group[g] += goals.v_y[g] / now.y[g] + now.v[g] - work;
            if rising[g] {
                right_group[g] += now.t;
            } else {
                elastic[g] = penalty[g] - now.y[g] - now.o[g];
                right_group[g] += 1.0 - now.q[g] - (goals.q_o[g] - now.q[g] * elastic[g]) / now.o[g];
            }
        }
        for i in (0..k * m).filter(|&i| problem.capacities[i] > 0.0) {
            right_class[i] += goals.u_p[i] / now.p[i] - (free[i] - now.u[i]);
        }
        let level_residual = 1.0 - (0..n).filter(|&g| rising[g]).map(|g| now.y[g]).sum::<f64>();

        let (t, p, y) = self.solve(problem, &right_class, &right_group, level_residual);

        let mut step = Direction {
            t,
            zeta: vec![0.0; n * k],
            s: vec![0.0; n * k],
            u: vec![0.0; k * m],
            p,
            v: vec![0.0; n],
            y,
            q: vec![0.0; n],
            o: vec![0.0; n],
        };
        for g in 0..n {
            let (load, rates) = (problem.load(g), problem.rates(g));
            for l in (0..k).filter(|&l| rates[l] > 0.0) {
                let pair = g * k + l;
                let cost = super::dot(load, &step.p[l * m..(l + 1) * m]) - rates[l] * step.y[g];
                step.s[pair] = cost + reduced[pair];
                step.zeta[pair] = (goals.zeta_s[pair] - now.zeta[pair] * step.s[pair]) / now.s[pair];
            }
            step.v[g] = (goals.v_y[g] - now.v[g] * step.y[g]) / now.y[g];
            if !rising[g] {
                step.o[g] = elastic[g] - step.y[g];
                step.q[g] = (goals.q_o[g] - now.q[g] * step.o[g]) / now.o[g];
            }
        }
        for i in (0..k * m).filter(|&i| problem.capacities[i] > 0.0) {
            step.u[i] = (goals.u_p[i] - now.u[i] * step.p[i]) / now.p[i];
        }
        step
    }

    /// Back-substitution: from right-hand sides to the steps of level, prices and multipliers.
    fn solve(
        &self,
        problem: &LevelProblem<'_>,
        right_class: &[f64],
        right_group: &[f64],
        level_residual: f64,
    ) -> (f64, Vec<f64>, Vec<f64>) {
        let (m, n) = (problem.resources, problem.groups.len());
        let Some(schur) = &self.schur else { return (0.0, vec![0.0; right_class.len()], vec![0.0; n]) };
        if self.by_class {
            let over: Vec<f64> = right_group.iter().zip(&self.e).map(|(f, e)| f / e).collect();
            let folded = self.onto_classes(problem, &over);
            let right: Vec<f64> = right_class.iter().zip(&folded).map(|(f, k)| f + k).collect();
            let risen: f64 = (0..n).map(|g| self.rising[g] * over[g]).sum();
            let missing = level_residual - risen;
            let right: Vec<f64> =
                right.iter().zip(&self.level_column).map(|(f, column)| f + column * missing * self.pin).collect();
            let p = schur.solve(&right);
            let t = (missing - super::dot(&self.level_column, &p)) / self.level_pivot;
            let met = self.onto_groups(problem, &p);
            let y = (0..n)
                .map(|g| (right_group[g] + met[g] + self.rising[g] * t) / self.e[g])
                .collect();
            return (t, p, y);
        }
        let block_solve = |right: &[f64]| -> Vec<f64> {
            right
                .chunks(m)
                .zip(&self.blocks)
                .flat_map(|(right, block)| match block {
                    Some(block) => block.solve(right),
                    None => vec![0.0; m],
                })
                .collect()
        };
        let met = self.onto_groups(problem, &block_solve(right_class));
        let right: Vec<f64> = (0..n)
            .map(|g| right_group[g] + met[g] + self.rising[g] * level_residual * self.pin)
            .collect();
        let mut y = schur.solve(&right);
        let t = (level_residual - super::dot(&self.rising, &y)) / self.level_pivot;
        y.iter_mut().zip(&self.level_column).for_each(|(y, column)| *y += column * t);
        let folded = self.onto_classes(problem, &y);
        let right: Vec<f64> = right_class.iter().zip(&folded).map(|(f, k)| f + k).collect();
        (t, block_solve(&right), y)
    }
}

/// `u/p` of a capacity row; a row without capacity is kept out of the step by a unit on its diagonal.
fn row_slack(problem: &LevelProblem<'_>, now: &Iterate, row: usize) -> f64 {
    let capacity = problem.capacities[row];
    if capacity > 0.0 { (now.u[row] + PROXIMAL * capacity) / now.p[row] } else { 1.0 }
}
