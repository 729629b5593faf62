//! What every solver does.

use crate::{Instance, InstanceError, Objective, Solution};

/// An exact method for some objectives.
pub trait Solver: Sync {
    /// The backend's name on the command line.
    fn name(&self) -> &'static str;
    /// Solves, and says by its status whether the result is proved.
    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError>;
    /// The same where somebody else judges, too: a solution that `accept` refuses is not the answer as long as there is another
    /// way. One that is accepted is returned at once.
    fn solve_for(
        &self,
        instance: &Instance,
        objective: Objective,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, InstanceError> {
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
    ) -> Result<Solution, InstanceError> {
        let _ = level;
        self.solve(instance, objective)
    }
}
