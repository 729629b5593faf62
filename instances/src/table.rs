//! A table of a result, declared once: its columns, each with its name in files, its title where people read, what its cells
//! are and where they come from. CSV, Parquet, Arrow, terminals and pages all show what this list says.
//!
//! ```
//! use fairplan_instances::table::{Cell, Kind, Table};
//! let offers = [("large", 3_u64, Some(0.25)), ("small", 12, None)];
//! let table = Table::of(&offers)
//!     .column("type", "server type", Kind::Id, |offer| offer.0)
//!     .column("count", "servers", Kind::Count, |offer| offer.1)
//!     .column("part", "in use", Kind::Part, |offer| offer.2)
//!     .done();
//! assert_eq!(table.columns()[0].cell(1), Cell::Text("small".into()));
//! assert_eq!(table.columns()[2].cell(1), Cell::Missing);
//! ```

use crate::IdTable;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What the cells of a column are: how files store them, and how people read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Names as their file has them, which tell rows apart.
    Id,
    /// Names of something else than the row.
    Name,
    /// Words.
    Words,
    /// How many.
    Count,
    /// Places in an order, from 0 on; people read them from 1 on.
    Position,
    /// Amounts without a unit of their own.
    Number,
    /// Parts of a whole.
    Part,
    /// Users' shares of a cluster, which may be very small.
    Share,
    /// By which part something is more (or less) than something else.
    Change,
    /// Money, in the currency of the result.
    Money,
    /// How far something is from what it should be.
    Violation,
    /// Seconds.
    Seconds,
    /// Yes or no.
    Answer,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// There is none.
    Missing,
    /// Text.
    Text(Cow<'a, str>),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Answer(bool),
}

/// All cells of a column where somebody has them side by side already: a renderer that wants whole columns copies them and asks for
/// no single cell. They say what [`Column::cell`] says of every row.
#[derive(Clone)]
pub enum Kept<'a> {
    /// Texts.
    Texts(&'a IdTable),
    /// One of a few texts in every row.
    Chosen(Chosen<'a>),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Places in an order.
    Positions(&'a [u32]),
}

/// A few texts, and which of them stands in every row.
#[derive(Clone)]
pub struct Chosen<'a> {
    /// The texts.
    pub texts: Vec<&'a str>,
    rows: usize,
    positions: Cells<'a, Range<usize>, Vec<u32>>,
}

impl<'a> Chosen<'a> {
    /// Of each of `rows` the text at its `position`.
    pub fn new<T: Sync>(
        texts: Vec<&'a str>,
        rows: &'a [T],
        position: impl Fn(&T) -> usize + Send + Sync + 'a,
    ) -> Self {
        let positions =
            move |range: Range<usize>| rows[range].iter().map(|row| position(row) as u32).collect();
        Self { texts, rows: rows.len(), positions: Arc::new(positions) }
    }

    /// Which of the texts stand in these rows.
    pub fn positions(&self, rows: Range<usize>) -> Vec<u32> {
        (self.positions)(rows)
    }
}

impl Kept<'_> {
    fn rows(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Chosen(chosen) => chosen.rows,
            Self::Numbers(numbers) => numbers.len(),
            Self::Positions(positions) => positions.len(),
        }
    }
}

type Cells<'a, R, C> = Arc<dyn Fn(R) -> C + Send + Sync + 'a>;

/// One column.
#[derive(Clone)]
pub struct Column<'a> {
    /// Its name in files.
    pub name: Cow<'a, str>,
    /// Its title where people read it.
    pub title: Cow<'a, str>,
    /// What its cells are.
    pub kind: Kind,
    cells: Cells<'a, usize, Cell<'a>>,
    words: Option<Cells<'a, usize, Option<Cow<'a, str>>>>,
    kept: Option<Kept<'a>>,
}

impl<'a> Column<'a> {
    /// The cell of a row.
    pub fn cell(&self, row: usize) -> Cell<'a> {
        (self.cells)(row)
    }

    /// What people read instead of the cell, if anything.
    pub fn words(&self, row: usize) -> Option<Cow<'a, str>> {
        self.words.as_ref().and_then(|words| words(row))
    }

    /// All its cells, if they are kept side by side.
    pub fn kept(&self) -> Option<&Kept<'a>> {
        self.kept.as_ref()
    }
}

/// Columns of equal length.
#[derive(Clone)]
pub struct Table<'a> {
    rows: usize,
    columns: Vec<Column<'a>>,
}

impl<'a> Table<'a> {
    /// A table with a row for each of `rows`; its columns are to come.
    pub fn of<T: Sync>(rows: &'a [T]) -> Columns<'a, &'a T> {
        Self::over(rows.len(), move |row| &rows[row])
    }

