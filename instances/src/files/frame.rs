//! Tables that another program has in memory, as a stream of Arrow batches: pandas, polars and others hand them over so.
//!
//! Rows are counted from 0, as those programs do. What is missing in a column of a resource is refused: a frame that was
//! joined or computed has such cells by accident.

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray, cast::AsArray,
};
use arrow_schema::DataType;
use std::sync::Arc;

use super::cells::{for_each_text, is_readable, is_text, letters_of, push_cell, push_text};
use super::headers::bad_header;
use super::numbers::{is_decimal, read_decimals, read_numbers};
use super::optional_columns::FIXED;
use super::rows::{BATCH, Batch, Number, PlainPart, PlainSize, RowBuffer, Rows, Table, fill_by_rows};
use crate::model::NumberRange;
use crate::{InstanceError, Violation};

/// Rows that are read by one thread while others read theirs.
const PART: usize = 1 << 14;

/// A frame read row by row.
pub struct Frame {
    table: Table,
    batches: Box<dyn RecordBatchReader + Send>,
    /// Which columns of the batches are read.
    columns: Vec<usize>,
    /// Of each of these whether every row needs a value.
    required: Vec<bool>,
    batch: Vec<ArrayRef>,
    /// Next row inside `batch`.
    next: usize,
    length: usize,
    count: u64,
}

impl Frame {
    /// The frame that messages call `name`. An index without a name is no column of it.
    pub fn new(name: &str, batches: Box<dyn RecordBatchReader + Send>) -> Result<Self, InstanceError> {
        let schema = batches.schema();
        let columns: Vec<usize> =
            (0..schema.fields().len()).filter(|at| !is_index(schema.field(*at).name())).collect();
        let header: Vec<String> = columns.iter().map(|at| schema.field(*at).name().clone()).collect();
        // Columns that groups have and users have not are optional too.
        let is_optional = |name: &&str| FIXED.contains(name) || *name == "parent";
        let required = header.iter().map(|name| !is_optional(&name.as_str())).collect();
        let table = Table { file: name.to_owned(), header, header_place: "columns".to_owned(), unit: "row" };
        for at in &columns {
            let field = schema.field(*at);
            // Numbers of such a type mean something else, such as the days of a calendar.
            let extension = field.extension_type_name().filter(|_| !is_text(field.data_type()));
            if extension.is_some() || !is_frame_type(field.data_type()) {
                let kind = extension.map_or_else(|| field.data_type().to_string(), str::to_owned);
                return Err(bad_header(
                    &table,
                    field.name(),
                    &format!("has type {kind}; numbers and texts are read"),
                ));
            }
        }
        Ok(Self { table, batches, columns, required, batch: Vec::new(), next: 0, length: 0, count: 0 })
    }

    /// The same of a table in which an empty cell has a meaning.
    pub fn with_gaps(mut self) -> Self {
        self.required.fill(false);
        self
    }

    /// The rows of a batch as a frame, of which the first has this number.
    fn part(&self, batch: RecordBatch, first: u64) -> Self {
        let schema = batch.schema();
        Self {
            table: self.table.clone(),
            batches: Box::new(RecordBatchIterator::new([Ok(batch)], schema)),
            columns: self.columns.clone(),
            required: self.required.clone(),
            batch: Vec::new(),
            next: 0,
            length: 0,
            count: first,
        }
    }

    fn take(&mut self, batch: &RecordBatch) {
        self.batch = self.columns.iter().map(|at| plain(batch.column(*at))).collect();
        (self.next, self.length) = (0, batch.num_rows());
    }

    /// The next batch of the stream, if there is one more; `count` rows were before it.
    fn receive(&mut self, count: u64) -> Result<Option<RecordBatch>, InstanceError> {
        let schema = self.batches.schema();
        let failed = |error: arrow_schema::ArrowError| {
            // Some programs hand over columns without a type in a form that Arrow does not know.
            let untyped = schema.fields().iter().find(|field| *field.data_type() == DataType::Null);
            let (place, problem) = match untyped {
                Some(field) => (
                    format!("column {}", field.name()),
                    "has no type, as all its cells are missing; leave it out or give it one".into(),
                ),
                None => (format!("after row {count}"), error.to_string()),
            };
            InstanceError::Malformed { file: self.table.file.clone(), place, problem }
        };
        self.batches.next().transpose().map_err(failed)
    }

    /// Goes on to the next batch that has rows where this one is used up; `false` after the last.
    fn advance(&mut self) -> Result<bool, InstanceError> {
        while self.next == self.length {
            let Some(batch) = self.receive(self.count)? else { return Ok(false) };
            self.take(&batch);
        }
        Ok(true)
    }

