//! Bottleneck max fairness: the levels of `bottleneck`, transactions of a class being users of the same demand.

use super::parts::{Parts, uncertified};
use crate::bottleneck::{Demands, levels};
use crate::tolerance::sharing::FOUND;
use fairplan_instances::{InstanceError, Objective, Sharing};

pub(super) struct BottleneckMax {
    parts: Parts,
}

impl BottleneckMax {
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }
}

impl Sharing for BottleneckMax {
    fn rates(&mut self, counts: &[u32], rates: &mut [f64]) -> Result<(), InstanceError> {
        rates.fill(0.0);
        let present = || (0..counts.len()).filter(|k| counts[*k] > 0);
        let needed: Vec<usize> =
            (0..self.parts.resources).filter(|r| present().any(|k| self.parts.of(k)[*r] > 0.0)).collect();
        if needed.is_empty() {
            return Ok(());
        }
        let largest = |k: usize| self.parts.of(k).iter().copied().fold(0.0, f64::max);
        let mut demands = Demands { resources: needed.len(), directions: Vec::new(), weights: Vec::new() };
        for k in present() {
            demands.directions.extend(needed.iter().map(|r| self.parts.of(k)[*r] / largest(k)));
            demands.weights.push(f64::from(counts[k]));
        }
        let levels = levels(&demands).0;
        let missed = demands.missed(&levels);
        if missed > FOUND {
            return Err(uncertified(Objective::BottleneckMaxFairness, counts, missed));
        }
        for (user, k) in present().enumerate() {
            rates[k] = demands.held(user, &levels).1 / largest(k);
        }
        Ok(())
    }
}
