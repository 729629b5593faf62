//! A table as rows of text cells, whatever file it is in, read ahead on a thread of its own.

use crate::{InstanceError, Violation};
use std::io;
use std::sync::mpsc::{channel, sync_channel};

use super::csv::CsvRows;
use super::source::{self, Source};

/// A table read row by row, every cell as text.
pub(super) trait Rows: Send {
    /// What is known before the first row.
    fn table(&self) -> &Table;
    /// Reads the next row, one cell a column; `false` after the last.
    fn next(&mut self, row: &mut Row) -> Result<bool, InstanceError>;
}

/// A table's name and columns.
#[derive(Clone)]
pub(super) struct Table {
    /// The file's name for messages.
    pub(super) file: String,
    /// The column names.
    pub(super) header: Vec<String>,
    /// Where the header stands in the file.
    pub(super) header_place: String,
    /// What rows are counted in: `line` or `row`.
    pub(super) unit: &'static str,
}

impl Table {
    /// Where a row stands in the file.
    pub(super) fn place(&self, row: &Row) -> String {
        format!("{} {}", self.unit, row.number)
    }

    /// Where the cell of a row in the column called `column` stands.
    pub(super) fn place_in(&self, row: &Row, column: &str) -> String {
        format!("{}, column {column}", self.place(row))
    }

    /// The cell as text, which must be UTF-8.
    pub(super) fn text<'a>(&self, row: &'a Row, column: usize) -> Result<&'a str, Violation> {
        let cell = row.cell(column);
        std::str::from_utf8(cell).map_err(|_| {
            let place = self.place_in(row, &self.header[column]);
            Violation::new(place, String::from_utf8_lossy(cell), "is not valid UTF-8")
        })
    }
}

/// The cells of one row, in one buffer that is used again for the next: each is followed by one more byte.
#[derive(Default)]
pub(super) struct Row {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
    /// Where it stands in the file, in the table's unit.
    pub(super) number: u64,
}

impl Row {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Makes what was added to `bytes` since the last cell a cell.
    pub(super) fn end_cell(&mut self) {
        self.ends.push(self.bytes.len());
        self.bytes.push(b',');
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn cell(&self, column: usize) -> &[u8] {
        let start = if column == 0 { 0 } else { self.ends[column - 1] + 1 };
        &self.bytes[start..self.ends[column]]
    }
}

/// Rows handed over at a time.
const BATCH: usize = 1 << 10;

/// Batches read ahead.
const AHEAD: usize = 8;

/// Some rows; more buffers than are filled after the last batch.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    filled: usize,
}

impl Batch {
    /// Reads up to [`BATCH`] rows in place of those here; `false` when there were fewer.
    fn fill(&mut self, rows: &mut dyn Rows) -> Result<bool, InstanceError> {
        self.rows.resize_with(BATCH, Row::default);
        self.filled = 0;
        for row in &mut self.rows {
            if !rows.next(row)? {
                return Ok(false);
            }
            self.filled += 1;
        }
        Ok(true)
    }
}

/// Hands every row to `take`, in order, while another thread reads the next ones. What `take` or a row that cannot
/// be read returns first ends it.
pub(super) fn for_each_row(
    rows: &mut dyn Rows,
    mut take: impl FnMut(&Row) -> Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    std::thread::scope(|scope| {
        let (full, ready) = sync_channel(AHEAD);
        let (used, spare) = channel::<Batch>();
        scope.spawn(move || {
            loop {
                let mut batch = spare.try_recv().unwrap_or_default();
                let more = batch.fill(rows);
                let last = !matches!(more, Ok(true));
                // Nobody listens any more when a row was refused.
                if full.send((batch, more.err())).is_err() || last {
                    break;
                }
            }
        });
        for (batch, error) in ready {
            batch.rows[..batch.filled].iter().try_for_each(&mut take)?;
            if let Some(error) = error {
                return Err(error);
            }
            // The reader is gone after the last batch.
            let _ = used.send(batch);
        }
        Ok(())
    })
}

/// Opens a table: Parquet by its first bytes, else CSV.
pub(super) fn open(path: &str) -> Result<Box<dyn Rows>, InstanceError> {
    table(source::open(path)?, path)
}

/// The table in `source`, which was opened from `path`.
pub(super) fn table(source: Source, path: &str) -> Result<Box<dyn Rows>, InstanceError> {
    if !source.is_parquet() {
        return Ok(Box::new(CsvRows::new(source)?));
    }
    let refused = |reason| Err(InstanceError::Io { file: path.to_owned(), source: io::Error::other(reason) });
    if path == "-" {
        return refused("Parquet is not read from standard input; name the file");
    }
    #[cfg(feature = "parquet")]
    return Ok(Box::new(super::parquet::ParquetRows::new(path)?));
    #[cfg(not(feature = "parquet"))]
    refused("is Parquet, which this build does not read; convert it to CSV")
}
