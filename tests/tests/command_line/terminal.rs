//! What reaches a terminal: nothing that it obeys, whatever ids, names, paths and values say; help, and names that are unknown.

use super::{Folder, text};
use fairplan_instances::{Decimal, Draft, DraftUser, ServerClass};
use serde_json::{Value, json};

/// What a terminal obeys, hides or turns round: escape sequences in both forms, bells, ends of lines, Unicode's marks.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}x\u{2066}\r\n\u{7}\u{200b}\u{61c}";

/// What the terminal is told, all of it harmless.
fn told(folder: &Folder, words: &[&str]) -> String {
    let output = folder.run(words);
    let told = text(&output.stderr);
    let marks = ['\u{61c}', '\u{200b}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    let is_bidi = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful =
        |letter: &char| letter.is_control() && *letter != '\n' || is_bidi(*letter) || marks.contains(letter);
    assert_eq!(told.chars().find(harmful), None, "{words:?}: {told:?}");
    assert!(!told.is_empty(), "{words:?} says nothing");
    told
}

/// The same of what must be done, or answered with no.
fn done(folder: &Folder, words: &[&str]) -> String {
    let told = told(folder, words);
    assert!(!told.starts_with("error"), "{words:?}: {told}");
    told
}

fn hostile(name: &str) -> String {
    format!("{HOSTILE}{name}")
}

/// A cluster all of whose names are hostile, with something to warn of.
fn cluster(folder: &Folder) {
    let decimals = |numbers: &[u32]| numbers.iter().map(|number| Decimal::from(*number)).collect::<Vec<_>>();
    let mut draft = Draft {
        name: hostile("cluster"),
        resources: [hostile("cpu"), hostile("memory"), hostile("gpu")].to_vec(),
        ..Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap())
    };
    draft.classes = [("a", [2, 12, 1]), ("b", [12, 2, 0])]
        .map(|(id, capacity)| ServerClass::new(hostile(id), 1, decimals(&capacity)))
        .to_vec();
    let template = draft.users[0].clone();
    draft.users = [("u", [1, 2, 0]), ("v", [2, 1, 0])]
        .map(|(id, demand)| DraftUser { id: hostile(id), demand: decimals(&demand), ..template.clone() })
        .to_vec();
    folder.instance("i.json", &draft.build().unwrap());
}

#[test]
fn no_command_tells_a_terminal_what_it_would_obey() {
    let folder = Folder::new();
    cluster(&folder);
    let (user, class) = (hostile("u"), hostile("a"));
    let run = |line: &str| done(&folder, &line.split(' ').collect::<Vec<_>>());
    assert!(run("solve i.json -o solution.json").contains("\\u{1b}[2J\\u{9b}31m\\u{202e}x"));
    run("solve i.json --objective pf -o pf.json");
    run("place i.json --servers-out -o placement.json");
    run("bound i.json -o bound.json");
    run("bound i.json --objective pf -o bound-pf.json");
    run("compare i.json -o comparison.json");
    run("verify i.json solution.json -o verification.json");
    run("verify i.json placement.json");
    run("audit i.json -o audit.json");
    run("entitlements i.json -o entitlements.json");
    done(&folder, &["explain", "i.json", "--user", &user, "-o", "explanation.json"]);
    run("plan worth i.json -o worth.json");
    run("plan lose i.json -o loss.json");
    let mut other: Value = serde_json::from_str(&folder.read("i.json")).unwrap();
    other["users"][0]["weight"] = json!(2);
    other["server_classes"][0]["count"] = json!(2);
    folder.write("other.json", other.to_string());
    run("plan diff i.json other.json -o difference.json");
    folder.run(&["solve", "other.json", "-o", "other-solution.json"]);
    run("plan diff solution.json other-solution.json");
    let catalog = json!({"format": "fairplan.catalog.v1", "currency": HOSTILE, "server_types": [{"id": class, "price": 3}]});
    folder.write("catalog.json", catalog.to_string());
    run("plan i.json --catalog catalog.json --share 0.9 -o plan.json");
    run("plan i.json --catalog catalog.json --share 0.9 --budget 0.5 -o obstacle.json");
    let series = |user: &str| {
        json!({"format": "fairplan.demands.v1", "users": [user, "v"], "quanta": [hostile("1"), hostile("2")],
               "demands": [[1, 2], [3, 4]]})
    };
    folder.write("d.json", series(&user).to_string());
    run("plan growth i.json --series d.json --share 0.2 -o growth.json");
    for line in [
        "allocate d.json --fair-share 2 -o allocation.json",
        "offline d.json --fair-share 2 --per-quantum -o offline.json",
    ] {
        run(line);
    }
    let mut tasks = series(&user);
    tasks["users"][1] = json!(hostile("v"));
    folder.write("t.json", tasks.to_string());
    run("allocate t.json --instance i.json -o task-allocation.json");
    run("offline t.json --instance i.json -o task-offline.json");
    run("convert i.json -o again.json");
    run("convert i.json --to-servers s.csv --to-users u.csv");
    let traffic = json!({"format": "fairplan.traffic.v1", "name": HOSTILE, "resources": [HOSTILE],
        "classes": [{"id": HOSTILE, "demand": {HOSTILE: 1}, "arrival_rate": 0.3}]});
    folder.write("traffic.json", traffic.to_string());
    run("flows traffic.json --objective drf -o flows.json");
    folder.done(&["generate", "trace-drfh-fig4", "-o", "plain.jsonl", "--quiet"]);
    let escaped = Value::from(hostile("user-1")).to_string();
    folder.write("trace.jsonl", folder.read("plain.jsonl").replace("\"user-1\"", &escaped));
    run("convert --trace trace.jsonl -o again.jsonl");
    run("simulate trace.jsonl --policy best-fit -o simulation.json");
    // Every result, its words made hostile too.
    for result in folder.names().iter().filter(|name| name.ends_with(".json")) {
        let mut document: Value = serde_json::from_str(&folder.read(result)).unwrap();
        for field in
            ["mechanism", "policy", "objective", "user", "name", "method", "backend", "level", "source"]
        {
            if document[field].is_string() {
                document[field] = HOSTILE.into();
            }
        }
        folder.write("hostile.json", document.to_string());
        told(&folder, &["report", "hostile.json", "-o", "page.html"]);
        told(&folder, &["verify", "i.json", "hostile.json"]);
        told(&folder, &["plan", "diff", "hostile.json", "solution.json"]);
    }
}

