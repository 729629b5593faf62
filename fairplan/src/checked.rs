//! A solver whose solutions under quotas and of sums are checked wherever they are used, not only where they are stated.
//!
//! `plan lose`, `plan diff`, `audit` and others solve variants of an instance, of which no file says the proof. Floors and limits make
//! shares that are easily wrong by much, and one gap of a sum says little of who adds nothing to it: so there code that shares nothing with the
//! solver looks at each.

use fairplan_instances::{Instance, InstanceError, Objective, Solution, Solver, Status};
use fairplan_verify::{SolutionClaim, verify_solution};

pub(crate) struct Checked(pub Box<dyn Solver>);

/// Whether solutions are believed as they are.
fn is_plain(instance: &Instance, objective: Objective) -> bool {
    instance.quotas().is_empty() && objective.alpha().is_none()
}

/// What is said against a solution's shares; that prices are not of one level to the last digit is nothing of these.
fn against(instance: &Instance, solution: &Solution) -> Option<String> {
    let proof = verify_solution(instance, &SolutionClaim::from(solution));
    let mut failures = proof.failures().filter(|failure| failure.property != "price-scale");
    failures.next().map(|failure| format!("{}: {}", failure.property, failure.witness))
}

impl Solver for Checked {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        if is_plain(instance, objective) {
            return self.0.solve(instance, objective);
        }
        let mut is_proved = false;
        let mut accept = |solution: &Solution| {
            is_proved = against(instance, solution).is_none();
            is_proved
        };
        let solution = self.0.solve_for(instance, objective, &mut accept)?;
        // What was stopped early says so itself.
        if is_proved || solution.status != Status::Optimal {
            return Ok(solution);
        }
        match against(instance, &solution) {
            None => Ok(solution),
            Some(problem) => Err(InstanceError::Backend {
                backend: self.name(),
                problem: format!("a solution is refused when it is checked: {problem}"),
            }),
        }
    }

    fn solve_for(
        &self,
        instance: &Instance,
        objective: Objective,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, InstanceError> {
        self.0.solve_for(instance, objective, accept)
    }

    fn solve_near(
        &self,
        instance: &Instance,
        objective: Objective,
        level: f64,
    ) -> Result<Solution, InstanceError> {
        match is_plain(instance, objective) {
            true => self.0.solve_near(instance, objective, level),
            false => self.solve(instance, objective),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{
        Decimal, InstanceBuilder, NewUser, Owner, Quota, ResourceId, ServerClass, UserId,
    };

    /// A solver that mistakes who is held by what.
    struct Mistaken(Box<dyn Solver>);

    impl Solver for Mistaken {
        fn name(&self) -> &'static str {
            "mistaken"
        }

        fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
            let mut solution = self.0.solve(instance, objective)?;
            solution.limited_by.reverse();
            Ok(solution)
        }
    }

    #[test]
    fn a_wrong_solution_under_quotas_is_no_answer_and_a_right_one_is() {
        let cores = |cores: u32| vec![Decimal::from(cores)];
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        builder.class(ServerClass::new("a", 1, cores(8))).unwrap();
        for id in ["one", "other"] {
            builder.user(NewUser::new(id, &cores(1))).unwrap();
        }
        let limit = Quota { limit: vec![(ResourceId(0), Decimal::from(2))], ..Quota::default() };
        builder.quota(Owner::User(UserId(0)), limit).unwrap();
        let instance = builder.build().unwrap();
        let solver = || fairplan_solver::backend("auto").unwrap();
        assert!(Checked(solver()).solve(&instance, Objective::Drfh).is_ok());
        let wrong = Checked(Box::new(Mistaken(solver()))).solve(&instance, Objective::Drfh);
        assert!(
            matches!(wrong, Err(InstanceError::Backend { problem, .. }) if problem.contains("refused when it is checked"))
        );
    }
}
