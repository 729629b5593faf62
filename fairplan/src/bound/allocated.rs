//! How much of a resource any placement of whole tasks can take, from both sides.

use super::beside::{Beside, patterns_know_all_rules};
use super::in_time::{self, Bracketing, CHECKING, FIRST, NOT_PROVED, SEARCHING};
use crate::error::all_hold;
use crate::solve::hashed;
use crate::{Control, Error};
use fairplan_instances::wording::unknown;
use fairplan_instances::{AllocatedBracket, Deadline, Instance, InstanceError, Placement, ResourceId};
use fairplan_report::allocated_bound::{AllocatedBoundDocument, allocated_bound_document, allocated_claim};
use fairplan_report::placement::ServerResults;
use fairplan_solver::{allocated_bracket, allocated_by_prices, allocated_placement};
use fairplan_verify::{PlacementClaim, verify_allocated, verify_placement};

/// The most of a resource that whole tasks can take, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct AllocatedBound {
    /// The bracket.
    pub bracket: AllocatedBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl AllocatedBound {
    /// The `fairplan.allocated-bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> AllocatedBoundDocument<ServerResults<'a>> {
        allocated_bound_document(instance, &self.sha256, &self.bracket)
    }
}

/// How much of a resource any placement of whole tasks can take: tasks may be refused, and nobody has more than all its own.
///
/// By a deadline the bracket is as narrow as it got, and proved.
///
/// ```
/// use fairplan::{Control, bound_allocated, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bracket = bound_allocated(&instance, "memory", &Control::none())?.bracket;
/// assert!(bracket.lower(&instance) <= bracket.upper);
/// assert!(bracket.upper <= instance.total_units(bracket.resource));
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have.
pub fn bound_allocated(
    instance: &Instance,
    resource: &str,
    control: &Control<'_>,
) -> Result<AllocatedBound, Error> {
    let resource = resource_named(instance, resource)?;
    let (bracket, sha256) = hashed(instance, || allocated_bracketed(instance, resource, control))?;
    Ok(AllocatedBound { bracket, sha256 })
}

/// A placement of whole tasks that takes much of a resource: tasks may be refused, and nobody has more than all its own. How much more
/// could be taken, [`bound_allocated`] says, which takes longer.
///
/// ```
/// use fairplan::{Control, allocate_most, generate};
/// use fairplan::instances::ResourceId;
///
/// let instance = generate::drfh_fig1()?;
/// let placement = allocate_most(&instance, "memory", &Control::none())?;
/// assert!(placement.units_of(&instance, ResourceId(1)) > 0);
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have; kinds of tasks are refused: servers are filled with tasks, not with
/// pieces of which a task needs several.
pub fn allocate_most(instance: &Instance, resource: &str, control: &Control<'_>) -> Result<Placement, Error> {
    instance.without_kinds("filling servers for one resource")?;
    let resource = resource_named(instance, resource)?;
    let filled = allocated_placement(instance, resource, &control.deadline)?;
    let placement = match patterns_know_all_rules(instance) {
        true => filled,
        false => {
            let placements = Beside::new(instance, control).under_all_rules(&filled, control)?;
            taking_most(instance, resource, placements).unwrap_or(filled)
        }
    };
    let verdicts = verify_placement(instance, &PlacementClaim::from(&placement));
    all_hold("the placement breaks a rule", &verdicts).map(|()| placement)
}

/// The resource of this name.
pub(crate) fn resource_named(instance: &Instance, name: &str) -> Result<ResourceId, Error> {
    let position = instance.resources().iter().position(|resource| resource == name);
    position.map(ResourceId).ok_or_else(|| {
        let known = instance.resources().iter().map(String::as_str);
        Error::Setting(format!("objective = allocated={name}: {}", unknown("resource", name, known)))
    })
}

/// Brackets how much of a resource can be taken, and re-proves the bracket by code that shares nothing with the solver.
pub(crate) fn allocated_bracketed(
    instance: &Instance,
    resource: ResourceId,
    control: &Control<'_>,
) -> Result<AllocatedBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding what can be allocated");
        let mut bracket = allocated_bracket(instance, resource, &control.deadline.after_part(SEARCHING))?;
        let is_best = bracket.is_closed(instance);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        bracket.placement = taking_most(instance, resource, placements).unwrap_or(bracket.placement);
        Ok(bracket)
    };
    let join = |best: &AllocatedBracket, found: AllocatedBracket| {
        let is_lower = found.upper < best.upper;
        let placements = vec![best.placement.clone(), found.placement.clone()];
        let mut joined = if is_lower { found } else { best.clone() };
        joined.placement = taking_most(instance, resource, placements).unwrap_or(joined.placement);
        Ok((is_lower || joined.placement != best.placement).then_some(joined))
    };
    let check = |bracket: &AllocatedBracket, end: &Deadline| {
        control.stage(CHECKING);
        verify_allocated(instance, &allocated_claim(instance, bracket), end)
    };
    let by_prices = |bracket: &AllocatedBracket| {
        let other = allocated_by_prices(instance, resource, bracket.placement.clone(), &control.deadline)?;
        // What time cut short may say less than what was proved before.
        match control.deadline.is_over() {
            true => Err(InstanceError::OutOfTime.into()),
            false => Ok(other),
        }
    };
    let stands_in = Some(&by_prices as _);
    in_time::proved(control, &Bracketing { find: &find, join: &join, check: &check, stands_in, first: FIRST })
}

/// The same around a placement that is there, without a search: the bound is the one that prices of devices alone prove, or else those of
/// divided tasks, which takes a moment and is a little looser.
///
/// ```
/// use fairplan::{Control, PlaceOptions, bound_allocated_around, generate, place};
///
/// let instance = generate::drfh_fig1()?;
/// let placement = place(&instance, &PlaceOptions::default(), &Control::none())?.placement;
/// let bracket = bound_allocated_around(&instance, "memory", placement, &Control::none())?.bracket;
/// assert!(bracket.lower(&instance) <= bracket.upper);
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for a resource that the instance does not have; a placement that breaks a rule.
pub fn bound_allocated_around(
    instance: &Instance,
    resource: &str,
    placement: Placement,
    control: &Control<'_>,
) -> Result<AllocatedBound, Error> {
    let resource = resource_named(instance, resource)?;
    let bracket = || {
        let bracket = allocated_by_prices(instance, resource, placement, &control.deadline)?;
        let verdicts = verify_allocated(instance, &allocated_claim(instance, &bracket), &control.deadline);
        all_hold(NOT_PROVED, &verdicts).map(|()| bracket)
    };
    let (bracket, sha256) = hashed(instance, bracket)?;
    Ok(AllocatedBound { bracket, sha256 })
}

/// The first of those placements that take most of a resource.
fn taking_most(instance: &Instance, resource: ResourceId, placements: Vec<Placement>) -> Option<Placement> {
    let units = |placement: &Placement| placement.units_of(instance, resource);
    placements.into_iter().reduce(|best, next| if units(&next) > units(&best) { next } else { best })
}
