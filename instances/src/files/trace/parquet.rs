//! A trace as Parquet: one row an event, exact decimals, the header in the metadata.

use crate::trace::{Event, EventKind, EventSource, NewTasks, Register, ShapeNumber, TraceHeader};
use crate::{Decimal, InstanceError, Violation};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{ArrayBuilder, Decimal128Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::io::Write;
use std::sync::Arc;

use super::form::{EVENTS, FORM, event_named, microseconds, misplaced};
use super::lines::{count, read_header};
use super::text::Writer;
use crate::files::headers::bad_header;
use crate::files::parquet::{BATCH, ParquetRows, io_error};
use crate::files::rows::{RowBuffer, Rows};
use crate::files::values::decimal;

/// The columns that are no resources.
const FIXED: [&str; 8] = ["time", "event", "server", "user", "job", "duration", "count", "more"];

/// The same where the header states rules or domains: what a server is in, and which rules tasks meet.
const OF_RULES: [&str; 2] = ["domain", "rules"];

/// Whether a resource would be taken for another column.
fn is_taken(header: &TraceHeader, name: &str) -> bool {
    FIXED.contains(&name) || has_rules(header) && OF_RULES.contains(&name)
}

/// Whether rows may name domains and rules: where the header states rules.
fn has_rules(header: &TraceHeader) -> bool {
    !header.rules.is_empty()
}

/// Digits of a decimal column: amounts and times are below 2^62.
const DIGITS: u8 = 19;

/// Decimal places of seconds.
const SECONDS: i8 = 6;

/// A trace in Parquet, read row by row.
pub(super) struct TraceRows {
    rows: ParquetRows,
    row: RowBuffer,
    register: Register,
    /// Where each of `FIXED` stands.
    columns: [Option<usize>; FIXED.len()],
    /// Where `domain` and `rules` stand.
    of_rules: [Option<usize>; OF_RULES.len()],
    /// Where each resource stands.
    resources: Vec<Option<usize>>,
    amounts: Vec<Decimal>,
    job: String,
    ended: bool,
}

impl TraceRows {
    pub(super) fn new(path: &str) -> Result<Self, InstanceError> {
        let rows = ParquetRows::new(path)?;
        let Some(header) = rows.metadata(FORM.format) else {
            let (file, place) = (path.to_owned(), "metadata".to_owned());
            let problem = format!("has no {}; this is no trace that fairplan wrote", FORM.format);
            return Err(InstanceError::Malformed { file, place, problem });
        };
        let register = read_header(path, header.as_bytes())?;
        let table = rows.table();
        let column = |name: &str| table.header.iter().position(|column| column == name);
        let names = || register.header().resources.iter().map(|resource| resource.name.as_str());
        let is_taken = |name: &str| is_taken(register.header(), name);
        if let Some(name) = names().find(|name| is_taken(name)) {
            return Err(bad_header(table, name, "is a column of its own; a resource needs another name"));
        }
        let unknown = |name: &&String| !is_taken(name) && !names().any(|known| known == *name);
        if let Some(name) = table.header.iter().find(unknown) {
            return Err(bad_header(table, name, "unknown column; the header has no such resource"));
        }
        if let Some(name) = crate::files::values::repeated(table.header.iter().map(String::as_str)) {
            return Err(bad_header(table, name, "duplicate column"));
        }
        if let Some(name) = FIXED[..2].iter().find(|name| column(name).is_none()) {
            return Err(bad_header(table, name, "is missing"));
        }
        let (columns, resources) = (FIXED.map(column), names().map(column).collect());
        let of_rules = OF_RULES.map(|name| column(name).filter(|_| has_rules(register.header())));
        let (row, amounts, job) = (RowBuffer::default(), Vec::new(), String::new());
        Ok(Self { rows, row, register, columns, of_rules, resources, amounts, job, ended: false })
    }

    fn read_event(&mut self) -> Result<Option<Event>, InstanceError> {
        self.job.clear();
        let file = |rows: &ParquetRows| rows.table().file.clone();
        if !self.rows.next(&mut self.row)? {
            let invalid = |violation| InstanceError::Invalid { file: file(&self.rows), violation };
            return self.register.finish().map(|()| None).map_err(invalid);
        }
        let event = self.event().map_err(|violation| {
            // `demand.cpu` is the column `cpu`.
            let field = violation.place.as_str();
            let field = field.strip_prefix("demand.").or(field.strip_prefix("capacity.")).unwrap_or(field);
            let place = format!("row {}, column {field}", self.row.number);
            InstanceError::Invalid { file: file(&self.rows), violation: Violation { place, ..violation } }
        })?;
        Ok(Some(event))
    }

    fn event(&mut self) -> Result<Event, Violation> {
        let Self { row, register, columns, of_rules, resources, amounts, job, .. } = self;
        let text = |field: usize| -> Result<Option<&str>, Violation> {
            let cell = columns[field].map(|column| row.cell(column)).filter(|cell| !cell.is_empty());
            let bad = |_| Violation::new(FIXED[field], "", "is not valid UTF-8");
            cell.map(|cell| std::str::from_utf8(cell).map_err(bad)).transpose()
        };
        let of_rules = |field: usize| -> Result<Option<&str>, Violation> {
            let cell = of_rules[field].map(|column| row.cell(column)).filter(|cell| !cell.is_empty());
            let bad = |_| Violation::new(OF_RULES[field], "", "is not valid UTF-8");
            cell.map(|cell| std::str::from_utf8(cell).map_err(bad)).transpose()
        };
        let name = text(1)?.unwrap_or_default();
        let kind = event_named(name)?;
        let needed = |field: usize| text(field)?.ok_or_else(|| misplaced(FIXED[field], name, false));
        let number = |field: usize| decimal(needed(field)?.as_bytes(), || FIXED[field].into());
        let seconds = |field: usize| {
            let number = number(field)?;
            microseconds(number).map_err(|problem| Violation::new(FIXED[field], number, problem))
        };
        let time = seconds(0)?;
        let others = if kind == 3 { 2..3 } else { 3..FIXED.len() };
        for field in others {
            if text(field)?.is_some() {
                return Err(misplaced(FIXED[field], name, true));
            }
        }
        for (field, belongs) in OF_RULES.iter().zip([kind == 1, kind == 3]) {
            let position = usize::from(*field == OF_RULES[1]);
            if !belongs && of_rules(position)?.is_some() {
                return Err(misplaced(field, name, true));
            }
        }
        amounts.clear();
        for (column, resource) in resources.iter().zip(&register.header().resources) {
            let cell = column.map(|column| row.cell(column)).unwrap_or_default();
            if kind == 0 && !cell.is_empty() {
                return Err(misplaced(&resource.name, name, true));
            }
            let amount =
                if cell.is_empty() { Ok(Decimal::ZERO) } else { decimal(cell, || resource.name.clone()) };
            amounts.push(amount?);
        }
        match kind {
            0 => register.server_removed(time, needed(2)?),
            1 => register.server_added_in(time, needed(2)?, amounts, of_rules(0)?),
            2 => register.server_changed(time, needed(2)?, amounts),
            _ => {
                job.push_str(needed(4)?);
                let more = match text(7)? {
                    None | Some("false") => false,
                    Some("true") => true,
                    Some(other) => return Err(Violation::new("more", other, "must be true or false")),
                };
                let count = if text(6)?.is_some() { count(number(6)?)? } else { 1 };
                let (user, duration) = (needed(3)?, seconds(5)?);
                let rules = of_rules(1)?;
                register
                    .submitted(time, NewTasks { user, job, demand: amounts, count, duration, rules, more })
            }
        }
    }
}

impl EventSource for TraceRows {
    fn register(&self) -> &Register {
        &self.register
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        if self.ended {
            return Ok(None);
        }
        let next = self.read_event();
        self.ended = !matches!(next, Ok(Some(_)));
        next
    }

    fn job_id(&self) -> &str {
        &self.job
    }
}

/// Writes all events of `source`.
pub(super) fn write(
    source: &mut dyn EventSource,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let failed = |error| InstanceError::Io { file: path.to_owned(), source: io_error(error) };
    let header = source.register().header();
    if let Some(position) = header.resources.iter().position(|r| is_taken(header, &r.name)) {
        let problem = "is another column of the table; write JSON Lines or rename the resource";
        let name = &header.resources[position].name;
        let violation = Violation::new(format!("resources[{position}]"), name, problem);
        return Err(InstanceError::Invalid { file: path.to_owned(), violation });
    }
    let mut text = Writer::new(header);
    text.header(header);
    let metadata = vec![KeyValue::new(FORM.format.to_owned(), text.text.into_string())];
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata))
        .build();
    let schema = Arc::new(schema(header));
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?;
    let mut columns = Columns::new(header);
    while let Some(event) = source.next_event()? {
        columns.push(source.register(), event, source.job_id());
        if columns.time.len() == BATCH {
            let batch = columns.batch(&schema).map_err(|error| failed(error.into()))?;
            writer.write(&batch).map_err(failed)?;
        }
    }
    let batch = columns.batch(&schema).map_err(|error| failed(error.into()))?;
    writer.write(&batch).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(())
}

