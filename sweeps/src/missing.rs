//! Which tasks have no result yet.

use crate::record::{self, Stands};
use crate::tasks::{Line, TaskFile};
use crate::{Indices, SweepError};
use rayon::prelude::*;
use std::path::Path;

/// Tasks looked at side by side.
const BATCH: usize = 1 << 12;

/// Tasks without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which.
    pub indices: Indices,
    /// How many of them have been run and failed.
    pub failed: u64,
}

/// Tasks that are run together: chunk 0 is the first so many tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks(pub u64);

impl Missing {
    /// The chunks that have such tasks.
    pub fn chunks(&self, Chunks(size): Chunks) -> Indices {
        let mut chunks = Indices::default();
        for index in self.indices.iter() {
            chunks.push(index / size.max(1));
        }
        chunks
    }
}

/// Looks for the results of all tasks. A directory that is not there has none.
///
/// # Errors
/// A list of tasks that cannot be used, or a result that is of another version.
pub fn missing(tasks: &TaskFile, directory: &Path) -> Result<Missing, SweepError> {
    let all = Indices::below(tasks.header().tasks);
    let mut lines = tasks.lines(&all)?;
    let mut missing = Missing { indices: Indices::default(), failed: 0 };
    loop {
        let batch = lines.batch(BATCH)?;
        if batch.is_empty() {
            return Ok(missing);
        }
        let stands = |line: &Line| Ok((line.index, record::stands(directory, &tasks.task(line)?.id)?));
        let stands: Vec<Result<(u64, Stands), SweepError>> = batch.par_iter().map(stands).collect();
        // The first task that cannot be read is named, whichever thread was first.
        for stands in stands {
            let (index, stands) = stands?;
            if stands != Stands::Done {
                missing.indices.push(index);
            }
            missing.failed += u64::from(stands == Stands::Failed);
        }
    }
}
