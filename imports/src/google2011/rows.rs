//! Rows of the trace's tables: comma-separated without header or quotes, empty for missing, sorted by time.

use fairplan_instances::files::source::{self, Source};
use fairplan_instances::google2011::{CpuMemory, UNIT};
use fairplan_instances::{Decimal, InstanceError, Violation};

/// Rows of the trace have at most some 130 bytes.
const LONGEST_ROW: usize = 4096;

/// The time of what happens after the trace.
pub(super) const AFTER_TRACE: u64 = i64::MAX as u64;

/// Times and ids are whole numbers up to this.
const LARGEST_WHOLE: u64 = AFTER_TRACE;

/// Calls `visit` for each row of the files of a table, in order, while its time is at most `until`; returns
/// how many rows these were. `columns` names the table's columns; the first is the time, which never falls.
pub(super) fn for_each_row<const N: usize>(
    paths: &[String],
    columns: &'static [&'static str; N],
    until: u64,
    visit: impl FnMut(&Row<'_, N>) -> Result<(), InstanceError>,
) -> Result<u64, InstanceError> {
    Rows::new(paths, columns).until(until, visit)
}

/// The files of a table, read as far as their rows are asked for.
pub(super) struct Rows<'a, const N: usize> {
    columns: &'static [&'static str; N],
    paths: std::slice::Iter<'a, String>,
    source: Option<Source>,
    line: u64,
    buffer: Vec<u8>,
    latest: u64,
    /// The time of the row in the buffer, if that is later than was asked for.
    held: Option<u64>,
}

impl<'a, const N: usize> Rows<'a, N> {
    /// The rows of these files in order; nothing is opened yet.
    pub fn new(paths: &'a [String], columns: &'static [&'static str; N]) -> Self {
        let (paths, buffer) = (paths.iter(), Vec::with_capacity(LONGEST_ROW));
        Self { columns, paths, source: None, line: 0, buffer, latest: 0, held: None }
    }

    /// Calls `visit` for each row that has not been visited and is no later than `until`; returns how many these were.
    pub fn until(
        &mut self,
        until: u64,
        mut visit: impl FnMut(&Row<'_, N>) -> Result<(), InstanceError>,
    ) -> Result<u64, InstanceError> {
        let mut rows = 0;
        loop {
            if self.held.is_some_and(|time| time > until) || (self.held.is_none() && !self.read_line()?) {
                return Ok(rows);
            }
            self.held = None;
            let Some(source) = &self.source else { return Ok(rows) };
            let mut row = Row::split(source.name(), self.line, self.columns, &self.buffer)?;
            let time = row.whole(0, LARGEST_WHOLE)?;
            if time < self.latest {
                let problem = format!(
                    "comes after time {}; rows must be sorted by time and parts named in order",
                    self.latest
                );
                return Err(row.refused(0, &problem));
            }
            if time > until {
                self.held = Some(time);
                return Ok(rows);
            }
            self.latest = time;
            row.time = time;
            rows += 1;
            visit(&row)?;
        }
    }

    /// Reads the next line of the files; false at the end of the last.
    fn read_line(&mut self) -> Result<bool, InstanceError> {
        loop {
            if let Some(source) = &mut self.source {
                if source.read_line(&mut self.buffer, LONGEST_ROW, self.line + 1)? {
                    self.line += 1;
                    return Ok(true);
                }
                self.source = None;
            }
            let Some(path) = self.paths.next() else { return Ok(false) };
            (self.source, self.line) = (Some(source::open(path)?), 0);
        }
    }
}

/// One row, its cells not yet understood. Columns are counted from 0 here and from 1 in messages.
pub(super) struct Row<'a, const N: usize> {
    file: &'a str,
    line: u64,
    columns: &'static [&'static str; N],
    cells: [&'a [u8]; N],
    time: u64,
}

impl<'a, const N: usize> Row<'a, N> {
    fn split(
        file: &'a str,
        line: u64,
        columns: &'static [&'static str; N],
        text: &'a [u8],
    ) -> Result<Self, InstanceError> {
        let mut cells = [&[] as &[u8]; N];
        let mut count = 0;
        for cell in text.split(|&byte| byte == b',') {
            if let Some(place) = cells.get_mut(count) {
                *place = cell;
            }
            count += 1;
        }
        if count != N {
            return Err(InstanceError::Malformed {
                file: file.into(),
                place: format!("line {line}"),
                problem: format!("{count} columns instead of {N} ({})", columns.join(", ")),
            });
        }
        Ok(Self { file, line, columns, cells, time: 0 })
    }

