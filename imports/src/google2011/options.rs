//! What is read of the traces of 2011 and how, and what became of it.

use crate::report::ImportReport;
use fairplan_instances::Violation;
use fairplan_instances::wording::choose;
use std::fmt;
use std::str::FromStr;

/// What [`google_2011`](super::google_2011) reads and how.
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

impl FromStr for Grouping {
    type Err = Violation;
    /// `user` or `shape`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "user" => Ok(Self::User),
            "shape" => Ok(Self::Shape),
            _ => Err(Violation::new("group", text, choose(text, &["user", "shape"]))),
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
