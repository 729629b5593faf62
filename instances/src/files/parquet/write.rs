//! Writing the two tables column by column, as Parquet or Arrow.

use crate::{Decimal, Instance, InstanceError, User, UserId, Violation};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use std::io::{self, Write};
use std::sync::Arc;

use super::BATCH;
use crate::files::columnar::{BatchWriter, Columnar};
use crate::files::optional_columns::{FIXED, GROUP_COLUMNS, OptionalColumns};

/// Writes the table of servers.
pub(in crate::files) fn write_servers(
    instance: &Instance,
    format: Columnar,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let classes = instance.classes();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from_iter_values(classes.iter().map(|class| &class.id)))),
        // Counts are at most 10^15.
        ("count", Arc::new(Int64Array::from_iter_values(classes.iter().map(|class| class.count as i64)))),
    ];
    for (resource, name) in instance.resources().iter().enumerate() {
        let place = |class: usize| format!("server_classes[{class}].capacity.{name}");
        let amounts = classes.iter().map(|class| class.capacity[resource]);
        columns.push((name, doubles(amounts, place, path)?));
    }
    write(format, path, out, [Ok(columns)])
}

/// Writes the table of users.
pub(in crate::files) fn write_users(
    instance: &Instance,
    optional: &OptionalColumns,
    format: Columnar,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let batches = (0..instance.user_count()).step_by(BATCH).map(|first| {
        let last = instance.user_count().min(first + BATCH);
        let users = || (first..last).map(|user| instance.user(UserId(user)));
        let place = |field: &str| {
            let field = field.to_owned();
            move |offset: usize| format!("users[{}].{field}", first + offset)
        };
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("id", Arc::new(StringArray::from_iter_values(users().map(User::id))))];
        for (resource, name) in instance.resources().iter().enumerate() {
            let amounts = users().map(|user| user.demand()[resource]);
            columns.push((name, doubles(amounts, place(&format!("demand.{name}")), path)?));
        }
        if optional.weight {
            columns.push(("weight", doubles(users().map(User::weight), place("weight"), path)?));
        }
        if optional.tasks {
            // Tasks are at most 10^15.
            let tasks = users().map(|user| user.tasks().map(|tasks| tasks as i64));
            columns.push(("tasks", Arc::new(Int64Array::from_iter(tasks))));
        }
        for (name, cells) in [("eligible", &optional.eligible), ("rates", &optional.rates)] {
            if let Some(cells) = cells {
                let cells = users().map(|user| cells[user.rule_id().0].as_str());
                columns.push((
                    name,
                    Arc::new(StringArray::from_iter(cells.map(|cell| (!cell.is_empty()).then_some(cell)))),
                ));
            }
        }
        if optional.group {
            let groups = users().map(|user| user.group().map(|group| instance.groups()[group.0].id.as_str()));
            columns.push(("group", Arc::new(StringArray::from_iter(groups))));
        }
        Ok(columns)
    });
    write(format, path, out, batches)
}

/// Writes the table of groups.
pub(in crate::files) fn write_groups(
    instance: &Instance,
    format: Columnar,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    let groups = instance.groups();
    let place = |group: usize| format!("groups[{group}].weight");
    let parents = groups.iter().map(|group| group.parent.map(|parent| groups[parent.0].id.as_str()));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from_iter_values(groups.iter().map(|group| &group.id)))),
        ("weight", doubles(groups.iter().map(|group| group.weight), place, path)?),
        ("parent", Arc::new(StringArray::from_iter(parents))),
    ];
    write(format, path, out, [Ok(columns)])
}

/// A column of doubles that equal the decimals.
fn doubles(
    values: impl Iterator<Item = Decimal>,
    place: impl Fn(usize) -> String,
    path: &str,
) -> Result<ArrayRef, InstanceError> {
    let mut column = Vec::with_capacity(BATCH);
    for value in values {
        let double = value.to_f64();
        if Decimal::from_f64(double) != Ok(value) {
            let problem = "has more digits than a double holds; write CSV or JSON";
            let violation = Violation::new(place(column.len()), value, problem);
            return Err(InstanceError::Invalid { file: path.to_owned(), violation });
        }
        column.push(double);
    }
    Ok(Arc::new(Float64Array::from(column)))
}

/// Writes batches of named columns, all with the columns of the first.
fn write<'a>(
    format: Columnar,
    path: &str,
    out: &mut (impl Write + Send),
    batches: impl IntoIterator<Item = Result<Vec<(&'a str, ArrayRef)>, InstanceError>>,
) -> Result<(), InstanceError> {
    let failed = |source| InstanceError::Io { file: path.to_owned(), source };
    let mut batches = batches.into_iter().map(|columns| {
        let optional = |name: &str| FIXED[2..].contains(&name) || GROUP_COLUMNS[1..].contains(&name);
        let columns = columns?.into_iter().map(|(name, column)| (name, column, optional(name)));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| failed(io::Error::other(error)))
    });
    let Some(first) = batches.next().transpose()? else { return Ok(()) };
    let mut writer = BatchWriter::new(out, format, &first.schema()).map_err(failed)?;
    for batch in std::iter::once(Ok(first)).chain(batches) {
        writer.write(&batch?).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}
