//! Tables column by column: Parquet and Arrow.

use super::finite::finite;
use super::kept::{TextForm, kept_array};
use crate::output::Sink;
use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use fairplan_instances::files::{BatchWriter, Columnar};
use fairplan_instances::table::{Cell, Column, Kind, Table};
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Rows gathered before they are passed on.
const BATCH: usize = 1 << 16;

/// Writes a table batch by batch; one without rows still has its columns.
pub(super) fn write(out: &mut Sink, format: Columnar, table: &Table<'_>) -> io::Result<()> {
    let count = table.rows();
    let first = batch(table, 0..count.min(BATCH))?;
    let mut writer = BatchWriter::new(out, format, &first.schema())?;
    writer.write(&first)?;
    for start in (BATCH..count).step_by(BATCH) {
        writer.write(&batch(table, start..count.min(start + BATCH))?)?;
    }
    writer.finish()
}

/// No rows, with the columns of all batches.
pub(super) fn head(table: &Table<'_>) -> io::Result<RecordBatch> {
    batch(table, 0..0)
}

/// All rows, batch by batch; at least one, which has the columns.
pub(super) fn batches(table: &Table<'_>, form: TextForm) -> io::Result<Vec<RecordBatch>> {
    let count = table.rows();
    let starts: Vec<usize> = (0..count.max(1)).step_by(BATCH).collect();
    starts.into_par_iter().map(|start| batch_of(table, start..count.min(start + BATCH), form)).collect()
}

/// Some rows. What is missing in one batch may be missing in another, so that every column may have none.
fn batch(table: &Table<'_>, rows: Range<usize>) -> io::Result<RecordBatch> {
    batch_of(table, rows, TextForm::Plain)
}

fn batch_of(table: &Table<'_>, rows: Range<usize>, form: TextForm) -> io::Result<RecordBatch> {
    let columns = table.columns().iter();
    let columns = columns.map(|column| {
        let cells = match column.kept() {
            Some(kept) => kept_array(kept, rows.clone(), form)?,
            None => array(column, rows.clone())?,
        };
        Ok((&*column.name, cells, true))
    });
    let columns = columns.collect::<io::Result<Vec<_>>>()?;
    RecordBatch::try_from_iter_with_nullable(columns).map_err(io::Error::other)
}

fn array(column: &Column<'_>, rows: Range<usize>) -> io::Result<ArrayRef> {
    let cells = || rows.clone().map(|row| column.cell(row));
    let counts = || {
        cells().map(|cell| match cell {
            Cell::Count(count) => Some(count),
            _ => None,
        })
    };
    Ok(match column.kind {
        Kind::Id | Kind::Name | Kind::Words => {
            // Most names have a few letters.
            let mut texts = StringBuilder::with_capacity(rows.len(), 8 * rows.len());
            for row in rows {
                match column.cell(row) {
                    Cell::Text(text) => texts.append_value(text),
                    _ => texts.append_null(),
                }
            }
            Arc::new(texts.finish())
        }
        Kind::Count => Arc::new(UInt64Array::from_iter(counts())),
        Kind::Position => {
            Arc::new(UInt32Array::from_iter(counts().map(|count| count.and_then(|n| u32::try_from(n).ok()))))
        }
        Kind::Answer => Arc::new(BooleanArray::from_iter(cells().map(|cell| match cell {
            Cell::Answer(answer) => Some(answer),
            _ => None,
        }))),
        Kind::Number
        | Kind::Part
        | Kind::Share
        | Kind::Change
        | Kind::Money
        | Kind::Violation
        | Kind::Seconds => {
            let number = |cell| match cell {
                Cell::Number(number) => finite(number).map(Some),
                _ => Ok(None),
            };
            Arc::new(cells().map(number).collect::<io::Result<Float64Array>>()?)
        }
    })
}