fn schema(header: &TraceHeader) -> Schema {
    let seconds = DataType::Decimal128(DIGITS, SECONDS);
    let mut fields = vec![
        Field::new("time", seconds.clone(), false),
        Field::new("event", DataType::Utf8, false),
        Field::new("server", DataType::Utf8, true),
        Field::new("user", DataType::Utf8, true),
        Field::new("job", DataType::Utf8, true),
    ];
    for resource in &header.resources {
        let amount = DataType::Decimal128(DIGITS, resource.decimal_places as i8);
        fields.push(Field::new(&resource.name, amount, true));
    }
    fields.push(Field::new("duration", seconds, true));
    fields.push(Field::new("count", DataType::Int64, true));
    fields.push(Field::new("more", DataType::Utf8, true));
    if has_rules(header) {
        fields.extend(OF_RULES.map(|name| Field::new(name, DataType::Utf8, true)));
    }
    Schema::new(fields)
}

/// Rows that are being written, column by column.
struct Columns {
    time: Decimal128Builder,
    event: StringBuilder,
    server: StringBuilder,
    user: StringBuilder,
    job: StringBuilder,
    amounts: Vec<Decimal128Builder>,
    duration: Decimal128Builder,
    count: Int64Builder,
    more: StringBuilder,
    of_rules: Option<[StringBuilder; OF_RULES.len()]>,
}

