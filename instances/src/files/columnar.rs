//! Columns in files that other programs read by column, batch by batch: Parquet, snappy-compressed, or an Arrow IPC file.

use super::source::has_ending;
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// A file format of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columnar {
    /// Parquet, snappy-compressed.
    Parquet,
    /// The file format of Arrow's inter-process communication, also known as Feather V2; not compressed.
    Arrow,
}

impl Columnar {
    /// The format that the ending of `path` names.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            _ if has_ending(path, "parquet") => Some(Self::Parquet),
            _ if has_ending(path, "arrow") => Some(Self::Arrow),
            _ => None,
        }
    }
}

/// Batches on their way into a file.
pub enum BatchWriter<W: Write + Send> {
    /// Into Parquet.
    Parquet(Box<ArrowWriter<W>>),
    /// Into an Arrow file.
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> BatchWriter<W> {
    /// A writer of batches that all have this schema.
    ///
    /// # Errors
    /// Of this and the others: what the operating system says, or columns that the format cannot hold.
    pub fn new(out: W, format: Columnar, schema: &Arc<Schema>) -> io::Result<Self> {
        Ok(match format {
            Columnar::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(io_error)?;
                Self::Parquet(Box::new(writer))
            }
            Columnar::Arrow => Self::Arrow(Box::new(FileWriter::try_new(out, schema).map_err(of_arrow)?)),
        })
    }

    /// Writes one batch.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(batch).map_err(io_error),
            Self::Arrow(writer) => writer.write(batch).map_err(of_arrow),
        }
    }

    /// Writes what belongs at the end. Without it the file is no such file.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.close().map(drop).map_err(io_error),
            Self::Arrow(mut writer) => writer.finish().map_err(of_arrow),
        }
    }
}

/// The operating system's error inside, where there is one.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}

fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        ArrowError::ExternalError(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}
