//! The table of what schedulers' rules promise: one row a user, three columns a rule.

use super::TableFormat;
use super::sheet::{Cells, Sheet};
use crate::entitlements::{Entitlement, EntitlementsDocument};
use crate::output::Sink;
use std::io;

/// Writes every user's share under DRFH and by each rule.
pub fn write_entitlements(
    out: &mut Sink,
    format: TableFormat,
    document: &EntitlementsDocument<'_>,
) -> io::Result<()> {
    type Part = (&'static str, fn(&Entitlement) -> f64);
    let parts: [Part; 3] = [
        ("share", |entitlement| entitlement.dominant_share),
        ("difference", |entitlement| entitlement.difference),
        ("tasks", |entitlement| entitlement.tasks),
    ];
    let users = &document.users;
    let names: Vec<String> = (document.rules.iter())
        .flat_map(|rule| parts.iter().map(|(part, _)| format!("{}_{part}", rule.name)))
        .collect();
    let mut columns = vec![
        ("user", Cells::Words(users.iter().map(|user| &*user.id).collect())),
        ("drfh_share", Cells::Numbers(users.iter().map(|user| user.drfh_share).collect())),
    ];
    let numbers = (0..document.rules.len()).flat_map(|rule| parts.iter().map(move |(_, of)| (rule, of)));
    for (name, (rule, of)) in names.iter().zip(numbers) {
        let column = users.iter().map(|user| of(&user.entitlements[rule])).collect();
        columns.push((name, Cells::Numbers(column)));
    }
    Sheet(columns).write(out, format)
}
