//! What audits and verifications say: which properties hold, and where one fails.

use super::{Block, Cell, Grid, Section, words};
use crate::audit::{AuditDocument, Holds};
use crate::verification::VerificationDocument;

/// An audit as a section.
pub(super) fn audit(document: AuditDocument<'_>) -> Section {
    let word = |holds: Holds| match holds {
        Holds::Tested(true) => "holds",
        Holds::Tested(false) => "FAILS",
        Holds::NotTested(_) => "not applicable",
    };
    let failed = document.properties.iter().filter(|property| property.holds == Holds::Tested(false)).count();
    let header = words(["property", "verdict", "violation", "allowed", "witness"]);
    let rows = document.properties.iter().map(|property| {
        vec![
            Cell::text(&*property.name),
            Cell::text(word(property.holds)),
            Cell::maybe(property.residual, Cell::number),
            Cell::maybe(property.tolerance, Cell::number),
            Cell::text(&*property.witness),
        ]
    });
    Section::new(format!("Fairness properties of {}", document.objective))
        .instance(&document.instance)
        .fact("Properties that fail", format!("{failed} of {}", document.properties.len()))
        .block(Block::Grid(Grid::new("Properties", header, rows)))
}

/// A verification as a section.
pub(super) fn verification(document: VerificationDocument<'_>) -> Section {
    let header = words(["property", "verdict", "largest violation", "allowed", "where"]);
    let rows = document.verdicts.iter().map(|verdict| {
        vec![
            Cell::text(&*verdict.property),
            Cell::text(if verdict.holds { "holds" } else { "FAILS" }),
            Cell::maybe(verdict.residual, Cell::number),
            Cell::number(verdict.tolerance),
            Cell::text(verdict.witness.as_deref().unwrap_or_default()),
        ]
    });
    let section = Section::new(format!("Verification of a {}", document.result_format))
        .fact("Every property holds", if document.holds { "yes" } else { "NO" });
    let section = match &document.instance {
        Some(stamp) => section.instance(stamp),
        None => section,
    };
    section.block(Block::Grid(Grid::new("Properties", header, rows)))
}
