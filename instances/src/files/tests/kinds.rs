//! Kinds of tasks in JSON: read and written back to the byte, refused with the kind and the field.

use super::*;

const BEFORE: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {"id": "cpus", "count": 3, "capacity": {"cpu": 8}},
    {"id": "gpus", "count": 1, "capacity": {"cpu": 8, "gpu": 8}}
  ],
  "users": [
    {"id": "plain", "demand": {"cpu": 1}, "eligible": ["cpus"]},
    {"id": "trainer", "#;

const WORKER: &str = r#"{"id": "worker", "each": 8, "demand": {"cpu": 0.5, "gpu": 1}, "eligible": ["gpus"]}"#;
const DRIVER: &str = r#"{"id": "driver", "each": 1, "demand": {"cpu": 2}}"#;
const AFTER: &str = "}\n  ]\n}\n";

fn file(user: &str) -> String {
    format!("{BEFORE}{user}{AFTER}")
}

fn kinds(kinds: &[&str]) -> String {
    file(&format!(r#""kinds": [{}]"#, kinds.join(", ")))
}

#[test]
fn kinds_are_read_and_written_back_to_the_byte() {
    let folder = Folder::new();
    let text = file(&format!(r#""weight": 2, "tasks": 3, "kinds": [{WORKER}, {DRIVER}]"#));
    let instance = crate::files::read_instance(&folder.file("kinds.json", &text)).unwrap();
    assert_eq!(json(&instance), text);
    assert_eq!(instance.kind_count(), 3);
}

#[test]
fn a_single_kind_of_one_piece_has_the_hash_of_the_same_user_without_kinds() {
    let folder = Folder::new();
    let read = |text: String| crate::files::read_instance(&folder.file("one.json", text)).unwrap();
    let one = read(kinds(&[r#"{"id": "task", "each": 1, "demand": {"gpu": 1}, "eligible": ["gpus"]}"#]));
    let plain = read(file(r#""demand": {"gpu": 1}, "eligible": ["gpus"]"#));
    assert_eq!(crate::files::sha256_hex(&one), crate::files::sha256_hex(&plain));
    let two = read(kinds(&[r#"{"id": "task", "each": 2, "demand": {"gpu": 1}}"#]));
    assert!(two.has_kinds(), "two pieces may run on different servers");
}

#[test]
fn tables_refuse_kinds() {
    let folder = Folder::new();
    let instance = crate::files::read_instance(&folder.file("kinds.json", kinds(&[WORKER]))).unwrap();
    let error = crate::files::write_users(&instance, "users.csv", &mut Vec::new()).unwrap_err();
    let expected = "users.csv: users[1].kinds: a table of users has no room for kinds of tasks; write JSON";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_is_wrong_with_kinds_is_refused_with_the_kind_and_the_field() {
    let folder = Folder::new();
    let refusal =
        |text: String| message(&folder, crate::files::read_instance(&folder.file("bad.json", text)));
    let driver = |old: &str, new: &str| {
        assert!(DRIVER.contains(old), "{old}");
        kinds(&[WORKER, &DRIVER.replace(old, new)])
    };
    let most = "must be from 1 to 1000000000; leave the kind out if there are none";
    let both = "users[1].kinds: a user has a demand or kinds, not both; drop one";
    let demand = r#""demand": {"cpu": 1}"#;
    let cases = [
        (kinds(&[]), "users[1].kinds: name at least one kind, or give the user a demand".into()),
        (file(r#""kinds": null"#), "users[1].kinds: ".into()),
        (file(r#""kinds": {}"#), "users[1].kinds: invalid type: map, expected an array".into()),
        (kinds(&["7"]), "users[1].kinds[0]: invalid type: integer `7`".into()),
        (
            kinds(&[DRIVER, DRIVER]),
            "users[1].kinds[1].id = driver: another kind of this user has this id".into(),
        ),
        (driver("\"driver\"", "\"\""), "users[1].kinds[1].id: a kind needs an id".into()),
        (driver("1,", "0,"), format!("users[1].kinds[1].each = 0: {most}")),
        (driver("1,", "1000000001,"), format!("users[1].kinds[1].each = 1000000001: {most}")),
        (driver("1,", "0.5,"), "users[1].kinds[1].each = 0.5: ".into()),
        (driver("1,", "\"1\","), "users[1].kinds[1].each = \"1\": must be a number".into()),
        (driver("\"each\": 1, ", ""), "users[1].kinds[1]: missing field `each`".into()),
        (driver("each", "count"), "users[1].kinds[1].count: unknown field `count`".into()),
        (driver("\"cpu\": 2", ""), "users[1].kinds[1].demand: a piece must need some resource".into()),
        (driver("cpu", "tpu"), "users[1].kinds[1].demand.tpu: unknown resource".into()),
        (
            driver("2}", "2}, \"eligible\": [\"tpus\"]"),
            "users[1].kinds[1].eligible[0] = tpus: there is no server class with this id".into(),
        ),
        (
            driver("2}", "2}, \"eligible\": [\"cpus\", \"cpus\"]"),
            "users[1].kinds[1].eligible = cpus: named twice".into(),
        ),
        (
            driver("2}", "1e-20}"),
            "users[1].kinds: the cpu that a task needs of all kinds has more than 19 significant digits"
                .into(),
        ),
        (file(&format!(r#"{demand}, "kinds": [{DRIVER}]"#)), both.into()),
        (file(r#""weight": 1"#), "users[1].demand: missing; state what one task needs, or the kinds".into()),
        (
            file(&format!(r#""kinds": [{DRIVER}], "eligible": ["cpus"]"#)),
            "users[1].eligible: each kind says where it may run; move it there".into(),
        ),
        (
            file(&format!(r#""kinds": [{DRIVER}], "rates": {{"cpus": 2}}"#)),
            "users[1].rates: tasks of several kinds have no rates; drop it".into(),
        ),
    ];
    assert_fragments(cases.map(|(text, expected)| (refusal(text), expected)));
}
