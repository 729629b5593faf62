//! `bound`, `compare` and `place --policy pattern`: what whole tasks can reach, as users meet it.

use super::{Folder, text};
use fairplan_instances::generate::drfh_fig4;
use serde_json::Value;

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_bracket_is_written_and_verified_from_the_two_files_and_a_changed_one_is_refused() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[1, 2, 3]).unwrap());
    folder.done(&["-q", "bound", "i.json", "-o", "bound.json"]);
    let again = folder.done(&["-q", "bound", "i.json", "--threads", "1"]);
    assert_eq!(folder.read("bound.json"), again);
    let bound = read(&again);
    assert_eq!(bound["proved_optimal"], true);
    assert_eq!(bound["integral_upper"], bound["integral_lower"]);
    assert!(bound["divisible"].as_f64().unwrap() > 0.449);
    let verdict = read(&folder.done(&["-q", "verify", "i.json", "bound.json"]));
    assert_eq!(verdict["holds"], true);
    assert_eq!(verdict["result_format"], "fairplan.bound.v1");
    let value = bound["integral_upper"].to_string();
    folder.write("forged.json", again.replace(&value, "0.2843"));
    assert_eq!(folder.run(&["-q", "verify", "i.json", "forged.json"]).status.code(), Some(1));
}

#[test]
fn what_divided_tasks_reach_is_listed_as_unchecked_of_a_sum_only_where_the_file_states_it() {
    let folder = Folder::new();
    let users = |large: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                "server_classes": [{{"id": "a", "count": 2, "capacity": {{"cpu": 4}}}}],
                "users": [{{"id": "small", "demand": {{"cpu": 1}}}}, {{"id": "large", "demand": {{"cpu": {large}}}}}]}}"#
        )
    };
    for (large, is_stated) in [("2", true), ("5", false)] {
        folder.write("i.json", users(large));
        folder.done(&["-q", "bound", "i.json", "--objective", "pf", "-o", "bound.json"]);
        assert_eq!(read(&folder.read("bound.json")).get("divisible").is_some(), is_stated);
        let output = folder.run(&["verify", "i.json", "bound.json"]);
        assert_eq!(text(&output.stderr).contains("divisible: that it is reached"), is_stated);
    }
}

#[test]
fn the_sum_of_logarithms_is_bracketed_verified_and_refused_when_changed() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[1, 2, 3]).unwrap());
    let bound = ["bound", "i.json", "--objective", "pf"];
    let output = folder.run(&bound);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("Best sum of whole tasks"), "{}", text(&output.stderr));
    folder.write("bound.json", text(&output.stdout));
    let again = folder.done(&[&["-q", "--threads", "1"], &bound[..]].concat());
    assert_eq!(folder.read("bound.json"), again);
    let bound = read(&again);
    let of = |field: &str| bound[field].as_f64().unwrap();
    assert!(of("integral_lower") <= of("integral_upper") && of("integral_upper") < of("divisible"));
    assert!((of("gap_per_weight") - (of("integral_upper") - of("integral_lower")) / 3.0).abs() < 1e-12);
    let verdict = read(&folder.done(&["-q", "verify", "i.json", "bound.json"]));
    assert_eq!(verdict["holds"], true);
    assert_eq!(verdict["result_format"], "fairplan.proportional-bound.v1");
    let value = bound["integral_upper"].to_string();
    folder.write("forged.json", again.replace(&value, &(of("integral_upper") - 1e-3).to_string()));
    assert_eq!(folder.run(&["-q", "verify", "i.json", "forged.json"]).status.code(), Some(1));
    let refusal = folder.refused(&["-q", "bound", "i.json", "--objective", "utilitarian"]);
    assert!(refusal.contains("choose drfh, pf or allocated=RESOURCE"), "{refusal}");
}

#[test]
fn comparing_marks_the_policies_that_are_proved_optimal() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[1, 2, 3]).unwrap());
    let words = ["compare", "i.json", "--policies", "best-fit,first-fit,pattern", "--no-timing"];
    let output = folder.run(&words);
    assert!(text(&output.stderr).contains("proved optimal"), "{}", text(&output.stderr));
    let comparison = read(&text(&output.stdout));
    let of = |field: &str| -> Vec<Value> {
        let policies = comparison["policies"].as_array().unwrap();
        policies.iter().map(|policy| policy[field].clone()).collect()
    };
    assert_eq!(of("proved_optimal"), [true, false, true]);
    assert_eq!(of("gap_to_integral")[0], 0.0);
    assert!(of("gap_to_integral")[1].as_f64().unwrap() > 0.07);
    assert_eq!(comparison["bounds"]["integral_upper"], comparison["bounds"]["integral_lower"]);
}

