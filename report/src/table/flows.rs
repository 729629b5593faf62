//! The table of service rates: one row a class of a result.

use super::TableFormat;
use super::sheet::{Cells, Sheet};
use crate::flows::{FlowsClass, FlowsDocument, FlowsResult};
use crate::output::Sink;
use std::io;

/// Writes the classes of all results.
pub fn write_flows(out: &mut Sink, format: TableFormat, document: &FlowsDocument<'_>) -> io::Result<()> {
    type Row<'a> = (&'a FlowsResult<'a>, &'a FlowsClass<'a>);
    let results = document.results.iter();
    let rows: Vec<Row<'_>> =
        results.flat_map(|result| result.classes.iter().map(move |class| (result, class))).collect();
    let numbers =
        |of: fn(&FlowsClass<'_>) -> f64| Cells::Numbers(rows.iter().map(|(_, class)| of(class)).collect());
    Sheet(vec![
        ("objective", Cells::Words(rows.iter().map(|(result, _)| &*result.objective).collect())),
        ("demands", Cells::Words(rows.iter().map(|(result, _)| &*result.demands).collect())),
        ("load", Cells::Numbers(rows.iter().map(|(result, _)| result.load).collect())),
        ("class", Cells::Words(rows.iter().map(|(_, class)| &*class.id).collect())),
        ("arrival_rate", numbers(|class| class.arrival_rate)),
        ("service_rate", numbers(|class| class.service_rate)),
        ("service_rate_error", numbers(|class| class.service_rate_error)),
        ("completion_time", numbers(|class| class.completion_time)),
        ("in_progress", numbers(|class| class.in_progress)),
    ])
    .write(out, format)
}
