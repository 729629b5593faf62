//! The tables of planning: what to buy or what parts of a target cost, what servers are worth, losses, differences, quanta.

use super::TableFormat;
use super::sheet::{Cells, Sheet};
use crate::output::Sink;
use crate::planning::{
    DifferenceDocument, FrontierPoint, GrowthDocument, LossDocument, PlanDocument, ResourceWorthResult,
    WorthDocument, WorthResult,
};
use std::io;

/// Writes the servers to buy, one row a type; or, where parts of the target were asked for, one row a part and type.
pub fn write_plan(out: &mut Sink, format: TableFormat, plan: &PlanDocument<'_>) -> io::Result<()> {
    if plan.frontier.is_empty() {
        let servers = plan.purchase.iter().flat_map(|purchase| &purchase.servers);
        let rows: Vec<_> = servers.collect();
        return Sheet(vec![
            ("type", Cells::Words(rows.iter().map(|row| &*row.kind).collect())),
            ("count", Cells::Counts(rows.iter().map(|row| row.count).collect())),
            ("price", Cells::Numbers(rows.iter().map(|row| row.price).collect())),
            ("cost", Cells::Numbers(rows.iter().map(|row| row.cost).collect())),
        ])
        .write(out, format);
    }
    let rows: Vec<(&FrontierPoint<'_>, &str, u64)> = (plan.frontier.iter())
        .flat_map(|point| {
            let servers = point.servers.iter().map(move |servers| (point, &*servers.kind, servers.count));
            let nothing = point.servers.is_empty().then_some((point, "", 0));
            servers.chain(nothing)
        })
        .collect();
    Sheet(vec![
        ("part", Cells::Numbers(rows.iter().map(|row| row.0.part).collect())),
        ("share", Cells::Optional(rows.iter().map(|row| row.0.share).collect())),
        ("cost", Cells::Numbers(rows.iter().map(|row| row.0.cost).collect())),
        ("bound", Cells::Numbers(rows.iter().map(|row| row.0.bound).collect())),
        ("type", Cells::Words(rows.iter().map(|row| row.1).collect())),
        ("count", Cells::Counts(rows.iter().map(|row| row.2).collect())),
    ])
    .write(out, format)
}

/// Writes what servers are worth: a row a class for a whole server (no resource), then one a resource.
pub fn write_worth(out: &mut Sink, format: TableFormat, worth: &WorthDocument<'_>) -> io::Result<()> {
    type Row<'a> = (&'a WorthResult<'a>, Option<&'a ResourceWorthResult<'a>>);
    let rows: Vec<Row<'_>> = (worth.server_classes.iter())
        .flat_map(|class| {
            let resources = class.resources.iter().map(move |resource| (class, Some(resource)));
            std::iter::once((class, None)).chain(resources)
        })
        .collect();
    let words = |of: fn(&ResourceWorthResult<'_>) -> Option<f64>| {
        Cells::Optional(rows.iter().map(|row| row.1.and_then(of)).collect())
    };
    Sheet(vec![
        ("class", Cells::Words(rows.iter().map(|row| &*row.0.id).collect())),
        ("resource", Cells::Words(rows.iter().map(|row| row.1.map_or("", |more| &*more.resource)).collect())),
        ("gain", Cells::Numbers(rows.iter().map(|row| row.1.map_or(row.0.gain, |more| more.gain)).collect())),
        (
            "by_price",
            Cells::Numbers(
                rows.iter()
                    .map(|row| row.1.map_or(row.0.by_price, |more| more.price * more.amount))
                    .collect(),
            ),
        ),
        ("amount", words(|more| Some(more.amount))),
        ("price", words(|more| Some(more.price))),
        ("capacity", words(|more| more.capacity)),
        ("least", words(|more| more.least)),
        ("most", words(|more| more.most)),
    ])
    .write(out, format)
}

/// Writes losses: a row a class and user that loses the most (none where nobody loses).
pub fn write_losses(out: &mut Sink, format: TableFormat, losses: &LossDocument<'_>) -> io::Result<()> {
    let rows = &losses.losses;
    let worst = |of: fn(&crate::planning::LostUser<'_>) -> f64| {
        Cells::Optional(rows.iter().map(|loss| loss.losers.first().map(of)).collect())
    };
    let user = rows.iter().map(|loss| loss.losers.first().map_or("", |loser| &*loser.id));
    Sheet(vec![
        ("class", Cells::Words(rows.iter().map(|loss| &*loss.class).collect())),
        ("servers", Cells::Counts(rows.iter().map(|loss| loss.servers).collect())),
        ("value", Cells::Numbers(rows.iter().map(|loss| loss.value).collect())),
        ("lost", Cells::Numbers(rows.iter().map(|loss| loss.lost).collect())),
        ("losing", Cells::Counts(rows.iter().map(|loss| loss.losing as u64).collect())),
        ("stranded", Cells::Counts(rows.iter().map(|loss| loss.stranded as u64).collect())),
        ("gaining", Cells::Counts(rows.iter().map(|loss| loss.gaining as u64).collect())),
        ("worst_user", Cells::Words(user.collect())),
        ("worst_before", worst(|loser| loser.before)),
        ("worst_after", worst(|loser| loser.after)),
        ("worst_part", worst(|loser| loser.part)),
    ])
    .write(out, format)
}

/// Writes what changed for each user.
pub fn write_difference(
    out: &mut Sink,
    format: TableFormat,
    difference: &DifferenceDocument<'_>,
) -> io::Result<()> {
    let users = &difference.users;
    Sheet(vec![
        ("user", Cells::Words(users.iter().map(|user| &*user.id).collect())),
        ("before", Cells::Optional(users.iter().map(|user| user.before).collect())),
        ("after", Cells::Optional(users.iter().map(|user| user.after).collect())),
        ("part", Cells::Optional(users.iter().map(|user| user.part).collect())),
    ])
    .write(out, format)
}

/// Writes every quantum of a series: by how much what is asked for is scaled (the mean over the users), and whether it is
/// missed.
pub fn write_growth(out: &mut Sink, format: TableFormat, growth: &GrowthDocument<'_>) -> io::Result<()> {
    let quanta = growth.quanta.as_deref().unwrap_or_default();
    let labels: Vec<String> = quanta.iter().map(|row| row.quantum.to_string()).collect();
    let missed = quanta.iter().map(|row| Some(row.missed));
    Sheet(vec![
        ("quantum", Cells::Words(labels.iter().map(String::as_str).collect())),
        ("scale", Cells::Numbers(quanta.iter().map(|row| row.scale).collect())),
        ("missed", Cells::Answers(missed.collect())),
    ])
    .write(out, format)
}
