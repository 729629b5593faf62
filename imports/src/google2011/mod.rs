//! The Google cluster-usage traces of 2011 (v2.1): machine and task events become the cluster and its users as
//! of one moment.
//!
//! Source: C. Reiss, J. Wilkes, J. L. Hellerstein, "Google cluster-usage traces: format + schema", 2011.

mod jobs;
mod machines;
mod rows;
mod runs;
mod tasks;
#[cfg(test)]
mod tests;
mod trace;

pub use trace::{DrawnServers, Google2011TraceOptions, google_2011_trace};

use super::PresentCluster;
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use fairplan_instances::google2011::{CpuMemory, cpu_memory_builder, mean_demand, server_class, shape_name};
use fairplan_instances::{
    Instance, InstanceBuilder, InstanceError, NewUser, Placement, ServerTasks, Violation,
};
use hashbrown::HashMap;
use machines::Alike;
use std::fmt;
use std::str::FromStr;

/// What [`google_2011`] reads and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Google2011Options {
    /// Files of the table `machine_events`, in order; `-` is standard input, gzip is recognised.
    pub machine_events: Vec<String>,
    /// Files of the table `task_events`, in order.
    pub task_events: Vec<String>,
    /// The moment, in microseconds: events up to and including it have happened. The trace begins at
    /// 600,000,000; the rows of time 0 (the default) tell the state before it.
    pub at: u64,
    /// Take every machine of the trace with its last known capacity, whenever it was there. This gives the
    /// 12,583 machines that are published as "the Google cluster" (DRFH Table I).
    pub last_shapes: bool,
    /// Who becomes a user.
    pub grouping: Grouping,
}

/// Who becomes a user of the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Each user of the trace, under its hash; its demand is the mean request over its tasks, exact, then
    /// rounded to nine decimals, halves up, and at least 1e-9 unless it is zero.
    #[default]
    User,
    /// Each different request of each user, as `HASH:cpu0.125-mem0.0159`; the demand is the request.
    Shape,
}

/// What was read, what became of it and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Google2011Report {
    /// Rows of machine events up to the moment (with `last_shapes`: all).
    pub machine_rows: u64,
    /// Machines in the instance.
    pub machines: u64,
    /// Machines left out because no row states their capacity.
    pub machines_without_capacity: u64,
    /// Rows of task events up to the moment.
    pub task_rows: u64,
    /// Tasks that run at the moment.
    pub running: u64,
    /// Tasks that wait at the moment.
    pub waiting: u64,
    /// Of these, left out because no row states a request.
    pub tasks_without_request: u64,
    /// Of these, left out because no row names a user.
    pub tasks_without_user: u64,
    /// Of these, left out because they ask for neither CPU nor memory.
    pub tasks_asking_nothing: u64,
    /// Users of the trace with a task in the instance.
    pub users: u64,
    /// Different requests (cpu, memory) among the tasks in the instance.
    pub shapes: u64,
    /// SCHEDULE rows whose request is not that of the task; the task keeps its own.
    pub deviating_requests: u64,
    /// Tasks first met in another row than SUBMIT: earlier rows are missing.
    pub starts_unseen: u64,
    /// Ends of tasks that were never met: earlier rows are missing.
    pub ends_unseen: u64,
}

/// The cluster and its users as of a moment of the trace.
///
/// *Machines*: ADD and UPDATE state a machine's capacity, REMOVE takes the machine away. Machines of equal
/// capacity form a class (`cpu0.5-mem0.4995`); classes come by descending count, then by ascending capacity.
///
/// *Tasks*: SUBMIT makes a task wait, SCHEDULE makes it run, EVICT, FAIL, FINISH, KILL and LOST end it (an
/// evicted task is submitted again). A task asks for what its SUBMIT row says, or a later UPDATE_PENDING or
/// UPDATE_RUNNING row; where SUBMIT says nothing, the next row that does counts. (At time 0 the SCHEDULE rows
/// of 37,313 of 144,339 tasks state another request than their SUBMIT rows, which the published snapshots
/// follow; the report counts such rows.) Users come in the order in
/// which the trace first names them, their shapes by ascending request; `tasks` counts running and waiting.
///
/// Reading stops at the first row after the moment; parts after it must exist but are not opened. Memory is
/// taken by the machines and live tasks, not by the rows.
///
/// # Errors
/// A file that cannot be read, a row that is not of the format (file, line, column and value are named), time
/// that goes backwards, machine events that contradict each other, a moment without machines or tasks.
pub fn google_2011(
    options: &Google2011Options,
) -> Result<(Instance, Google2011Report), ImportFailure<Google2011Report>> {
    counted(|report| read(options, report, false).map(|cluster| cluster.instance))
}

/// The same cluster with the ids of its machines as names, and where its tasks run. A task whose machine is not there waits.
///
/// # Errors
/// Those of [`google_2011`].
pub fn google_2011_present(
    options: &Google2011Options,
) -> Result<(PresentCluster, Google2011Report), ImportFailure<Google2011Report>> {
    counted(|report| read(options, report, true))
}

