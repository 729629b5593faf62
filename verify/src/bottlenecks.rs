//! Allocations that are defined by what holds each user: the definition itself, checked user by user.
//!
//! *Bottleneck max fairness* (MRF Sec. 2.4), all servers as one: every user has the largest weighted share of some
//! resource that is used up. *DRF inside each server* (DRFH Sec. III-D): in every server that it can use, every user has
//! the largest weighted dominant share, of that server, among those that need some resource that is used up there; that
//! is what max-min fairness inside a server comes to. A server has whole tasks of a user, with all their kinds.

use crate::claim::SolutionClaim;
use crate::feasibility::capacity_units;
use crate::max_min;
use crate::proof::SolutionProof;
use crate::rounding::{at_least_nothing, largest as largest_of};
use crate::tolerance;
use crate::users::{Subject, UsableClasses};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, LimitedBy, Objective, ResourceId, User};

/// Proves a claim that is feasible, whose classes (or pool) have these `loads` in whole smallest units. The value, the
/// smallest dominant share, is not the largest of anything: it is its own bound.
pub(crate) fn prove(
    Subject { instance, usable_classes, shares }: Subject<'_>,
    claim: &SolutionClaim<'_>,
    loads: &[f64],
) -> SolutionProof {
    let value = shares.iter().map(|user| user.share).fold(f64::INFINITY, f64::min);
    let mut verdicts = vec![reasons(instance, usable_classes, claim)];
    match claim.objective {
        Objective::BottleneckMaxFairness => verdicts.push(pool(instance, claim, loads)),
        _ => {
            verdicts.extend(instance.has_kinds().then(|| whole_tasks(instance, claim)));
            verdicts.push(servers(instance, usable_classes, claim, loads));
        }
    }
    if let Some(stated) = &claim.printed {
        verdicts.push(max_min::value(stated, value, value, 0.0));
    }
    SolutionProof::of(value, verdicts)
}

/// `limited-by`: capacity, for all that have a class they can use.
fn reasons(instance: &Instance, usable_classes: &UsableClasses, claim: &SolutionClaim<'_>) -> Verdict {
    let mut worst = Worst::of("limited-by", tolerance::STATED);
    for user in instance.users() {
        let i = user.index().0;
        let has_class = match claim.objective {
            Objective::DrfPerServer => usable_classes.of_whole_tasks(i).next().is_some(),
            _ => usable_classes.can_run(i),
        };
        let expected = if has_class { LimitedBy::Capacity } else { LimitedBy::NoUsableClass };
        if claim.limited_by[i] != expected {
            let stated = claim.limited_by[i].name();
            worst.fail(|| format!("user {} is limited by {}, not by {stated}", user.id(), expected.name()));
        }
    }
    worst.verdict()
}

/// `whole-tasks`: on every class there is as much of each kind of a user as of the others.
fn whole_tasks(instance: &Instance, claim: &SolutionClaim<'_>) -> Verdict {
    let mut worst = Worst::of("whole-tasks", tolerance::STATED);
    let of_kind = |user: User<'_>, kind: usize| {
        let mut tasks = vec![0.0; instance.classes().len()];
        claim.tasks.visit(user.index().0, kind, |class, here| tasks[class] = here);
        tasks
    };
    for user in instance.users() {
        let mut kinds = user.kind_range().map(|kind| of_kind(user, kind));
        let first = kinds.next().unwrap_or_default();
        for (class, (one, other)) in kinds.flat_map(|of| first.iter().zip(of).enumerate().collect::<Vec<_>>())
        {
            worst.compare(*one, other, || {
                let class = &instance.classes()[class].id;
                format!("user {} has pieces on class {class} that make no whole tasks", user.id())
            });
        }
    }
    worst.verdict()
}

/// What is left of a resource, in parts of it.
fn left(load: f64, capacity: u128) -> f64 {
    if capacity == 0 { 0.0 } else { at_least_nothing(1.0 - load / capacity as f64) }
}

/// What a user with `tasks` could gain of what is `left` of a resource of which a task takes this part, in parts of what it
/// has. What sums of doubles cannot tell from nothing is nothing.
fn gain(left: f64, part: f64, tasks: f64) -> f64 {
    if left <= tolerance::ROUNDINGS { 0.0 } else { left / (part * tasks) }
}

