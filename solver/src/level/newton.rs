//! The Newton step of the interior point through its small Schur complement.
//!
//! A group meets every class and a class meets every group, but groups do not meet each other, nor classes.
//! Eliminating whichever side is larger leaves a system of order `classes × resources` or `groups`.

use super::class_side::ClassSide;
use super::group_side::GroupSide;
use super::point::{Goals, Measured, Point};
use super::weights::{Weights, row_slack};
use super::{LevelProblem, dot};
use crate::interior_point::Cholesky;
use crate::tolerance::level::REFINED;
use fairplan_instances::Deadline;
use nalgebra::DVector;

/// The factored normal equations at one iterate.
pub(super) struct LevelSystem {
    weights: Weights,
    side: Side,
    schur: Option<Cholesky>,
    /// Whether solutions of the Schur complement need refinement.
    is_refined: bool,
    residuals: Residuals,
    level: LevelRow,
}

/// The side that remains.
enum Side {
    Classes(ClassSide),
    Groups(GroupSide),
}

/// By how much the linear equations are missed: rounding only, but cheap to keep from growing.
#[derive(Default)]
struct Residuals {
    /// `c − Σ a ζ − u` of each row, `a·p − ρ y + z − s` of each pair, `Π − y − o` of each group, `1 − Σ_rising y`.
    free: Vec<f64>,
    reduced: Vec<f64>,
    elastic: Vec<f64>,
    level: f64,
}

/// The row `Σ_rising y = 1`, eliminated.
///
/// The Schur complement alone hardly feels a common scaling of all prices and multipliers; it is this row that
/// fixes it. On the class side it eliminates the level: `+ κ κᵀ / e` with `κ = Σ_rising k_g / E_g` and
/// `e = Σ_rising 1 / E_g`. On the group side a multiple of the row is added to the others, which changes no
/// solution.
#[derive(Default)]
struct LevelRow {
    /// 1 for rising groups, 0 for settled ones.
    rising: Vec<f64>,
    column: Vec<f64>,
    pivot: f64,
    /// The multiple of the row that pins the scale.
    pin: f64,
}

/// Steps of the level, the prices and the multipliers, and what the step of the prices costs each pair.
struct Solved {
    t: f64,
    p: Vec<f64>,
    y: Vec<f64>,
    costs: Vec<f64>,
}

impl LevelSystem {
    pub fn new(problem: &LevelProblem<'_>) -> Self {
        let (n, groups) = (problem.groups.len(), problem.groups);
        let rising = groups.rising.iter().map(|rising| f64::from(u8::from(*rising))).collect();
        // Task rows are eliminated, and limits stand, on the class side only.
        let has_rows_of_its_own = problem.limits.is_some() || (0..n).any(|g| groups.has_task_row(g));
        let by_class = problem.capacities.len() <= n || has_rows_of_its_own;
        Self {
            weights: Weights::new(problem),
            side: if by_class {
                Side::Classes(ClassSide::new(problem))
            } else {
                Side::Groups(GroupSide::default())
            },
            schur: None,
            is_refined: true,
            residuals: Residuals::default(),
            level: LevelRow { rising, ..LevelRow::default() },
        }
    }

    /// How many equations are left to factor.
    pub fn order(&self, problem: &LevelProblem<'_>) -> usize {
        match &self.side {
            Side::Classes(_) => problem.capacities.len(),
            Side::Groups(_) => problem.groups.len(),
        }
    }

    /// Builds and factors the system. False when rounding has made that impossible, or time was over before.
    pub fn factor(
        &mut self,
        problem: &LevelProblem<'_>,
        now: &Point,
        measured: &Measured,
        penalty: &[f64],
        deadline: &Deadline,
    ) -> bool {
        self.weights.set(problem, now);
        self.residuals = Residuals::of(problem, now, measured, penalty);
        let (weights, level) = (&self.weights, &mut self.level);
        let slack = |row| row_slack(problem, now, row);
        let [memory, of_factors] = self.schur.take().map(Cholesky::into_memory).unwrap_or_default();
        let matrix = match &mut self.side {
            Side::Classes(side) => Some(side.matrix(problem, weights, slack, memory)),
            Side::Groups(side) => side.matrix(problem, weights, slack, memory, deadline),
        };
        let Some(mut matrix) = matrix else { return false };
        match &self.side {
            Side::Classes(_) => {
                let per_group: Vec<f64> =
                    level.rising.iter().zip(&weights.e).map(|(rising, e)| rising / e).collect();
                level.pivot = per_group.iter().sum();
                let mut pairs = vec![0.0; problem.groups.pair_count()];
                weights.add_onto_pairs(problem, &per_group, &mut pairs);
                level.column = problem.usage(&pairs);
            }
            Side::Groups(_) => {
                level.pivot =
                    level.rising.iter().enumerate().map(|(g, rising)| rising / matrix[(g, g)]).sum::<f64>();
                level.column.clone_from(&level.rising);
            }
        }
        level.pin = 1.0 / level.pivot;
        let column = DVector::from_column_slice(&level.column);
        matrix.ger(level.pin, &column, &column, 1.0);
        let Some(schur) = Cholesky::within(matrix, of_factors, deadline) else { return false };
        if let Side::Groups(_) = self.side {
            (level.column, self.is_refined) = schur.solve_and_judge(&level.rising, REFINED);
            level.pivot = dot(&level.rising, &level.column);
        }
        self.schur = Some(schur);
        level.pivot > 0.0
    }

