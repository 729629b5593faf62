//! A table as rows of text cells, whatever file it is in, read ahead on a thread of its own.

use crate::model::NumberRange;
use crate::{Decimal, DecimalError, InstanceError, Violation};
use std::sync::mpsc::{channel, sync_channel};

use super::guard::unguarded;

/// A table read row by row, every cell as text.
pub trait Rows: Send {
    /// What is known before the first row.
    fn table(&self) -> &Table;
    /// Reads the next row, one cell a column; `false` after the last.
    fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError>;
    /// How many rows there are, as far as `rows` of them with `bytes` bytes tell.
    fn expected(&self, rows: usize, bytes: usize) -> usize;

    /// All rows in parts that can be read side by side, in their order, before any was read; `None` where they can only be read one after
    /// the other.
    fn parts(&mut self) -> Result<Option<Vec<Box<dyn Rows>>>, InstanceError> {
        Ok(None)
    }

    /// How much room all rows of a part take that are an id in column `id` and a number in each of the others (zero where there is no
    /// column), in columns that are quickly read; `None` where they are not, or not all rows have a cell.
    fn plain(&mut self, id: usize, numbers: &[Option<usize>]) -> Option<PlainSize> {
        let _ = (id, numbers);
        None
    }

    /// Writes those rows there; `None` where an id has no letter or a number cannot be used, and then what was written says nothing.
    fn write_plain(
        &mut self,
        id: usize,
        numbers: &[Option<usize>],
        there: PlainPart<'_>,
    ) -> Option<Vec<NumberRange>> {
        let _ = (id, numbers, there);
        None
    }

    /// Adds the next rows to `batch`, which has none, until it is full; `false` after the last. The cells of `numeric` columns are
    /// read as numbers. `row` is room that is used again.
    fn fill(
        &mut self,
        batch: &mut Batch,
        numeric: &[bool],
        row: &mut RowBuffer,
    ) -> Result<bool, InstanceError> {
        fill_by_rows(self, batch, numeric, row)
    }
}

/// How much room rows take that are an id and numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainSize {
    /// How many there are.
    pub rows: usize,
    /// The letters of all their ids.
    pub letters: usize,
    /// Where the first stands in the file; the others follow it.
    pub first: u64,
}

/// Where such rows are written, beside those of other parts: as an instance keeps them, so that nothing is copied again.
pub struct PlainPart<'a> {
    /// The letters of their ids, and how many letters come before these.
    pub letters: (&'a mut [u8], usize),
    /// Where each id ends.
    pub ends: &'a mut [usize],
    /// Their numbers, row by row.
    pub decimals: &'a mut [Decimal],
    /// The doubles next to these.
    pub doubles: &'a mut [f64],
}

/// Adds rows to a batch one by one, as texts.
pub(super) fn fill_by_rows(
    rows: &mut (impl Rows + ?Sized),
    batch: &mut Batch,
    numeric: &[bool],
    row: &mut RowBuffer,
) -> Result<bool, InstanceError> {
    while !batch.is_full() {
        if !rows.next(row)? {
            return Ok(false);
        }
        batch.add(row, numeric);
    }
    Ok(true)
}

/// A table's name and columns.
#[derive(Clone)]
pub struct Table {
    /// The file's name for messages.
    pub file: String,
    /// The column names.
    pub header: Vec<String>,
    /// Where the header stands in the file.
    pub header_place: String,
    /// What rows are counted in: `line` or `row`.
    pub unit: &'static str,
}

impl Table {
    /// Where a row stands in the file.
    pub fn place(&self, row: Row<'_>) -> String {
        format!("{} {}", self.unit, row.number_in_file())
    }

    /// Where the cell of a row in the column called `column` stands.
    pub fn place_in(&self, row: Row<'_>, column: &str) -> String {
        format!("{}, column {column}", self.place(row))
    }

    /// Whether the file is CSV, the only kind of table whose rows are counted in lines.
    fn is_csv(&self) -> bool {
        self.unit == "line"
    }

