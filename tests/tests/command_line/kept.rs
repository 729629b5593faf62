//! What is guaranteed and limited inside groups, told alike by all commands: levels, guarantees that failures and placements break, and what
//! it costs to keep them.

use super::{Folder, text};
use serde_json::{Value, json};

fn folder(instance: &Value) -> Folder {
    let folder = Folder::new();
    folder.write("i.json", instance.to_string());
    folder
}

fn result(folder: &Folder, words: &[&str]) -> Value {
    serde_json::from_str(&folder.done(&[&["-q"], words].concat())).unwrap()
}

fn near(number: &Value, expected: f64) -> bool {
    number.as_f64().is_some_and(|number| (number - expected).abs() < 1e-6)
}

/// Two groups of two users each on ten servers of ten cores, of which one has a limit of ten.
fn limited() -> Folder {
    let user = |id: &str, group: &str| json!({"id": id, "demand": {"cpu": 1}, "group": group});
    let held =
        |id: &str, group: &str| json!({"id": id, "demand": {"cpu": 1}, "group": group, "limit": {"cpu": 10}});
    folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "s", "count": 10, "capacity": {"cpu": 10}}],
        "groups": [{"id": "a"}, {"id": "b"}],
        "users": [held("a1", "a"), user("a2", "a"), user("b1", "b"), held("b2", "b")]
    }))
}

#[test]
fn the_value_and_the_level_of_groups_with_limits_inside_are_the_same_everywhere() {
    let folder = limited();
    // By the limits each group has twice 10 of 100 cores, as far as its members divide it; whom no limit holds has 40 beside them.
    let is_so = |of: &Value| near(&of["value"], 0.2) && near(&of["level"], 0.5);
    let solved = result(&folder, &["solve", "i.json"]);
    assert!(is_so(&solved), "{solved}");
    let placed = result(&folder, &["place", "i.json", "--servers-out"]);
    assert!(is_so(&placed), "{placed}");
    folder.write("p.json", placed.to_string());
    folder.done(&["-q", "verify", "i.json", "p.json"]);
    let mut forged = placed;
    forged["value"] = json!(0.5);
    folder.write("forged.json", forged.to_string());
    assert_eq!(folder.run(&["-q", "verify", "i.json", "forged.json"]).status.code(), Some(1));
    let worth = result(&folder, &["plan", "worth", "i.json"]);
    assert!(is_so(&worth), "{worth}");
    let difference = result(&folder, &["plan", "diff", "i.json", "i.json"]);
    assert!(is_so(&difference["before"]), "{difference}");
    let losses = result(&folder, &["plan", "lose", "i.json", "--servers-lost", "1"]);
    assert!(is_so(&losses), "{losses}");
}

#[test]
fn no_policy_is_above_the_bound_of_divisible_tasks_where_groups_have_limits_inside() {
    let folder = limited();
    let compared = result(&folder, &["compare", "i.json"]);
    assert!(near(&compared["bounds"]["divisible"], 0.2), "{compared}");
    assert!(near(&compared["bounds"]["drfh_level"], 0.5), "{compared}");
    for policy in compared["policies"].as_array().unwrap() {
        assert!(policy["gap_to_divisible"].as_f64().unwrap() > -1e-9, "{policy}");
    }
    let told = text(&folder.run(&["compare", "i.json", "-o", "c.json"]).stderr);
    assert!(
        told.contains(
            "Level by DRFH of those who still want more, if tasks could be divided at will: 50.00%"
        ),
        "{told}"
    );
}

/// Ten servers without GPUs and four with four; `a1`, `b1` and `b2` are guaranteed something.
fn guaranteed() -> Folder {
    folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu", "gpu"],
        "server_classes": [{"id": "plain", "count": 10, "capacity": {"cpu": 10, "gpu": 0}}, {"id": "gpus", "count": 4, "capacity": {"cpu": 10, "gpu": 4}}],
        "groups": [{"id": "a"}, {"id": "b"}],
        "users": [
            {"id": "a1", "demand": {"cpu": 1}, "group": "a", "guarantee": {"cpu": 80}},
            {"id": "a2", "demand": {"cpu": 1}, "group": "a"},
            {"id": "b1", "demand": {"cpu": 1, "gpu": 1}, "group": "b", "guarantee": {"gpu": 9}},
            {"id": "b2", "demand": {"cpu": 1}, "group": "b", "guarantee": {"cpu": 5}}
        ]
    }))
}

