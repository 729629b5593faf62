//! Demands over time from files: a long or wide table (CSV, gzipped or not, Parquet) or `fairplan.demands.v1`; and
//! the tables that say who is due what, and when.

mod form;
mod json;
mod rounding;
mod tables;
mod users;
mod write;

pub use json::DemandsFile;
pub use rounding::Rounding;
pub use users::{read_fair_shares, read_members};
pub use write::{demands_sha256_hex, write_demands};

use crate::{DemandSeries, InstanceError};
use rounding::MILLION;
use std::io::BufRead;
use std::path::Path;

use super::open::table_in;
use super::rows::Rows;
use super::sorted_rows::SortedRows;
use super::source;

/// What tables call the column of quanta.
pub const QUANTUM: &str = "quantum";

/// Reads a series from a table or from JSON, told apart by their first byte; `-` is standard input.
///
/// A long table has the columns `quantum`, `user` and `demand`; a wide one has `quantum` and one column a user. An
/// empty cell, a missing row, a quantum left out between whole-numbered ones: no demand.
pub fn read_demands(path: &str, rounding: Rounding) -> Result<DemandSeries, InstanceError> {
    Ok(read(path, rounding, None)?.0)
}

/// The same of a series of which only the proportions matter, so that its numbers need not be whole: where some are not, all count in
/// millionths. Tables may call their column of
/// quanta otherwise, and have their rows in any order.
pub fn read_proportions(path: &str, quantum_column: &str) -> Result<DemandSeries, InstanceError> {
    // Standard input can be read once only.
    if path != "-"
        && let Ok((whole, _)) = read(path, Rounding::Refused, Some(quantum_column))
    {
        return Ok(whole);
    }
    Ok(read(path, Rounding::Proportions, Some(quantum_column))?.0.in_units_of(MILLION))
}

/// The same, and the file of the instance that a document of demands in tasks names, if it does: as seen from here.
pub fn read_demands_and_instance(
    path: &str,
    rounding: Rounding,
) -> Result<(DemandSeries, Option<String>), InstanceError> {
    read(path, rounding, None)
}

/// The same of JSON that is in memory already, called `name` in messages.
pub fn read_demands_in_memory(
    name: &str,
    json: Vec<u8>,
    rounding: Rounding,
) -> Result<(DemandSeries, Option<String>), InstanceError> {
    json::read(source::in_memory(name, json)?, rounding)
}

/// The same of a table that is open.
pub fn read_demands_opened(rows: &mut dyn Rows, rounding: Rounding) -> Result<DemandSeries, InstanceError> {
    tables::read(rows, rounding, QUANTUM)
}

fn read(
    path: &str,
    rounding: Rounding,
    sorted_by: Option<&str>,
) -> Result<(DemandSeries, Option<String>), InstanceError> {
    let mut source = source::open(path)?;
    let start =
        source.fill_buf().map_err(|error| InstanceError::Io { file: path.to_owned(), source: error })?;
    if start.trim_ascii_start().starts_with(b"{") {
        let (series, instance) = json::read(source, rounding)?;
        let beside = |name: String| match Path::new(path).parent() {
            Some(folder) => folder.join(name).to_string_lossy().into_owned(),
            None => name,
        };
        Ok((series, instance.map(beside)))
    } else {
        let mut rows = table_in(source, path)?;
        let series = match sorted_by {
            Some(column) => {
                tables::read(&mut SortedRows::by_quantum(rows.as_mut(), column)?, rounding, column)?
            }
            None => tables::read(rows.as_mut(), rounding, QUANTUM)?,
        };
        Ok((series, None))
    }
}

#[cfg(test)]
mod tests;
