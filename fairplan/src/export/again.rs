//! What `export` wrote, held against the solution exported again with the options that it states.

use super::alike::{Amounts, difference, is_near};
use super::{changes, exported, held, kind_of};
use crate::verify::sha256_of;
use crate::{Error, ResultFile};
use fairplan_exports::{Export, ExportBody, ExportOptions, ExportedTenant, Source, Target, Unit};
use fairplan_imports::{Deployed, deployed_in};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::wording::printable;
use fairplan_instances::{Decimal, Document, Instance, Violation, files};
use fairplan_report::export::StatedExport;
use fairplan_report::read_json;
use fairplan_report::solution::{SolutionDocument, StatedSolution};
use fairplan_verify::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// What is found, and what was not compared, with the reason.
pub(super) struct Found {
    pub(super) verdicts: Vec<Verdict>,
    pub(super) unchecked: Vec<(&'static str, &'static str)>,
}

const AMOUNTS: &str = "exported-amounts";

impl Found {
    /// Where nothing can be exported again, the file has no amounts of this solution.
    fn nothing(problem: String) -> Self {
        Self { verdicts: vec![Verdict::without_size(AMOUNTS, Some(problem))], unchecked: Vec::new() }
    }
}

/// Whether a `fairplan.export.v1` has the tenants, the shares and the exact amounts that the solution gives (`exported-amounts`) under
/// the names that they have by it (`exported-names`), in its whole units (`exported-units`) and with what is sure of it (`exported-kept`), which are held against the instance as `verify` does without a solution.
pub(super) fn document(
    instance: &Instance,
    solution: &ResultFile,
    file: &str,
    content: &[u8],
) -> Result<Found, Error> {
    let told: Document<ExportBody> = read_json(file, content)?;
    let again = match options_of(&told) {
        Ok((target, options)) => again(instance, solution, target, &options)?,
        Err(violation) => Err(violation.to_string()),
    };
    let exported = match again {
        Ok(exported) => exported,
        Err(problem) => return Ok(Found::nothing(problem)),
    };
    let again = exported.body();
    let mut verdicts = vec![
        Verdict::without_size(AMOUNTS, other_amounts(&told.tenants, &again.tenants)),
        Verdict::without_size("exported-names", other_names(&told.tenants, &again.tenants)),
        Verdict::without_size("exported-units", other_units(&told.tenants, &again.tenants)),
        Verdict::without_size("exported-kept", other_kept(&told.tenants, &again.tenants, &exported)),
    ];
    match StatedExport::new(&told, instance, &files::sha256_hex(instance)) {
        Ok(stated) => verdicts.extend(stated.verdicts(instance)),
        Err(foreign) => {
            verdicts.push(Verdict::without_size("all-tenants", Some(format!("{file}: {foreign}"))))
        }
    }
    let unchecked = vec![
        ("target, headroom, memory_in, levels, unit", "the question that was asked"),
        ("notes, entitled", "words for people, and the scheduler's rule, which is not run again"),
    ];
    Ok(Found { verdicts, unchecked })
}

/// Whether the configuration has the amounts that the solution exported again has (`exported-amounts`), and says what export writes, line
/// by line, and nothing else (`exported-text`): what it does not know may change as much as what it knows.
pub(super) fn configuration(
    instance: &Instance,
    solution: &ResultFile,
    file: &str,
    text: &str,
) -> Result<Found, Error> {
    let Some((target, options)) =
        ExportOptions::stated_in(text).map_err(|violation| violation.in_file(file))?
    else {
        let problem = format!(
            "{file} does not state the options it was exported with (fairplan/export-options), as export writes them: hold it against \
             its fairplan.export.v1, and that against the solution"
        );
        return Ok(Found::nothing(problem));
    };
    let again = match again(instance, solution, target, &options)? {
        Ok(again) => again,
        Err(problem) => return Ok(Found::nothing(problem)),
    };
    let read = deployed_in(kind_of(target), file, text)?;
    let found: BTreeMap<String, Amounts> =
        read.iter().map(|(name, queue)| (name.clone(), queue.amounts.clone())).collect();
    let amounts = Verdict::without_size(AMOUNTS, difference(target, &again.body().told(instance)?, &found));
    let other = match other_line(text, &again.text()) {
        Some(line) if amounts.holds => Some(other_queue(&read, &again, target)?.unwrap_or(line)),
        line => line,
    };
    let unchecked = vec![
        ("the options it was exported with", "the question that was asked"),
        ("comments that export does not write", "words for people"),
    ];
    Ok(Found { verdicts: vec![amounts, Verdict::without_size("exported-text", other)], unchecked })
}

