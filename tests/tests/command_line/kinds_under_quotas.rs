//! Users with kinds of tasks under limits, guarantees and reserves: solved, placed, bounded and verified, and every other question asked.

use super::{Folder, text};
use serde_json::Value;

/// A task of `trainer` takes 6 cpu and 2 gpu; its group may have 2 gpu.
const INSTANCE: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {"id": "cpus", "count": 2, "capacity": {"cpu": 10}},
    {"id": "gpus", "count": 1, "capacity": {"cpu": 10, "gpu": 4}}
  ],
  "groups": [{"id": "ml", "limit": {"gpu": 2}}, {"id": "web"}],
  "users": [
    {"id": "shop", "group": "web", "demand": {"cpu": 1}, "guarantee": {"cpu": 3}},
    {"id": "trainer", "group": "ml",
     "kinds": [{"id": "worker", "each": 2, "demand": {"cpu": 1, "gpu": 1}}, {"id": "driver", "each": 1, "demand": {"cpu": 4}}]}
  ]
}
"#;

fn folder_of(instance: &str) -> Folder {
    let folder = Folder::new();
    folder.write("i.json", instance);
    folder
}

fn json(folder: &Folder, file: &str) -> Value {
    serde_json::from_str(&folder.read(file)).unwrap()
}

/// Whether `verify` refuses a file after a change, and why.
fn refusal(folder: &Folder, file: &Value, change: impl FnOnce(&mut Value)) -> String {
    let mut forged = file.clone();
    change(&mut forged);
    folder.write("forged.json", forged.to_string());
    let output = folder.run(&["-q", "verify", "i.json", "forged.json"]);
    assert_ne!(output.status.code(), Some(0));
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_limit_of_a_group_counts_all_kinds_of_its_members() {
    let folder = folder_of(INSTANCE);
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    let solution = json(&folder, "r.json");
    let tasks = |i: usize| solution["users"][i]["tasks"].as_f64().unwrap();
    assert!((tasks(0) - 24.0).abs() < 1e-7 && (tasks(1) - 1.0).abs() < 1e-8, "{solution}");
    assert_eq!(solution["users"][1]["limited_by"], "limit");
    // One more gpu is half a task, a quarter of all gpus.
    assert!((solution["limits"][0]["price"].as_f64().unwrap() - 0.25).abs() < 1e-8, "{solution}");
    for (field, to) in [("used", Value::from(0.9)), ("price", Value::from(0.1))] {
        refusal(&folder, &solution, |forged| forged["limits"][0][field] = to);
    }
    refusal(&folder, &solution, |forged| forged["users"][1]["limited_by"] = "capacity".into());
    refusal(&folder, &solution, |forged| {
        let parts = forged["users"][1]["placement"].as_array_mut().unwrap();
        let worker = parts.iter_mut().find(|part| part["kind"] == "worker").unwrap();
        worker["tasks"] = 1.5.into();
    });
}

#[test]
fn fractions_of_kinds_under_limits_are_proved() {
    let folder = folder_of(&INSTANCE.replace(r#", "guarantee": {"cpu": 3}"#, ""));
    folder.done(&["-q", "solve", "i.json", "--exact", "-o", "r.json"]);
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    let solution = json(&folder, "r.json");
    assert_eq!(solution["users"][1]["exact"]["dominant_share"], "1/2", "{solution}");
    refusal(&folder, &solution, |forged| forged["users"][1]["exact"]["dominant_share"] = "1/3".into());
}

/// `trainer`, whose tasks count little by weight, is guaranteed what holds a task and a half, each way by itself.
fn guaranteed(stated: &str) -> String {
    let light = INSTANCE.replace(r#""limit": {"gpu": 2}}"#, r#""weight": 0.01}"#);
    light.replace(
        r#""id": "trainer", "group": "ml","#,
        &format!(r#""id": "trainer", "group": "ml", {stated},"#),
    )
}

#[test]
fn a_guarantee_holds_whole_bundles_of_all_kinds_where_each_runs() {
    for (stated, tasks) in [
        (r#""guarantee": {"cpu": 9}"#, 1.5),
        (r#""guarantee": {"cpu": 9, "gpu": 2}"#, 1.0),
        // Workers are on `gpus` alone, drivers where there is cpu guaranteed: on both.
        (
            r#""guarantees": [{"classes": ["gpus"], "amounts": {"cpu": 3}}, {"classes": ["cpus"], "amounts": {"cpu": 6}}]"#,
            1.5,
        ),
        // Where a driver is guaranteed nothing, none counts: 6 of the cpu of a task and a half on `gpus`.
        (r#""guarantees": [{"classes": ["gpus"], "amounts": {"cpu": 6}}]"#, 1.0),
        // Drivers need no gpu.
        (r#""guarantees": [{"classes": ["gpus"], "amounts": {"gpu": 3}}]"#, 1.5),
    ] {
        let folder = folder_of(&guaranteed(stated));
        folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
        folder.done(&["-q", "verify", "i.json", "r.json"]);
        let solution = json(&folder, "r.json");
        let has = solution["users"][1]["tasks"].as_f64().unwrap();
        assert!((has - tasks).abs() < 1e-8, "{stated}: {solution}");
        let sure = &solution["guarantees"].as_array().unwrap()[1];
        assert_eq!(
            (&sure["user"], &sure["held_up"]),
            (&"trainer".into(), &true.into()),
            "{stated}: {solution}"
        );
        refusal(&folder, &solution, |forged| forged["guarantees"][1]["floor"] = 0.1.into());
        folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "p.json"]);
        folder.done(&["-q", "verify", "i.json", "p.json"]);
        assert!(json(&folder, "p.json")["users"][1]["tasks"].as_f64() >= Some(1.0), "{stated}");
    }
}

#[test]
fn what_a_group_is_guaranteed_its_members_with_kinds_divide_and_the_result_says_how() {
    let of_group = INSTANCE.replace(r#""limit": {"gpu": 2}"#, r#""weight": 0.01, "guarantee": {"cpu": 9}"#);
    let folder = folder_of(&of_group);
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    let solution = json(&folder, "r.json");
    let parts = &solution["guaranteed_groups"][0]["members"][0]["placement"];
    let kinds: Vec<&Value> = parts.as_array().unwrap().iter().map(|part| &part["kind"]).collect();
    assert!(kinds.contains(&&"worker".into()) && kinds.contains(&&"driver".into()), "{solution}");
    assert!((solution["users"][1]["tasks"].as_f64().unwrap() - 1.5).abs() < 1e-8, "{solution}");
    for change in [
        |part: &mut Value| part["tasks"] = 0.25.into(),
        |part: &mut Value| part["kind"] = "nobody".into(),
        |part: &mut Value| part["kind"] = Value::Null,
        |part: &mut Value| part["class"] = "nowhere".into(),
    ] {
        let placement = "/guaranteed_groups/0/members/0/placement/0";
        refusal(&folder, &solution, |forged| change(forged.pointer_mut(placement).unwrap()));
    }
}

#[test]
fn guarantees_of_kinds_that_do_not_fit_together_are_refused_with_whose_they_are() {
    let folder = folder_of(&guaranteed(r#""guarantee": {"gpu": 5}"#));
    let output = folder.run(&["-q", "solve", "i.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told = "the guarantees cannot be kept together, at most 80.00% of each, as far as its tasks and limits take it: user trainer is \
                guaranteed more than fits; what stands against it is gpu of gpus";
    assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    // Of tasks that end before that nothing more is asked.
    folder.write("few.json", guaranteed(r#""guarantee": {"gpu": 5}, "tasks": 1"#));
    folder.done(&["-q", "solve", "few.json", "-o", "r.json"]);
    folder.done(&["-q", "verify", "few.json", "r.json"]);
}

#[test]
fn every_policy_keeps_a_limit_of_kinds_and_a_placement_above_it_does_not_hold() {
    let folder = folder_of(INSTANCE);
    for policy in ["best-fit", "first-fit", "worst-fit", "dot-product", "random", "slots=5", "hadoop-slots=1"]
    {
        folder.done(&["-q", "place", "i.json", "--policy", policy, "--servers-out", "-o", "p.json"]);
        folder.done(&["-q", "verify", "i.json", "p.json"]);
        // Slots of a fifth of the largest server are too few for drivers beside shops.
        let expected = if policy.contains("slots") { 0..=1 } else { 1..=1 };
        let tasks = json(&folder, "p.json")["users"][1]["tasks"].as_u64().unwrap();
        assert!(expected.contains(&tasks), "{policy}: {tasks}");
    }
    // Placed where nothing is limited.
    folder.write("free.json", INSTANCE.replace(r#""gpu": 2}"#, r#""gpu": 4}"#));
    folder.done(&["-q", "place", "free.json", "--servers-out", "-o", "free-p.json"]);
    let mut free = json(&folder, "free-p.json");
    folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "p.json"]);
    free["instance"] = json(&folder, "p.json")["instance"].clone();
    let told = refusal(&folder, &free, |_| {});
    assert!(told.contains("group ml has 4 gpu, its limit is 2"), "{told}");
    folder.done(&["-q", "bound", "i.json", "-o", "b.json"]);
    folder.done(&["-q", "verify", "i.json", "b.json"]);
    let bound = json(&folder, "b.json");
    assert_eq!(bound["placement"]["users"][1]["tasks"], 1, "{bound}");
    let told = refusal(&folder, &bound, |forged| {
        let upper = forged["integral_upper"].as_f64().unwrap();
        forged["integral_upper"] = (0.5 * upper).into();
    });
    assert!(!told.is_empty());
    folder.done(&["-q", "compare", "i.json", "--policies", "best-fit,first-fit", "-o", "c.json"]);
}

#[test]
fn every_other_question_is_answered_or_refused_by_name() {
    answered_or_refused(INSTANCE);
}

#[test]
fn every_other_question_is_answered_or_refused_by_name_where_kinds_are_guaranteed_something() {
    answered_or_refused(&guaranteed(r#""guarantee": {"cpu": 9}"#));
    answered_or_refused(&guaranteed(r#""guarantees": [{"classes": ["gpus"], "amounts": {"gpu": 3}}]"#));
    answered_or_refused(&INSTANCE.replace(r#""limit": {"gpu": 2}"#, r#""guarantee": {"cpu": 9}"#));
}

fn answered_or_refused(instance: &str) {
    let folder = folder_of(instance);
    folder.write("catalog.csv", "id,price\ngpus,1\n");
    folder.write("j.json", instance.replace(r#""count": 2"#, r#""count": 3"#));
    for words in [
        "audit i.json",
        "explain i.json --user trainer",
        "explain i.json --group ml",
        "plan worth i.json",
        "plan lose i.json",
        "plan diff i.json j.json",
        "plan buy i.json --catalog catalog.csv --scale 1.5",
        "entitlements i.json",
        "convert i.json",
        "place i.json --policy pattern",
        "solve i.json --objective tsf",
        "solve i.json --objective drf",
        "bound i.json",
        "compare i.json",
    ] {
        // What is guaranteed on some servers is nothing where all are one.
        if words.ends_with("drf") && instance.contains("guarantees") {
            folder.refused(&words.split(' ').collect::<Vec<_>>());
            continue;
        }
        let output =
            folder.run(&[&["-q"], &words.split(' ').collect::<Vec<_>>()[..], &["-o", "out.json"]].concat());
        // An audit may find that more servers leave somebody less.
        let answers = if words.starts_with("audit") { 0..=1 } else { 0..=0 };
        let status = output.status.code();
        assert!(status.is_some_and(|status| answers.contains(&status)), "{words}: {}", text(&output.stderr));
        assert!(!folder.read("out.json").is_empty(), "{words}");
    }
    // A sum knows quotas, but of no group whose members have no fixed parts.
    let output = folder.run(&["-q", "solve", "i.json", "--objective", "pf", "-o", "out.json"]);
    let told = text(&output.stderr);
    assert!(output.status.success() || told.contains("its part of its group"), "{told}");
    let told = folder.refused(&["-q", "bound", "i.json", "--objective", "pf"]);
    assert!(told.contains("does not know"), "{told}");
}

#[test]
fn files_state_the_limits_of_users_with_kinds() {
    let own = INSTANCE.replace(r#""group": "ml","#, r#""group": "ml", "limit": {"gpu": 2},"#);
    let folder = folder_of(&own);
    folder.done(&["-q", "convert", "i.json", "-o", "again.json"]);
    let again = json(&folder, "again.json");
    assert_eq!(again["users"][1]["limit"]["gpu"], 2, "{again}");
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    folder.done(&["-q", "verify", "again.json", "r.json"]);
    // It is another instance than without.
    folder.write("without.json", INSTANCE);
    assert_eq!(folder.run(&["-q", "verify", "without.json", "r.json"]).status.code(), Some(1));
}
