//! How a command ends that a sweep stopped.

use fairplan::Error;
use fairplan_sweeps::SweepError;

/// The error of a sweep as one of the library, which says with what status the command ends.
pub(super) fn failed(error: SweepError) -> Error {
    match error {
        SweepError::Refused(reason) => Error::input(reason),
        SweepError::Input(error) => error.into(),
        SweepError::Output(error) => error.into(),
        SweepError::Stopped(why) => Error::TimeLimit { why, found: fairplan::Found::nothing() },
    }
}
