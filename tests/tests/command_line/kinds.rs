//! Users with kinds of tasks from the command line: solved and verified, and refused by name where they are not known.

use super::Folder;
use crate::second_checker::second_checker;

const INSTANCE: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {"id": "cpus", "count": 1, "capacity": {"cpu": 10}},
    {"id": "gpus", "count": 1, "capacity": {"cpu": 10, "gpu": 4}}
  ],
  "users": [
    {"id": "plain", "demand": {"cpu": 1}, "tasks": 4},
    {"id": "trainer", "kinds": [{"id": "worker", "each": 2, "demand": {"cpu": 1, "gpu": 1}}, {"id": "driver", "each": 1, "demand": {"cpu": 4}}]}
  ]
}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("instance.json", INSTANCE);
    folder
}

#[test]
fn solutions_say_where_each_kind_runs_and_hold() {
    let folder = folder();
    for objective in ["drfh", "pf", "alpha=2", "utilitarian", "drf"] {
        folder.done(&["-q", "solve", "instance.json", "--objective", objective, "-o", "solution.json"]);
        folder.done(&["-q", "verify", "instance.json", "solution.json"]);
    }
    folder.done(&["-q", "solve", "instance.json", "-o", "solution.json"]);
    let solution: serde_json::Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
    let [plain, trainer] = [0, 1].map(|i| &solution["users"][i]);
    assert!(plain["placement"].as_array().unwrap().iter().all(|part| part.get("kind").is_none()));
    let tasks = trainer["tasks"].as_f64().unwrap();
    assert!((tasks - 2.0).abs() < 1e-8);
    for kind in ["worker", "driver"] {
        let parts = trainer["placement"].as_array().unwrap().iter().filter(|part| part["kind"] == kind);
        let sum: f64 = parts.map(|part| part["tasks"].as_f64().unwrap()).sum();
        assert!((sum - tasks).abs() < 1e-8, "{kind}: {sum}");
    }
}

#[test]
fn a_solution_that_lacks_pieces_of_a_kind_does_not_hold() {
    let folder = folder();
    folder.done(&["-q", "solve", "instance.json", "-o", "solution.json"]);
    let text = folder.read("solution.json");
    let said = |text: String| {
        folder.write("changed.json", text);
        let output = folder.run(&["-q", "verify", "instance.json", "changed.json"]);
        assert_ne!(output.status.code(), Some(0));
        format!("{}{}", super::text(&output.stdout), super::text(&output.stderr))
    };
    let worker = r#""kind":"worker","class":"gpus""#;
    let worker =
        if text.contains(worker) { worker.to_owned() } else { worker.replace(':', ": ").replace(',', ", ") };
    assert!(text.contains(&worker), "{text}");
    let told = said(text.replace(&worker, &worker.replace("gpus", "cpus")));
    assert!(
        told.contains("kind worker of user trainer has") && told.contains("which it cannot use"),
        "{told}"
    );
    let told = said(text.replace(&worker, &worker.replace("worker", "driver")));
    assert!(told.contains("users[1].placement["), "{told}");
    let told = said(text.replace(&worker, &worker.replace("worker", "waiter")));
    assert!(told.contains("name the user's kinds in the instance's order"), "{told}");
}

