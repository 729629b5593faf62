//! Results as tables: one row a user or a policy, one column a field, safe to open in a spreadsheet.

use crate::comparison::ComparisonDocument;
use crate::placement::PlacementDocument;
use crate::solution::{LimitName, UserResults};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// A text cell. Spreadsheets run cells that start with `= + - @`, tab or carriage return: those get a `'`.
pub fn text_cell(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text.into() }
}

#[derive(Serialize)]
struct SolutionRow<'a> {
    id: &'a str,
    dominant_resource: &'a str,
    dominant_share: f64,
    tasks: f64,
    limited_by: LimitName,
    level: u32,
}

/// Writes the users of a solution as CSV.
pub fn write_solution_csv<W: Write>(out: W, users: &UserResults<'_>) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    for user in users.iter() {
        table.serialize(SolutionRow {
            id: &text_cell(&user.id),
            dominant_resource: &text_cell(&user.dominant_resource),
            dominant_share: finite(user.dominant_share)?,
            tasks: finite(user.tasks)?,
            limited_by: user.limited_by,
            level: user.level,
        })?;
    }
    table.flush()
}

#[derive(Serialize)]
struct PlacementRow<'a> {
    id: &'a str,
    dominant_resource: &'a str,
    dominant_share: f64,
    tasks: u64,
}

/// Writes the users of a placement as CSV.
pub fn write_placement_csv<W: Write, S>(out: W, document: &PlacementDocument<'_, S>) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    for user in &document.users {
        table.serialize(PlacementRow {
            id: &text_cell(&user.id),
            dominant_resource: &text_cell(&user.dominant_resource),
            dominant_share: finite(user.dominant_share)?,
            tasks: user.tasks,
        })?;
    }
    table.flush()
}

/// Writes the policies of a comparison as CSV; the utilization of each resource is a column of its own.
pub fn write_comparison_csv<W: Write>(out: W, document: &ComparisonDocument<'_>) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let resources = document.policies.first().map_or(&[][..], |policy| &policy.utilization.0);
    let mut header: Vec<Cow<'_, str>> =
        ["name", "value", "tasks", "gap_to_divisible", "gap_to_integral", "seconds"].map(Cow::from).into();
    header.extend(resources.iter().map(|(name, _)| format!("utilization_{name}").into()));
    table.write_record(header.iter().map(|name| name.as_bytes()))?;
    for policy in &document.policies {
        let optional = |number: Option<f64>| number.map_or(Ok(String::new()), number_cell);
        let mut row = vec![
            text_cell(&policy.name).into_owned(),
            number_cell(policy.value)?,
            policy.tasks.to_string(),
            number_cell(policy.gap_to_divisible)?,
            optional(policy.gap_to_integral)?,
            optional(policy.seconds)?,
        ];
        for (_, part) in &policy.utilization.0 {
            row.push(number_cell(*part)?);
        }
        table.write_record(&row)?;
    }
    table.flush()
}

fn finite(number: f64) -> io::Result<f64> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number of the result is not finite"))
    }
}

/// A number in the shortest form that reads back as the same double, as in JSON.
fn number_cell(number: f64) -> io::Result<String> {
    Ok(serde_json::to_string(&finite(number)?)?)
}
