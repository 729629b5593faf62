//! What is written is read back the same, and what is broken is refused with file, place and value.

mod bad_json;
mod bad_tables;
mod devices;
mod gzip;
mod kinds;
mod mutations;
#[cfg(feature = "parquet")]
mod parquet;
mod round_trips;
mod speed;

use crate::Instance;
use tempfile::TempDir;

/// A folder for one test's files.
pub(in crate::files) struct Folder(TempDir);

impl Folder {
    pub(in crate::files) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(in crate::files) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path.
    pub(in crate::files) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        // Some file systems flush to disk when a file is written over, but not when it is new.
        let _ = std::fs::remove_file(self.path(name));
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }
}

fn json(instance: &Instance) -> String {
    let mut bytes = Vec::new();
    super::write_json(instance, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The error's text with the folder's own path cut off.
pub(in crate::files) fn message<T>(folder: &Folder, result: Result<T, crate::InstanceError>) -> String {
    let text = match result {
        Ok(_) => "read without an error".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(!text.contains('\n'), "an error is one line: {text}");
    let folder = folder.0.path().to_str().unwrap();
    text.replace(&format!("{folder}/"), "")
}

/// Fails with all the texts that lack their fragment, not only the first.
#[track_caller]
pub(in crate::files) fn assert_fragments(texts_and_fragments: impl IntoIterator<Item = (String, String)>) {
    let lacks = |(text, fragment): &(String, String)| !text.contains(fragment.as_str());
    let lacking: Vec<_> = texts_and_fragments.into_iter().filter(lacks).collect();
    let shown: String = lacking.iter().map(|(text, part)| format!("\n{text}\n  lacks {part}")).collect();
    assert!(lacking.is_empty(), "{shown}");
}

const FULL: &str = r#"{
  "format": "fairplan.instance.v1",
  "name": "DRFH paper, Fig. 1",
  "resources": ["cpu", "memory"],
  "server_classes": [
    {"id": "high-memory", "count": 1, "capacity": {"cpu": 2, "memory": 12}},
    {"id": "high-cpu", "count": 1, "capacity": {"cpu": 12, "memory": 2}}
  ],
  "users": [
    {"id": "user-1", "demand": {"cpu": 0.2, "memory": 1}},
    {"id": "user-2", "demand": {"cpu": 1, "memory": 0.2}, "weight": 2.5, "tasks": 40, "eligible": ["high-memory", "high-cpu"], "rates": {"high-cpu": 1.5}}
  ]
}
"#;

#[test]
fn canonical_json_is_read_back_and_written_the_same() {
    let folder = Folder::new();
    let instance = super::read_instance(&folder.file("a.json", FULL)).unwrap();
    assert_eq!(json(&instance), FULL);
}

#[test]
fn the_order_of_keys_and_the_notation_of_numbers_do_not_matter() {
    let folder = Folder::new();
    let other = r#"{"users": [{"demand": {"memory": 10e-1, "cpu": 0.20}, "id": "user\u002d1"},
        {"rates": {"high-cpu": 1.50, "high-memory": 1.0}, "eligible": ["high-cpu", "high-memory"], "tasks": 40.0,
         "weight": 25e-1, "id": "user-2", "demand": {"cpu": 1, "memory": 0.2}}],
        "server_classes": [{"capacity": {"memory": 12, "cpu": 2}, "id": "high-memory", "count": 1},
        {"id": "high-cpu", "count": 1, "capacity": {"cpu": 12, "memory": 2}}],
        "resources": ["cpu", "memory"], "name": "DRFH paper, Fig. 1", "format": "fairplan.instance.v1"}"#;
    let instance = super::read_instance(&folder.file("a.json", format!("\u{feff}{other}"))).unwrap();
    assert_eq!(json(&instance), FULL);
}

#[test]
fn tables_and_json_of_one_instance_have_one_hash() {
    let folder = Folder::new();
    let servers = folder.file("servers.csv", "id,count,cpu,memory\nhigh-memory,1,2,12\r\nhigh-cpu,1,12,2\n");
    let users = folder.file(
        "users.csv",
        "id,cpu,memory,weight,tasks,eligible,rates\nuser-1,.2,1,,,,\n\
         \"user-2\",1,0.20,2.5,40,high-memory;high-cpu,high-cpu=1.5\n",
    );
    let tables = super::read_tables(&servers, &users, None).unwrap();
    assert_eq!(json(&tables), FULL.replace("  \"name\": \"DRFH paper, Fig. 1\",\n", ""));
}

#[test]
fn a_broken_rule_names_file_place_and_value() {
    let folder = Folder::new();
    let path =
        folder.file("cluster.json", FULL.replace("0.2}}", "-2}}").replace("\"cpu\": 0.2,", "\"cpu\": -2,"));
    let text = message(&folder, super::read_instance(&path));
    assert_eq!(text, "cluster.json: users[0].demand.cpu = -2: must be >= 0");
}
