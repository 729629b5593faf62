//! The independent second way to the first level of an offline optimum: one linear program over all quanta, by HiGHS.

use crate::highs::{HighsAlgorithm, largest};
use fairplan_instances::{OfflineProblem, SolverError};
use good_lp::{Expression, ProblemVariables, constraint, variable};

/// The largest level that all users who count can have, of slices that are divided at will.
pub fn offline_level_by_highs(
    problem: &OfflineProblem<'_>,
    algorithm: HighsAlgorithm,
) -> Result<f64, SolverError> {
    let mut variables = ProblemVariables::new();
    let level = variables.add(variable().min(0.0));
    let mut totals = vec![Expression::default(); problem.series.user_count()];
    let mut rows = Vec::new();
    problem.for_each_quantum(|quantum, due, guaranteed| {
        let (users, slices) = problem.series.demands(quantum);
        let mut used = Expression::default();
        for ((user, most), least) in users.iter().zip(slices).zip(guaranteed) {
            let part = variables.add(variable().min(*least as f64).max(*most as f64));
            used.add_mul(1.0, part);
            totals[*user as usize].add_mul(1.0, part);
        }
        rows.push(constraint!(used <= due.capacity() as f64));
    });
    for (total, weight) in totals.into_iter().zip(problem.weights()).filter(|(_, weight)| *weight > 0) {
        let mut short = Expression::from(0.0);
        short.add_mul(weight as f64, level);
        rows.push(constraint!(short - total <= 0.0));
    }
    largest(variables, level, rows, algorithm)
}
