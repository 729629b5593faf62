//! What would be if the cluster or its users were others, asked of a solver: what a server is worth, what a failure costs,
//! what made the difference, how long the cluster lasts as demands grow.

mod differences;
mod failure;
mod group_change;
mod growth;
mod guaranteed;
mod loss;
mod part_change;
mod purchases;
mod quota_changes;
mod standing;
mod worth;

pub use differences::{Difference, DifferenceSide, Step, UserChange, differences};
pub use failure::Failure;
pub use group_change::GroupChange;
pub use growth::{Followed, Growth, GrowthQuantum, Shortfall, growth};
pub use guaranteed::ShortGuarantee;
pub use loss::{Loser, Loss, Losses, LostServers, losses};
pub use part_change::PartChange;
pub use purchases::{
    BoughtBy, BoughtServers, Costs, CostsOfQuantum, CostsOfServers, CostsOverTime, CostsReserved,
    purchases_table, reservations_table,
};
pub use worth::{GainingUser, ResourceWorth, ServerWorth, Worth, worth_of_servers};

use crate::tolerance::NOTICED;
use fairplan_instances::{
    Draft, Instance, Level, Objective, Solution, Solver, SolverError, Status, UserId, Violation,
};

/// The DRFH of a variant, every level of which must be proved to what is noticed here.
fn solved(solver: &dyn Solver, variant: &Instance) -> Result<Solution, SolverError> {
    proved(solver, solver.solve(variant, Objective::Drfh)?)
}

/// The same where the first level is thought to be near this one.
fn solved_near(solver: &dyn Solver, variant: &Instance, level: f64) -> Result<Solution, SolverError> {
    proved(solver, solver.solve_near(variant, Objective::Drfh, level)?)
}

fn proved(solver: &dyn Solver, solution: Solution) -> Result<Solution, SolverError> {
    let is_near = |level: &Level| level.bound <= level.value * (1.0 + 0.1 * NOTICED);
    if solution.status == Status::Optimal || solution.certificate.levels().iter().all(is_near) {
        return Ok(solution);
    }
    let problem = "the solution of a variant is not proved optimal".into();
    Err(SolverError::Backend { backend: solver.name(), problem })
}

/// The instance of a draft; where its reserves are more than its servers have, without reserves, and why not.
fn built_as_far_as_reserved(mut draft: Draft) -> Result<(Instance, Option<String>), Violation> {
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
fn both(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

/// The work of every user, in tasks of rate 1.
fn works(instance: &Instance, solution: &Solution) -> Vec<f64> {
    let work =
        |user: UserId| solution.allocation.dominant_share(instance, user) / instance.user(user).task_share();
    (0..instance.user_count()).map(|i| work(UserId(i))).collect()
}

/// By which part of itself an amount changed, where it is in both and was any.
fn part_changed(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    let (before, after) = before.zip(after)?;
    (before > 0.0).then(|| after / before - 1.0)
}

/// By which part a user's work changes: 1 if it had none.
fn change(before: f64, after: f64) -> f64 {
    match before > 0.0 {
        true => after / before - 1.0,
        false if after > 0.0 => 1.0,
        false => 0.0,
    }
}
