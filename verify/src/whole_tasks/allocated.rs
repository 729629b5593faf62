//! A bracket of how much of a resource whole tasks can take, re-proved in whole numbers: its placement counted, its bound from what
//! pieces are claimed to be worth and what one server can hold by a search of its own.

use super::between::{held_by_all, tasks_within_limits};
use super::units::greatest_common_divisor;
use super::{Worth, begin, check_counted, check_values, server_values_hold, who_can_have_tasks};
use crate::limited_tasks::Limited;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{AllocationProof, Deadline, Instance, Kind, Placement, ResourceId, User};
use num_bigint::BigUint;

/// A bracket of what can be allocated, as claimed.
#[derive(Clone, Debug)]
pub struct AllocatedClaim<'a> {
    /// The resource.
    pub resource: ResourceId,
    /// What excludes more.
    pub proof: &'a AllocationProof,
    /// Tasks on servers.
    pub placement: &'a Placement,
    /// What no placement takes more than, and what this one takes, as amounts.
    pub upper: f64,
    /// The same of the placement.
    pub lower: f64,
    /// Whether the two are said to be the same.
    pub proved_optimal: bool,
}

/// Re-proves a bracket from the instance alone: the properties of its placement, `lower-bound`, `upper-bound`, `server-values` and
/// `proved-optimal`. What there was no time for does not hold. Never panics on a claim.
pub fn verify_allocated(
    instance: &Instance,
    claim: &AllocatedClaim<'_>,
    deadline: &Deadline,
) -> Vec<Verdict> {
    let (mut verdicts, is_sound) = begin(instance, claim.placement, || check_form(instance, claim));
    if !is_sound {
        return verdicts;
    }
    let has_tasks = who_can_have_tasks(instance);
    let (lower, upper) = (taken(instance, claim), most(instance, claim, &has_tasks));
    let total = instance.total_units(claim.resource);
    for (name, stated, computed) in
        [("lower-bound", claim.lower, &lower), ("upper-bound", claim.upper, &upper)]
    {
        let mut verdict = Worst::of(name, tolerance::STATED);
        let units = u128::try_from(computed).unwrap_or(u128::MAX);
        let part = units as f64 / total.max(1) as f64;
        verdict.compare(stated, part * instance.total(claim.resource), || name.into());
        verdicts.push(verdict.verdict());
    }
    verdicts.push(server_values_hold(instance, worth(claim.proof), &has_tasks, deadline));
    let mut verdict = Worst::of("proved-optimal", 0.0);
    if claim.proved_optimal != (lower >= upper) {
        verdict.fail(|| format!("proved_optimal is {}, and the opposite is so", claim.proved_optimal));
    }
    verdicts.push(verdict.verdict());
    verdicts
}

fn worth(proof: &AllocationProof) -> Worth<'_> {
    Worth { tasks: &proof.task_values, servers: &proof.server_values, limits: &[] }
}

fn check_form(instance: &Instance, claim: &AllocatedClaim<'_>) -> Result<(), String> {
    check_counted(instance)?;
    check_values(instance, &[], worth(claim.proof))?;
    if claim.resource.0 >= instance.resources().len() {
        return Err(format!("there is no resource {} of {}", claim.resource.0, instance.resources().len()));
    }
    match claim.proof.values_in_all {
        0 => Err("values_in_all is 0".into()),
        _ => Ok(()),
    }
}

/// What the placement takes, in whole units.
fn taken(instance: &Instance, claim: &AllocatedClaim<'_>) -> BigUint {
    let of = |(user, tasks): (User<'_>, &u64)| BigUint::from(user.demand_units(claim.resource)) * *tasks;
    instance.users().zip(&claim.placement.tasks).map(of).sum()
}

/// What is not excluded, in whole units.
fn most(instance: &Instance, claim: &AllocatedClaim<'_>, has_tasks: &[bool]) -> BigUint {
    let (resource, proof) = (claim.resource, claim.proof);
    let total = BigUint::from(instance.total_units(resource));
    let in_all = BigUint::from(proof.values_in_all);
    let mut held = held_by_all(instance, worth(proof), has_tasks);
    let mut step = 0;
    let limited = Limited::of(instance);
    for user in instance.users().filter(|user| has_tasks[user.index().0]) {
        let taken = user.demand_units(resource);
        if taken == 0 {
            continue;
        }
        step = greatest_common_divisor(step, taken.saturating_mul(user.at_once().into()));
        // Rounded up.
        let own = (&in_all * taken + &total - 1u32) / &total;
        let of_kind = |kind: Kind<'_>| BigUint::from(proof.task_values[kind.index().0]) * kind.each();
        let room: BigUint = user.kinds().map(of_kind).sum();
        if own > room {
            held += (own - room) * tasks_within_limits(instance, &limited, user);
        }
    }
    let units = (&total * held / &in_all).min(total);
    &units - &units % BigUint::from(step.max(1))
}
