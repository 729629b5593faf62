//! Why a function has no answer, or none that is proved.

use fairplan_heuristics::PlacementError;
use fairplan_imports::ImportFailure;
use fairplan_instances::{Deadline, InstanceError, Shortfall, UnknownName, Violation};
use fairplan_report::MalformedResult;
use fairplan_report::output::OutputError;
use fairplan_simulation::SimulationError;
use fairplan_verify::Verdict;
use std::any::Any;
use std::fmt::{self, Display};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no answer. Its text is one line that names file, place, value and what to do, as far as they are known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What is asked for, or what it is asked of, cannot be used.
    #[error("{0}")]
    Input(Cause),
    /// An option cannot be meant. The text begins with its name as the command line spells it, without the dashes.
    #[error("{0}")]
    Setting(String),
    /// What was found does not pass its check by code that shares nothing with the solver, or is not proved to be optimal.
    #[error("{why}")]
    Uncertified {
        /// What is not proved.
        why: String,
        /// What there is all the same.
        found: Found,
    },
    /// What users and groups are guaranteed is more than there is: the largest part that can be kept, and prices that prove it, which
    /// [`verify_shortfall`](fairplan_verify::verify_shortfall) has checked.
    #[error("{0}; `convert --without guarantees` leaves them out")]
    Guarantees(Box<Shortfall>),
    /// The [`Deadline`] was over before.
    #[error("{why}")]
    TimeLimit {
        /// What was not done.
        why: String,
        /// What there is all the same.
        found: Found,
    },
    /// A backend failed or contradicted itself.
    #[error("{0}")]
    Backend(Cause),
    /// A result cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// What there is of an answer that is not proved or not complete: what the function would have returned, or, of a function that solves
/// first, the [`Solved`](crate::Solved) that it began with. [`Error::take_found`] takes it out.
#[derive(Default)]
pub struct Found(Option<Box<dyn Any + Send + Sync>>);

impl Found {
    /// Nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// An answer, as far as it goes.
    pub fn some(found: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(found)))
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "something" } else { "nothing" })
    }
}

impl Error {
    /// An input that cannot be used, for this reason.
    pub fn input(reason: impl Display) -> Self {
        Self::Input(reason.to_string().into())
    }

    /// A failure that no input explains.
    pub fn backend(reason: impl Display) -> Self {
        Self::Backend(reason.to_string().into())
    }

    /// Something that is not proved, of which nothing is to be had.
    pub(crate) fn uncertified(why: impl Display) -> Self {
        Self::Uncertified { why: why.to_string(), found: Found::nothing() }
    }

    /// The same error with the file that it is about: `file_of` tells it by the place of the value that breaks a rule. What names no
    /// place, or its file already, stays as it is.
    pub fn in_file(self, file_of: impl Fn(&str) -> Option<String>) -> Self {
        let Self::Input(cause) = &self else { return self };
        match violation(cause).and_then(|violation| Some((violation, file_of(&violation.place)?))) {
            Some((violation, file)) => violation.clone().in_file(&file).into(),
            None => self,
        }
    }

    /// Takes what there is out of the error, if it is one of these.
    pub fn take_found<T: Any>(&mut self) -> Option<T> {
        let found = match self {
            Self::Uncertified { found, .. } | Self::TimeLimit { found, .. } => &mut found.0,
            _ => return None,
        };
        match found.take()?.downcast() {
            Ok(asked_for) => Some(*asked_for),
            Err(other) => {
                *found = Some(other);
                None
            }
        }
    }

    /// The same failure as one of the deadline, if that is over.
    pub(crate) fn by(self, deadline: &Deadline) -> Self {
        if !deadline.is_over() {
            return self;
        }
        let why = format!("time was over: {self}");
        match self {
            Self::Uncertified { found, .. } | Self::TimeLimit { found, .. } => Self::TimeLimit { why, found },
            _ => Self::TimeLimit { why, found: Found::nothing() },
        }
    }
}

