//! The red team: crafted results, each consistent in itself and false in one way, one a file in `tests/red_team/`. Each is
//! refused by the property that its author names. Whoever finds another one adds it.

use crate::command_line::root;
use crate::second_checker::second_checker;
use fairplan::{Control, ResultFile, verify, verify_offline, verify_offline_tasks};
use fairplan_instances::files::{Rounding, demands_sha256_hex, read_demands, read_instance, sha256_hex};
use fairplan_instances::{DemandSeries, Instance, TaskDemands};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What refuses a result: the properties that fail, or `format` where it is no document that can be held against anything.
fn refused_by(
    instance: Option<&Instance>,
    series: Option<&DemandSeries>,
    result: Vec<u8>,
) -> BTreeSet<String> {
    let control = Control::none();
    let verified =
        ResultFile::new("result.json".into(), result).and_then(|result| match (instance, series) {
            (None, None) => panic!("a result of nothing"),
            (Some(instance), None) => verify(instance, result, &control),
            (None, Some(series)) => verify_offline(series, &result, &control),
            (Some(instance), Some(series)) => {
                verify_offline_tasks(&TaskDemands::new(instance, series).unwrap(), &result, &control)
            }
        });
    match verified {
        Err(_) => BTreeSet::from(["format".to_owned()]),
        Ok(found) => found
            .verdicts
            .into_iter()
            .filter(|verdict| !verdict.holds)
            .map(|verdict| verdict.property)
            .collect(),
    }
}

#[test]
fn every_crafted_result_is_refused() {
    let folder = root().join("tests/red_team");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert!(files.len() >= 137, "{} crafted results", files.len());
    let mut python = 0;
    let passed: Vec<String> = files.iter().filter_map(|path| judge(path, &mut python)).collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
    println!("{} crafted results refused, {python} of them by the second checker too", files.len());
}

/// What is wrong with how a crafted result is judged.
fn judge(path: &Path, python: &mut u32) -> Option<String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let case: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let file = |file: &str, content: &Value| {
        let path = scratch.path().join(file);
        std::fs::write(&path, serde_json::to_vec_pretty(content).unwrap()).unwrap();
        path.to_string_lossy().into_owned()
    };
    let instance =
        case.get("instance").map(|content| read_instance(&file("instance.json", content)).unwrap());
    let series = case
        .get("demands")
        .map(|content| read_demands(&file("demands.json", content), Rounding::Refused).unwrap());
    let mut result = case["result"].clone();
    // The forger knows whose result it is to be.
    if let (Some(instance), Some(stamp)) = (&instance, result.pointer_mut("/instance/sha256")) {
        *stamp = sha256_hex(instance).into();
    }
    if let (Some(series), Some(stamp)) = (&series, result.pointer_mut("/demands/sha256")) {
        *stamp = demands_sha256_hex(series).into();
    }
    let expected = case["refused_by"].as_str().unwrap();
    let found = refused_by(instance.as_ref(), series.as_ref(), serde_json::to_vec(&result).unwrap());
    if !found.contains(expected) {
        return Some(format!("{name}: {}: expected {expected}, found {found:?}", case["story"]));
    }
    // The second checker knows solutions, and not what is said beside them.
    if result["format"] == "fairplan.solution.v1" && case["python"] != Value::Bool(false) {
        let (instance, result) = (file("instance.json", &case["instance"]), file("result.json", &result));
        if let Ok(told) = second_checker(Path::new(&instance), Path::new(&result))? {
            return Some(format!("{name}: the second checker says {told}"));
        }
        *python += 1;
    }
    None
}
