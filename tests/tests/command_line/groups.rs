//! Groups as users meet them: tables, results, what refuses them, and bad input.

use super::{Folder, text};
use serde_json::Value;

const SERVERS: &str = "id,count,cpu\ncore,12,1\n";
const USERS: &str = "id,cpu,group\nshop,1,web\nsearch,1,web\nmail,1,web\nnightly,1,batch\nalone,1,\n";
const GROUPS: &str = "id,weight,parent\nweb,2,company\nbatch,,company\ncompany,3,\n";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("s.csv", SERVERS);
    folder.write("u.csv", USERS);
    folder.write("g.csv", GROUPS);
    folder
}

const TABLES: [&str; 6] = ["--servers", "s.csv", "--users", "u.csv", "--groups", "g.csv"];

#[test]
fn a_tree_from_tables_is_divided_by_its_weights_and_verified() {
    let folder = tables();
    folder.done(&[&["-q", "convert", "-o", "i.json"], &TABLES[..]].concat());
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let share = |list: &str, id: &str| {
        let entries = result[list].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["id"] == id).unwrap();
        entry[if list == "groups" { "share" } else { "dominant_share" }].as_f64().unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    near(share("groups", "company"), 0.75);
    near(share("groups", "web"), 0.5);
    near(share("users", "mail"), 0.5 / 3.0);
    near(share("users", "nightly"), 0.25);
    near(share("users", "alone"), 0.25);
    near(result["level"].as_f64().unwrap(), 0.25);
    assert_eq!(result["groups"][0]["parent"], "company");
    folder.done(&["-q", "verify", "i.json", "r.json"]);
    let page = folder.done(&["-q", "report", "r.json"]);
    assert!(page.contains("Groups"), "the page shows the groups");
}

#[test]
fn tables_of_every_format_come_back_as_the_same_instance() {
    let folder = tables();
    let first = folder.done(&[&["-q", "convert"], &TABLES[..]].concat());
    folder.write("i.json", &first);
    for ending in ["csv", "csv.gz", "parquet"] {
        let [servers, users, groups] = ["s2", "u2", "g2"].map(|name| format!("{name}.{ending}"));
        let to = ["--to-servers", &servers, "--to-users", &users, "--to-groups", &groups];
        folder.done(&[&["-q", "convert", "i.json"], &to[..]].concat());
        let from = ["--servers", &servers, "--users", &users, "--groups", &groups];
        assert_eq!(folder.done(&[&["-q", "convert"], &from[..]].concat()), first, "{ending}");
    }
    let refusal = folder.refused(&["convert", "i.json", "--to-servers", "a.csv", "--to-users", "b.csv"]);
    assert!(refusal.contains("--to-groups"), "{refusal}");
}

#[test]
fn what_does_not_know_groups_refuses_them() {
    let folder = tables();
    folder.done(&[&["-q", "convert", "-o", "i.json"], &TABLES[..]].concat());
    let refusal = folder.refused(&["bound", "i.json", "--objective", "pf"]);
    assert!(refusal.contains("groups: bound --objective pf does not know groups yet"), "{refusal}");
    let refusal = folder.refused(&["solve", "i.json", "--objective", "bmf"]);
    assert!(refusal.contains("groups: bmf is defined user by user"), "{refusal}");
}

/// What YARN's, Kueue's and Volcano's rules entitle each user of an instance to, in tasks.
fn entitled(folder: &Folder) -> Vec<[f64; 3]> {
    let told = folder.done(&["-q", "entitlements", "i.json"]);
    let document: serde_json::Value = serde_json::from_str(&told).unwrap();
    let tasks = |user: &serde_json::Value, rule: usize| user["entitlements"][rule]["tasks"].as_f64().unwrap();
    document["users"].as_array().unwrap().iter().map(|user| [0, 2, 3].map(|rule| tasks(user, rule))).collect()
}