#[test]
fn the_pattern_placement_is_a_placement_like_any_other() {
    let folder = Folder::new();
    folder.instance("i.json", &drfh_fig4(&[2, 3]).unwrap());
    folder.done(&["-q", "place", "i.json", "--policy", "pattern", "--servers-out", "-o", "placement.json"]);
    assert_eq!(read(&folder.done(&["-q", "verify", "i.json", "placement.json"]))["holds"], true);
    let value = read(&folder.read("placement.json"))["value"].as_f64().unwrap();
    assert!((value - 0.46181).abs() < 5e-6, "{value}");
}

#[test]
fn a_task_that_fits_no_server_makes_the_bounds_zero_and_the_others_are_told() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "small", "count": 10, "capacity": {"cpu": 1}}],
            "users": [{"id": "large", "demand": {"cpu": 2}}, {"id": "fits", "demand": {"cpu": 0.4}},
                      {"id": "few", "demand": {"cpu": 0.3}, "tasks": 5}]}"#,
    );
    let output = folder.run(&["bound", "i.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("1 user: large"), "{}", text(&output.stderr));
    let bound = read(&text(&output.stdout));
    assert_eq!(bound["users_without_tasks"], serde_json::json!(["large"]));
    assert_eq!((&bound["integral_upper"], &bound["integral_lower"]), (&0.0.into(), &0.0.into()));
    assert!((bound["others"]["integral_lower"].as_f64().unwrap() - 0.15).abs() < 1e-12);
    // Whoever wants more has 17 tasks beside the five of the one with few: two of those on a server leave room for one.
    assert!((bound["integral_level_lower"].as_f64().unwrap() - 0.68).abs() < 1e-12, "{bound}");
    assert_eq!(
        (&bound["integral_level_upper"], &bound["proved_optimal"]),
        (&bound["integral_level_lower"], &true.into())
    );
    folder.write("bound.json", text(&output.stdout));
    assert_eq!(read(&folder.done(&["-q", "verify", "i.json", "bound.json"]))["holds"], true);
}

#[test]
fn rates_and_numbers_too_long_are_refused_with_their_place() {
    let folder = Folder::new();
    let with = |servers: &str, user: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                "server_classes": [{{"id": "a", "count": 2, "capacity": {{"cpu": {servers}}}}}],
                "users": [{{"id": "u", "demand": {{"cpu": 1}}{user}}}]}}"#
        )
    };
    folder.write("rates.json", with("4", r#", "rates": {"a": 2}"#));
    let refusal = folder.refused(&["-q", "bound", "rates.json"]);
    assert!(refusal.contains("users[0].rates") && refusal.contains("leave the rates out"), "{refusal}");
    folder.write("long.json", with("1e15", r#", "weight": 1}, {"id": "v", "demand": {"cpu": 1e-12}"#));
    let refusal = folder.refused(&["-q", "bound", "long.json"]);
    assert!(refusal.contains("resources[0]") && refusal.contains("round them"), "{refusal}");
}

#[test]
fn policies_are_told_apart_by_those_who_still_want_more_where_somebody_has_all_it_asked_for() {
    let folder = Folder::new();
    // The single task of `small` decides the smallest share under every policy.
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
            "server_classes": [{"id": "a", "count": 6, "capacity": {"cpu": 4, "memory": 12}},
                               {"id": "b", "count": 4, "capacity": {"cpu": 12, "memory": 3}}],
            "users": [{"id": "small", "demand": {"cpu": 0.1, "memory": 0.1}, "tasks": 1},
                      {"id": "memory", "demand": {"cpu": 1, "memory": 3}, "tasks": 40},
                      {"id": "cpu", "demand": {"cpu": 3, "memory": 0.7}, "tasks": 40}]}"#,
    );
    let output =
        folder.run(&["compare", "i.json", "--policies", "best-fit,first-fit,slots=4", "--no-timing"]);
    let comparison: Value = read(&text(&output.stdout));
    let policies = comparison["policies"].as_array().unwrap();
    let most = comparison["bounds"]["divisible_level"].as_f64().unwrap();
    for policy in policies {
        assert_eq!(policy["value"], policies[0]["value"], "the single task decides the value");
        let level = policy["level"].as_f64().unwrap();
        assert!(level > policy["value"].as_f64().unwrap() && level <= most, "{policy}");
        let gap = policy["gap_to_divisible_level"].as_f64().unwrap();
        assert!((gap - (1.0 - level / most)).abs() < 1e-12);
        assert_eq!(policy["tasks"].as_u64().unwrap() + policy["unplaced"].as_u64().unwrap(), 81);
    }
    assert_ne!(policies[0]["level"], policies[2]["level"]);
    let said = text(&output.stderr).to_owned();
    assert!(said.contains("whoever wants more has at least"), "{said}");
}

#[test]
fn nobody_is_told_that_all_can_be_placed_where_somebody_wants_no_number_of_tasks() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "a", "count": 2, "capacity": {"cpu": 4}}, {"id": "b", "count": 1, "capacity": {"cpu": 6}}],
            "users": [{"id": "all", "demand": {"cpu": 1}}, {"id": "three", "demand": {"cpu": 1}, "tasks": 3}]}"#,
    );
    let told = |words: &[&str]| text(&folder.run(words).stderr).to_owned();
    let compared = told(&["compare", "i.json", "--policies", "best-fit,first-fit", "--no-timing"]);
    assert!(compared.contains("whoever wants more has at least"), "{compared}");
    assert!(!compared.contains("asked for") && !compared.contains(" asks for"), "{compared}");
    let bound = told(&["bound", "i.json"]);
    assert!(bound.contains("Best level of whole tasks, of those who still want more"), "{bound}");
}

