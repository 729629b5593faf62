//! Policies in other processes: the same placements as the same rule here, and what becomes of those that go wrong.

use super::{Folder, binary, root, text};
use crate::ruled_quotas::with_quotas;
use fairplan_instances::generate::{drfh_fig1, drfh_fig4};
use fairplan_instances::{Instance, Random};
use fairplan_tests::{Draft, random_draft};
use rayon::prelude::*;
use serde_json::Value;

/// The policy of the tests, with a fault.
fn policy(fault: &str) -> String {
    let program = binary().parent().unwrap().join("policy");
    format!("'{}' {fault}", program.display())
}

/// Where tasks run, without the name of who placed them.
fn placed(folder: &Folder, words: &[&str]) -> Value {
    let words = [&["-q", "place", "i.json", "--servers-out"], words].concat();
    let mut document: Value = serde_json::from_str(&folder.done(&words)).unwrap();
    document["policy"].take();
    document
}

fn has_python() -> bool {
    std::process::Command::new("python3").arg("--version").output().is_ok()
}

#[test]
fn the_guides_best_fit_in_python_places_as_ours_on_a_hundred_random_instances() {
    if !has_python() {
        return eprintln!("skipped: there is no python3");
    }
    let script = root().join("guide/policies/best_fit.py");
    let command = format!("python3 '{}'", script.display());
    let drafts = (3_000_000..).map(random_draft).filter_map(|mut draft| {
        // Of classes without servers nothing is told, though their amounts count where units are chosen.
        let told = draft.classes.iter().all(|class| class.count > 0);
        // Python looks at each server.
        draft.classes.iter_mut().for_each(|class| class.set_count(class.count.min(8)));
        draft.build().ok().filter(|_| told).map(|instance| (draft, instance))
    });
    drafts.take(100).collect::<Vec<_>>().into_par_iter().for_each(|(draft, instance)| {
        let folder = Folder::new();
        folder.instance("i.json", &instance);
        assert_eq!(
            placed(&folder, &["--policy-command", &command]),
            placed(&folder, &["--policy", "best-fit"]),
            "{draft}"
        );
    });
}

#[test]
fn the_guide_shows_the_policy_that_is_tested() {
    let script = std::fs::read_to_string(root().join("guide/policies/best_fit.py")).unwrap();
    let page = std::fs::read_to_string(root().join("guide/src/policies.md")).unwrap();
    assert!(
        page.contains(&format!("```py\n{script}```\n")),
        "guide/src/policies.md shows another best_fit.py"
    );
}

#[test]
fn a_policy_in_another_process_is_a_row_among_the_others() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[1, 2, 3]).unwrap());
    let command = policy("");
    assert_eq!(placed(&folder, &["--policy-command", &command]), placed(&folder, &["--policy", "first-fit"]));
    let words =
        ["-q", "compare", "i.json", "--policies", "first-fit", "--no-timing", "--policy-command", &command];
    let comparison: Value = serde_json::from_str(&folder.done(&words)).unwrap();
    let (mut ours, mut theirs) = (comparison["policies"][0].clone(), comparison["policies"][1].clone());
    assert_eq!(theirs["name"], command);
    (ours["name"], theirs["name"]) = (Value::Null, Value::Null);
    assert_eq!(ours, theirs);
}

/// What is said of a policy with a fault; nothing is written.
fn failure(folder: &Folder, fault: &str, more: &[&str]) -> String {
    let before = folder.names();
    let command = policy(fault);
    let words = [&["-q", "place", "i.json", "-o", "out.json", "--policy-command", &command], more].concat();
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(3), "{fault}: {}", text(&output.stderr));
    assert_eq!(folder.names(), before, "{fault} leaves files behind");
    let line = text(&output.stderr);
    assert_eq!(line.lines().count(), 1, "{line}");
    line.trim_end().split_once(": ").unwrap().1.replace(&command, "P")
}

