//! Traces on the command line: generated, imported, converted, and each line fits the schema.

use super::{Folder, root};
use serde_json::Value;

/// A slice of the real trace that ships with the sources.
fn slice(name: &str) -> String {
    root().join("imports/data/google2011_slice").join(name).to_str().unwrap().to_owned()
}

fn import(folder: &Folder, output: &str) -> String {
    let (tasks, machines) = (slice("task_events-00000.csv"), slice("machine_events.csv"));
    folder.done(&[
        "import",
        "google-2011-trace",
        "--task-events",
        &tasks,
        "--machine-events",
        &machines,
        "-o",
        output,
        "--quiet",
    ])
}

#[test]
fn every_line_of_a_trace_fits_the_schema() {
    let folder = Folder::new();
    let schema: Value = serde_json::from_str(&folder.done(&["schema", "trace"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    folder.done(&["generate", "trace-drfh-fig4", "-o", "fig4.jsonl", "--quiet"]);
    folder.done(&[
        "generate",
        "trace-random",
        "--jobs",
        "50",
        "--outages",
        "9",
        "-o",
        "random.jsonl",
        "--quiet",
    ]);
    import(&folder, "google.jsonl");
    for (name, least) in [("fig4.jsonl", 4), ("random.jsonl", 150), ("google.jsonl", 30)] {
        let text = folder.read(name);
        assert!(text.lines().count() >= least, "{name}: {} lines", text.lines().count());
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(validator.is_valid(&value), "{name}: {line}");
        }
        let spoilt = text.lines().last().unwrap().replace("\"time\"", "\"when\"");
        assert!(!validator.is_valid(&serde_json::from_str(&spoilt).unwrap()), "{spoilt}");
    }
}

#[test]
fn a_trace_goes_through_every_form_and_comes_back_the_same() {
    let folder = Folder::new();
    import(&folder, "a.jsonl");
    for (from, to) in [("a.jsonl", "b.parquet"), ("b.parquet", "c.jsonl.gz"), ("c.jsonl.gz", "d.jsonl")] {
        folder.done(&["convert", "--trace", from, "-o", to, "--quiet"]);
    }
    assert_eq!(folder.read("a.jsonl"), folder.read("d.jsonl"));
    assert_eq!(folder.done(&["convert", "--trace", "b.parquet", "--quiet"]), folder.read("a.jsonl"));
}

#[test]
fn what_cannot_be_a_trace_is_refused_with_its_place_and_no_output_is_left() {
    let folder = Folder::new();
    folder.write(
        "bad.jsonl",
        "{\"format\": \"fairplan.trace.v1\", \"resources\": [\"cpu\"]}\n{\"time\": -1}\n",
    );
    for (words, part) in [
        ("convert --trace bad.jsonl -o out.jsonl", "bad.jsonl: line 2"),
        ("convert --trace bad.jsonl -o out.parquet", "bad.jsonl: line 2"),
        ("convert --trace missing.jsonl -o out.jsonl", "missing.jsonl"),
        ("generate trace-random --jobs 0 -o out.jsonl", "jobs = 0: draw at least 1"),
        (
            "import google-2011-trace --task-events bad.jsonl --servers 5 -o out.jsonl",
            "bad.jsonl: line 1: 2 columns",
        ),
        (
            "import google-2011-trace --task-events bad.jsonl -o out.jsonl",
            "--machine-events <FILE>...|--servers <N>",
        ),
        ("import philly-trace bad.jsonl --servers 3 -o out.jsonl", "bad.jsonl"),
        ("import swf-trace bad.jsonl -o out.jsonl", "bad.jsonl: line 1: has 4 of the 18 fields that a job"),
    ] {
        let text = folder.refused(&words.split(' ').collect::<Vec<_>>());
        assert!(text.contains(part), "{words}: {text}");
        assert!(!folder.path("out.jsonl").exists() && !folder.path("out.parquet").exists(), "{words}");
    }
}
