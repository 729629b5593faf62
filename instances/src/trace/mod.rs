//! A trace: servers that come, change and go, and tasks that are submitted, in the order of time.
//!
//! Numbers are exact: times and durations are whole microseconds, amounts are whole units of `10^-p`, where `p` is
//! the number of decimal places that the trace's header states for the resource. Names are interned: an [`Event`] holds
//! positions ([`UserNumber`], [`ServerNumber`], [`JobNumber`], [`ShapeNumber`]) that a [`Register`] turns back into names
//! and amounts. An [`EventSource`] hands out one event after the other, so that a reader of files need remember only the
//! distinct servers, users and shapes, and the jobs of which more tasks are to come.

mod draft;
mod header;
mod memory;
mod register;
mod shapes;
mod tally;

pub use draft::SortedTrace;
pub use draft::{DraftTasks, TraceDraft};
pub use header::{DECIMAL_PLACES, MOST_DECIMAL_PLACES, TraceHeader, TraceResource};
pub use memory::{Replay, Trace};
pub(crate) use register::MOST_RESOURCES;
pub use register::{NewTasks, Register};
pub use shapes::Shapes;
pub use tally::{Tallied, Tally};

use crate::InstanceError;

/// Microseconds in a second: times of a trace are whole microseconds.
pub const MICROSECONDS: u64 = 1_000_000;

/// Latest time and longest duration, in microseconds: some 146,000 years, so that their sum is a time too.
pub const LATEST: u64 = 1 << 62;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as a position in a list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
number!(
    /// A server: 0, 1, 2 and so on in the order in which the trace first names them. A server that leaves and comes back
    /// has the same number.
    ServerNumber
);
number!(
    /// A user, in the order of the header where that lists them, else in the order of their first tasks.
    UserNumber
);
number!(
    /// A job, in the order of its first tasks. No number is given twice.
    JobNumber
);
number!(
    /// An amount of each resource that a server has or a task needs; equal amounts have one number.
    ShapeNumber
);

/// What happens, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// In microseconds; never less than that of the event before.
    pub time: u64,
    /// What happens.
    pub kind: EventKind,
}

/// What happens. Events of the same time come in the order of these variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A server that was there leaves; what runs on it is lost.
    ServerRemoved(ServerNumber),
    /// A server that was not there comes with a capacity.
    ServerAdded(ServerNumber, ShapeNumber),
    /// A server that is there has another capacity from now on.
    ServerChanged(ServerNumber, ShapeNumber),
    /// Tasks are submitted.
    Submitted(Submission),
}

impl EventKind {
    /// Where this kind stands among events of the same time.
    pub fn rank(&self) -> u8 {
        match self {
            Self::ServerRemoved(_) => 0,
            Self::ServerAdded(..) => 1,
            Self::ServerChanged(..) => 2,
            Self::Submitted(_) => 3,
        }
    }
}

/// Identical tasks of one job that are submitted together. Each is placed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Whose tasks they are; all tasks of a job have the same user.
    pub user: UserNumber,
    /// The job they belong to.
    pub job: JobNumber,
    /// What one task needs while it runs; not zero in every resource.
    pub demand: ShapeNumber,
    /// How many tasks, at least one.
    pub count: u32,
    /// How long each of them runs once it has started, in microseconds, more than zero.
    pub duration: u64,
    /// Whether these are the first tasks of the job.
    pub first: bool,
    /// Whether these are the last: the job is complete when they and all tasks before them are done.
    pub last: bool,
}

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
