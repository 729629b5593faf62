//! What can be wrong with an input: always the file, the place in it, the value and what to do.

use crate::violation::Violation;
use crate::wording::printable;

/// An input that cannot be used. Its text is one line: `cluster.json: users[3].demand.cpu = -2: must be >= 0`.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The file cannot be read or written.
    #[error("{}: {source}", printable(file, 400))]
    Io {
        /// The path as the user gave it.
        file: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The file's form is wrong at `place` (a line, a column, a byte).
    #[error("{}: {}: {}", printable(file, 400), printable(place, 200), printable(problem, 400))]
    Malformed {
        /// The path as the user gave it.
        file: String,
        /// Where in the file.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The file can be read, but a value in it breaks a rule of the model.
    #[error("{}: {violation}", printable(file, 400))]
    Invalid {
        /// The path as the user gave it.
        file: String,
        /// Place, value and rule.
        violation: Violation,
    },
}

impl Violation {
    /// The violation as one of what `file` says.
    pub fn in_file(self, file: &str) -> InstanceError {
        InstanceError::Invalid { file: file.to_owned(), violation: self }
    }
}
