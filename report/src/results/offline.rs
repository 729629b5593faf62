//! The optimum that knows all demands, for people.

use super::allocation::counts;
use super::sentences::{demands, measured, name, proof};
use crate::figure::Bars;
use crate::offline::{OfflineDocument, held_against};
use crate::page::{Block, Grid, Section, sizes, time};
use crate::summary::grid::{grid, listed};
use crate::tolerance::SAME;
use crate::units::{number, percent, thousands};
use fairplan_instances::table::Tabular;
use fairplan_instances::{Against, DemandSeries};
use std::fmt::Write;

/// The optimum over all quanta, of slices.
pub(super) fn answer(document: &OfflineDocument) -> String {
    let value = measured(&document.measure, document.value);
    let who = "Knowing all demands beforehand, the least served user can have";
    let of = if document.measure == "welfare" {
        " of what it asks for".into()
    } else {
        format!(" ({})", document.measure)
    };
    format!("{who} {value}{of}.{}", nearest(&document.against))
}

/// Who comes nearest to an optimum.
pub(super) fn nearest(against: &[Against]) -> String {
    let best = against.iter().min_by(|a, b| a.regret.total_cmp(&b.regret));
    best.map_or_else(String::new, |best| {
        let lost = if best.regret.abs() < SAME {
            "no less".into()
        } else {
            format!("{} less", percent(best.regret))
        };
        format!(" {} comes nearest without knowing what is to come, with {lost}.", name(&best.mechanism))
    })
}

/// The summary of an offline optimum.
pub fn summary(series: &DemandSeries, document: &OfflineDocument) -> String {
    let mut text = demands(series);
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let value = measured(&document.measure, document.value);
    let _ = writeln!(text, "Smallest {}: {value} ({proof})", document.measure);
    let metrics = &document.metrics;
    let levels = document.levels.len();
    let _ = writeln!(text, "Levels: {}; used: {}\n", thousands(levels as u64), percent(metrics.utilization));
    regrets(&mut text, &document.measure, &document.against, document.online_bound.as_ref());
    text += &listed(&document.table(), "users");
    text
}

/// What mechanisms lose against an optimum.
pub(super) fn regrets(text: &mut String, measure: &str, against: &[Against], bound: Option<&Against>) {
    if against.is_empty() {
        return;
    }
    // What no mechanism without foresight can do better than comes last, under a name that is none.
    let named = |one: &Against| Against { mechanism: "(best without foresight)".into(), ..one.clone() };
    let all: Vec<Against> = against.iter().cloned().chain(bound.map(named)).collect();
    *text += &grid(&held_against(measure, &all).without(&["regret_per_quantum"]));
    text.push('\n');
}

/// An offline optimum as a section.
pub(crate) fn section(document: OfflineDocument) -> Section {
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let mut section = Section::new("The optimum that knows all demands")
        .answer(answer(&document))
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact(&format!("Smallest {}", document.measure), measured(&document.measure, document.value))
        .fact("Proof", proof)
        .fact("Used", percent(document.metrics.utilization));
    for block in beside_optimum(&document.measure, document.value, &document.against) {
        section = section.block(block);
    }
    let allocated = document.users.iter().map(|user| (user.id.to_string(), user.allocated)).collect();
    section = section.block(sizes("Slices by user", allocated, number));
    if let Some(quanta) = &document.quanta {
        let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
        let labels = quanta.iter().map(|one| &one.quantum);
        let slices = |user: usize, quantum: usize| -> f64 {
            quanta[quantum].allocated.get(user).copied().unwrap_or(0.0)
        };
        let lines = time::together(&ids, quanta.len(), &slices);
        section =
            section.block(Block::Curves(time::over("Slices allocated over time", labels, "slices", lines)));
    }
    section.grid("Users", &document.table())
}

/// Mechanisms beside the optimum, as a chart and a table; nothing where none was held against it.
pub(super) fn beside_optimum(measure: &str, optimum: f64, against: &[Against]) -> Vec<Block> {
    if against.is_empty() {
        return Vec::new();
    }
    let is_part = measure == "welfare";
    let bars = Bars {
        caption: format!("Smallest {measure} that each mechanism reaches"),
        series: Vec::new(),
        groups: against.iter().map(|one| (one.mechanism.to_string(), vec![one.value])).collect(),
        mark: Some((optimum, "the optimum that knows all demands".into())),
        format: if is_part { percent } else { number },
    };
    let table = Grid::new("Mechanisms", &held_against(measure, against));
    vec![Block::Bars(bars), Block::Grid(table)]
}
