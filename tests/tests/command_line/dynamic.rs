//! Demands over time on the command line: what comes out, and what is refused.

use super::Folder;
use serde_json::Value;

const DEMANDS: &str = "quantum,A,B,C\n0,3,2,1\n1,3,0,0\n2,0,3,0\n3,2,2,4\n4,2,3,5\n";

fn result(folder: &Folder, words: &str) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    serde_json::from_str(&folder.done(&words)).unwrap()
}

fn column(result: &Value, name: &str) -> Vec<f64> {
    result["users"].as_array().unwrap().iter().map(|user| user[name].as_f64().unwrap()).collect()
}

#[test]
fn karma_and_max_min_divide_the_papers_example_as_it_says() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    let karma = result(&folder, "allocate d.csv --fair-share 2 --initial-credits 6 --per-quantum --quiet");
    assert_eq!((column(&karma, "useful"), column(&karma, "credits")), (vec![8.0; 3], vec![8.0; 3]));
    assert_eq!(karma["settings"]["alpha"], 0.5);
    let quanta = karma["quanta"].as_array().unwrap();
    assert_eq!(quanta[4].to_string(), r#"{"allocated":[1,2,3],"credits":[8.0,8.0,8.0],"quantum":4}"#);
    for shares in ["--fair-share 2", "--capacity 6", "--fair-share 2 --capacity 6"] {
        let max_min = result(&folder, &format!("allocate d.csv --mechanism max-min {shares} --quiet"));
        assert_eq!(column(&max_min, "useful"), [10.0, 9.0, 5.0]);
        assert_eq!(max_min["metrics"]["allocation_min_over_max"], 0.5);
    }
    folder.done(&["generate", "karma-fig2", "-o", "d.json", "--quiet"]);
    let generated =
        result(&folder, "allocate d.json --fair-share 2 --initial-credits 6 --per-quantum --quiet");
    assert_eq!(generated, karma, "the table and the generated series are one");
}

