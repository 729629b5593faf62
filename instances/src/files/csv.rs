//! Rows of a CSV table, with the line each starts on.

use crate::InstanceError;
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use std::io::{Cursor, Read};

use super::source::Source;
use super::tables::Rows;

/// A row appended to every file. The parser takes an unclosed quote for closed by the end of the file; with
/// this behind it, the quote swallows the row and its absence shows.
const LAST_ROW: &[u8] = b"\n\x04\n";

/// A CSV table with a header: commas, fields quoted as in RFC 4180 where needed, a byte order mark and CRLF
/// accepted, blank lines skipped.
pub(super) struct CsvRows {
    file: String,
    reader: Reader<std::io::Chain<Source, Cursor<&'static [u8]>>>,
    header: Vec<String>,
}

impl CsvRows {
    pub(super) fn new(source: Source) -> Result<Self, InstanceError> {
        let file = source.name().to_owned();
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 17)
            .from_reader(source.chain(Cursor::new(LAST_ROW)));
        let mut rows = Self { file, reader, header: Vec::new() };
        let mut record = ByteRecord::new();
        if !rows.record(&mut record)? {
            return Err(rows.malformed(&record, "there is no header"));
        }
        for (position, name) in record.iter().enumerate() {
            match std::str::from_utf8(name) {
                Ok(name) => rows.header.push(name.to_owned()),
                Err(_) => {
                    return Err(
                        rows.malformed(&record, &format!("column {}: is not valid UTF-8", position + 1))
                    );
                }
            }
        }
        Ok(rows)
    }

    fn malformed(&self, record: &ByteRecord, problem: &str) -> InstanceError {
        InstanceError::Malformed { file: self.file.clone(), place: line(record), problem: problem.to_owned() }
    }

    /// Reads the next record; `false` after the last.
    fn record(&mut self, record: &mut ByteRecord) -> Result<bool, InstanceError> {
        let more = self.reader.read_byte_record(record).map_err(|error| {
            let source = match error.into_kind() {
                ErrorKind::Io(source) => source,
                kind => std::io::Error::other(format!("{kind:?}")),
            };
            InstanceError::Io { file: self.file.clone(), source }
        })?;
        if !more {
            return Err(self.malformed(record, "a quote that opens here is never closed"));
        }
        Ok(record.len() != 1 || record.as_slice() != b"\x04")
    }
}

fn line(record: &ByteRecord) -> String {
    format!("line {}", record.position().map_or(1, |position| position.line()))
}

impl Rows for CsvRows {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn next(&mut self, row: &mut ByteRecord) -> Result<bool, InstanceError> {
        if !self.record(row)? {
            return Ok(false);
        }
        if row.len() != self.header.len() {
            let problem = format!("has {} fields, the header has {}", row.len(), self.header.len());
            return Err(self.malformed(row, &problem));
        }
        Ok(true)
    }

    fn place(&self, row: &ByteRecord) -> String {
        line(row)
    }
}
