//! What audits and verifications say: which properties hold, and where one fails.

use super::{Block, Cell, Grid, Section, words};
use crate::answer;
use crate::audit::{AuditDocument, Holds};
use crate::figure::Bars;
use crate::units::percent;
use crate::verification::VerificationDocument;

/// How much of the allowed violation each property takes: those that were measured against something above zero.
fn measured<'a>(properties: impl Iterator<Item = (&'a str, Option<f64>, Option<f64>)>) -> Option<Block> {
    let of_allowed = |(name, found, allowed): (&str, Option<f64>, Option<f64>)| {
        let (found, allowed) = (found?, allowed.filter(|allowed| *allowed > 0.0)?);
        Some((name.to_owned(), vec![found / allowed]))
    };
    let groups: Vec<_> = properties.filter_map(of_allowed).collect();
    let bars = Bars {
        caption: "Largest violation of each property, of what is allowed".into(),
        series: Vec::new(),
        groups,
        mark: Some((1.0, "what is allowed".into())),
        format: percent,
    };
    (!bars.groups.is_empty()).then_some(Block::Bars(bars))
}

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
    let chart = measured(document.properties.iter().map(|one| (&*one.name, one.residual, one.tolerance)));
    let section = Section::new(format!("Fairness properties of {}", document.objective))
        .answer(answer::audit(&document))
        .instance(&document.instance)
        .fact("Properties that fail", format!("{failed} of {}", document.properties.len()));
    chart.into_iter().fold(section, Section::block).block(Block::Grid(Grid::new("Properties", header, rows)))
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
        .answer(answer::verification(&document))
        .fact("Every property holds", if document.holds { "yes" } else { "NO" });
    let section = match &document.instance {
        Some(stamp) => section.instance(stamp),
        None => section,
    };
    let chart =
        measured(document.verdicts.iter().map(|one| (&*one.property, one.residual, Some(one.tolerance))));
    chart.into_iter().fold(section, Section::block).block(Block::Grid(Grid::new("Properties", header, rows)))
}
