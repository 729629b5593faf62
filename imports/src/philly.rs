//! Microsoft's Philly traces: GPU jobs of virtual clusters, as a table of one row a job.
//!
//! Source: M. Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC 2019;
//! the table `timestamp,duration,num_gpus,gpu_time,cluster` as published with later simulators.

use super::columns::for_each_row;
use super::equal_servers::EqualServers;
use super::files::some;
use super::seconds::{date_and_time, microseconds};
use fairplan_instances::trace::{DraftTasks, MICROSECONDS, SortedTrace, TraceDraft};
use fairplan_instances::{Decimal, Gang, InstanceError, TaskRules, Violation};

const JOB: [&str; 4] = ["timestamp", "duration", "num_gpus", "cluster"];
const TIMESTAMP: usize = 0;
const DURATION: usize = 1;
const GPUS: usize = 2;
const CLUSTER: usize = 3;

/// The jobs as a trace over the resource `gpu`, on so many servers with so many GPUs each; rows may come in any order.
///
/// A job runs for its `duration` from its `timestamp` on, the earliest of which is time 0. A job of more GPUs than a server
/// has is one task for each server full and one for the rest, placed one by one; with `gangs` it is the fewest equal tasks that
/// servers hold, which start at once or not at all, as training on several servers does. The rows state no more of where a job runs than
/// its number of GPUs. Users are the virtual clusters; jobs are called after their line.
///
/// # Errors
/// A file that cannot be read, a missing column, a cell that is no date or number (file, line, column and value are named),
/// no jobs.
pub fn philly(jobs: &str, servers: u64, gpus: u32, gangs: bool) -> Result<SortedTrace, InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: jobs.to_owned(), violation };
    if gpus == 0 {
        return Err(invalid(Violation::new("GPUs of a server", gpus, "must be at least 1")));
    }
    let gpus = u64::from(gpus);
    let source = "Microsoft Philly traces (M. Jeon et al., 2019)";
    let mut draft = TraceDraft::new("Philly", source, &["gpu"]);
    let capacity = vec![Decimal::new(gpus, 0).unwrap_or_default()];
    draft.classes(vec![EqualServers { count: servers, capacity }.class()]);
    let [mut count, mut no_time, mut no_gpus, mut split] = [0u64; 4];
    let mut earliest = u64::MAX;
    for_each_row(jobs, &JOB, |cells| {
        count += 1;
        let time = date_and_time(cells.text(TIMESTAMP)?)
            .ok_or_else(|| cells.refused(TIMESTAMP, "must be a date and time as in 2017-10-09 07:01:55"))?;
        let duration =
            microseconds(cells.number(DURATION)?).map_err(|problem| cells.refused(DURATION, problem))?;
        let wanted = cells.whole(GPUS)?;
        if wanted == 0 || duration == 0 {
            *(if wanted == 0 { &mut no_gpus } else { &mut no_time }) += 1;
            return Ok(());
        }
        earliest = earliest.min(time);
        let at = |violation: Violation| Violation { place: cells.place(), ..violation };
        let user = draft.user(cells.text(CLUSTER)?).map_err(at)?;
        let job = draft.new_job(&cells.place().replace(' ', "-")).map_err(at)?;
        split += u64::from(wanted > gpus);
        let parts = match gangs {
            true => {
                let tasks = fewest_equal(wanted, gpus);
                vec![(wanted / tasks, tasks)]
            }
            false => vec![(gpus, wanted / gpus), (wanted % gpus, 1)],
        };
        for (each, tasks) in parts {
            let tasks = u32::try_from(tasks).map_err(|_| cells.refused(GPUS, "is too large"))?;
            if each > 0 && tasks > 0 {
                let demand = draft.shape(&[Decimal::new(each, 0).unwrap_or_default()]);
                let gang = Gang { tasks: tasks.into(), in_one_domain: false };
                let rules = TaskRules { gang: Some(gang), ..TaskRules::default() };
                let rules = (gangs && tasks > 1).then(|| draft.rules(&format!("gang-{tasks}"), rules));
                draft.submit(DraftTasks { time, duration, user, job, demand, count: tasks, rules });
            }
        }
        Ok(())
    })?;
    some(jobs, "jobs", count as usize)?;
    draft.shift(|seconds| (seconds - earliest) * MICROSECONDS);
    let of_several = match gangs {
        true => "jobs of more GPUs than a server has: the fewest equal tasks, which start together",
        false => "jobs of more GPUs than a server has: one task for each server full and one for the rest",
    };
    for (what, count) in [
        ("jobs in the rows", count),
        ("jobs left out: they ask for no GPU", no_gpus),
        ("jobs left out: they ran for no time", no_time),
        (of_several, split),
    ] {
        draft.count(what, count);
    }
    draft.sort(jobs)
}

/// The fewest tasks of the same number of GPUs, at most those of a server, that make so many together.
fn fewest_equal(wanted: u64, gpus: u64) -> u64 {
    // Each task has a divisor of all: the largest that a server has.
    let each = (1..=gpus.min(wanted)).rev().find(|each| wanted.is_multiple_of(*each));
    wanted / each.unwrap_or(1)
}
