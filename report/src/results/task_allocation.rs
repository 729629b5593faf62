//! Tasks over servers, divided quantum by quantum, for people.

use super::allocation::counts;
use super::sentences::{demands, least_served};
use crate::offline::TaskQuantum;
use crate::page::{Block, Section, sizes, time};
use crate::summary::grid::listed;
use crate::task_allocation::TaskAllocationDocument;
use crate::units::{number, percent};
use fairplan_instances::table::Tabular;
use fairplan_instances::{DemandSeries, Label, Metrics};
use std::fmt::Write;

/// An allocation of tasks.
pub(super) fn answer(document: &TaskAllocationDocument) -> String {
    let least = least_served(document.users.iter().map(|user| (&*user.id, user.welfare)));
    format!(
        "{} uses {} of the resource that is used most{least}.",
        document.mechanism,
        percent(document.metrics.utilization)
    )
}

/// The summary of an allocation of tasks.
pub fn summary(series: &DemandSeries, document: &TaskAllocationDocument) -> String {
    let mut text = demands(series);
    let used = percent(document.metrics.utilization);
    let (name, gap) = (&document.mechanism, document.widest_gap);
    let _ =
        writeln!(text, "Divided by {name}: {used} of the resource used most; every quantum within {gap:.1e}");
    welfare(&mut text, &document.metrics);
    text += &listed(&document.table().without(&["allocated"]), "users");
    text
}

pub(super) fn welfare(text: &mut String, metrics: &Metrics) {
    let (least, mean) = (percent(metrics.welfare_min), percent(metrics.welfare_mean));
    let _ = writeln!(text, "Smallest and mean welfare: {least}, {mean}\n");
}

/// An allocation over an instance as a section.
pub(crate) fn section(document: TaskAllocationDocument) -> Section {
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let metrics = &document.metrics;
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    let mut section = Section::new(format!("Servers divided quantum by quantum by {}", document.mechanism))
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact("Used of the resource used most", percent(metrics.utilization))
        .fact("Smallest over largest welfare", number(metrics.fairness))
        .fact("Smallest welfare", percent(metrics.welfare_min))
        .fact("Tasks that change hands a quantum", number(metrics.handoffs_per_quantum))
        .block(sizes("Dominant shares by user, summed over the quanta", shares, number));
    if let Some(quanta) = &document.quanta {
        section = section.block(tasks_over_time(&ids, quanta));
        if let Some(credits) = &document.credits {
            let of = |user: usize, quantum: usize| credits[quantum].get(user).copied().unwrap_or(0.0);
            let lines = time::apart(&ids, credits.len(), &of);
            section = section.block(Block::Curves(time::over(
                "Credits over time",
                labels(quanta),
                "credits",
                lines,
            )));
        }
    }
    section.grid("Users", &document.table())
}

fn labels(quanta: &[TaskQuantum]) -> impl Iterator<Item = &Label> {
    quanta.iter().map(|one| &one.quantum)
}

/// Tasks that run in each quantum.
pub(super) fn tasks_over_time(ids: &[&str], quanta: &[TaskQuantum]) -> Block {
    let of = |user: usize, quantum: usize| -> f64 {
        quanta[quantum].tasks.get(user).map_or(0.0, |classes| classes.iter().sum())
    };
    let lines = time::together(ids, quanta.len(), &of);
    Block::Curves(time::over("Tasks over time", labels(quanta), "tasks", lines))
}