fn near(found: &[[f64; 3]], expected: &[[f64; 3]]) {
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-2 * expected.max(1.0);
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    assert!(found.len() == expected.len() && pairs.into_iter().all(is_near), "{found:?}, not {expected:?}");
}

#[test]
fn schedulers_entitle_queues_below_queues_with_minima_and_maxima() {
    let folder = Folder::new();
    let write = |group: &str, user: &str| {
        let servers = r#"[{"id": "small", "count": 6, "capacity": {"cpu": 1}}, {"id": "large", "count": 3, "capacity": {"cpu": 2}}]"#;
        folder.write(
            "i.json",
            format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": {servers},
                    "groups": [{{"id": "labs"{group}}}, {{"id": "shop", "weight": 2}}],
                    "users": [{{"id": "a", "demand": {{"cpu": 1}}, "group": "labs"{user}}},
                              {{"id": "b", "demand": {{"cpu": 0.5}}, "weight": 3, "group": "labs"}},
                              {{"id": "c", "demand": {{"cpu": 1}}, "group": "shop"}}]}}"#
            ),
        );
    };
    // Of 12 cores the labs have 4, of which b has three, in tasks of half a core.
    write("", "");
    near(&entitled(&folder), &[[1.0; 3], [6.0; 3], [8.0; 3]]);
    // The labs are sure of 6, by YARN before the shop has any; all that Kueue knows are these 6, and the labs lend nothing that they use.
    write(r#", "guarantee": {"cpu": 6}"#, "");
    near(&entitled(&folder), &[[1.5; 3], [9.0; 3], [6.0, 0.0, 6.0]]);
    // a has one core at most, or half a one, and leaves the rest to b.
    write("", r#", "limit": {"cpu": 0.5}"#);
    near(&entitled(&folder), &[[0.5; 3], [7.0; 3], [8.0; 3]]);
    // Who is sure of 3 cores has them before its weight says so.
    write("", r#", "guarantee": {"cpu": 3}"#);
    let found = entitled(&folder);
    near(&[[found[0][0], found[0][2], 3.0]], &[[3.0; 3]]);
    near(&[[found[2][0], found[2][2], 8.0]], &[[8.0; 3]]);
}

#[test]
fn one_group_of_everybody_is_entitled_to_what_users_side_by_side_are() {
    let folder = Folder::new();
    let write = |groups: &str, of_user: &str| {
        folder.write(
            "i.json",
            format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
                    "server_classes": [{{"id": "wide", "count": 2, "capacity": {{"cpu": 9, "memory": 4}}}},
                                       {{"id": "tall", "count": 1, "capacity": {{"cpu": 2, "memory": 22}}}}],{groups}
                    "users": [{{"id": "a", "demand": {{"cpu": 1, "memory": 4}}, "weight": 2{of_user}}},
                              {{"id": "b", "demand": {{"cpu": 3, "memory": 1}}{of_user}}},
                              {{"id": "c", "demand": {{"cpu": 1}}, "tasks": 2{of_user}}},
                              {{"id": "d", "kinds": [{{"id": "x", "each": 2, "demand": {{"cpu": 1}}}}, {{"id": "y", "each": 1, "demand": {{"memory": 3}}}}]{of_user}}}]}}"#
            ),
        );
    };
    write("", "");
    let flat = entitled(&folder);
    write(r#" "groups": [{"id": "all"}],"#, r#", "group": "all""#);
    near(&entitled(&folder), &flat);
}