#[test]
fn a_failure_breaks_the_guarantees_that_cannot_be_kept_and_no_others() {
    let folder = guaranteed();
    let losses = result(&folder, &["plan", "lose", "i.json"]);
    let loss = |id: &str| {
        losses["losses"].as_array().unwrap().iter().find(|loss| loss["class"] == id).unwrap().clone()
    };
    // Without GPUs only b1 is short, and a1 keeps its 80 cores.
    let gone = loss("gpus");
    assert_eq!(gone["short"], json!([{"owner": "user b1", "guarantee": "9 gpu", "kept": 0.0}]));
    assert!(gone["losers"].as_array().unwrap().iter().all(|user| user["id"] != "a1"), "{gone}");
    // On 40 cores for 94 that are guaranteed all have the same part.
    let short = loss("plain")["short"].clone();
    let owners: Vec<&str> =
        short.as_array().unwrap().iter().map(|one| one["owner"].as_str().unwrap()).collect();
    assert_eq!(owners.len(), 3, "{short}");
    assert!(
        short
            .as_array()
            .unwrap()
            .iter()
            .all(|one| (one["kept"].as_f64().unwrap() - 40.0 / 94.0).abs() < 1e-4),
        "{short}"
    );
    let told = folder.run(&["plan", "lose", "i.json", "-o", "l.json"]);
    let told = text(&told.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains(
            "2 of these failures break guarantees: without gpus, user b1 is then sure of 0.00% of what it is sure of today by its 9 gpu."
        ),
        "{told}"
    );
    assert!(told.contains("no other guarantee is broken"), "{told}");
}

#[test]
fn one_guarantee_over_lost_servers_leaves_the_others_whole() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "old", "count": 6, "capacity": {"cpu": 1}}, {"id": "new", "count": 6, "capacity": {"cpu": 1}}],
        "users": [
            {"id": "on-new", "demand": {"cpu": 1}, "eligible": ["new"], "guarantees": [{"classes": ["new"], "amounts": {"cpu": 4}}]},
            {"id": "sure", "demand": {"cpu": 1}, "guarantee": {"cpu": 5}},
            {"id": "other", "demand": {"cpu": 1}}
        ]
    }));
    let losses = result(&folder, &["plan", "lose", "i.json"]);
    let new = losses["losses"].as_array().unwrap().iter().find(|loss| loss["class"] == "new").unwrap();
    assert_eq!(new["short"][0]["owner"], "user on-new", "{losses}");
    assert_eq!(new["short"].as_array().unwrap().len(), 1, "{losses}");
    assert!(new["losers"].as_array().unwrap().iter().all(|user| user["id"] != "sure"), "{losses}");
}

#[test]
fn placements_say_which_guarantees_they_keep() {
    let folder = guaranteed();
    let compared = result(&folder, &["compare", "i.json", "--policies", "best-fit,slots=14"]);
    let kept = |policy: usize| compared["policies"][policy]["guarantees"].clone();
    assert_eq!(kept(0), json!({"guarantees": 3, "kept": 3}), "{compared}");
    assert_eq!((&kept(1)["kept"], &kept(1)["short"]["owner"]), (&json!(1), &json!("user b1")), "{compared}");
    assert!(near(&kept(1)["short"]["part"], 2.0 / 9.0), "{compared}");
    let told = text(&folder.run(&["place", "i.json", "--policy", "slots=14", "-o", "p.json"]).stderr);
    assert!(told.contains("1 of 3 guarantees is kept, and user b1 has 22.22% of its 9 gpu"), "{told}");
    let plain = limited();
    let compared = result(&plain, &["compare", "i.json", "--policies", "best-fit"]);
    assert!(compared["policies"][0]["guarantees"].is_null(), "nothing is guaranteed");
}