    /// Which of the required columns has no cell in this row of the batch.
    fn missing(&self, row: usize) -> Option<usize> {
        let has_none = |column: &ArrayRef| column.is_null(row) || *column.data_type() == DataType::Null;
        (0..self.batch.len()).find(|at| self.required[*at] && has_none(&self.batch[*at]))
    }

    /// Where the next rows end that have all required cells.
    fn complete(&self) -> usize {
        let has_gaps = |column: &ArrayRef| column.null_count() > 0 || *column.data_type() == DataType::Null;
        if !self.batch.iter().zip(&self.required).any(|(column, required)| *required && has_gaps(column)) {
            return self.length;
        }
        let near = self.length.min(self.next + BATCH);
        (self.next..near).find(|row| self.missing(*row).is_some()).unwrap_or(near)
    }

    /// That the next row has no cell in this column.
    fn lacks(&self, column: usize) -> InstanceError {
        let place = format!("{} {}, column {}", self.table.unit, self.count, self.table.header[column]);
        let problem = "is missing (null or NaN); fill it, with 0 where there is none";
        InstanceError::Invalid {
            file: self.table.file.clone(),
            violation: Violation::new(place, "", problem),
        }
    }

    fn passed(&mut self, rows: usize) {
        self.next += rows;
        self.count += rows as u64;
    }
}

/// Appends a cell as the text that CSV would have; nothing where there is none.
fn push(bytes: &mut Vec<u8>, column: &ArrayRef, row: usize) {
    match column.data_type() {
        DataType::Null => {}
        _ if column.is_null(row) => {}
        kind if is_list(kind) => push_list(bytes, column, row),
        _ => push_cell(bytes, column, row),
    }
}

impl Rows for Frame {
    fn table(&self) -> &Table {
        &self.table
    }

    fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
        if !self.advance()? {
            return Ok(false);
        }
        if let Some(column) = self.missing(self.next) {
            return Err(self.lacks(column));
        }
        row.clear();
        for column in &self.batch {
            push(&mut row.bytes, column, self.next);
            row.end_cell();
        }
        row.number = self.count;
        self.passed(1);
        Ok(true)
    }

    fn parts(&mut self) -> Result<Option<Vec<Box<dyn Rows>>>, InstanceError> {
        let (mut parts, mut count) = (Vec::<Box<dyn Rows>>::new(), 0u64);
        while let Some(batch) = self.receive(count)? {
            for first in (0..batch.num_rows()).step_by(PART) {
                let rows = PART.min(batch.num_rows() - first);
                parts.push(Box::new(self.part(batch.slice(first, rows), count)));
                count += rows as u64;
            }
        }
        Ok(Some(parts))
    }

    fn plain(&mut self, id: usize, numbers: &[Option<usize>]) -> Option<PlainSize> {
        // What is wrong with a part says who reads it row by row.
        self.advance().ok().filter(|there| *there)?;
        let names = self.batch.get(id).filter(|names| names.null_count() == 0)?;
        let letters = letters_of(names)?;
        let is_read = |column: &Option<usize>| column.is_none_or(|column| is_decimal(&self.batch[column]));
        let size = PlainSize { rows: self.length, letters, first: self.count };
        (self.next == 0 && numbers.iter().all(is_read)).then_some(size)
    }

    fn write_plain(
        &mut self,
        id: usize,
        numbers: &[Option<usize>],
        there: PlainPart<'_>,
    ) -> Option<Vec<NumberRange>> {
        let PlainPart { letters: (letters, mut before), ends, decimals, doubles } = there;
        let (mut written, mut ends, mut has_empty) = (0, ends.iter_mut(), false);
        for_each_text(&self.batch[id], |name| {
            letters[written..written + name.len()].copy_from_slice(name.as_bytes());
            written += name.len();
            before += name.len();
            has_empty |= name.is_empty();
            ends.by_ref().take(1).for_each(|end| *end = before);
        });
        if has_empty {
            return None;
        }
        let width = numbers.len();
        let nothing = NumberRange { exponent: 0, largest: 0.0, has_zero: true };
        let column = |(at, column): (usize, &Option<usize>)| match column {
            Some(column) => {
                read_decimals(&self.batch[*column], &mut decimals[at..], &mut doubles[at..], width)
            }
            None => Some(nothing),
        };
        numbers.iter().enumerate().map(column).collect()
    }

    /// Column by column: numbers have no text on their way.
    fn fill(
        &mut self,
        batch: &mut Batch,
        numeric: &[bool],
        row: &mut RowBuffer,
    ) -> Result<bool, InstanceError> {
        if numeric.is_empty() {
            return fill_by_rows(self, batch, numeric, row);
        }
        if !self.advance()? {
            return Ok(false);
        }
        if let Some(column) = self.missing(self.next) {
            return Err(self.lacks(column));
        }
        let (columns, first, width) = (&self.batch, self.next, self.batch.len());
        let read = |numbers: &mut [Number], rows: usize| {
            for (at, column) in columns.iter().enumerate().filter(|(at, _)| numeric[*at]) {
                read_numbers(column, first..first + rows, &mut numbers[at..], width);
            }
        };
        let write = |bytes: &mut Vec<u8>, row: usize, at: usize, number: &Number| {
            // Of a number only messages need the text.
            if !numeric[at] || number.is_err() {
                push(bytes, &columns[at], first + row);
            }
        };
        let added = batch.add_numbered(self.complete() - first, self.count, read, write);
        self.passed(added);
        Ok(true)
    }

    fn expected(&self, rows: usize, _bytes: usize) -> usize {
        rows.max(self.length)
    }
}

