//! Groups as a third table: `id`, and optionally `weight` and `parent`. An empty cell is the default: weight 1, no parent.

use crate::{Decimal, Instance, InstanceError, NewGroup, Violation};
use std::io::Write;

#[cfg(feature = "parquet")]
use super::columnar::Columnar;
use super::csv::push_field;
use super::headers::bad_header;
use super::optional_columns::GROUP_COLUMNS;
use super::rows::{Rows, for_each_row};
use super::table_writer::{end_line, lines, parent_of, push_number, refuse_parquet};

/// The groups of a table, and where each stands in it.
pub(super) struct GroupTable {
    file: String,
    /// The groups, as they stand there.
    pub(super) groups: Vec<NewGroup>,
    /// `line 3` of each.
    places: Vec<String>,
}

impl GroupTable {
    /// Reads the table; whether ids are known and different is the builder's to say.
    pub(super) fn read(rows: &mut dyn Rows) -> Result<Self, InstanceError> {
        let table = &rows.table().clone();
        let column = |name: &str| table.header.iter().position(|column| column == name);
        if let Some(unknown) = table.header.iter().find(|name| !GROUP_COLUMNS.contains(&name.as_str())) {
            return Err(bad_header(table, unknown, "unknown column; a group has id, weight and parent"));
        }
        let [Some(id), weight, parent] = GROUP_COLUMNS.map(column) else {
            return Err(bad_header(table, "id", "is missing; the table needs id"));
        };
        let numeric: Vec<bool> = (0..table.header.len()).map(|column| Some(column) == weight).collect();
        let mut read = Self { file: table.file.clone(), groups: Vec::new(), places: Vec::new() };
        for_each_row(rows, &numeric, |row| {
            let group = || {
                let weight = match weight {
                    Some(column) => table.number(row, column).map_err(Violation::above_zero)?,
                    None => None,
                };
                let parent = match parent {
                    Some(column) => table.text(row, column)?,
                    None => "",
                };
                Ok(NewGroup {
                    id: table.text(row, id)?.to_owned(),
                    weight: weight.unwrap_or(Decimal::ONE),
                    parent: (!parent.is_empty()).then(|| parent.to_owned()),
                })
            };
            read.groups.push(group().map_err(|violation| read.invalid(violation))?);
            read.places.push(table.place(row));
            Ok(())
        })?;
        Ok(read)
    }

    /// A violation of the builder (`groups[2].parent`) at its row and column here.
    pub(super) fn locate(&self, violation: Violation) -> InstanceError {
        let rest = violation.place.strip_prefix("groups[").and_then(|rest| rest.split_once("]."));
        let place = rest.and_then(|(position, field)| {
            let place = self.places.get(position.parse::<usize>().ok()?)?;
            Some(format!("{place}, column {field}"))
        });
        self.invalid(Violation { place: place.unwrap_or(violation.place), ..violation })
    }

    fn invalid(&self, violation: Violation) -> InstanceError {
        InstanceError::Invalid { file: self.file.clone(), violation }
    }
}

/// Writes the table of groups, as [`write_servers`](super::write_servers) does that of the servers.
pub fn write_groups(
    instance: &Instance,
    path: &str,
    out: &mut (impl Write + Send),
) -> Result<(), InstanceError> {
    #[cfg(feature = "parquet")]
    if let Some(format) = Columnar::of(path) {
        return super::parquet::write_groups(instance, format, path, out);
    }
    refuse_parquet(path)?;
    lines(path, out, |out| {
        let mut line = GROUP_COLUMNS.join(",").into_bytes();
        end_line(&mut line, out)?;
        for group in instance.groups() {
            push_field(&mut line, &group.id);
            push_number(&mut line, group.weight);
            line.push(b',');
            push_field(&mut line, parent_of(instance, group.parent));
            end_line(&mut line, out)?;
        }
        out.write_all(&line)
    })
}
