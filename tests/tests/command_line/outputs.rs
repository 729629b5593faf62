//! What the commands write: valid by their schemas, the same bytes each time, verified by the checker.

use super::{Folder, fixtures, text};
use serde_json::Value;

fn assert_valid(folder: &Folder, schema: &str, file: &str) {
    let schema: Value = serde_json::from_str(&folder.done(&["schema", schema])).unwrap();
    let document: Value = serde_json::from_str(&folder.read(file)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{file}: {problems:?}\n{document:#}");
}

#[test]
fn every_fixture_is_solved_and_placed_verified_and_valid_by_the_schemas() {
    for instance in fixtures() {
        let folder = Folder::new();
        folder.instance("instance.json", &instance);
        folder.done(&["solve", "instance.json", "-o", "solution.json"]);
        folder.done(&["verify", "instance.json", "solution.json", "-o", "verification.json"]);
        folder.done(&["place", "instance.json", "--servers-out", "-o", "placement.json"]);
        folder.done(&["verify", "instance.json", "placement.json", "-o", "verification-2.json"]);
        folder.done(&["compare", "instance.json", "-o", "comparison.json"]);
        for (schema, file) in [
            ("instance", "instance.json"),
            ("solution", "solution.json"),
            ("verification", "verification.json"),
            ("verification", "verification-2.json"),
            ("placement", "placement.json"),
            ("comparison", "comparison.json"),
        ] {
            assert_valid(&folder, schema, file);
        }
    }
}

#[test]
fn every_backend_writes_what_verify_accepts_of_every_fixture() {
    for instance in fixtures() {
        let folder = Folder::new();
        folder.instance("instance.json", &instance);
        for backend in fairplan_tests::backend_names() {
            folder.done(&["solve", "instance.json", "--backend", backend, "-o", "solution.json"]);
            folder.done(&["verify", "instance.json", "solution.json"]);
        }
    }
}

#[test]
fn where_tasks_run_is_a_table_beside_the_result() {
    let folder = Folder::new();
    for instance in fixtures() {
        folder.instance("instance.json", &instance);
        folder.done(&["solve", "instance.json", "-o", "solution.json", "--placement-out", "placement.csv"]);
        let solution: Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
        let text = |of: &Value, field: &str| of[field].as_str().unwrap_or_default().to_owned();
        let mut expected = Vec::new();
        for user in solution["users"].as_array().unwrap() {
            for there in user["placement"].as_array().unwrap() {
                let kind = instance.has_kinds().then(|| text(there, "kind"));
                let names = [Some(text(user, "id")), kind, Some(text(there, "class"))];
                let tasks = there["tasks"].as_f64().unwrap();
                expected.push((names.into_iter().flatten().collect::<Vec<_>>(), tasks));
            }
        }
        let table = folder.read("placement.csv");
        let rows = table.lines().skip(1).map(|row| {
            let cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            let (tasks, names) = cells.split_last().unwrap();
            (names.to_vec(), tasks.parse::<f64>().unwrap())
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
    let words = ["solve", "instance.json", "--objective", "drf", "--placement-out", "none.csv"];
    let told = folder.refused(&words);
    assert!(told.contains("--placement-out: drf treats all servers as one"), "{told}");
    assert!(!folder.path("none.csv").exists());
}

#[test]
fn the_same_input_gives_the_same_bytes_twenty_times_and_on_one_thread_or_two() {
    let folder = Folder::new();
    folder.done(&["generate", "google", "--users", "60", "--seed", "3", "-o", "instance.json"]);
    let words = ["solve", "instance.json", "--no-timing", "--threads"];
    let first = folder.done(&[&words[..], &["1"]].concat());
    for run in 0..20 {
        let threads = ["1", "2"][run % 2];
        assert_eq!(first, folder.done(&[&words[..], &[threads]].concat()), "run {run} on {threads} threads");
    }
    let generate = ["generate", "google", "--users", "60", "--seed", "3"];
    assert_eq!(folder.done(&generate), folder.read("instance.json"));
    let other = folder.done(&["generate", "google", "--users", "60", "--seed", "4"]);
    assert_ne!(other, folder.read("instance.json"));
}

#[test]
fn a_result_of_another_instance_is_told_so_with_status_1() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    folder.done(&["generate", "drfh-fig4", "-o", "fig4.json"]);
    folder.done(&["solve", "fig1.json", "-o", "solution.json"]);
    let output = folder.run(&["verify", "fig4.json", "solution.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("another instance"), "{}", text(&output.stderr));
    let raised = folder.read("solution.json").replacen("\"value\": 0.71", "\"value\": 0.72", 1);
    folder.write("raised.json", raised);
    let output = folder.run(&["verify", "fig1.json", "raised.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\"holds\": false"));
}

#[test]
fn tables_in_give_what_json_gives() {
    let folder = Folder::new();
    folder.write("servers.csv", "id,count,cpu,memory\nhigh-memory,1,2,12\nhigh-cpu,1,12,2\n");
    folder.write("users.csv", "id,cpu,memory\nuser-1,0.2,1\nuser-2,1,0.2\n");
    let csv = folder.done(&["solve", "--servers", "servers.csv", "--users", "users.csv", "--format", "csv"]);
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    assert_eq!(csv, folder.done(&["solve", "fig1.json", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn quiet_is_silent_and_help_shows_an_example() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "fig1.json"]);
    let output = folder.run(&["solve", "fig1.json", "--quiet"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    for command in ["solve", "place", "compare", "verify", "generate", "reproduce", "schema"] {
        assert!(folder.done(&[command, "--help"]).contains("Example"), "{command}");
    }
}

#[test]
fn what_a_command_reads_it_does_not_write_over_however_it_is_named() {
    let folder = Folder::new();
    let instance = &fixtures()[0];
    folder.instance("a.json", instance);
    folder.instance("b.json", instance);
    std::os::unix::fs::symlink("a.json", folder.path("link.json")).unwrap();
    let before = folder.read("a.json");
    for line in [
        "solve a.json -o a.json",
        "solve a.json -o ./a.json",
        "solve link.json -o a.json",
        "solve a.json -o link.json",
        "solve --servers a.json --users b.json --placement-out b.json",
        "plan buy a.json --catalog b.json --share 1 -o b.json",
        "convert --servers a.json --users b.json --to-servers new.csv --to-users a.json",
        "export kueue a.json b.json --quotas a.json",
        "import kueue a.json b.json -o b.json",
        "simulate a.json --jobs a.json",
        "report a.json -o a.json",
    ] {
        let told = folder.refused(&line.split(' ').collect::<Vec<_>>());
        assert!(told.ends_with("would be overwritten; name another file to write"), "{line}: {told}");
    }
    let mut fed = folder.command(&["solve", "-", "-o", "a.json"]);
    let fed = fed.stdin(std::fs::File::open(folder.path("a.json")).unwrap()).output().unwrap();
    assert_eq!(fed.status.code(), Some(2));
    assert!(text(&fed.stderr).contains("a.json: is read as standard input"), "{}", text(&fed.stderr));
    assert_eq!((folder.read("a.json"), folder.read("b.json")), (before.clone(), before));
    folder.done(&["-q", "solve", "a.json", "-o", "b.json"]);
}