#[test]
fn a_policy_is_held_to_the_rules_of_whole_tasks() {
    let folder = Folder::new();
    let instance = |classes: &str, user: &str| {
        let json = format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "gpu"], "server_classes": [{classes}],
                "users": [{{"id": "n", "demand": {{"cpu": 1, "gpu": 0.6}}, "tasks": 4{user}}}]}}"#
        );
        folder.write("i.json", json);
    };
    let with_devices = r#"{"id": "a", "count": 2, "capacity": {"cpu": 8, "gpu": 2}, "devices": {"gpu": 2}}"#;
    let in_racks = r#"{"id": "x", "count": 1, "domain": "1", "capacity": {"cpu": 8, "gpu": 8}},
                      {"id": "y", "count": 1, "domain": "2", "capacity": {"cpu": 8, "gpu": 8}}"#;
    let cases = [
        (with_devices, "", "task 3, of user n, may not run on server a/1: its devices have no room"),
        (
            in_racks,
            r#", "per_server": 1"#,
            "task 2, of user n, may not run on server x/1: it has as many of the user's tasks as it may (per_server)",
        ),
        (
            in_racks,
            r#", "spread": 1"#,
            "task 2, of user n, may not run on server x/1: its domain may have no more of the user's tasks before the others do (spread)",
        ),
    ];
    for (classes, user, expected) in cases {
        instance(classes, user);
        assert_eq!(failure(&folder, "", &[]), format!("policy P: {expected}"));
    }
    let cut = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "gpu"],
        "server_classes": [{"id": "a", "count": 2, "capacity": {"cpu": 8, "gpu": 1}, "devices": {"gpu": 1}}],
        "device_profiles": {"gpu": {"slices": 8, "profiles": {"4g": {"slices": 4, "starts": [0]}}}},
        "users": [{"id": "n", "demand": {"cpu": 1}, "profile": "4g", "tasks": 2}]}"#;
    folder.write("i.json", cut);
    let expected = "policy P: task 2, of user n, may not run on server a/1: its devices have no room";
    assert_eq!(failure(&folder, "", &[]), expected);
    for user in ["", r#", "per_server": 4, "spread": 4"#, r#", "gang": 2"#, r#", "gang": 3, "per_server": 4"#]
    {
        instance(in_racks, user);
        let command = policy("");
        assert_eq!(
            placed(&folder, &["--policy-command", &command])["users"],
            placed(&folder, &["--policy", "first-fit"])["users"]
        );
    }
}

#[test]
fn an_answer_that_breaks_a_gang_a_limit_or_a_kind_is_refused_by_the_name_of_the_rule() {
    let folder = Folder::new();
    let racks = r#"{"id": "x", "count": 1, "domain": "1", "capacity": {"cpu": 3}},
                   {"id": "y", "count": 1, "domain": "2", "capacity": {"cpu": 8}}"#;
    let cases = [
        (
            r#"{"id": "n", "demand": {"cpu": 1}, "tasks": 4, "gang": 4, "gang_in_domain": true}"#,
            "task 1, of user n, may not run on server x/1: its domain is not open to this gang, which has no room there as a whole or is in another (gang)",
        ),
        (
            r#"{"id": "n", "demand": {"cpu": 1}, "tasks": 4, "gang": 4}"#,
            "task 4, of user n, does not fit server x/1: it needs 1 of cpu, and 0 is free",
        ),
        (
            r#"{"id": "n", "demand": {"cpu": 1}, "tasks": 4, "limits": [{"classes": ["x"], "amounts": {"cpu": 1}}]}"#,
            "task 2, of user n, may not run on server x/1: limits, reserves or guarantees leave it no room there (`classes` names where they do)",
        ),
        (
            r#"{"id": "n", "tasks": 2, "kinds": [{"id": "w", "each": 2, "demand": {"cpu": 1}}, {"id": "d", "each": 1, "demand": {"cpu": 2}}]}"#,
            "task 3, a piece of kind w of user n, does not fit server x/1: it needs 1 of cpu, and 0 is free",
        ),
        (
            r#"{"id": "n", "tasks": 2, "kinds": [{"id": "w", "each": 2, "demand": {"cpu": 1}}, {"id": "d", "each": 1, "demand": {"cpu": 1}, "eligible": ["y"]}]}"#,
            "task 2, a piece of kind d of user n, may not run on server x/1",
        ),
    ];
    for (user, expected) in cases {
        let json = format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{racks}], "users": [{user}]}}"#
        );
        folder.write("i.json", json);
        assert_eq!(failure(&folder, "first", &[]), format!("policy P: {expected}"));
    }
}

