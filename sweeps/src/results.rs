//! The results of a sweep, one by one, as the commands wrote them.

use crate::record::{self, Record};
use crate::tasks::TaskFile;
use crate::{Indices, SweepError};
use std::path::Path;

/// Tasks read at a time.
const BATCH: usize = 1 << 10;

/// Hands the document of each task to `take`, in the order of the tasks.
///
/// # Errors
/// A task without a result, with what it said if it failed; a result of another version or a damaged one; what `take` refuses.
pub fn results(
    tasks: &TaskFile,
    directory: &Path,
    mut take: impl FnMut(u64, &str) -> Result<(), String>,
) -> Result<(), SweepError> {
    let all = Indices::below(tasks.header().tasks);
    let mut lines = tasks.lines(&all)?;
    loop {
        let batch = lines.batch(BATCH)?;
        if batch.is_empty() {
            return Ok(());
        }
        for line in batch {
            let task = tasks.task(&line)?;
            let refused = |problem: String| SweepError::refused(format!("task {}: {problem}", line.index));
            let Some((path, bytes)) = record::read(directory, &task.id)? else {
                return Err(refused("has no result; run it first".into()));
            };
            let record = Record::parse(&path, &bytes, &task.id)?;
            match record.result {
                Some(result) => take(line.index, result.get()).map_err(refused)?,
                None => return Err(refused(record.message.unwrap_or_default())),
            }
        }
    }
}
