//! The table of policies of a comparison; the utilization of each resource is a column of its own.

use super::parquet::{self, counts, numbers, optional_numbers, words};
use super::{TableFormat, csv, finite};
use crate::comparison::{ComparisonDocument, PolicyResult};
use crate::output::Sink;
use std::io;

/// Writes the policies of a comparison, in the order asked for.
pub fn write_comparison(
    out: &mut Sink,
    format: TableFormat,
    document: &ComparisonDocument<'_>,
) -> io::Result<()> {
    let policies = &document.policies;
    let resources = policies.first().map_or(&[][..], |policy| &policy.utilization.0);
    let names: Vec<String> = resources.iter().map(|(name, _)| format!("utilization_{name}")).collect();
    for policy in policies {
        finite(policy.value)?;
        finite(policy.gap_to_divisible)?;
    }
    match format {
        TableFormat::Csv => {
            let header = [
                "name",
                "value",
                "tasks",
                "gap_to_divisible",
                "gap_to_integral",
                "proved_optimal",
                "seconds",
            ];
            let header = header.into_iter().chain(names.iter().map(String::as_str));
            csv::write_records(out, header, policies.iter().map(cells))
        }
        TableFormat::Parquet => {
            let mut columns = vec![
                ("name", words(policies.iter().map(|policy| &*policy.name))),
                ("value", numbers(policies.iter().map(|policy| policy.value))),
                ("tasks", counts(policies.iter().map(|policy| policy.tasks))),
                ("gap_to_divisible", numbers(policies.iter().map(|policy| policy.gap_to_divisible))),
                ("gap_to_integral", optional_numbers(policies.iter().map(|policy| policy.gap_to_integral))),
                ("proved_optimal", words(policies.iter().map(proved_optimal))),
                ("seconds", optional_numbers(policies.iter().map(|policy| policy.seconds))),
            ];
            for (r, name) in names.iter().enumerate() {
                columns.push((name, numbers(policies.iter().map(|policy| policy.utilization.0[r].1))));
            }
            parquet::write(out, std::iter::once(Ok(columns)))
        }
    }
}

/// `true`, `false`, or nothing where no bound was computed.
fn proved_optimal<'a>(policy: &'a PolicyResult<'_>) -> &'a str {
    match policy.proved_optimal {
        Some(true) => "true",
        Some(false) => "false",
        None => "",
    }
}

fn cells(policy: &PolicyResult<'_>) -> Vec<String> {
    // A number in the shortest form that reads back as the same double, as in JSON.
    let number = |number: f64| serde_json::to_string(&number).unwrap_or_default();
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let mut row = vec![
        csv::text_cell(policy.name.clone()).into_owned(),
        number(policy.value),
        policy.tasks.to_string(),
        number(policy.gap_to_divisible),
        optional(policy.gap_to_integral),
        proved_optimal(policy).into(),
        optional(policy.seconds),
    ];
    row.extend(policy.utilization.0.iter().map(|(_, part)| number(*part)));
    row
}