#[test]
fn a_group_is_sure_of_what_a_member_is_guaranteed() {
    let folder = Folder::new();
    let user = |id: &str, group: &str, more: &str| {
        format!(r#"{{"id": "{id}", "group": "{group}", "demand": {{"cpu": 1}}{more}}}"#)
    };
    let users = [user("a", "A", r#", "guarantee": {"cpu": 100}"#), user("b", "B", ""), user("c", "C", "")];
    folder.write(
        "i.json",
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{{"id": "n", "count": 15, "capacity": {{"cpu": 10}}}}],
                "groups": [{{"id": "A"}}, {{"id": "B"}}, {{"id": "C"}}], "users": [{}]}}"#,
            users.join(", ")
        ),
    );
    let of = |rule: usize| entitled(&folder).iter().map(|tasks| [tasks[rule]; 3]).collect::<Vec<_>>();
    near(&of(2), &[[100.0; 3], [25.0; 3], [25.0; 3]]);
    near(&of(0), &[[100.0; 3], [25.0; 3], [25.0; 3]]);
}

/// A cohort may have quotas beside those of its queues: one above all has all there is, any other at the top its limit.
#[test]
fn quotas_that_are_a_cohorts_own_are_there_to_be_borrowed() {
    let folder = Folder::new();
    let write = |top: &str, users: &str| {
        folder.write(
            "i.json",
            format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{{"id": "f", "count": 1, "capacity": {{"cpu": 100}}}}],
                    "groups": [{{"id": "top"{top}}}],
                    "users": [{{"id": "a", "demand": {{"cpu": 1}}, "group": "top", "guarantee": {{"cpu": 10}}}},
                              {{"id": "b", "demand": {{"cpu": 1}}, "group": "top", "guarantee": {{"cpu": 10}}}}{users}]}}"#
            ),
        );
    };
    let of_kueue = || entitled(&folder).iter().map(|tasks| [tasks[1]; 3]).collect::<Vec<_>>();
    write("", "");
    near(&of_kueue(), &[[50.0; 3]; 2]);
    write(r#", "limit": {"cpu": 80}"#, "");
    near(&of_kueue(), &[[40.0; 3]; 2]);
    let alone = r#", {"id": "c", "demand": {"cpu": 1}, "guarantee": {"cpu": 20}, "limit": {"cpu": 20}}"#;
    write(r#", "limit": {"cpu": 80}"#, alone);
    near(&of_kueue(), &[[40.0; 3], [40.0; 3], [20.0; 3]]);
}

/// What is borrowed counts as a part of all that the cohort at the top has, and not of what is guaranteed: another member lends 10 cores that its own
/// tasks do not ask for. With `(x - 10) / 20 = y / 40` and `3 x + y = 40` there are 12 and 4 tasks.
#[test]
fn what_is_borrowed_by_kueues_rule_is_a_part_of_all_that_the_cohort_at_the_top_has() {
    let folder = Folder::new();
    for limit in ["", r#", "limit": {"cpu": 20, "memory": 40}"#] {
        let servers = if limit.is_empty() { 1 } else { 2 };
        folder.write(
            "i.json",
            format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
                    "server_classes": [{{"id": "f", "count": {servers}, "capacity": {{"cpu": 20, "memory": 40}}}}],
                    "groups": [{{"id": "top"{limit}}}],
                    "users": [{{"id": "a", "demand": {{"cpu": 1, "memory": 3}}, "group": "top", "guarantee": {{"cpu": 10, "memory": 40}}}},
                              {{"id": "b", "demand": {{"memory": 1}}, "group": "top"}}]}}"#
            ),
        );
        let of_kueue: Vec<[f64; 3]> = entitled(&folder).iter().map(|tasks| [tasks[1]; 3]).collect();
        near(&of_kueue, &[[12.0; 3], [4.0; 3]]);
    }
}

