//! Transactions simulated one by one, their rates those of the fluid model: for state spaces too large for a chain, and
//! for work that is not exponential.
//!
//! All transactions of a class work at the same rate, so that each is done when the work attained by its class since the
//! class was last empty passes a threshold: what had been attained when it came, and its own work.

use crate::SimulationError;
use crate::arrivals::Arrivals;
use crate::memory::Remembered;
use crate::replications::{Census, SimulationSettings, replicate};
use crate::variates::work;
use fairplan_instances::{InstanceError, Random, Sharing, SharingRule, Traffic, TrafficOutcome};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Simulates transactions that share by `rule`.
///
/// # Errors
/// Traffic that is not stable, settings that mean nothing, an allocation that could not be found.
pub fn flow_level(
    traffic: &Traffic,
    rule: &SharingRule<'_>,
    settings: SimulationSettings,
) -> Result<TrafficOutcome, SimulationError> {
    traffic.check_fluid()?;
    replicate(traffic, settings, |random| run(traffic, rule(), settings, random))
}

/// Where a transaction is done; the smallest comes first in a heap.
#[derive(PartialEq)]
struct Threshold(f64);

impl Eq for Threshold {}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

impl PartialOrd for Threshold {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The transactions of a class.
#[derive(Default)]
struct InProgress {
    attained: f64,
    thresholds: BinaryHeap<Threshold>,
}

fn run(
    traffic: &Traffic,
    sharing: Box<dyn Sharing>,
    settings: SimulationSettings,
    random: Random,
) -> Result<Vec<f64>, InstanceError> {
    let classes = traffic.classes();
    let mut sharing = Remembered::new(sharing);
    let mut arrivals = Arrivals::new(traffic, random);
    let mut in_progress: Vec<InProgress> = classes.iter().map(|_| InProgress::default()).collect();
    let mut rates = vec![0.0; classes.len()];
    let mut census = Census::new(classes.len(), settings);
    let mut now = 0.0;
    while !census.is_complete() {
        let (mut time, mut leaving) = (arrivals.next, None);
        for (k, class) in in_progress.iter().enumerate() {
            if let Some(Threshold(threshold)) = class.thresholds.peek() {
                let done = now + ((threshold - class.attained) / rates[k]).max(0.0);
                if done < time {
                    (time, leaving) = (done, Some(k));
                }
            }
        }
        for (class, rate) in in_progress.iter_mut().zip(&rates) {
            class.attained += rate * (time - now);
        }
        now = time;
        match leaving {
            Some(k) => {
                census.leave(k, now);
                in_progress[k].thresholds.pop();
                if in_progress[k].thresholds.is_empty() {
                    in_progress[k].attained = 0.0;
                }
            }
            None => {
                let k = arrivals.class();
                census.arrive(k, now);
                let threshold = in_progress[k].attained + work(classes[k].work, &mut arrivals.random);
                in_progress[k].thresholds.push(Threshold(threshold));
                arrivals.schedule();
            }
        }
        sharing.rates(census.counts(), &mut rates)?;
    }
    Ok(census.means())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{TrafficClass, WorkDistribution};

    /// One resource, shared evenly.
    struct Evenly;

    impl Sharing for Evenly {
        fn rates(&mut self, counts: &[u32], rates: &mut [f64]) -> Result<(), InstanceError> {
            let all: u32 = counts.iter().sum();
            for (count, rate) in counts.iter().zip(rates) {
                *rate = if *count > 0 { 1.0 / f64::from(all) } else { 0.0 };
            }
            Ok(())
        }
    }

    #[test]
    fn an_evenly_shared_resource_does_not_mind_how_work_is_distributed() {
        // M/G/1 processor sharing: ρ_k/(1-ρ) in progress, whatever the distribution.
        for distribution in [
            WorkDistribution::Exponential,
            WorkDistribution::Deterministic,
            WorkDistribution::HyperExponential { squared_variation: 5.0 },
            WorkDistribution::Pareto { shape: 2.5 },
        ] {
            let mut classes =
                vec![TrafficClass::new("a", vec![1.0], 0.2), TrafficClass::new("b", vec![1.0], 0.3)];
            classes[0].work.distribution = distribution;
            let traffic = Traffic::new("", vec!["r".into()], vec![1.0], classes).unwrap();
            let settings = SimulationSettings { replications: 12, arrivals: 20_000, seed: 1 };
            let outcome = flow_level(&traffic, &|| Box::new(Evenly), settings).unwrap();
            for (class, known) in outcome.classes.iter().zip([0.4, 0.6]) {
                let half_width = class.in_progress * class.service_rate_error / class.service_rate;
                let missed = (class.in_progress - known).abs();
                // Of eight intervals of 95% one may well miss by a little.
                assert!(missed <= 1.5 * half_width, "{distribution:?}: {class:?}, known {known}");
                assert!(half_width < 0.06 * known, "{distribution:?}: {class:?}");
            }
        }
    }
}