    /// The step that adds `goals` to the complementarity products, in the memory of one that is not needed any more: fresh memory
    /// for all pairs takes as long as a part of the step.
    pub fn direction(&self, problem: &LevelProblem<'_>, now: &Point, goals: &Goals, memory: Point) -> Point {
        let (groups, weights, residuals) = (problem.groups, &self.weights, &self.residuals);
        let [goal_zs, goal_up, goal_vy, goal_qo, goal_fz] = &goals.0;
        let rows = problem.capacities.len();

        // The splits' part of the memory, until they are written there.
        let Point { zeta: mut pull, s, .. } = memory;
        pull.resize(groups.pair_count(), 0.0);
        // The right-hand sides of each group's own row and of its task row.
        let rights = groups.fill(&mut pull, |g, pull| {
            let (here, zeta) = (groups.pairs(g), &now.zeta[groups.pairs(g)]);
            let theta = &weights.theta[here.clone()];
            let goals = goal_zs[here.clone()].iter().zip(&weights.inverse_s[here.clone()]);
            let missed = theta.iter().zip(&residuals.reduced[here.clone()]);
            for ((pull, (goal, inverse_s)), (theta, missed)) in pull.iter_mut().zip(goals).zip(missed) {
                *pull = goal * inverse_s - theta * missed;
            }
            let work = groups.rate[here].iter().zip(zeta).zip(&*pull);
            let mut right = goal_vy[g] / now.y[g] + now.v[g]
                - work.map(|((rate, zeta), pull)| rate * (zeta + pull)).sum::<f64>();
            right += if groups.rising[g] {
                now.t
            } else {
                1.0 - now.q[g] - (goal_qo[g] - now.q[g] * residuals.elastic[g]) / now.o[g]
            };
            let Some(row) = &weights.task_rows[g] else { return (right, 0.0) };
            let tasks = zeta.iter().zip(&*pull).map(|(zeta, pull)| zeta + pull).sum::<f64>();
            let of_tasks = goal_fz[g] / now.z[g] + now.f[g] - groups.limit[g] + tasks;
            pull.iter_mut().zip(theta).for_each(|(pull, theta)| *pull -= theta * of_tasks / row.e);
            (right + row.mean * of_tasks, of_tasks)
        });
        let (right_group, right_tasks): (Vec<f64>, Vec<f64>) = rights.into_iter().unzip();
        let with_capacity = || (0..rows).filter(|&i| problem.capacities[i] > 0.0);
        let mut right_class = vec![0.0; rows];
        for i in with_capacity() {
            right_class[i] = goal_up[i] / now.p[i] - residuals.free[i];
        }

        let Solved { t, p, y, costs: mut s } = self.solve(problem, right_class, &right_group, &mut pull, s);
        let of_groups = groups.fill(&mut s, |g, s| {
            let (mut f, mut z) = (0.0, 0.0);
            if let Some(row) = &weights.task_rows[g] {
                let met = dot(&weights.theta[groups.pairs(g)], s);
                z = (right_tasks[g] - met) / row.e + row.mean * y[g];
                f = (goal_fz[g] - now.f[g] * z) / now.z[g];
            }
            let missed = residuals.reduced[groups.pairs(g)].iter().zip(&groups.rate[groups.pairs(g)]);
            for (s, (missed, rate)) in s.iter_mut().zip(missed) {
                *s += missed - rate * y[g] + z;
            }
            let v = (goal_vy[g] - now.v[g] * y[g]) / now.y[g];
            if groups.rising[g] {
                return [v, 0.0, 0.0, f, z];
            }
            let o = residuals.elastic[g] - y[g];
            [v, (goal_qo[g] - now.q[g] * o) / now.o[g], o, f, z]
        });
        let column = |which: usize| of_groups.iter().map(|numbers| numbers[which]).collect();
        let [v, q, o, f, z] = std::array::from_fn(column);
        let mut zeta = pull;
        groups.fill(&mut zeta, |g, zeta| {
            let here = groups.pairs(g);
            let goals = goal_zs[here.clone()].iter().zip(&weights.inverse_s[here.clone()]);
            let moved = now.zeta[here.clone()].iter().zip(&s[here]);
            for ((step, (goal, inverse_s)), (zeta, s)) in zeta.iter_mut().zip(goals).zip(moved) {
                *step = (goal - zeta * s) * inverse_s;
            }
        });
        let mut u = vec![0.0; rows];
        for i in with_capacity() {
            u[i] = (goal_up[i] - now.u[i] * p[i]) / now.p[i];
        }
        Point { t, zeta, s, u, p, v, y, q, o, f, z }
    }

