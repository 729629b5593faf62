//! A trace in memory: what generators and tests make, and what importers write.

use super::{Event, EventKind, EventSource, NewTasks, Register, TraceHeader};
use crate::{Decimal, InstanceError, Violation};

/// A whole trace in memory. Events are added in the trace's order.
pub struct Trace {
    register: Register,
    events: Vec<Event>,
    /// The ids of the jobs, by number, one after the other.
    job_letters: String,
    job_ends: Vec<usize>,
}

impl Trace {
    /// A trace without events.
    ///
    /// # Errors
    /// A header that breaks a rule; see [`Register::new`].
    pub fn new(header: TraceHeader) -> Result<Self, Violation> {
        let register = Register::new(header)?;
        Ok(Self { register, events: Vec::new(), job_letters: String::new(), job_ends: Vec::new() })
    }

    /// All that a source has left, to be replayed more than once.
    ///
    /// # Errors
    /// What the source refuses.
    pub fn read(source: &mut dyn EventSource) -> Result<Self, InstanceError> {
        let (mut events, mut job_letters, mut job_ends) = (Vec::new(), String::new(), Vec::new());
        while let Some(event) = source.next_event()? {
            if let EventKind::Submitted(submission) = event.kind
                && submission.first
            {
                job_letters.push_str(source.job_id());
                job_ends.push(job_letters.len());
            }
            events.push(event);
        }
        Ok(Self { register: source.register().clone(), events, job_letters, job_ends })
    }

    /// Names and amounts by number.
    pub fn register(&self) -> &Register {
        &self.register
    }

    /// The events so far, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The id of a job.
    pub fn job_id(&self, job: super::JobNumber) -> &str {
        let start = if job.0 == 0 { 0 } else { self.job_ends[job.index() - 1] };
        &self.job_letters[start..self.job_ends[job.index()]]
    }

    /// A server comes.
    pub fn server_added(&mut self, time: u64, id: &str, capacity: &[Decimal]) -> Result<(), Violation> {
        self.server_added_in(time, id, capacity, None)
    }

    /// A server comes that is in a domain.
    pub fn server_added_in(
        &mut self,
        time: u64,
        id: &str,
        capacity: &[Decimal],
        domain: Option<&str>,
    ) -> Result<(), Violation> {
        let event = self.register.server_added_in(time, id, capacity, domain)?;
        self.events.push(event);
        Ok(())
    }

    /// A server has another capacity.
    pub fn server_changed(&mut self, time: u64, id: &str, capacity: &[Decimal]) -> Result<(), Violation> {
        let event = self.register.server_changed(time, id, capacity)?;
        self.events.push(event);
        Ok(())
    }

    /// A server leaves.
    pub fn server_removed(&mut self, time: u64, id: &str) -> Result<(), Violation> {
        let event = self.register.server_removed(time, id)?;
        self.events.push(event);
        Ok(())
    }

    /// Tasks are submitted.
    pub fn submitted(&mut self, time: u64, tasks: NewTasks<'_>) -> Result<(), Violation> {
        let event = self.register.submitted(time, tasks)?;
        if let EventKind::Submitted(submission) = event.kind
            && submission.first
        {
            self.job_letters.push_str(tasks.job);
            self.job_ends.push(self.job_letters.len());
        }
        self.events.push(event);
        Ok(())
    }

    /// Hands the events out from the beginning.
    ///
    /// # Errors
    /// A job of which more tasks were announced than came.
    pub fn replay(&self) -> Result<Replay<'_>, Violation> {
        self.register.finish()?;
        Ok(Replay { trace: self, position: 0 })
    }
}

/// The events of a [`Trace`] from the beginning.
#[derive(Clone)]
pub struct Replay<'a> {
    trace: &'a Trace,
    position: usize,
}

impl EventSource for Replay<'_> {
    fn register(&self) -> &Register {
        &self.trace.register
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        let event = self.trace.events.get(self.position).copied();
        self.position += usize::from(event.is_some());
        Ok(event)
    }

    fn job_id(&self) -> &str {
        match self.position.checked_sub(1).map(|last| self.trace.events[last].kind) {
            Some(EventKind::Submitted(submission)) => self.trace.job_id(submission.job),
            _ => "",
        }
    }
}
