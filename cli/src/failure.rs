//! How a command ends: an answer, or a failure with the exit status that scripts rely on.

use fairplan_heuristics::PlacementError;
use fairplan_imports::ImportFailure;
use fairplan_instances::wording::printable;
use fairplan_instances::{InstanceError, SolverError, Violation};
use fairplan_report::MalformedResult;
use fairplan_report::output::OutputError;
use fairplan_simulation::SimulationError;
use std::fmt;

/// What a command that did its work has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done (exit status 0).
    Yes,
    /// The answer is no: a check failed (exit status 1).
    No,
    /// Nothing was asked for, so help was shown (exit status 2).
    Help,
}

impl Answer {
    /// Yes if `holds`.
    pub fn yes_if(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Letters of a message, at most.
const LONGEST: usize = 2000;

/// Why a command did not do its work. Its text is one line.
#[derive(Debug)]
pub enum Failure {
    /// Bad input or usage, or an output that cannot be written (exit status 2).
    Refused(anyhow::Error),
    /// A backend that broke, a result without proof (exit status 3).
    Internal(anyhow::Error),
}

impl Failure {
    /// Bad input or usage.
    pub fn refused(message: impl fmt::Display) -> Self {
        Self::Refused(anyhow::anyhow!("{message}"))
    }

    /// An internal failure.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::Internal(anyhow::anyhow!("{message}"))
    }

    /// 2 or 3.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Refused(_) => 2,
            Self::Internal(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(error) | Self::Internal(error)) = self;
        // Whatever a library puts into its message, an error is one line and no terminal obeys it.
        let message = error.to_string();
        f.write_str(&printable(&message.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST))
    }
}

impl From<InstanceError> for Failure {
    fn from(error: InstanceError) -> Self {
        Self::Refused(error.into())
    }
}

impl<R> From<ImportFailure<R>> for Failure {
    fn from(failure: ImportFailure<R>) -> Self {
        failure.error.into()
    }
}

impl From<Violation> for Failure {
    fn from(violation: Violation) -> Self {
        Self::Refused(violation.into())
    }
}

impl From<MalformedResult> for Failure {
    fn from(error: MalformedResult) -> Self {
        Self::Refused(error.into())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        // A number that is not finite is our fault, a full disk is not.
        if error.source.kind() == std::io::ErrorKind::InvalidData {
            Self::Internal(error.into())
        } else {
            Self::Refused(error.into())
        }
    }
}

impl From<SolverError> for Failure {
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Unsupported(_) | SolverError::Inapplicable(_) => Self::Refused(error.into()),
            SolverError::Backend { .. } | SolverError::OutOfTime => Self::Internal(error.into()),
        }
    }
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::OutOfTime { .. } => Self::Internal(error.into()),
            _ => Self::Refused(error.into()),
        }
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Sharing(error) => error.into(),
            SimulationError::Trace(error) => error.into(),
            SimulationError::Invalid(_) | SimulationError::Memory { .. } => Self::Refused(error.into()),
            SimulationError::Stalled { .. } => Self::Internal(error.into()),
        }
    }
}

/// A usage error on one line, with where to read on.
pub fn usage(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let told = text.split("\n\nUsage").next().unwrap_or(&text);
    let told = told.split("\n\nFor more information").next().unwrap_or(told);
    let words: Vec<&str> = told.trim_start_matches("error: ").split_whitespace().collect();
    Failure::refused(format!("{}; see --help", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_one_line_with_its_exit_status() {
        let failure = Failure::internal("several\n  lines\u{1b}[0m\n");
        assert_eq!((failure.to_string().as_str(), failure.exit_status()), ("several lines\\u{1b}[0m", 3));
        assert_eq!(Failure::from(Violation::new("users", "", "there are no users")).exit_status(), 2);
        let broken = OutputError { file: "o".into(), source: std::io::ErrorKind::InvalidData.into() };
        assert_eq!(Failure::from(broken).exit_status(), 3);
        let full = OutputError { file: "o".into(), source: std::io::ErrorKind::StorageFull.into() };
        assert_eq!(Failure::from(full).exit_status(), 2);
    }
}