#[test]
fn the_guides_best_fit_in_python_places_as_ours_with_gangs_kinds_and_quotas() {
    if !has_python() {
        return eprintln!("skipped: there is no python3");
    }
    let script = root().join("guide/policies/best_fit.py");
    let command = format!("python3 '{}'", script.display());
    let mut random = Random::new(30, 1);
    let ruled = |case: u64| {
        let instance = match case % 2 {
            0 => with_quotas(&mut random, false, case.is_multiple_of(4), case.is_multiple_of(3)),
            _ => crate::ruled_kinds::drawn(&mut random),
        };
        // How many of a user are on a server the policy does not count.
        let mut draft = Draft::from(&instance);
        draft.users.iter_mut().for_each(|user| user.per_server = None);
        draft.build().unwrap()
    };
    let instances: Vec<Instance> = (0..60).map(ruled).collect();
    let gangs = |instance: &Instance| instance.users().filter(|user| user.gang().is_some()).count();
    assert!(instances.iter().map(gangs).sum::<usize>() > 30);
    instances.into_par_iter().enumerate().for_each(|(case, instance)| {
        let folder = Folder::new();
        folder.instance("i.json", &instance);
        assert_eq!(
            placed(&folder, &["--policy-command", &command]),
            placed(&folder, &["--policy", "best-fit"]),
            "case {case}: {}",
            folder.read("i.json")
        );
    });
}

#[test]
fn a_policy_that_goes_wrong_is_named_with_task_server_resource_and_its_last_words() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig1().unwrap());
    assert_eq!(
        failure(&folder, "crash", &[]),
        "policy P: ended (exit status: 7) before it answered for task 5, of user user-1; \
         its last words: first line the disk is full"
    );
    assert_eq!(
        failure(&folder, "hang", &["--policy-timeout", "0.2"]),
        "policy P: no answer within 0.2 s for task 5, of user user-1; allow more with --policy-timeout"
    );
    assert_eq!(
        failure(&folder, "nonsense", &[]),
        "policy P: task 5, of user user-1: answers yes, where {\"server\": \"ID\"} or {\"server\": null} is expected"
    );
    assert_eq!(
        failure(&folder, "unknown", &[]),
        "policy P: task 5, of user user-1: there is no server nowhere"
    );
    assert_eq!(
        failure(&folder, "first", &[]),
        "policy P: task 4, of user user-2, does not fit server high-memory/1: it needs 1 of cpu, and 0.6 is free"
    );
    assert_eq!(failure(&folder, "twice", &[]), "policy P: answers more often than it is asked");
    let missing = folder.run(&["-q", "place", "i.json", "--policy-command", "/missing/policy"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(text(&missing.stderr).contains("policy /missing/policy: cannot be started: No such file"));
}

#[test]
fn a_time_limit_holds_while_a_policy_is_asked() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig1().unwrap());
    let begun = std::time::Instant::now();
    let line = failure(&folder, "hang", &["--time-limit", "0.3"]);
    assert!(line.contains("no placement in time: 4 tasks were placed"), "{line}");
    assert!(begun.elapsed().as_secs() < 20);
}

#[test]
fn a_task_where_its_user_may_not_run_is_refused() {
    let folder = Folder::new();
    let mut draft = fairplan_instances::Draft::from(&drfh_fig1().unwrap());
    draft.users[1].eligible = Some(vec![1]);
    folder.instance("i.json", &draft.build().unwrap());
    assert_eq!(
        failure(&folder, "first", &[]),
        "policy P: task 2, of user user-2, may not run on server high-memory/1"
    );
}

