//! Counts what passes.

use super::{Event, EventKind, EventSource, Register};
use crate::InstanceError;

/// What a trace has been seen to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that servers come, change or go.
    pub server_events: u64,
    /// Of these, servers that come at time 0: they are there from the beginning.
    pub servers_at_first: u64,
    /// Events that tasks are submitted.
    pub submissions: u64,
    /// Tasks.
    pub tasks: u64,
    /// Jobs.
    pub jobs: u64,
    /// The time of the last event, in microseconds.
    pub latest: u64,
    /// The durations of all tasks together, in microseconds.
    pub work: u128,
}

/// Hands on the events of a source and counts them.
pub struct Tallied<'a> {
    source: &'a mut dyn EventSource,
    tally: Tally,
}

impl<'a> Tallied<'a> {
    /// Counts from here on.
    pub fn new(source: &'a mut dyn EventSource) -> Self {
        Self { source, tally: Tally::default() }
    }

    /// What has passed so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

impl EventSource for Tallied<'_> {
    fn register(&self) -> &Register {
        self.source.register()
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        let next = self.source.next_event()?;
        if let Some(event) = next {
            self.tally.latest = event.time;
            match event.kind {
                EventKind::Submitted(tasks) => {
                    self.tally.submissions += 1;
                    self.tally.tasks += u64::from(tasks.count);
                    self.tally.jobs += u64::from(tasks.first);
                    self.tally.work += u128::from(tasks.count) * u128::from(tasks.duration);
                }
                kind => {
                    let at_first = event.time == 0 && matches!(kind, EventKind::ServerAdded(..));
                    self.tally.servers_at_first += u64::from(at_first);
                    self.tally.server_events += 1;
                }
            }
        }
        Ok(next)
    }

    fn job_id(&self) -> &str {
        self.source.job_id()
    }
}
