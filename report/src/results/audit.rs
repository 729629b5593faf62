//! Fairness properties, for people: of one objective a section, of several a table across.

use super::sentences::listed;
use crate::figure::Bars;
use crate::names::beginning;
use crate::page::{Block, Section};
use crate::summary::grid::{grid, paragraph};
use crate::units::{percent, violation};
use fairplan_analysis::{Audit, Finding, Holds};
use fairplan_instances::Document;
use fairplan_instances::table::{Kind, Table, Tabular};

/// An audit.
pub(super) fn answer(document: &Audit) -> String {
    let of = |holds: Holds| {
        let properties = document.properties.iter().filter(move |property| property.holds == holds);
        properties.map(|property| property.name.to_string()).collect::<Vec<_>>()
    };
    let (holding, failing) = (of(Holds::Tested(true)), of(Holds::Tested(false)));
    let tested = holding.len() + failing.len();
    let objective = &document.objective;
    match failing.len() {
        0 => format!("On this instance {objective} has all {tested} fairness properties that apply."),
        _ => format!(
            "On this instance {objective} has {} of {tested} fairness properties; it fails {}.",
            holding.len(),
            listed(&failing)
        ),
    }
}

/// What was found of one or several objectives on one instance.
pub fn summary(audits: &[Document<Audit>]) -> String {
    let Some(first) = audits.first() else { return "No objective can be had on this instance.\n".into() };
    let mut columns =
        Table::over(first.properties.len(), |row| row)
            .column("property", "property", Kind::Words, |row| &first.properties[row].name);
    for audit in audits {
        let title = audit.objective.as_str();
        columns = columns.column(title, title, Kind::Words, |row| cell(&audit.properties[row]));
    }
    let mut text = grid(&columns.done());
    text.push('\n');
    for audit in audits {
        for property in audit.properties.iter().filter(|property| property.holds == Holds::Tested(false)) {
            let witness = beginning(&property.witness, 300);
            text += &paragraph(&format!("{} fails {}: {witness}", audit.objective, property.name));
        }
    }
    text
}

fn cell(property: &Finding) -> String {
    match property.holds {
        Holds::Tested(true) => "holds".into(),
        Holds::Tested(false) => format!("FAILS {}", violation(property.residual.unwrap_or(f64::INFINITY))),
        Holds::NotTested(_) => "–".into(),
    }
}

/// How much of the allowed violation each property takes: those that were measured against something above zero.
pub(super) fn measured<'a>(
    properties: impl Iterator<Item = (&'a str, Option<f64>, Option<f64>)>,
) -> Option<Block> {
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
pub(crate) fn section(document: Audit) -> Section {
    let failed = document.properties.iter().filter(|property| property.holds == Holds::Tested(false)).count();
    let chart = measured(document.properties.iter().map(|one| (&*one.name, one.residual, one.tolerance)));
    let section = Section::new(format!("Fairness properties of {}", document.objective))
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Properties that fail", format!("{failed} of {}", document.properties.len()));
    chart.into_iter().fold(section, Section::block).grid("Properties", &document.table())
}
