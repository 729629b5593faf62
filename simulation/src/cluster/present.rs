//! Tasks that run when a trace begins: each user's are submitted and begun as one job at the trace's first instant, before any
//! other task, on the servers where they are.
//!
//! They count as submitted and started then. How long they go on nobody knows: all for the same time, or to the end of the run.

use fairplan_instances::trace::{Event, EventKind, EventSource, LATEST, NewTasks, Register, ShapeNumber};
use fairplan_instances::{Decimal, InstanceError, Violation};

/// Tasks that run when a trace begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Present {
    /// Who has them.
    pub users: Vec<PresentTasks>,
    /// How long each of them goes on, in microseconds; `None`: to the end of the run.
    pub remaining: Option<u64>,
}

/// The tasks of a user that run when a trace begins.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentTasks {
    /// Its id.
    pub user: String,
    /// Its weight, where the trace states weights and not its.
    pub weight: Decimal,
    /// What one task holds, in the trace's order of resources.
    pub demand: Vec<Decimal>,
    /// Its servers, and how many tasks are on each.
    pub servers: Vec<PresentServer>,
}

/// A server with tasks of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentServer {
    /// What it may be called in the trace; the first name that is known there holds.
    pub names: Vec<String>,
    /// How many tasks.
    pub tasks: u64,
}

/// A trace with the submissions of what runs at its beginning: the first of all.
pub(super) struct Joined<'a> {
    source: &'a mut dyn EventSource,
    present: &'a Present,
    register: Register,
    /// How many users of `present` are submitted.
    submitted: usize,
    /// The time of the first event.
    first: Option<u64>,
    /// The next event of the trace.
    ahead: Option<Event>,
    job: String,
}

impl<'a> Joined<'a> {
    pub fn new(source: &'a mut dyn EventSource, present: &'a Present) -> Result<Self, Violation> {
        let mut header = source.register().header().clone();
        if let Some(users) = &mut header.users {
            for tasks in &present.users {
                if users.iter().all(|(id, _)| *id != tasks.user) {
                    users.push((tasks.user.clone(), tasks.weight));
                }
            }
        }
        let register = Register::new(header)?;
        Ok(Self { source, present, register, submitted: 0, first: None, ahead: None, job: String::new() })
    }

    /// What runs already of the next user.
    fn submit(&mut self, time: u64) -> Result<Event, InstanceError> {
        let tasks = &self.present.users[self.submitted];
        self.submitted += 1;
        let refused = |violation: Violation| InstanceError::Invalid {
            file: format!("user {} of the placement", tasks.user),
            violation,
        };
        let sum = tasks.servers.iter().map(|server| server.tasks).fold(0, u64::saturating_add);
        let count = u32::try_from(sum).map_err(|_| {
            refused(Violation::new("tasks", sum, "are more than can be simulated of one user"))
        })?;
        self.job = format!("placement/{}", tasks.user);
        let tasks = NewTasks {
            user: &tasks.user,
            job: &self.job,
            demand: &tasks.demand,
            count,
            duration: self.present.remaining.unwrap_or(LATEST),
            rules: None,
            more: false,
        };
        self.register.submitted(time, tasks).map_err(refused)
    }

    /// An event of the trace by the numbers of this one.
    fn translated(&mut self, Event { time, kind }: Event) -> Result<Event, Violation> {
        let (names, register) = (self.source.register(), &mut self.register);
        let amounts = |shape: ShapeNumber| -> Vec<Decimal> {
            let units = names.shapes().units(shape).iter().zip(&names.header().resources);
            units.map(|(units, resource)| resource.amount(*units)).collect()
        };
        match kind {
            EventKind::ServerRemoved(server) => {
                register.server_removed(time, names.servers().get(server.index()))
            }
            EventKind::ServerAdded(server, capacity) => {
                let id = names.servers().get(server.index());
                register.server_added_in(time, id, &amounts(capacity), names.domain_name(server))
            }
            EventKind::ServerChanged(server, capacity) => {
                register.server_changed(time, names.servers().get(server.index()), &amounts(capacity))
            }
            EventKind::Submitted(tasks) => {
                self.source.job_id().clone_into(&mut self.job);
                let tasks = NewTasks {
                    user: names.users().get(tasks.user.index()),
                    job: &self.job,
                    demand: &amounts(tasks.demand),
                    count: tasks.count,
                    duration: tasks.duration,
                    rules: names.rules_name(tasks.rules),
                    more: !tasks.last,
                };
                register.submitted(time, tasks)
            }
        }
    }
}

impl EventSource for Joined<'_> {
    fn register(&self) -> &Register {
        &self.register
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        if self.ahead.is_none() {
            self.ahead = self.source.next_event()?;
        }
        let first = *self.first.get_or_insert(self.ahead.map_or(0, |event| event.time));
        let is_behind = |event: Event| event.time > first || matches!(event.kind, EventKind::Submitted(_));
        if self.submitted < self.present.users.len() && self.ahead.is_none_or(is_behind) {
            return self.submit(first).map(Some);
        }
        let Some(event) = self.ahead.take() else { return Ok(None) };
        let invalid = |violation| InstanceError::Invalid { file: "the trace".into(), violation };
        self.translated(event).map(Some).map_err(invalid)
    }

    fn job_id(&self) -> &str {
        &self.job
    }
}
