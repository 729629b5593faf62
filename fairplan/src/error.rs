//! Why a function has no answer, or none that is proved.

use crate::{Audited, Explanation, GroupExplanation, Offline, Simulated, Solved, TaskOffline};
use fairplan_heuristics::{PlacementError, UnknownPolicy};
use fairplan_imports::ImportFailure;
use fairplan_instances::{Deadline, InstanceError, Shortfall, SolverError, UnknownName, Violation};
use fairplan_report::MalformedResult;
use fairplan_report::output::OutputError;
use fairplan_simulation::SimulationError;
use fairplan_verify::Verdict;
use std::fmt::Display;

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

/// What there is of an answer that is not proved or not complete.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Found {
    /// Nothing.
    #[default]
    Nothing,
    /// A valid allocation with a valid bound: of [`solve`](crate::solve()), and of what other functions solve first.
    Solution(Box<Solved>),
    /// Of [`offline`](crate::offline()): an allocation that may lack a part of a level.
    Offline(Box<Offline>),
    /// Of [`offline_tasks`](crate::offline_tasks): an allocation with its verdicts, one of which does not hold.
    TaskOffline(Box<TaskOffline>),
    /// Of [`simulate`](crate::simulate()): how things stood when it was stopped.
    Simulation(Box<Simulated>),
    /// Of [`audit`](crate::audit()): some properties are not tested.
    Audited(Box<Audited>),
    /// Of [`explain`](crate::explain()): some questions are not asked.
    Explanation(Box<Explanation>),
    /// Of [`explain_group`](crate::explain_group): what would change is not asked.
    GroupExplanation(Box<GroupExplanation>),
}

impl Found {
    /// A solution, if it is one.
    pub fn solution(self) -> Option<Solved> {
        if let Self::Solution(solved) = self { Some(*solved) } else { None }
    }

    /// The optimum of demands in slices, if it is one.
    pub fn offline(self) -> Option<Offline> {
        if let Self::Offline(offline) = self { Some(*offline) } else { None }
    }

    /// The optimum of demands in tasks, if it is one.
    pub fn task_offline(self) -> Option<TaskOffline> {
        if let Self::TaskOffline(offline) = self { Some(*offline) } else { None }
    }

    /// A simulation, if it is one.
    pub fn simulation(self) -> Option<Simulated> {
        if let Self::Simulation(simulated) = self { Some(*simulated) } else { None }
    }

    /// Audits, if it is some.
    pub fn audited(self) -> Option<Audited> {
        if let Self::Audited(audited) = self { Some(*audited) } else { None }
    }

    /// An explanation, if it is one.
    pub fn explanation(self) -> Option<Explanation> {
        if let Self::Explanation(explanation) = self { Some(*explanation) } else { None }
    }

    /// An explanation of a group, if it is one.
    pub fn group_explanation(self) -> Option<GroupExplanation> {
        if let Self::GroupExplanation(explanation) = self { Some(*explanation) } else { None }
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
        Self::Uncertified { why: why.to_string(), found: Found::Nothing }
    }

    /// Takes what there is out of the error.
    pub fn take_found(&mut self) -> Found {
        match self {
            Self::Uncertified { found, .. } | Self::TimeLimit { found, .. } => std::mem::take(found),
            _ => Found::Nothing,
        }
    }

    /// The same failure as one of the deadline, if that is over.
    pub(crate) fn by(mut self, deadline: &Deadline) -> Self {
        if !deadline.is_over() {
            return self;
        }
        Self::TimeLimit { why: format!("time was over: {self}"), found: self.take_found() }
    }
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
        Self::Input(error.into())
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

impl From<UnknownPolicy> for Error {
    fn from(unknown: UnknownPolicy) -> Self {
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

impl From<SolverError> for Error {
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Unsupported(_) | SolverError::Inapplicable(_) => Self::Input(error.into()),
            SolverError::Backend { .. } => Self::Backend(error.into()),
            SolverError::Guarantees(shortfall) => Self::Guarantees(shortfall),
            SolverError::OutOfTime => Self::TimeLimit { why: error.to_string(), found: Found::Nothing },
        }
    }
}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::OutOfTime { .. } => {
                Self::TimeLimit { why: error.to_string(), found: Found::Nothing }
            }
            PlacementError::Outside(_) => Self::Backend(error.into()),
            _ => Self::Input(error.into()),
        }
    }
}

impl From<SimulationError> for Error {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Sharing(error) => error.into(),
            SimulationError::Trace(error) => error.into(),
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
    fn what_fails_when_time_is_over_keeps_its_reason_and_what_there_is() {
        let failure = || Error::uncertified("not proved");
        assert!(matches!(failure().by(&Deadline::never()), Error::Uncertified { .. }));
        let late = failure().by(&Deadline::after(Duration::ZERO));
        assert!(matches!(late, Error::TimeLimit { .. }));
        assert_eq!(late.to_string(), "time was over: not proved");
    }
}
