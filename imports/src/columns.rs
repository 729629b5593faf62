//! Rows of a table with a header of which some columns are needed, by name.

use fairplan_instances::files::bad_header;
use fairplan_instances::files::open_table;
use fairplan_instances::files::rows::{self, Row, Table};
use fairplan_instances::files::whole_number;
use fairplan_instances::{Decimal, InstanceError, Violation};

/// Calls `visit` for each row of the table in `path`, CSV or Parquet, with its cells under `names` in that order; other
/// columns may be there.
pub(super) fn for_each_row<const N: usize>(
    path: &str,
    names: &[&str; N],
    visit: impl FnMut(Cells<'_, N>) -> Result<(), Violation>,
) -> Result<(), InstanceError> {
    for_each_row_of(path, names, N, |_| None, visit)
}

/// The same where only the first `needed` columns must be there; cells of the others are empty where they are not.
/// `known` tells of a header that lacks one what else the table is.
pub(super) fn for_each_row_of<const N: usize>(
    path: &str,
    names: &[&str; N],
    needed: usize,
    known: impl Fn(&[String]) -> Option<String>,
    mut visit: impl FnMut(Cells<'_, N>) -> Result<(), Violation>,
) -> Result<(), InstanceError> {
    let mut rows = open_table(path)?;
    let table = rows.table().clone();
    let mut columns = [None; N];
    for (position, (column, name)) in columns.iter_mut().zip(names).enumerate() {
        let mut found = (0..table.header.len()).filter(|position| table.header[*position] == *name);
        *column = found.next();
        if column.is_none() && position < needed {
            let problem = known(&table.header).unwrap_or_else(|| {
                let (needed, has) = (names[..needed].join(", "), table.header.join(", "));
                format!("is missing; needed are {needed}, the table has {has}")
            });
            return Err(bad_header(&table, name, &problem));
        }
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
    columns: &'a [Option<usize>; N],
}

impl<'a, const N: usize> Cells<'a, N> {
    /// Where the row stands: `line 3`.
    pub fn place(&self) -> String {
        self.table.place(self.row)
    }

    /// Whether the table has the column.
    pub fn has(&self, name: usize) -> bool {
        self.columns[name].is_some()
    }

    /// A text, which may be empty.
    pub fn text(&self, name: usize) -> Result<&'a str, Violation> {
        self.columns[name].map_or(Ok(""), |column| self.table.text(self.row, column))
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
        let cell: &[u8] = self.columns[name].map_or(b"", |column| self.row.cell(column));
        Violation::new(self.cell_place(name), String::from_utf8_lossy(cell), problem)
    }

    fn cell_place(&self, name: usize) -> String {
        let header = self.columns[name].map_or("", |column| self.table.header[column].as_str());
        self.table.place_in(self.row, header)
    }
}
