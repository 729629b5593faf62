//! The columns of a program one after the other in memory: prices go over all of them at every step.

/// Columns, each its rows and the numbers there.
pub(super) struct Columns {
    /// Where each column begins, and where the last ends.
    starts: Vec<usize>,
    rows: Vec<u32>,
    numbers: Vec<f64>,
}

impl Columns {
    pub fn new() -> Self {
        Self { starts: vec![0], rows: Vec::new(), numbers: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn push(&mut self, entries: &[(u32, f64)]) {
        self.rows.extend(entries.iter().map(|(row, _)| *row));
        self.numbers.extend(entries.iter().map(|(_, number)| *number));
        self.starts.push(self.rows.len());
    }

    /// The entries of a column.
    #[inline]
    pub fn of(&self, column: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[column]..self.starts[column + 1];
        self.rows[range.clone()].iter().copied().zip(self.numbers[range].iter().copied())
    }

    /// The sum of a column's entries, each times the number of its row.
    #[inline]
    pub fn times(&self, column: usize, rows: &[f64]) -> f64 {
        self.of(column).map(|(row, number)| number * rows[row as usize]).sum()
    }
}