#[test]
fn keeping_guarantees_is_something_to_buy_for() {
    let user = |id: &str, sure: u32| json!({"id": id, "demand": {"cpu": 1}, "guarantee": {"cpu": sure}});
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "c", "count": 10, "capacity": {"cpu": 10}}],
        "users": [user("a", 80), user("b", 40), {"id": "d", "demand": {"cpu": 1}}]
    }));
    folder.write("catalog.csv", "id,price\nc,3\n");
    folder.write("series.csv", "quantum,all\n1,10\n2,12\n3,15\n");
    let plan = result(&folder, &["plan", "buy", "i.json", "--catalog", "catalog.csv", "--as-today"]);
    // 80, 40 and a third of the hundred: six servers more.
    assert_eq!(plan["purchase"]["cost"], json!(18.0), "{plan}");
    let growth = [
        "plan",
        "growth",
        "i.json",
        "--series",
        "series.csv",
        "--by",
        "all",
        "--as-today",
        "--catalog",
        "catalog.csv",
    ];
    // What is missed is an answer, with status 1.
    let growth: Value =
        serde_json::from_str(&text(&folder.run(&[&["-q"], &growth[..]].concat()).stdout)).unwrap();
    assert!(near(&growth["part_at_one"], 100.0 / (120.0 + 100.0 / 3.0)), "{growth}");
    assert!(!growth["purchases"].as_array().unwrap().is_empty(), "{growth}");
}

#[test]
fn a_group_that_is_not_there_is_told_with_those_that_are() {
    let folder = limited();
    let told = folder.refused(&["explain", "i.json", "--group", "nobody"]);
    assert!(told.contains("no group of this id; it has a, b"), "{told}");
}

#[test]
fn nodes_without_a_label_are_told_and_labels_in_yaml_are_texts() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "c", "count": 2, "capacity": {"cpu": 4}, "names": ["n1", "n2"]}],
        "users": [{"id": "a", "demand": {"cpu": 1}}]
    }));
    let nodes = |zone: &str| {
        format!(
            "kind: Node\nmetadata: {{name: n1, labels: {{zone: {zone}}}}}\nstatus: {{allocatable: {{cpu: 4}}}}\n---\n\
             kind: Node\nmetadata: {{name: n2, labels: {{rack: a}}}}\nstatus: {{allocatable: {{cpu: 4}}}}\n"
        )
    };
    folder.write("nodes.yaml", nodes("\"08\""));
    let words = ["plan", "lose", "i.json", "--label", "zone", "--nodes", "nodes.yaml", "-o", "l.json"];
    let told = text(&folder.run(&words).stderr);
    assert!(told.contains("1 node has no label zone: what fails with them is not told."), "{told}");
    folder.write("nodes.yaml", nodes("08"));
    let told = folder.refused(&words);
    assert!(told.contains("labels.zone") && told.contains("write it in quotes"), "{told}");
}

#[test]
fn labels_of_nodes_that_the_import_left_out_are_told_and_left_out() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "c", "count": 1, "capacity": {"cpu": 4}, "names": ["n1"]}],
        "users": [{"id": "a", "demand": {"cpu": 1}}]
    }));
    let node = |name: &str, zone: &str| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{zone: {zone}}}}}\nstatus: {{allocatable: {{cpu: 4}}}}\n"
        )
    };
    folder.write("nodes.yaml", [node("n1", "a"), node("n2", "b")].join("---\n"));
    let words = ["plan", "lose", "i.json", "--label", "zone", "--nodes", "nodes.yaml", "-o", "l.json"];
    let output = folder.run(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    assert!(told.contains("1 label is of no server of the instance, and left out: zone=b"), "{told}");
    folder.write("nodes.yaml", [node("n3", "a"), node("n2", "b")].join("---\n"));
    let told = folder.refused(&words);
    assert!(told.contains("label = zone=a: the instance has none of these servers by name"), "{told}");
}