    /// The cell as text, which must be UTF-8; in CSV without the apostrophe that keeps spreadsheets from running it.
    pub fn text<'a>(&self, row: Row<'a>, column: usize) -> Result<&'a str, Violation> {
        let cell = row.cell(column);
        let text = std::str::from_utf8(cell).map_err(|_| {
            let place = self.place_in(row, &self.header[column]);
            Violation::new(place, String::from_utf8_lossy(cell), "is not valid UTF-8")
        })?;
        Ok(if self.is_csv() { unguarded(text) } else { text })
    }

    /// The cell of a column that holds numbers; `None` when it is empty.
    pub fn number(&self, row: Row<'_>, column: usize) -> Result<Option<Decimal>, Violation> {
        row.number(column).map_err(|error| {
            let place = self.place_in(row, &self.header[column]);
            Violation::new(place, String::from_utf8_lossy(row.cell(column)), error.to_string())
        })
    }
}

/// A row that is being read: its cells in one buffer, each followed by one more byte.
#[derive(Default)]
pub struct RowBuffer {
    /// The cells, each followed by one more byte.
    pub bytes: Vec<u8>,
    /// Where each cell ends in `bytes`.
    pub ends: Vec<usize>,
    /// Where it stands in the file, in the table's unit.
    pub number: u64,
}

impl RowBuffer {
    /// A row of no cells.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Makes what was added to `bytes` since the last cell a cell.
    pub fn end_cell(&mut self) {
        self.ends.push(self.bytes.len());
        self.bytes.push(b',');
    }

    /// The cell of a column.
    pub fn cell(&self, column: usize) -> &[u8] {
        cell(&self.bytes, &self.ends, column)
    }
}

/// One of the cells that end at `ends` in `bytes`.
fn cell<'a>(bytes: &'a [u8], ends: &[usize], position: usize) -> &'a [u8] {
    let start = if position == 0 { 0 } else { ends[position - 1] + 1 };
    &bytes[start..ends[position]]
}

/// The cell as a number; `None` when it is empty.
pub(super) type Number = Result<Option<Decimal>, DecimalError>;

/// One row: its cells as they stand in the file, and as numbers where the column holds numbers.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    batch: &'a Batch,
    position: usize,
}

impl<'a> Row<'a> {
    /// The cell of a column, as it stands in the file.
    pub fn cell(&self, column: usize) -> &'a [u8] {
        let Batch { bytes, ends, columns, .. } = self.batch;
        cell(bytes, ends, self.position * columns + column)
    }

    /// Where it stands in the file, in the table's unit.
    pub(super) fn number_in_file(&self) -> u64 {
        self.batch.places[self.position]
    }

    fn number(&self, column: usize) -> Number {
        self.batch.numbers[self.position * self.batch.columns + column]
    }
}

/// Rows handed over at a time, at most.
pub(super) const BATCH: usize = 1 << 11;

/// Bytes of a batch after which no row is added to it.
const BATCH_BYTES: usize = 1 << 18;

/// Batches read ahead: what is under way should stay in the cache of a core.
const AHEAD: usize = 3;

/// Some rows, one after the other: what one thread hands to the next lies close together, which matters more than
/// the copy.
#[derive(Default)]
pub struct Batch {
    columns: usize,
    bytes: Vec<u8>,
    /// Where each cell ends in `bytes`, row by row; it is followed by one more byte.
    ends: Vec<usize>,
    /// Each cell as a number, row by row; nothing where no column holds numbers.
    numbers: Vec<Number>,
    /// Where each row stands in the file.
    places: Vec<u64>,
    expected_rows: usize,
}