    /// A table of so many rows, each made when it is asked for.
    pub fn over<R>(rows: usize, row: impl Fn(usize) -> R + Send + Sync + 'a) -> Columns<'a, R> {
        Columns { row: Arc::new(row), table: Table { rows, columns: Vec::new() } }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in their order.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// The columns of these names, in the order of the table.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.columns.retain(|column| names.contains(&&*column.name));
        self
    }

    /// All columns but those of these names.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.columns.retain(|column| !names.contains(&&*column.name));
        self
    }

    /// The columns of these names first, in this order.
    pub fn in_order(mut self, names: &[&str]) -> Self {
        let place = |name: &str| names.iter().position(|first| *first == name).unwrap_or(names.len());
        self.columns.sort_by_key(|column| place(&column.name));
        self
    }

    /// Only the rows of which this is true.
    pub fn only_rows(mut self, is_shown: impl Fn(usize) -> bool) -> Self {
        let kept: Arc<[usize]> = (0..self.rows).filter(|row| is_shown(*row)).collect();
        self.rows = kept.len();
        for column in &mut self.columns {
            column.kept = None;
            let (cells, kept_rows) = (Arc::clone(&column.cells), Arc::clone(&kept));
            column.cells = Arc::new(move |row| cells(kept_rows[row]));
            if let Some(words) = column.words.take() {
                let kept_rows = Arc::clone(&kept);
                column.words = Some(Arc::new(move |row| words(kept_rows[row])));
            }
        }
        self
    }

    /// That the cells of the column of this name, one for each row, are kept side by side.
    pub fn kept(mut self, name: &str, kept: Kept<'a>) -> Self {
        if kept.rows() == self.rows
            && let Some(column) = self.columns.iter_mut().find(|column| column.name == name)
        {
            column.kept = Some(kept);
        }
        self
    }

    /// Without the columns that have no cell in any row.
    pub fn without_empty(mut self) -> Self {
        let rows = self.rows;
        self.columns.retain(|column| (0..rows).any(|row| column.cell(row) != Cell::Missing));
        self
    }
}

/// A table whose columns are being listed; `R` is what a row is made of.
pub struct Columns<'a, R> {
    row: Cells<'a, usize, R>,
    table: Table<'a>,
}

impl<'a, R: 'a> Columns<'a, R> {
    /// One more column: its name in files, its title for people, what its cells are, and the cell of a row.
    pub fn column<C: Into<Cell<'a>>>(
        mut self,
        name: impl Into<Cow<'a, str>>,
        title: impl Into<Cow<'a, str>>,
        kind: Kind,
        cell: impl Fn(R) -> C + Send + Sync + 'a,
    ) -> Self {
        let row = Arc::clone(&self.row);
        let cells: Cells<'a, usize, Cell<'a>> = Arc::new(move |position| cell(row(position)).into());
        let (name, title) = (name.into(), title.into());
        self.table.columns.push(Column { name, title, kind, cells, words: None, kept: None });
        self
    }

    /// What people read in the last column instead of a number, in the rows where this is something.
    pub fn said<W: Into<Cow<'a, str>>>(mut self, words: impl Fn(R) -> Option<W> + Send + Sync + 'a) -> Self {
        let row = Arc::clone(&self.row);
        if let Some(last) = self.table.columns.last_mut() {
            last.words = Some(Arc::new(move |position| words(row(position)).map(Into::into)));
        }
        self
    }

    /// The table with all its columns.
    pub fn done(self) -> Table<'a> {
        self.table
    }
}

/// A result whose main content is a table.
pub trait Tabular {
    /// That table.
    fn table(&self) -> Table<'_>;
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.as_str().into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Cow<'a, str>> for Cell<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Cow<'a, str>> for Cell<'a> {
    fn from(text: &'a Cow<'a, str>) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<u64> for Cell<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell<'_> {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Cell<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(answer: bool) -> Self {
        Self::Answer(answer)
    }
}

impl<'a, C: Into<Cell<'a>>> From<Option<C>> for Cell<'a> {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_left_out_without_changing_what_is_kept() {
        let rows = [(1_u64, None), (2, Some(0.5)), (3, None)];
        let table = Table::of(&rows)
            .column("count", "how many", Kind::Count, |row| row.0)
            .column("part", "of it", Kind::Part, |row| row.1)
            .said(|row| row.1.is_none().then_some("none"))
            .column("nothing", "", Kind::Number, |_| None::<f64>)
            .done();
        assert_eq!(table.clone().without_empty().columns().len(), 2);
        assert_eq!(table.clone().only(&["part"]).columns()[0].title, "of it");
        assert_eq!(table.clone().without(&["part", "nothing"]).columns().len(), 1);
        let odd = table.only_rows(|row| rows[row].0 % 2 == 1);
        assert_eq!((odd.rows(), odd.columns()[0].cell(1)), (2, Cell::Count(3)));
        assert_eq!(odd.columns()[1].words(0).as_deref(), Some("none"));
    }
}
