//! `plan diff` and `plan worth` where somebody has nothing, or guarantees cannot be kept: the first line says what the tables say.

use super::{Folder, text};
use serde_json::{Value, json};

fn write(folder: &Folder, name: &str, cpu: u64, users: Value) {
    let instance = json!({"format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "f", "count": 1, "capacity": {"cpu": cpu}}], "users": users});
    folder.write(name, instance.to_string());
}

/// What a command tells people, as one line, and its result.
fn told(folder: &Folder, words: &[&str]) -> (String, Value) {
    let output = folder.run(&[words, &["-o", "result.json"]].concat());
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    let told = text(&output.stdout) + &text(&output.stderr);
    let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    (line, serde_json::from_str(&folder.read("result.json")).unwrap())
}

fn page(folder: &Folder) -> String {
    folder.done(&["report", "result.json", "-o", "page.html"]);
    folder.read("page.html")
}

/// A user that is guaranteed ten cores, and one that is not, on so many.
fn guaranteed() -> Folder {
    let folder = Folder::new();
    for cpu in [8, 9, 16] {
        let users = json!([{"id": "p", "demand": {"cpu": 1}, "guarantee": {"cpu": 10}},
            {"id": "x", "demand": {"cpu": 1}}]);
        write(&folder, &format!("{cpu}.json"), cpu, users);
    }
    folder
}

#[test]
fn a_difference_says_in_text_and_on_the_page_that_guarantees_can_be_kept_no_longer() {
    let folder = guaranteed();
    let why = "user p is guaranteed more than fits";
    for (before, after, sentence, reason) in [
        ("16.json", "8.json", "can be kept before, and not after.", Some("After the change of servers: ")),
        ("8.json", "16.json", "can be kept before; after, all can.", Some("Before: ")),
        ("8.json", "9.json", "can be kept, neither before nor after.", Some("Before: ")),
        ("16.json", "16.json", "No user that is in both has more or less. ", None),
    ] {
        let (line, _) = told(&folder, &["plan", "diff", before, after]);
        let page = page(&folder);
        assert!(line.contains(sentence), "{line}");
        assert!(page.contains(sentence.trim_end()), "{page}");
        assert_eq!((line.contains(why), page.contains(why)), (reason.is_some(), reason.is_some()), "{line}");
        assert_eq!(line.contains("not all kept"), reason.is_some(), "{line}");
        assert!(line.contains(reason.unwrap_or_default()), "{line}");
    }
}

/// Guarantees are lowered to so many digits that some 1e-9 of a core may be left over; that is no work that is lost or won.
#[test]
fn what_lowered_guarantees_leave_over_by_rounding_is_nothing() {
    let folder = guaranteed();
    let (line, difference) = told(&folder, &["plan", "diff", "8.json", "9.json"]);
    assert!(
        line.starts_with("1 user has more (most: user p, 12.50% of its tasks); nobody has less."),
        "{line}"
    );
    for step in difference["steps"].as_array().unwrap() {
        assert_eq!((&step["value"], &step["losing"]), (&json!(0.0), &json!(0)), "{step}");
    }
    let classes = json!([{"id": "f", "count": 2, "capacity": {"cpu": 8}}]);
    let mut instance: Value = serde_json::from_str(&folder.read("16.json")).unwrap();
    instance["server_classes"] = classes;
    folder.write("i.json", instance.to_string());
    let (_, losses) = told(&folder, &["plan", "lose", "i.json", "--servers-lost", "1"]);
    assert_eq!(losses["losses"][0]["stranded"], 1, "{losses}");
}

#[test]
fn a_difference_counts_who_had_nothing_among_those_that_have_more() {
    let folder = Folder::new();
    let users = |x: u64, of_p: u64| {
        json!([{"id": "p", "demand": {"cpu": 1}, "tasks": of_p, "group": "g"},
            {"id": "x", "demand": {"cpu": 1}, "tasks": x, "group": "h"},
            {"id": "z", "demand": {"cpu": 1}, "tasks": 0, "group": "h"}])
    };
    for (name, x, of_p) in [("none.json", 0, 2), ("five.json", 5, 2), ("both.json", 5, 3)] {
        write(&folder, name, 8, users(x, of_p));
        let mut instance: Value = serde_json::from_str(&folder.read(name)).unwrap();
        instance["groups"] = json!([{"id": "g"}, {"id": "h"}]);
        folder.write(name, instance.to_string());
        folder.done(&["-q", "solve", name, "-o", &format!("solved-{name}")]);
    }
    let one = "1 group has more (most: group h, which had nothing). 1 user has more (most: user x, which had nothing); nobody has less.";
    let two = "2 groups have more (most: group h, which had nothing). 2 users have more (most: user x, which had nothing); nobody has less.";
    for before in ["none.json", "solved-none.json"] {
        for (after, expected) in [("five.json", one), ("both.json", two)] {
            let after = before.replace("none.json", after);
            let (line, _) = told(&folder, &["plan", "diff", before, &after]);
            assert!(line.starts_with(expected), "{line}");
            // Who has nothing in both has not moved.
            let page = page(&folder);
            assert!(!line.contains(" z 0") && page.contains(expected), "{line}");
        }
        let (line, _) = told(&folder, &["plan", "diff", &before.replace("none", "five"), before]);
        let back = "1 group has less (most: group h, 100.00% of its share). Nobody has more; 1 user has less (most: user x, 100.00% of its tasks).";
        assert!(line.starts_with(back), "{line}");
    }
}

#[test]
fn the_class_that_raises_the_smallest_share_from_nothing_is_named() {
    let folder = Folder::new();
    let user = |id: &str, on: &str, sure: u64| json!({"id": id, "demand": {"cpu": 1}, "eligible": [on], "guarantee": {"cpu": sure}});
    let alone = |id: &str, on: &str| json!({"id": id, "demand": {"cpu": 1}, "eligible": [on]});
    let instance = json!({"format": "fairplan.instance.v1", "resources": ["cpu"],
        "server_classes": [{"id": "g", "count": 1, "capacity": {"cpu": 100}}, {"id": "f", "count": 1, "capacity": {"cpu": 8}}],
        "users": [user("p", "f", 8), alone("x", "f"), user("z", "g", 90), alone("y", "g")]});
    folder.write("i.json", instance.to_string());
    let (line, worth) = told(&folder, &["plan", "worth", "i.json"]);
    let sentence = "One more server of class f helps the most: the smallest weighted share of those that still want more rises from 0.00% to 7.41%.";
    assert!(line.starts_with(sentence), "{line}");
    assert!(page(&folder).contains(sentence));
    let first = &worth["server_classes"][0];
    assert_eq!((&first["id"], &first["largest_gain"]), (&json!("f"), &json!({"id": "x"})), "{worth}");
}
