//! What happens in a trace, by numbers for what has a name.

/// Microseconds in a second: times of a trace are whole microseconds.
pub const MICROSECONDS: u64 = 1_000_000;

/// A time of a trace in seconds.
pub fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / MICROSECONDS as f64
}

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
number!(
    /// Rules that tasks meet, in the order of the header.
    RulesNumber
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
    /// The rules that they meet, those of one submission together; `None`: none but devices.
    pub rules: Option<RulesNumber>,
    /// Whether these are the first tasks of the job.
    pub first: bool,
    /// Whether these are the last: the job is complete when they and all tasks before them are done.
    pub last: bool,
}
