//! Traces on the command line: what comes out, and what is refused.

use super::{Folder, text};
use serde_json::Value;

fn fits_schema(folder: &Folder, name: &str, document: &Value) {
    let schema: Value = serde_json::from_str(&folder.done(&["schema", name])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn a_trace_is_run_by_every_policy_and_its_series_tells_the_optimum() {
    let folder = Folder::new();
    folder.done(&["generate", "trace-drfh-fig4", "-o", "t.jsonl", "--quiet"]);
    let policies = "best-fit,first-fit,worst-fit,dot-product,random,slots=14";
    let words = ["simulate", "t.jsonl", "--policy", policies, "--dedicated", "--quiet"];
    let found: Value = serde_json::from_str(&folder.done(&words)).unwrap();
    fits_schema(&folder, "simulation", &found);
    let runs = found["policies"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        assert_eq!(run["tasks"]["completed"], 18_100, "{}", run["policy"]);
        assert_eq!(run["jobs_completed"], 3);
    }
    let words = "simulate t.jsonl --policy best-fit,exact,pf,bmf --resolve-every 50 --series s.jsonl --sample 50 --optimum 100 \
                 --jobs j.jsonl --quiet";
    let words: Vec<&str> = words.split_whitespace().collect();
    let once = folder.done(&words);
    let series = folder.read("s.jsonl");
    let lines: Vec<Value> = series.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at =
        |time: f64| lines.iter().find(|line| line["time"] == time && line["policy"] == "best-fit").unwrap();
    assert!(at(350.0)["users"][0].get("optimal_share").is_none());
    // Divisible tasks would get more than whole ones on these small servers.
    let user = &at(400.0)["users"][0];
    let (share, optimum) =
        (user["dominant_share"].as_f64().unwrap(), user["optimal_share"].as_f64().unwrap());
    assert!(share > 0.4 && share < optimum && optimum < 0.7, "{share} {optimum}");
    assert_eq!(folder.read("j.jsonl").lines().count(), 4 * 3);
    let again: Vec<&str> = words.iter().copied().chain(["--threads", "1"]).collect();
    assert_eq!((once, series), (folder.done(&again), folder.read("s.jsonl")));
    let piped = [
        "simulate",
        "t.jsonl",
        "--series",
        "s.parquet",
        "--jobs",
        "j.parquet",
        "--policy",
        "first-fit",
        "--quiet",
    ];
    folder.done(&piped);
    assert!(std::fs::read(folder.path("s.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn bad_traces_and_impossible_limits_end_with_their_exit_status() {
    let folder = Folder::new();
    let header = r#"{"format": "fairplan.trace.v1", "resources": ["cpu"], "server_classes": [{"id": "c", "count": 1, "capacity": {"cpu": 1}}]}"#;
    let task = |time: u32, cpu: &str| {
        format!(
            r#"{{"time": {time}, "event": "tasks_submitted", "user": "u", "job": "j{time}", "demand": {{"cpu": {cpu}}}, "count": 1, "duration": 5}}"#
        )
    };
    folder.write("back.jsonl", format!("{header}\n{}\n{}\n", task(7, "1"), task(3, "1")));
    let output = folder.run(&["simulate", "back.jsonl"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("back.jsonl") && told.contains("sorted by time"), "{told}");
    folder.write("large.jsonl", format!("{header}\n{}\n{}\n", task(1, "2"), task(3, "1")));
    let found: Value = serde_json::from_str(&folder.done(&["simulate", "large.jsonl"])).unwrap();
    let tasks = &found["policies"][0]["tasks"];
    assert_eq!(
        (&tasks["completed"], &tasks["waiting"], &tasks["too_large"]),
        (&1.into(), &1.into(), &1.into())
    );
    folder.done(&["generate", "trace-random", "--jobs", "20000", "-o", "long.jsonl", "--quiet"]);
    let words = [
        "simulate",
        "long.jsonl",
        "--policy",
        "exact",
        "--time-limit",
        "0.2",
        "-o",
        "partial.json",
        "--quiet",
    ];
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(3));
    let partial: Value = serde_json::from_str(&folder.read("partial.json")).unwrap();
    fits_schema(&folder, "simulation", &partial);
    assert_eq!(partial["partial"], true);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_writes_what_it_has_and_says_so() {
    let folder = Folder::new();
    folder.done(&["generate", "trace-random", "--jobs", "20000", "-o", "long.jsonl", "--quiet"]);
    let words = ["simulate", "long.jsonl", "--policy", "exact,pf", "-o", "partial.json", "--quiet"];
    let mut running = folder.command(&words).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let told = std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(running.wait().unwrap().code(), Some(3));
    let partial: Value = serde_json::from_str(&folder.read("partial.json")).unwrap();
    assert_eq!((&partial["partial"], partial["policies"].as_array().unwrap().len()), (&true.into(), 2));
}

/// Groups of users that the trace does not have are groups of nobody.
#[test]
fn tenants_of_whom_the_trace_has_no_user_are_told() {
    let folder = Folder::new();
    folder.done(&["generate", "trace-drfh-fig4", "-o", "t.jsonl"]);
    folder.done(&["generate", "drfh-fig4", "-o", "own.json"]);
    folder.write("others.json", folder.read("own.json").replace("\"user-", "\"other-"));
    for (tenants, is_told) in [("own.json", false), ("others.json", true)] {
        let words = ["simulate", "t.jsonl", "--policy", "best-fit", "--tenants", tenants, "-o", "s.json"];
        let output = folder.run(&words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(told.contains("no user of the trace is among the tenants"), is_told, "{told}");
    }
}
