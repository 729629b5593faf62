//! Rows of job events: whose a job is, when it was submitted and when it ended.

use super::rows::Row;
use super::tasks::{Event, LAST_EVENT};
use fairplan_instances::InstanceError;

pub(super) const COLUMNS: [&str; 8] = [
    "time",
    "missing info",
    "job ID",
    "event type",
    "user",
    "scheduling class",
    "job name",
    "logical job name",
];
const MISSING: usize = 1;
const JOB: usize = 2;
const EVENT: usize = 3;
pub(super) const USER: usize = 4;
const CLASS: usize = 5;
const NAMES: [usize; 2] = [6, 7];

/// What a row says.
pub(super) struct JobRow<'a> {
    pub event: Event,
    pub job: u64,
    pub user: Option<&'a str>,
    /// Whether the trace's makers made the row up, for one that was lost.
    pub made_up: bool,
}

impl<'a> JobRow<'a> {
    /// Understands every cell: a row that is wrong in one that is not used is a wrong row too.
    pub(super) fn read(row: &Row<'a, 8>) -> Result<Self, InstanceError> {
        let event = Event::of(row.whole(EVENT, LAST_EVENT)?);
        let (job, user) = (row.id(JOB)?, row.optional_hash(USER)?);
        let made_up = row.optional_whole(MISSING, 2)?.is_some();
        row.optional_whole(CLASS, 3)?;
        for name in NAMES {
            row.optional_hash(name)?;
        }
        Ok(Self { event, job, user, made_up })
    }
}
