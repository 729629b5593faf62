//! The sum of logarithms that whole tasks can reach, from both sides.

use super::beside::Beside;
use super::divided::{BoundOptions, Counted, DIVISIBLE, divided};
use super::in_time::{self, Bracketing, CHECKING, FIRST, SEARCHING};
use crate::solve::hashed;
use crate::{Control, Error};
use fairplan_instances::{Deadline, Instance, Objective, ProportionalBracket};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::placement::ServerResults;
use fairplan_report::proportional_bound::{ProportionalBoundDocument, proportional_bound_document};
use fairplan_solver::{proportional_bracket, proportional_joined, proportional_with_best_of};
use fairplan_verify::{ProportionalClaim, is_best_sum, verify_proportional};
use std::time::Duration;

/// The sum `Σ w ln(dominant share)` of whole tasks, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct ProportionalBound {
    /// The bound of divisible tasks, where it can be compared (everybody can have a task) and was proved in time.
    pub divisible: Option<DivisibleBound>,
    /// The bracket of whole ones.
    pub bracket: ProportionalBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl ProportionalBound {
    /// The `fairplan.proportional-bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> ProportionalBoundDocument<ServerResults<'a>> {
        proportional_bound_document(instance, &self.sha256, self.divisible.as_ref(), &self.bracket)
    }
}

/// The same for proportional fairness: the sum `Σ w ln(dominant share)` of users who stand side by side.
///
/// ```
/// use fairplan::{BoundOptions, Control, bound_proportional, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bound = bound_proportional(&instance, &BoundOptions::default(), &Control::none())?;
/// assert_eq!(bound.bracket.placement.tasks, [10, 10]);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn bound_proportional(
    instance: &Instance,
    options: &BoundOptions,
    control: &Control<'_>,
) -> Result<ProportionalBound, Error> {
    instance.without_groups("bound --objective pf")?;
    let before = control.until(control.deadline.after_part(1.0 - DIVISIBLE));
    let bracketed = || match proportionally_bracketed(instance, &before, FIRST) {
        // Without it nothing else is of use: it has all the time that is left.
        Err(Error::TimeLimit { .. }) if !control.deadline.is_over() => {
            proportionally_bracketed(instance, control, Duration::MAX)
        }
        bracketed => bracketed,
    };
    let (bracket, sha256) = hashed(instance, bracketed)?;
    let objective = Objective::ProportionalFairness;
    let all = Counted::all(instance, objective);
    let find = || divided(instance, all, objective, &options.backend, control);
    let divisible = match bracket.without_tasks.is_empty().then(find).transpose() {
        // The bracket stands without it.
        Err(Error::TimeLimit { .. }) => {
            control.note("time was over: the bound of divisible tasks is left out");
            None
        }
        found => found?.map(|divided| divided.bound),
    };
    Ok(ProportionalBound { divisible, bracket, sha256 })
}

/// Brackets the sum of logarithms, and re-proves the bracket by code that shares nothing with the solver.
fn proportionally_bracketed(
    instance: &Instance,
    control: &Control<'_>,
    first: Duration,
) -> Result<ProportionalBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding whole tasks");
        let bracket = proportional_bracket(instance, &control.deadline.after_part(SEARCHING))?;
        let is_best = is_best_sum(instance, &bracket);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        Ok(proportional_with_best_of(instance, bracket, placements)?)
    };
    let join = |best: &ProportionalBracket, found: ProportionalBracket| {
        Ok(proportional_joined(instance, best, found)?)
    };
    let check = |bracket: &ProportionalBracket, end: &Deadline| {
        control.stage(CHECKING);
        let proved_optimal = Some(is_best_sum(instance, bracket));
        verify_proportional(instance, &ProportionalClaim { bracket, proved_optimal }, end)
    };
    in_time::proved(control, &Bracketing { find: &find, join: &join, check: &check, stands_in: None, first })
}
