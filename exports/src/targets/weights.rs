//! Weights in whole numbers, for schedulers that take no others.

use crate::tolerance::WHOLE_WEIGHT;
use crate::tree::Tenant;

/// A weight that Slurm takes: the next one would mean another thing.
pub(super) const LARGEST: f64 = 2_147_483_646.0;

/// Of each tenant its `weight` in proportion to those of its siblings, as whole numbers from 1 on: exactly where a power of ten makes
/// all of them whole, else in parts of the `most` that the scheduler takes, or to one in a million of the largest.
pub(super) fn whole(tenants: &[Tenant], most: f64, weight: impl Fn(&Tenant) -> f64) -> Vec<u64> {
    let mut found = vec![1; tenants.len()];
    let mut parents: Vec<Option<usize>> = tenants.iter().map(|tenant| tenant.parent).collect();
    parents.sort_unstable();
    parents.dedup();
    for parent in parents {
        let siblings: Vec<usize> = (0..tenants.len()).filter(|t| tenants[*t].parent == parent).collect();
        let weights: Vec<f64> = siblings.iter().map(|t| weight(&tenants[*t])).collect();
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let whole = |factor: f64| {
            weights.iter().all(|weight| {
                let scaled = weight * factor;
                scaled <= most && (scaled - scaled.round()).abs() <= WHOLE_WEIGHT * scaled
            })
        };
        let exact = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().find(|factor| whole(*factor));
        let factor = exact.unwrap_or(if largest > 0.0 { most.min(1e6) / largest } else { 1.0 });
        for (t, weight) in siblings.into_iter().zip(weights) {
            found[t] = (weight * factor).round().max(1.0) as u64;
        }
    }
    found
}
