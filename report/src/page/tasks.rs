//! What demands in tasks over the servers of an instance come to, quantum by quantum.

use super::{Block, Cell, Grid, Section, allocations, curves, sizes, time, words};
use crate::answer;
use crate::offline::{TaskOfflineDocument, TaskQuantum};
use crate::summary::proof;
use crate::task_allocation::TaskAllocationDocument;
use crate::units::{number, percent};

/// An allocation over an instance as a section.
pub(super) fn allocation(document: TaskAllocationDocument<'_>) -> Section {
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let metrics = &document.metrics;
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    let header = words(["user", "demand", "allocated", "useful", "welfare", "dominant share", "credits"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::count(user.demand),
            Cell::number(user.allocated),
            Cell::number(user.useful),
            Cell::maybe(user.welfare, Cell::percent),
            Cell::number(user.dominant_share),
            Cell::maybe(user.credits, Cell::number),
        ]
    });
    let mut section = Section::new(format!("Servers divided quantum by quantum by {}", document.mechanism))
        .answer(answer::task_allocation(&document))
        .instance(&document.instance)
        .fact("Users, quanta", allocations::counts(document.demands.users, document.demands.quanta))
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
            section =
                section.block(Block::Curves(curves("Credits over time", &axis(quanta), "credits", lines)));
        }
    }
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}

/// The optimum over an instance as a section.
pub(super) fn offline(document: TaskOfflineDocument<'_>) -> Section {
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let mut section = Section::new("The optimum over the servers that knows all demands")
        .answer(answer::task_offline(&document))
        .instance(&document.instance)
        .fact("Users, quanta", allocations::counts(document.demands.users, document.demands.quanta))
        .fact(
            &format!("Smallest {} over all quanta", document.measure_in_words()),
            answer::measured(&document.measure, document.value),
        )
        .fact("Proof", proof(document.status == "optimal", document.certificate.relative_gap))
        .fact("Used of the resource used most", percent(document.metrics.utilization));
    for block in allocations::held_against(&document.measure, document.value, &document.against) {
        section = section.block(block);
    }
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    section = section.block(sizes("Dominant shares by user, summed over the quanta", shares, number));
    if let Some(quanta) = &document.quanta {
        section = section.block(tasks_over_time(&ids, quanta));
    }
    let header = words(["user", "demand", "allocated", "welfare", "dominant share", "level"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::count(user.demand),
            Cell::number(user.allocated),
            Cell::maybe(user.welfare, Cell::percent),
            Cell::number(user.dominant_share),
            Cell::maybe(user.level.map(|level| f64::from(level) + 1.0), Cell::number),
        ]
    });
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}

fn axis(quanta: &[TaskQuantum<'_>]) -> String {
    time::axis(quanta.first().map(|one| &one.quantum))
}

/// Tasks that run in each quantum.
fn tasks_over_time(ids: &[&str], quanta: &[TaskQuantum<'_>]) -> Block {
    let of = |user: usize, quantum: usize| -> f64 {
        quanta[quantum].tasks.get(user).map_or(0.0, |classes| classes.iter().sum())
    };
    let lines = time::together(ids, quanta.len(), &of);
    Block::Curves(curves("Tasks over time", &axis(quanta), "tasks", lines))
}
