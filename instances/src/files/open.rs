//! Opening a table, whatever file it is in.

use super::csv::CsvRows;
use super::rows::Rows;
use super::source::{self, Source};
use crate::InstanceError;
use std::io;

/// Opens a table: Parquet by its first bytes, else CSV.
pub fn open_table(path: &str) -> Result<Box<dyn Rows>, InstanceError> {
    table_in(source::open(path)?, path)
}

/// The table in `source`, which was opened from `path`.
pub(super) fn table_in(source: Source, path: &str) -> Result<Box<dyn Rows>, InstanceError> {
    if !source.is_parquet() {
        return Ok(Box::new(CsvRows::new(source)?));
    }
    #[cfg(feature = "parquet")]
    if path != "-" {
        return Ok(Box::new(super::parquet::ParquetRows::new(path)?));
    }
    Err(unread_parquet(path))
}

/// Why the Parquet file at `path` is not read.
pub(super) fn unread_parquet(path: &str) -> InstanceError {
    let reason = match path {
        "-" => "Parquet is not read from standard input; name the file",
        _ => "is Parquet, which this build does not read; convert it to CSV",
    };
    InstanceError::Io { file: path.to_owned(), source: io::Error::other(reason) }
}
