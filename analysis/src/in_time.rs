//! A solver whose answers are proved or not there: what is found of a variant when time is over says nothing about the variant.

use fairplan_instances::{Deadline, Instance, InstanceError, Objective, Solution, Solver, Status};

/// Asks a solver that ends by a deadline. Answers that are not proved because of it are [`InstanceError::OutOfTime`], so that no
/// question takes them for one of the variant; without a deadline all answers are the solver's.
pub struct InTime<'a> {
    solver: &'a dyn Solver,
    deadline: &'a Deadline,
}

impl<'a> InTime<'a> {
    /// Of a solver with this deadline.
    pub fn new(solver: &'a dyn Solver, deadline: &'a Deadline) -> Self {
        Self { solver, deadline }
    }

    fn in_time(
        &self,
        solve: impl FnOnce() -> Result<Solution, InstanceError>,
    ) -> Result<Solution, InstanceError> {
        if self.deadline.is_over() {
            return Err(InstanceError::OutOfTime);
        }
        match solve() {
            Ok(solution) if solution.status == Status::Optimal => Ok(solution),
            _ if self.deadline.is_over() => Err(InstanceError::OutOfTime),
            answer => answer,
        }
    }
}

impl Solver for InTime<'_> {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        self.in_time(|| self.solver.solve(instance, objective))
    }

    fn solve_near(
        &self,
        instance: &Instance,
        objective: Objective,
        level: f64,
    ) -> Result<Solution, InstanceError> {
        self.in_time(|| self.solver.solve_near(instance, objective, level))
    }
}
