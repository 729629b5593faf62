//! Simulations that differ in their seed only, and the confidence intervals that they give.

use crate::SimulationError;
use fairplan_instances::{
    ClassPerformance, Evidence, InstanceError, Random, Traffic, TrafficOutcome, Violation,
};
use rayon::prelude::*;

/// Settings of every simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulationSettings {
    /// How many simulations; at least 2.
    pub replications: u64,
    /// Arrivals in each of them; the first tenth is not measured.
    pub arrivals: u64,
    /// Seed of everything drawn.
    pub seed: u64,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self { replications: 10, arrivals: 10_000, seed: 0 }
    }
}

/// Streams of a seed are numbered from here, one for each replication.
const STREAM: u64 = 1 << 20;

/// What part of the arrivals goes by before anything is measured.
const WARM_UP: u64 = 10;

/// Arrivals before measuring starts.
fn warm_up(settings: SimulationSettings) -> u64 {
    settings.arrivals / WARM_UP
}

/// How many transactions of each class are in progress, on the mean over time, until all have arrived.
pub(crate) struct Census {
    counts: Vec<u32>,
    sums: Vec<f64>,
    arrived: u64,
    settings: SimulationSettings,
    /// When measuring began.
    start: f64,
    /// Until when all is summed.
    since: f64,
}

impl Census {
    pub fn new(classes: usize, settings: SimulationSettings) -> Self {
        Self {
            counts: vec![0; classes],
            sums: vec![0.0; classes],
            arrived: 0,
            settings,
            start: 0.0,
            since: 0.0,
        }
    }

    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    pub fn is_complete(&self) -> bool {
        self.arrived == self.settings.arrivals
    }

    fn advance(&mut self, now: f64) {
        let passed = now - self.since;
        self.sums.iter_mut().zip(&self.counts).for_each(|(sum, count)| *sum += passed * f64::from(*count));
        self.since = now;
    }

    pub fn arrive(&mut self, class: usize, now: f64) {
        self.advance(now);
        self.counts[class] += 1;
        self.arrived += 1;
        if self.arrived == warm_up(self.settings) {
            self.sums.fill(0.0);
            self.start = now;
        }
    }

    pub fn leave(&mut self, class: usize, now: f64) {
        self.advance(now);
        self.counts[class] -= 1;
    }

    /// The mean numbers since measuring began.
    pub fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / (self.since - self.start)).collect()
    }
}

/// Runs all replications of `simulate`, each of which yields the mean number of each class in progress.
pub(crate) fn replicate(
    traffic: &Traffic,
    settings: SimulationSettings,
    simulate: impl Fn(Random) -> Result<Vec<f64>, InstanceError> + Sync,
) -> Result<TrafficOutcome, SimulationError> {
    let SimulationSettings { replications, arrivals, seed } = settings;
    if !(2..=1_000_000).contains(&replications) {
        let problem =
            "must be at least 2 and at most 1000000: their differences make the confidence intervals";
        return Err(Violation::new("replications", replications, problem).into());
    }
    if arrivals < 2 * WARM_UP {
        let problem = format!("must be at least {}, of which the first tenth is not measured", 2 * WARM_UP);
        return Err(Violation::new("arrivals", arrivals, problem).into());
    }
    traffic.check_stable()?;
    let runs: Vec<Vec<f64>> = (0..replications)
        .into_par_iter()
        .map(|run| simulate(Random::new(seed, STREAM + run)))
        .collect::<Result<_, _>>()?;
    for (k, class) in traffic.classes().iter().enumerate() {
        if runs.iter().all(|run| run[k] == 0.0) {
            let problem = format!("no transaction of {} was measured; there must be more", class.id);
            return Err(Violation::new("arrivals", arrivals, problem).into());
        }
    }
    let count = replications as f64;
    let quantile = student(replications - 1);
    let class = |k: usize| {
        let class = &traffic.classes()[k];
        let in_progress = runs.iter().map(|run| run[k]).sum::<f64>() / count;
        let square = runs.iter().map(|run| (run[k] - in_progress).powi(2)).sum::<f64>() / (count - 1.0);
        let half_width = quantile * (square / count).sqrt();
        let completion_time = in_progress / class.arrival_rate;
        let service_rate = class.work.mean / completion_time;
        let service_rate_error = service_rate * half_width / in_progress;
        ClassPerformance { service_rate, service_rate_error, completion_time, in_progress }
    };
    Ok(TrafficOutcome {
        classes: (0..traffic.classes().len()).map(class).collect(),
        evidence: Evidence::Simulations {
            replications,
            measured: replications * (arrivals - warm_up(settings)),
        },
    })
}

/// The 97.5% quantile of Student's distribution: exact for up to three degrees of freedom, else the expansion of
/// Cornish and Fisher in one over them, good to three digits.
fn student(freedom: u64) -> f64 {
    const NORMAL: f64 = 1.959_963_984_540_054;
    match freedom {
        1 => 12.706_204_736,
        2 => 4.302_652_730,
        3 => 3.182_446_305,
        _ => {
            let (z, n) = (NORMAL, freedom as f64);
            let (z3, z5, z7, z9) = (z.powi(3), z.powi(5), z.powi(7), z.powi(9));
            z + (z3 + z) / (4.0 * n)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n.powi(3))
                + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / (92160.0 * n.powi(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, published) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (99, 1.984)]
        {
            assert!((student(freedom) - published).abs() < 2e-3, "{freedom}: {}", student(freedom));
        }
    }
}
