//! A part of the trace as `fairplan.trace.v1`: its tasks with the times they ran, and its machines or drawn servers.

use super::machines::{self, Machine};
use super::rows::{AFTER_TRACE, Rows, for_each_row};
use super::runs::Runs;
use super::{jobs, tasks};
use fairplan_instances::generate::drawn_classes;
use fairplan_instances::google2011::server_class;
use fairplan_instances::trace::{SortedTrace, TraceDraft};
use fairplan_instances::{Decimal, InstanceError, Violation};
use hashbrown::HashMap;

/// What [`google_2011_trace`] reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Google2011TraceOptions {
    /// Files of the table `task_events`, consecutive parts in order; `-` is standard input, gzip is recognised.
    pub task_events: Vec<String>,
    /// Files of the table `job_events` of the same time, in order. Empty: what rows of tasks leave open stays so.
    pub job_events: Vec<String>,
    /// Files of the table `machine_events`, in order: the servers, as they come, change and go. Empty: none.
    pub machine_events: Vec<String>,
    /// Servers that are there from the beginning instead.
    pub servers: Option<DrawnServers>,
}

/// Servers drawn from the published classes, each independently and in proportion to the published counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnServers {
    /// How many.
    pub count: u64,
    /// Seed of the draw.
    pub seed: u64,
}

/// The tasks of consecutive parts of the trace, and servers for them.
///
/// *Time 0* is the time of the first row, or that of the beginning of the trace (600 s) if the first rows tell the state
/// before it.
///
/// *A task* of the rows is one task of the result, whatever became of it in between. It is submitted when it first was, and
/// it runs for as long as it ran, from SCHEDULE to EVICT, FAIL, FINISH, KILL or LOST, all its runs together: a task that
/// fails and is submitted again has its runs added up. It asks for what its first row says that states a request, and its
/// job and user are those of the trace. Tasks that are first met while they run, wait or end were submitted before the first
/// row: they are submitted at time 0, and run for as long as they ran from then on. What still runs at the last row has run
/// until then. Tasks that did not run, for no time, for no user or without a request are left out, and so are those that no
/// server can hold.
///
/// *Job events* say what rows of tasks leave open: a task whose rows name no user is its job's user's; one that is first met
/// without its SUBMIT row was submitted when its job was, if that was after the first row; and one that still runs when its
/// job has ended (EVICT, FAIL, FINISH, KILL, LOST) ended then. A user who differs from the job's is refused. What a job
/// event does not change is counted: jobs of which there are none, jobs without tasks, rows of tasks after the end of their
/// job. Scheduling classes and names of jobs are read and not used: the trace calls a job by its id.
///
/// *Machines* come, change and go as ADD, UPDATE and REMOVE say, under their ids; those that are there before time 0 come at
/// time 0. A machine without a stated capacity is not there.
///
/// What was left out and what was made of the rows is counted in the header.
///
/// *Memory* follows the tasks, because what is submitted first may end last: 32 bytes for each that is imported, and while
/// their list grows up to three times as much; and some hundred more for those of jobs that have not ended as far as job
/// events tell. Without job events that is every job.
///
/// # Errors
/// A file that cannot be read, a row that is not of the format (file, line, column and value are named), time that goes
/// backwards, machine events that contradict each other, no rows of tasks, no servers to draw.
pub fn google_2011_trace(options: &Google2011TraceOptions) -> Result<SortedTrace, InstanceError> {
    let paths = options.machine_events.iter().chain(&options.task_events).chain(&options.job_events);
    for path in paths.filter(|path| *path != "-") {
        std::fs::metadata(path).map_err(|source| InstanceError::Io { file: path.clone(), source })?;
    }
    let source = "Google cluster-usage traces v2.1 (C. Reiss, J. Wilkes, J. L. Hellerstein, 2011), CC-BY";
    let mut draft = TraceDraft::new("", source, &["cpu", "memory"]);
    let files = crate::files::together(options.task_events.iter().chain(&options.machine_events));
    if let Some(DrawnServers { count, seed }) = options.servers {
        let classes = drawn_classes(count, false, seed).map_err(|violation| violation.in_file(&files))?;
        draft.classes(classes.into_iter().map(server_class).collect());
    }
    let mut runs = Runs::new();
    let (mut job_rows, mut of_jobs) = (Rows::new(&options.job_events, &jobs::COLUMNS), 0);
    let rows = for_each_row(&options.task_events, &tasks::COLUMNS, AFTER_TRACE - 1, |row| {
        of_jobs += job_rows.until(row.time(), |job| runs.job(job, &mut draft))?;
        runs.task(row, &mut draft)
    })?;
    draft.count("rows of task events", rows);
    let Some(window) = runs.window() else {
        let file = options.task_events.first().map_or("task events", String::as_str).into();
        let violation = Violation::new("", "", "there are no task events");
        return Err(InstanceError::Invalid { file, violation });
    };
    of_jobs += job_rows.until(window.ends, |job| runs.job(job, &mut draft))?;
    draft.count("rows of job events", of_jobs);
    let scheduled_on = runs.machines();
    runs.finish(of_jobs > 0, &mut draft);
    let mut known: HashMap<u64, Machine> = HashMap::new();
    let mut without_capacity = 0;
    let rows = for_each_row(&options.machine_events, &machines::COLUMNS, window.ends, |row| {
        let machine = machines::apply(row, &mut known)?;
        let capacity = if machine.is_there { machine.capacity } else { None };
        without_capacity += u64::from(machine.is_there && capacity.is_none());
        let id = row.id(machines::MACHINE)?.to_string();
        let capacity = capacity.as_ref().map(|capacity| capacity.as_slice());
        draft.server(window.since(row.time()), &id, capacity).map_err(|violation| row.invalid(violation))
    })?;
    let unknown = scheduled_on.iter().filter(|machine| !known.contains_key(*machine)).count();
    let begins = Decimal::new(window.begins, -6).unwrap_or_default();
    draft.name(&format!("Google 2011 trace from {begins} s on"));
    draft.count("rows of machine events", rows);
    draft.count(
        "rows of machine events without a capacity: the machine is taken for absent",
        without_capacity,
    );
    if rows > 0 {
        draft.count("machines that tasks ran on and no row of machine events names", unknown as u64);
    }
    draft.sort(&files)
}
