//! The tables column by column, as Parquet or Arrow.

use crate::output::Sink;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use fairplan_instances::files::{BatchWriter, Columnar};
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

/// A column of answers, some of which may be missing.
pub(super) fn answers(cells: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(cells.collect::<BooleanArray>())
}

/// A column of positions, some of which may be missing.
pub(super) fn positions(cells: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(cells.collect::<UInt32Array>())
}

/// Writes batches of columns, all named as in the first; without any the file would have no columns.
pub(super) fn write<'a>(
    out: &mut Sink,
    format: Columnar,
    batches: impl Iterator<Item = io::Result<Columns<'a>>>,
) -> io::Result<()> {
    let mut batches = batches.map(|columns| {
        // What is missing in one batch may be missing in another, and all have one schema.
        let columns = columns?.into_iter().map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(io::Error::other)
    });
    let first = batches.next().transpose()?.ok_or_else(|| io::Error::other("a table without columns"))?;
    let mut writer = BatchWriter::new(out, format, &first.schema())?;
    for batch in std::iter::once(Ok(first)).chain(batches) {
        writer.write(&batch?)?;
    }
    writer.finish()
}
