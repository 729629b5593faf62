//! A table as rows of text cells, whatever file it is in.

use crate::InstanceError;
use std::io;

use super::csv::CsvRows;
use super::source;

/// A table read row by row, every cell as text.
pub(super) trait Rows {
    /// The file's name for messages.
    fn file(&self) -> &str;
    /// The column names.
    fn header(&self) -> &[String];
    /// Reads the next row, one cell a column; `false` after the last.
    fn next(&mut self, row: &mut Row) -> Result<bool, InstanceError>;
    /// Where the last row stands in the file; before the first, the header.
    fn place(&self) -> String;
}

/// The cells of one row, in one buffer that is used again for the next: each is followed by one more byte.
#[derive(Default)]
pub(super) struct Row {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
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

/// Opens a table: Parquet by its first bytes, else CSV.
pub(super) fn open(path: &str) -> Result<Box<dyn Rows>, InstanceError> {
    let source = source::open(path)?;
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