#[test]
fn growth_that_nothing_can_be_bought_for_says_what_is_reached_without_it() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "c", "count": 1, "capacity": {"cpu": 10}}],
        "users": [{"id": "a", "demand": {"cpu": 1}, "tasks": 10}]
    }));
    folder.write("s.csv", "quantum,load\n1,100\n2,150\n");
    folder.write("cat.csv", "id,price,limit,commitment_price,commitment_periods,cpu\nbig,7,1,5,12,4\n");
    let words = ["plan", "growth", "i.json", "--series", "s.csv", "--as-today", "--catalog", "cat.csv"];
    let output = folder.run(&[&words[..], &["-o", "g.json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    assert!(
        told.contains("2 is the first quantum that asks for more than can be bought")
            && !told.contains("costs"),
        "{told}"
    );
    let growth: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("g.json")).unwrap()).unwrap();
    assert!(near(&growth["purchases"][0]["scale"], 1.0) && growth["costs"].is_null(), "{growth}");
}

/// One more server gives `train` just its only task.
#[test]
fn beside_a_guarantee_servers_are_worth_something_where_somebody_gets_just_its_last_task() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu", "gpu"],
        "server_classes": [{"id": "node", "count": 2, "capacity": {"cpu": 2, "gpu": 2}}],
        "users": [
            {"id": "train", "demand": {"gpu": 2}, "tasks": 1},
            {"id": "notebook", "demand": {"gpu": 1}},
            {"id": "serve", "demand": {"cpu": 1, "gpu": 1}, "guarantee": {"cpu": 1}}
        ]
    }));
    folder.done(&["-q", "explain", "i.json", "--user", "serve"]);
    let worth: Value = serde_json::from_str(&folder.done(&["-q", "plan", "worth", "i.json"])).unwrap();
    assert!(near(&worth["server_classes"][0]["gain"], 1.0 / 6.0), "{worth}");
}

#[test]
fn tables_with_semicolons_are_called_so() {
    let folder = Folder::new();
    folder.write("s.csv", "id;count;cpu\na;3;4\n");
    folder.write("u.csv", "id,cpu\nu,1\n");
    let told = folder.refused(&["solve", "--servers", "s.csv", "--users", "u.csv"]);
    assert!(told.contains("the columns are separated by semicolons: write commas"), "{told}");
}

#[test]
fn a_reserve_reads_as_a_limit_of_all_others_and_guarantees_are_told_whole() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "servers-of-the-first-kind", "count": 10, "capacity": {"cpu": 10, "memory": 100}}],
        "users": [
            {"id": "a", "demand": {"cpu": 1, "memory": 10}, "reserve": {"cpu": 20}},
            {"id": "b", "demand": {"cpu": 1, "memory": 10}, "guarantees": [{"classes": ["servers-of-the-first-kind"], "amounts": {"cpu": 10, "memory": 100}}]}
        ]
    }));
    let told = text(&folder.run(&["solve", "i.json", "-o", "r.json"]).stderr);
    assert!(told.contains("all but a"), "{told}");
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(!told.contains('…') && words.windows(2).any(|pair| pair == ["100", "memory"]), "{told}");
}

#[test]
fn what_bounds_leave_out_is_told_in_terminal_file_and_page_and_cannot_be_taken_away() {
    // Three tasks are guaranteed, and each server holds one.
    let mut instance = json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "s", "count": 2, "capacity": {"cpu": 3}}],
        "groups": [{"id": "team", "guarantee": {"cpu": 4}}],
        "users": [
            {"id": "sure", "demand": {"cpu": 2}, "group": "team"},
            {"id": "other", "demand": {"cpu": 2}, "guarantee": {"cpu": 2}}
        ]
    });
    let folder = folder(&instance);
    // Bounds of sums know no groups.
    instance["groups"] = json!([]);
    instance["users"][0] = json!({"id": "sure", "demand": {"cpu": 2}, "guarantee": {"cpu": 4}});
    folder.write("flat.json", instance.to_string());
    let asked: [&[&str]; 4] = [
        &["bound", "i.json"],
        &["bound", "flat.json", "--objective", "pf"],
        &["bound", "i.json", "--objective", "allocated=cpu"],
        &["compare", "i.json"],
    ];
    for words in asked {
        let told = text(&folder.run(&[words, &["-o", "r.json"]].concat()).stderr);
        assert!(
            told.contains("not what groups are beyond that") || told.contains("guarantees and reserves"),
            "{words:?}: {told}"
        );
        folder.done(&["-q", "report", "r.json", "-o", "r.html"]);
        let page = folder.read("r.html");
        let with_them = ["with it", "with them", "with all of them"].iter().any(|with| page.contains(with));
        assert!(with_them && page.contains("may be out of reach"), "{words:?}: {page}");
        let result = folder.read("r.json");
        let silent = result.replace("\"under_quotas\": true,", "");
        assert_ne!(silent, result, "{words:?}");
        if words[0] == "bound" {
            folder.write("silent.json", silent);
            let output = folder.run(&["verify", words[1], "silent.json"]);
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert!(
                told.contains("under_quotas") && told.contains("guarantees, limits or reserves"),
                "{told}"
            );
        }
    }
}

