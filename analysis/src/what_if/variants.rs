//! Other instances than the one asked about: built as far as they can be, and solved.

use crate::tolerance::NOTICED;
use fairplan_instances::{
    Draft, Instance, InstanceError, Level, Objective, Solution, Solver, Status, Violation,
};

/// The DRFH of a variant, every level of which must be proved to what is noticed here.
pub(super) fn solved(solver: &dyn Solver, variant: &Instance) -> Result<Solution, InstanceError> {
    proved(solver, solver.solve(variant, Objective::Drfh)?)
}

/// The same where the first level is thought to be near this one.
pub(super) fn solved_near(
    solver: &dyn Solver,
    variant: &Instance,
    level: f64,
) -> Result<Solution, InstanceError> {
    proved(solver, solver.solve_near(variant, Objective::Drfh, level)?)
}

fn proved(solver: &dyn Solver, solution: Solution) -> Result<Solution, InstanceError> {
    let is_near = |level: &Level| level.bound <= level.value * (1.0 + 0.1 * NOTICED);
    if solution.status == Status::Optimal || solution.certificate.levels().iter().all(is_near) {
        return Ok(solution);
    }
    let problem = "the solution of a variant is not proved optimal".into();
    Err(InstanceError::Backend { backend: solver.name(), problem })
}

/// Leaves only the users of a draft who need nothing that no server has, and says which these are; none where servers have nothing.
pub(super) fn keep_who_has_a_chance(draft: &mut Draft) -> Vec<usize> {
    let is_there =
        |r: usize| draft.classes.iter().any(|class| class.count > 0 && !class.capacity[r].is_zero());
    let there: Vec<bool> = (0..draft.resources.len()).map(is_there).collect();
    let has_a_chance = |i: &usize| {
        draft.users[*i].demand.iter().zip(&there).all(|(demand, there)| *there || demand.is_zero())
    };
    let kept: Vec<usize> = match there.contains(&true) {
        true => (0..draft.users.len()).filter(has_a_chance).collect(),
        false => Vec::new(),
    };
    draft.users = kept.iter().map(|i| draft.users[*i].clone()).collect();
    kept
}

/// The instance of a draft; where its reserves are more than its servers have, without reserves, and why not.
pub(super) fn built_as_far_as_reserved(mut draft: Draft) -> Result<(Instance, Option<String>), Violation> {
    draft.fit_quotas();
    match draft.build() {
        Err(violation) if violation.place.contains(".reserve") => {
            for stated in &mut draft.quotas {
                stated.quota.reserve.clear();
                stated.quota.reserves.clear();
            }
            Ok((draft.build()?, Some(violation.to_string())))
        }
        other => other.map(|instance| (instance, None)),
    }
}

/// Two reasons as one.
pub(super) fn both(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}
