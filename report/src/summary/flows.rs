//! The summary of stochastic demand: a line for each class and load, the objectives side by side.

use super::grid::{Column, grid};
use super::{label, number, shortened};
use crate::flows::{FlowsClass, FlowsDocument, FlowsResult};
use fairplan_instances::Traffic;
use std::fmt::Write;

/// Rows are cut after this many.
const ROWS: usize = 60;

/// One line on stochastic demand: its classes and its load.
pub fn traffic(traffic: &Traffic) -> String {
    let (r, load) = traffic.heaviest();
    let resource = label(&traffic.resources()[r]);
    format!("{} classes of transactions; load of {resource}: {}\n", traffic.classes().len(), number(load))
}

/// The summary of service rates.
pub fn flows(document: &FlowsDocument<'_>) -> String {
    let name = &document.traffic.name;
    let mut text = shortened(if name.is_empty() { "Unnamed traffic" } else { name }, 60);
    let _ = match &*document.level {
        "markov" => writeln!(text, ": service rates from Markov chains"),
        level => writeln!(
            text,
            ": service rates simulated {level} by {level}, half of their 95% interval behind them"
        ),
    };
    if let Some(chain) =
        document.results.iter().filter_map(|result| result.chain.as_ref()).max_by_key(|c| c.states)
    {
        let errors = document.results.iter().flat_map(|result| &result.classes);
        let largest = errors.map(|class| class.service_rate_error / class.service_rate).fold(0.0, f64::max);
        let states = super::thousands(chain.states);
        let _ = writeln!(text, "Up to {states} states; every rate good to about {largest:.0e} of itself");
    }
    text.push('\n');
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for result in &document.results {
        if !kinds.contains(&(&result.objective, &result.demands)) {
            kinds.push((&result.objective, &result.demands));
        }
    }
    // A load at which all that is claimed is too much has no result; other loads may not have any either.
    for unstable in &document.unstable {
        for result in document.results.iter().filter(|result| result.load == unstable.load) {
            let kind = (&*result.objective, &*unstable.demands);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let claimed = kinds.iter().any(|(_, demands)| *demands != "truthful");
    let mut columns = vec![Column::number("load"), Column::id("class")];
    columns.extend(kinds.iter().map(|(objective, demands)| {
        Column::number(if claimed { format!("{objective}, {demands}") } else { (*objective).to_owned() })
    }));
    let mut loads: Vec<f64> = document.results.iter().map(|result| result.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let ids: Vec<&str> =
        document.results.iter().take(1).flat_map(|r| &r.classes).map(|class| &*class.id).collect();
    let found = |load: f64, k: usize, (objective, demands): &(&str, &str)| {
        let is = |result: &&FlowsResult<'_>| {
            result.load == load && result.objective == *objective && result.demands == *demands
        };
        document.results.iter().find(is).map(|result| &result.classes[k])
    };
    let shown = |class: &FlowsClass<'_>| match &*document.level {
        "markov" => number(class.service_rate),
        _ => format!("{} ± {}", rounded(class.service_rate), rounded(class.service_rate_error)),
    };
    let rows = loads.iter().flat_map(|load| ids.iter().enumerate().map(move |(k, id)| (*load, k, *id)));
    let cells = rows.clone().take(ROWS).map(|(load, k, id)| {
        let rates = kinds.iter().map(|kind| found(load, k, kind).map_or("unstable".into(), shown));
        [number(load), (*id).to_owned()].into_iter().chain(rates).collect()
    });
    text += &grid(&columns, cells);
    let all = loads.len() * ids.len();
    if all > ROWS {
        let _ = writeln!(text, "… and {} more rows", all - ROWS);
    }
    text
}

/// Four places, for what is known to two or three.
fn rounded(value: f64) -> String {
    format!("{value:.4}")
}
