//! What simulating a trace on a cluster comes to. Times are microseconds, as in the trace; what is told of jobs is in seconds.

use crate::trace::{MICROSECONDS, seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A simulated cluster from the first event to the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterOutcome {
    /// Whether the simulation was told to stop before its end: everything below is how things stood then.
    pub partial: bool,
    /// The first event.
    pub start: u64,
    /// The last event, or the horizon.
    pub end: u64,
    /// Of each resource the part of the capacity that tasks held, on average over the time.
    pub utilization: Vec<f64>,
    /// What became of tasks.
    pub tasks: TaskCounts,
    /// The users of the trace, in its order.
    pub users: Vec<UserRun>,
    /// Jobs whose tasks are all done, in the order in which they were.
    pub jobs: Vec<JobRun>,
    /// How things stood at the times asked for.
    pub samples: Vec<ClusterSample>,
    /// How often a divisible allocation was asked for, and how often it could not be certified.
    pub solves: u64,
    /// See `solves`.
    pub uncertified: u64,
}

/// What became of tasks: those submitted are completed, running, waiting or lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tasks")]
pub struct TaskCounts {
    /// Submitted by users.
    pub submitted: u64,
    /// Ended after their duration.
    pub completed: u64,
    /// On servers at the end.
    pub running: u64,
    /// In queues at the end.
    pub waiting: u64,
    /// Of these, larger than every server; of tasks with rules, those that have no room under these, whatever else runs.
    // Of the servers that were there at the end.
    pub too_large: u64,
    /// Interrupted because their server left or shrank.
    pub evicted: u64,
    /// Of these, not submitted again.
    pub lost: u64,
}

/// How long jobs took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionTimes {
    /// The mean.
    pub mean: f64,
    /// Half of the jobs took no longer.
    pub median: f64,
    /// Nine jobs in ten took no longer.
    pub p90: f64,
}

/// What became of a user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserRun {
    /// The user's id.
    pub id: String,
    /// Tasks submitted.
    pub submitted: u64,
    /// Tasks completed.
    pub completed: u64,
    /// Jobs submitted.
    pub jobs: u64,
    /// Jobs all of whose tasks are done.
    pub jobs_completed: u64,
    /// The sum of the completion times of these, in microseconds.
    pub completion_time: u128,
}

/// A job whose tasks are all done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRun {
    /// The job's id.
    pub id: String,
    /// The position of its user.
    pub user: u32,
    /// How many tasks it had.
    pub tasks: u64,
    /// When its first tasks were submitted.
    pub submitted: u64,
    /// When its last task was done.
    pub completed: u64,
}

/// How things stand at one time, after everything that happens at it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSample {
    /// In microseconds.
    pub time: u64,
    /// Of each resource the part of the capacity that tasks hold.
    pub utilization: Vec<f64>,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that wait.
    pub waiting: u64,
    /// Users with tasks, in the order of the trace.
    pub users: Vec<UserSample>,
    /// Whether `users` tell the shares of the optimum.
    pub has_optimum: bool,
}

/// How a user stands.
#[derive(Clone, Debug, PartialEq)]
pub struct UserSample {
    /// The position of the user.
    pub user: u32,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that wait.
    pub waiting: u64,
    /// The largest of `shares`.
    pub dominant_share: f64,
    /// Of each resource the part of the cluster's that the user's tasks hold.
    pub shares: Vec<f64>,
    /// The dominant share that DRFH gives this user if tasks are divisible (0 where it was not asked for).
    pub optimal_share: f64,
}

impl ClusterOutcome {
    /// How long jobs took from the submission of their first task to the end of the last, in seconds; `None` where none is done.
    pub fn completion_times(&self) -> Option<CompletionTimes> {
        let mut times: Vec<u64> = self.jobs.iter().map(|job| job.completed - job.submitted).collect();
        times.sort_unstable();
        let quantile =
            |tenths: usize| times.get((times.len() * tenths).div_ceil(10).saturating_sub(1)).copied();
        let sum: u128 = times.iter().map(|time| u128::from(*time)).sum();
        Some(CompletionTimes {
            median: seconds(quantile(5)?),
            p90: seconds(quantile(9)?),
            mean: sum as f64 / times.len() as f64 / MICROSECONDS as f64,
        })
    }

    /// How many users have a smaller completion ratio than in another outcome of the same trace.
    pub fn users_worse_than_in(&self, other: &Self) -> u64 {
        let users = self.users.iter().zip(&other.users);
        users.filter(|(here, there)| there.completion_ratio() > here.completion_ratio()).count() as u64
    }

    /// Tasks that ended, over those submitted; 1 where there were none.
    pub fn completion_ratio(&self) -> f64 {
        ratio(self.tasks.completed, self.tasks.submitted)
    }
}

impl UserRun {
    /// The mean completion time of its jobs that are done, in seconds; `None` where none is.
    pub fn mean_completion_time(&self) -> Option<f64> {
        let mean = self.completion_time as f64 / self.jobs_completed as f64 / MICROSECONDS as f64;
        (self.jobs_completed > 0).then_some(mean)
    }

    /// Tasks that ended, over those submitted; 1 where there were none.
    pub fn completion_ratio(&self) -> f64 {
        ratio(self.completed, self.submitted)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
