//! The optimum over servers that knows all demands, for people.

use super::allocation::counts;
use super::offline::{beside_optimum, nearest, regrets};
use super::sentences::{demands, measured, proof};
use super::task_allocation::{tasks_over_time, welfare};
use crate::offline::TaskOfflineDocument;
use crate::page::{Section, sizes};
use crate::summary::grid::listed;
use crate::units::{number, percent, thousands};
use fairplan_instances::DemandSeries;
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// The optimum over all quanta, of tasks.
pub(super) fn answer(document: &TaskOfflineDocument) -> String {
    let value = measured(&document.measure, document.value);
    let of = if document.measure == "welfare" {
        "of what it asks for"
    } else {
        "(dominant share, added up over the quanta)"
    };
    format!(
        "Knowing all demands beforehand, the least served user can have {value} {of}.{}",
        nearest(&document.against)
    )
}

/// The summary of the optimum over all quanta.
pub fn summary(series: &DemandSeries, document: &TaskOfflineDocument) -> String {
    let mut text = demands(series);
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let measure = document.measure_in_words();
    let _ = writeln!(
        text,
        "Smallest {measure} over all quanta: {} ({proof})",
        measured(&document.measure, document.value)
    );
    let levels = thousands(document.levels.len() as u64);
    let used = percent(document.metrics.utilization);
    let _ = writeln!(text, "Levels set by capacity: {levels}; used of the resource used most: {used}");
    welfare(&mut text, &document.metrics);
    regrets(&mut text, &document.measure, &document.against, document.online_bound.as_ref());
    text += &listed(&document.table(), "users");
    text
}

/// The optimum over an instance as a section.
pub(crate) fn section(document: TaskOfflineDocument) -> Section {
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let mut section = Section::new("The optimum over the servers that knows all demands")
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact(
            &format!("Smallest {} over all quanta", document.measure_in_words()),
            measured(&document.measure, document.value),
        )
        .fact("Proof", proof(document.status == "optimal", document.certificate.relative_gap))
        .fact("Used of the resource used most", percent(document.metrics.utilization));
    for block in beside_optimum(&document.measure, document.value, &document.against) {
        section = section.block(block);
    }
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    section = section.block(sizes("Dominant shares by user, summed over the quanta", shares, number));
    if let Some(quanta) = &document.quanta {
        section = section.block(tasks_over_time(&ids, quanta));
    }
    section.grid("Users", &document.table())
}
