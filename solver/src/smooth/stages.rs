//! Problems of a large α: solved over again in stages from a moderate α to their own, or at once from shares that are nearly right.
//!
//! What a group is worth is a power of its share, so that groups whose shares are a little off count for all or for nothing. In a
//! stage the unit of each group's work is what it is thought to get, which leaves all works near one.

use super::problem::{SumProblem, SumSolution, SumSolver};
use crate::level::Groups;
use crate::tolerance::sum::{NOTICED, STAGES};
use fairplan_instances::InstanceError;

/// Solves a small problem; for large α, where some group is left widely off because all it pays is next to nothing of
/// the whole, over again in stages from a moderate α to its own. Each begins near what the last one found.
pub(super) fn solve(
    problem: &SumProblem<'_>,
    solver: &dyn SumSolver,
    accuracy: f64,
) -> Result<SumSolution, InstanceError> {
    let mut solution = solver.solve(problem, accuracy)?;
    if problem.alpha <= STAGES.0 || solution.widest <= STAGES.1 || solver.deadline().is_over() {
        return Ok(solution);
    }
    let mut alphas = vec![problem.alpha];
    while alphas[alphas.len() - 1] > STAGES.0 {
        alphas.push(alphas[alphas.len() - 1] / 2.0);
    }
    let mut works = vec![1.0f64; problem.groups.len()];
    while let Some(alpha) = alphas.pop() {
        let stage = Stage::new(problem, alpha, works, LEAST_LOG_SIZE);
        let iterations = solution.iterations;
        solution = stage.solve(problem, solver, if alphas.is_empty() { accuracy } else { STAGES.1 })?;
        solution.iterations += iterations;
        works = solution.works.clone();
    }
    Ok(solution)
}

/// Solves a small problem in which works are all near one, or groups that get more are worth next to nothing. These count as worth
/// no less than what shows beside rounding: their shares are less exact, but a group that only seems to be worth nothing does not
/// get lost, and the bound is as good, since all of them together are a part of it that is below what is promised.
pub(super) fn solve_noticing(
    problem: &SumProblem<'_>,
    solver: &dyn SumSolver,
    accuracy: f64,
) -> Result<SumSolution, InstanceError> {
    let groups = problem.groups.len();
    let least = (NOTICED / groups as f64).ln();
    Stage::new(problem, problem.alpha, vec![1.0; groups], least).solve(problem, solver, accuracy)
}

/// A problem at some α, with units of work of its own.
struct Stage {
    alpha: f64,
    /// The unit of each group, in that of the problem.
    works: Vec<f64>,
    groups: Groups,
    size: Vec<f64>,
    cost: Vec<f64>,
    limit: Vec<f64>,
    /// `ln` of what the sizes are parts of.
    log_total: f64,
}

impl Stage {
    /// No size is less than the largest by more than `least` in logarithms.
    fn new(problem: &SumProblem<'_>, alpha: f64, works: Vec<f64>, least: f64) -> Self {
        let mut groups = problem.groups.clone();
        let loads = groups.loads.chunks_mut(problem.resources);
        loads.zip(&works).for_each(|(load, work)| load.iter_mut().for_each(|a| *a *= work));
        let limit = problem.limit.iter().zip(&works).map(|(limit, work)| limit / work).collect();
        let sizes = problem.size.iter().zip(&works);
        let logs: Vec<f64> = sizes.map(|(size, work)| size.ln() + (1.0 - alpha) * work.ln()).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sizes: Vec<f64> = logs.iter().map(|log| (log - most).max(least).exp()).collect();
        let total: f64 = sizes.iter().sum();
        let size: Vec<f64> = sizes.iter().map(|size| size / total).collect();
        let cost = (0..size.len()).map(|g| size[g] * (problem.cost[g] / problem.size[g])).collect();
        Self { alpha, works, groups, size, cost, limit, log_total: most + total.ln() }
    }

    /// Its solution in the units of the problem: the price of work is ω (v / t)^−α there.
    fn solve(
        &self,
        problem: &SumProblem<'_>,
        solver: &dyn SumSolver,
        accuracy: f64,
    ) -> Result<SumSolution, InstanceError> {
        let Self { alpha, groups, size, cost, limit, .. } = self;
        let stage = SumProblem { alpha: *alpha, groups, size, cost, limit, ..*problem };
        let mut solution = solver.solve(&stage, accuracy)?;
        solution.log_level -= self.log_total / self.alpha;
        for (g, work) in self.works.iter().enumerate() {
            problem.groups.pairs(g).for_each(|pair| solution.splits[pair] *= work);
            solution.works[g] *= work;
        }
        Ok(solution)
    }
}

/// Sizes further below the largest than this, in logarithms, are beyond a double.
const LEAST_LOG_SIZE: f64 = -650.0;
