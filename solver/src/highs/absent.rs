//! HiGHS where it was not built in: whatever is asked of it is refused in the same words.

use super::HighsAlgorithm;
use crate::level::{LevelProblem, LevelSolution, LevelSolver};
use crate::linear_program::{Outcome, Program, Settings};
use crate::smooth::{SumProblem, SumSolution, SumSolver};
use fairplan_instances::{Deadline, InstanceError};

/// The refusal.
fn refused() -> InstanceError {
    InstanceError::Unsupported(
        "this fairplan was built without HiGHS, which is needed here; build it with the cargo feature `highs` (`make build` looks \
         for HiGHS and says what it found), or install a package of it"
            .into(),
    )
}

pub(crate) fn solve(_: &Program, _: Settings, _: &Deadline) -> Result<Outcome, InstanceError> {
    Err(refused())
}

/// The backend, which has nothing behind it.
pub(crate) struct Highs(#[expect(dead_code, reason = "as with HiGHS")] pub HighsAlgorithm, pub Deadline);

impl LevelSolver for Highs {
    fn solve(&self, _: &LevelProblem<'_>, _: f64) -> Result<LevelSolution, InstanceError> {
        Err(refused())
    }

    fn deadline(&self) -> &Deadline {
        &self.1
    }
}

impl SumSolver for Highs {
    fn solve(&self, _: &SumProblem<'_>, _: f64) -> Result<SumSolution, InstanceError> {
        Err(refused())
    }

    fn deadline(&self) -> &Deadline {
        &self.1
    }
}

#[cfg(test)]
mod tests {
    use crate::backend;
    use fairplan_instances::Objective;
    use fairplan_instances::generate::drfh_fig1;

    #[test]
    fn the_backend_highs_says_that_it_is_missing_and_the_default_does_without() {
        let instance = drfh_fig1().unwrap();
        let refusal = backend("highs").unwrap().solve(&instance, Objective::Drfh).map(|_| ()).unwrap_err();
        assert!(refusal.to_string().contains("built without HiGHS"));
        for objective in [Objective::Drfh, Objective::Utilitarian] {
            assert!(backend("auto").unwrap().solve(&instance, objective).is_ok());
        }
    }
}
