//! Traces from files and to files: `fairplan.trace.v1` as JSON Lines, gzipped or not, or as Parquet. Both stream.
//!
//! The first line of JSON Lines is the header, each other line an event. In Parquet each row is an event, and the header
//! stands in the metadata under the format's name. Times and durations are seconds with up to six decimal places.

mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod text;
mod write;

pub use write::{trace_sha256_hex, write_trace};

use crate::trace::{EventSource, LATEST};
use crate::{Decimal, InstanceError, Violation};

use super::open::unread_parquet;
use super::source;
use super::strict_json::Form;

/// The version that the reader expects and the writer states.
const FORM: Form = Form {
    format: "fairplan.trace.v1",
    what: "trace",
    otherwise: "the first line of JSON Lines is its header",
};

/// The names of the events, in the order in which events of the same time stand.
const EVENTS: [&str; 4] = ["server_removed", "server_added", "server_changed", "tasks_submitted"];

/// Opens a trace and reads its header: Parquet by its first bytes, else JSON Lines, gzipped or not; `-` is standard input.
///
/// Refused, here or by the event that is wrong: another format version, unknown or duplicate keys, fields that are missing
/// or mean nothing for the event, numbers that are no exact non-negative decimals, and whatever
/// [`Register`](crate::trace::Register) refuses.
pub fn read_trace(path: &str) -> Result<Box<dyn EventSource + Send>, InstanceError> {
    let source = source::open(path)?;
    if !source.is_parquet() {
        return Ok(Box::new(lines::Lines::new(source)?));
    }
    #[cfg(feature = "parquet")]
    if path != "-" {
        return Ok(Box::new(parquet::TraceRows::new(path)?));
    }
    Err(unread_parquet(path))
}

/// The same of JSON Lines in memory, which messages call `name`.
pub fn read_trace_in_memory(
    name: &str,
    lines: Vec<u8>,
) -> Result<Box<dyn EventSource + Send>, InstanceError> {
    Ok(Box::new(lines::Lines::new(source::in_memory(name, lines)?)?))
}

/// Seconds as whole microseconds.
fn microseconds(seconds: Decimal) -> Result<u64, &'static str> {
    let whole = seconds.scaled(-6).ok_or("has more than 6 decimal places; times are whole microseconds")?;
    u64::try_from(whole).ok().filter(|&time| time <= LATEST).ok_or("must be less than 4e12 seconds")
}

/// A field that the event needs and does not have, or has and does not know.
fn misplaced(field: &str, event: &str, is_there: bool) -> Violation {
    let problem = if is_there { "means nothing for" } else { "is missing from" };
    Violation::new(field, "", format!("{problem} {event}"))
}

#[cfg(test)]
mod tests;
