//! CSV, safe to open in a spreadsheet.

use fairplan_instances::files::guarded;
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, Write};

/// Rows formatted in one piece.
const PIECE: usize = 1 << 13;

/// Pieces formatted while the ones before are written.
const PIECES: usize = 8;

/// Writes `count` rows, above 0, under a header of their fields' names. Rows are formatted on all threads, the next ones
/// while the last ones go out.
pub(super) fn write<R: Serialize>(
    out: &mut (impl Write + Send),
    count: usize,
    row: impl Fn(usize) -> io::Result<R> + Sync,
) -> io::Result<()> {
    let piece = |start: usize| {
        let mut table = ::csv::WriterBuilder::new().has_headers(start == 0).from_writer(Vec::new());
        for position in start..count.min(start + PIECE) {
            table.serialize(row(position)?)?;
        }
        table.into_inner().map_err(|error| error.into_error())
    };
    let formatted = |start: usize| -> Vec<io::Result<Vec<u8>>> {
        let starts: Vec<usize> = (start..count.min(start + PIECES * PIECE)).step_by(PIECE).collect();
        starts.into_par_iter().map(piece).collect()
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

/// Writes rows under `header`.
pub(super) fn write_records<'a>(
    out: impl Write,
    header: impl Iterator<Item = &'a str>,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    table.write_record(header.map(|name| guarded(name.into()).into_owned()))?;
    for row in rows {
        table.write_record(row)?;
    }
    table.flush()
}