#[test]
fn plans_of_groups_tell_of_groups() {
    let folder = tables();
    folder.done(&[&["-q", "convert", "-o", "i.json"], &TABLES[..]].concat());
    folder.write("g.csv", GROUPS.replace("web,2", "web,4"));
    folder.done(&[&["-q", "convert", "-o", "more.json"], &TABLES[..]].concat());
    for instance in ["i", "more"] {
        folder.done(&["-q", "solve", &format!("{instance}.json"), "-o", &format!("{instance}-r.json")]);
    }
    let run = |arguments: &[&str], list: &str| -> Value {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let told = text(&output.stderr);
        assert!(told.contains("roup") && told.contains("web"), "the summary tells of groups: {told}");
        folder.write("result.json", text(&output.stdout));
        let page = folder.done(&["-q", "report", "result.json"]);
        assert!(page.contains("batch"), "the page tells of groups");
        let result: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        if list.is_empty() { result } else { result[list][0].clone() }
    };
    let part = |entry: &Value, id: &str| {
        let groups = entry["groups"].as_array().unwrap();
        groups.iter().find(|group| group["id"] == id).unwrap()["part"].as_f64().unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    near(part(&run(&["plan", "worth", "i.json"], "server_classes"), "web"), 1.0 / 12.0);
    near(part(&run(&["plan", "lose", "i.json", "--servers-lost", "3"], "losses"), "batch"), -0.25);
    // Of three quarters: four fifths instead of two thirds.
    for files in [["i.json", "more.json"], ["i-r.json", "more-r.json"]] {
        let result = run(&["plan", "diff", files[0], files[1]], "");
        near(part(&result, "web"), 0.2);
        near(part(&result, "batch"), -0.4);
        assert_eq!(result["groups"][0]["id"], "batch", "who loses the most comes first");
    }
}

#[test]
fn a_group_and_its_members_are_explained() {
    let folder = tables();
    folder.done(&[&["-q", "convert", "-o", "i.json"], &TABLES[..]].concat());
    let output = folder.run(&["explain", "i.json", "--group", "web", "-o", "e.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    for said in
        ["Group web, in group company, has 50.00%", "Beside its siblings", "batch", "Its members", "mail"]
    {
        assert!(told.contains(said), "{said}: {told}");
    }
    let result: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    assert_eq!(result["format"], "fairplan.group-explanation.v1");
    assert!(folder.done(&["-q", "report", "e.json"]).contains("Why group web has its share"));
    let told = text(&folder.run(&["explain", "i.json", "--user", "mail", "-o", "u.json"]).stderr);
    assert!(told.contains("It is in groups") && told.contains("company"), "{told}");
    let refusal = folder.refused(&["explain", "i.json", "--group", "compani"]);
    assert!(
        refusal.contains("group compani: the instance has no group of this id (did you mean company?)"),
        "{refusal}"
    );
    for wrong in [&["explain", "i.json"][..], &["explain", "i.json", "--user", "mail", "--group", "web"]] {
        assert_eq!(folder.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn bad_groups_name_file_place_and_value() {
    let folder = tables();
    let refusal = |groups: &str, users: &str| {
        folder.write("g.csv", groups);
        folder.write("u.csv", users);
        folder.refused(&[&["solve"], &TABLES[..]].concat())
    };
    for (groups, said) in [
        ("id,parent\na,b\nb,a\n", "g.csv: line 2, column parent = a: the group is inside itself"),
        ("id,parent\na,\nb,c\n", "g.csv: line 3, column parent = c: there is no group with this id"),
        ("id,weight\na,0\n", "g.csv: line 2, column weight = 0: must be > 0"),
        ("id\na\na\n", "g.csv: line 3, column id = a: duplicate id"),
        ("id,colour\na,red\n", "g.csv: line 1, column colour: unknown column"),
        ("weight\n1\n", "g.csv: line 1, column id: is missing"),
    ] {
        let refusal = refusal(groups, USERS);
        assert!(refusal.contains(said), "{refusal}");
    }
    folder.write("u.csv", USERS);
    let without = folder.refused(&[&["solve"], &TABLES[..4]].concat());
    assert!(without.contains("give the table of groups too (--groups, or groups=)"), "{without}");
    let refusal = refusal(GROUPS, "id,cpu,group\nshop,1,wob\n");
    assert!(
        refusal.contains("u.csv: line 2, column group = wob: there is no group with this id"),
        "{refusal}"
    );
}

#[test]
fn a_result_with_false_groups_is_refused() {
    let folder = tables();
    folder.done(&[&["-q", "convert", "-o", "i.json"], &TABLES[..]].concat());
    folder.done(&["-q", "solve", "i.json", "-o", "r.json"]);
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let forge = |change: &dyn Fn(&mut Value)| {
        let mut forged = result.clone();
        change(&mut forged);
        folder.write("forged.json", forged.to_string());
        let output = folder.run(&["-q", "verify", "i.json", "forged.json"]);
        assert_ne!(output.status.code(), Some(0), "{}", text(&output.stdout));
    };
    forge(&|result| result["groups"][0]["share"] = 0.6.into());
    forge(&|result| result["groups"][1]["level"] = 0.1.into());
    forge(&|result| result["groups"][1]["weight"] = 2.0.into());
    forge(&|result| result["groups"][0]["limited_by"] = "tasks".into());
    forge(&|result| result["groups"][0]["parent"] = "batch".into());
    forge(&|result| result["level"] = 0.3.into());
    forge(&|result| result["certificate"]["levels"][0]["value"] = 0.26.into());
    forge(&|result| result["certificate"]["levels"][0]["bound"] = 0.24.into());
    forge(&|result| {
        result["groups"].as_array_mut().unwrap().pop();
    });
}

#[test]
fn a_comparison_says_how_groups_count_where_they_have_more_than_the_smallest_share() {
    let folder = Folder::new();
    folder.write(
        "i.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["gpu"],
            "server_classes": [{"id": "a", "count": 1, "capacity": {"gpu": 4}}],
            "groups": [{"id": "all"}, {"id": "one", "parent": "all"}, {"id": "two", "parent": "all"}],
            "users": [{"id": "u", "group": "one", "demand": {"gpu": 1}},
                      {"id": "v", "group": "two", "demand": {"gpu": 1}, "weight": 0.1}]}"#,
    );
    let output = folder.run(&["compare", "i.json", "--policies", "best-fit", "-o", "c.json"]);
    let told = super::text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        output.status.success()
            && told.contains(
                "the smallest share for its weight, groups counted as their members divide them, is"
            ),
        "{told}"
    );
}

#[test]
fn names_of_groups_that_are_listed_are_not_cut_to_look_like_those_of_groups_that_are_not() {
    let folder = Folder::new();
    let names: Vec<String> = (0..14).map(|i| format!("platform-service-{i:02}-of-the-operator")).collect();
    let groups: Vec<String> = names.iter().map(|name| format!(r#"{{"id": "{name}"}}"#)).collect();
    let user = |name: &String| {
        format!(r#"{{"id": "{name}", "group": "{name}", "demand": {{"cpu": 1}}, "tasks": 1}}"#)
    };
    let users: Vec<String> = names.iter().map(user).collect();
    folder.write(
        "i.json",
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"],
                "server_classes": [{{"id": "a", "count": 4, "capacity": {{"cpu": 4}}}}],
                "groups": [{}], "users": [{}]}}"#,
            groups.join(", "),
            users.join(", ")
        ),
    );
    let output = folder.run(&["compare", "i.json", "-o", "c.json"]);
    let told = text(&output.stderr);
    let first = told.lines().filter_map(|line| line.split_whitespace().next());
    let cut: Vec<&str> = first.filter(|word| word.ends_with("operator")).collect();
    let fits = |cut: &str, name: &String| {
        let (head, tail) = cut.split_once('\u{2026}').unwrap_or((cut, ""));
        name.starts_with(head) && name.ends_with(tail)
    };
    assert!(cut.len() >= 10, "{told}");
    for cut in cut {
        assert_eq!(names.iter().filter(|name| fits(cut, name)).count(), 1, "{cut}: {told}");
    }
}
