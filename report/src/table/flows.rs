//! The table of service rates: one row a class of a result.

use super::parquet::{self, numbers, words};
use super::{TableFormat, csv};
use crate::flows::{FlowsClass, FlowsDocument, FlowsResult};
use crate::output::Sink;
use std::io;

const NUMBERS: [&str; 5] =
    ["arrival_rate", "service_rate", "service_rate_error", "completion_time", "in_progress"];

/// Writes the classes of all results.
pub fn write_flows(out: &mut Sink, format: TableFormat, document: &FlowsDocument<'_>) -> io::Result<()> {
    let rows: Vec<(&FlowsResult<'_>, &FlowsClass<'_>)> = document
        .results
        .iter()
        .flat_map(|result| result.classes.iter().map(move |class| (result, class)))
        .collect();
    for number in rows.iter().flat_map(|(_, class)| values(class)) {
        super::finite(number)?;
    }
    match format {
        TableFormat::Csv => {
            let header = ["objective", "demands", "load", "class"].into_iter().chain(NUMBERS);
            csv::write_records(out, header, rows.iter().map(|(result, class)| cells(result, class)))
        }
        TableFormat::Parquet => {
            let mut columns = vec![
                ("objective", words(rows.iter().map(|(result, _)| &*result.objective))),
                ("demands", words(rows.iter().map(|(result, _)| &*result.demands))),
                ("load", numbers(rows.iter().map(|(result, _)| result.load))),
                ("class", words(rows.iter().map(|(_, class)| &*class.id))),
            ];
            for (position, name) in NUMBERS.into_iter().enumerate() {
                columns.push((name, numbers(rows.iter().map(|(_, class)| values(class)[position]))));
            }
            parquet::write(out, std::iter::once(Ok(columns)))
        }
    }
}

fn values(class: &FlowsClass<'_>) -> [f64; 5] {
    [
        class.arrival_rate,
        class.service_rate,
        class.service_rate_error,
        class.completion_time,
        class.in_progress,
    ]
}

fn cells(result: &FlowsResult<'_>, class: &FlowsClass<'_>) -> Vec<String> {
    // A number in the shortest form that reads back as the same double, as in JSON.
    let number = |number: f64| serde_json::to_string(&number).unwrap_or_default();
    let mut row = vec![
        result.objective.to_string(),
        result.demands.to_string(),
        number(result.load),
        csv::text_cell(class.id.clone()).into_owned(),
    ];
    row.extend(values(class).map(number));
    row
}