#[test]
fn whole_tasks_count_guarantees_inside_groups_and_say_which_are_kept() {
    let folder = guaranteed();
    let told = text(&folder.run(&["place", "i.json", "--servers-out", "-o", "p.json"]).stderr);
    assert!(told.contains("Smallest weighted dominant share: 74.82%"), "{told}");
    folder.done(&["-q", "report", "p.json", "-o", "p.html"]);
    let page = folder.read("p.html");
    assert!(page.contains("74.82%") && page.contains("3 of 3 guarantees are kept"), "{page}");
    let mut placed: Value = serde_json::from_str(&folder.read("p.json")).unwrap();
    placed["guarantees"]["kept"] = json!(2);
    folder.write("forged.json", placed.to_string());
    let output = folder.run(&["verify", "i.json", "forged.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("guarantees kept: 3 of 3, stated: 2 of 3"),
        "{}",
        text(&output.stderr)
    );
}

/// A task of three cores on servers of two: in parts it could run, whole it cannot.
#[test]
fn a_guarantee_is_not_kept_because_no_server_holds_a_task_of_it() {
    let folder = folder(&json!({
        "format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "s", "count": 2, "capacity": {"cpu": 2}}],
        "users": [{"id": "big", "demand": {"cpu": 3}, "guarantee": {"cpu": 3}}, {"id": "small", "demand": {"cpu": 1}}]
    }));
    let told = text(&folder.run(&["place", "i.json", "--servers-out", "-o", "p.json"]).stderr);
    assert!(told.contains("0 of 1 guarantee is kept, and user big has 0.00% of its 3 cpu"), "{told}");
    folder.done(&["-q", "verify", "i.json", "p.json", "-o", "v.json"]);
}

/// The group's limit is used up by a sibling, or is less than a member is guaranteed: no excuse.
#[test]
fn a_guarantee_is_not_kept_because_a_limit_is_used_up() {
    let of = |sure: u32, limit: u32| {
        folder(&json!({
            "format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "n", "count": 1, "capacity": {"cpu": 8}}],
            "groups": [{"id": "prod", "limit": {"cpu": limit}}],
            "users": [
                {"id": "a", "group": "prod", "demand": {"cpu": 1}, "guarantee": {"cpu": sure}},
                {"id": "b", "group": "prod", "demand": {"cpu": 1}}
            ]
        }))
    };
    let folder = of(2, 4);
    let own = json!({"format": "fairplan.placement.v1",
        "servers": [{"server": "n/1", "class": "n", "tasks": [{"user": "b", "tasks": 4}]}]});
    folder.write("own.json", own.to_string());
    let told = result(&folder, &["compare", "i.json", "--placement", "own.json", "--policies", "best-fit"]);
    let kept: Vec<&Value> =
        told["policies"].as_array().unwrap().iter().map(|policy| &policy["guarantees"]["kept"]).collect();
    assert_eq!(kept, [&json!(1), &json!(0)], "{told}");
    let folder = of(4, 2);
    let placed = result(&folder, &["place", "i.json"]);
    assert_eq!(placed["guarantees"]["kept"], json!(0), "{placed}");
}
