//! Tables in files: CSV, Parquet and Arrow, all from the one list of columns that a [`Table`] is.

mod columns;
mod csv;
mod finite;
mod kept;
mod long;

pub use kept::TextForm;
pub use long::{LongFormat, NamedOutcome, jobs_of, series_of, write_jobs, write_series};
pub(crate) use long::{SampleLine, UserLine};

use crate::json::write_json;
use crate::output::Sink;
use arrow_array::RecordBatch;
use fairplan_instances::files::{BatchWriter, Columnar};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, DemandSeries, Document};
use serde::Serialize;
use std::io::{self, Write};

/// The file formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values with a header. Text cells that a spreadsheet would run as a formula (those that
    /// start with `= + - @`, wide or not, or a tab or the end of a line) get a `'` in front.
    Csv,
    /// Parquet or Arrow.
    Columns(Columnar),
}

/// Writes all rows of a table.
///
/// # Errors
/// A number that is not finite is an error of kind `InvalidData`.
pub fn write_table(out: &mut Sink, format: TableFormat, table: &Table<'_>) -> io::Result<()> {
    match format {
        TableFormat::Csv => csv::write(out, table),
        TableFormat::Columns(format) => columns::write(out, format, table),
    }
}

/// A table whose rows come piece by piece, each piece a [`Table`] with the same columns.
pub struct TableWriter<W: Write + Send>(Writing<W>);

enum Writing<W: Write + Send> {
    Csv(W),
    Columns(BatchWriter<W>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table with the columns of `table`; its rows are not written.
    ///
    /// # Errors
    /// Of this and the others: as [`write_table`].
    pub fn new(mut out: W, format: TableFormat, table: &Table<'_>) -> io::Result<Self> {
        Ok(Self(match format {
            TableFormat::Csv => {
                csv::write_header(&mut out, table)?;
                Writing::Csv(out)
            }
            TableFormat::Columns(format) => {
                Writing::Columns(BatchWriter::new(out, format, &columns::head(table)?.schema())?)
            }
        }))
    }

    /// Writes the rows of a piece.
    pub fn write(&mut self, table: &Table<'_>) -> io::Result<()> {
        match &mut self.0 {
            Writing::Csv(out) => csv::write_rows(out, table),
            Writing::Columns(writer) => {
                batches(table, TextForm::Plain)?.iter().try_for_each(|batch| writer.write(batch))
            }
        }
    }

    /// Writes what belongs at the end.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Writing::Csv(mut out) => out.flush(),
            Writing::Columns(writer) => writer.finish(),
        }
    }
}

/// All rows of a table in memory, in Arrow's columns; at least one batch, which has the columns.
///
/// # Errors
/// As [`write_table`].
pub fn batches(table: &Table<'_>, form: TextForm) -> io::Result<Vec<RecordBatch>> {
    columns::batches(table, form)
}

/// Writes a result whole, or its table in this format.
///
/// # Errors
/// A number that is not finite is an error of kind `InvalidData`.
pub fn write_result<B: Body + Tabular + Serialize>(
    out: &mut Sink,
    format: Option<TableFormat>,
    document: &Document<B>,
) -> io::Result<()> {
    match format {
        None => write_json(out, document),
        Some(format) => write_table(out, format, &document.table()),
    }
}

/// The users of a series with their fair shares, as `--fair-shares` reads them.
pub fn fair_shares<'a>(series: &'a DemandSeries, shares: &'a [u64]) -> Table<'a> {
    Table::over(shares.len(), |user| user)
        .column("user", "user", Kind::Id, |user| series.user_id(user))
        .column("fair_share", "fair share", Kind::Count, |user| shares[user])
        .done()
}