impl Batch {
    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.places.len()
    }

    /// One of its rows.
    pub fn row(&self, position: usize) -> Row<'_> {
        Row { batch: self, position }
    }

    /// How many rows the table has, judged by these.
    pub fn expected_rows(&self) -> usize {
        self.expected_rows
    }

    /// Reads rows in place of those here, the cells of `numeric` columns as numbers; `false` after the last row.
    fn refill(
        &mut self,
        rows: &mut dyn Rows,
        numeric: &[bool],
        row: &mut RowBuffer,
    ) -> Result<bool, InstanceError> {
        self.columns = rows.table().header.len();
        self.bytes.clear();
        self.ends.clear();
        self.numbers.clear();
        self.places.clear();
        let more = rows.fill(self, numeric, row)?;
        self.expected_rows = rows.expected(self.places.len(), self.bytes.len());
        Ok(more)
    }

    /// Whether no row is to be added any more.
    fn is_full(&self) -> bool {
        self.places.len() >= BATCH || self.bytes.len() >= BATCH_BYTES
    }

    /// Adds a row of texts, of which some are numbers too.
    fn add(&mut self, row: &RowBuffer, numeric: &[bool]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&row.bytes);
        self.ends.extend(row.ends.iter().map(|end| start + end));
        self.places.push(row.number);
        self.numbers.extend(numeric.iter().enumerate().map(|(column, numeric)| match row.cell(column) {
            text if *numeric && !text.is_empty() => Decimal::parse(text).map(Some),
            _ => Ok(None),
        }));
    }

    /// Adds up to `most` rows whose numbers are known: `read` writes them, row by row, into as many places as are asked for, and
    /// `write` adds the text of each other cell (and of numbers that cannot be used, for messages). Returns how many were added.
    #[cfg(feature = "parquet")]
    pub(super) fn add_numbered(
        &mut self,
        most: usize,
        first_place: u64,
        read: impl FnOnce(&mut [Number], usize),
        write: impl Fn(&mut Vec<u8>, usize, usize, &Number),
    ) -> usize {
        let (before, columns) = (self.places.len(), self.columns);
        let most = most.min(BATCH.saturating_sub(before));
        self.numbers.resize((before + most) * columns, Ok(None));
        read(&mut self.numbers[before * columns..], most);
        let mut added = 0;
        while added < most && self.bytes.len() < BATCH_BYTES {
            for column in 0..columns {
                let number = &self.numbers[(before + added) * columns + column];
                write(&mut self.bytes, added, column, number);
                self.ends.push(self.bytes.len());
                self.bytes.push(b',');
            }
            self.places.push(first_place + added as u64);
            added += 1;
        }
        self.numbers.truncate((before + added) * columns);
        added
    }
}

/// Hands every row to `take`, in order, as [`for_each_batch`] does.
pub fn for_each_row(
    rows: &mut dyn Rows,
    numeric: &[bool],
    mut take: impl FnMut(Row<'_>) -> Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    for_each_batch(rows, numeric, |batch| {
        (0..batch.row_count()).try_for_each(|position| take(batch.row(position)))
    })
}

/// Hands all rows to `take`, in order, as [`for_each_batch`] does, but reads them on this thread.
pub(super) fn for_each_batch_here(
    rows: &mut dyn Rows,
    numeric: &[bool],
    mut take: impl FnMut(&Batch) -> Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    let (mut batch, mut buffer) = (Batch::default(), RowBuffer::default());
    loop {
        let more = batch.refill(rows, numeric, &mut buffer);
        take(&batch)?;
        if !more? {
            return Ok(());
        }
    }
}

/// Hands all rows to `take`, in order, while another thread reads the next ones and the numbers in them: `numeric`
/// says of each column whether it holds numbers, or is empty when none does. What `take` or a row that cannot be read
/// returns first ends it.
pub fn for_each_batch(
    rows: &mut dyn Rows,
    numeric: &[bool],
    mut take: impl FnMut(&Batch) -> Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    std::thread::scope(|scope| {
        let (full, ready) = sync_channel(AHEAD);
        let (used, spare) = channel::<Batch>();
        scope.spawn(move || {
            let mut buffer = RowBuffer::default();
            loop {
                let mut batch = spare.try_recv().unwrap_or_default();
                let more = batch.refill(rows, numeric, &mut buffer);
                let last = !matches!(more, Ok(true));
                // Nobody listens any more when a row was refused.
                if full.send((batch, more.err())).is_err() || last {
                    break;
                }
            }
        });
        for (batch, error) in ready {
            take(&batch)?;
            if let Some(error) = error {
                return Err(error);
            }
            // The reader is gone after the last batch.
            let _ = used.send(batch);
        }
        Ok(())
    })
}
