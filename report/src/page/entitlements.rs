//! What schedulers' rules promise, beside what the servers can give.

use super::{Block, Cell, Grid, Section, sizes_side_by_side, words};
use crate::answer;
use crate::entitlements::EntitlementsDocument;
use crate::figure::Bars;
use crate::units::{percent, share};

/// Entitlements as a section.
pub(super) fn entitlements(document: EntitlementsDocument<'_>) -> Section {
    let rules: Vec<&str> = document.rules.iter().map(|rule| &*rule.name).collect();
    let mut series = vec!["DRFH over the servers"];
    series.extend(&rules);
    let shares = document.users.iter().map(|user| {
        let promised = user.entitlements.iter().map(|entitlement| entitlement.dominant_share);
        (user.id.to_string(), std::iter::once(user.drfh_share).chain(promised).collect())
    });
    let kept = Bars {
        caption: "What the servers can keep of all promises at once".into(),
        series: Vec::new(),
        groups: document.rules.iter().map(|rule| (rule.name.to_string(), vec![rule.kept])).collect(),
        mark: Some((1.0, "all".into())),
        format: percent,
    };
    let mut header = words(["user", "DRFH share"]);
    for rule in &rules {
        header.extend([format!("{rule} share"), format!("{rule}, more than DRFH"), format!("{rule} tasks")]);
    }
    let rows = document.users.iter().map(|user| {
        let mut row = vec![Cell::text(&*user.id), Cell::share(user.drfh_share)];
        for entitlement in &user.entitlements {
            row.push(Cell::share(entitlement.dominant_share));
            row.push(Cell::change(entitlement.difference));
            row.push(Cell::number(entitlement.tasks));
        }
        row
    });
    Section::new("What schedulers' rules promise, beside exact DRFH")
        .answer_in_shares(answer::entitlements(&document))
        .instance(&document.instance)
        .block(sizes_side_by_side(
            "Dominant shares by user, as promised and as the servers give them",
            &series,
            shares.collect(),
            share,
        ))
        .block(Block::Bars(kept))
        .block(Block::Grid(Grid::new("Users", header, rows)))
}
