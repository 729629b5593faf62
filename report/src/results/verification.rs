//! What `verify` found, for people.

use super::audit::measured;
use super::sentences::listed;
use crate::names::beginning;
use crate::page::Section;
use crate::planning::PlanBody;
use crate::summary::grid::{grid, paragraph};
use crate::verification::Verification;
use fairplan_analysis::Growth;
use fairplan_exports::ExportBody;
use fairplan_instances::Body;
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// A verification.
pub(super) fn answer(document: &Verification) -> String {
    let failing: Vec<String> = document
        .verdicts
        .iter()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| verdict.property.to_string())
        .collect();
    match document.holds && failing.is_empty() {
        true => {
            let all = document.verdicts.len();
            let alone = alone(document).unwrap_or_default();
            format!("The result was checked anew from its numbers: all {all} properties hold. {alone}")
                .trim()
                .into()
        }
        false => format!("The result is NOT to be trusted: {} fails.", listed(&failing)),
    }
}

/// What is left open of a result alone: an export without its solution, a plan without its catalog.
fn alone(document: &Verification) -> Option<&'static str> {
    match document.result_format.as_str() {
        ExportBody::FORMAT => Some(
            "That these are the amounts of its solution is proved only beside that: verify INSTANCE SOLUTION --exported FILE.",
        ),
        PlanBody::FORMAT | Growth::FORMAT => Some(
            "Only that its costs add up is checked here. That what is bought is enough, and that nothing cheaper is, `plan` \
             proves where it makes the plan.",
        ),
        _ => None,
    }
}

/// What was found, property by property.
pub fn summary(document: &Verification) -> String {
    let mut text = alone(document).map(paragraph).unwrap_or_default();
    text += &grid(&document.table().without(&["witness"]));
    for verdict in document.verdicts.iter().filter(|verdict| !verdict.holds) {
        let witness = verdict.witness.as_deref().unwrap_or_default();
        let _ = writeln!(text, "{}: {}", verdict.property, beginning(witness, 300));
    }
    let verdicts = &document.verdicts;
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    let _ = match failed {
        0 if alone(document).is_some() => {
            writeln!(text, "Verified in part: every property that is checked here holds.")
        }
        0 => writeln!(text, "Verified: every property holds."),
        1 => writeln!(text, "NOT verified: 1 property fails."),
        failed => writeln!(text, "NOT verified: {failed} properties fail."),
    };
    let fields: Vec<&str> = document.unchecked.iter().map(|unchecked| unchecked.field.as_str()).collect();
    if !fields.is_empty() {
        let _ = writeln!(text, "Not checked: {}.", fields.join(", "));
    }
    text
}

/// A verification as a section.
pub(crate) fn section(document: Verification) -> Section {
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
