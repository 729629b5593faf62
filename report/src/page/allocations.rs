//! What demands over time come to: who got how much, and how far a mechanism is from the optimum that knows the future.

use super::{Block, Cell, Grid, Section, curves, sizes, time, words};
use crate::allocation::AllocationDocument;
use crate::answer;
use crate::figure::Bars;
use crate::offline::{Against, OfflineDocument};
use crate::summary::proof;
use crate::units::{number, percent, thousands};

/// An allocation as a section.
pub(super) fn allocation(document: AllocationDocument<'_>) -> Section {
    let metrics = &document.metrics;
    let welfare =
        document.users.iter().filter_map(|user| Some((user.id.to_string(), user.welfare?))).collect();
    let header = words(["user", "demand", "allocated", "useful", "welfare", "credits"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::count(user.demand),
            Cell::count(user.allocated),
            Cell::count(user.useful),
            Cell::maybe(user.welfare, Cell::percent),
            Cell::maybe(user.credits, Cell::number),
        ]
    });
    let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
    let mut section = Section::new(format!("Divided quantum by quantum by {}", document.mechanism))
        .answer(answer::allocation(&document))
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact("Used", percent(metrics.utilization))
        .fact("Smallest over largest welfare", number(metrics.fairness))
        .fact("Smallest welfare", percent(metrics.welfare_min))
        .fact("Slices that change hands a quantum", number(metrics.handoffs_per_quantum))
        .block(sizes("Welfare by user", welfare, percent));
    if let Some(quanta) = &document.quanta {
        let axis = time::axis(quanta.first().map(|one| &one.quantum));
        let slices = |user: usize, quantum: usize| -> f64 {
            quanta[quantum].allocated.get(user).map_or(0.0, |slices| *slices as f64)
        };
        let lines = time::together(&ids, quanta.len(), &slices);
        section = section.block(Block::Curves(curves("Slices allocated over time", &axis, "slices", lines)));
        if quanta.iter().any(|quantum| !quantum.credits.is_empty()) {
            let credits = |user: usize, quantum: usize| -> f64 {
                quanta[quantum].credits.get(user).copied().unwrap_or(0.0)
            };
            let lines = time::apart(&ids, quanta.len(), &credits);
            section = section.block(Block::Curves(curves("Credits over time", &axis, "credits", lines)));
        }
    }
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}

/// How many users and quanta there are.
pub(super) fn counts(users: u64, quanta: u64) -> String {
    format!("{}, {}", thousands(users), thousands(quanta))
}

/// Mechanisms beside the optimum, as a chart and a table; nothing where none was held against it.
pub(super) fn held_against(measure: &str, optimum: f64, against: &[Against<'_>]) -> Vec<Block> {
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
    let row = |one: &Against<'_>| {
        vec![
            Cell::text(&*one.mechanism),
            if is_part { Cell::percent(one.value) } else { Cell::number(one.value) },
            Cell::percent(one.regret),
            Cell::number(one.regret_per_quantum),
        ]
    };
    let header = words(["mechanism", "smallest", "regret", "regret per quantum"]);
    let grid = Grid::new("Mechanisms", header, against.iter().map(row));
    vec![Block::Bars(bars), Block::Grid(grid)]
}

/// An offline optimum as a section.
pub(super) fn offline(document: OfflineDocument<'_>) -> Section {
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let mut section = Section::new("The optimum that knows all demands")
        .answer(answer::offline(&document))
        .fact("Users, quanta", counts(document.demands.users, document.demands.quanta))
        .fact(&format!("Smallest {}", document.measure), answer::measured(&document.measure, document.value))
        .fact("Proof", proof)
        .fact("Used", percent(document.metrics.utilization));
    for block in held_against(&document.measure, document.value, &document.against) {
        section = section.block(block);
    }
    let header = words(["user", "demand", "allocated", "useful", "welfare", "level"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::count(user.demand),
            Cell::number(user.allocated),
            Cell::number(user.useful),
            Cell::maybe(user.welfare, Cell::percent),
            Cell::maybe(user.level.map(|level| f64::from(level) + 1.0), Cell::number),
        ]
    });
    let allocated = document.users.iter().map(|user| (user.id.to_string(), user.allocated)).collect();
    section = section.block(sizes("Slices by user", allocated, number));
    if let Some(quanta) = &document.quanta {
        let ids: Vec<&str> = document.users.iter().map(|user| &*user.id).collect();
        let axis = time::axis(quanta.first().map(|one| &one.quantum));
        let slices = |user: usize, quantum: usize| -> f64 {
            quanta[quantum].allocated.get(user).copied().unwrap_or(0.0)
        };
        let lines = time::together(&ids, quanta.len(), &slices);
        section = section.block(Block::Curves(curves("Slices allocated over time", &axis, "slices", lines)));
    }
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}
