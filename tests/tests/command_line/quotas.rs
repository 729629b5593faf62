//! Guarantees, limits and reserves as users meet them: results, what refuses them, and bad input.

use super::{Folder, text};
use serde_json::Value;

/// A cluster of 12 cores for two teams, of which `web` has the fields given, as has its user `shop`.
fn instance(of_group: &str, of_user: &str) -> String {
    format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "gpu"],
            "server_classes": [{{"id": "old", "count": 6, "capacity": {{"cpu": 1}}}}, {{"id": "new", "count": 3, "capacity": {{"cpu": 2}}}}],
            "groups": [{{"id": "web"{of_group}}}, {{"id": "batch"}}],
            "users": [{{"id": "shop", "demand": {{"cpu": 1}}, "group": "web"{of_user}}},
                      {{"id": "mail", "demand": {{"cpu": 1}}, "group": "web"}}, {{"id": "nightly", "demand": {{"cpu": 1}}, "group": "batch"}}]}}"#
    )
}

fn folder(of_group: &str, of_user: &str) -> Folder {
    let folder = Folder::new();
    folder.write("i.json", instance(of_group, of_user));
    folder
}

#[test]
fn a_limit_is_kept_and_its_use_and_price_are_stated() {
    let folder =
        folder(r#", "limit": {"cpu": 3}"#, r#", "limits": [{"classes": ["new"], "amounts": {"cpu": 0.5}}]"#);
    let told = folder.done(&["solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let limit = &result["limits"][0];
    assert_eq!((&limit["group"], &limit["limit"]["cpu"]), (&"web".into(), &3.0.into()), "{told}");
    assert!((limit["used"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    // One more core for the team of two is a twelfth of the cluster, and the team is the lowest.
    assert!((limit["price"].as_f64().unwrap() - 1.0 / 12.0).abs() < 1e-9, "{limit}");
    assert_eq!(
        (&result["limits"][1]["user"], &result["limits"][1]["classes"][0]),
        (&"shop".into(), &"new".into())
    );
    assert_eq!(result["users"][0]["limited_by"], "limit");
    assert_eq!(result["groups"][0]["limited_by"], "limit");
    assert!((result["level"].as_f64().unwrap() - 0.75).abs() < 1e-9);
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    for (field, to) in
        [("used", Value::from(0.9)), ("price", Value::from(0.1)), ("limit", serde_json::json!({"cpu": 4}))]
    {
        let mut forged = result.clone();
        forged["limits"][0][field] = to;
        folder.write("forged.json", forged.to_string());
        let verdict = folder.run(&["-q", "verify", "i.json", "forged.json"]);
        assert_eq!(verdict.status.code(), Some(1), "{field}: {}", text(&verdict.stderr));
    }
}

#[test]
fn guarantees_and_reserves_are_kept_stated_and_checked() {
    let folder =
        folder(r#", "guarantee": {"cpu": 8}"#, r#", "guarantee": {"cpu": 5}, "reserve": {"cpu": 6}"#);
    let told = folder.done(&["solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let tasks = |i: usize| result["users"][i]["tasks"].as_f64().unwrap();
    assert!(
        (tasks(0) - 6.0).abs() < 1e-7 && (tasks(1) - 3.0).abs() < 1e-7 && (tasks(2) - 3.0).abs() < 1e-7,
        "{told}{result}"
    );
    let [of_group, of_user] = [0, 1].map(|i| result["guarantees"][i].clone());
    assert_eq!((&of_group["group"], &of_group["guarantee"]["cpu"]), (&"web".into(), &8.0.into()));
    assert!((of_group["floor"].as_f64().unwrap() - 8.0 / 12.0).abs() < 1e-8, "{of_group}");
    assert_eq!((&of_user["user"], &of_user["held_up"]), (&"shop".into(), &false.into()), "{of_user}");
    assert_eq!(result["limits"][0]["reserve"]["cpu"], 6.0);
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    for (place, to) in [
        ("/guarantees/0/floor", Value::from(0.9)),
        ("/guarantees/0/share", Value::from(0.9)),
        ("/guarantees/0/guarantee/cpu", Value::from(7)),
        ("/guarantees/1/held_up", Value::from(true)),
        ("/limits/0/reserve/cpu", Value::from(5)),
        ("/guaranteed_groups/0/members/0/placement/0/tasks", Value::from(0.5)),
        ("/guaranteed_groups/0/members/0/limited_by", Value::from("tasks")),
        ("/guaranteed_groups/0/levels/0/value", Value::from(0.1)),
        ("/guaranteed_groups", serde_json::json!([])),
    ] {
        let mut forged = result.clone();
        *forged.pointer_mut(place).unwrap() = to;
        folder.write("forged.json", forged.to_string());
        let verdict = folder.run(&["-q", "verify", "i.json", "forged.json"]);
        assert!(matches!(verdict.status.code(), Some(1 | 2)), "{place}: {}", text(&verdict.stderr));
    }
}

#[test]
fn a_guarantee_that_the_limits_and_tasks_of_members_leave_open_is_kept_by_a_placement() {
    let folder = super::Folder::new();
    let instance = |tasks: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{{"id": "n", "count": 4, "capacity": {{"cpu": 4}}}}],
            "groups": [{{"id": "g", "guarantee": {{"cpu": 8}}}}, {{"id": "inside", "parent": "g", "limit": {{"cpu": 3}}}}],
            "users": [{{"id": "limited", "group": "g", "demand": {{"cpu": 1}}, "limit": {{"cpu": 2}}}},
                      {{"id": "few", "group": "g", "demand": {{"cpu": 1}}, "tasks": {tasks}}},
                      {{"id": "deep", "group": "inside", "demand": {{"cpu": 1}}}},
                      {{"id": "other", "demand": {{"cpu": 1}}}}]}}"#
        )
    };
    // Two, one and three tasks are all that the group can have: `solve` guarantees it no more.
    folder.write("i.json", instance("1"));
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "p.json"]);
    folder.done(&["-q", "verify", "i.json", "p.json"]);
    let read = |file: &str| -> Value { serde_json::from_str(&folder.read(file)).unwrap() };
    assert!((read("r.json")["guarantees"][0]["floor"].as_f64().unwrap() - 6.0 / 16.0).abs() < 1e-9);
    assert_eq!(read("p.json")["guarantees"], serde_json::json!({"guarantees": 1, "kept": 1}));
    // With another task of the second it is short of one.
    folder.write("more.json", instance("2"));
    let mut placed = read("p.json");
    placed["instance"] = {
        folder.done(&["-q", "place", "more.json", "--servers-out", "-o", "whole.json"]);
        read("whole.json")["instance"].clone()
    };
    folder.write("p.json", placed.to_string());
    assert_eq!(folder.run(&["-q", "verify", "more.json", "p.json"]).status.code(), Some(1));
}

#[test]
fn guarantees_that_cannot_be_kept_end_with_status_1_and_one_line() {
    let folder = folder(r#", "guarantee": {"cpu": 8}"#, "");
    let mut more: Value = serde_json::from_str(&folder.read("i.json")).unwrap();
    more["groups"][1]["guarantee"] = serde_json::json!({"cpu": 8});
    folder.write("i.json", more.to_string());
    let output = folder.run(&["-q", "solve", "i.json", "-o", "r.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let line = super::one_line(&output);
    let told = "the guarantees cannot be kept together, at most 75.00% of each, as far as its tasks and limits take it: group web and group batch are together guaranteed \
                more than fits; what stands against it is cpu; lower";
    assert!(line.contains(told), "{line}");
}

#[test]
fn quotas_are_written_as_they_were_read() {
    let folder = folder(
        r#", "reserve": {"cpu": 1.50, "gpu": 0}, "guarantee": {"cpu": 2}"#,
        r#", "limits": [{"amounts": {"gpu": 1, "cpu": 4}, "classes": ["new", "old"]}], "limit": {"gpu": 2, "cpu": 3}"#,
    );
    let once = folder.done(&["-q", "convert", "i.json"]);
    assert!(once.contains(r#"{"id": "web", "guarantee": {"cpu": 2}, "reserve": {"cpu": 1.5}}"#), "{once}");
    let of_user = r#""limit": {"cpu": 3, "gpu": 2}, "limits": [{"classes": ["old", "new"], "amounts": {"cpu": 4, "gpu": 1}}]"#;
    assert!(once.contains(of_user), "{once}");
    folder.write("again.json", &once);
    assert_eq!(folder.done(&["-q", "convert", "again.json"]), once);
    let refusal = folder.refused(&[
        "convert",
        "i.json",
        "--to-servers",
        "s.csv",
        "--to-users",
        "u.csv",
        "--to-groups",
        "g.csv",
    ]);
    assert!(
        refusal.contains("tables have no room for guarantees, limits and reserves; write JSON"),
        "{refusal}"
    );
}

/// What people read, whatever the width of their terminal.
fn in_one_line(output: std::process::Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_loss_after_which_guarantees_cannot_be_kept_is_told_with_as_much_of_them_as_can_be() {
    let folder = folder("", r#", "guarantee": {"cpu": 7}"#);
    folder.done(&["-q", "plan", "lose", "i.json", "-o", "l.json"]);
    let losses: Value = serde_json::from_str(&folder.read("l.json")).unwrap();
    for loss in losses["losses"].as_array().unwrap() {
        let told = loss["not_kept"].as_str().unwrap();
        assert!(told.contains("at most 85.72% of each, as far as its tasks and limits take it: user shop is guaranteed more than fits"), "{told}");
        // Of the six cores that are left it has all that it is guaranteed, of which one is missing.
        assert!((loss["short"][0]["kept"].as_f64().unwrap() - 6.0 / 7.0).abs() < 1e-5, "{losses}");
        assert!(loss["value"].as_f64().unwrap() < 1e-5, "{losses}");
    }
}

#[test]
fn the_five_questions_are_each_one_command_for_teams_with_quotas() {
    let folder = folder(
        r#", "guarantee": {"cpu": 7}, "limits": [{"classes": ["new"], "amounts": {"cpu": 5}}]"#,
        r#", "limit": {"cpu": 3}, "reserves": [{"classes": ["old"], "amounts": {"cpu": 1}}]"#,
    );
    let json = |file: &str| -> Value { serde_json::from_str(&folder.read(file)).unwrap() };
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    assert!((json("r.json")["groups"][0]["share"].as_f64().unwrap() - 7.0 / 12.0).abs() < 1e-8);
    folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "p.json"]);
    let tasks: Vec<u64> = json("p.json")["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["tasks"].as_u64().unwrap())
        .collect();
    assert_eq!((tasks[0] <= 3, tasks[0] + tasks[1], tasks[2]), (true, 7, 5), "{tasks:?}");
    folder.done(&["-q", "verify", "i.json", "p.json"]);
    folder.done(&["-q", "bound", "i.json", "-o", "b.json"]);
    folder.done(&["-q", "verify", "i.json", "b.json"]);
    folder.done(&["-q", "compare", "i.json", "--policies", "best-fit,first-fit", "-o", "c.json"]);
    let compared = json("c.json");
    for policy in compared["policies"].as_array().unwrap() {
        assert!(policy["value"].as_f64() <= compared["bounds"]["divisible"].as_f64(), "{compared}");
    }
    folder.done(&["-q", "plan", "worth", "i.json", "-o", "w.json"]);
    // A core more goes to the others of whoever has its guarantee: to `batch`, the lowest that wants more.
    let worth = json("w.json");
    let old = worth["server_classes"].as_array().unwrap().iter().find(|class| class["id"] == "old").unwrap();
    assert!((old["gain"].as_f64().unwrap() - 1.0 / 12.0).abs() < 1e-8, "{worth}");
    assert!((old["by_price"].as_f64().unwrap() - 1.0 / 12.0).abs() < 1e-8, "{worth}");
    folder.done(&["-q", "plan", "lose", "i.json", "-o", "l.json"]);
    let losses = json("l.json");
    let loss = |id: &str| {
        losses["losses"].as_array().unwrap().iter().find(|loss| loss["class"] == id).unwrap().clone()
    };
    // Without the old servers there is nothing to reserve there; without the new ones all is kept that the rest can hold.
    assert!(loss("old")["not_kept"].as_str().unwrap().contains("users[0].reserves.cpu = 1"), "{losses}");
    assert!(loss("new")["not_kept"].is_null(), "{losses}");
    folder.done(&["-q", "explain", "i.json", "--user", "shop", "-o", "e.json"]);
    assert!(json("e.json")["limits"].as_array().unwrap().iter().any(|limit| limit["user"] == "shop"));
    assert_eq!(json("e.json")["guarantees"][0]["group"], "web");
    let told = in_one_line(folder.run(&["explain", "i.json", "--group", "web", "-o", "g.json"]));
    assert!(told.contains("Group web is held up by its guarantee of 7 cpu"), "{told}");
    let mut other: Value = json("i.json");
    other["groups"][0]["guarantee"]["cpu"] = 8.into();
    folder.write("j.json", other.to_string());
    folder.done(&["-q", "plan", "diff", "i.json", "j.json", "-o", "d.json"]);
    let difference = json("d.json");
    assert_eq!(difference["changed_groups"][0]["changes"][0], "guarantee 7 cpu -> 8 cpu", "{difference}");
    let of_quotas =
        difference["steps"].as_array().unwrap().iter().find(|step| step["change"] == "quotas").unwrap();
    assert_eq!((&of_quotas["gaining"], &of_quotas["losing"]), (&1.into(), &1.into()), "{difference}");
    folder.write("catalog.csv", "id,price\nold,1\n");
    let bought = ["plan", "buy", "i.json", "--catalog", "catalog.csv", "--scale", "1.5", "-o", "buy.json"];
    let bought = in_one_line(folder.run(&bought));
    assert!(bought.contains("takes the place of guarantees, limits and reserves"), "{bought}");
}

#[test]
fn amounts_over_some_classes_are_read_written_solved_and_refused_like_limits() {
    let folder = folder(
        r#", "guarantees": [{"classes": ["new", "old"], "amounts": {"cpu": 8, "gpu": 0}}]"#,
        r#", "reserves": [{"classes": ["new"], "amounts": {"cpu": 2}}]"#,
    );
    let once = folder.done(&["-q", "convert", "i.json"]);
    assert!(once.contains(r#""guarantees": [{"classes": ["old", "new"], "amounts": {"cpu": 8}}]"#), "{once}");
    assert!(once.contains(r#""reserves": [{"classes": ["new"], "amounts": {"cpu": 2}}]"#), "{once}");
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(result["guarantees"][0]["guarantees"][0]["amounts"]["cpu"], 8.0, "{result}");
    assert_eq!(result["limits"][0]["reserve"]["cpu"], 2.0);
    assert_eq!(result["limits"][0]["classes"][0], "new");
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    for (place, to) in [
        ("/guarantees/0/guarantees/0/amounts/cpu", Value::from(7)),
        ("/guarantees/0/guarantees/0/classes/0", Value::from("new")),
        ("/limits/0/classes/0", Value::from("old")),
    ] {
        let mut forged = result.clone();
        *forged.pointer_mut(place).unwrap() = to;
        folder.write("forged.json", forged.to_string());
        let verdict = folder.run(&["-q", "verify", "i.json", "forged.json"]);
        assert!(matches!(verdict.status.code(), Some(1 | 2)), "{place}: {}", text(&verdict.stderr));
    }
    for (of_user, told) in [
        (
            r#", "guarantees": [{"classes": [], "amounts": {"cpu": 1}}]"#,
            "users[0].guarantees[0].classes: name the server classes that it covers; a guarantee over all of them is `guarantee`",
        ),
        (
            r#", "guarantees": [{"classes": ["new"], "amounts": {"cpu": 5}}], "limit": {"cpu": 4}"#,
            "users[0].guarantees.cpu = 5: more than its limit of 4; lower the guarantee or raise the limit",
        ),
        (
            r#", "reserves": [{"classes": ["new"], "amounts": {"cpu": 6}}]"#,
            "users[0].reserves.cpu = 6: these classes together have no more",
        ),
        (
            r#", "reserves": [{"classes": ["tape"], "amounts": {"cpu": 6}}]"#,
            "users[0].reserves[0].classes[0] = tape: there is no server class with this id",
        ),
    ] {
        let refusal = self::folder("", of_user).refused(&["solve", "i.json"]);
        assert!(refusal.contains(told), "{told}\n{refusal}");
    }
    // Quietly: of the gpu that nobody demands the instance is warned first.
    let refusal = folder.refused(&["-q", "solve", "i.json", "--objective", "drf"]);
    assert!(refusal.contains("treats all servers as one, so nothing is"), "{refusal}");
}

#[test]
fn each_broken_rule_of_quotas_names_its_place_value_and_what_to_do() {
    for (of_group, of_user, told) in [
        (r#", "limit": {"tpu": 1}"#, "", "groups[0].limit.tpu: unknown resource; there are cpu, gpu"),
        (r#", "limit": {"cpu": -1}"#, "", "groups[0].limit.cpu"),
        (
            r#", "limit": {"cpu": 0}"#,
            "",
            "groups[0].limit.cpu = 0: a limit of nothing lets nothing run; give the users `tasks` 0",
        ),
        (
            "",
            r#", "limits": [{"classes": ["tape"], "amounts": {"cpu": 1}}]"#,
            "users[0].limits[0].classes[0] = tape: there is no server class with this id",
        ),
        (
            "",
            r#", "limits": [{"classes": ["new", "new"], "amounts": {"cpu": 1}}]"#,
            "users[0].limits[0].classes: a class is named twice",
        ),
        (
            "",
            r#", "limits": [{"classes": [], "amounts": {"cpu": 1}}]"#,
            "users[0].limits[0].classes: name the server classes that it covers",
        ),
        (
            "",
            r#", "limits": [{"classes": ["new"]}]"#,
            "users[0].limits[0].amounts: name at least one resource",
        ),
        ("", r#", "limits": [{"classes": ["new"], "amount": {"cpu": 1}}]"#, "users[0]"),
        (
            "",
            r#", "guarantee": {"cpu": 5}, "limit": {"cpu": 4}"#,
            "users[0].guarantee.cpu = 5: more than its limit of 4; lower the guarantee or raise the limit",
        ),
        (
            "",
            r#", "reserve": {"cpu": 12}"#,
            "users[0].reserve.cpu = 12: all servers together have no more, so nobody else could run a task that needs it; reserve less",
        ),
        (
            "",
            r#", "guarantee": {"gpu": 1}"#,
            "users[0].guarantee.gpu = 1: no task of user shop needs gpu; leave it out",
        ),
        (
            r#", "guarantee": {"gpu": 1}"#,
            "",
            "groups[0].guarantee.gpu = 1: no task of group web needs gpu; leave it out",
        ),
    ] {
        let refusal = folder(of_group, of_user).refused(&["solve", "i.json"]);
        assert!(refusal.contains(told), "{told}\n{refusal}");
    }
}

#[test]
fn what_does_not_know_quotas_yet_says_so_and_of_whom() {
    let folder = folder(r#", "limit": {"cpu": 3}"#, "");
    folder.write("c.json", "{}");
    for words in [&["bound", "i.json", "--objective", "pf"][..], &["solve", "i.json", "--objective", "bmf"]] {
        let refusal = folder.refused(&[&["-q"], words].concat());
        assert!(refusal.contains("groups[0]") || refusal.contains("groups:"), "{words:?}: {refusal}");
        assert!(refusal.contains("does not know"), "{words:?}: {refusal}");
    }
    assert!(!text(&folder.run(&["-q", "solve", "i.json"]).stdout).is_empty());
}

#[test]
fn patterns_are_placed_under_quotas_and_hold() {
    for of_group in [r#", "limit": {"cpu": 3}"#, r#", "guarantee": {"cpu": 2}"#, r#", "reserve": {"cpu": 2}"#]
    {
        let folder = folder(of_group, "");
        folder.done(&["-q", "place", "i.json", "--policy", "pattern", "--servers-out", "-o", "p.json"]);
        folder.done(&["-q", "verify", "i.json", "p.json"]);
    }
}

#[test]
fn a_member_is_served_what_it_is_guaranteed_before_its_siblings_take_what_their_group_is() {
    let folder = Folder::new();
    // Eight cores: four for the group, three of them for q whatever p's weight, and four for o.
    folder.write(
        "i.json",
        r#"{"format":"fairplan.instance.v1","resources":["cpu"],
            "server_classes":[{"id":"S","count":8,"capacity":{"cpu":1}}],
            "groups":[{"id":"g","guarantee":{"cpu":4}}],
            "users":[{"id":"p","demand":{"cpu":1},"group":"g","weight":9},
                     {"id":"q","demand":{"cpu":1},"group":"g","guarantee":{"cpu":3}},
                     {"id":"o","demand":{"cpu":1},"guarantee":{"cpu":4}}]}"#,
    );
    for policy in ["best-fit", "first-fit", "worst-fit", "random"] {
        folder.done(&["-q", "place", "i.json", "--policy", policy, "-o", "p.json"]);
        let placed: Value = serde_json::from_str(&folder.read("p.json")).unwrap();
        let tasks: Vec<u64> =
            placed["users"].as_array().unwrap().iter().map(|user| user["tasks"].as_u64().unwrap()).collect();
        assert_eq!(tasks, [1, 3, 4], "{policy}");
    }
}

#[test]
fn an_explanation_says_what_guarantees_left_unasked_and_ends_well() {
    let folder = Folder::new();
    // All five cores run its tasks; were they smaller in memory, more of them would be guaranteed than there are cores for.
    folder.write(
        "i.json",
        r#"{"format":"fairplan.instance.v1","resources":["cpu","memory"],
            "server_classes":[{"id":"S","count":5,"capacity":{"cpu":1,"memory":2}}],
            "users":[{"id":"a","demand":{"cpu":1,"memory":1},"guarantee":{"memory":5}}]}"#,
    );
    let output = folder.run(&["explain", "i.json", "--user", "a", "-o", "why.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let why: Value = serde_json::from_str(&folder.read("why.json")).unwrap();
    let left = why["not_asked"][0].as_str().unwrap();
    assert!(left.starts_with("what a smaller demand of memory changes: guarantees"), "{left}");
    assert!(
        text(&output.stderr).contains("Not asked: what a smaller demand of memory"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn no_level_is_bounded_below_what_is_reached() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format":"fairplan.instance.v1","resources":["cpu","memory"],
            "server_classes":[{"id":"on-demand","count":8,"capacity":{"cpu":1,"memory":4}},
                              {"id":"spot","count":4,"capacity":{"cpu":1,"memory":2}}],
            "groups":[{"id":"web","guarantee":{"cpu":7}},
                      {"id":"batch","limits":[{"classes":["on-demand"],"amounts":{"memory":9}}],"weight":2},
                      {"id":"low","parent":"batch"}],
            "users":[{"id":"shop","group":"web","demand":{"cpu":0.5,"memory":1},"guarantee":{"cpu":1,"memory":2}},
                     {"id":"crawler","group":"web","demand":{"cpu":0.25,"memory":0.75},"eligible":["spot"],"tasks":3},
                     {"id":"nightly","group":"batch","demand":{"cpu":0.5,"memory":0.5}},
                     {"id":"rep","group":"low","demand":{"cpu":0.25,"memory":1},"limit":{"memory":3},"weight":3},
                     {"id":"rep2","group":"low","demand":{"cpu":0.5,"memory":0.25}}]}"#,
    );
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let levels = result["certificate"]["levels"].as_array().unwrap().len();
    for level in 0..levels {
        let mut forged = result.clone();
        let bound = &mut forged["certificate"]["levels"][level]["bound"];
        *bound = Value::from(0.9 * bound.as_f64().unwrap());
        folder.write("forged.json", forged.to_string());
        let verdict = folder.run(&["verify", "i.json", "forged.json", "-o", "v.json"]);
        assert_eq!(verdict.status.code(), Some(1), "level {level}: {}", text(&verdict.stderr));
    }
}

#[test]
fn guarantees_that_cannot_be_kept_end_with_status_1_inside_a_group_too() {
    for (of_group, told) in [
        (
            "",
            "the guarantees cannot be kept together, at most 85.72% of each, as far as its tasks and limits take it",
        ),
        (
            r#", "guarantee": {"cpu": 7}"#,
            "what is guaranteed inside group web cannot be kept with what that is guaranteed itself, at most 50.00% of each, as far as its tasks and limits take it",
        ),
    ] {
        let folder = folder(of_group, r#", "guarantee": {"cpu": 14}"#);
        let output = folder.run(&["solve", "i.json"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(
            error.contains(told) && error.contains("`convert --without guarantees` leaves them out"),
            "{error}"
        );
        folder.done(&["convert", "i.json", "--without", "guarantees", "-o", "without.json"]);
        folder.done(&["solve", "without.json"]);
    }
}

#[test]
fn a_user_with_one_task_is_said_to_have_one() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        "{\"format\": \"fairplan.instance.v1\", \"resources\": [\"cpu\"], \"server_classes\": [{\"id\": \"s\", \"count\": 1, \
         \"capacity\": {\"cpu\": 10}}], \"users\": [{\"id\": \"a\", \"demand\": {\"cpu\": 10}}]}",
    );
    let told = text(&folder.run(&["explain", "i.json", "--user", "a", "-o", "e.json"]).stderr);
    assert!(told.contains("User a gets 1 task, 100"), "{told}");
}

/// A user alone with a guarantee, and another, in a group that may have 12 of 20 cores.
fn in_a_limited_group(of_others: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "i.json",
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                "server_classes": [{{"id": "n", "count": 1, "capacity": {{"cpu": 20}}}}],
                "groups": [{{"id": "root", "limit": {{"cpu": 12}}}}],
                "users": [{{"id": "dave", "group": "root", "demand": {{"cpu": 1}}, "guarantee": {{"cpu": 10}}}},
                          {{"id": "eric", "group": "root", "demand": {{"cpu": 1}}{of_others}}}]}}"#
        ),
    );
    folder
}

#[test]
fn a_guarantee_holds_its_owner_up_where_the_limit_of_their_group_holds_the_others() {
    for (of_others, held_up) in [
        ("", true),
        (r#", "limit": {"cpu": 3}"#, true),
        (r#", "limit": {"cpu": 1}"#, false),
        (r#", "tasks": 2"#, false),
    ] {
        let folder = in_a_limited_group(of_others);
        folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
        let mut result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert_eq!(result["guarantees"][0]["held_up"], held_up, "{of_others}: {result}");
        folder.done(&["-q", "verify", "i.json", "r.json"]);
        result["guarantees"][0]["held_up"] = Value::from(!held_up);
        folder.write("forged.json", result.to_string());
        let verdict = folder.run(&["-q", "verify", "i.json", "forged.json"]);
        assert_eq!(verdict.status.code(), Some(1), "{of_others}: {}", text(&verdict.stderr));
    }
    let told = text(&in_a_limited_group("").run(&["explain", "i.json", "--user", "dave"]).stderr);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("dave is held up by its guarantee"), "{told}");
}

/// Where guarantees fill a class, the level that is left beside them rises by less than they are rounded by.
#[test]
fn bounds_count_guarantees_that_fill_a_class_as_the_solution_does() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "a", "count": 1, "capacity": {"cpu": 4}}, {"id": "b", "count": 1, "capacity": {"cpu": 4}}],
            "groups": [{"id": "one"}],
            "users": [{"id": "one@a", "group": "one", "demand": {"cpu": 1}, "eligible": ["a"], "guarantee": {"cpu": 3}},
                      {"id": "one@b", "group": "one", "demand": {"cpu": 1}, "eligible": ["b"]},
                      {"id": "two@b", "demand": {"cpu": 1}, "eligible": ["b"], "guarantee": {"cpu": 4}}]}"#,
    );
    folder.done(&["-q", "bound", "i.json", "-o", "b.json"]);
    folder.done(&["-q", "verify", "i.json", "b.json"]);
    let bound: Value = serde_json::from_str(&folder.read("b.json")).unwrap();
    assert_eq!(
        (&bound["divisible"], &bound["counted_guarantees"]),
        (&0.375.into(), &"all".into()),
        "{bound}"
    );
    let told = text(&folder.run(&["compare", "i.json", "--policies", "best-fit", "-o", "c.json"]).stderr);
    assert!(told.contains("37.50%") && !told.contains("left out"), "{told}");
}

#[test]
fn an_audit_leaves_out_what_does_not_know_limits_of_classes_in_the_words_of_solve() {
    let folder = folder("", r#", "limits": [{"classes": ["new"], "amounts": {"cpu": 1}}]"#);
    let told = folder.run(&["audit", "i.json", "--all", "-o", "a.jsonl"]);
    let told = text(&told.stderr) + &text(&told.stdout);
    for objective in ["drf", "bmf"] {
        let refusal = folder.refused(&["-q", "solve", "i.json", "--objective", objective]);
        let line = told.lines().find(|line| line.starts_with(&format!("{objective} is left out: ")));
        let line = line.unwrap_or_else(|| panic!("{objective}: {told}"));
        assert!(
            !line.contains("no such class") && refusal.contains(&line[line.find(": ").unwrap() + 2..]),
            "{line}\n{refusal}"
        );
    }
}

#[test]
fn a_placement_that_counts_what_groups_are_guaranteed_is_read_by_all_that_read_placements() {
    let folder = super::Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "a", "count": 2, "capacity": {"cpu": 4}}],
            "groups": [{"id": "g", "guarantee": {"cpu": 3}}],
            "users": [{"id": "u", "demand": {"cpu": 1}, "group": "g"}, {"id": "v", "demand": {"cpu": 1}}]}"#,
    );
    folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "now.json"]);
    assert!(folder.read("now.json").contains("guaranteed_groups"), "{}", folder.read("now.json"));
    for words in [
        &["plan", "move", "i.json", "--from", "now.json", "--level", "1"][..],
        &["plan", "move", "i.json", "--from", "now.json", "--to", "now.json"],
        &["compare", "i.json", "--placement", "now.json"],
        &["verify", "i.json", "now.json"],
        &["report", "now.json", "-o", "page.html"],
    ] {
        folder.done(&[&["-q"], words].concat());
    }
    // Nothing that the format has is unknown to who reads what others placed.
    let schema: Value = serde_json::from_str(&folder.done(&["schema", "fairplan.placement.v1"])).unwrap();
    for field in schema["properties"].as_object().unwrap().keys().filter(|field| *field != "format") {
        let mut placement = serde_json::json!({"format": "fairplan.placement.v1"});
        placement[field] = Value::Null;
        folder.write("some.json", placement.to_string());
        let output = folder.run(&["plan", "move", "i.json", "--from", "some.json"]);
        assert!(!text(&output.stderr).contains("unknown field"), "{field}: {}", text(&output.stderr));
    }
}

#[test]
fn bounds_of_sums_and_of_what_is_allocated_count_how_many_tasks_limits_leave_each_user() {
    let folder = super::Folder::new();
    let instance = |limit: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                "server_classes": [{{"id": "c", "count": 2, "capacity": {{"cpu": 6}}}}],
                "users": [{{"id": "u", "demand": {{"cpu": 2}}{limit}}}, {{"id": "v", "demand": {{"cpu": 2}}{limit}}}]}}"#
        )
    };
    folder.write("i.json", instance(r#", "limit": {"cpu": 3}"#));
    folder.write("free.json", instance(""));
    let bound = |file: &str, objective: &str| -> Value {
        folder.done(&["-q", "bound", file, "--objective", objective, "-o", "b.json"]);
        folder.done(&["-q", "verify", file, "b.json"]);
        serde_json::from_str(&folder.read("b.json")).unwrap()
    };
    // Each has one task of 2 of the 12 cpu: its limit has no room for two.
    let sum = bound("i.json", "pf");
    let expected = 2.0 * (1.0f64 / 6.0).ln();
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-7;
    assert!(near(&sum["integral_upper"], expected) && sum["proved_optimal"] == true, "{sum}");
    assert!(sum["integral_upper"].as_f64() <= sum["divisible"].as_f64(), "{sum}");
    let mut forged = sum.clone();
    forged["integral_upper"] = (expected - 0.1).into();
    folder.write("forged.json", forged.to_string());
    assert_ne!(folder.run(&["-q", "verify", "i.json", "forged.json"]).status.code(), Some(0));
    let most = bound("i.json", "allocated=cpu");
    assert!(near(&most["integral_upper"], 4.0) && most["proved_optimal"] == true, "{most}");
    assert!(near(&bound("free.json", "allocated=cpu")["integral_upper"], 12.0));
}
