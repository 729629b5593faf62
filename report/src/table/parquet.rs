//! The tables as Parquet, snappy-compressed.

use crate::output::Sink;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io;
use std::sync::Arc;

/// Rows gathered before they are passed on.
pub(super) const BATCH: usize = 1 << 16;

/// Named columns of equal length.
pub(super) type Columns<'a> = Vec<(&'a str, ArrayRef)>;

/// A column of words.
pub(super) fn words<'a>(cells: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(cells))
}

/// A column of numbers.
pub(super) fn numbers(cells: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(cells))
}

/// A column of numbers, some of which may be missing.
pub(super) fn optional_numbers(cells: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(cells.collect::<Float64Array>())
}

/// A column of counts.
pub(super) fn counts(cells: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(cells))
}

/// A column of positions, some of which may be missing.
pub(super) fn positions(cells: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(cells.collect::<UInt32Array>())
}

/// Writes batches of columns, all named as in the first.
pub(super) fn write<'a>(
    out: &mut Sink,
    batches: impl Iterator<Item = io::Result<Columns<'a>>>,
) -> io::Result<()> {
    let mut batches =
        batches.map(|columns| RecordBatch::try_from_iter(columns?).map_err(|error| io_error(error.into())));
    let Some(first) = batches.next().transpose()? else { return Ok(()) };
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(out, first.schema(), Some(properties)).map_err(io_error)?;
    for batch in std::iter::once(Ok(first)).chain(batches) {
        writer.write(&batch?).map_err(io_error)?;
    }
    writer.close().map_err(io_error)?;
    Ok(())
}

/// The operating system's error inside, where there is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}
