//! The summary of what schedulers' rules promise: users side by side, and what the servers can keep.

use super::grid::{Column, grid, paragraph};
use super::{ROWS, cut, percent, share};
use crate::answer;
use crate::entitlements::EntitlementsDocument;

/// Shares that differ by less are not told apart.
const SAME: f64 = 1e-9;

/// The summary of entitlements: the users whose entitlements differ most from DRFH first.
pub fn entitlements(document: &EntitlementsDocument<'_>) -> String {
    let mut text = paragraph(&answer::entitlements(document));
    text.push('\n');
    text += &paragraph(
        "Dominant shares: DRFH on the servers, and what the rules promise on all servers as one pool (difference)",
    );
    text.push('\n');
    let mut users: Vec<_> = document.users.iter().collect();
    let largest = |user: &crate::entitlements::EntitledUser<'_>| {
        user.entitlements.iter().map(|entitlement| entitlement.difference.abs()).fold(0.0, f64::max)
    };
    users.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let mut columns = vec![Column::id("user"), Column::number("DRFH")];
    for rule in &document.rules {
        columns.push(Column::number(rule.name.as_ref()));
    }
    let rows = users.iter().take(ROWS).map(|user| {
        let mut row = vec![user.id.to_string(), share(user.drfh_share)];
        for entitlement in &user.entitlements {
            let sign = if entitlement.difference > 0.0 { "+" } else { "" };
            let beside = match entitlement.difference {
                // Both are sums of doubles.
                small if small.abs() < SAME => String::new(),
                difference => format!(" ({sign}{})", share(difference)),
            };
            row.push(format!("{}{beside}", share(entitlement.dominant_share)));
        }
        row
    });
    text += &grid(&columns, rows);
    cut(&mut text, document.users.len(), "users");
    text.push('\n');
    for rule in &document.rules {
        text +=
            &format!("{}: the servers can keep {} of every promise at once\n", rule.name, percent(rule.kept));
    }
    text
}
