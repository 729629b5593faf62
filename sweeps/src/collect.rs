//! All results as one table: a row a task in the order of the tasks, a column a parameter, then what results say. In two passes:
//! the first reads every result once and finds the columns, the second writes.

use crate::commands::Commands;
use crate::headline::Headline;
use crate::record::{self, Record};
use crate::said::Said;
use crate::spool::{Row, Spool};
use crate::tasks::{Line, TaskFile};
use crate::value::Value;
use crate::{Indices, SweepError};
use fairplan_instances::table::{Cell, Kind, Table};
use fairplan_report::output::{Destination, OutputError};
use fairplan_report::table::{TableFormat, TableWriter};
use rayon::prelude::*;
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// Results read side by side before their rows are put down.
const BATCH: usize = 1 << 10;

/// Rows of one piece of the table.
const ROWS: usize = 1 << 14;

/// Columns that are not of the results; a result's of the same name is `result.NAME`.
const OWN: [&str; 4] = ["index", "id", "exit_status", "message"];

/// What the table has.
#[derive(Clone, Debug, Default)]
pub struct CollectOptions {
    /// A list in the results (with dots where it is inside objects), each element of which is a row.
    pub each: Option<String>,
    /// Whether tasks without a result have rows of missing cells, instead of being refused.
    pub partial: bool,
}

/// What was collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Tasks.
    pub tasks: u64,
    /// Rows of the table.
    pub rows: u64,
    /// Columns of the table.
    pub columns: usize,
    /// Tasks that have been run and failed.
    pub failed: u64,
    /// Tasks that have not been run.
    pub missing: u64,
}

/// Writes the table. The parameters of a task are those that its words say to the commands; what results say and how their commands
/// ended is taken from them.
///
/// # Errors
/// Tasks without a result unless these are asked for; parameters that are not what is run; a result of another version or a damaged one.
pub fn collect(
    tasks: &TaskFile,
    directory: &Path,
    options: &CollectOptions,
    commands: &dyn Commands,
    (destination, format): (&Destination, TableFormat),
) -> Result<Collected, SweepError> {
    let gathered = Gathered::read(tasks, directory, options, commands)?;
    let Gathered { spool, columns, parameters, collected, has_messages } = gathered;
    let unread = |error| SweepError::from(OutputError { file: destination.name(), source: error });
    let mut rows = spool.rows().map_err(unread)?;
    let columns = columns.finished(&tasks.header().parameters);
    let head =
        Head { parameters: &tasks.header().parameters, kinds: &parameters, columns: &columns, has_messages };
    destination.write(|out| {
        let mut piece = rows.next(ROWS)?;
        let mut writer = TableWriter::new(out, format, &head.table(&piece))?;
        while !piece.is_empty() {
            writer.write(&head.table(&piece))?;
            piece = rows.next(ROWS)?;
        }
        writer.finish()
    })?;
    let columns = tasks.header().parameters.len() + columns.len() + 3 + usize::from(has_messages);
    Ok(Collected { columns, ..collected })
}

/// The columns that results have, in the order in which they first appear.
#[derive(Default)]
struct Found {
    positions: HashMap<String, usize>,
    columns: Vec<(String, Option<Kind>)>,
}

impl Found {
    fn position(&mut self, name: &str, value: &Value) -> usize {
        let position = match self.positions.get(name) {
            Some(position) => *position,
            None => {
                self.positions.insert(name.to_owned(), self.columns.len());
                self.columns.push((name.to_owned(), None));
                self.columns.len() - 1
            }
        };
        if let Some((_, kind)) = self.columns.get_mut(position) {
            *kind = value.kind_with(*kind);
        }
        position
    }

    /// With names that are no one else's.
    fn finished(self, parameters: &[String]) -> Vec<(String, Kind)> {
        let is_taken = |name: &String| OWN.contains(&name.as_str()) || parameters.contains(name);
        let named = |(name, kind): (String, Option<Kind>)| {
            let name = if is_taken(&name) { format!("result.{name}") } else { name };
            (name, kind.unwrap_or(Kind::Words))
        };
        self.columns.into_iter().map(named).collect()
    }
}

/// What the first pass found.
struct Gathered {
    spool: Spool,
    columns: Found,
    parameters: Vec<Kind>,
    collected: Collected,
    has_messages: bool,
}

/// What is known of one task.
struct Read {
    row: Row,
    headline: Option<Headline>,
}