/// A cluster of one resource and its users, with more about the first.
fn one_server(cpu: &str, of_first: &str, others: &str) -> String {
    format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{{"id": "c", "count": 1, "capacity": {{"cpu": {cpu}}}}}],
            "users": [{{"id": "a", {of_first}}}{others}]}}"#
    )
}

#[test]
fn digits_that_only_quotas_have_change_no_bound_of_whole_tasks() {
    let folder = Folder::new();
    let other = r#", {"id": "b", "demand": {"cpu": 1}}"#;
    let bounds = |quota: &str| {
        let of_first = format!(r#""demand": {{"cpu": 2}}{quota}"#);
        folder.write("i.json", one_server("7", &of_first, other));
        ["drfh", "pf", "allocated=cpu"].map(|objective| {
            folder.done(&["-q", "bound", "i.json", "--objective", objective, "-o", "bound.json"]);
            folder.done(&["-q", "verify", "i.json", "bound.json"]);
            let bound = read(&folder.read("bound.json"));
            (bound["integral_upper"].clone(), bound["certificate"]["task_values"].clone())
        })
    };
    let free = bounds("");
    for quota in [
        r#""limit": {"cpu": 15.52}"#,
        r#""limits": [{"classes": ["c"], "amounts": {"cpu": 8.125}}]"#,
        r#""reserve": {"cpu": 0.75}"#,
        r#""guarantee": {"cpu": 2.0001}"#,
        // In such units a server has more than 62 bits.
        r#""limit": {"cpu": 8.000000000000000001}"#,
    ] {
        assert_eq!(bounds(&format!(", {quota}")), free, "{quota}");
    }
}

#[test]
fn a_server_of_a_billion_tasks_of_who_wants_few_is_bounded() {
    let folder = Folder::new();
    for (cpu, demand, tasks) in
        [("1000000000", "1", 100), ("3700000", "0.001", 10), ("1000000000000", "300", 10)]
    {
        let of_first = format!(r#""demand": {{"cpu": {demand}}}, "tasks": {tasks}"#);
        folder.write("i.json", one_server(cpu, &of_first, ""));
        for objective in ["drfh", "pf", "allocated=cpu"] {
            folder.done(&["-q", "bound", "i.json", "--objective", objective, "-o", "bound.json"]);
            folder.done(&["-q", "verify", "i.json", "bound.json"]);
            let bound = read(&folder.read("bound.json"));
            assert_eq!(bound["placement"]["users"][0]["tasks"], tasks, "{objective}: {bound}");
        }
    }
}

#[test]
fn a_limit_a_server_below_a_bundle_leaves_no_task_beside_quotas_too() {
    let folder = Folder::new();
    let kinds = r#""kinds": [{"id": "k", "each": 2, "demand": {"cpu": 1}}], "per_server": 1"#;
    let other = r#", {"id": "b", "demand": {"cpu": 1}}"#;
    for quota in ["", r#", "limit": {"cpu": 7}"#, r#", "reserve": {"cpu": 1}"#] {
        for others in ["", other] {
            folder.write("i.json", one_server("8", &format!("{kinds}{quota}"), others));
            for objective in ["drfh", "pf", "allocated=cpu"] {
                folder.done(&["-q", "bound", "i.json", "--objective", objective, "-o", "bound.json"]);
                folder.done(&["-q", "verify", "i.json", "bound.json"]);
                let bound = read(&folder.read("bound.json"));
                assert_eq!(bound["placement"]["users"][0]["tasks"], 0, "{quota} {objective}: {bound}");
                if objective != "allocated=cpu" {
                    assert_eq!(bound["users_without_tasks"], serde_json::json!(["a"]), "{quota} {objective}");
                }
            }
        }
    }
}

#[test]
fn who_fits_no_server_counts_on_both_sides_of_a_gap_or_on_neither() {
    let folder = Folder::new();
    let instance = |groups: &str, group: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "mem"], {groups}
                "server_classes": [{{"id": "c1", "count": 1, "capacity": {{"cpu": 1, "mem": 4}}}},
                                   {{"id": "c2", "count": 1, "capacity": {{"cpu": 12, "mem": 4}}}}],
                "users": [{{"id": "a", {group} "demand": {{"mem": 1}}}},
                          {{"id": "b", {group} "demand": {{"cpu": 2}}, "eligible": ["c1"]}}]}}"#
        )
    };
    for (groups, group) in [("", ""), (r#""groups": [{"id": "g"}],"#, r#""group": "g","#)] {
        folder.write("i.json", instance(groups, group));
        let words = ["compare", "i.json", "--policies", "best-fit,slots=14", "--no-timing"];
        let output = folder.run(&words);
        let (result, told) = (read(&text(&output.stdout)), text(&output.stderr));
        assert!(!told.contains("-1200") && !told.contains("-550"), "{told}");
        // Of all, nobody can give b a whole task; of those who can have one, a has everything.
        assert_eq!(result["bounds"]["integral_upper"], 0.0, "{result}");
        assert_eq!(result["bounds"]["divisible_level"], 1.0, "{result}");
        for (policy, level) in [(0, 1.0), (1, 0.375)] {
            let policy = &result["policies"][policy];
            assert_eq!((&policy["value"], &policy["level"]), (&0.0.into(), &level.into()), "{policy}");
            assert_eq!(policy["gap_to_divisible"], 1.0, "{policy}");
            assert_eq!(policy["gap_to_divisible_level"], 1.0 - level, "{policy}");
        }
        folder.write("compared.json", result.to_string());
        folder.done(&["-q", "bound", "i.json", "-o", "bound.json"]);
        folder.done(&["-q", "verify", "i.json", "bound.json"]);
        let bound = read(&folder.read("bound.json"));
        assert_eq!((&bound["integral_upper"], &bound["integral_lower"]), (&0.0.into(), &0.0.into()));
        assert_eq!(bound["others"], serde_json::json!({"integral_upper": 1.0, "integral_lower": 1.0}));
        folder.done(&["-q", "place", "i.json", "--servers-out", "-o", "placed.json"]);
        folder.done(&["-q", "verify", "i.json", "placed.json"]);
        folder.done(&["-q", "report", "compared.json", "bound.json", "-o", "page.html"]);
        let page = folder.read("page.html");
        assert!(!page.contains("-1200") && !page.contains("-550"), "a negative gap is shown");
    }
    // Nobody fits anywhere: there is no level.
    folder.write("i.json", one_server("1", r#""demand": {"cpu": 2}"#, ""));
    let compared = read(&folder.done(&["-q", "compare", "i.json", "--policies", "best-fit", "--no-timing"]));
    assert!(compared["bounds"].get("divisible_level").is_none(), "{compared}");
    assert!(compared["policies"][0].get("level").is_none(), "{compared}");
}

/// Users whose task no server holds wait too, and have nothing.
#[test]
fn whoever_waits_is_not_said_to_have_what_only_some_have() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu"],
            "server_classes": [{"id": "a", "count": 2, "capacity": {"cpu": 2}}],
            "users": [{"id": "large", "demand": {"cpu": 3}, "tasks": 6}, {"id": "small", "demand": {"cpu": 1}, "tasks": 8}]}"#,
    );
    let told = "at least 100.00%, but for users of whom no server holds a task";
    for words in [
        &["place", "i.json", "--policy", "best-fit", "-o", "p.json"][..],
        &["compare", "i.json", "-o", "c.json"],
    ] {
        let output = folder.run(words);
        let shown = text(&output.stderr);
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(told), "{words:?}: {shown}");
    }
}

#[test]
fn servers_that_nobody_can_use_are_no_loss_whatever_policy_places() {
    let folder = Folder::new();
    // Beside the cpu of `of nobody` memory is what both need most of; without it, cpu would be.
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "mem"], "server_classes": [
            {"id": "all", "count": 1, "capacity": {"cpu": 12, "mem": 45}}, {"id": "of nobody", "count": 1, "capacity": {"cpu": 46}}],
          "users": [{"id": "u0", "demand": {"cpu": 1, "mem": 3.3}}, {"id": "u1", "demand": {"cpu": 0.4, "mem": 0.17}}]}"#,
    );
    for policy in ["best-fit", "first-fit", "worst-fit", "dot-product", "random"] {
        let words =
            ["-q", "plan", "lose", "i.json", "--whole", "--policy", policy, "--together", "of nobody"];
        let lost = read(&folder.done(&words));
        let loss = &lost["losses"][0];
        assert_eq!((&loss["tasks_lost"], &loss["losing"]), (&0.into(), &0.into()), "{policy}: {loss}");
        assert_eq!((&loss["tasks"], &loss["value"]), (&lost["tasks"], &lost["value"]), "{policy}: {loss}");
    }
}
