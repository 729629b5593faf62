//! Tables beside a series, one row a user: what each is due (`user`, `fair_share`), and when each is a member
//! (`user`, `first`, `last`).

use crate::{DemandSeries, InstanceError, MAX_SLICES, QuantumLabel, Violation};
use std::ops::Range;

use crate::files::headers::bad_header;
use crate::files::open::open_table;
use crate::files::rows::{Table, for_each_row};
use crate::files::{decimal, whole_number};

/// Reads each user's fair share in whole slices a quantum. Every user of the series must be there, once.
pub fn read_fair_shares(path: &str, series: &DemandSeries) -> Result<Vec<u64>, InstanceError> {
    let mut shares: Vec<Option<u64>> = vec![None; series.user_count()];
    each_user(path, series, ["fair_share"], |user, [cell], place| {
        let place = || place("fair_share");
        let share = whole_number(decimal(cell.as_bytes(), place)?, place)?;
        if !(1..=MAX_SLICES).contains(&share) {
            let problem = format!("must be at least 1 and at most {MAX_SLICES} slices");
            return Err(Violation::new(place(), share, problem));
        }
        shares[user] = Some(share);
        Ok(())
    })?;
    let missing = shares.iter().position(Option::is_none);
    if let Some(user) = missing {
        let violation = Violation::new("user", series.user_id(user), "has demands but no fair share");
        return Err(InstanceError::Invalid { file: path.to_owned(), violation });
    }
    Ok(shares.into_iter().flatten().collect())
}

/// Reads the first and the last quantum of users who join or leave, and applies them. An empty cell, or no row: from
/// the first quantum on, until the last.
pub fn read_members(path: &str, series: DemandSeries) -> Result<DemandSeries, InstanceError> {
    let quanta = series.quantum_count();
    let mut members: Vec<Range<usize>> = vec![0..quanta; series.user_count()];
    each_user(path, &series, ["first", "last"], |user, [first, last], place| {
        let quantum = |cell: &str, column: &str, otherwise: usize| match cell {
            "" => Ok(otherwise),
            _ => series.quantum_labelled(QuantumLabel::parse(cell)).ok_or_else(|| {
                let problem = format!(
                    "is no quantum of the series, which has {} to {}",
                    series.label(0),
                    series.label(quanta - 1)
                );
                Violation::new(place(column), cell, problem)
            }),
        };
        members[user] = quantum(first, "first", 0)?..quantum(last, "last", quanta - 1)? + 1;
        Ok(())
    })?;
    series
        .with_members(members)
        .map_err(|violation| InstanceError::Invalid { file: path.to_owned(), violation })
}

/// Reads a table with the column `user` and the columns `names`, one row a user: its position in the series, its
/// cells, and the place of a column for messages.
fn each_user<const N: usize>(
    path: &str,
    series: &DemandSeries,
    names: [&str; N],
    mut read: impl FnMut(usize, [&str; N], &dyn Fn(&str) -> String) -> Result<(), Violation>,
) -> Result<(), InstanceError> {
    let mut rows = open_table(path)?;
    let table = &rows.table().clone();
    let columns = columns(table, &[&["user"], &names[..]].concat())?;
    let (user, columns) = (columns[0], &columns[1..]);
    let mut seen = vec![false; series.user_count()];
    for_each_row(rows.as_mut(), &[], |row| {
        let place = |column: &str| table.place_in(row, column);
        let mut read_row = || {
            let id = table.text(row, user)?;
            let unknown = || Violation::new(place("user"), id, "the series has no user with this id");
            let user = series.user_named(id).ok_or_else(unknown)?;
            if std::mem::replace(&mut seen[user], true) {
                return Err(Violation::new(place("user"), id, "has two rows"));
            }
            let mut cells = [""; N];
            for (cell, column) in cells.iter_mut().zip(columns) {
                *cell = table.text(row, *column)?;
            }
            read(user, cells, &place)
        };
        read_row().map_err(|violation| InstanceError::Invalid { file: path.to_owned(), violation })
    })
}

/// Where the columns `names` are, which must be all there are.
fn columns(table: &Table, names: &[&str]) -> Result<Vec<usize>, InstanceError> {
    let header = &table.header;
    let needed = names.join(", ");
    if let Some(unknown) = header.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(bad_header(table, unknown, &format!("unknown column; the table has {needed}")));
    }
    let find = |name: &&str| {
        let mut found = header.iter().enumerate().filter(|(_, column)| column == name);
        match (found.next(), found.next()) {
            (Some((column, _)), None) => Ok(column),
            (None, _) => Err(bad_header(table, name, &format!("is missing; the table needs {needed}"))),
            _ => Err(bad_header(table, name, "duplicate column")),
        }
    };
    names.iter().map(find).collect()
}
