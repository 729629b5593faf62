//! What a solution says: who gets what, where it is used, what capacity is worth.

use super::{Block, Cell, Grid, Section, limit, sizes, used, words};
use crate::answer;
use crate::figure::Bars;
use crate::solution::{SolutionDocument, StatusName};
use crate::summary::{proof, value_name, value_of};
use crate::units::{number, percent, share};

/// A solution as a section.
pub(super) fn solution(document: SolutionDocument<'_>) -> Section {
    let proof = proof(document.status == StatusName::Optimal, document.certificate.relative_gap);
    let exponent = document.value_exponent.map_or_else(String::new, |exponent| format!(" × 10^{exponent}"));
    let mut section = Section::new(format!("Fair shares: {}", document.objective.0))
        .answer_in_shares(answer::solution(&document))
        .instance(&document.instance)
        .fact(
            value_name(document.objective.0),
            format!("{}{exponent}", value_of(document.objective.0, document.value)),
        )
        .fact("Proof", proof)
        .fact("Used", used(&document.utilization));

    let users = &document.users;
    let shares = users.ids.iter().zip(&users.dominant_shares).map(|(id, part)| (id.to_owned(), *part));
    section = section.block(sizes("Dominant shares by user", shares.collect(), share));

    let classes: Vec<_> = document
        .server_classes
        .iter()
        .filter_map(|class| Some((class.id.to_string(), class.utilization.as_ref()?)))
        .collect();
    if let Some((_, resources)) = classes.first() {
        let bars = Bars {
            caption: "Utilization by server class".into(),
            series: resources.0.iter().map(|(name, _)| name.to_string()).collect(),
            groups: classes
                .iter()
                .take(super::GROUPS)
                .map(|(id, used)| (id.clone(), used.0.iter().map(|(_, part)| *part).collect()))
                .collect(),
            mark: Some((1.0, "all of it".into())),
            format: percent,
        };
        section = section.block(Block::Bars(bars));
    }

    for (position, (resource, _)) in document.utilization.0.iter().enumerate() {
        let prices: Vec<(String, Vec<f64>)> = (document.server_classes.iter())
            .filter_map(|class| Some((class.id.to_string(), vec![class.price.as_ref()?.0.get(position)?.1])))
            .collect();
        if prices.iter().any(|(_, price)| price[0] > 0.0) {
            let caption = format!("What one more unit of {resource} is worth, by server class");
            let groups = prices.into_iter().take(super::GROUPS).collect();
            let bars = Bars { caption, series: Vec::new(), groups, mark: None, format: number };
            section = section.block(Block::Bars(bars));
        }
    }

    let resources: Vec<&str> = document.utilization.0.iter().map(|(name, _)| &**name).collect();
    let mut header = words(["server class"]);
    header.extend(resources.iter().map(|name| format!("{name} used")));
    header.extend(resources.iter().map(|name| format!("{name} price")));
    let row = |class: &crate::solution::ClassResult<'_>| {
        let of = |map: &Option<crate::ResourceMap<'_>>, position: usize| {
            map.as_ref().and_then(|map| map.0.get(position)).map(|(_, value)| *value)
        };
        let used = (0..resources.len()).map(|r| Cell::maybe(of(&class.utilization, r), Cell::percent));
        let prices = (0..resources.len()).map(|r| Cell::maybe(of(&class.price, r), Cell::number));
        std::iter::once(Cell::text(&*class.id)).chain(used).chain(prices).collect()
    };
    let rows = document.server_classes.iter().map(row);
    section = section.block(Block::Grid(Grid::new(
        "Server classes: use, and what one more unit is worth",
        header,
        rows,
    )));

    let header = words(["user", "dominant resource", "dominant share", "tasks", "limited by"]);
    let names = users.resources.as_slice();
    let rows = users.ids.iter().enumerate().map(|(i, id)| {
        vec![
            Cell::text(id),
            Cell::text(&*names[users.dominant_resources[i] as usize]),
            Cell::share(users.dominant_shares[i]),
            Cell::number(users.tasks[i]),
            Cell::text(limit(users.limited_by[i])),
        ]
    });
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}
