//! Rows of a table with a header of which some columns are needed, by name.

use fairplan_instances::files::bad_header;
use fairplan_instances::files::rows::{self, Row, Table};
use fairplan_instances::files::whole_number;
use fairplan_instances::{Decimal, InstanceError, Violation};

/// Calls `visit` for each row of the table in `path`, CSV or Parquet, with its cells under `names` in that order; other
/// columns may be there.
pub(super) fn for_each_row<const N: usize>(
    path: &str,
    names: &[&str; N],
    mut visit: impl FnMut(Cells<'_, N>) -> Result<(), Violation>,
) -> Result<(), InstanceError> {
    let mut rows = rows::open(path)?;
    let table = rows.table().clone();
    let mut columns = [0; N];
    for (column, name) in columns.iter_mut().zip(names) {
        let mut found = (0..table.header.len()).filter(|position| table.header[*position] == *name);
        *column = found.next().ok_or_else(|| {
            let problem = format!("is missing; the table has {}", names.join(", "));
            bad_header(&table, name, &problem)
        })?;
        if found.next().is_some() {
            return Err(bad_header(&table, name, "duplicate column"));
        }
    }
    rows::for_each_row(rows.as_mut(), &[], |row| {
        let cells = Cells { row, table: &table, columns: &columns };
        visit(cells).map_err(|violation| InstanceError::Invalid { file: table.file.clone(), violation })
    })
}

/// The needed cells of one row, by position among the names asked for.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a, const N: usize> {
    row: Row<'a>,
    table: &'a Table,
    columns: &'a [usize; N],
}

impl<'a, const N: usize> Cells<'a, N> {
    /// Where the row stands: `line 3`.
    pub fn place(&self) -> String {
        self.table.place(self.row)
    }

    /// A text, which may be empty.
    pub fn text(&self, name: usize) -> Result<&'a str, Violation> {
        self.table.text(self.row, self.columns[name])
    }

    /// A number, or nothing.
    pub fn optional(&self, name: usize) -> Result<Option<Decimal>, Violation> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(None);
        }
        text.parse()
            .map(Some)
            .map_err(|error: fairplan_instances::DecimalError| self.refused(name, &error.to_string()))
    }

    /// A number.
    pub fn number(&self, name: usize) -> Result<Decimal, Violation> {
        self.optional(name)?.ok_or_else(|| self.refused(name, "is empty; a number is needed"))
    }

    /// A whole number.
    pub fn whole(&self, name: usize) -> Result<u64, Violation> {
        whole_number(self.number(name)?, || self.cell_place(name))
    }

    /// What is wrong with a cell.
    pub fn refused(&self, name: usize, problem: &str) -> Violation {
        let value = String::from_utf8_lossy(self.row.cell(self.columns[name]));
        Violation::new(self.cell_place(name), value, problem)
    }

    fn cell_place(&self, name: usize) -> String {
        self.table.place_in(self.row, &self.table.header[self.columns[name]])
    }
}
