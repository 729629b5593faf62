//! `peers/`: the comparison with published systems runs on small inputs, and fairplan is at the optimum there.
//!
//! Needs python3 with venv and PyPI, and Gavel's throughputs where its problem is asked for; where they are missing the tests say so and
//! pass.

use crate::command_line::{binary, root};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// An interpreter with the packages of `peers/requirements.txt`.
fn python() -> Option<Command> {
    static INTERPRETER: OnceLock<Result<String, String>> = OnceLock::new();
    let interpreter = INTERPRETER.get_or_init(|| {
        let tools = Command::new(root().join("setup/notebook-tools.sh")).arg("peers").output();
        let tools = tools.map_err(|error| error.to_string())?;
        let [told, complaint] =
            [tools.stdout, tools.stderr].map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        if tools.status.success() { Ok(told) } else { Err(complaint) }
    });
    let mut command =
        Command::new(interpreter.as_ref().map_err(|reason| println!("skipped: {reason}")).ok()?);
    command.env("FAIRPLAN", binary()).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(root());
    Some(command)
}

/// The folder of Gavel's throughputs.
fn data() -> PathBuf {
    std::env::var_os("PEERS_DATA").map_or_else(|| root().join("../shared/data/gavel"), PathBuf::from)
}

/// The lines of a run on these families with 24 users, and a peer of each kind.
fn lines(families: &str) -> Option<Vec<serde_json::Value>> {
    let mut python = python()?;
    let folder = tempfile::tempdir().unwrap();
    python.env("PEERS_DATA", data()).args(["peers/run.py", "--families", families, "--sizes", "24"]);
    for peer in ["level by level", "max-min, cvxpy, HiGHS", "adaptive", "POP by 2"] {
        python.args(["--only", peer]);
    }
    let output = python.arg("-o").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(folder.path().join("lines.jsonl")).unwrap();
    Some(written.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// fairplan is proved and overloads nothing; nobody has a larger lexicographic vector; who finds all levels finds the same.
fn at_the_optimum(families: &str) {
    let Some(lines) = lines(families) else { return };
    let of = |peer: &str| lines.iter().filter(|line| line["peer"] == peer).collect::<Vec<_>>();
    assert_eq!(of("fairplan").len(), families.split(',').count());
    for line in of("fairplan") {
        assert!(line["proof"].as_str().unwrap().ends_with("verified"), "{line}");
        assert_eq!(line["violation"], 0.0, "{line}");
    }
    for line in lines.iter().filter(|line| line["first"].is_array()) {
        assert!(line["first"][1].as_f64().unwrap() < 0.0, "{line}");
    }
    for line in of("HiGHS level by level") {
        assert!(line["first"].is_null() && line["failed"].is_null(), "{line}");
    }
}

#[test]
fn on_a_population_nobody_is_nearer_to_the_optimum() {
    at_the_optimum("population");
}

#[test]
fn on_gavels_jobs_nobody_is_nearer_to_the_optimum() {
    if !data().join("simulation_throughputs.json.gz").exists() {
        println!("skipped: {} has no simulation_throughputs.json.gz", data().display());
        return;
    }
    at_the_optimum("gavel-priorities,gavel-room");
}

#[test]
fn without_the_throughputs_it_says_where_they_come_from() {
    let Some(mut python) = python() else { return };
    let nowhere = tempfile::tempdir().unwrap();
    let output = python.env("PEERS_DATA", nowhere.path()).args(["peers/run.py", "--small"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("PEERS_DATA=FOLDER"));
}
