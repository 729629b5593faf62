//! CSV, safe to open in a spreadsheet.

use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// A text cell. Spreadsheets run cells that start with `= + - @`, tab or carriage return: those get a `'`.
pub(super) fn text_cell(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text }
}

/// Writes rows under a header of their fields' names.
pub(super) fn write<R: Serialize>(
    out: impl Write,
    rows: impl Iterator<Item = io::Result<R>>,
) -> io::Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    for row in rows {
        table.serialize(row?)?;
    }
    table.flush()
}

/// Writes rows under `header`.
pub(super) fn write_records<'a>(
    out: impl Write,
    header: impl Iterator<Item = &'a str>,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    table.write_record(header)?;
    for row in rows {
        table.write_record(row)?;
    }
    table.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_made_text() {
        for cell in ["=1+1", "+1", "-1", "@SUM", "\tx", "\rx"] {
            assert_eq!(text_cell(cell.into()), format!("'{cell}"));
        }
        assert_eq!(text_cell("a=b".into()), "a=b");
    }
}
