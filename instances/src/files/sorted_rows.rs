//! The rows of a table in the order of one of its columns, whatever order they stand in.

use super::rows::{RowBuffer, Rows, Table};
use crate::{InstanceError, QuantumLabel};

/// Rows that are sorted by the quanta in a column; those of the same quantum stay in their order.
pub(super) struct SortedRows {
    table: Table,
    /// The last row first.
    left: Vec<RowBuffer>,
}

impl SortedRows {
    /// Reads all rows. Where the table has no such column they stay as they are, for whoever reads them to say so.
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
            left.sort_by(|a, b| QuantumLabel::parse(&text(a)).cmp(&QuantumLabel::parse(&text(b))));
        }
        left.reverse();
        Ok(Self { table, left })
    }
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
