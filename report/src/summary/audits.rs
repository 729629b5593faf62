//! The summary of audits: properties down, objectives across, then a witness for each that fails.

use super::grid::{Column, grid, paragraph};
use super::{shortened, violation};
use crate::audit::{AuditDocument, Holds, PropertyResult};

/// What was found of one or several objectives on one instance.
pub fn audits(audits: &[AuditDocument<'_>]) -> String {
    let Some(first) = audits.first() else { return "No objective can be had on this instance.\n".into() };
    let mut columns = vec![Column::text("property")];
    columns.extend(audits.iter().map(|audit| Column::text(audit.objective.clone())));
    let rows = first.properties.iter().enumerate().map(|(position, property)| {
        let cells = audits.iter().map(|audit| cell(&audit.properties[position]));
        std::iter::once(property.name.to_string()).chain(cells).collect()
    });
    let mut text = grid(&columns, rows);
    text.push('\n');
    for audit in audits {
        for property in audit.properties.iter().filter(|property| property.holds == Holds::Tested(false)) {
            let witness = shortened(&property.witness, 300);
            text += &paragraph(&format!("{} fails {}: {witness}", audit.objective, property.name));
        }
    }
    text
}

fn cell(property: &PropertyResult<'_>) -> String {
    match property.holds {
        Holds::Tested(true) => "holds".into(),
        Holds::Tested(false) => format!("FAILS {}", violation(property.residual.unwrap_or(f64::INFINITY))),
        Holds::NotTested(_) => "–".into(),
    }
}
