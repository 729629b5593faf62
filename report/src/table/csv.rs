//! CSV, safe to open in a spreadsheet.

use super::finite::finite;
use fairplan_instances::files::guarded;
use fairplan_instances::table::{Cell, Table};
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;

/// Rows formatted in one piece.
const PIECE: usize = 1 << 13;

/// Pieces formatted while the ones before are written.
const PIECES: usize = 8;

/// Writes a table under the names of its columns. Rows are formatted on all threads, the next ones while the last ones go
/// out.
pub(super) fn write(out: &mut (impl Write + Send), table: &Table<'_>) -> io::Result<()> {
    write_header(out, table)?;
    write_rows(out, table)
}

/// Writes the names of the columns.
pub(super) fn write_header(out: &mut impl Write, table: &Table<'_>) -> io::Result<()> {
    let mut header = ::csv::Writer::from_writer(Vec::new());
    header.write_record(table.columns().iter().map(|column| guarded(column.name.clone()).into_owned()))?;
    out.write_all(&header.into_inner().map_err(|error| error.into_error())?)
}

/// Writes the rows.
pub(super) fn write_rows(out: &mut (impl Write + Send), table: &Table<'_>) -> io::Result<()> {
    let count = table.rows();
    let formatted = |start: usize| -> Vec<io::Result<Vec<u8>>> {
        let starts: Vec<usize> = (start..count.min(start + PIECES * PIECE)).step_by(PIECE).collect();
        starts.into_par_iter().map(|start| piece(table, start..count.min(start + PIECE))).collect()
    };
    let mut ready = formatted(0);
    for start in (0..count).step_by(PIECES * PIECE) {
        let write = || ready.into_iter().try_for_each(|piece| out.write_all(&piece?));
        let (written, next) = rayon::join(write, || formatted(start + PIECES * PIECE));
        written?;
        ready = next;
    }
    Ok(())
}

/// Some rows as text. Numbers are in the shortest form that reads back as the same double, as in JSON.
fn piece(table: &Table<'_>, rows: Range<usize>) -> io::Result<Vec<u8>> {
    let mut csv = ::csv::Writer::from_writer(Vec::new());
    let mut digits = Vec::new();
    for row in rows {
        for column in table.columns() {
            digits.clear();
            match column.cell(row) {
                Cell::Missing => {}
                Cell::Text(text) => {
                    csv.write_field(guarded(text).as_bytes())?;
                    continue;
                }
                Cell::Count(count) => write!(digits, "{count}")?,
                Cell::Number(number) => serde_json::to_writer(&mut digits, &finite(number)?)?,
                Cell::Answer(answer) => write!(digits, "{answer}")?,
            }
            csv.write_field(&digits)?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.into_inner().map_err(|error| error.into_error())
}
