//! Why there is no instance, or no solution of one: of a file always its name, the place in it, the value and what to do.

use crate::objective::LARGEST_ALPHA;
use crate::tolerance::NEAREST_ALPHA;
use crate::wording::printable;
use crate::{DecimalError, Shortfall, UnknownName, Violation};

/// A file or a name that cannot be used, or an instance that has no solution. (Stopping early is a [`Status`](crate::Status), not an
/// error.) Its text is one line: `cluster.json: users[3].demand.cpu = -2: must be >= 0`.
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
    /// No objective has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The number of `alpha=A` is none.
    #[error("the A of alpha=A {0}")]
    Alpha(DecimalError),
    /// The number of `alpha=A` is too large, negative or not a number.
    #[error("the A of alpha=A must be from 0 to {LARGEST_ALPHA}, not {0}; the limit of large ones is drfh")]
    AlphaOutOfRange(f64),
    /// The number of `alpha=A` is so near 1 that a double does not tell the sum.
    #[error("the A of alpha=A must be 1 or differ from it by at least {NEAREST_ALPHA}, not {0}; 1 is pf")]
    AlphaNextToOne(f64),
    /// The method does not cover this instance.
    #[error("{0}")]
    Unsupported(String),
    /// What is asked for may have several answers, or one that no method finds, because of who is named.
    #[error("{0}")]
    NoOneAnswer(String),
    /// The instance cannot have what is asked for. Who knows the file of the value says it ([`Violation::in_file`]).
    #[error(transparent)]
    Inapplicable(#[from] Violation),
    /// What users and groups are guaranteed is more than there is.
    #[error("{0}")]
    Guarantees(Box<Shortfall>),
    /// Time was over before there was anything to return.
    #[error("no answer in time; allow more")]
    OutOfTime,
    /// The linear programming backend failed or contradicted itself.
    #[error("backend {backend}: {problem}")]
    Backend {
        /// Which one.
        backend: &'static str,
        /// What it said or did.
        problem: String,
    },
}

impl Violation {
    /// The violation as one of what `file` says.
    pub fn in_file(self, file: &str) -> InstanceError {
        InstanceError::Invalid { file: file.to_owned(), violation: self }
    }
}
