//! CSV rows as RFC 4180 has them, read strictly and with their line, and written.
//!
//! The rows are split here rather than by the csv crate because that takes an unclosed or stray quote for
//! text and counts lines wrongly after CRLF and blank lines, which a refusal has to get right.

use crate::InstanceError;
use std::io::BufRead;

use super::guard::{guarded, unguarded};
use super::rows::{RowBuffer, Rows, Table};
use super::source::Source;

/// A CSV table with a header: a byte order mark and CRLF accepted, blank lines skipped.
pub(super) struct CsvRows {
    source: Source,
    table: Table,
    /// Line on which the last row starts, from 1.
    line: u64,
    next_line: u64,
    /// A row with quotes as it stands in the file.
    quoted: Vec<u8>,
}

impl CsvRows {
    pub(super) fn new(source: Source) -> Result<Self, InstanceError> {
        let table = Table {
            file: source.name().to_owned(),
            header: Vec::new(),
            header_place: "line 1".to_owned(),
            unit: "line",
        };
        let mut rows = Self { source, table, line: 1, next_line: 1, quoted: Vec::new() };
        let mut row = RowBuffer::default();
        if !rows.read(&mut row)? {
            return Err(rows.malformed("there is no header".into()));
        }
        for column in 0..row.ends.len() {
            let name = std::str::from_utf8(row.cell(column)).map(str::to_owned);
            let bad = |_| rows.malformed(format!("the name of column {} is not valid UTF-8", column + 1));
            rows.table.header.push(unguarded(&name.map_err(bad)?).to_owned());
        }
        // Such a file is a single row, whose cells reach from one line into the next. In quotes it may be meant so.
        if rows.quoted.is_empty() && rows.table.header.iter().any(|name| name.contains('\r')) {
            let problem = "lines end in carriage returns alone: write line feeds".to_owned();
            return Err(rows.malformed(problem));
        }
        rows.table.header_place = format!("{} {}", rows.table.unit, row.number);
        Ok(rows)
    }

    fn malformed(&self, problem: String) -> InstanceError {
        let place = format!("{} {}", self.table.unit, self.line);
        InstanceError::Malformed { file: self.table.file.clone(), place, problem }
    }

    /// Appends one line with its end to `bytes`; `false` at the end of the file.
    fn read_line(&mut self, bytes: &mut Vec<u8>) -> Result<bool, InstanceError> {
        let count = match self.source.read_until(b'\n', bytes) {
            Ok(count) => count,
            Err(source) => return Err(InstanceError::Io { file: self.table.file.clone(), source }),
        };
        self.next_line += u64::from(count > 0);
        Ok(count > 0)
    }

    /// Reads the next row that is not blank.
    fn read(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
        loop {
            row.clear();
            self.line = self.next_line;
            row.number = self.line;
            if !self.read_line(&mut row.bytes)? {
                return Ok(false);
            }
            if !without_line_end(&row.bytes).is_empty() {
                break;
            }
        }
        let mut quotes = false;
        for (position, byte) in row.bytes.iter().enumerate() {
            match byte {
                b',' => row.ends.push(position),
                b'"' => quotes = true,
                _ => {}
            }
        }
        if quotes {
            return self.read_quoted(row).map(|()| true);
        }
        row.bytes.truncate(without_line_end(&row.bytes).len());
        row.end_cell();
        Ok(true)
    }

    /// Completes a row whose first line is in `row` and has quotes: it ends where they are balanced.
    fn read_quoted(&mut self, row: &mut RowBuffer) -> Result<(), InstanceError> {
        let mut raw = std::mem::take(&mut self.quoted);
        std::mem::swap(&mut raw, &mut row.bytes);
        row.clear();
        let quotes = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'"').count();
        let mut count = quotes(&raw);
        while count % 2 == 1 {
            let from = raw.len();
            if !self.read_line(&mut raw)? {
                return Err(self.malformed("a quote that opens in this row is never closed".into()));
            }
            count += quotes(&raw[from..]);
        }
        unquote(without_line_end(&raw), row).map_err(|problem| self.malformed(problem.into()))?;
        self.quoted = raw;
        Ok(())
    }
}

impl Rows for CsvRows {
    fn table(&self) -> &Table {
        &self.table
    }

    fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
        if !self.read(row)? {
            return Ok(false);
        }
        let (fields, columns) = (row.ends.len(), self.table.header.len());
        if fields != columns {
            return Err(self.malformed(format!("the row has {fields} fields, the header has {columns}")));
        }
        Ok(true)
    }

    fn expected(&self, rows: usize, bytes: usize) -> usize {
        let length = self.source.length().unwrap_or_default() as f64;
        // Never less than was read, and rows alike in length are the rule.
        rows.max((1.01 * length * rows as f64 / bytes.max(1) as f64) as usize)
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Splits a row with quotes into its fields.
fn unquote(raw: &[u8], row: &mut RowBuffer) -> Result<(), &'static str> {
    let mut rest = raw;
    loop {
        if let [b'"', body @ ..] = rest {
            let mut body = body;
            rest = loop {
                let end = body.iter().position(|byte| *byte == b'"').unwrap_or(body.len());
                row.bytes.extend_from_slice(&body[..end]);
                match &body[end..] {
                    [b'"', b'"', after @ ..] => {
                        row.bytes.push(b'"');
                        body = after;
                    }
                    [b'"', after @ ..] => break after,
                    _ => return Err("a quote that opens in this row is never closed"),
                }
            };
        } else {
            let end = rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
            let (field, after) = rest.split_at(end);
            if field.contains(&b'"') {
                return Err("a quote inside a field; quote the whole field and double the quote");
            }
            row.bytes.extend_from_slice(field);
            rest = after;
        }
        row.end_cell();
        match rest {
            [] => return Ok(()),
            [b',', after @ ..] => rest = after,
            _ => return Err("text after a closing quote; double a quote that belongs to the field"),
        }
    }
}

/// Appends one text field to a line of CSV, guarded and quoted where it must be.
pub(super) fn push_field(line: &mut Vec<u8>, field: &str) {
    let field = &*guarded(field.into());
    if !field.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        return line.extend_from_slice(field.as_bytes());
    }
    line.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_made_text_and_read_back() {
        for cell in ["=1+1", "+1", "-1", "@SUM", "\tx", "\rx", "\n=1", "＝1", "'=1", "''-x"] {
            assert_eq!(guarded(cell.into()), format!("'{cell}"));
            assert_eq!(unguarded(&guarded(cell.into())), cell);
        }
        for cell in ["a=b", "", "'", "'a", "1-2"] {
            assert_eq!(guarded(cell.into()), cell);
            assert_eq!(unguarded(cell), cell);
        }
    }
}
