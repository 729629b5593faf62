//! The table of users of a solution or a placement.

use super::columns::{self, Columns, counts, numbers, positions, words};
use super::csv;
use super::{TableFormat, finite};
use crate::output::Sink;
use crate::placement::PlacementDocument;
use fairplan_instances::files::guarded;
use fairplan_instances::{Instance, Solution, UserId};
use serde::Serialize;
use std::borrow::Cow;
use std::io;

/// A row of a table, in all formats.
pub(super) trait Row: Serialize + Sized {
    /// The row with its text cells safe for a spreadsheet.
    fn guarded(self) -> Self;
    /// Many rows as columns.
    fn columns(rows: &[Self]) -> Columns<'static>;
}

/// Writes `count` rows.
pub(super) fn write<R: Row>(
    out: &mut Sink,
    format: TableFormat,
    count: usize,
    row: impl Fn(usize) -> io::Result<R> + Sync,
) -> io::Result<()> {
    match format {
        TableFormat::Csv if count == 0 => {
            let columns = R::columns(&[]);
            csv::write_records(out, columns.iter().map(|(name, _)| *name), std::iter::empty())
        }
        TableFormat::Csv => csv::write(out, count, |position| row(position).map(Row::guarded)),
        TableFormat::Columns(format) => {
            // A table without rows still has its columns.
            let batches = (0..count.max(1)).step_by(columns::BATCH).map(|start| {
                let rows = (start..count.min(start + columns::BATCH)).map(&row);
                rows.collect::<io::Result<Vec<R>>>().map(|rows| R::columns(&rows))
            });
            columns::write(out, format, batches)
        }
    }
}

#[derive(Serialize)]
struct SolutionRow<'a> {
    id: Cow<'a, str>,
    dominant_resource: Cow<'a, str>,
    dominant_share: f64,
    tasks: f64,
    limited_by: &'static str,
    /// Empty where the objective is a sum.
    level: Option<u32>,
}

impl Row for SolutionRow<'_> {
    fn guarded(mut self) -> Self {
        self.id = guarded(self.id);
        self.dominant_resource = guarded(self.dominant_resource);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("id", words(rows.iter().map(|row| &*row.id))),
            ("dominant_resource", words(rows.iter().map(|row| &*row.dominant_resource))),
            ("dominant_share", numbers(rows.iter().map(|row| row.dominant_share))),
            ("tasks", numbers(rows.iter().map(|row| row.tasks))),
            ("limited_by", words(rows.iter().map(|row| row.limited_by))),
            ("level", positions(rows.iter().map(|row| row.level))),
        ]
    }
}

/// Writes the users of a solution, in the instance's order.
pub fn write_solution(
    out: &mut Sink,
    format: TableFormat,
    instance: &Instance,
    solution: &Solution,
) -> io::Result<()> {
    write(out, format, instance.user_count(), |position| {
        let user = instance.user(UserId(position));
        Ok(SolutionRow {
            id: user.id().into(),
            dominant_resource: instance.resources()[user.dominant_resource().0].as_str().into(),
            dominant_share: finite(solution.allocation.dominant_share(instance, user.index()))?,
            tasks: finite(solution.allocation.tasks(user.index()))?,
            limited_by: solution.limited_by[user.index().0].name(),
            level: solution.certificate.level_of().map(|levels| levels[user.index().0]),
        })
    })
}

#[derive(Serialize)]
struct PlacementRow<'a> {
    id: Cow<'a, str>,
    dominant_resource: Cow<'a, str>,
    dominant_share: f64,
    tasks: u64,
}

impl Row for PlacementRow<'_> {
    fn guarded(mut self) -> Self {
        self.id = guarded(self.id);
        self.dominant_resource = guarded(self.dominant_resource);
        self
    }

    fn columns(rows: &[Self]) -> Columns<'static> {
        vec![
            ("id", words(rows.iter().map(|row| &*row.id))),
            ("dominant_resource", words(rows.iter().map(|row| &*row.dominant_resource))),
            ("dominant_share", numbers(rows.iter().map(|row| row.dominant_share))),
            ("tasks", counts(rows.iter().map(|row| row.tasks))),
        ]
    }
}

/// Writes the users of a placement, in the instance's order.
pub fn write_placement<S: Sync>(
    out: &mut Sink,
    format: TableFormat,
    document: &PlacementDocument<'_, S>,
) -> io::Result<()> {
    write(out, format, document.users.len(), |position| {
        let user = &document.users[position];
        Ok(PlacementRow {
            id: user.id.clone(),
            dominant_resource: user.dominant_resource.clone(),
            dominant_share: finite(user.dominant_share)?,
            tasks: user.tasks,
        })
    })
}
