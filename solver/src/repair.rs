//! The last step of every solution: splits shrunk until no class is overloaded, rounding included.

use crate::level::Groups;
use crate::reduction::Reduction;

/// Rounding between a group's load and the sum of its users' printed tasks, as a part of it: a few dozen
/// operations of half a unit in the last place each, the sums being compensated.
pub(crate) const MARGIN: f64 = 40.0 * f64::EPSILON;

/// `ζ` with negative entries cleared and every class shrunk to its capacity less the rounding margin.
pub(crate) fn feasible_splits(reduction: &Reduction, groups: &Groups, splits: &[f64]) -> Vec<f64> {
    let (k, m) = (reduction.classes(), reduction.resources);
    let mut splits: Vec<f64> = splits.iter().map(|z| z.max(0.0)).collect();
    let mut usage = vec![0.0; k * m];
    for (split, load) in splits.chunks(k).zip(groups.loads.chunks(m)) {
        for (sums, z) in usage.chunks_mut(m).zip(split) {
            sums.iter_mut().zip(load).for_each(|(sum, a)| *sum += a * z);
        }
    }
    // Sums over the groups are plain, so their rounding grows with the number of groups.
    let margin = MARGIN + groups.len() as f64 * f64::EPSILON / 2.0;
    let keep: Vec<f64> = usage
        .chunks(m)
        .zip(reduction.capacities.chunks(m))
        .map(|(usage, capacity)| {
            usage
                .iter()
                .zip(capacity)
                .filter(|(usage, _)| **usage > 0.0)
                .map(|(usage, capacity)| capacity * (1.0 - margin) / usage)
                .fold(1.0, f64::min)
        })
        .collect();
    for split in splits.chunks_mut(k) {
        split.iter_mut().zip(&keep).for_each(|(z, keep)| *z *= keep);
    }
    splits
}