#[test]
fn the_sum_of_users_with_kinds_is_bounded_and_a_task_is_worth_what_its_pieces_are() {
    let folder = folder();
    folder.write(
        "shared.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "c", "count": 2, "capacity": {"cpu": 12}}],
            "users": [{"id": "bundle", "kinds": [{"id": "worker", "each": 2, "demand": {"cpu": 1}},
                                                 {"id": "driver", "each": 1, "demand": {"cpu": 2}}]},
                      {"id": "plain", "demand": {"cpu": 3}}]}"#,
    );
    folder.done(&["-q", "bound", "shared.json", "--objective", "pf", "-o", "sum.json"]);
    folder.done(&["-q", "verify", "shared.json", "sum.json"]);
    let sum: serde_json::Value = serde_json::from_str(&folder.read("sum.json")).unwrap();
    // Each has half of the 24 cores: three tasks of two workers and a driver, and four of one piece.
    let tasks = [0, 1].map(|user| sum["placement"]["users"][user]["tasks"].as_u64().unwrap());
    assert_eq!((tasks, &sum["proved_optimal"]), ([3, 4], &true.into()), "{sum}");
    let values = sum["certificate"]["task_values"].as_array().unwrap();
    assert_eq!(values.len(), 3, "one of each kind's pieces, and one of the plain user's tasks");
    // Pieces that are worth less prove less.
    let mut forgery = sum.clone();
    forgery["certificate"]["task_values"][0] = (values[0].as_u64().unwrap() / 2).into();
    folder.write("forged.json", forgery.to_string());
    assert_eq!(folder.run(&["-q", "verify", "shared.json", "forged.json"]).status.code(), Some(1));
}

#[test]
fn a_server_apart_has_whole_tasks_of_users_with_kinds() {
    let folder = folder();
    folder.write("instance.json", INSTANCE.replace(", \"tasks\": 4", ""));
    for exact in [Vec::new(), vec!["--exact"]] {
        let words = ["-q", "solve", "instance.json", "--objective", "drf-per-server", "-o", "solution.json"];
        folder.done(&[&words[..], &exact[..]].concat());
        folder.done(&["-q", "verify", "instance.json", "solution.json"]);
    }
    let solution: serde_json::Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
    let placement = solution["users"][1]["placement"].as_array().unwrap();
    let of = |kind: &str| -> Vec<_> {
        let own = placement.iter().filter(|put| put["kind"] == kind);
        own.map(|put| (put["class"].clone(), put["tasks"].clone(), put["exact"].clone())).collect()
    };
    assert!(!of("worker").is_empty() && of("worker") == of("driver"), "{placement:?}");
}