/// The name under which pandas hands over an index that has none.
fn is_index(name: &str) -> bool {
    name.strip_prefix("__index_level_").is_some_and(|rest| rest.ends_with("__"))
}

fn is_frame_type(kind: &DataType) -> bool {
    match kind {
        DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        DataType::List(items) | DataType::LargeList(items) => is_text(items.data_type()),
        other => is_readable(other),
    }
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_))
}

/// Categories as the texts that they stand for.
fn plain(column: &ArrayRef) -> ArrayRef {
    let Some(dictionary) = column.as_any_dictionary_opt() else { return column.clone() };
    let values = dictionary.values();
    let text = |key: usize| {
        let mut bytes = Vec::new();
        push_text(&mut bytes, values, key);
        String::from_utf8(bytes).unwrap_or_default()
    };
    let texts: Vec<Option<String>> =
        (0..values.len()).map(|key| values.is_valid(key).then(|| text(key))).collect();
    let keys = dictionary.normalized_keys();
    let cells = keys
        .iter()
        .enumerate()
        .map(|(row, key)| if dictionary.is_null(row) { None } else { texts.get(*key)?.as_deref() });
    Arc::new(cells.collect::<StringArray>())
}

/// A list of texts as a table writes it: between `;`, a lone `;` for none.
fn push_list(bytes: &mut Vec<u8>, column: &ArrayRef, row: usize) {
    let items = match column.data_type() {
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        _ => column.as_list::<i32>().value(row),
    };
    if items.is_empty() {
        bytes.push(b';');
    }
    for item in 0..items.len() {
        if item > 0 {
            bytes.push(b';');
        }
        push_text(bytes, &items, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::rows::for_each_row;
    use crate::files::{read_opened, sha256_hex};
    use crate::{Instance, generate};
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{
        BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, NullArray, types,
    };

    fn frame(name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<Frame, InstanceError> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap();
        let schema = batch.schema();
        Frame::new(name, Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
    }

    fn texts(texts: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    fn numbers(numbers: &[f64]) -> ArrayRef {
        Arc::new(Float64Array::from(numbers.to_vec()))
    }

    fn servers() -> Frame {
        let columns = vec![
            ("id", texts(&["high-memory", "high-cpu"])),
            ("count", Arc::new(Int64Array::from(vec![1, 1])) as ArrayRef),
            ("cpu", numbers(&[2.0, 12.0])),
            ("memory", numbers(&[12.0, 2.0])),
        ];
        frame("servers", columns).unwrap()
    }

    fn read(users: Vec<(&str, ArrayRef)>) -> Result<Instance, String> {
        let mut users = frame("users", users).map_err(|error| error.to_string())?;
        read_opened(&mut servers(), &mut users, None).map_err(|error| error.to_string())
    }

    #[test]
    fn frames_give_the_instance_of_the_same_numbers_in_json() {
        let categories: DictionaryArray<types::Int8Type> = vec!["user-1", "user-2"].into_iter().collect();
        let mut classes = ListBuilder::new(StringBuilder::new());
        for _ in 0..2 {
            classes.values().append_value("high-memory");
            classes.values().append_value("high-cpu");
            classes.append(true);
        }
        let users = vec![
            ("__index_level_0__", numbers(&[7.0, 8.0])),
            ("id", Arc::new(categories) as ArrayRef),
            ("cpu", numbers(&[0.2, 1.0])),
            ("memory", numbers(&[1.0, 0.2])),
            ("tasks", Arc::new(NullArray::new(2)) as ArrayRef),
            ("eligible", Arc::new(classes.finish()) as ArrayRef),
        ];
        let read = read(users).unwrap();
        let users = |instance: &Instance| {
            instance.users().map(|user| (user.id().to_owned(), user.weight())).collect::<Vec<_>>()
        };
        let wanted = generate::drfh_fig1().unwrap();
        assert_eq!(users(&read), users(&wanted));
        assert_ne!(sha256_hex(&read), sha256_hex(&wanted), "a frame carries no name of the instance");
    }

    /// The same frame, cell by cell as texts.
    struct AsTexts(Frame);

    impl Rows for AsTexts {
        fn table(&self) -> &Table {
            self.0.table()
        }
        fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
            self.0.next(row)
        }
        fn expected(&self, rows: usize, bytes: usize) -> usize {
            self.0.expected(rows, bytes)
        }
    }

    /// More users than a batch holds, columns of several types, and digits of all lengths.
    fn many(change: impl Fn(usize) -> Option<Option<f64>>) -> Frame {
        const USERS: usize = 5000;
        let mut random = crate::Random::new(7, 0);
        let mut amount = |user: usize| match user % 4 {
            0 => random.below(1 << 20) as f64 / 1000.0,
            1 => random.below(1 << 50) as f64 / (1_u64 << 52) as f64,
            2 => random.below(1000) as f64 * 1e-9,
            _ => user as f64,
        };
        let doubles: Vec<Option<f64>> =
            (0..USERS).map(|user| change(user).unwrap_or(Some(amount(user)))).collect();
        let named = |name: &dyn Fn(usize) -> String| {
            Arc::new((0..USERS).map(|user| Some(name(user))).collect::<StringArray>()) as ArrayRef
        };
        let singles: Float32Array = (0..USERS).map(|user| Some(1.0 + user as f32 / 8.0)).collect();
        let tasks: Int64Array = (0..USERS).map(|user| (user % 3 != 0).then_some(user as i64)).collect();
        let columns = vec![
            ("id", named(&|user| format!("user {user}"))),
            ("cpu", Arc::new(Float64Array::from(doubles)) as ArrayRef),
            ("memory", Arc::new(singles) as ArrayRef),
            ("tasks", Arc::new(tasks) as ArrayRef),
            ("weight", named(&|user| format!("{}.50", 1 + user % 7))),
        ];
        frame("users", columns).unwrap()
    }

    /// What every row says.
    fn told(rows: &mut dyn Rows) -> Vec<String> {
        let table = rows.table().clone();
        let mut told = Vec::new();
        for_each_row(rows, &[false, true, true, true, true], |row| {
            let numbers: Vec<_> = (1..5).map(|column| table.number(row, column)).collect();
            told.push(format!("{} {:?} {numbers:?}", table.place(row), table.text(row, 0)));
            Ok(())
        })
        .unwrap();
        told
    }

    #[test]
    fn columns_say_what_the_texts_of_their_cells_say() {
        let wrong = |user| match user {
            1000 => Some(Some(f64::INFINITY)),
            2100 => Some(Some(-2.5)),
            4999 => Some(Some(1e300)),
            _ => None,
        };
        let (typed, texts) = (told(&mut many(wrong)), told(&mut AsTexts(many(wrong))));
        assert_eq!(typed.len(), 5000);
        for (typed, text) in typed.iter().zip(&texts) {
            assert_eq!(typed, text);
        }
    }

    /// More users than are read by one thread: names, doubles and whole numbers, with something changed; perhaps weights and tasks.
    fn in_parts(change: &dyn Fn(usize, &mut String, &mut Option<f64>), weighted: bool) -> Frame {
        const USERS: usize = 3 * PART - 7;
        let (mut names, mut doubles) = (Vec::new(), Vec::new());
        for user in 0..USERS {
            let (mut name, mut double) = (format!("user {user}"), Some((1 + user % 4000) as f64 / 1000.0));
            change(user, &mut name, &mut double);
            names.push(Some(name));
            doubles.push(double);
        }
        let mut columns = vec![
            ("cpu", Arc::new(Float64Array::from(doubles)) as ArrayRef),
            ("id", Arc::new(names.into_iter().collect::<StringArray>()) as ArrayRef),
            ("memory", Arc::new((0..USERS).map(|user| Some((user % 3) as i64)).collect::<Int64Array>())),
        ];
        if weighted {
            // Only the second part has any.
            let weight = |user: usize| if user == PART + 3 { 2.5 } else { 1.0 };
            columns.push((
                "weight",
                Arc::new((0..USERS).map(|user| Some(weight(user))).collect::<Float64Array>()),
            ));
            let tasks = |user: usize| (user > 2 * PART).then_some(user as i64);
            columns.push(("tasks", Arc::new((0..USERS).map(tasks).collect::<Int64Array>())));
        }
        frame("users", columns).unwrap()
    }

    #[test]
    fn parts_side_by_side_are_what_rows_one_after_the_other_are() {
        let instance = |rows: &mut dyn Rows| {
            let read = read_opened(&mut servers(), rows, None);
            read.map(|read| (sha256_hex(&read), read)).map_err(|error| error.to_string())
        };
        for weighted in [false, true] {
            let frame = || in_parts(&|_, _, _| {}, weighted);
            let ((ours, read), (texts, _)) =
                (instance(&mut frame()).unwrap(), instance(&mut AsTexts(frame())).unwrap());
            assert_eq!(ours, texts);
            assert_eq!(read.user_named("user 40000").map(|user| user.0), Some(40000));
            for (number, (place, name, cell)) in [
                (None, (40_000, "user 39999", Some(1.0))),
                (None, (40_000, "user 3", Some(1.0))),
                (None, (20_000, "user 3", Some(1.0))),
                (Some(f64::NAN), (40_000, "user 3", Some(1.0))),
                (Some(-1.0), (40_000, "", Some(1.0))),
                (None, (1, "", Some(1.0))),
                (None, (PART, "b", None)),
                (None, (PART + 1, "b", Some(f64::INFINITY))),
                // Needs nothing, as it needs no memory either.
                (None, (39_999, "b", Some(0.0))),
            ] {
                // In the second part something may be wrong, too.
                let change = |user: usize, id: &mut String, double: &mut Option<f64>| {
                    if user == place {
                        (*id, *double) = (name.into(), cell);
                    }
                    if user == 25_000 {
                        *double = number.or(*double);
                    }
                };
                let frame = || in_parts(&change, weighted);
                let ours = instance(&mut frame()).unwrap_err();
                assert_eq!(ours, instance(&mut AsTexts(frame())).unwrap_err());
                assert!(ours.starts_with("users: row "), "{ours}");
            }
        }
    }

    #[test]
    fn bad_cells_far_down_are_named_where_they_stand() {
        let refused = |cell: Option<f64>| {
            let mut users = many(|user| (user == 4321).then_some(cell));
            read_opened(&mut servers(), &mut users, None).unwrap_err().to_string()
        };
        assert_eq!(refused(Some(f64::NAN)), "users: row 4321, column cpu = NaN: must be a finite number");
        assert!(refused(None).starts_with("users: row 4321, column cpu: is missing (null or NaN)"));
    }

    #[test]
    fn bad_cells_are_named_by_frame_row_and_column() {
        let users =
            |cpu: ArrayRef| vec![("id", texts(&["a", "b"])), ("cpu", cpu), ("memory", numbers(&[1.0, 1.0]))];
        let refused = |users| read(users).unwrap_err();
        let missing: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
        let told = refused(users(missing));
        assert!(told.starts_with("users: row 1, column cpu: is missing (null or NaN)"), "{told}");
        let told = refused(users(numbers(&[f64::NAN, 1.0])));
        assert!(told.starts_with("users: row 0, column cpu = NaN: "), "{told}");
        let told = refused(users(numbers(&[1.0, -2.0])));
        assert!(told.starts_with("users: row 1, column cpu = -2"), "{told}");
        let told = refused(users(Arc::new(BooleanArray::from(vec![true, false]))));
        assert_eq!(told, "users: columns, column cpu: has type Boolean; numbers and texts are read");
        let told = refused(users(texts(&["1", "two"])));
        assert!(told.starts_with("users: row 1, column cpu = two: "), "{told}");
        let twice =
            vec![("id", texts(&["a", "a"])), ("cpu", numbers(&[1.0, 1.0])), ("memory", numbers(&[1.0, 1.0]))];
        assert_eq!(refused(twice), "users: row 1, column id = a: duplicate id");
        let unknown = vec![("id", texts(&["a"])), ("gpu", numbers(&[1.0]))];
        assert!(refused(unknown).starts_with("users: columns, column gpu: unknown column"));
    }
}
