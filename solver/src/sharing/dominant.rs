//! Dominant resource fairness: shares of dominant resources rise together until a resource is used up, which freezes
//! whoever needs it; the others go on (MRF Sec. 3.1).

use super::parts::Parts;
use fairplan_instances::{InstanceError, Sharing};

pub(super) struct Dominant {
    parts: Parts,
    /// By class: what a unit of work takes of its dominant resource.
    dominant: Vec<f64>,
    frozen: Vec<bool>,
    left: Vec<f64>,
    rising: Vec<f64>,
}

impl Dominant {
    pub fn new(parts: Parts) -> Self {
        let classes = parts.classes();
        Self {
            dominant: (0..classes).map(|k| parts.of(k).iter().copied().fold(0.0, f64::max)).collect(),
            frozen: vec![false; classes],
            left: vec![0.0; parts.resources],
            rising: vec![0.0; parts.resources],
            parts,
        }
    }
}

impl Sharing for Dominant {
    fn rates(&mut self, counts: &[u32], rates: &mut [f64]) -> Result<(), InstanceError> {
        let Self { parts, dominant, frozen, left, rising } = self;
        left.fill(1.0);
        for k in 0..counts.len() {
            frozen[k] = counts[k] == 0;
            rates[k] = 0.0;
        }
        while frozen.iter().any(|frozen| !frozen) {
            // What the rising ones take of each resource, for a unit of dominant share.
            rising.fill(0.0);
            for k in (0..counts.len()).filter(|k| !frozen[*k]) {
                let weight = f64::from(counts[k]) / dominant[k];
                rising.iter_mut().zip(parts.of(k)).for_each(|(rising, part)| *rising += weight * part);
            }
            let reached = |r: usize| if rising[r] > 0.0 { left[r] / rising[r] } else { f64::INFINITY };
            let mut first = 0;
            for r in 1..left.len() {
                if reached(r) < reached(first) {
                    first = r;
                }
            }
            let share = reached(first);
            for k in 0..counts.len() {
                if !frozen[k] && parts.of(k)[first] > 0.0 {
                    frozen[k] = true;
                    rates[k] = share / dominant[k];
                    let all = f64::from(counts[k]) * rates[k];
                    left.iter_mut().zip(parts.of(k)).for_each(|(left, part)| *left -= all * part);
                }
            }
            left[first] = 0.0;
        }
        Ok(())
    }
}