#[test]
fn no_refusal_tells_a_terminal_what_it_would_obey() {
    let folder = Folder::new();
    cluster(&folder);
    let path = &hostile("path");
    for words in [
        &["solve", path][..],
        &["solve", "i.json", "-o", "missing\u{1b}[2J/x.json"],
        &["solve", "i.json", "--objective", path],
        &["solve", "i.json", "--backend", path],
        &["place", "i.json", "--policy", path],
        &["explain", "i.json", "--user", path],
        &["plan", "i.json", "--catalog", path, "--share", "1"],
        &["allocate", path, "--capacity", "1"],
        &["schema", path],
        &["reproduce", path],
        &["reproduce", "drfh-fig1", "--plots", path],
        &["manual", path],
        &["report", path],
        &["report", "i.json", "--plot", path],
        &["simulate", "i.json", "--policy", path],
        &[path],
    ] {
        let line = told(&folder, words);
        assert!(line.starts_with("error: ") && line.lines().count() == 1, "{words:?}: {line}");
    }
}

#[test]
fn nothing_asked_for_is_answered_by_help_and_status_2() {
    let folder = Folder::new();
    for words in [&[][..], &["generate"], &["import"]] {
        let output = folder.run(words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("Usage: fairplan") && !told.starts_with("error"), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn names_that_are_unknown_are_told_the_nearest_and_all() {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "i.json", "--quiet"]);
    folder.done(&["generate", "karma-fig2", "-o", "d.json", "--quiet"]);
    for (line, told) in [
        ("place i.json --policy bestfit", "unknown policy bestfit (did you mean best-fit?): use best-fit"),
        ("place i.json --policies bestfit", "hadoop-slots=N, pattern"),
        ("compare i.json --policy patern", "(did you mean pattern?)"),
        ("simulate i.json --policies exakt", "(did you mean exact?)"),
        (
            "solve i.json --objective drhf",
            "unknown objective drhf (did you mean drfh?): use drfh, pf, alpha=A",
        ),
        ("solve i.json --backend high", "unknown backend high (did you mean highs?): use auto, ipm, highs"),
        ("allocate d.json --fair-share 2 --mechanism carma", "unknown mechanism carma (did you mean karma?)"),
        ("explain i.json --user user1", "has no user of this id (did you mean user-1?)"),
        ("schema solutions", "unknown format solutions (did you mean solution?)"),
        ("reproduce karma-fig9", "unknown exhibit karma-fig9 (did you mean karma-fig2?)"),
    ] {
        let line_told = folder.refused(&line.split(' ').collect::<Vec<_>>());
        assert!(line_told.contains(told), "{line}: {line_told}");
    }
}

#[test]
fn a_warning_is_said_once_for_each_kind_and_the_rest_is_counted() {
    let folder = Folder::new();
    let classes: Vec<Value> =
        (0..50).map(|class| json!({"id": format!("c{class}"), "count": 1, "capacity": {"cpu": 1}})).collect();
    let instance = json!({"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": classes,
        "users": [{"id": "u", "demand": {"cpu": 1}, "eligible": ["c0"]}]});
    folder.write("i.json", instance.to_string());
    let output = folder.run(&["solve", "i.json"]);
    let warnings = text(&output.stderr).lines().filter(|line| line.starts_with("warning")).count();
    assert_eq!(warnings, 1, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("(and 48 more like it: see instance.warnings in the JSON result)"));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["instance"]["warnings"].as_array().unwrap().len(), 49);
}
