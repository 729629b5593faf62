//! A series as a table: long (`quantum`, `user`, `demand`, sorted by quantum) or wide (`quantum`, then one column a
//! user).

use crate::{DemandSeries, DemandSeriesBuilder, InstanceError, QuantumLabel, Violation};

use super::rounding::Rounding;
use crate::files::headers::bad_header;
use crate::files::rows::{Row, Rows, Table, for_each_row};
use crate::files::values::{decimal, repeated};
use crate::wording::printable;

pub(super) fn read(
    rows: &mut dyn Rows,
    rounding: Rounding,
    quantum_column: &str,
) -> Result<DemandSeries, InstanceError> {
    let table = &rows.table().clone();
    let header = &table.header;
    let column = |name: &str| header.iter().position(|column| column == name);
    let invalid = |violation| InstanceError::Invalid { file: table.file.clone(), violation };
    if let Some(empty) = column("") {
        return Err(bad_header(table, &(empty + 1).to_string(), "has no name"));
    }
    if let Some(name) = repeated(header.iter().map(String::as_str)) {
        return Err(bad_header(table, name, "duplicate column"));
    }
    let Some(quantum) = column(quantum_column) else {
        let first = header.first().map_or("", String::as_str);
        let problem = format!(
            "is missing; the table needs {quantum_column}, user, demand, or {quantum_column} and one column a user; if {} has the \
             times, call it {quantum_column}, or name it with --quantum where the command has that",
            printable(first, 60)
        );
        return Err(bad_header(table, quantum_column, &problem));
    };
    let mut builder = DemandSeriesBuilder::default();
    match (column("user"), column("demand")) {
        (Some(user), Some(demand)) if header.len() == 3 => {
            let layout = Long { quantum, user, demand };
            let numeric: Vec<bool> = (0..3).map(|column| column == demand).collect();
            for_each_row(rows, &numeric, |row| {
                layout.read(row, table, rounding, &mut builder).map_err(invalid)
            })?;
        }
        _ => {
            let named = (0..header.len()).filter(|column| *column != quantum);
            let users = named.map(|column| Ok((column, builder.user(&header[column])?)));
            let layout = Wide { quantum, users: users.collect::<Result<_, _>>().map_err(invalid)? };
            for_each_row(rows, &[], |row| layout.read(row, table, rounding, &mut builder).map_err(invalid))?;
        }
    }
    builder.build().map_err(invalid)
}

/// Columns of a long table.
struct Long {
    quantum: usize,
    user: usize,
    demand: usize,
}

impl Long {
    fn read(
        &self,
        row: Row<'_>,
        table: &Table,
        rounding: Rounding,
        builder: &mut DemandSeriesBuilder,
    ) -> Result<(), Violation> {
        let at =
            |violation: Violation| Violation { place: table.place_in(row, &violation.place), ..violation };
        let label = QuantumLabel::parse(table.text(row, self.quantum)?);
        if builder.current() != Some(label) {
            builder.quantum(label).map_err(at)?;
        }
        let id = table.text(row, self.user)?;
        let user = match builder.user_named(id) {
            Some(user) => user,
            None => builder.user(id).map_err(at)?,
        };
        let demand = || table.place_in(row, "demand");
        let missing = || Violation::new(demand(), "", "is missing; write 0, or leave the row out");
        let slices = table.number(row, self.demand)?.ok_or_else(missing)?;
        builder.demand(user, rounding.apply(slices, demand)?).map_err(at)
    }
}

/// Columns of a wide table.
struct Wide {
    quantum: usize,
    /// Each user's column and position.
    users: Vec<(usize, usize)>,
}

impl Wide {
    fn read(
        &self,
        row: Row<'_>,
        table: &Table,
        rounding: Rounding,
        builder: &mut DemandSeriesBuilder,
    ) -> Result<(), Violation> {
        let label = QuantumLabel::parse(table.text(row, self.quantum)?);
        let at = |column: &str, violation| Violation { place: table.place_in(row, column), ..violation };
        builder.quantum(label).map_err(|violation| at(&table.header[self.quantum], violation))?;
        for (column, user) in &self.users {
            let cell = row.cell(*column);
            if !matches!(cell, b"" | b"0") {
                let demand = || table.place_in(row, &table.header[*column]);
                let slices = rounding.apply(decimal(cell, demand)?, demand)?;
                builder.demand(*user, slices).map_err(|violation| at(&table.header[*column], violation))?;
            }
        }
        Ok(())
    }
}