fn read(
    options: &Google2011Options,
    report: &mut Google2011Report,
    named: bool,
) -> Result<PresentCluster, Stopped> {
    for path in options.machine_events.iter().chain(&options.task_events).filter(|path| *path != "-") {
        std::fs::metadata(path).map_err(|source| InstanceError::Io { file: path.clone(), source })?;
    }
    let classes = machines::read(options, report)?;
    let live = tasks::read(options, report)?;

    let moment = if options.last_shapes { "in the trace".into() } else { format!("at time {}", options.at) };
    let nothing = |files: &[String], table: &str, what: String| {
        let file = files.first().map_or(table, String::as_str).into();
        Stopped::Building(InstanceError::Invalid { file, violation: Violation::new("", "", what) })
    };
    if classes.is_empty() {
        let what = format!("no machine of known capacity {moment}");
        return Err(nothing(&options.machine_events, "machine events", what));
    }
    if live.shapes.is_empty() {
        let what = format!("no task with a request runs or waits at time {}", options.at);
        return Err(nothing(&options.task_events, "task events", what));
    }
    let machines = if options.last_shapes { ", all machines with their last capacity" } else { "" };
    let name = format!("Google 2011 trace, tasks at time {}{machines}", options.at);
    let instance = cpu_memory_builder(&name).and_then(|mut builder| {
        for Alike { capacity, machines } in &classes {
            let mut class = server_class((machines.len() as u64, *capacity));
            if named {
                class.names = machines.iter().map(u64::to_string).collect();
            }
            builder.class(class)?;
        }
        add_users(&mut builder, &live, options.grouping)?;
        let placement = placement(&classes, &live, options.grouping);
        Ok(PresentCluster { instance: builder.build()?, placement })
    });
    // What each file says has been checked row by row; what is left concerns machines and tasks together.
    instance.map_err(|violation| {
        let file = super::files::together(options.machine_events.iter().chain(&options.task_events));
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}

/// Where tasks run: users as [`add_users`] adds them, in whose order the running tasks come.
fn placement(classes: &[Alike], live: &tasks::LiveTasks, grouping: Grouping) -> Placement {
    let machines = classes.iter().flat_map(|class| &class.machines);
    let position: HashMap<u64, usize> = machines.copied().zip(0..).collect();
    let mut servers = vec![ServerTasks::new(); position.len()];
    // Of each user of the instance what tells its tasks: the user of the trace, and for shapes the request.
    let key = |user: usize, demand: CpuMemory| (user, Some(demand).filter(|_| grouping == Grouping::Shape));
    let mut users: HashMap<(usize, Option<CpuMemory>), usize> = HashMap::new();
    for shape in &live.shapes {
        let next = users.len();
        users.entry(key(shape.user, shape.demand)).or_insert(next);
    }
    let mut tasks = vec![0; users.len()];
    for (user, demand, machine) in &live.running {
        let (Some(server), Some(user)) = (position.get(machine), users.get(&key(*user, *demand))) else {
            continue;
        };
        tasks[*user] += 1;
        let there = &mut servers[*server];
        match there.last_mut().filter(|(last, _)| *last == *user as u32) {
            Some((_, count)) => *count += 1,
            None => there.push((*user as u32, 1)),
        }
    }
    Placement { tasks, servers }
}

fn add_users(
    builder: &mut InstanceBuilder,
    live: &tasks::LiveTasks,
    grouping: Grouping,
) -> Result<(), Violation> {
    let mut add = |id: &str, demand: CpuMemory, tasks| {
        builder.user(NewUser { tasks: Some(tasks), ..NewUser::new(id, &demand) })
    };
    match grouping {
        Grouping::User => {
            for shapes in live.shapes.chunk_by(|a, b| a.user == b.user) {
                let (demand, tasks) = mean_demand(shapes)?;
                add(live.users.get(shapes[0].user), demand, tasks)?;
            }
        }
        Grouping::Shape => {
            for shape in &live.shapes {
                let id = format!("{}:{}", live.users.get(shape.user), shape_name(shape.demand));
                add(&id, shape.demand, shape.tasks)?;
            }
        }
    }
    Ok(())
}

impl FromStr for Grouping {
    type Err = Violation;
    /// `user` or `shape`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "user" => Ok(Self::User),
            "shape" => Ok(Self::Shape),
            _ => Err(Violation::new("group", text, "choose user or shape")),
        }
    }
}

impl From<&Google2011Report> for ImportReport {
    fn from(report: &Google2011Report) -> Self {
        let mut counts = Self::default();
        for (count, what) in [
            (report.machine_rows, "rows of machine events read"),
            (report.task_rows, "rows of task events read"),
            (report.running, "tasks running"),
            (report.waiting, "tasks waiting"),
            (report.machines_without_capacity, "machines left out: no row states their capacity"),
            (report.tasks_without_request, "tasks left out: no row states a request"),
            (report.tasks_without_user, "tasks left out: no row names a user"),
            (report.tasks_asking_nothing, "tasks left out: they ask for neither CPU nor memory"),
            (
                report.deviating_requests,
                "SCHEDULE rows with another request than their task's (its own is kept)",
            ),
            (report.starts_unseen, "tasks first met after their SUBMIT row: earlier rows are missing"),
            (report.ends_unseen, "ends of tasks never met: earlier rows are missing"),
        ] {
            counts.add(count, what);
        }
        counts
    }
}

impl fmt::Display for Google2011Report {
    /// One line for each count of which there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ImportReport::from(self).fmt(f)
    }
}
