//! What a purchase plan says: what to buy, for how much, and whether anything cheaper would do.

use super::{Block, Cell, Grid, Section, curve, words};
use crate::planning::{PlanDocument, ServersBought};
use crate::summary::{number, percent};

/// A plan as a section.
pub(super) fn plan(document: PlanDocument<'_>) -> Section {
    let currency = &document.catalog.currency;
    let money = |amount: f64| format!("{} {currency}", number(amount));
    let section = Section::new("What to buy").instance(&document.instance);
    let (section, servers) = match (&document.purchase, &document.obstacle) {
        (Some(purchase), _) => {
            let proof = match &*purchase.status {
                "optimal" => "nothing cheaper is enough".to_owned(),
                _ => format!("{} or more is needed", money(purchase.bound)),
            };
            let section = section.fact("Cost", money(purchase.cost)).fact("Proof", proof).fact(
                "What every user has under DRFH by itself, of its target",
                percent(purchase.part_under_drfh),
            );
            (section, Some(&purchase.servers))
        }
        (None, Some(obstacle)) => {
            let section = section
                .fact("Out of reach because of", format!("user {}, {}", obstacle.user, obstacle.resource))
                .fact("What all users can reach together, of their targets", percent(obstacle.part))
                .fact("For", money(obstacle.cost));
            (section, Some(&obstacle.servers))
        }
        (None, None) => (section, None),
    };
    let header = words(["type", "servers", "price", "cost"]);
    let row = |bought: &ServersBought<'_>| {
        vec![
            Cell::text(&*bought.kind),
            Cell::count(bought.count),
            Cell::number(bought.price),
            Cell::number(bought.cost),
        ]
    };
    let rows = servers.into_iter().flatten().map(row).collect::<Vec<_>>();
    let section = section.block(Block::Grid(Grid::new("Servers to buy", header, rows.into_iter())));
    if document.frontier.is_empty() {
        return section;
    }
    let points = document.frontier.iter().map(|point| [point.cost, point.part]).collect();
    let cost = format!("cost ({currency})");
    section.block(Block::Curves(curve("What parts of the target cost", &cost, "part of the target", points)))
}
