//! `reproduce --sweep`: a task an exhibit, so that they use all cores and what is done is not computed again.

use super::failed::failed;
use super::run::run_all;
use crate::arguments::CommonOptions;
use fairplan::Error;
use fairplan::report::output::Destination;
use fairplan::report::reproduction::ReproductionDocument;
use fairplan_studies::{ReproduceOptions, joined};
use fairplan_sweeps::{Commands, Indices, Specification, TaskFile, plan, results};
use serde_json::json;
use std::path::Path;

/// The list of tasks in the directory.
const TASKS: &str = "reproduce.jsonl";

/// Recomputes exhibits as a sweep in `directory`: what all of them come to is the document that they would come to one after the
/// other.
///
/// # Errors
/// An exhibit that could not be recomputed; those that could are kept.
pub fn reproduced(
    options: &ReproduceOptions,
    directory: &Path,
    common: CommonOptions,
    swept: &dyn Commands,
) -> Result<ReproductionDocument, Error> {
    let said = json!({"command": "reproduce", "parameters": {"ids": options.exhibits()?}});
    let specification = Specification::parse("--sweep", said.to_string().as_bytes()).map_err(failed)?;
    let plan = plan(&specification, swept).map_err(failed)?;
    if directory.is_file() {
        let reason = "is a file; name a directory";
        return Err(Error::input(format!("--sweep {}: {reason}", directory.display())));
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| Error::input(format!("--sweep {}: {error}", directory.display())))?;
    let list = directory.join(TASKS);
    Destination::new(Some(&list))?.write(|out| plan.write(out))?;
    let tasks = TaskFile::open(&list.to_string_lossy()).map_err(failed)?;
    let kept = directory.join("results");
    let ran = run_all(&tasks, &Indices::below(tasks.header().tasks), &kept, common, swept)?;
    if let Some((index, message)) = ran.first_failure {
        let name = plan.tasks().get(usize::try_from(index).unwrap_or(usize::MAX));
        let name = name.and_then(|task| task.arguments.get(1)).map_or("", String::as_str);
        return Err(Error::backend(format!("{name}: {message}")));
    }
    let mut parts = Vec::new();
    let mut take = |_, text: &str| {
        parts.push(serde_json::from_str::<ReproductionDocument>(text).map_err(|error| error.to_string())?);
        Ok(())
    };
    results(&tasks, &kept, &mut take).map_err(failed)?;
    Ok(joined(parts, options))
}
