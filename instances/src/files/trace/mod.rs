//! Traces from files and to files: `fairplan.trace.v1` as JSON Lines, gzipped or not, or as Parquet. Both stream.
//!
//! The first line of JSON Lines is the header, each other line an event. In Parquet each row is an event, and the header
//! stands in the metadata under the format's name. Times and durations are seconds with up to six decimal places.

mod fields;
mod form;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod rules;
mod text;
mod write;

pub use fields::TraceLine;
pub use write::{trace_sha256_hex, write_trace};

use crate::InstanceError;
use crate::trace::EventSource;

use super::open::unread_parquet;
use super::source;

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

#[cfg(test)]
mod tests;
