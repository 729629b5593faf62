//! One task, and what heads a list of them.

use crate::ordered::Ordered;
use crate::value::Value;
use fairplan_instances::FAIRPLAN_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The format of a list of tasks, as its first line states it.
pub(crate) const FORMAT: &str = "fairplan.sweep.v1";

/// The first line of a list of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// `fairplan.sweep.v1`.
    pub format: String,
    /// The version that planned the tasks, and alone runs them.
    pub fairplan_version: String,
    /// How many tasks follow, one a line.
    pub tasks: u64,
    /// The names of the parameters, in the order of the specification.
    pub parameters: Vec<String>,
    /// The files that tasks read.
    pub inputs: Vec<Input>,
}

/// A file that tasks read, as it was when they were planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its path, as tasks say it.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// One line: a command that is run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The SHA-256 of arguments, inputs and version, in hexadecimal: the name of its result.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub id: String,
    /// The words of the command line, without the first. Between two commands stands `|`: the second reads what the first writes.
    pub arguments: Vec<String>,
    /// Which inputs it reads, by their positions in the header.
    pub inputs: Vec<usize>,
    /// The value of each parameter: a text, a number, true, false or null.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub(crate) parameters: Ordered<Value>,
}

impl Task {
    /// The id of a task of this version: of its words, and of what its inputs contain.
    pub(crate) fn id<'a>(arguments: &[String], inputs: impl Iterator<Item = &'a str>) -> String {
        let mut hash = Sha256::new();
        // Each part with its length before it, so that no two tasks run into the same text.
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(FORMAT);
        part(FAIRPLAN_VERSION);
        part(&arguments.len().to_string());
        arguments.iter().for_each(|word| part(word));
        inputs.for_each(part);
        hexadecimal(&hash.finalize())
    }

    /// The value of each parameter, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.parameters.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Bytes as letters.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_tasks_apart_whose_words_run_together() {
        let id = |words: &[&str], inputs: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Task::id(&words, inputs.iter().copied())
        };
        let ids = [
            id(&["ab", "c"], &[]),
            id(&["a", "bc"], &[]),
            id(&["abc"], &[]),
            id(&["ab"], &["c"]),
            id(&["ab", "c"], &["x"]),
        ];
        assert!(ids.iter().all(|id| id.len() == 64));
        for (position, one) in ids.iter().enumerate() {
            assert!(!ids[..position].contains(one));
        }
        assert_eq!(hexadecimal(&[0x0f, 0xa0]), "0fa0");
    }
}
