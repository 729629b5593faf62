//! A trace: servers that come, change and go, and tasks that are submitted, in the order of time.
//!
//! Numbers are exact: times and durations are whole microseconds, amounts are whole units of `10^-p`, where `p` is
//! the number of decimal places that the trace's header states for the resource. Names are interned: an [`Event`] holds
//! positions ([`UserNumber`], [`ServerNumber`], [`JobNumber`], [`ShapeNumber`]) that a [`Register`] turns back into names
//! and amounts. An [`EventSource`] hands out one event after the other, so that a reader of files need remember only the
//! distinct servers, users and shapes, and the jobs of which more tasks are to come.

mod draft;
mod event;
mod header;
mod memory;
mod new_tasks;
mod register;
mod rules;
mod shapes;
mod tally;

pub use draft::SortedTrace;
pub use draft::{DraftTasks, TraceDraft};
pub use event::{
    Event, EventKind, JobNumber, LATEST, MICROSECONDS, RulesNumber, ServerNumber, ShapeNumber, Submission,
    UserNumber, seconds,
};
pub use header::{DECIMAL_PLACES, MOST_DECIMAL_PLACES, TraceHeader, TraceResource};
pub use memory::{Replay, Trace};
pub use new_tasks::NewTasks;
pub(crate) use register::MOST_RESOURCES;
pub use register::Register;
pub use shapes::Shapes;
pub use tally::{Tallied, Tally};

use crate::InstanceError;

/// Hands out the events of a trace in order.
pub trait EventSource {
    /// What the trace has named so far. Grows with every event; numbers never change their meaning.
    fn register(&self) -> &Register;

    /// The next event; `None` after the last one.
    ///
    /// # Errors
    /// What is wrong with the file, with its place and value. No event comes after an error.
    fn next_event(&mut self) -> Result<Option<Event>, InstanceError>;

    /// The id of the job in the event handed out last; empty when that was of a server. A source need not know it any
    /// longer, so whoever wants to name the job later keeps it.
    fn job_id(&self) -> &str;
}
