//! Jobs of whole tasks of random duration: whatever a task sets free goes to the most deprived job (MRF Sec. 3).

mod cluster;
mod deprivation;

use crate::SimulationError;
use crate::arrivals::Arrivals;
use crate::memory::Remembered;
use crate::replications::{Census, SimulationSettings, replicate};
use crate::variates::{exponential, pieces};
use cluster::Cluster;
use deprivation::Deprivation;
use fairplan_instances::{InstanceError, Objective, Random, SharingRule, Traffic, TrafficOutcome, Violation};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Settings of [`task_level`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskLevelSettings {
    /// Mean tasks of a job; their number is geometric when the work is exponential.
    pub tasks_per_job: f64,
    /// The part of its dominant resource that a task takes. With the mean work and the mean tasks of a job this sets how
    /// long a task lasts on average; each lasts an exponential time.
    pub task_share: f64,
}

impl Default for TaskLevelSettings {
    fn default() -> Self {
        Self { tasks_per_job: 5000.0, task_share: 0.02 }
    }
}

const MOST_TASKS: f64 = 1e9;
const SMALLEST_SHARE: f64 = 1e-6;

/// Simulates jobs of whole tasks that share by `objective`, of which `rule` is the fluid allocation.
///
/// # Errors
/// Traffic that is not stable, settings that mean nothing, an allocation that could not be found.
pub fn task_level(
    traffic: &Traffic,
    objective: Objective,
    rule: &SharingRule<'_>,
    settings: SimulationSettings,
    tasks: TaskLevelSettings,
) -> Result<TrafficOutcome, SimulationError> {
    traffic.check_fluid()?;
    let TaskLevelSettings { tasks_per_job, task_share } = tasks;
    if !(1.0..=MOST_TASKS).contains(&tasks_per_job) {
        let problem = format!("must be at least 1 and at most {MOST_TASKS}");
        return Err(Violation::new("tasks_per_job", tasks_per_job, problem).into());
    }
    if !(SMALLEST_SHARE..=1.0).contains(&task_share) {
        let problem = format!("must be at least {SMALLEST_SHARE} and at most 1");
        return Err(Violation::new("task_share", task_share, problem).into());
    }
    replicate(traffic, settings, |random| {
        let deprivation = match objective {
            Objective::BottleneckMaxFairness => Deprivation::Rank,
            _ => Deprivation::FromIdeal {
                sharing: Remembered::new(rule()),
                ideal: vec![0.0; traffic.classes().len()],
                task_rates: (0..traffic.classes().len()).map(|k| task_rate(traffic, k, task_share)).collect(),
            },
        };
        run(traffic, deprivation, settings, tasks, random)
    })
}

/// The work that a task of class `k` does in a unit of time.
fn task_rate(traffic: &Traffic, k: usize, task_share: f64) -> f64 {
    task_share / traffic.dominant_part(k)
}

fn run(
    traffic: &Traffic,
    mut deprivation: Deprivation,
    settings: SimulationSettings,
    tasks: TaskLevelSettings,
    random: Random,
) -> Result<Vec<f64>, InstanceError> {
    let classes = traffic.classes();
    let mut arrivals = Arrivals::new(traffic, random);
    // A stream apart from that of the arrivals, so that the same jobs are seen whatever shares.
    let mut durations = Random::new(arrivals.next.to_bits(), 0);
    let mean_duration =
        |k: usize| classes[k].work.mean / (tasks.tasks_per_job * task_rate(traffic, k, tasks.task_share));
    let mean_durations: Vec<f64> = (0..classes.len()).map(mean_duration).collect();
    let mut cluster = Cluster::new(traffic, tasks.task_share);
    let mut census = Census::new(classes.len(), settings);
    // Tasks by when they end; the bits of numbers that are not negative are in the order of the numbers.
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    while !census.is_complete() {
        let ending = ends.peek().map(|Reverse((end, job))| (f64::from_bits(*end), *job));
        let now = match ending {
            Some((end, job)) if end <= arrivals.next => {
                ends.pop();
                let class = cluster.class(job);
                if cluster.end_task(job) {
                    census.leave(class, end);
                }
                end
            }
            _ => {
                let (now, class) = (arrivals.next, arrivals.class());
                census.arrive(class, now);
                cluster
                    .begin_job(class, pieces(classes[class].work, tasks.tasks_per_job, &mut arrivals.random));
                arrivals.schedule();
                now
            }
        };
        deprivation.update(census.counts())?;
        while let Some(job) = deprivation.most_deprived(&cluster) {
            cluster.begin_task(job);
            let lasts = mean_durations[cluster.class(job)] * exponential(&mut durations);
            ends.push(Reverse(((now + lasts).to_bits(), job)));
        }
        cluster.find_bottlenecks();
    }
    Ok(census.means())
}
