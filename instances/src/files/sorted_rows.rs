//! The rows of a table in the order of time that one of its columns tells, whatever order they stand in.

use super::rows::{RowBuffer, Rows, Table};
use crate::{InstanceError, QuantumLabel};

/// Rows that are sorted by the quanta in a column; those of the same quantum stay in their order.
pub(super) struct SortedRows {
    table: Table,
    /// The last row first.
    left: Vec<RowBuffer>,
}

impl SortedRows {
    /// Reads all rows. Where the table has no such column, or names of quanta do not tell their order, they stay as they are, for whoever reads
    /// them to say so.
    pub(super) fn by_quantum(rows: &mut dyn Rows, column: &str) -> Result<Self, InstanceError> {
        let table = rows.table().clone();
        let column = table.header.iter().position(|name| name == column);
        let mut left = Vec::new();
        let mut row = RowBuffer::default();
        while rows.next(&mut row)? {
            left.push(std::mem::take(&mut row));
        }
        if let Some(column) = column {
            // What is no text is refused when it is read.
            let text = |row: &RowBuffer| String::from_utf8_lossy(row.cell(column)).into_owned();
            if tell_their_order(left.iter().map(text)) {
                left.sort_by(|a, b| QuantumLabel::parse(&text(a)).cmp(&QuantumLabel::parse(&text(b))));
            }
        }
        left.reverse();
        Ok(Self { table, left })
    }
}

/// Whether quanta are in the order of time when their names are in that of numbers or of text: numbers are, and names that differ in their digits
/// alone, the year first. `Jan` and `Feb` are not, nor `W8` and `W10`, nor days before months and years.
fn tell_their_order(mut names: impl Iterator<Item = String>) -> bool {
    let shape = |name: &str| match QuantumLabel::parse(name) {
        QuantumLabel::Number(_) => String::new(),
        QuantumLabel::Text(_) => name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect(),
    };
    let Some(first) = names.next().map(|name| shape(&name)) else { return true };
    let mut groups = first.split(|c| c != '0').filter(|digits| !digits.is_empty());
    let (year, others) = (groups.next().map_or(0, str::len), groups.count());
    (first.is_empty() || year >= 4 || year > 0 && others == 0) && names.all(|name| shape(&name) == first)
}

impl Rows for SortedRows {
    fn table(&self) -> &Table {
        &self.table
    }

    fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
        Ok(match self.left.pop() {
            Some(next) => {
                *row = next;
                true
            }
            None => false,
        })
    }

    fn expected(&self, rows: usize, _: usize) -> usize {
        rows + self.left.len()
    }
}
