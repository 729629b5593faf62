//! Fairness properties, for people: of one objective a section, of several a table across.

use super::sentences::listed;
use crate::figure::Bars;
use crate::json::{MalformedResult, format_of, numbered_lines, read_json};
use crate::names::beginning;
use crate::page::{Block, Section};
use crate::summary::grid::{grid, paragraph};
use crate::units::{counted, percent, violation};
use fairplan_analysis::{Audit, Finding, Holds};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document};

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

/// The properties, one a row, with the verdict on each objective.
fn across<'a>(first: &'a Audit, audits: &'a [Document<Audit>]) -> Table<'a> {
    let mut columns =
        Table::over(first.properties.len(), |row| row)
            .column("property", "property", Kind::Words, |row| &first.properties[row].name);
    for audit in audits {
        let title = audit.objective.as_str();
        columns = columns.column(title, title, Kind::Words, |row| audit.properties.get(row).map(cell));
    }
    columns.done()
}

/// What was found of one or several objectives on one instance.
pub fn summary(audits: &[Document<Audit>]) -> String {
    let Some(first) = audits.first() else { return "No objective can be had on this instance.\n".into() };
    let mut text = grid(&across(first, audits));
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

/// Bars end at so many times what is allowed: a longer one would leave the others no length.
const END: f64 = 10.0;

/// How much of the allowed violation each property takes: those that were measured against something above zero.
pub(super) fn measured<'a>(
    properties: impl Iterator<Item = (&'a str, Option<f64>, Option<f64>)>,
) -> Option<Block> {
    let of_allowed = |(name, found, allowed): (&str, Option<f64>, Option<f64>)| {
        let (found, allowed) = (found?, allowed.filter(|allowed| *allowed > 0.0)?);
        Some((name.to_owned(), vec![(found / allowed).min(END)]))
    };
    let groups: Vec<_> = properties.filter_map(of_allowed).collect();
    let bars = Bars {
        caption: "Largest violation of each property, of what is allowed".into(),
        series: Vec::new(),
        groups,
        mark: Some((1.0, "what is allowed".into())),
        format: |part| if part < END { percent(part) } else { format!("{} or more", percent(END)) },
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

/// The lines of several audits of one instance as a section; `None` of anything else, a single line too.
///
/// # Errors
/// A line is none of an audit, or of another instance.
pub(crate) fn section_of_several(file: &str, bytes: &[u8]) -> Result<Option<Section>, MalformedResult> {
    let mut lines = numbered_lines(bytes);
    let is_audit = |line: &[u8]| format_of(file, line).is_ok_and(|format| format == Audit::FORMAT);
    if !lines.next().is_some_and(|(_, first)| is_audit(first)) || lines.next().is_none() {
        return Ok(None);
    }
    let mut audits: Vec<Document<Audit>> = Vec::new();
    for (number, line) in numbered_lines(bytes) {
        let file = format!("{file}: line {number}");
        let audit: Document<Audit> = read_json(&file, line)?;
        if audits.first().is_some_and(|first| first.instance != audit.instance) {
            let problem = "is another instance than that of the first line; give each its own file".into();
            return Err(MalformedResult { file, place: "instance".into(), problem });
        }
        audits.push(audit);
    }
    let Some(first) = audits.first() else { return Ok(None) };
    let objectives = counted(audits.len() as u64, "objective", "objectives");
    let fair: Vec<String> =
        audits.iter().filter(|audit| audit.holds()).map(|audit| audit.objective.clone()).collect();
    let told = match &fair[..] {
        [] => format!("Each of {objectives} fails a fairness property on this instance."),
        fair => {
            let have = if fair.len() == 1 { "has" } else { "have" };
            format!(
                "Of {objectives}, {} {have} all fairness properties that apply on this instance.",
                listed(fair)
            )
        }
    };
    let section = Section::new(format!("Fairness properties of {objectives}"))
        .answer(told)
        .instance(&first.instance)
        .grid("Properties by objective", &across(first, &audits));
    let findings = |section: Section, audit: &Document<Audit>| {
        section.grid(&format!("Properties of {}", audit.objective), &audit.table())
    };
    Ok(Some(audits.iter().fold(section, findings)))
}
