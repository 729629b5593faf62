//! What schedulers' rules promise beside what the servers can give, for people.

use super::sentences::listed;
use crate::figure::Bars;
use crate::page::{Block, Section, sizes_side_by_side};
use crate::summary::grid::{listed as tabled, paragraph};
use crate::tolerance::{NEXT_TO_NOTHING, SAME};
use crate::units::{percent, share};
use fairplan_analysis::{Entitled, Entitlement, Entitlements};
use fairplan_instances::table::{Kind, Table, Tabular};

/// What schedulers' rules promise.
pub(super) fn answer(document: &Entitlements) -> String {
    let broken: Vec<String> = (document.rules.iter())
        .filter(|rule| rule.kept < 1.0 - SAME)
        .map(|rule| format!("{} of what {} promises", percent(rule.kept), rule.name))
        .collect();
    match broken.is_empty() {
        true => "The servers can keep every promise of every rule.".into(),
        false => format!("The servers can keep only {}.", listed(&broken)),
    }
}

/// The summary of entitlements: the users whose entitlements differ most from DRFH first, of equals those with the largest share.
pub fn summary(document: &Entitlements) -> String {
    let mut text = paragraph(&answer(document));
    text.push('\n');
    text += &paragraph(
        "Dominant shares: DRFH on the servers, and what the rules promise on all servers as one pool (difference)",
    );
    text.push('\n');
    text += &tabled(&beside_drfh(document, &document.users, "user"), "users");
    text.push('\n');
    if !document.groups.is_empty() {
        text += &tabled(&beside_drfh(document, &document.groups, "group"), "groups");
        text.push('\n');
    }
    for rule in &document.rules {
        text +=
            &format!("{}: the servers can keep {} of every promise at once\n", rule.name, percent(rule.kept));
    }
    text
}

/// What users or groups have by each rule beside DRFH: those that differ most first, of equals those with the largest share.
fn beside_drfh<'a>(document: &'a Entitlements, rows: &'a [Entitled], who: &'a str) -> Table<'a> {
    let mut rows: Vec<&Entitled> = rows.iter().collect();
    let largest = |row: &Entitled| {
        let differences = row.entitlements.iter().map(|entitlement| entitlement.difference.abs());
        differences.filter(|difference| *difference >= SAME).fold(0.0, f64::max)
    };
    let order = |row: &Entitled| (largest(row), row.drfh_share);
    rows.sort_by(|a, b| {
        let ((a, share), (b, other)) = (order(a), order(b));
        b.total_cmp(&a).then(other.total_cmp(&share))
    });
    let beside = |row: &Entitled, rule: usize| {
        let Entitlement { dominant_share, difference, .. } = row.entitlements[rule];
        let sign = if difference > 0.0 { "+" } else { "" };
        // Both are sums of doubles.
        let difference =
            if difference.abs() < SAME { String::new() } else { format!(" ({sign}{})", share(difference)) };
        // A pool is filled in steps, which leave some of what is next to nothing.
        let has = if dominant_share < NEXT_TO_NOTHING { 0.0 } else { dominant_share };
        Some(format!("{}{difference}", share(has)))
    };
    let count = rows.len();
    let mut columns = Table::over(count, move |row| rows[row])
        .column("id", who, Kind::Id, |row| &row.id)
        .column("drfh", "DRFH", Kind::Share, |row| row.drfh_share);
    for (k, rule) in document.rules.iter().enumerate() {
        let shares = move |row: &Entitled| row.entitlements[k].dominant_share;
        columns =
            columns.column(&*rule.name, &*rule.name, Kind::Share, shares).said(move |row| beside(row, k));
    }
    columns.done()
}

/// Entitlements as a section.
pub(crate) fn section(document: Entitlements) -> Section {
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
    Section::new("What schedulers' rules promise, beside exact DRFH")
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .block(sizes_side_by_side(
            "Dominant shares by user, as promised and as the servers give them",
            &series,
            shares.collect(),
            share,
        ))
        .block(Block::Bars(kept))
        .grid("Users", &document.table())
}