/// What there is to tell: an answer, or with the error what there is all the same. An error without any is one.
///
/// ```
/// use fairplan::{Control, PlaceOptions, generate, place, what_there_is};
///
/// let instance = generate::drfh_fig1()?;
/// let placed = place(&instance, &PlaceOptions::default(), &Control::none());
/// let (placed, why_not_all) = what_there_is(placed)?;
/// assert!(placed.placement.tasks[0] > 0 && why_not_all.is_none());
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn what_there_is<T: Any>(outcome: Result<T, Error>) -> Result<(T, Option<Error>), Error> {
    match outcome {
        Ok(answer) => Ok((answer, None)),
        Err(mut error) => match error.take_found() {
            Some(found) => Ok((found, Some(error))),
            None => Err(error),
        },
    }
}

/// The value of an instance that breaks a rule, if that is what a cause is about.
fn violation(cause: &Cause) -> Option<&Violation> {
    let of_solver = || match cause.downcast_ref()? {
        InstanceError::Inapplicable(violation) => Some(violation),
        _ => None,
    };
    let of_placement = || match cause.downcast_ref()? {
        PlacementError::Rule(violation) => Some(violation),
        _ => None,
    };
    cause.downcast_ref().or_else(of_solver).or_else(of_placement)
}

/// An error that begins with `what` and names the first verdict that does not hold, if there is one.
pub(crate) fn all_hold(what: impl Display, verdicts: &[Verdict]) -> Result<(), Error> {
    match verdicts.iter().find(|verdict| !verdict.holds) {
        None => Ok(()),
        Some(Verdict { property, witness, .. }) => {
            Err(Error::uncertified(format!("{what}: {property}: {witness}")))
        }
    }
}

impl From<InstanceError> for Error {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::Backend { .. } => Self::Backend(error.into()),
            InstanceError::Guarantees(shortfall) => Self::Guarantees(shortfall),
            InstanceError::OutOfTime => Self::TimeLimit { why: error.to_string(), found: Found::nothing() },
            _ => Self::Input(error.into()),
        }
    }
}

impl<R> From<ImportFailure<R>> for Error {
    fn from(failure: ImportFailure<R>) -> Self {
        failure.error.into()
    }
}

impl From<UnknownName> for Error {
    fn from(unknown: UnknownName) -> Self {
        Self::Input(unknown.into())
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Self::Input(violation.into())
    }
}

impl From<MalformedResult> for Error {
    fn from(error: MalformedResult) -> Self {
        Self::Input(error.into())
    }
}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::OutOfTime { .. } => {
                Self::TimeLimit { why: error.to_string(), found: Found::nothing() }
            }
            PlacementError::Outside(_) => Self::Backend(error.into()),
            _ => Self::Input(error.into()),
        }
    }
}

impl From<SimulationError> for Error {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Instance(error) => error.into(),
            SimulationError::Invalid(_) | SimulationError::Memory { .. } => Self::Input(error.into()),
            SimulationError::Stalled { .. } => Self::Backend(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn whatever_finds_a_value_that_breaks_a_rule_tells_its_file() {
        let broken = || Violation::new("users[3].weight", "0.3", "has too many digits; round it");
        let causes: [Error; 3] =
            [broken().into(), InstanceError::from(broken()).into(), PlacementError::from(broken()).into()];
        for error in causes {
            let told = error.in_file(|place| place.starts_with("users").then(|| "it.json".into()));
            assert_eq!(told.to_string(), "it.json: users[3].weight = 0.3: has too many digits; round it");
            // Once is enough, and another place is somebody else's.
            assert!(told.in_file(|_| Some("other".into())).to_string().starts_with("it.json: users"));
        }
        let setting = Error::from(Violation::new("window", 0, "must be > 0"));
        assert_eq!(setting.in_file(|_| None).to_string(), "window = 0: must be > 0");
    }

    #[test]
    fn what_fails_when_time_is_over_keeps_its_reason_and_what_there_is() {
        let failure = || Error::Uncertified { why: "not proved".into(), found: Found::some(5_u32) };
        assert!(matches!(failure().by(&Deadline::never()), Error::Uncertified { .. }));
        let mut late = failure().by(&Deadline::after(Duration::ZERO));
        assert!(matches!(late, Error::TimeLimit { .. }));
        assert_eq!(late.to_string(), "time was over: not proved");
        // Who asks for something else leaves it there.
        assert_eq!(late.take_found::<u64>(), None);
        assert_eq!(late.take_found::<u32>(), Some(5));
        assert_eq!(late.take_found::<u32>(), None);
    }
}