impl Columns {
    fn new(header: &TraceHeader) -> Self {
        let decimals = |places| Decimal128Builder::new().with_data_type(DataType::Decimal128(DIGITS, places));
        Self {
            time: decimals(SECONDS),
            event: StringBuilder::new(),
            server: StringBuilder::new(),
            user: StringBuilder::new(),
            job: StringBuilder::new(),
            amounts: header.resources.iter().map(|r| decimals(r.decimal_places as i8)).collect(),
            duration: decimals(SECONDS),
            count: Int64Builder::new(),
            more: StringBuilder::new(),
            of_rules: has_rules(header).then(Default::default),
        }
    }

    fn push(&mut self, register: &Register, event: Event, job: &str) {
        self.time.append_value(event.time.into());
        self.event.append_value(EVENTS[usize::from(event.kind.rank())].name);
        let (server, tasks, shape): (_, _, Option<ShapeNumber>) = match event.kind {
            EventKind::ServerRemoved(server) => (Some(server), None, None),
            EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                (Some(server), None, Some(shape))
            }
            EventKind::Submitted(tasks) => (None, Some(tasks), Some(tasks.demand)),
        };
        self.server.append_option(server.map(|server| register.servers().get(server.index())));
        self.user.append_option(tasks.map(|tasks| register.users().get(tasks.user.index())));
        self.job.append_option(tasks.map(|_| job));
        for (r, column) in self.amounts.iter_mut().enumerate() {
            column.append_option(shape.map(|shape| i128::from(register.shapes().units(shape)[r])));
        }
        self.duration.append_option(tasks.map(|tasks| i128::from(tasks.duration)));
        self.count.append_option(tasks.map(|tasks| i64::from(tasks.count)));
        self.more.append_option(tasks.filter(|tasks| !tasks.last).map(|_| "true"));
        if let Some([domain, rules]) = &mut self.of_rules {
            let comes = server.filter(|_| matches!(event.kind, EventKind::ServerAdded(..)));
            domain.append_option(comes.and_then(|server| register.domain_name(server)));
            rules.append_option(tasks.and_then(|tasks| register.rules_name(tasks.rules)));
        }
    }

    /// What was pushed since the last batch.
    fn batch(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(self.time.finish()),
            Arc::new(self.event.finish()),
            Arc::new(self.server.finish()),
            Arc::new(self.user.finish()),
            Arc::new(self.job.finish()),
        ];
        arrays.extend(self.amounts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        arrays.push(Arc::new(self.duration.finish()));
        arrays.push(Arc::new(self.count.finish()));
        arrays.push(Arc::new(self.more.finish()));
        let of_rules = self.of_rules.iter_mut().flatten();
        arrays.extend(of_rules.map(|column| Arc::new(column.finish()) as ArrayRef));
        RecordBatch::try_new(schema.clone(), arrays)
    }
}
