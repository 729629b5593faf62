//! A file that `export` wrote, held against the result that it was made from.

use super::alike::{Amounts, difference, is_stated};
use super::{SOLUTION, again, kind_of};
use crate::verify::sha256_of;
use crate::{Error, ResultFile};
use fairplan_exports::ExportBody;
use fairplan_imports::deployed_in;
use fairplan_instances::{Body, Document, Instance, files};
use fairplan_report::verification::Verification;
use fairplan_report::{UncheckedField, read_json};
use fairplan_verify::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// What is found of a file that says it was exported from a result.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedFile {
    /// The properties that were checked.
    pub verdicts: Vec<Verdict>,
    /// What of the file was not compared.
    pub unchecked: Vec<UncheckedField>,
}

impl ExportedFile {
    /// What was found of the result itself, with what was found of the file.
    pub fn added_to(self, verified: Verification) -> Verification {
        self.verdicts.iter().fold(verified, Verification::with).besides(self.unchecked)
    }
}

/// Whether the configuration in `file`, or the `fairplan.export.v1`, was made by `export` from the result `from` (a solution, or a
/// `fairplan.export.v1` of it): each hash of a solution that it states is that of this one (`names-the-solution`); and, with the
/// `instance`, whether it has the very amounts that follow (`exported-amounts`): of a solution by exporting it again with the options that
/// the file states, of a `fairplan.export.v1` those that it says. Whether the result itself is right says [`verify`](crate::verify()).
///
/// ```
/// use fairplan::exports::{ExportOptions, MemoryIn, Target};
/// use fairplan::{Control, ResultFile, SolveOptions, export, export_changes, exported_from, generate, report, solve};
///
/// let instance = generate::drfh_fig1()?;
/// let solved = solve(&instance, &SolveOptions::default(), &Control::none())?;
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &solved.document(&instance, true)).unwrap();
/// let solution = ResultFile::new("solution.json".into(), bytes)?;
/// let options = ExportOptions { memory_in: Some(MemoryIn::Gibibytes), ..ExportOptions::default() };
/// let exported = export(&instance, &solution, Target::Kueue, &options, &Control::none())?;
/// let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
/// std::fs::write(file.path(), exported.text()).unwrap();
/// let file = file.path().to_str().unwrap().to_owned();
/// let found = exported_from(Some(&instance), &solution, &file)?;
/// assert!(found.verdicts.iter().all(|verdict| verdict.holds));
/// assert!(export_changes(&exported, &[file])?.changes.is_empty());
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// A file that states no solution, one that cannot be read, and one that is no configuration of the export's target.
pub fn exported_from(
    instance: Option<&Instance>,
    from: &ResultFile,
    file: &str,
) -> Result<ExportedFile, Error> {
    let content = files::source::open(file).and_then(|source| source.read_all())?;
    let text = String::from_utf8_lossy(&content);
    let document: Option<Document<ExportBody>> = match from.format.as_str() {
        ExportBody::FORMAT => Some(read_json(&from.name, &from.bytes)?),
        _ => None,
    };
    let expected =
        document.as_ref().map_or_else(|| sha256_of(&from.bytes), |document| document.solution_sha256.clone());
    let mut verdicts = vec![names_the_solution(&text, &expected, &from.name, file)?];
    let unchecked = |what: &str, reason: &str| UncheckedField {
        field: format!("{}: {what}", fairplan_instances::wording::printable(file, 100)),
        reason: reason.into(),
    };
    let unchecked = match (&document, instance) {
        (Some(document), Some(instance)) => {
            verdicts.push(has_the_amounts(document, instance, file, &text)?);
            let problem = "limits and weights are not in the result; hold the file against the solution, or use --current";
            vec![unchecked("limits, weights and all else but the amounts that queues are given", problem)]
        }
        (None, Some(instance)) if from.format == SOLUTION => {
            let found = match is_document(&text) {
                true => again::document(instance, from, file, &content)?,
                false => again::configuration(instance, from, file, &text)?,
            };
            verdicts.extend(found.verdicts);
            found.unchecked.into_iter().map(|(what, reason)| unchecked(what, reason)).collect()
        }
        _ => vec![unchecked(
            "all but the hash of its solution",
            "the result states no amounts of queues; hold the file against the solution or its fairplan.export.v1, with the instance",
        )],
    };
    Ok(ExportedFile { verdicts, unchecked })
}

/// Whether a file is a `fairplan.export.v1` and no configuration.
fn is_document(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"fairplan.export.v1\"")
}

/// Whether each hash of a solution in the text is the expected one.
fn names_the_solution(text: &str, expected: &str, from: &str, file: &str) -> Result<Verdict, Error> {
    let stated: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 64).collect();
    let of_instance = after(text, "of the instance ").or_else(|| after(text, "\"instance_sha256\": \""));
    let stated: BTreeSet<&str> = stated.into_iter().filter(|hash| Some(*hash) != of_instance).collect();
    if stated.is_empty() {
        return Err(Error::input(format!("{file}: states no solution that it was exported from")));
    }
    let other = stated.into_iter().find(|hash| *hash != expected);
    Ok(Verdict::without_size(
        "names-the-solution",
        other.map(|other| {
            format!("{file} was exported from the solution {other}, not from {expected}, which {from} is")
        }),
    ))
}

/// The word after the first `mark`.
fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    let rest = &text[text.find(mark)? + mark.len()..];
    rest.split(|c: char| !c.is_ascii_hexdigit()).next()
}

/// Whether the file has the amounts of the export and no others.
fn has_the_amounts(
    document: &Document<ExportBody>,
    instance: &Instance,
    file: &str,
    text: &str,
) -> Result<Verdict, Error> {
    let refused = |violation: fairplan_instances::Violation| Error::input(format!("the result: {violation}"));
    let target = document.told_target().map_err(refused)?;
    // What cannot be told is no export of this instance, of which other properties speak.
    let told = match document.told(instance) {
        Ok(told) => told,
        Err(violation) => return Ok(Verdict::without_size("exported-amounts", Some(violation.to_string()))),
    };
    let found: BTreeMap<String, Amounts> = if is_document(text) {
        let other: Document<ExportBody> = read_json(file, text.as_bytes())?;
        let other = other.told(instance).map_err(refused)?;
        other
            .into_iter()
            .filter(|queue| is_stated(target, queue))
            .map(|queue| (queue.name, queue.amounts))
            .collect()
    } else {
        let read = deployed_in(kind_of(target), file, text)?;
        let given = read.into_iter().filter(|(_, queue)| !queue.is_stopped);
        given.map(|(name, queue)| (name, queue.amounts)).collect()
    };
    Ok(Verdict::without_size("exported-amounts", difference(target, &told, &found)))
}