/// `bottlenecks` of a pool. A user misses the definition by how far its weighted share of a resource is below the
/// largest, and by what it could gain of what is left of it, in parts of what it has, whichever is more in parts of what is
/// accepted, at the resource where that is least.
fn pool(instance: &Instance, claim: &SolutionClaim<'_>, loads: &[f64]) -> Verdict {
    let m = instance.resources().len();
    let tasks = |user: User<'_>| claim.tasks.running(user);
    // In smallest units of the resource: only shares of one resource are compared.
    let share = |user: User<'_>, r: usize| {
        tasks(user) * user.demand_units(ResourceId(r)) as f64 / user.weight().to_f64()
    };
    let largest: Vec<f64> =
        (0..m).map(|r| instance.users().map(|user| share(user, r)).fold(0.0, f64::max)).collect();
    let left: Vec<f64> = (0..m).map(|r| left(loads[r], instance.total_units(ResourceId(r)))).collect();
    let mut worst = Worst::of("bottlenecks", 1.0);
    for user in instance.users() {
        let missed = |r: usize| {
            let total = instance.total_units(ResourceId(r)) as f64;
            let gain = gain(left[r], user.demand_units(ResourceId(r)) as f64 / total, tasks(user));
            missed(below(share(user, r), largest[r]).max(left[r]), gain)
        };
        let needed = (0..m).filter(|&r| !user.demand()[r].is_zero());
        let least = needed.map(missed).fold(f64::INFINITY, f64::min);
        worst.see(least, || {
            format!(
                "nothing holds user {}: it misses every bottleneck by {least:e} times too much",
                user.id()
            )
        });
    }
    worst.verdict()
}

/// `bottlenecks` of every server. A user misses the definition by how far its weighted dominant share is below the
/// largest, and by what it could gain from what is left, in parts of what it has there, whichever is more in parts of what
/// is accepted, at the resource where that is least.
fn servers(
    instance: &Instance,
    usable_classes: &UsableClasses,
    claim: &SolutionClaim<'_>,
    loads: &[f64],
) -> Verdict {
    let (n, m, classes) = (instance.user_count(), instance.resources().len(), instance.classes().len());
    let mut tasks = vec![0.0; classes];
    // For each class and resource the largest weighted dominant share of the class among those that need it.
    let mut largest = vec![0.0f64; classes * m];
    let mut worst = Worst::of("bottlenecks", 1.0);
    let mut visit = |i: usize, see: &mut dyn FnMut(User<'_>, usize, f64, f64)| {
        let user = instance.user(fairplan_instances::UserId(i));
        tasks.fill(0.0);
        claim.tasks.visit(i, user.kind_range().start, |class, here| tasks[class] = here);
        for class in usable_classes.of_whole_tasks(i) {
            let per_task = (0..m)
                .map(|r| (user.demand_units(ResourceId(r)), capacity_units(instance, class, r)))
                .filter(|(demand, _)| *demand > 0)
                .map(|(demand, capacity)| demand as f64 / capacity as f64)
                .fold(0.0, f64::max);
            see(user, class, tasks[class] * per_task / user.weight().to_f64(), tasks[class]);
        }
    };
    for i in 0..n {
        visit(i, &mut |user, class, share, _| {
            for r in (0..m).filter(|&r| !user.demand()[r].is_zero()) {
                largest[class * m + r] = largest[class * m + r].max(share);
            }
        });
    }
    for i in 0..n {
        visit(i, &mut |user, class, share, here| {
            let missed = |r: usize| {
                let capacity = capacity_units(instance, class, r);
                let part = user.demand_units(ResourceId(r)) as f64 / capacity as f64;
                let gain = gain(left(loads[class * m + r], capacity), part, here);
                missed(below(share, largest[class * m + r]), gain)
            };
            let needed = (0..m).filter(|&r| !user.demand()[r].is_zero());
            let least = needed.map(missed).fold(f64::INFINITY, f64::min);
            worst.see(least, || {
                let class = &instance.classes()[class].id;
                format!(
                    "nothing holds user {} on the servers of class {class}: {least:e} times too much",
                    user.id()
                )
            });
        });
    }
    worst.verdict()
}

/// How much a user misses a bottleneck, in parts of what is accepted, that is `below` the largest share there and could gain
/// so much; infinite where either is no number.
fn missed(below: f64, gain: f64) -> f64 {
    largest_of([below / tolerance::STATED, gain / tolerance::UNUSED].into_iter())
}

/// By which part of `largest` the share is below it.
fn below(share: f64, largest: f64) -> f64 {
    if share >= largest { 0.0 } else { 1.0 - share / largest }
}
