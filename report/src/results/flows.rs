//! Service rates of stochastic demand, for people.

use super::sentences::{label, name};
use crate::figure::{Curve, Figure, Mark, Panel};
use crate::flows::{Flows, FlowsClass, FlowsResult};
use crate::names::beginning;
use crate::page::{Block, Section};
use crate::summary::grid::{listed_up_to, paragraph};
use crate::units::{counted, number, thousands};
use fairplan_instances::Traffic;
use fairplan_instances::table::{Kind, Table, Tabular};
use std::fmt::Write;

/// Rows of a summary are cut after this many.
const ROWS: usize = 60;

/// Stochastic demand.
pub(super) fn answer(document: &Flows) -> String {
    let heaviest = document.results.iter().map(|result| result.load).fold(f64::NEG_INFINITY, f64::max);
    let classes = document.results.iter().filter(|result| result.load == heaviest).flat_map(|result| {
        result.classes.iter().map(move |class| (&*result.objective, &*class.id, class.service_rate))
    });
    match classes.min_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((objective, class, rate)) => format!(
            "At the heaviest load, {}, the slowest is class {} under {objective}: its service rate is {}.",
            number(heaviest),
            name(class),
            number(rate)
        ),
        None => "All loads are too much: what waits grows without end.".into(),
    }
}

/// One line on stochastic demand: its classes and its load.
pub fn traffic(traffic: &Traffic) -> String {
    let (r, load) = traffic.heaviest();
    let resource = label(&traffic.resources()[r]);
    let classes = counted(traffic.classes().len() as u64, "class", "classes");
    format!("{classes} of transactions; load of {resource}: {}\n", number(load))
}

/// The summary of service rates.
pub fn summary(document: &Flows) -> String {
    let name = &document.traffic.name;
    let name = beginning(if name.is_empty() { "Unnamed traffic" } else { name }, 60);
    let rates = match &*document.level {
        "markov" => "service rates from Markov chains".to_owned(),
        level => {
            format!("service rates simulated {level} by {level}, half of their 95% interval behind them")
        }
    };
    let mut text = paragraph(&format!("{name}: {rates}"));
    if let Some(chain) =
        document.results.iter().filter_map(|result| result.chain.as_ref()).max_by_key(|c| c.states)
    {
        let errors = document.results.iter().flat_map(|result| &result.classes);
        let largest = errors.map(|class| class.service_rate_error / class.service_rate).fold(0.0, f64::max);
        let states = thousands(chain.states);
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
    let mut loads: Vec<f64> = document.results.iter().map(|result| result.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let ids: Vec<&str> =
        document.results.iter().take(1).flat_map(|r| &r.classes).map(|class| &*class.id).collect();
    let found = |load: f64, k: usize, (objective, demands): &(&str, &str)| {
        let is = |result: &&FlowsResult| {
            result.load == load && result.objective == *objective && result.demands == *demands
        };
        document.results.iter().find(is).map(|result| &result.classes[k])
    };
    let shown = |class: &FlowsClass| match &*document.level {
        "markov" => number(class.service_rate),
        _ => format!("{} ± {}", rounded(class.service_rate), rounded(class.service_rate_error)),
    };
    let rows: Vec<(f64, usize, &str)> =
        loads.iter().flat_map(|load| ids.iter().enumerate().map(move |(k, id)| (*load, k, *id))).collect();
    let mut columns = Table::over(rows.len(), |row| rows[row])
        .column("load", "load", Kind::Number, |row| row.0)
        .column("class", "class", Kind::Id, |row| row.2);
    for (position, (objective, demands)) in kinds.iter().enumerate() {
        let title = if claimed { format!("{objective}, {demands}") } else { (*objective).to_owned() };
        let rate = |kind: &(&str, &str), row: (f64, usize, &str)| found(row.0, row.1, kind);
        let kind = kinds[position];
        columns = columns
            .column(title.clone(), title, Kind::Number, move |row| {
                rate(&kind, row).map(|class| class.service_rate)
            })
            .said(move |row| Some(rate(&kind, row).map_or("unstable".into(), shown)));
    }
    let table = columns.done();
    text += &listed_up_to(&table, ROWS, "rows");
    text
}

/// Four places, for what is known to two or three.
fn rounded(value: f64) -> String {
    format!("{value:.4}")
}

/// Flows as a section.
pub(crate) fn section(document: Flows) -> Section {
    let mut panels: Vec<Panel> = Vec::new();
    for result in &document.results {
        let title = format!("{}, {}", result.objective, result.demands);
        let position = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
            panels.push(Panel { title, curves: Vec::new() });
            panels.len() - 1
        });
        let curves = &mut panels[position].curves;
        for class in &result.classes {
            let position = curves.iter().position(|curve| curve.subject == class.id).unwrap_or_else(|| {
                let subject = class.id.to_string();
                curves.push(Curve { kind: "class".into(), subject, mark: Mark::Line, points: Vec::new() });
                curves.len() - 1
            });
            curves[position].points.push([result.load, class.service_rate]);
        }
    }
    panels.iter_mut().flat_map(|panel| &mut panel.curves).for_each(|curve| {
        curve.points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        if curve.points.len() == 1 {
            curve.mark = Mark::Crosses;
        }
    });
    let figure = Figure {
        exhibit: "".into(),
        title: "Service rates".into(),
        horizontal: "load".into(),
        names: Vec::new(),
        vertical: "service rate".into(),
        panels,
    };
    let section =
        Section::new("Stochastic demand").answer(answer(&document)).fact("Level", document.level.clone());
    let section = if document.results.is_empty() { section } else { section.block(Block::Curves(figure)) };
    section.grid("Classes", &document.table().without(&["arrival_rate", "in_progress"]))
}
