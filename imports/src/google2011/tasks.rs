//! Rows of task events, and the tasks that run or wait at a moment, counted by user and request.

use super::options::{Google2011Options, Google2011Report};
use super::rows::{Row, for_each_row};
use fairplan_instances::google2011::{CpuMemory, TaskShape, UNIT};
use fairplan_instances::{Decimal, IdTable, InstanceError};
use hashbrown::{HashMap, HashSet};

pub(super) const COLUMNS: [&str; 13] = [
    "time",
    "missing info",
    "job ID",
    "task index",
    "machine ID",
    "event type",
    "user",
    "scheduling class",
    "priority",
    "CPU request",
    "memory request",
    "disk space request",
    "different machines restriction",
];
const MISSING: usize = 1;
const JOB: usize = 2;
const INDEX: usize = 3;
const MACHINE: usize = 4;
const EVENT: usize = 5;
pub(super) const USER: usize = 6;
const CLASS: usize = 7;
const PRIORITY: usize = 8;
const CPU: usize = 9;
const DISK: usize = 11;
const RESTRICTION: usize = 12;

/// What a row says happened to its task or job, by the trace's event codes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// 0.
    Submit,
    /// 1.
    Schedule,
    /// 2 to 6: EVICT, FAIL, FINISH, KILL, LOST.
    End,
    /// 7.
    UpdatePending,
    /// 8.
    UpdateRunning,
}

/// The largest event code.
pub(super) const LAST_EVENT: u64 = 8;

impl Event {
    /// What a code up to [`LAST_EVENT`] says.
    pub fn of(code: u64) -> Self {
        match code {
            0 => Self::Submit,
            1 => Self::Schedule,
            2..=6 => Self::End,
            7 => Self::UpdatePending,
            _ => Self::UpdateRunning,
        }
    }
}

/// What a row says.
pub(super) struct TaskRow<'a> {
    pub event: Event,
    /// Job and task index.
    pub task: (u64, u64),
    pub user: Option<&'a str>,
    /// Where it runs.
    pub machine: Option<u64>,
    pub request: Option<CpuMemory>,
    /// Whether the trace's makers made the row up, for one that was lost.
    pub made_up: bool,
}

impl<'a> TaskRow<'a> {
    /// Understands every cell: a row that is wrong in one that is not used is a wrong row too.
    pub(super) fn read(row: &Row<'a, 13>) -> Result<Self, InstanceError> {
        let event = Event::of(row.whole(EVENT, LAST_EVENT)?);
        let task = (row.id(JOB)?, row.id(INDEX)?);
        let request = row.optional_cpu_memory(CPU)?;
        let user = row.optional_hash(USER)?;
        let made_up = row.optional_whole(MISSING, 2)?.is_some();
        let machine = row.optional_id(MACHINE)?;
        row.optional_whole(CLASS, 3)?;
        row.whole(PRIORITY, 11)?;
        row.optional_amount(DISK)?;
        row.optional_whole(RESTRICTION, 1)?;
        Ok(Self { event, task, user, machine, request, made_up })
    }
}

/// A task that waits or runs.
struct Task {
    user: Option<usize>,
    request: Option<CpuMemory>,
    runs: bool,
    /// Where it runs, as far as it is known.
    machine: Option<u64>,
}

/// The live tasks by user and request, and the users' names.
pub(super) struct LiveTasks {
    /// By user, in the order of appearance; within a user by ascending cpu and memory.
    pub shapes: Vec<TaskShape>,
    /// User, request and machine of each of them that runs on a known machine, in their order.
    pub running: Vec<(usize, CpuMemory, u64)>,
    /// Every user that a row up to the moment names.
    pub users: IdTable,
}

/// Follows the events up to the moment and counts what is left.
pub(super) fn read(
    options: &Google2011Options,
    report: &mut Google2011Report,
) -> Result<LiveTasks, InstanceError> {
    let mut tasks: HashMap<(u64, u64), Task> = HashMap::new();
    let mut users = IdTable::default();
    let rows = for_each_row(&options.task_events, &COLUMNS, options.at, |row| {
        apply(row, &mut tasks, &mut users, report)
    })?;
    report.task_rows = rows;
    Ok(LiveTasks { shapes: count(&tasks, report), running: running(&tasks), users })
}

fn apply(
    row: &Row<'_, 13>,
    tasks: &mut HashMap<(u64, u64), Task>,
    users: &mut IdTable,
    report: &mut Google2011Report,
) -> Result<(), InstanceError> {
    let TaskRow { event, task: key, user, request, machine, .. } = TaskRow::read(row)?;
    let user = user.and_then(|name| users.position(name).or_else(|| users.insert(name)));
    let runs = matches!(event, Event::Schedule | Event::UpdateRunning);
    match (event, tasks.get_mut(&key)) {
        (Event::End, _) => report.ends_unseen += u64::from(tasks.remove(&key).is_none()),
        (Event::Submit, _) => {
            tasks.insert(key, Task { user, request, runs, machine });
        }
        (_, None) => {
            report.starts_unseen += 1;
            tasks.insert(key, Task { user, request, runs, machine });
        }
        (_, Some(task)) => {
            task.runs = runs;
            task.user = task.user.or(user);
            task.machine = machine.or(task.machine);
            if matches!(event, Event::Schedule) {
                let deviates = request.is_some() && task.request.is_some() && task.request != request;
                report.deviating_requests += u64::from(deviates);
                task.request = task.request.or(request);
            } else {
                task.request = request.or(task.request);
            }
        }
    }
    Ok(())
}

fn running(tasks: &HashMap<(u64, u64), Task>) -> Vec<(usize, CpuMemory, u64)> {
    let runs = |task: &Task| {
        let request = task.request.filter(|request| *request != [Decimal::ZERO; 2])?;
        Some((task.user?, request, task.machine.filter(|_| task.runs)?))
    };
    let mut running: Vec<_> = tasks.values().filter_map(runs).collect();
    running
        .sort_unstable_by_key(|(user, request, machine)| (*user, request.map(|r| r.scaled(UNIT)), *machine));
    running
}

fn count(tasks: &HashMap<(u64, u64), Task>, report: &mut Google2011Report) -> Vec<TaskShape> {
    let mut counts: HashMap<(usize, CpuMemory), u64> = HashMap::new();
    for task in tasks.values() {
        *(if task.runs { &mut report.running } else { &mut report.waiting }) += 1;
        match (task.user, task.request) {
            (_, None) => report.tasks_without_request += 1,
            (_, Some(request)) if request == [Decimal::ZERO; 2] => report.tasks_asking_nothing += 1,
            (None, Some(_)) => report.tasks_without_user += 1,
            (Some(user), Some(request)) => *counts.entry((user, request)).or_default() += 1,
        }
    }
    let mut shapes: Vec<_> =
        counts.into_iter().map(|((user, demand), tasks)| TaskShape { user, demand, tasks }).collect();
    shapes.sort_unstable_by_key(|shape| (shape.user, shape.demand.map(|r| r.scaled(UNIT))));
    report.users = shapes.chunk_by(|a, b| a.user == b.user).count() as u64;
    report.shapes = shapes.iter().map(|shape| shape.demand).collect::<HashSet<_>>().len() as u64;
    shapes
}