#[test]
fn commands_that_cannot_be_meant_are_refused() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig1().unwrap());
    for (words, told) in [
        (&["--policy-command", ""][..], "--policy-command \"\": names no command"),
        (&["--policy-command", "a 'b"], "--policy-command \"a 'b\": a quote ' does not end"),
        (&["--policy-command", "a", "--policy", "best-fit"], "cannot be used with"),
        (&["--policy-command", "a", "--policy-timeout", "-1"], "--policy-timeout"),
    ] {
        let refusal = folder.refused(&[&["-q", "place", "i.json"], words].concat());
        assert!(refusal.contains(told), "{refusal}");
    }
    // Longer than any clock can tell is as long as it takes.
    let command = policy("");
    folder.done(&["-q", "place", "i.json", "--policy-command", &command, "--policy-timeout", "1e18"]);
    let twice = ["-q", "compare", "i.json", "--policy-command", "a", "--policy-command", "a"];
    assert!(folder.refused(&twice).contains("names a twice"));
}

/// What came of a policy in a simulation, without its name.
fn simulated(folder: &Folder, words: &[&str]) -> Value {
    let words = [&["-q", "simulate", "trace.jsonl", "--policy", "first-fit"], words].concat();
    let mut document: Value = serde_json::from_str(&folder.done(&words)).unwrap();
    let mut runs = document["policies"].as_array_mut().unwrap().drain(..).collect::<Vec<_>>();
    assert_eq!(runs.len(), 2);
    runs.iter_mut().for_each(|run| drop(run["policy"].take()));
    runs.iter_mut().for_each(|run| drop(run["name"].take()));
    assert_eq!(runs[0], runs[1]);
    runs.remove(0)
}

#[test]
fn a_simulation_asks_a_policy_in_another_process_and_tells_it_when_tasks_end() {
    let folder = Folder::new();
    folder.done(&["-q", "generate", "trace-drfh-fig4", "-o", "trace.jsonl"]);
    let command = policy("");
    simulated(&folder, &["--policy-command", &command]);
    let words =
        ["-q", "simulate", "trace.jsonl", "--policy", "best-fit", "-o", "out.json", "--policy-command"];
    for (fault, told) in [
        ("crash", "ended (exit status: 7) before it answered for task 5, of user shape-"),
        ("first", ", does not fit server "),
        ("nonsense", "answers yes, where"),
    ] {
        let output = folder.run(&[&words[..], &[&policy(fault)]].concat());
        assert_eq!(output.status.code(), Some(3), "{fault}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(told), "{fault}: {}", text(&output.stderr));
        assert_eq!(folder.names(), ["trace.jsonl"], "{fault}");
    }
    for limit in ["--policy-timeout", "--time-limit"] {
        let begun = std::time::Instant::now();
        let output = folder.run(&[&words[..], &[&policy("hang"), limit, "0.5"]].concat());
        assert_eq!(output.status.code(), Some(3), "{limit}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("no answer within 0."), "{limit}: {}", text(&output.stderr));
        assert!(begun.elapsed().as_secs() < 30, "{limit}");
    }
    let refusal = folder.refused(&[&words[..], &["a", "--dedicated"]].concat());
    assert!(refusal.contains("--policy-command is one cluster's"), "{refusal}");
}

#[test]
fn a_policy_is_asked_group_by_group_as_ours_are() {
    let folder = Folder::new();
    let mut with_turned_down = 0;
    for seed in 0..60 {
        let mut draft = fairplan_tests::random_tree(seed);
        draft.classes.iter_mut().for_each(|class| class.set_count(class.count.min(6)));
        let Ok(instance) = draft.build() else { continue };
        if instance.has_kinds() || instance.plain("place").is_err() {
            continue;
        }
        folder.instance("i.json", &instance);
        let ours = placed(&folder, &["--policy", "first-fit"]);
        assert_eq!(placed(&folder, &["--policy-command", &policy("")]), ours, "tree {seed}");
        with_turned_down += 1;
    }
    assert!(with_turned_down > 20, "{with_turned_down}");
}

#[test]
fn a_policy_that_answers_otherwise_behind_a_refusal_is_asked_one_task_of_a_user_at_a_time() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[1, 2, 3]).unwrap());
    let fickle = placed(&folder, &["--policy-command", &policy("fickle")]);
    let tasks: Vec<u64> =
        fickle["users"].as_array().unwrap().iter().map(|user| user["tasks"].as_u64().unwrap()).collect();
    assert_eq!(tasks, [0, 0, 0], "a user that is turned down is not asked for again");
}

