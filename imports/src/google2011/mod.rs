//! The Google cluster-usage traces of 2011 (v2.1): machine and task events become the cluster and its users as
//! of one moment.
//!
//! Source: C. Reiss, J. Wilkes, J. L. Hellerstein, "Google cluster-usage traces: format + schema", 2011.

mod jobs;
mod machines;
mod options;
mod rows;
mod runs;
mod tasks;
#[cfg(test)]
mod tests;
mod trace;

pub use trace::{DrawnServers, Google2011TraceOptions, google_2011_trace};

pub use options::{Google2011Options, Google2011Report, Grouping};

use super::PresentCluster;
use super::report::{ImportFailure, Stopped, counted};
use fairplan_instances::google2011::{CpuMemory, cpu_memory_builder, mean_demand, server_class, shape_name};
use fairplan_instances::{
    Instance, InstanceBuilder, InstanceError, NewUser, Placement, ServerTasks, Violation,
};
use hashbrown::HashMap;
use machines::Alike;

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
