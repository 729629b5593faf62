//! The independent second way to an offline optimum: linear programs over all quanta, one a level, by HiGHS.

use crate::highs::{HighsAlgorithm, largest};
use crate::tolerance::offline::{CLEARLY_POSITIVE, KEPT};
use fairplan_instances::{InstanceError, OfflineProblem};
use good_lp::{Expression, ProblemVariables, constraint, variable};

/// What linear programs found.
#[derive(Clone, Debug, PartialEq)]
pub struct OfflineLevels {
    /// By user its total over its weight; 0 for who does not count.
    pub standings: Vec<f64>,
    /// How many linear programs that took.
    pub programs: usize,
}

/// The lexicographic optimum of slices that are divided at will: the largest level that all users who count can have,
/// then, with those who cannot have more held at it, the largest of the others, and so on.
pub fn offline_levels_by_highs(
    problem: &OfflineProblem<'_>,
    algorithm: HighsAlgorithm,
) -> Result<OfflineLevels, InstanceError> {
    let weights = problem.weights();
    let mut held: Vec<Option<f64>> =
        weights.iter().map(|weight| if *weight > 0 { None } else { Some(0.0) }).collect();
    let mut programs = 0;
    while held.contains(&None) {
        let (level, multipliers) = next_level(problem, &weights, &held, algorithm)?;
        programs += 1;
        let open: Vec<usize> = (0..held.len()).filter(|user| held[*user].is_none()).collect();
        let mean = multipliers.iter().map(|y| y.abs()).sum::<f64>() / open.len() as f64;
        for (user, multiplier) in open.into_iter().zip(&multipliers) {
            if multiplier.abs() > CLEARLY_POSITIVE * mean || mean == 0.0 {
                held[user] = Some(level);
            }
        }
    }
    Ok(OfflineLevels { standings: held.into_iter().map(Option::unwrap_or_default).collect(), programs })
}

/// The largest level of all who are not held, and the multipliers of their rows.
fn next_level(
    problem: &OfflineProblem<'_>,
    weights: &[u64],
    held: &[Option<f64>],
    algorithm: HighsAlgorithm,
) -> Result<(f64, Vec<f64>), InstanceError> {
    let mut variables = ProblemVariables::new();
    let level = variables.add(variable().min(0.0));
    let mut totals = vec![Expression::default(); held.len()];
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
    let mut open = Vec::new();
    for ((total, weight), held) in totals.into_iter().zip(weights).zip(held).filter(|((_, w), _)| **w > 0) {
        let weight = *weight as f64;
        match held {
            Some(standing) => {
                rows.push(constraint!(Expression::from(weight * standing * KEPT) - total <= 0.0));
            }
            None => {
                let mut short = Expression::default();
                short.add_mul(weight, level);
                open.push(constraint!(short - total <= 0.0));
            }
        }
    }
    largest(variables, level, rows, open, algorithm)
}
