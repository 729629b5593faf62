//! The last step of every solution: splits shrunk until no class is overloaded, rounding included.

use crate::level::LevelProblem;

/// Rounding between a group's load and the sum of its users' printed tasks, as a part of it: about
/// thirty operations of half a unit in the last place each, the sums being compensated.
pub(crate) const MARGIN: f64 = 16.0 * f64::EPSILON;

/// `ζ` with negative entries cleared and every class shrunk to its capacity less the rounding margin.
pub(crate) fn feasible_splits(problem: &LevelProblem<'_>, splits: &[f64]) -> Vec<f64> {
    let m = problem.resources;
    let mut splits: Vec<f64> = splits.iter().map(|z| z.max(0.0)).collect();
    // Sums over the groups are plain, so their rounding grows with the number of groups.
    let margin = MARGIN + problem.groups.len() as f64 * f64::EPSILON / 2.0;
    let keep: Vec<f64> = problem
        .usage(&splits)
        .chunks(m)
        .zip(problem.capacities.chunks(m))
        .map(|(usage, capacity)| {
            usage
                .iter()
                .zip(capacity)
                .filter(|(usage, _)| **usage > 0.0)
                .map(|(usage, capacity)| capacity * (1.0 - margin) / usage)
                .fold(1.0, f64::min)
        })
        .collect();
    for (z, class) in splits.iter_mut().zip(&problem.groups.class) {
        *z *= keep[*class as usize];
    }
    splits
}