/// The first queue of the solution exported again that says something else, where a difference can be said in words of queues.
fn other_queue(read: &Deployed, again: &Export, target: Target) -> Result<Option<String>, Error> {
    let after = exported(again)?;
    let change = changes(read, &after, target).into_iter().find(|change| after.contains_key(&change.queue));
    Ok(change.map(|change| {
        let words = |side: Option<String>| side.unwrap_or_else(|| "nothing".into());
        let (before, after) = (words(change.before), words(change.after));
        format!("{}: {} is {before}, by the solution {after}", change.queue, change.what)
    }))
}

/// The first line that is not what export writes. Its comments are told to people who write other files by them, so they are lines like
/// any other; blank lines and comments of others may be added.
fn other_line(text: &str, again: &str) -> Option<String> {
    let quoted = |line: &str| format!("`{}`", printable(line.trim_start(), 120));
    let missing = |line: &str| format!("{} is not there, which export writes", quoted(line));
    let mut expected = again.lines().map(str::trim_end).filter(|line| !line.is_empty()).peekable();
    for (number, told) in text.lines().map(str::trim_end).enumerate() {
        if expected.next_if_eq(&told).is_some() || is_comment(told) {
            continue;
        }
        let (line, told) = (number + 1, quoted(told));
        return Some(match expected.next() {
            Some(expected) if is_comment(expected) => missing(expected),
            Some(expected) => format!("line {line} says {told}, export writes {}", quoted(expected)),
            None => format!("line {line} is more than export writes: {told}"),
        });
    }
    expected.next().map(missing)
}

/// Whether a line says nothing to a scheduler, whatever its reader takes for the end of a line.
fn is_comment(line: &str) -> bool {
    const ENDS: [char; 6] = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let line = line.trim_start();
    if line.contains(ENDS) {
        return false;
    }
    // A comment that ends on the line on which it begins hides nothing else.
    let is_of_xml = line.starts_with("<!--") && line.find("-->") == Some(line.len().saturating_sub(3));
    line.is_empty() || line.starts_with('#') || is_of_xml
}

/// The solution exported again; else why that is not possible.
fn again(
    instance: &Instance,
    solution: &ResultFile,
    target: Target,
    options: &ExportOptions,
) -> Result<Result<Export, String>, Error> {
    let ResultFile { name, bytes, .. } = solution;
    let sha256 = files::sha256_hex(instance);
    let document: SolutionDocument = read_json(name, bytes)?;
    let stated = match StatedSolution::new(&document, instance, &sha256) {
        Ok(stated) => stated,
        Err(foreign) => return Ok(Err(format!("{name}: {foreign}"))),
    };
    let held = held(instance, name, &stated)?;
    let source = Source { instance: sha256, solution: sha256_of(bytes) };
    Ok(Export::new(instance, &held, source, target, options).map_err(|violation| violation.to_string()))
}

/// The options that give such a document.
fn options_of(told: &ExportBody) -> Result<(Target, ExportOptions), Violation> {
    let headroom = Decimal::from_f64(told.headroom)
        .map_err(|_| Violation::new("headroom", told.headroom, "must be a part of one"))?;
    let mut units: Vec<Unit> = Vec::new();
    for amount in told.tenants.iter().flat_map(|tenant| &tenant.amounts) {
        if units.iter().all(|unit| unit.resource != amount.resource) {
            units.push(Unit { resource: amount.resource.clone(), amount: amount.unit.clone() });
        }
    }
    let mut level_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut levels = None;
    for tenant in &told.tenants {
        let above = tenant.parent.as_deref().and_then(|parent| level_of.get(parent)).copied().unwrap_or(0);
        // Users and groups may have the same id; a parent is a group, which is named first.
        level_of.entry(&tenant.id).or_insert(above + 1);
        levels = levels.max(Some(above + 1));
    }
    let options = ExportOptions { headroom, units, memory_in: Some(told.memory_in), levels, hard: false };
    Ok((told.told_target()?, options))
}