    /// Back-substitution, from right-hand sides: `right_class` is still without what the pairs `pull`. The costs are written over
    /// what is there.
    fn solve(
        &self,
        problem: &LevelProblem<'_>,
        mut right_class: Vec<f64>,
        right_group: &[f64],
        pull: &mut [f64],
        mut costs: Vec<f64>,
    ) -> Solved {
        let (weights, level, n) = (&self.weights, &self.level, right_group.len());
        let Some(schur) = &self.schur else {
            costs.resize(pull.len(), 0.0);
            return Solved { t: f64::NAN, p: right_class, y: vec![0.0; n], costs };
        };
        let add = |sum: &mut [f64], x: &[f64]| sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        match &self.side {
            Side::Classes(_) => {
                let over: Vec<f64> = right_group.iter().zip(&weights.e).map(|(f, e)| f / e).collect();
                weights.add_onto_pairs(problem, &over, pull);
                add(&mut right_class, &problem.usage(pull));
                let missing = self.residuals.level - dot(&level.rising, &over);
                let pinned = level.column.iter().map(|x| x * missing * level.pin);
                right_class.iter_mut().zip(pinned).for_each(|(sum, x)| *sum += x);
                let p = schur.solve(&right_class);
                let t = (missing - dot(&level.column, &p)) / level.pivot;
                problem.write_costs(&p, &mut costs);
                let met = |g: usize| weights.onto_group(problem, g, &costs);
                let y =
                    (0..n).map(|g| (right_group[g] + met(g) + level.rising[g] * t) / weights.e[g]).collect();
                Solved { t, p, y, costs }
            }
            Side::Groups(side) => {
                add(&mut right_class, &problem.usage(pull));
                let met = weights.onto_groups(problem, &side.solve_blocks(&right_class));
                let pinned = self.residuals.level * level.pin;
                let right = |g: usize| right_group[g] + met[g] + level.rising[g] * pinned;
                let right: Vec<f64> = (0..n).map(right).collect();
                let mut y = if self.is_refined { schur.solve(&right) } else { schur.solve_roughly(&right) };
                let t = (self.residuals.level - dot(&level.rising, &y)) / level.pivot;
                y.iter_mut().zip(&level.column).for_each(|(y, column)| *y += column * t);
                add(&mut right_class, &weights.onto_classes(problem, &y));
                let p = side.solve_blocks(&right_class);
                problem.write_costs(&p, &mut costs);
                Solved { t, p, y, costs }
            }
        }
    }
}

impl Residuals {
    fn of(problem: &LevelProblem<'_>, now: &Point, measured: &Measured, penalty: &[f64]) -> Self {
        let groups = problem.groups;
        let free = |((capacity, usage), u): ((&f64, &f64), &f64)| capacity - usage - u;
        let mut reduced: Vec<f64> = measured.costs.iter().zip(&now.s).map(|(cost, s)| cost - s).collect();
        let (mut elastic, mut multipliers) = (vec![0.0; groups.len()], 0.0);
        for g in 0..groups.len() {
            for pair in groups.pairs(g) {
                reduced[pair] += now.z[g] - groups.rate[pair] * now.y[g];
            }
            if groups.rising[g] {
                multipliers += now.y[g];
            } else {
                elastic[g] = penalty[g] - now.y[g] - now.o[g];
            }
        }
        let free = problem.capacities.iter().zip(&measured.usage).zip(&now.u).map(free).collect();
        Self { free, reduced, elastic, level: 1.0 - multipliers }
    }
}
