//! `--time-limit`: a deadline is held, whatever the instance, with margins for slow machines.

use super::{Folder, text};
use serde_json::Value;
use std::fmt::Write;
use std::process::Output;
use std::time::{Duration, Instant};

/// What a command may take beyond its limit here, where several tests run at once: reading and writing are not counted, and one step of
/// a program over thousands of classes takes seconds, many where others compile. How closely a deadline is held, `in_time` tests.
const MARGIN: Duration = Duration::from_secs(40);

fn within(folder: &Folder, seconds: u64, words: &[&str]) -> Output {
    let start = Instant::now();
    let limit = seconds.to_string();
    let output = folder.run(&[words, &["--time-limit", &limit]].concat());
    let (took, told) = (start.elapsed(), text(&output.stderr));
    assert!(took < Duration::from_secs(seconds) + MARGIN, "{words:?} took {took:?}: {told}");
    assert!(!told.contains("defect"), "{words:?}: {told}");
    output
}

/// Servers of 64 billion bytes and tasks of 1 and of 4.
fn tiny_tasks(servers: u64) -> String {
    format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
            "server_classes": [{{"id": "large", "count": {servers}, "capacity": {{"cpu": 64000000000, "memory": 64000000000}}}}],
            "users": [{{"id": "a", "demand": {{"cpu": 1, "memory": 1}}}}, {{"id": "b", "demand": {{"cpu": 4, "memory": 4}}}}]}}"#
    )
}