/// The first difference of what tenants are given.
fn other_amounts(told: &[ExportedTenant], again: &[ExportedTenant]) -> Option<String> {
    for (position, tenant) in again.iter().enumerate() {
        let Some(told) = told.get(position) else { return Some(format!("{} is not there", tenant.id)) };
        if (&told.id, &told.parent) != (&tenant.id, &tenant.parent) {
            return Some(format!("tenants[{position}] is {}, by the solution {}", told.id, tenant.id));
        }
        if !is_near(told.share, tenant.share) {
            return Some(format!("{}: share is {}, by the solution {}", told.id, told.share, tenant.share));
        }
        let [has, by_solution] = [told, tenant].map(amounts);
        let keys: BTreeSet<&(&str, &str)> = has.keys().chain(by_solution.keys()).collect();
        for key in keys {
            let [has, by_solution] =
                [&has, &by_solution].map(|amounts| amounts.get(key).copied().unwrap_or(0.0));
            if !is_near(has, by_solution) {
                let (class, resource) = key;
                return Some(format!(
                    "{}: {resource} on {class} is {has}, by the solution {by_solution}",
                    told.id
                ));
            }
        }
    }
    told.get(again.len()).map(|more| format!("{} is no tenant by the solution", more.id))
}

/// The first whole units that are not those of the amounts rounded as export rounds them. Amounts that differ are told before.
fn other_units(told: &[ExportedTenant], again: &[ExportedTenant]) -> Option<String> {
    let amounts =
        |tenants: &[ExportedTenant]| tenants.iter().map(|tenant| tenant.amounts.len()).sum::<usize>();
    if amounts(told) != amounts(again) {
        return Some("other amounts are stated than export writes".into());
    }
    let both = told.iter().zip(again).flat_map(|(told, again)| {
        told.amounts.iter().zip(&again.amounts).map(|(has, by_solution)| (&told.id, has, by_solution))
    });
    let mut others = both.filter(|(_, has, by_solution)| has.units != by_solution.units);
    others.next().map(|(id, has, by_solution)| {
        let (units, exported) = (has.units, by_solution.units);
        format!("{id}: {units} units of {} on {}, export gives {exported}", has.resource, has.class)
    })
}

/// The first tenant of whose answer another part is said to be sure, or that is said to have something by a rule that does not count what
/// its tasks need.
fn other_kept(told: &[ExportedTenant], again: &[ExportedTenant], exported: &Export) -> Option<String> {
    let mut both = told.iter().zip(again).enumerate();
    both.find_map(|(t, (told, again))| match (told.kept, again.kept, told.entitled) {
        (Some(has), Some(kept), _) if !is_near(has, kept) => {
            Some(format!("{}: kept is {has}, by the solution {kept}", told.id))
        }
        (has, kept, _) if has.is_some() != kept.is_some() => {
            Some(format!("{}: kept is of tenants with nobody below them", told.id))
        }
        (.., Some(entitled)) if exported.rests_on_uncounted(t) => {
            let problem = "though the target does not count all that its tasks ask for";
            Some(format!("{}: entitled is {entitled}, {problem}", told.id))
        }
        _ => None,
    })
}

/// What a tenant is given of which resource on which class, in cores, bytes and pieces.
fn amounts(tenant: &ExportedTenant) -> BTreeMap<(&str, &str), f64> {
    let mut found = BTreeMap::new();
    for amount in &tenant.amounts {
        let unit = Quantity::parse(&amount.unit).map_or(f64::NAN, |unit| unit.part_of(Quantity::ONE));
        *found.entry((amount.class.as_str(), amount.resource.as_str())).or_insert(0.0) += amount.exact * unit;
    }
    found
}

/// The first tenant that is called otherwise: under its name it would be told what another has.
fn other_names(told: &[ExportedTenant], again: &[ExportedTenant]) -> Option<String> {
    let other = told.iter().zip(again).find(|(told, again)| told.name != again.name);
    other.map(|(told, again)| format!("{} is called {}, by its id {}", told.id, told.name, again.name))
}
