//! The numbers that the Newton system is made of at one iterate.

use super::point::Point;
use super::task_row::TaskRow;
use super::{LevelProblem, dot};
use crate::tolerance::level::PROXIMAL;

pub(super) struct Weights {
    /// `1/s` and `Θ` of each pair.
    pub inverse_s: Vec<f64>,
    pub theta: Vec<f64>,
    /// The rate of each pair; with a task row, less the group's mean over Θ: see [`TaskRow`].
    pub rate: Vec<f64>,
    /// Θ times that rate.
    pub theta_rate: Vec<f64>,
    /// `E_g` and its part that does not come from Θ.
    pub e: Vec<f64>,
    pub e_own: Vec<f64>,
    /// The eliminated task row of each group that has one.
    pub task_rows: Vec<Option<TaskRow>>,
}

impl Weights {
    pub fn new(problem: &LevelProblem<'_>) -> Self {
        let (n, pairs) = (problem.groups.len(), problem.groups.pair_count());
        Self {
            inverse_s: vec![0.0; pairs],
            theta: vec![0.0; pairs],
            rate: problem.groups.rate.clone(),
            theta_rate: vec![0.0; pairs],
            e: vec![0.0; n],
            e_own: vec![0.0; n],
            task_rows: vec![None; n],
        }
    }

    pub fn set(&mut self, problem: &LevelProblem<'_>, now: &Point) {
        let groups = problem.groups;
        for g in 0..groups.len() {
            let (share, elastic) =
                if groups.rising[g] { (now.t.abs(), 0.0) } else { (1.0, now.q[g] / now.o[g]) };
            self.e_own[g] = (now.v[g] + PROXIMAL * share) / now.y[g] + elastic;
            for pair in groups.pairs(g) {
                self.inverse_s[pair] = 1.0 / now.s[pair];
                self.theta[pair] = now.zeta[pair] * self.inverse_s[pair];
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
                self.theta_rate[pair] = self.theta[pair] * self.rate[pair];
                self.e[g] += self.theta_rate[pair] * self.rate[pair];
            }
        }
    }

    /// Adds `Θ_gl ρ_gl x_g` to each pair.
    pub fn add_onto_pairs(&self, problem: &LevelProblem<'_>, x: &[f64], pairs: &mut [f64]) {
        problem.groups.fill(pairs, |g, pairs| {
            let weights = &self.theta_rate[problem.groups.pairs(g)];
            pairs.iter_mut().zip(weights).for_each(|(pair, weight)| *pair += weight * x[g]);
        });
    }

    /// `Σ_l Θ_gl ρ_gl x_gl` of one group.
    pub fn onto_group(&self, problem: &LevelProblem<'_>, g: usize, x: &[f64]) -> f64 {
        let pairs = problem.groups.pairs(g);
        dot(&self.theta_rate[pairs.clone()], &x[pairs])
    }

    /// `Σ_l Θ_gl ρ_gl a_g·x_l` of every group, from one number a row of a class.
    pub fn onto_groups(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        knowing_resources!(problem.resources, self.onto_groups_of(problem, x))
    }

    fn onto_groups_of<const M: usize>(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let (m, groups) = (if M == 0 { problem.resources } else { M }, problem.groups);
        let mut sum = vec![0.0; m];
        let of_group = |(g, load): (usize, &[f64])| {
            sum.fill(0.0);
            let pairs = groups.pairs(g);
            for (class, weight) in groups.class[pairs.clone()].iter().zip(&self.theta_rate[pairs]) {
                let row = &x[*class as usize * m..][..m];
                sum[..m].iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
            }
            dot(load, &sum)
        };
        groups.loads.chunks_exact(m).enumerate().map(of_group).collect()
    }

    /// `Σ_g Θ_gl ρ_gl a_g x_g` of every row of a class, from one number a group.
    pub fn onto_classes(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        knowing_resources!(problem.resources, self.onto_classes_of(problem, x))
    }

    fn onto_classes_of<const M: usize>(&self, problem: &LevelProblem<'_>, x: &[f64]) -> Vec<f64> {
        let (m, groups) = (if M == 0 { problem.resources } else { M }, problem.groups);
        let mut rows = vec![0.0; problem.classes() * m];
        for ((g, x), load) in x.iter().enumerate().zip(groups.loads.chunks_exact(m)) {
            let pairs = groups.pairs(g);
            for (class, weight) in groups.class[pairs.clone()].iter().zip(&self.theta_rate[pairs]) {
                let weight = weight * x;
                let row = &mut rows[*class as usize * m..][..m];
                row.iter_mut().zip(load).for_each(|(sum, a)| *sum += weight * a);
            }
        }
        rows
    }

    /// What both rows of a group leave of the block of a pair on the class side, without subtracting large equal terms.
    pub fn left(&self, problem: &LevelProblem<'_>, g: usize, pair: usize) -> f64 {
        let (pairs, e) = (problem.groups.pairs(g), self.e[g]);
        if let Some(row) = &self.task_rows[g] {
            return self.theta[pair] * row.left[pair - pairs.start];
        }
        let part = |pair: usize| self.rate[pair] * self.theta_rate[pair];
        let others = if part(pair) < 0.5 * e {
            e - part(pair)
        } else {
            self.e_own[g] + pairs.filter(|other| *other != pair).map(part).sum::<f64>()
        };
        self.theta[pair] * (others / e)
    }
}

/// `u/p` of a capacity row; a row without capacity is kept out of the step by a unit on its diagonal.
pub(super) fn row_slack(problem: &LevelProblem<'_>, now: &Point, row: usize) -> f64 {
    let capacity = problem.capacities[row];
    if capacity > 0.0 { (now.u[row] + PROXIMAL * capacity) / now.p[row] } else { 1.0 }
}