#[test]
fn bounds_of_users_with_kinds_hold_and_patterns_place_them() {
    let folder = folder();
    let read = |file: &str| -> serde_json::Value { serde_json::from_str(&folder.read(file)).unwrap() };
    folder.done(&["-q", "bound", "instance.json", "-o", "bound.json"]);
    folder.done(&["-q", "verify", "instance.json", "bound.json"]);
    let bound = read("bound.json");
    // Four GPUs are two tasks.
    assert_eq!(
        (&bound["proved_optimal"], &bound["placement"]["users"][1]["tasks"]),
        (&true.into(), &2.into())
    );
    // One value of the plain user's tasks, and one of each kind's pieces.
    assert_eq!(bound["certificate"]["task_values"].as_array().unwrap().len(), 3);
    folder.done(&["-q", "bound", "instance.json", "--objective", "allocated=cpu", "-o", "most.json"]);
    folder.done(&["-q", "verify", "instance.json", "most.json"]);
    assert_eq!(read("most.json")["integral_lower"], 16.0);
    let place = ["place", "instance.json", "--policy", "pattern", "--servers-out", "-o", "placed.json"];
    folder.done(&[&["-q"], &place[..]].concat());
    folder.done(&["-q", "verify", "instance.json", "placed.json"]);
    assert_eq!([0, 1].map(|i| read("placed.json")["users"][i]["tasks"].as_u64().unwrap()), [4, 2]);
    let compared =
        folder.done(&["compare", "instance.json", "--policies", "best-fit,pattern", "--no-timing"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["policies"][1]["proved_optimal"], true);
}

#[test]
fn explanations_and_differences_tell_kinds_apart() {
    let folder = folder();
    let read = |text: String| -> serde_json::Value { serde_json::from_str(&text).unwrap() };
    let why = read(folder.done(&["-q", "explain", "instance.json", "--user", "trainer"]));
    let views = why["server_classes"].as_array().unwrap();
    let view = |kind: &str, class: &str| {
        views.iter().find(|view| view["kind"] == kind && view["id"] == class).unwrap().clone()
    };
    assert_eq!(views.len(), 4);
    assert_eq!(
        (&view("worker", "cpus")["usable"], &view("driver", "cpus")["usable"]),
        (&false.into(), &true.into())
    );
    // Two tasks are held by the GPUs alone: workers pay for all, drivers nothing.
    assert!((view("worker", "gpus")["tasks"].as_f64().unwrap() - 2.0).abs() < 1e-8);
    assert!((view("worker", "gpus")["cost_of_share"].as_f64().unwrap() - 1.0).abs() < 1e-8);
    assert!(view("driver", "cpus")["cost_of_share"].as_f64().unwrap().abs() < 1e-8);
    assert_eq!(why["held_by"].as_array().unwrap().len(), 1);
    let smaller = why["smaller_demands"].as_array().unwrap();
    let asked: Vec<(&str, &str)> = smaller
        .iter()
        .map(|change| (change["kind"].as_str().unwrap(), change["resource"].as_str().unwrap()))
        .collect();
    assert_eq!(asked, [("worker", "cpu"), ("worker", "gpu"), ("driver", "cpu")]);
    // Workers of half a GPU: four tasks take all GPUs, their drivers and workers 24 of 20 cores.
    assert!((smaller[1]["own_tasks"].as_f64().unwrap() - 16.0 / 6.0).abs() < 1e-6, "{smaller:?}");
    folder.write(
        "more.json",
        INSTANCE.replace(r#""each": 2"#, r#""each": 1"#).replace("\"cpu\": 4", "\"cpu\": 3"),
    );
    let differs = read(folder.done(&["-q", "plan", "diff", "instance.json", "more.json"]));
    assert_eq!(
        differs["changed_users"],
        serde_json::json!([{"id": "trainer", "kind": "changed", "changes": ["kind worker each 2 -> 1", "kind driver demand[0] 4 -> 3"]}])
    );
    let trainer = differs["users"].as_array().unwrap().iter().find(|user| user["id"] == "trainer").unwrap();
    assert!(
        (trainer["before"].as_f64().unwrap() - 2.0).abs() < 1e-8 && trainer["after"].as_f64().unwrap() > 3.9
    );
    folder.write("series.csv", "quantum,A\n1,1\n2,2\n3,3\n");
    let grown = folder.run(&[
        "-q",
        "plan",
        "growth",
        "instance.json",
        "--series",
        "series.csv",
        "--tasks",
        "trainer=1,plain=1",
    ]);
    let grown = read(super::text(&grown.stdout));
    // Three times one task are more than 4 GPUs hold workers of.
    assert_eq!((&grown["missed"], &grown["first_missed"]["quantum"]), (&1.into(), &3.into()));
    assert_eq!(grown["first_missed"]["user"], "trainer");
}

#[test]
fn who_needs_more_pieces_than_all_servers_hold_is_bounded_apart() {
    let folder = folder();
    folder.write("large.json", INSTANCE.replace(r#""each": 2"#, r#""each": 5"#));
    let told = folder.run(&["bound", "large.json", "-o", "bound.json"]);
    let told = super::text(&told.stderr);
    assert!(told.contains("No task fits the servers, or there are none, of 1 user: trainer"), "{told}");
    folder.done(&["-q", "verify", "large.json", "bound.json"]);
    let mut bound: serde_json::Value = serde_json::from_str(&folder.read("bound.json")).unwrap();
    assert_eq!(bound["placement"]["users"][0]["tasks"], 4);
    bound["users_without_tasks"] = serde_json::json!([]);
    folder.write("forged.json", bound.to_string());
    let output = folder.run(&["-q", "verify", "large.json", "forged.json"]);
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn every_policy_places_whole_tasks_and_a_changed_piece_does_not_hold() {
    let folder = folder();
    for policy in ["best-fit", "first-fit", "worst-fit", "dot-product", "random", "slots=5", "hadoop-slots=1"]
    {
        folder.done(&[
            "-q",
            "place",
            "instance.json",
            "--policy",
            policy,
            "--servers-out",
            "-o",
            "placed.json",
        ]);
        folder.done(&["-q", "verify", "instance.json", "placed.json"]);
    }
    folder.done(&[
        "-q",
        "place",
        "instance.json",
        "--policy",
        "first-fit",
        "--servers-out",
        "-o",
        "placed.json",
    ]);
    let placed: serde_json::Value = serde_json::from_str(&folder.read("placed.json")).unwrap();
    // The plain user is next at 1/20, 2/20 …; a task of the trainer is half of the GPUs.
    assert_eq!([0, 1].map(|i| placed["users"][i]["tasks"].as_u64().unwrap()), [4, 2]);
    let parts = |class: usize| placed["servers"][class]["tasks"].clone();
    assert_eq!(
        parts(1),
        serde_json::json!([{"user": "trainer", "kind": "worker", "pieces": 4}, {"user": "trainer", "kind": "driver", "pieces": 1}])
    );
    let said = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = placed.clone();
        change(&mut changed);
        folder.write("changed.json", changed.to_string());
        let output = folder.run(&["-q", "verify", "instance.json", "changed.json"]);
        assert_ne!(output.status.code(), Some(0));
        format!("{}{}", super::text(&output.stdout), super::text(&output.stderr))
    };
    let told = said(&|changed| changed["servers"][1]["tasks"][0]["pieces"] = 3.into());
    assert!(told.contains("user trainer: 2 tasks are stated, 1 are on the servers"), "{told}");
    let told = said(&|changed| changed["servers"][1]["tasks"][0]["pieces"] = 5.into());
    assert!(
        told.contains("user trainer, kind worker: 5 pieces are on the servers, 2 whole tasks have 4"),
        "{told}"
    );
    let told = said(&|changed| changed["servers"][1]["tasks"][0]["kind"] = "waiter".into());
    assert!(told.contains("servers[1].tasks[0].kind = waiter: the user has no such kind"), "{told}");
    let told = said(&|changed| {
        changed["servers"][1]["tasks"][0] = serde_json::json!({"user": "trainer", "tasks": 4});
    });
    assert!(
        told.contains("servers[1].tasks[0].kind: is missing; the user has kinds of tasks: worker, driver"),
        "{told}"
    );
}

#[test]
fn placements_of_kinds_made_elsewhere_are_judged_with_the_pieces_that_make_no_task() {
    let folder = folder();
    let servers = serde_json::json!([
        {"class": "cpus", "tasks": [{"user": "trainer", "kind": "driver", "pieces": 1}]},
        {"class": "gpus", "tasks": [{"user": "plain", "tasks": 2}, {"user": "trainer", "kind": "worker", "pieces": 3}]}
    ]);
    folder.write(
        "theirs.json",
        serde_json::json!({"format": "fairplan.placement.v1", "servers": servers}).to_string(),
    );
    let told = folder.done(&[
        "-q",
        "compare",
        "instance.json",
        "--policies",
        "first-fit",
        "--placement",
        "theirs.json",
        "--no-timing",
        "--per-user",
    ]);
    let compared: serde_json::Value = serde_json::from_str(&told).unwrap();
    let theirs = &compared["policies"][1];
    assert_eq!(
        theirs["judgement"]["loose"],
        serde_json::json!([{"user": "trainer", "kind": "worker", "pieces": 1}])
    );
    assert_eq!([0, 1].map(|i| theirs["users"][i]["tasks"].as_u64().unwrap()), [2, 1]);
    assert_eq!(theirs["utilization"], serde_json::json!({"cpu": 9.0 / 20.0, "gpu": 0.75}));
}

const CATALOG: &str = "id,price\ngpus,10\ncpus,1\n";

#[test]
fn plan_buy_has_room_for_the_pieces_of_every_kind() {
    let folder = folder();
    folder.write("c.csv", CATALOG);
    let buy = ["plan", "buy", "instance.json", "--catalog", "c.csv", "--tasks", "trainer=6,plain=4", "-q"];
    let plan = |more: &[&str]| -> serde_json::Value {
        serde_json::from_str(&folder.done(&[&buy[..], more].concat())).unwrap()
    };
    // 12 GPUs for 12 workers, of which 4 are there; with those servers there are just as many cores as are asked for.
    let divided = plan(&["--cluster-out", "bought.json"]);
    assert_eq!(divided["purchase"]["cost"], 20.0);
    assert!(divided["purchase"]["proved_bound"].as_f64().unwrap() > 20.0 - 1e-9);
    assert_eq!(divided["users"][1]["required"], 6.0);
    folder.done(&["-q", "solve", "bought.json", "-o", "solution.json"]);
    let solution: serde_json::Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
    assert!(solution["users"][1]["tasks"].as_f64().unwrap() > 6.0 - 1e-6);
    // One driver more finds no four cores in one piece.
    let whole = plan(&["--whole", "--cluster-out", "bought.json", "--placement-out", "placed.json"]);
    // One more of `cpus` has room for it, 21 in all; the search for whole tasks is no proof that it found the cheapest.
    let cost = whole["purchase"]["cost"].as_f64().unwrap();
    assert!((21.0..=30.0).contains(&cost) && whole["purchase"]["bound"].as_f64().unwrap() <= 21.0, "{whole}");
    assert_eq!((&whole["users"][1]["id"], &whole["users"][1]["placed"]), (&"trainer".into(), &6.into()));
    folder.done(&["-q", "verify", "bought.json", "placed.json"]);
    let placed: serde_json::Value = serde_json::from_str(&folder.read("placed.json")).unwrap();
    let user = |i: usize| (placed["users"][i]["id"].clone(), placed["users"][i]["tasks"].clone());
    assert_eq!(
        [user(1), user(2)],
        [("trainer/worker".into(), 12.into()), ("trainer/driver".into(), 6.into())]
    );
    // DRFH by itself gives kinds together or not at all.
    let under = plan(&["--under-drfh"]);
    assert!(under["purchase"]["part_under_drfh"].as_f64().unwrap() > 1.0 - 1e-9, "{under}");
    // What a user must do without it does of all its kinds: 4 GPUs are enough for 2 of 6 tasks.
    let output = folder.run(&[&buy[..], &["--budget", "1"]].concat());
    let refused: serde_json::Value = serde_json::from_str(&super::text(&output.stdout)).unwrap();
    assert_eq!(
        (&refused["obstacle"]["user"], &refused["obstacle"]["kind"]),
        (&"trainer".into(), &"worker".into())
    );
    let part = refused["obstacle"]["own_part"].as_f64().unwrap();
    assert!((part - 2.0 / 6.0).abs() < 1e-4, "{part}");
}

#[test]
fn plan_buy_names_user_and_kind_whose_task_no_server_holds() {
    let folder = folder();
    folder.write("c.csv", CATALOG);
    let large = INSTANCE.replace("{\"cpu\": 1, \"gpu\": 1}", "{\"cpu\": 1, \"gpu\": 8}");
    let grouped = large.replace("{\"id\": \"trainer\",", "{\"id\": \"trainer\", \"group\": \"ml\",");
    folder
        .write("instance.json", grouped.replace("\"users\":", "\"groups\": [{\"id\": \"ml\"}], \"users\":"));
    let buy = ["plan", "buy", "instance.json", "--catalog", "c.csv", "--tasks", "1", "--whole"];
    let output = folder.run(&buy);
    assert_eq!(output.status.code(), Some(1), "{}", super::text(&output.stderr));
    let told = super::text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "no server that there is or can be bought takes a task of kind worker of user trainer of group ml; it needs 8 gpu, \
                    and the nearest server, gpus, has 4.";
    assert!(told.contains(expected), "{told}");
    let plan: serde_json::Value = serde_json::from_str(&super::text(&output.stdout)).unwrap();
    let held = &plan["obstacle"]["held_nowhere"][0];
    assert_eq!((&held["user"], &held["kind"]), (&"trainer".into(), &"worker".into()));
    assert_eq!(plan["obstacle"]["kind"], "worker");
}

/// A user whose task is one piece of a kind that needs cores and one of a kind that needs memory, of which there is plenty.
const UNLIKE: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "memory"],
  "server_classes": [{"id": "a", "count": 1, "capacity": {"cpu": 10, "memory": 40}}],
  "users": [
    {"id": "w", "kinds": [{"id": "p", "each": 1, "demand": {"cpu": 1}}, {"id": "q", "each": 1, "demand": {"memory": 1}}]},
    {"id": "x", "demand": {"cpu": 1}}
  ]
}
"#;

#[test]
fn a_kind_that_runs_more_tasks_than_the_others_does_not_hold_whatever_the_objective() {
    let folder = Folder::new();
    folder.write("instance.json", UNLIKE);
    let mut objectives = vec!["drfh", "tsf", "pf", "alpha=2", "utilitarian", "drf-per-server"];
    objectives.extend(["drfh --exact", "tsf --exact"]);
    for objective in objectives {
        let words: Vec<&str> = ["-q", "solve", "instance.json", "-o", "r.json", "--objective"]
            .into_iter()
            .chain(objective.split(' '))
            .collect();
        folder.done(&words);
        folder.done(&["-q", "verify", "instance.json", "r.json"]);
        let mut forged: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let doubled = |value: &mut serde_json::Value| *value = (2.0 * value.as_f64().unwrap()).into();
        let parts = forged["users"][0]["placement"].as_array_mut().unwrap();
        let part = parts.iter_mut().find(|part| part["kind"] == "q").unwrap();
        doubled(&mut part["tasks"]);
        if let Some(exact) = part.get_mut("exact") {
            *exact = (2 * exact.as_str().unwrap().parse::<u64>().unwrap()).to_string().into();
        }
        doubled(&mut forged["utilization"]["memory"]);
        doubled(&mut forged["server_classes"][0]["utilization"]["memory"]);
        folder.write("forged.json", forged.to_string());
        let told = folder.run(&["verify", "instance.json", "forged.json", "-o", "verdict.json"]);
        assert_eq!(told.status.code(), Some(1), "{objective}: {}", super::text(&told.stderr));
        let verdict: serde_json::Value = serde_json::from_str(&folder.read("verdict.json")).unwrap();
        let kinds = verdict["verdicts"].as_array().unwrap().iter().find(|one| one["property"] == "kinds");
        assert_eq!(kinds.unwrap()["holds"], false, "{objective}: {verdict}");
        if let Some(told) = second_checker(&folder.path("instance.json"), &folder.path("forged.json")) {
            assert!(told.is_err(), "{objective}: {told:?}");
        }
    }
}

#[test]
fn kinds_may_differ_by_rounding_just_inside_the_tolerance_and_not_just_outside() {
    let folder = Folder::new();
    folder.write("instance.json", UNLIKE);
    folder.done(&["-q", "solve", "instance.json", "-o", "r.json"]);
    let solution: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    for (more, holds) in [(0.9e-9, true), (1.1e-9, false)] {
        let mut changed = solution.clone();
        let parts = changed["users"][0]["placement"].as_array_mut().unwrap();
        let part = parts.iter_mut().find(|part| part["kind"] == "q").unwrap();
        part["tasks"] = (part["tasks"].as_f64().unwrap() * (1.0 + more)).into();
        let used = changed["utilization"]["memory"].as_f64().unwrap() * (1.0 + more);
        changed["utilization"]["memory"] = used.into();
        changed["server_classes"][0]["utilization"]["memory"] = used.into();
        folder.write("changed.json", changed.to_string());
        let verdict = folder.run(&["-q", "verify", "instance.json", "changed.json"]);
        assert_eq!(verdict.status.success(), holds, "{more}: {}", super::text(&verdict.stderr));
    }
}

#[test]
fn a_division_among_members_in_which_a_kind_runs_more_tasks_than_the_others_does_not_hold() {
    let folder = Folder::new();
    let guaranteed = UNLIKE
        .replace("\"users\"", "\"groups\": [{\"id\": \"g\", \"guarantee\": {\"cpu\": 4}}],\n  \"users\"")
        .replace("\"id\": \"w\",", "\"id\": \"w\", \"group\": \"g\",");
    folder.write("instance.json", guaranteed);
    for words in [
        &["solve", "instance.json"][..],
        &["solve", "instance.json", "--objective", "pf"],
        &["bound", "instance.json"],
        &["place", "instance.json", "--servers-out"],
    ] {
        folder.done(&[&["-q"], words, &["-o", "r.json"]].concat());
        folder.done(&["-q", "verify", "instance.json", "r.json"]);
        let mut forged: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let placement = forged.pointer_mut("/guaranteed_groups/0/members/0/placement").unwrap();
        let parts = placement.as_array_mut().unwrap();
        let part = parts.iter_mut().find(|part| part["kind"] == "q").unwrap();
        part["tasks"] = (2.0 * part["tasks"].as_f64().unwrap()).into();
        folder.write("forged.json", forged.to_string());
        let told = folder.run(&["verify", "instance.json", "forged.json", "-o", "verdict.json"]);
        let told = super::text(&told.stderr);
        assert!(
            told.contains("kind q runs") && told.contains("a task needs all its kinds"),
            "{words:?}: {told}"
        );
        if words[0] == "solve"
            && let Some(told) = second_checker(&folder.path("instance.json"), &folder.path("forged.json"))
        {
            assert!(told.is_err(), "{words:?}: {told:?}");
        }
    }
}

#[test]
fn what_to_buy_by_when_for_a_kind_that_runs_only_where_nothing_is_sold_is_answered_as_buying_once_is() {
    let folder = Folder::new();
    folder.write(
        "instance.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "mem"],
            "server_classes": [{"id": "b", "count": 1, "capacity": {"cpu": 7, "mem": 12}}],
            "users": [{"id": "w", "kinds": [{"id": "p", "each": 2, "demand": {"cpu": 1}},
                                            {"id": "q", "each": 1, "demand": {"mem": 2}, "eligible": ["b"]}]}]}"#,
    );
    folder.write("catalog.csv", "id,price,cpu,mem\ns,70,4,6\n");
    // 3.5 tasks run today, and the memory of b holds six.
    for (last, bought) in [("190", false), ("170", true)] {
        folder.write("series.csv", format!("quantum,load\n1,100\n2,{last}\n"));
        for backend in fairplan_tests::backend_names() {
            let words = ["plan", "growth", "instance.json", "--series", "series.csv", "--as-today"];
            let more = ["--catalog", "catalog.csv", "--backend", backend];
            let output = folder.run(&[&["-q"], &words[..], &more].concat());
            assert_ne!(output.status.code(), Some(3), "{backend}: {}", super::text(&output.stderr));
            let growth: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let stage = &growth["purchases"][0];
            let servers = stage["servers"].as_array().unwrap();
            assert_eq!(!servers.is_empty(), bought, "{last}, {backend}: {growth}");
            let scale = (last.parse::<f64>().unwrap() / 100.0).to_string();
            let once = ["plan", "buy", "instance.json", "--catalog", "catalog.csv", "--scale", &scale];
            let once = folder.run(&[&["-q"], &once[..], &["--backend", backend]].concat());
            assert_eq!(once.status.code(), Some(if bought { 0 } else { 1 }), "{}", super::text(&once.stderr));
            let plan: serde_json::Value = serde_json::from_slice(&once.stdout).unwrap();
            if bought {
                assert_eq!(stage["cost"], plan["purchase"]["cost"], "{growth}");
            }
        }
    }
}
