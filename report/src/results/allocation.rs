//! Slices divided quantum by quantum, for people.

use super::sentences::{demands, least_served};
use crate::allocation::AllocationDocument;
use crate::page::{Block, Section, sizes, time};
use crate::summary::grid::listed;
use crate::units::{counted, number, percent, thousands};
use fairplan_instances::DemandSeries;
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// An allocation of slices.
pub(super) fn answer(document: &AllocationDocument) -> String {
    let metrics = &document.metrics;
    let useful: u64 = document.users.iter().map(|user| user.useful).fold(0, u64::saturating_add);
    let least = least_served(document.users.iter().map(|user| (&*user.id, user.welfare)));
    format!(
        "{} hands out {} that are of use, {} of all there are{least}.",
        document.mechanism,
        counted(useful, "slice", "slices"),
        percent(metrics.utilization)
    )
}

/// The summary of an allocation.
pub fn summary(series: &DemandSeries, document: &AllocationDocument) -> String {
    let mut text = demands(series);
    let metrics = &document.metrics;
    let useful = document.users.iter().fold(0u64, |sum, user| sum.saturating_add(user.useful));
    let _ = writeln!(
        text,
        "Divided by {}: {} useful slices, {} of all there were",
        document.mechanism,
        thousands(useful),
        percent(metrics.utilization)
    );
    let figures = [
        ("Smallest over largest welfare", Some(number(metrics.fairness))),
        ("within a quantum, on the mean", Some(number(metrics.short_term_fairness))),
        (
            "Smallest and mean welfare",
            Some(format!("{}, {}", percent(metrics.welfare_min), percent(metrics.welfare_mean))),
        ),
        ("Smallest over largest allocation", Some(number(metrics.allocation_min_over_max))),
        ("Slices that change hands a quantum", Some(number(metrics.handoffs_per_quantum))),
        ("Welfare that honesty gains", metrics.incentive.map(number)),
        (
            "Throughput of a cache, mean and median over smallest",
            document.cache.map(|cache| {
                format!("{}, {}", number(cache.throughput_mean), number(cache.throughput_disparity))
            }),
        ),
    ];
    for (what, value) in figures {
        if let Some(value) = value {
            let _ = writeln!(text, "{what}: {value}");
        }
    }
    text.push('\n');
    text += &listed(&document.table().without(&["throughput"]).without_empty(), "users");
    text
}

/// An allocation as a section.
pub(crate) fn section(document: AllocationDocument) -> Section {
    let metrics = &document.metrics;
    let welfare =
        document.users.iter().filter_map(|user| Some((user.id.to_string(), user.welfare?))).collect();
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let mut section = Section::new(format!("Divided quantum by quantum by {}", document.mechanism))
        .answer(answer(&document))
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact("Used", percent(metrics.utilization))
        .fact("Smallest over largest welfare", number(metrics.fairness))
        .fact("Smallest welfare", percent(metrics.welfare_min))
        .fact("Slices that change hands a quantum", number(metrics.handoffs_per_quantum))
        .block(sizes("Welfare by user", welfare, percent));
    if let Some(quanta) = &document.quanta {
        let labels = || quanta.iter().map(|one| &one.quantum);
        let slices = |user: usize, quantum: usize| -> f64 {
            quanta[quantum].allocated.get(user).map_or(0.0, |slices| *slices as f64)
        };
        let lines = time::together(&ids, quanta.len(), &slices);
        section =
            section.block(Block::Curves(time::over("Slices allocated over time", labels(), "slices", lines)));
        if quanta.iter().any(|quantum| !quantum.credits.is_empty()) {
            let credits = |user: usize, quantum: usize| -> f64 {
                quanta[quantum].credits.get(user).copied().unwrap_or(0.0)
            };
            let lines = time::apart(&ids, quanta.len(), &credits);
            section =
                section.block(Block::Curves(time::over("Credits over time", labels(), "credits", lines)));
        }
    }
    section.grid("Users", &document.table().without(&["throughput"]))
}

/// How many users and quanta there are.
pub(super) fn counts(users: u64, quanta: u64) -> String {
    format!("{}, {}", thousands(users), thousands(quanta))
}
