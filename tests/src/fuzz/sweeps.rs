//! What sweeps read: specifications, which become lists of tasks, and these lists.

use super::Target;
use super::own_files::text;
use fairplan_cli::InProcess;
use fairplan_sweeps::{Specification, TaskFile, missing, plan};
use std::path::Path;

const CROSSED: &str = "from:
  command: generate google
  arguments: [--users, 7]
  parameters:
    seed: {seeds: 3, first: 5}
command: place
arguments: [\"-\"]
parameters:
  policy: [best-fit, first-fit]
  time-limit: {from: 1, to: 2, step: 0.5}
";
const ZIPPED: &str = r#"{"command": ["generate", "google"], "arguments": ["--rounded"],
    "zip": [{"users": [5, 6], "seed": ["1", "2"]}], "parameters": {"servers": [10, 20], "finite": [true, null]}}
"#;

/// A specification with more digits in a row is read and not planned: it may ask for millions of tasks, which take their time.
const MOST_DIGITS: usize = 2;

/// Every reader of sweeps.
pub(super) fn targets() -> Vec<Target> {
    vec![
        Target::new("sweep specification YAML", [("s.yaml", CROSSED.into())], specification),
        Target::new("sweep specification JSON", [("s.json", ZIPPED.into())], specification),
        Target::new("sweep tasks", [("s.jsonl", planned("s.yaml", CROSSED))], |paths| tasks(&paths[0])),
    ]
}

fn planned(file: &str, specification: &str) -> Vec<u8> {
    let read = Specification::parse(file, specification.as_bytes()).expect("a valid specification");
    let mut written = Vec::new();
    plan(&read, &InProcess).expect("a valid sweep").write(&mut written).expect("memory takes it");
    written
}

/// An accepted specification is planned, and its tasks are read.
fn specification(paths: &[String]) -> Result<(), String> {
    let read = Specification::read(&paths[0]).map_err(text)?;
    let content = std::fs::read(&paths[0]).expect("it was read");
    if content
        .chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit())
        .any(|run| run.len() > MOST_DIGITS && run[0].is_ascii_digit())
    {
        return Ok(());
    }
    let mut written = Vec::new();
    plan(&read, &InProcess).map_err(text)?.write(&mut written).expect("memory takes it");
    let list = format!("{}.again.jsonl", paths[0]);
    std::fs::write(&list, written).expect("a file is written");
    tasks(&list).expect("what was planned");
    Ok(())
}

/// Every task is read; none of them has a result.
fn tasks(path: &str) -> Result<(), String> {
    let list = TaskFile::open(path).map_err(text)?;
    let missing = missing(&list, Path::new("no such folder")).map_err(text)?;
    assert!(missing.indices.count() == list.header().tasks, "results of nothing");
    Ok(())
}