impl Gathered {
    fn read(
        tasks: &TaskFile,
        directory: &Path,
        options: &CollectOptions,
        commands: &dyn Commands,
    ) -> Result<Self, SweepError> {
        let header = tasks.header();
        let all = Indices::below(header.tasks);
        let mut lines = tasks.lines(&all)?;
        let spool = Spool::new().map_err(|error| SweepError::writing(&std::env::temp_dir(), error))?;
        let mut kinds = vec![None; header.parameters.len()];
        let collected = Collected { tasks: header.tasks, rows: 0, columns: 0, failed: 0, missing: 0 };
        let mut gathered =
            Self { spool, columns: Found::default(), parameters: Vec::new(), collected, has_messages: false };
        let mut open = Indices::default();
        let mut said = None;
        loop {
            let batch = lines.batch(BATCH)?;
            let Some(first) = batch.first() else { break };
            if said.is_none() {
                let first_said = Said::new(&header.parameters, &tasks.task(first)?, commands);
                said = Some(first_said.map_err(|problem| tasks.wrong(first.index, problem))?);
            }
            let Some(said) = &said else { break };
            let read = |line: &Line| read(tasks, said, directory, options, line);
            let batch: Vec<Result<Read, SweepError>> = batch.par_iter().map(read).collect();
            // The first task that cannot be read is named, whichever thread was first.
            for read in batch {
                let read = read?;
                for (kind, value) in kinds.iter_mut().zip(&read.row.parameters) {
                    *kind = value.kind_with(*kind);
                }
                gathered.has_messages |= read.row.message.is_some();
                gathered.collected.missing += u64::from(read.row.status.is_none());
                gathered.collected.failed += u64::from(read.row.message.is_some());
                if read.headline.is_none() {
                    open.push(read.row.index);
                }
                gathered.put_down(read).map_err(|error| SweepError::writing(&std::env::temp_dir(), error))?;
            }
        }
        if !options.partial && !open.is_empty() {
            let Collected { failed, tasks: count, .. } = gathered.collected;
            let failed = if failed == 0 { String::new() } else { format!(" ({failed} of them failed)") };
            return Err(SweepError::refused(format!(
                "{} of {count} tasks have no result{failed}; run these, or state --partial to leave their cells empty: {open}",
                open.count()
            )));
        }
        gathered.parameters = kinds.into_iter().map(|kind| kind.unwrap_or(Kind::Words)).collect();
        Ok(gathered)
    }

    /// The rows of a task.
    fn put_down(&mut self, Read { mut row, headline }: Read) -> io::Result<()> {
        let Headline { cells, elements } = headline.unwrap_or_default();
        let found = &mut self.columns;
        let mut placed = |cells: crate::headline::Cells| -> Vec<(usize, Value)> {
            cells.into_iter().map(|(name, value)| (found.position(&name, &value), value)).collect()
        };
        let common = placed(cells);
        for element in elements.unwrap_or_else(|| vec![Vec::new()]) {
            row.cells = common.iter().cloned().chain(placed(element)).collect();
            row.cells.sort_by_key(|(column, _)| *column);
            self.spool.push(&row)?;
            self.collected.rows += 1;
        }
        Ok(())
    }
}

fn read(
    tasks: &TaskFile,
    said: &Said<'_>,
    directory: &Path,
    options: &CollectOptions,
    line: &Line,
) -> Result<Read, SweepError> {
    let task = tasks.task(line)?;
    let parameters = said.values(&task).map_err(|problem| tasks.wrong(line.index, problem))?;
    let parameters = parameters.into_iter().cloned().collect();
    let mut row =
        Row { index: line.index, id: task.id, parameters, status: None, message: None, cells: Vec::new() };
    let Some((path, bytes)) = record::read(directory, &row.id)? else {
        return Ok(Read { row, headline: None });
    };
    let record = Record::parse(&path, &bytes, &row.id)?;
    row.status = Some(record.exit_status.into());
    let Some(result) = record.result else {
        row.message = Some(record.message.unwrap_or_default());
        return Ok(Read { row, headline: None });
    };
    let damaged = |error| {
        SweepError::refused(format!(
            "{}: is damaged: {error}; remove it and run the task again",
            path.display()
        ))
    };
    let headline = Headline::read(result.get(), options.each.as_deref()).map_err(damaged)?;
    if let (Some(each), None) = (&options.each, &headline.elements) {
        let problem =
            format!("{each}: the result of task {} has no such list; see {}", line.index, path.display());
        return Err(SweepError::refused(format!("--each {problem}")));
    }
    Ok(Read { row, headline: Some(headline) })
}

/// The columns of the table.
struct Head<'a> {
    parameters: &'a [String],
    kinds: &'a [Kind],
    columns: &'a [(String, Kind)],
    has_messages: bool,
}

impl Head<'_> {
    fn table<'t>(&'t self, rows: &'t [Row]) -> Table<'t> {
        let mut table = Table::of(rows).column(OWN[0], "task", Kind::Count, |row: &Row| row.index).column(
            OWN[1],
            "id",
            Kind::Id,
            |row: &'t Row| row.id.as_str(),
        );
        for (position, (name, kind)) in self.parameters.iter().zip(self.kinds).enumerate() {
            let cell = move |row: &'t Row| {
                row.parameters.get(position).map_or(Cell::Missing, |value| value.cell(*kind))
            };
            table = table.column(name.as_str(), name.as_str(), *kind, cell);
        }
        let status = |row: &Row| row.status.map_or(Cell::Missing, Cell::Count);
        table = table.column(OWN[2], "exit status", Kind::Count, status);
        if self.has_messages {
            let message = |row: &'t Row| row.message.as_deref().map_or(Cell::Missing, Cell::from);
            table = table.column(OWN[3], "message", Kind::Words, message);
        }
        for (position, (name, kind)) in self.columns.iter().enumerate() {
            let cell = move |row: &'t Row| {
                let at = row.cells.binary_search_by_key(&position, |(column, _)| *column);
                at.ok().and_then(|at| row.cells.get(at)).map_or(Cell::Missing, |(_, value)| value.cell(*kind))
            };
            table = table.column(name.as_str(), name.as_str(), *kind, cell);
        }
        table.done()
    }
}
