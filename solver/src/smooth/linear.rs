//! A linear sum over groups as a linear program in which every number is at most one, for the simplex method: in doubles, or in whole numbers,
//! which decide what is next to nothing of the sum too.
//!
//! A column is what a group runs on a class, in parts of what fits there if it has the class to itself (and no more than its tasks): so
//! in each column the largest entry is one, whatever the units, and an entry that is lost beside it is of no matter to its row.

use super::problem::{SumProblem, SumSolution, SumSolver};
use crate::exact::simplex;
use crate::linear_program::{Ended, Program, Row, Settings};
use crate::linear_solver;
use crate::tolerance::sum::LINEAR;
use fairplan_instances::{Deadline, InstanceError};

/// The simplex method for sums with α = 0, which ends by a deadline.
pub(crate) struct LinearSum {
    pub deadline: Deadline,
    /// Not only in doubles.
    pub in_whole_numbers: bool,
}

impl SumSolver for LinearSum {
    fn solve(&self, problem: &SumProblem<'_>, _accuracy: f64) -> Result<SumSolution, InstanceError> {
        let (groups, m) = (problem.groups, problem.resources);
        let mut program = Program::maximise();
        for _ in problem.capacities {
            program.at_most(1.0, []);
        }
        let (mut parts, mut pairs) = (vec![0.0; groups.pair_count()], Vec::new());
        for g in 0..groups.len() {
            let limit = problem.is_limited(g).then(|| program.at_most(1.0, []));
            for pair in groups.pairs(g) {
                let row = problem.row(pair);
                let taken = problem.load(g).iter().enumerate().filter(|(_, a)| **a > 0.0);
                let mut entries: Vec<(Row, f64)> =
                    taken.map(|(r, a)| (Row(row + r), a / problem.capacities[row + r])).collect();
                entries.extend(limit.map(|limit| (limit, 1.0 / problem.limit[g])));
                let largest = entries.iter().map(|(_, entry)| *entry).fold(0.0, f64::max);
                if largest.is_finite() && largest > 0.0 {
                    entries.iter_mut().for_each(|(_, entry)| *entry /= largest);
                    parts[pair] = 1.0 / largest;
                    pairs.push((g, pair, entries));
                }
            }
        }
        let worth = |g: usize, pair: usize| problem.size[g] * groups.rate[pair] * parts[pair];
        let most = pairs.iter().map(|(g, pair, _)| worth(*g, *pair)).fold(0.0, f64::max);
        for (g, pair, entries) in &pairs {
            program.column(worth(*g, *pair) / most, f64::INFINITY, false, entries.iter().copied());
        }
        let settings =
            Settings { primal: Some(LINEAR), dual: Some(LINEAR), simplex: true, ..Settings::default() };
        let mut solved = linear_solver::solve(&program, settings, &self.deadline)?;
        if self.in_whole_numbers && solved.ended != Ended::OutOfTime {
            let are_used: Vec<bool> = solved.columns.iter().map(|part| *part > 0.0).collect();
            solved = simplex::solve(&program, &are_used, &self.deadline);
        }
        let solved = solved.optimal()?;
        let mut splits = vec![0.0; groups.pair_count()];
        for ((_, pair, _), part) in pairs.iter().zip(&solved.columns) {
            splits[*pair] = part.max(0.0) * parts[*pair];
        }
        let work = |g: usize| groups.pairs(g).map(|pair| groups.rate[pair] * splits[pair]).sum();
        let price = |row: usize| solved.multipliers[row].max(0.0) * (most / problem.capacities[row]);
        let prices = (0..problem.classes() * m)
            .map(|row| if problem.capacities[row] > 0.0 { price(row) } else { 0.0 });
        let mut prices: Vec<f64> = prices.collect();
        raise(problem, &mut prices);
        Ok(SumSolution {
            works: (0..groups.len()).map(work).collect(),
            prices,
            splits,
            log_level: 0.0,
            widest: 0.0,
            iterations: 1,
        })
    }

    fn deadline(&self) -> &Deadline {
        &self.deadline
    }
}

/// Raises prices until no group without a limit would gain by running something: each where that is the least for the class. What
/// would be next to nothing of the whole may be far more than such a group pays.
fn raise(problem: &SumProblem<'_>, prices: &mut [f64]) {
    for g in (0..problem.groups.len()).filter(|g| !problem.is_limited(*g)) {
        for pair in problem.groups.pairs(g) {
            let gain = problem.size[g] * problem.groups.rate[pair] - problem.cost_at(prices, g, pair);
            let row = problem.row(pair);
            let fit = |r: &usize| problem.capacities[row + r] / problem.load(g)[*r];
            let scarcest = (0..problem.resources)
                .filter(|r| problem.load(g)[*r] > 0.0)
                .min_by(|a, b| fit(a).total_cmp(&fit(b)));
            if let Some(r) = scarcest.filter(|_| gain > 0.0) {
                prices[row + r] += gain / problem.load(g)[r];
            }
        }
    }
}
