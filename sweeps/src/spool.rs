//! Rows on their way into the table, in a file that has no name: the columns are known only when all results have been read, and
//! there may be more of them than memory.

use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};

/// One row.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub index: u64,
    pub id: String,
    pub parameters: Vec<Value>,
    pub status: Option<u64>,
    pub message: Option<String>,
    /// Cells by the position of their column, in rising order.
    pub cells: Vec<(usize, Value)>,
}

/// Rows that are being put down.
pub(crate) struct Spool(BufWriter<File>);

impl Spool {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(BufWriter::with_capacity(1 << 17, tempfile::tempfile()?)))
    }

    pub(crate) fn push(&mut self, row: &Row) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, row)?;
        self.0.write_all(b"\n")
    }

    /// The rows, from the first on.
    pub(crate) fn rows(self) -> io::Result<Rows> {
        let mut file = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Rows(BufReader::with_capacity(1 << 17, file)))
    }
}

/// Rows that are taken up again.
pub(crate) struct Rows(BufReader<File>);

impl Rows {
    /// The next rows, at most so many; none at the end.
    pub(crate) fn next(&mut self, most: usize) -> io::Result<Vec<Row>> {
        let mut rows = Vec::new();
        let mut line = Vec::new();
        while rows.len() < most {
            line.clear();
            if self.0.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            rows.push(serde_json::from_slice(&line)?);
        }
        Ok(rows)
    }
}
