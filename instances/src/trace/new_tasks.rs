//! What is said of tasks that are submitted, by the names of a trace.

use crate::Decimal;

/// Tasks on their way into a trace.
#[derive(Clone, Copy, Debug)]
pub struct NewTasks<'a> {
    /// Whose tasks they are.
    pub user: &'a str,
    /// The job they belong to.
    pub job: &'a str,
    /// One task's demand, one entry a resource.
    pub demand: &'a [Decimal],
    /// How many tasks, at least one.
    pub count: u32,
    /// How long each runs, in microseconds, more than zero.
    pub duration: u64,
    /// The name of the rules that they meet, one of the header's; `None`: none but devices. `per_server` and `spread` count the tasks that
    /// are submitted together. Of what has a profile the demand may say 0: it is the profile's.
    pub rules: Option<&'a str>,
    /// Whether more tasks of the job will be submitted later (or at the same time, by another event).
    pub more: bool,
}
