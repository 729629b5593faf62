//! Demands in tasks over the servers of an instance on the command line: what comes out, and what is refused.

use super::Folder;
use serde_json::Value;

const DEMANDS: &str = "quantum,user-1,user-2\n0,20,20\n1,20,0\n2,3,40\n";

fn result(folder: &Folder, words: &str) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    serde_json::from_str(&folder.done(&words)).unwrap()
}

/// A folder with the two servers of the DRFH paper, Fig. 1, and demands of its users.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "i.json", "--quiet"]);
    folder.write("d.csv", DEMANDS);
    folder
}

fn fits(folder: &Folder, schema: &str, found: &Value) {
    let schema: Value = serde_json::from_str(&folder.done(&["schema", schema])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(found).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn every_rule_runs_over_an_instance_and_is_held_against_the_optimum() {
    let folder = folder();
    let rules = ["karma", "cumulative-max-min", "drfh", "strict"];
    for name in rules {
        let words = format!("allocate d.csv --instance i.json --mechanism {name} --per-quantum --quiet");
        let found = result(&folder, &words);
        fits(&folder, "allocation", &found);
        assert_eq!(found["quanta"][0]["tasks"][0].as_array().unwrap().len(), 2, "{name}: two classes");
        assert_eq!(found["users"][0]["credits"].is_number(), name == "karma");
    }
    // In the first quantum both run the ten tasks of the paper.
    let drfh = result(&folder, "allocate d.csv --instance i.json --mechanism drfh --per-quantum --quiet");
    for user in drfh["quanta"][0]["tasks"].as_array().unwrap() {
        let tasks: f64 = user.as_array().unwrap().iter().map(|tasks| tasks.as_f64().unwrap()).sum();
        assert!((tasks - 10.0).abs() < 1e-6, "{tasks}");
    }
    let words = format!("offline d.csv --instance i.json --against {} --quiet", rules.join(","));
    let found = result(&folder, &words);
    fits(&folder, "offline", &found);
    assert_eq!(found["status"], "optimal");
    for against in found["against"].as_array().unwrap() {
        assert!(against["regret"].as_f64().unwrap() > -1e-6, "{against}");
    }
    let csv = folder.done(&["allocate", "d.csv", "--instance", "i.json", "--format", "csv", "--quiet"]);
    assert_eq!(csv.lines().next(), Some("id,demand,allocated,useful,welfare,dominant_share,credits"));
    assert_eq!(csv.lines().count(), 3);
    let words = "allocate d.csv --instance i.json --format parquet --per-quantum -o t.parquet --quiet";
    folder.done(&words.split(' ').collect::<Vec<_>>());
    let offline = folder.done(&["offline", "d.csv", "--instance", "i.json", "--format", "csv", "--quiet"]);
    assert_eq!(offline.lines().next(), Some("id,demand,allocated,welfare,dominant_share,level"));
}

#[test]
fn demands_can_name_their_instance_and_lies_are_told_apart_from_the_truth() {
    let folder = folder();
    let document = |demands: &str| {
        format!(
            r#"{{"format": "fairplan.demands.v1", "instance": "i.json", "users": ["user-1", "user-2"],
                "demands": {demands}}}"#
        )
    };
    folder.write("d.json", document("[[20, 20], [20, 0], [3, 40]]"));
    let named = result(&folder, "offline d.json --per-quantum --quiet");
    let stated = result(&folder, "offline d.csv --instance i.json --per-quantum --quiet");
    assert_eq!(named, stated);
    folder.write("r.json", named.to_string());
    folder.done(&["verify", "d.json", "r.json", "--quiet"]);
    folder.write("lie.json", document("[[20, 20], [20, 0], [60, 40]]"));
    let found = result(&folder, "allocate d.json --reported lie.json --mechanism drfh --quiet");
    let (allocated, useful) = (&found["users"][0]["allocated"], &found["users"][0]["useful"]);
    assert!(allocated.as_f64().unwrap() > useful.as_f64().unwrap() + 1.0, "{found}");
}