/// Classes and users that all differ.
fn unlike(classes: u64, users: u64) -> String {
    let mut text =
        String::from(r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory", "disk"], "#);
    let mut state = 1u64;
    let mut random = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) % most
    };
    let mut amounts = |most: u64| {
        let [cpu, memory, disk] = [random(most), random(most), random(most)];
        format!(r#"{{"cpu": {cpu}, "memory": {memory}, "disk": {disk}}}"#)
    };
    text += r#""server_classes": ["#;
    for l in 0..classes {
        let comma = if l > 0 { "," } else { "" };
        let _ = write!(text, r#"{comma}{{"id": "c{l}", "count": 2, "capacity": {}}}"#, amounts(1_000_000));
    }
    text += r#"], "users": ["#;
    for i in 0..users {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(text, r#"{comma}{{"id": "u{i}", "demand": {}}}"#, amounts(20_000));
    }
    text + "]}"
}

#[test]
fn bounds_of_very_many_tiny_tasks_end_in_time_and_are_proved() {
    let folder = Folder::new();
    folder.write("i.json", tiny_tasks(1));
    for objective in ["drfh", "pf"] {
        let words = ["-q", "bound", "i.json", "--objective", objective, "-o", "bound.json"];
        let output = within(&folder, 5, &words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let verdict: Value =
            serde_json::from_str(&folder.done(&["-q", "verify", "i.json", "bound.json"])).unwrap();
        assert_eq!(verdict["holds"], true);
    }
}

#[test]
fn a_policy_that_is_not_done_in_time_has_no_result_and_the_others_are_compared() {
    let folder = Folder::new();
    folder.write("i.json", tiny_tasks(3));
    let output = within(&folder, 1, &["-q", "place", "i.json", "--policy", "worst-fit", "-o", "none.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("allow more time"), "{}", text(&output.stderr));
    assert!(!folder.path("none.json").exists());
    let output = within(&folder, 2, &["compare", "i.json", "--policies", "first-fit,worst-fit"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("worst-fit is left out"), "{}", text(&output.stderr));
    let comparison: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(comparison["policies"].as_array().unwrap().len(), 1);
}

#[test]
fn thousands_of_unlike_classes_end_in_time() {
    let folder = Folder::new();
    folder.write("i.json", unlike(3_000, 300));
    let output = within(&folder, 5, &["-q", "bound", "i.json", "-o", "bound.json"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
    assert_eq!(output.status.code() == Some(0), folder.path("bound.json").exists());
}

/// A step of what points the way to exact fractions took minutes here, and the check of a bound as long as finding it.
#[cfg(feature = "highs")]
#[test]
fn exact_fractions_and_bounds_over_thousands_of_classes_end_in_time() {
    let folder = Folder::new();
    folder.write("i.json", unlike(3_000, 200));
    for words in
        ["solve i.json --exact", "bound i.json --objective pf", "bound i.json --objective allocated=cpu"]
    {
        let words: Vec<&str> = ["-q"].into_iter().chain(words.split(' ')).chain(["-o", "r.json"]).collect();
        let output = within(&folder, 3, &words);
        match output.status.code() {
            Some(0) => assert!(folder.path("r.json").exists()),
            code => {
                assert_eq!(code, Some(3), "{words:?}: {}", text(&output.stderr));
                let told = text(&output.stderr);
                let is_late = ["time was over", "no answer in time"].iter().any(|why| told.contains(why));
                assert!(is_late, "{words:?}: {told}");
            }
        }
        let _ = std::fs::remove_file(folder.path("r.json"));
    }
}

#[test]
fn solving_ends_in_time_with_an_allocation_that_is_not_called_optimal_or_without_one() {
    let folder = Folder::new();
    folder.write("i.json", unlike(400, 1_500));
    for backend in fairplan_tests::backend_names() {
        let words = ["-q", "solve", "i.json", "--backend", backend, "-o", "solution.json"];
        let output = within(&folder, 1, &words);
        let file = folder.path("solution.json");
        match output.status.code() {
            Some(0) => assert!(file.exists()),
            Some(3) if file.exists() => {
                let solution: Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
                assert_eq!(solution["status"], "uncertified", "{backend}");
                assert!(text(&output.stderr).contains("time was over"), "{}", text(&output.stderr));
            }
            code => assert_eq!(code, Some(3), "{backend}: {}", text(&output.stderr)),
        }
        let _ = std::fs::remove_file(file);
    }
}

#[cfg(feature = "highs")]
#[test]
fn a_linear_program_that_takes_longer_to_state_than_there_is_time_is_left() {
    let folder = Folder::new();
    folder.write("i.json", unlike(1_500, 1_500));
    let words = ["-q", "solve", "i.json", "--backend", "highs", "-o", "none.json"];
    let output = within(&folder, 5, &words);
    assert_eq!(output.status.code() == Some(0), folder.path("none.json").exists());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
}

#[test]
fn planning_that_is_not_done_in_time_says_so_and_writes_nothing() {
    let folder = Folder::new();
    folder.write("i.json", unlike(60, 200));
    folder.write("large.json", unlike(400, 1_500));
    folder.write("other.json", unlike(401, 1_501));
    let kinds =
        (0..40).map(|t| format!("t{t},{},{},{},{}\n", 100 + 37 * t % 61, 9_000 + t, 5_000 * t, 70_000 - t));
    folder.write("catalog.csv", format!("id,price,cpu,memory,disk\n{}", kinds.collect::<String>()));
    for words in [
        "worth i.json",
        "lose i.json",
        "diff large.json other.json",
        "buy large.json --catalog catalog.csv --share 0.001 --frontier 20",
        "buy large.json --catalog catalog.csv --share 0.001 --whole",
        "buy large.json --catalog catalog.csv --as-today --more-users 300 --under-drfh",
    ] {
        let words: Vec<&str> = ["-q", "plan"].into_iter().chain(words.split(' ')).collect();
        let output = within(&folder, 1, &[&words[..], &["-o", "none.json"]].concat());
        assert_eq!(output.status.code() == Some(0), folder.path("none.json").exists(), "{words:?}");
        assert!(matches!(output.status.code(), Some(0 | 3)), "{words:?}: {}", text(&output.stderr));
        let _ = std::fs::remove_file(folder.path("none.json"));
    }
}

#[test]
fn an_offline_optimum_that_is_not_found_in_time_is_not_called_proved() {
    let folder = Folder::new();
    folder.write("i.json", unlike(30, 40));
    let mut demands = String::from("quantum");
    (0..40).for_each(|i| demands += &format!(",u{i}"));
    for t in 0..300u64 {
        let _ = write!(demands, "\n{t}");
        (0..40u64).for_each(|i| demands += &format!(",{}", (t * 7_919 + i * 104_729) % 5_000));
    }
    folder.write("demands.csv", demands + "\n");
    for words in [
        "demands.csv --instance i.json",
        "demands.csv --instance i.json --against karma",
        "demands.csv --fair-share 900 --whole-slices --against karma",
    ] {
        let words: Vec<&str> = ["-q", "offline"].into_iter().chain(words.split(' ')).collect();
        let output = within(&folder, 1, &[&words[..], &["-o", "none.json"]].concat());
        match output.status.code() {
            Some(0) => assert!(folder.path("none.json").exists()),
            code => {
                assert_eq!(code, Some(3), "{words:?}: {}", text(&output.stderr));
                assert!(text(&output.stderr).contains("time was over"), "{}", text(&output.stderr));
            }
        }
    }
}

#[test]
fn an_audit_reports_the_properties_that_there_was_time_for() {
    let folder = Folder::new();
    folder.write("i.json", unlike(60, 200));
    for words in ["audit i.json -o a.json", "audit i.json --all -o a.jsonl"] {
        let words: Vec<&str> = ["-q"].into_iter().chain(words.split(' ')).collect();
        let begun = std::time::Instant::now();
        let output = within(&folder, 5, &words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {told}");
        // What the other objectives left of their parts of the time is used.
        assert!(begun.elapsed().as_secs() >= 4, "{words:?}: {:?}", begun.elapsed());
        let file = words[words.len() - 1];
        if !folder.path(file).exists() {
            // Not even the allocation itself was there in time.
            continue;
        }
        assert!(
            told.contains("time was over: not tested: ")
                && ["truthfulness of drfh", "all of drfh"].iter().any(|what| told.contains(what)),
            "{told}"
        );
        for audit in serde_json::Deserializer::from_str(&folder.read(file)).into_iter::<Value>() {
            let audit = audit.unwrap();
            let properties = audit["properties"].as_array().unwrap();
            assert_eq!(properties.len(), 9, "{audit}");
            for property in properties.iter().filter(|property| property["holds"] == "out of time") {
                assert!(property["witness"].as_str().unwrap().ends_with("until time was over"), "{property}");
                assert!(property.get("residual").is_none(), "{property}");
            }
        }
    }
}

#[test]
fn an_explanation_says_what_there_was_no_time_to_ask() {
    let folder = Folder::new();
    folder.write("i.json", unlike(60, 200));
    let output = within(&folder, 3, &["-q", "explain", "i.json", "--user", "u0", "-o", "e.json"]);
    let told = text(&output.stderr);
    match folder.path("e.json").exists() {
        true => {
            let explanation: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
            let late = explanation.get("not_asked").is_some();
            assert_eq!(output.status.code(), Some(if late { 3 } else { 0 }), "{told}");
            assert_eq!(late, told.contains("time was over: not asked: "), "{told}");
        }
        false => assert_eq!(output.status.code(), Some(3), "{told}"),
    }
}

#[test]
#[ignore = "half a minute"]
fn bounds_over_very_many_unlike_classes_are_no_worse_than_those_of_divisible_tasks_and_something_is_placed() {
    let folder = Folder::new();
    // The check of so many is done within the limit by a slow machine too.
    folder.write("i.json", unlike(600, 20));
    let words = ["-q", "bound", "i.json", "-o", "bound.json"];
    let output = within(&folder, 10, &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let bound: Value = serde_json::from_str(&folder.read("bound.json")).unwrap();
    let of = |field: &str| bound[field].as_f64().unwrap();
    // Rounded to whole tasks a bound by the same prices may be a little above.
    assert!(
        of("integral_upper") <= 1.05 * of("divisible"),
        "{} and {}",
        of("integral_upper"),
        of("divisible")
    );
    assert!(of("integral_lower") > 0.5 * of("divisible"), "{} of {}", of("integral_lower"), of("divisible"));
    let output = within(&folder, 10, &["-q", "bound", "i.json", "--objective", "pf", "-o", "bound.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    folder.write("i.json", unlike(1_500, 20));
    let output = within(&folder, 6, &["place", "i.json", "--policy", "pattern", "-o", "placed.json"]);
    assert!(text(&output.stderr).contains("the placement is the best by then"), "{}", text(&output.stderr));
    let placed: Value = serde_json::from_str(&folder.read("placed.json")).unwrap();
    assert!(placed["value"].as_f64().unwrap() > 0.5 * of_divisible(&folder), "{}", placed["value"]);
}

#[test]
fn a_policy_that_is_done_in_time_is_shown_however_long_bounds_would_take() {
    let folder = Folder::new();
    folder.write("i.json", unlike(600, 20));
    let words = ["-q", "compare", "i.json", "--policies", "pattern,best-fit", "-o", "compared.json"];
    let output = within(&folder, 6, &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let compared: Value = serde_json::from_str(&folder.read("compared.json")).unwrap();
    let shown = |name: &str| compared["policies"].as_array().unwrap().iter().any(|row| row["name"] == name);
    assert!(shown("best-fit"), "{compared}");
}

/// What the last bound says of divisible tasks under DRFH.
fn of_divisible(folder: &Folder) -> f64 {
    let solved: Value = serde_json::from_str(&folder.done(&["-q", "solve", "i.json"])).unwrap();
    solved["value"].as_f64().unwrap()
}