#[test]
fn every_mechanism_runs_and_its_result_fits_the_schema() {
    let folder = Folder::new();
    folder.done(&["generate", "demands", "--users", "30", "--quanta", "200", "-o", "d.json", "--quiet"]);
    let schema: Value = serde_json::from_str(&folder.done(&["schema", "allocation"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for name in ["karma", "max-min", "strict", "las", "mpsp", "sharp"] {
        for more in
            ["", " --non-conformant 0.5 --cache-slowdown 75", " --per-quantum --ties highest --alpha 1"]
        {
            let words = format!("allocate d.json --fair-share 10 --mechanism {name}{more} --quiet");
            let found = result(&folder, &words);
            let errors: Vec<String> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{words}: {errors:?}");
            let total: f64 = column(&found, "useful").iter().sum();
            let utilization = found["metrics"]["utilization"].as_f64().unwrap();
            assert!((utilization - total / (30.0 * 10.0 * 200.0)).abs() < 1e-12, "{words}");
            let again = folder.done(&words.split(' ').collect::<Vec<_>>());
            assert_eq!(again, folder.done(&words.split(' ').collect::<Vec<_>>()), "{words}");
        }
    }
}

#[test]
fn tables_of_users_and_of_quanta_say_what_the_document_says() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    let words = ["allocate", "d.csv", "--fair-share", "2", "--initial-credits", "6", "--quiet", "--format"];
    let table = |more: &[&str]| folder.done(&[&words[..], more].concat());
    assert_eq!(
        table(&["csv"]),
        "id,demand,allocated,useful,welfare,credits,throughput\nA,10,8,8,0.8,8.0,\nB,10,8,8,0.8,8.0,\nC,10,8,8,0.8,8.0,\n"
    );
    let quanta = table(&["csv", "--per-quantum"]);
    assert!(
        quanta.starts_with("quantum,user,demand,allocated,credits\n0,A,3,3,5.0\n0,B,2,2,6.0\n"),
        "{quanta}"
    );
    assert_eq!(quanta.lines().count(), 16);
    table(&["parquet", "--per-quantum", "-o", "q.parquet"]);
    assert!(std::fs::read(folder.path("q.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn reports_members_fair_shares_and_rounding_are_read_from_files() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    folder.write("r.csv", DEMANDS.replacen("0,3,2,1", "0,9,2,1", 1));
    let reported =
        result(&folder, "allocate d.csv --fair-share 2 --reported r.csv --mechanism max-min --quiet");
    assert_eq!(reported["settings"]["strategy"], "series");
    assert_eq!(reported["users"][0]["conformant"], false);
    assert_eq!(reported["users"][1]["conformant"], true);
    folder.write("m.csv", "user,first,last\nC,3,\n");
    folder.write("late.csv", DEMANDS.replacen("0,3,2,1", "0,3,2,0", 1));
    let members = result(&folder, "allocate late.csv --fair-share 2 --members m.csv --quiet");
    assert_eq!(
        (&members["users"][2]["first"], &members["users"][2]["last"]),
        (&Value::from(3), &Value::from(4))
    );
    folder.write("f.csv", "user,fair_share\nC,3\nA,1\nB,2\n");
    let weighted =
        result(&folder, "allocate d.csv --fair-shares f.csv --mechanism strict --capacity 6 --quiet");
    assert_eq!(column(&weighted, "allocated"), [5.0, 10.0, 15.0]);
    assert_eq!(weighted["settings"]["fair_shares"], serde_json::json!([1, 2, 3]));
    folder.write("half.csv", DEMANDS.replace("3,0,0", "2.5,0,0"));
    let rounded = result(&folder, "allocate half.csv --fair-share 2 --round up --quiet");
    assert_eq!(column(&rounded, "demand"), [10.0, 10.0, 10.0]);
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    folder.write("negative.csv", DEMANDS.replace("3,0,0", "-3,0,0"));
    folder.write("half.csv", DEMANDS.replace("3,0,0", "2.5,0,0"));
    folder.write("back.csv", DEMANDS.replace("4,2,3,5", "2,2,3,5"));
    folder.write("twice.csv", DEMANDS.replace("4,2,3,5", "3,2,3,5"));
    folder.write("empty.csv", "quantum,A\n");
    folder.write("f.csv", "user,fair_share\nA,1\nB,2\nC,2\n");
    folder.write("unknown.csv", "user,fair_share\nA,1\nB,2\nD,2\n");
    folder.write("fewer.csv", DEMANDS.replace("4,2,3,5\n", ""));
    for (words, told) in [
        ("d.csv", "say how many slices there are (--fair-share, --capacity or --fair-shares)"),
        ("negative.csv --fair-share 2", "negative.csv: line 3, column A = -3: must be >= 0"),
        ("half.csv --fair-share 2", "half.csv: line 3, column A = 2.5: must be a whole number of slices"),
        (
            "back.csv --fair-share 2",
            "back.csv: line 6, column quantum = 2: follows 3: sort the rows by quantum",
        ),
        ("twice.csv --fair-share 2", "twice.csv: line 6, column quantum = 3: occurs twice"),
        ("empty.csv --fair-share 2", "empty.csv: demands: there are no quanta"),
        (
            "d.csv --fair-shares f.csv --capacity 6",
            "capacity = 6: the fair shares of the 3 users come to 5 slices",
        ),
        (
            "d.csv --fair-share 3 --capacity 6",
            "capacity = 6: the fair shares of the 3 users come to 9 slices",
        ),
        (
            "d.csv --fair-shares unknown.csv",
            "unknown.csv: line 4, column user = D: the series has no user with this id",
        ),
        ("d.csv --fair-share 0", "capacity = 0: must be at least 1 slice"),
        ("d.csv --fair-share 2 --alpha 1.5", "alpha = 1.5: must be at least 0 and at most 1"),
        ("d.csv --fair-share 2 --alpha -1", "--alpha"),
        ("d.csv --fair-share 2 --alpha nan", "--alpha"),
        ("d.csv --fair-share 2 --mechanism drf", "unknown mechanism drf: use karma, max-min"),
        ("d.csv --fair-share 2 --ties middle", "choose lowest, highest or demand"),
        ("d.csv --fair-share 2 --non-conformant 1.1", "--non-conformant = 1.1: must be at most 1"),
        ("d.csv --fair-share 2 --non-conformant 0.5 --reported d.csv", "--reported"),
        ("d.csv --fair-share 2 --reported fewer.csv", "fewer.csv: the quanta are not those of DEMANDS"),
        ("d.csv --fair-share 2 --cache-slowdown 0.5", "--cache-slowdown must be at least 1"),
        (
            "d.csv --fair-share 2 --initial-credits 18446744073709551615",
            "initial_credits = 18446744073709551615: credits could come to",
        ),
        ("d.csv --fair-share 2 --oversubscription 0", "--oversubscription"),
        ("d.csv --fair-share 99999999999", "capacity = 299999999997: at most 100000000000 slices"),
        ("d.csv --fair-share 2 --fair-shares f.csv", "--fair-shares"),
        ("missing.csv --fair-share 2", "missing.csv: No such file"),
    ] {
        let words: Vec<&str> =
            ["allocate"].into_iter().chain(words.split(' ')).chain(["-o", "out.json"]).collect();
        let line = folder.refused(&words);
        assert!(line.contains(told), "{words:?}: {line}");
    }
}

#[test]
fn the_offline_optimum_is_proved_and_mechanisms_are_held_against_it() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    let schema: Value = serde_json::from_str(&folder.done(&["schema", "offline"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for more in ["", " --whole-slices", " --measure welfare --per-quantum", " --guaranteed --alpha 1"] {
        let words = format!(
            "offline d.csv --fair-share 2 --initial-credits 6 --against karma,max-min,strict{more} --quiet"
        );
        let found = result(&folder, &words);
        let errors: Vec<String> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{words}: {errors:?}");
        assert_eq!(found["status"], "optimal", "{words}");
    }
    // Everybody can get 8 slices of 10, as Karma gives them; max-min leaves C with 5, strict partitions with 5 too.
    let found =
        result(&folder, "offline d.csv --fair-share 2 --against karma,max-min --initial-credits 6 --quiet");
    assert!((found["value"].as_f64().unwrap() - 8.0).abs() < 1e-9);
    let regrets: Vec<f64> =
        found["against"].as_array().unwrap().iter().map(|of| of["regret"].as_f64().unwrap()).collect();
    assert!(regrets[0].abs() < 1e-9 && (regrets[1] - 0.375).abs() < 1e-9, "{regrets:?}");
    let whole = result(&folder, "offline d.csv --fair-share 2 --whole-slices --quiet");
    assert_eq!((column(&whole, "allocated"), &whole["value"]), (vec![8.0; 3], &Value::from(8.0)));
    let line = folder.refused(&["offline", "d.csv", "--fair-share", "2", "--against", "karma,drf"]);
    assert!(line.contains("unknown mechanism drf"), "{line}");
}

#[test]
fn offline_results_are_proved_again_from_the_files_and_changed_ones_are_not() {
    let folder = Folder::new();
    folder.write("d.csv", DEMANDS);
    for more in ["", " --whole-slices", " --measure welfare", " --guaranteed --alpha 0.5"] {
        let words = format!("offline d.csv --fair-share 2 --against karma{more} --per-quantum --quiet");
        let found = result(&folder, &words);
        folder.write("r.json", found.to_string());
        folder.done(&["verify", "d.csv", "r.json", "--quiet"]);
        let mut forged = 0;
        for (pointer, value) in [
            ("/value", Value::from(8.5)),
            ("/users/0/allocated", Value::from(8.5)),
            ("/users/1/welfare", Value::from(1.0)),
            ("/metrics/utilization", Value::from(0.5)),
            ("/levels/0/value", Value::from(9.0)),
            ("/quanta/0/allocated/0", Value::from(0.0)),
            ("/quanta/2/allocated/1", Value::from(4.0)),
            ("/quanta/1/allocated/1", Value::from(1.0)),
            ("/demands/sha256", Value::from("0".repeat(64))),
            ("/users/0/id", Value::from("B")),
            ("/settings/fair_share", Value::from(3)),
        ] {
            let mut changed = found.clone();
            let place = changed.pointer_mut(pointer).unwrap();
            if *place == value {
                continue;
            }
            *place = value;
            folder.write("r.json", changed.to_string());
            let output = folder.run(&["verify", "d.csv", "r.json", "--quiet"]);
            assert_eq!(output.status.code(), Some(1), "{words}: {pointer}");
            forged += 1;
        }
        assert!(forged >= 10, "{words}: {forged}");
    }
    folder.write("r.json", result(&folder, "offline d.csv --fair-share 2 --quiet").to_string());
    let refusal = folder.refused(&["verify", "d.csv", "r.json"]);
    assert!(refusal.contains("--per-quantum"), "{refusal}");
}
