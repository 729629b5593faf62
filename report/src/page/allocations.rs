//! What demands over time come to: who got how much, and how far a mechanism is from the optimum that knows the future.

use super::{Block, Cell, Grid, Section, sizes, words};
use crate::allocation::AllocationDocument;
use crate::figure::Bars;
use crate::offline::{Against, OfflineDocument};
use crate::summary::{number, percent, proof, thousands};

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
            Cell::maybe(user.welfare, Cell::number),
            Cell::maybe(user.credits, Cell::number),
        ]
    });
    Section::new(format!("Divided quantum by quantum by {}", document.mechanism))
        .fact(
            "Users, quanta",
            format!("{}, {}", thousands(document.demands.users), thousands(document.demands.quanta)),
        )
        .fact("Used", percent(metrics.utilization))
        .fact("Smallest over largest welfare", number(metrics.fairness))
        .fact("Smallest welfare", number(metrics.welfare_min))
        .fact("Slices that change hands a quantum", number(metrics.handoffs_per_quantum))
        .block(sizes("Welfare by user", "welfare", welfare, number))
        .block(Block::Grid(Grid::new("Users", header, rows)))
}

/// An offline optimum as a section.
pub(super) fn offline(document: OfflineDocument<'_>) -> Section {
    let proof = proof(document.status == "optimal", document.certificate.relative_gap);
    let mut section = Section::new("The optimum that knows all demands")
        .fact(
            "Users, quanta",
            format!("{}, {}", thousands(document.demands.users), thousands(document.demands.quanta)),
        )
        .fact(&format!("Smallest {}", document.measure), number(document.value))
        .fact("Proof", proof)
        .fact("Used", percent(document.metrics.utilization));
    if !document.against.is_empty() {
        let bars = Bars {
            caption: format!("Smallest {} that each mechanism reaches", document.measure),
            series: Vec::new(),
            groups: document.against.iter().map(|one| (one.mechanism.to_string(), vec![one.value])).collect(),
            mark: Some((document.value, "the optimum that knows all demands".into())),
            format: number,
        };
        let row = |one: &Against<'_>| {
            vec![
                Cell::text(&*one.mechanism),
                Cell::number(one.value),
                Cell::percent(one.regret),
                Cell::number(one.regret_per_quantum),
            ]
        };
        let header = words(["mechanism", "smallest", "regret", "regret per quantum"]);
        let grid = Grid::new("Mechanisms", header, document.against.iter().map(row));
        section = section.block(Block::Bars(bars)).block(Block::Grid(grid));
    }
    let header = words(["user", "demand", "allocated", "useful", "welfare", "level"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::count(user.demand),
            Cell::number(user.allocated),
            Cell::number(user.useful),
            Cell::maybe(user.welfare, Cell::number),
            Cell::maybe(user.level.map(|level| f64::from(level) + 1.0), Cell::number),
        ]
    });
    let allocated = document.users.iter().map(|user| (user.id.to_string(), user.allocated)).collect();
    section
        .block(sizes("Slices by user", "slices", allocated, number))
        .block(Block::Grid(Grid::new("Users", header, rows)))
}