#[test]
fn results_are_proved_again_from_the_files_and_changed_ones_are_not() {
    let folder = folder();
    let found = result(&folder, "offline d.csv --instance i.json --against drfh --per-quantum --quiet");
    folder.write("r.json", found.to_string());
    let verify = ["verify", "d.csv", "r.json", "--instance", "i.json", "--quiet"];
    folder.done(&verify);
    for (pointer, value) in [
        ("/value", Value::from(8.5)),
        ("/users/0/allocated", Value::from(8.5)),
        ("/users/1/dominant_share", Value::from(1.0)),
        ("/metrics/utilization", Value::from(0.5)),
        ("/levels/0/value", Value::from(9.0)),
        ("/levels/0/prices/0/0/0", Value::from(-1.0)),
        ("/levels/0/multipliers", Value::from(vec![0.0, 0.0])),
        ("/quanta/0/tasks/0/0", Value::from(100.0)),
        ("/quanta/0/tasks/0", Value::from(vec![0.0])),
        ("/quanta/1/tasks/1", Value::from(vec![1.0, 1.0])),
        ("/demands/sha256", Value::from("0".repeat(64))),
        ("/instance/sha256", Value::from("0".repeat(64))),
        ("/users/0/id", Value::from("user-2")),
        ("/status", Value::from("uncertified")),
    ] {
        let mut changed = found.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        folder.write("r.json", changed.to_string());
        let output = folder.run(&verify);
        assert_eq!(output.status.code(), Some(1), "{pointer}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn an_imported_cluster_whose_users_have_numbers_of_tasks_can_be_asked_over_time() {
    let folder = Folder::new();
    let file = |name: &str| super::root().join("imports/data/slurm").join(name).display().to_string();
    folder.done(&[
        "import",
        "slurm",
        "--nodes",
        &file("nodes.json"),
        "--jobs",
        &file("jobs.json"),
        "--group",
        "user",
        "-o",
        "i.json",
    ]);
    let instance: Value = serde_json::from_str(&folder.read("i.json")).unwrap();
    let users = instance["users"].as_array().unwrap();
    assert!(users.iter().all(|user| user["tasks"].is_u64()), "{instance}");
    let ids: Vec<&str> = users.iter().map(|user| user["id"].as_str().unwrap()).collect();
    folder.write("d.csv", format!("quantum,{}\n0,9,9,9\n1,9,0,9\n", ids.join(",")));
    for words in [
        "allocate d.csv --instance i.json -o a.json",
        "offline d.csv --instance i.json --per-quantum -o o.json",
        "verify d.csv o.json --instance i.json",
    ] {
        let output = folder.run(&words.split(' ').collect::<Vec<_>>());
        let told = super::text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}: {told}");
        assert!(
            words.starts_with("verify") || told.contains("3 users have `tasks` in the instance"),
            "{told}"
        );
    }
    let found: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    let allocated = |user: usize| found["users"][user]["allocated"].as_f64().unwrap();
    let beyond = |user: usize| allocated(user) > users[user]["tasks"].as_f64().unwrap();
    assert!((0..3).any(beyond), "the demands say how many tasks there are: {found}");
}

#[test]
fn a_result_without_its_quanta_is_told_how_to_be_verified() {
    let folder = folder();
    for words in ["offline d.csv --capacity 30", "offline d.csv --instance i.json"] {
        folder.done(&words.split(' ').chain(["-q", "-o", "o.json"]).collect::<Vec<_>>());
        let instance = words.contains("--instance").then_some(["--instance", "i.json"]);
        let verify = ["verify", "d.csv", "o.json"].into_iter().chain(instance.into_iter().flatten());
        let line = folder.refused(&verify.collect::<Vec<_>>());
        let told = "error: o.json: quanta: is missing, and nothing can be checked without it; write the result with \
                    `fairplan offline --per-quantum`";
        assert_eq!(line, told);
    }
    folder.done(&["-q", "place", "i.json", "-o", "p.json"]);
    let line = folder.refused(&["verify", "i.json", "p.json"]);
    assert!(
        line.ends_with(
            "servers: is missing, and nothing can be checked without it; place with --servers-out"
        )
    );
}

/// All quanta, and those before and after a user was a member.
#[test]
fn users_join_and_leave_over_an_instance() {
    let folder = folder();
    folder.write("m.csv", "user,first,last\nuser-1,0,1\nuser-2,1,2\n");
    folder.write("d.csv", "quantum,user-1,user-2\n0,20,0\n1,20,20\n2,0,20\n");
    let words = "allocate d.csv --instance i.json --members m.csv --mechanism karma --per-quantum --quiet";
    let found = result(&folder, words);
    fits(&folder, "allocation", &found);
    assert_eq!([&found["users"][0]["first"], &found["users"][0]["last"]], [0, 1]);
    assert_eq!([&found["users"][1]["first"], &found["users"][1]["last"]], [1, 2]);
    assert_eq!(found["users"][0]["credits"], 0.0);
    // Who joins has as many credits as who was there: both run the ten tasks of the paper.
    for user in found["quanta"][1]["tasks"].as_array().unwrap() {
        let tasks: f64 = user.as_array().unwrap().iter().map(|tasks| tasks.as_f64().unwrap()).sum();
        assert!((tasks - 10.0).abs() < 1e-4, "{tasks}");
    }
    let alone = result(&folder, "allocate d.csv --instance i.json --mechanism strict --per-quantum --quiet");
    let members = "allocate d.csv --instance i.json --members m.csv --mechanism strict --per-quantum --quiet";
    let members = result(&folder, members);
    let first = |found: &Value| {
        let row = found["quanta"][0]["tasks"][0].as_array().unwrap();
        row.iter().map(|tasks| tasks.as_f64().unwrap()).sum::<f64>()
    };
    assert!((first(&members) - 2.0 * first(&alone)).abs() < 1e-9, "the only member has every server");
    let words =
        "offline d.csv --instance i.json --members m.csv --against karma,strict --per-quantum --quiet";
    let optimum = result(&folder, words);
    fits(&folder, "offline", &optimum);
    assert_eq!(optimum["status"], "optimal");
    folder.write("r.json", optimum.to_string());
    let words = "verify d.csv r.json --instance i.json --members m.csv --quiet";
    folder.done(&words.split(' ').collect::<Vec<_>>());
}

#[test]
fn welfare_over_an_instance_is_proved_again_as_what_it_is() {
    let folder = folder();
    let words =
        "offline d.csv --instance i.json --measure welfare --against karma,drfh --per-quantum --quiet";
    let found = result(&folder, words);
    fits(&folder, "offline", &found);
    assert_eq!([&found["status"], &found["measure"]], ["optimal", "welfare"]);
    // Tasks do the same work everywhere, so that welfare is the part of them that runs.
    let welfare = found["users"].as_array().unwrap().iter().map(|user| user["welfare"].as_f64().unwrap());
    let value = found["value"].as_f64().unwrap();
    assert!((welfare.fold(1.0, f64::min) - value).abs() < 1e-9);
    let shares = result(&folder, "offline d.csv --instance i.json --quiet");
    let least = shares["metrics"]["welfare_min"].as_f64().unwrap();
    assert!(value > least + 1e-3, "{value} is what shares come to: {least}");
    for against in found["against"].as_array().unwrap() {
        assert!(against["regret"].as_f64().unwrap() > 1e-3, "{against}");
    }
    let verify = ["verify", "d.csv", "r.json", "--instance", "i.json", "--quiet"];
    folder.write("r.json", found.to_string());
    folder.done(&verify);
    for measure in ["dominant-shares", "luck"] {
        let mut changed = found.clone();
        changed["measure"] = measure.into();
        folder.write("r.json", changed.to_string());
        assert_eq!(folder.run(&verify).status.code(), Some(1), "{measure}");
    }
}

#[test]
fn what_cannot_be_meant_over_an_instance_is_refused_in_one_line() {
    let folder = folder();
    folder.write("other.csv", "quantum,user-1,x\n0,1,1\n");
    folder.write("half.csv", "quantum,user-1\n0,0.5\n");
    folder.write("m.csv", "user,first,last\nuser-2,1,2\n");
    folder.write(
        "named.json",
        r#"{"format": "fairplan.demands.v1", "instance": "gone.json", "users": ["user-1"], "demands": [[1]]}"#,
    );
    for (words, told) in [
        ("allocate other.csv --instance i.json", "user = x: the instance has no user with this id"),
        (
            "allocate half.csv --instance i.json",
            "half.csv: line 2, column user-1 = 0.5: must be a whole number",
        ),
        ("allocate d.csv --instance gone.json", "gone.json: No such file"),
        ("allocate named.json", "gone.json: No such file"),
        ("allocate named.json --capacity 3", "named.json: names an instance"),
        ("allocate d.csv --instance i.json --fair-share 3", "--fair-share"),
        (
            "allocate d.csv --instance i.json --mechanism las",
            "unknown mechanism over an instance las: use karma",
        ),
        (
            "allocate d.csv --instance i.json --non-conformant 0.5",
            "--non-conformant has no meaning for tasks",
        ),
        ("allocate d.csv --instance i.json --cache-slowdown 50", "--cache-slowdown has no meaning for tasks"),
        ("allocate d.csv --instance i.json --alpha 1.5", "alpha = 1.5: must be at least 0 and at most 1"),
        (
            "offline d.csv --instance i.json --whole-slices",
            "--whole-slices cannot be given with an instance: whole tasks",
        ),
        ("offline d.csv --instance i.json --guaranteed", "--guaranteed cannot be given with an instance: "),
        ("allocate d.csv --instance i.json --members m.csv", "demands 20 in quantum 0, when it is no member"),
        ("offline d.csv --instance i.json --members m.csv", "demands 20 in quantum 0, when it is no member"),
        (
            "offline d.csv --instance i.json --against las",
            "unknown mechanism over an instance las: use karma",
        ),
        ("offline d.csv --instance d.csv", "d.csv:"),
        ("offline d.csv", "say how many slices there are"),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["-o", "out.json"]).collect();
        let line = folder.refused(&words);
        assert!(line.contains(told), "{words:?}: {line}");
    }
}