/// The servers of the trace in which `trace-drfh-fig4` runs, with tasks of its users.
fn start(folder: &Folder) -> [String; 2] {
    let instance = drfh_fig4(&[1, 2, 3]).unwrap();
    let mut draft = fairplan_instances::Draft::from(&instance);
    draft.users.iter_mut().for_each(|user| user.tasks = Some(15));
    folder.instance("i.json", &draft.build().unwrap());
    folder.done(&["-q", "place", "i.json", "--policy", "first-fit", "--servers-out", "-o", "now.json"]);
    ["i.json", "now.json"].map(Into::into)
}

#[test]
fn a_policy_in_another_process_is_told_what_runs_when_a_simulation_begins() {
    let folder = Folder::new();
    folder.done(&["-q", "generate", "trace-drfh-fig4", "-o", "trace.jsonl"]);
    let [instance, now] = start(&folder);
    let command = policy("");
    let words = ["--policy-command", &command, "--placement", &now, "--instance", &instance];
    let stays = simulated(&folder, &words);
    assert_eq!(stays["tasks"]["running"], 45, "{stays}");
    assert_eq!(stays["tasks"]["submitted"], 18_145);
    let ends = simulated(&folder, &[&words[..], &["--remaining", "500"]].concat());
    assert_eq!((&ends["tasks"]["running"], &ends["tasks"]["completed"]), (&0.into(), &18_145.into()));
    // What runs already takes its time from what comes.
    let free = simulated(&folder, &words[..2]);
    let end = |run: &Value| run["end"].as_f64().unwrap();
    assert!(end(&free) < end(&ends) && end(&ends) < end(&stays), "{free} {ends} {stays}");
}

#[test]
fn what_a_simulation_cannot_begin_with_is_refused_by_name() {
    let folder = Folder::new();
    folder.done(&["-q", "generate", "trace-drfh-fig4", "-o", "trace.jsonl"]);
    let [instance, now] = start(&folder);
    let words = ["-q", "simulate", "trace.jsonl", "--policy", "best-fit", "--placement", &now, "--instance"];
    let begun: Value =
        serde_json::from_str(&folder.done(&[&words[..], &[&instance, "--remaining", "60"]].concat()))
            .unwrap();
    let start = &begun["starting_placement"];
    assert_eq!((&start["policy"], &start["tasks"]), (&"first-fit".into(), &45.into()));
    assert_eq!(start["remaining"], 60.0);
    let refused = |more: &[&str], told: &str| {
        let refusal = folder.refused(&[&words[..], more].concat());
        assert!(refusal.contains(told), "{refusal}");
    };
    refused(&[&instance, "--dedicated"], "leave out --dedicated");
    folder.instance("other.json", &drfh_fig1().unwrap());
    refused(&["other.json"], "now.json: instance.sha256 = ");
    let text = folder.read("i.json");
    folder.write("renamed.json", text.replace("\"memory\"", "\"disk\""));
    folder.write("there.json", r#"{"format": "fairplan.placement.v1", "servers": []}"#);
    let other = ["-q", "simulate", "trace.jsonl", "--placement", "there.json", "--instance", "renamed.json"];
    let refusal = folder.refused(&other);
    assert!(refusal.contains("are cpu, disk, those of the trace cpu, memory"), "{refusal}");
    let class = &begun_class(&text);
    folder.write("moved.json", text.replace(class, "\"elsewhere\""));
    let server = r#"{"format": "fairplan.placement.v1", "servers": [{"server": "elsewhere/1", "class": "elsewhere",
            "tasks": [{"user": "user-1", "tasks": 1}]}]}"#;
    folder.write("there.json", server);
    let other = ["-q", "simulate", "trace.jsonl", "--placement", "there.json", "--instance", "moved.json"];
    let refusal = folder.refused(&other);
    assert!(refusal.contains("server = elsewhere/1: runs tasks in the placement"), "{refusal}");
    let alone = folder.refused(&["-q", "simulate", "trace.jsonl", "--placement", "now.json"]);
    assert!(alone.contains("--instance"), "{alone}");
}

/// The first class's id, with its quotes.
fn begun_class(instance: &str) -> String {
    let instance: Value = serde_json::from_str(instance).unwrap();
    instance["server_classes"][0]["id"].to_string()
}
