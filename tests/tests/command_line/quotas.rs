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
fn guarantees_that_cannot_be_kept_end_with_status_1_and_one_line() {
    let folder = folder(r#", "guarantee": {"cpu": 8}"#, "");
    let mut more: Value = serde_json::from_str(&folder.read("i.json")).unwrap();
    more["groups"][1]["guarantee"] = serde_json::json!({"cpu": 8});
    folder.write("i.json", more.to_string());
    let output = folder.run(&["-q", "solve", "i.json", "-o", "r.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let line = super::one_line(&output);
    let told = "the guarantees cannot be kept together, at most 75.00% of each: group web and group batch are together guaranteed \
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
    for words in [
        &["place", "i.json"][..],
        &["bound", "i.json"],
        &["bound", "i.json", "--objective", "pf"],
        &["compare", "i.json"],
        &["audit", "i.json"],
        &["explain", "i.json", "--user", "shop"],
        &["explain", "i.json", "--group", "web"],
        &["plan", "worth", "i.json"],
        &["plan", "lose", "i.json"],
        &["plan", "diff", "i.json", "i.json"],
        &["solve", "i.json", "--objective", "bmf"],
    ] {
        let refusal = folder.refused(&[&["-q"], words].concat());
        assert!(refusal.contains("groups[0]") || refusal.contains("groups:"), "{words:?}: {refusal}");
        assert!(refusal.contains("does not know"), "{words:?}: {refusal}");
    }
    assert!(!text(&folder.run(&["-q", "solve", "i.json"]).stdout).is_empty());
}
