//! Writing a trace as its events come.

use crate::InstanceError;
use crate::trace::EventSource;
use std::io::{self, Write};

use super::text::Writer;
use crate::files::canonical::hashed;
#[cfg(feature = "parquet")]
use crate::files::source::has_ending;
use crate::files::table_writer::{lines, refuse_parquet};

/// Writes all events of `source` to `out`, in the format that the ending of `path` names: `.parquet` or any other (JSON
/// Lines). `path` is only looked at and named in errors; who opened `out` compresses what shall be.
///
/// # Errors
/// What the source refuses, what cannot be written, and for Parquet a resource that is named like another column.
pub fn write_trace(
    source: &mut dyn EventSource,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    #[cfg(feature = "parquet")]
    if has_ending(path, "parquet") {
        return super::parquet::write(source, path, out);
    }
    refuse_parquet(path)?;
    let mut refused = None;
    let written = lines(path, out, |out| {
        write_lines(source, out).map_err(|error| match error {
            InstanceError::Io { source, .. } => source,
            other => {
                let unwritten = io::Error::other(other.to_string());
                refused = Some(other);
                unwritten
            }
        })
    });
    refused.map_or(written, Err)
}

/// The SHA-256 of the trace's canonical JSON Lines, in hexadecimal: what `sha256sum` prints for the file that
/// [`write_trace`] writes without compression.
///
/// # Errors
/// What the source refuses.
pub fn trace_sha256_hex(source: &mut dyn EventSource) -> Result<String, InstanceError> {
    let mut outcome = Ok(());
    let hash = hashed(|hash| {
        outcome = write_lines(source, hash);
        Ok(())
    });
    outcome.map(|()| hash)
}

fn write_lines(source: &mut dyn EventSource, out: &mut dyn Write) -> Result<(), InstanceError> {
    let failed = |source| InstanceError::Io { file: String::new(), source };
    let mut writer = Writer::new(source.register().header());
    writer.header(source.register().header());
    writer.text.raw("\n");
    while let Some(event) = source.next_event()? {
        writer.event(source.register(), event, source.job_id());
        writer.text.pass_on(out).map_err(failed)?;
    }
    writer.text.finish(out).map_err(failed)
}
