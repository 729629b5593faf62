//! What can be wrong with a sweep.

use fairplan_instances::InstanceError;
use fairplan_report::output::OutputError;
use std::path::Path;

/// Why a sweep does not go on. Its text is one line that names file, place, value and what to do.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// What is asked for, or a file that it is asked of, cannot be used.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be read.
    #[error(transparent)]
    Input(#[from] InstanceError),
    /// A result cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// It was asked to end before all was done.
    #[error("{0}")]
    Stopped(String),
}

impl SweepError {
    /// A refusal for this reason.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }

    /// The same, where what is refused is what this file says.
    pub(crate) fn said_in(self, file: &str) -> Self {
        match self {
            Self::Refused(reason) => Self::Refused(format!("{file}: {reason}")),
            told => told,
        }
    }

    /// What the system says about a file that is read.
    pub(crate) fn reading(path: &Path, source: std::io::Error) -> Self {
        InstanceError::Io { file: path.display().to_string(), source }.into()
    }

    /// What the system says about a file that is written.
    pub(crate) fn writing(path: &Path, source: std::io::Error) -> Self {
        OutputError { file: path.display().to_string(), source }.into()
    }
}
