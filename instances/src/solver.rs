//! What every solver does, and why it may have no solution.

use crate::{Instance, Objective, Shortfall, Solution, Violation};

/// An exact method for some objectives.
pub trait Solver: Sync {
    /// The backend's name on the command line.
    fn name(&self) -> &'static str;
    /// Solves, and says by its status whether the result is proved.
    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, SolverError>;
    /// The same where somebody else judges, too: a solution that `accept` refuses is not the answer as long as there is another
    /// way. One that is accepted is returned at once.
    fn solve_for(
        &self,
        instance: &Instance,
        objective: Objective,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, SolverError> {
        let _ = accept;
        self.solve(instance, objective)
    }
    /// The same where the first level is thought to be near `level`, as that of a like instance: the answer is the same, only
    /// sooner.
    fn solve_near(
        &self,
        instance: &Instance,
        objective: Objective,
        level: f64,
    ) -> Result<Solution, SolverError> {
        let _ = level;
        self.solve(instance, objective)
    }
}

/// Why there is no solution at all. (Stopping early is a [`Status`](crate::Status), not an error.)
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// The method does not cover this instance.
    #[error("{0}")]
    Unsupported(String),
    /// The instance cannot have this objective.
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