    /// The row's time, which has been read.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The error that names this row and what is wrong with it.
    pub fn invalid(&self, violation: Violation) -> InstanceError {
        let place = format!("line {}, {}", self.line, violation.place);
        InstanceError::Invalid { file: self.file.into(), violation: Violation { place, ..violation } }
    }

    /// The error that names this cell, its value and what is wrong with it.
    pub fn refused(&self, column: usize, problem: &str) -> InstanceError {
        const SHOWN: usize = 40;
        let text = String::from_utf8_lossy(self.cells[column]);
        let mut value: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if text.chars().nth(SHOWN).is_some() {
            value.push('…');
        }
        let place = format!("line {}, column {} ({})", self.line, column + 1, self.columns[column]);
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// A whole number from 0 to `most`.
    pub fn whole(&self, column: usize, most: u64) -> Result<u64, InstanceError> {
        let digits = self.cells[column];
        if digits.is_empty() {
            return Err(self.refused(column, "is empty; a whole number is needed"));
        }
        digits
            .iter()
            .try_fold(0u64, |value, byte| {
                let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
                value.checked_mul(10)?.checked_add(digit)
            })
            .filter(|&value| value <= most)
            .ok_or_else(|| self.refused(column, &format!("must be a whole number from 0 to {most}")))
    }

    /// A whole number from 0 to `most`, or nothing.
    pub fn optional_whole(&self, column: usize, most: u64) -> Result<Option<u64>, InstanceError> {
        if self.cells[column].is_empty() { Ok(None) } else { self.whole(column, most).map(Some) }
    }

    /// A machine, job or task number.
    pub fn id(&self, column: usize) -> Result<u64, InstanceError> {
        self.whole(column, LARGEST_WHOLE)
    }

    /// A machine, job or task number, or nothing.
    pub fn optional_id(&self, column: usize) -> Result<Option<u64>, InstanceError> {
        self.optional_whole(column, LARGEST_WHOLE)
    }

    /// A hash in printable letters, or nothing.
    pub fn optional_hash(&self, column: usize) -> Result<Option<&'a str>, InstanceError> {
        match std::str::from_utf8(self.cells[column]) {
            Ok("") => Ok(None),
            Ok(hash) if hash.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Some(hash)),
            _ => Err(self.refused(column, "must be a hash in printable ASCII letters")),
        }
    }

    /// A part of the largest machine, 0 to 1, or nothing.
    pub fn optional_amount(&self, column: usize) -> Result<Option<Decimal>, InstanceError> {
        if self.cells[column].is_empty() {
            return Ok(None);
        }
        let value =
            Decimal::parse(self.cells[column]).map_err(|error| self.refused(column, &error.to_string()))?;
        match value.scaled(UNIT) {
            None => Err(self.refused(column, "has more than 18 decimals; round it")),
            Some(units) if units > 10u128.pow(u32::from(UNIT.unsigned_abs())) => {
                Err(self.refused(column, "must be <= 1: the trace counts in parts of its largest machine"))
            }
            Some(_) => Ok(Some(value)),
        }
    }

    /// CPU in `column` and memory in the next: both stated or both missing.
    pub fn optional_cpu_memory(&self, column: usize) -> Result<Option<CpuMemory>, InstanceError> {
        match (self.optional_amount(column)?, self.optional_amount(column + 1)?) {
            (Some(cpu), Some(memory)) => Ok(Some([cpu, memory])),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(self.refused(column, "is empty while the next column is not")),
            (Some(_), None) => Err(self.refused(column + 1, "is empty while the column before is not")),
        }
    }
}
