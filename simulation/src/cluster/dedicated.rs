//! Dedicated clouds (DRFH Sec. IV-D and VI): every user alone on its part of the servers, to see what it gains or loses by
//! sharing.

use super::part::Part;
use super::{ClusterRules, ClusterSettings, Watch, run};
use crate::SimulationError;
use fairplan_instances::trace::{EventKind, EventSource, UserNumber};
use fairplan_instances::{ClusterOutcome, InstanceError, TaskCounts};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops all parts when one has been told to.
struct Stop<'a> {
    asked: &'a (dyn Fn() -> bool + Sync),
    stopped: &'a AtomicBool,
    instants: u32,
}

impl Watch for Stop<'_> {
    fn instant(&mut self, _time: u64, _tasks: &TaskCounts) -> bool {
        self.instants += 1;
        if self.instants.is_multiple_of(256) && (self.asked)() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Runs every user who submits tasks alone on its part of the servers: of `n` such users each has one server in `n`, dealt
/// at random by `seed`. `open` starts the trace over. There are no samples, and no
/// utilization of all clouds together.
///
/// # Errors
/// As for [`simulate_cluster`](super::simulate_cluster).
pub fn dedicated_clouds<'s>(
    open: &(dyn Fn() -> Result<Box<dyn EventSource + 's>, InstanceError> + Sync),
    rules: ClusterRules<'_>,
    settings: ClusterSettings,
    seed: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<ClusterOutcome, SimulationError> {
    let rules = ClusterRules { present: None, ..rules };
    let settings = ClusterSettings { sample_every: None, optimum_every: None, ..settings };
    let mut source = open()?;
    let mut submits = Vec::new();
    while let Some(event) =
        source.next_event()?.filter(|event| settings.horizon.is_none_or(|end| event.time <= end))
    {
        if let EventKind::Submitted(submission) = event.kind {
            let user = submission.user.index();
            submits.resize(submits.len().max(user + 1), false);
            submits[user] = true;
        }
    }
    let users: Vec<UserNumber> =
        (0..submits.len()).filter(|user| submits[*user]).map(|user| UserNumber(user as u32)).collect();
    let stopped = AtomicBool::new(false);
    let alone = |(turn, user): (usize, &UserNumber)| {
        let part = Part { user: *user, turn, turns: users.len(), seed, own: Vec::new() };
        let mut stop = Stop { asked: stop, stopped: &stopped, instants: 0 };
        run(&mut *open()?, rules, settings, Some(part), &mut stop)
    };
    let outcomes: Vec<Result<ClusterOutcome, SimulationError>> =
        users.par_iter().enumerate().map(alone).collect();
    let mut merged = ClusterOutcome::default();
    for outcome in outcomes {
        merge(&mut merged, outcome?);
    }
    merged.jobs.sort_by_key(|job| job.completed);
    Ok(merged)
}

/// Adds what came of one user's cloud.
fn merge(all: &mut ClusterOutcome, one: ClusterOutcome) {
    let tasks = &mut all.tasks;
    tasks.submitted += one.tasks.submitted;
    tasks.completed += one.tasks.completed;
    tasks.evicted += one.tasks.evicted;
    tasks.lost += one.tasks.lost;
    tasks.running += one.tasks.running;
    tasks.waiting += one.tasks.waiting;
    tasks.too_large += one.tasks.too_large;
    all.users.resize_with(all.users.len().max(one.users.len()), Default::default);
    for (user, run) in all.users.iter_mut().zip(one.users) {
        if user.submitted == 0 {
            *user = run;
        }
    }
    all.jobs.extend(one.jobs);
    (all.start, all.end) = (one.start, all.end.max(one.end));
    all.partial |= one.partial;
    all.solves += one.solves;
    all.uncertified += one.uncertified;
}
