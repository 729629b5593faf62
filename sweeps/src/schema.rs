//! The JSON Schemas of what a sweep keeps on the disk.

use crate::record::{self, Record};
use crate::task::{self, Header, Task};
use fairplan_report::formats::Format;

/// The list of tasks, and what is kept of each.
pub static FORMATS: [Format; 2] =
    [Format::of::<SweepLine>("sweep", task::FORMAT), Format::of::<Record<'static>>("run", record::FORMAT)];

/// One line of a list of tasks: the first is the header, each other one a task.
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)]
enum SweepLine {
    /// The first line.
    Header(Header),
    /// Any other line.
    Task(Task),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        for format in &FORMATS {
            let path = format!("{}/schemas/{}.json", env!("CARGO_MANIFEST_DIR"), format.id);
            let generated = serde_json::to_string_pretty(&format.schema()).unwrap() + "\n";
            if std::env::var_os("FAIRPLAN_UPDATE_SCHEMAS").is_some() {
                std::fs::write(&path, generated).unwrap();
            } else {
                let committed = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(
                    committed == generated,
                    "{path} is out of date: run the tests with FAIRPLAN_UPDATE_SCHEMAS=1"
                );
            }
        }
    }
}
