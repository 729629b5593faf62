//! What `verify` found, for people.

use super::audit::measured;
use super::sentences::listed;
use crate::names::beginning;
use crate::page::Section;
use crate::summary::grid::grid;
use crate::unchecked;
use crate::verification::VerificationDocument;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_verify::Verdict;
use std::fmt::Write;

/// A verification.
pub(super) fn answer(document: &VerificationDocument) -> String {
    let failing: Vec<String> = document
        .verdicts
        .iter()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| verdict.property.to_string())
        .collect();
    match document.holds && failing.is_empty() {
        true => format!(
            "The result was checked anew from its numbers: all {} properties hold.",
            document.verdicts.len()
        ),
        false => format!("The result is NOT to be trusted: {} fails.", listed(&failing)),
    }
}

/// The summary of a verification of a result of this format.
pub fn summary(format: &str, verdicts: &[Verdict]) -> String {
    let table = Table::of(verdicts)
        .column("property", "property", Kind::Words, |verdict| verdict.property)
        .column("holds", "verdict", Kind::Words, |verdict| if verdict.holds { "holds" } else { "FAILS" })
        .column("residual", "largest violation", Kind::Violation, |verdict| verdict.residual)
        .column("tolerance", "allowed", Kind::Violation, |verdict| verdict.tolerance);
    let mut text = grid(&table.done());
    for verdict in verdicts.iter().filter(|verdict| !verdict.holds) {
        let _ = writeln!(text, "{}: {}", verdict.property, beginning(&verdict.witness, 300));
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    let _ = match failed {
        0 => writeln!(text, "Verified: every property holds."),
        1 => writeln!(text, "NOT verified: 1 property fails."),
        failed => writeln!(text, "NOT verified: {failed} properties fail."),
    };
    let fields: Vec<String> = unchecked(format).map(|unchecked| unchecked.field).collect();
    if !fields.is_empty() {
        let _ = writeln!(text, "Not checked: {}.", fields.join(", "));
    }
    text
}

/// A verification as a section.
pub(crate) fn section(document: VerificationDocument) -> Section {
    let section = Section::new(format!("Verification of a {}", document.result_format))
        .answer(answer(&document))
        .fact("Every property holds", if document.holds { "yes" } else { "NO" });
    let section = match &document.instance {
        Some(stamp) => section.instance(stamp),
        None => section,
    };
    let chart =
        measured(document.verdicts.iter().map(|one| (&*one.property, one.residual, Some(one.tolerance))));
    chart.into_iter().fold(section, Section::block).grid("Properties", &document.table())
}
