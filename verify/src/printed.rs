//! What a result states beside its allocation and levels: each number must follow from them.

use crate::claim::{Printed, SolutionClaim};
use crate::feasibility::capacity_units;
use crate::tolerance;
use crate::users::Shares;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, LimitedBy, ResourceId, compare_ratios};

/// What the stated numbers are held against.
pub(crate) struct Proved<'a> {
    pub primal: f64,
    pub dual: f64,
    pub relative_gap: f64,
    pub shares: &'a Shares,
    /// Row-major `classes × resources`, in whole smallest units.
    pub loads: &'a [f64],
}

/// The verdicts on stated numbers, all of them finite and >= 0.
pub(crate) fn judge(
    instance: &Instance,
    claim: &SolutionClaim<'_>,
    stated: &Printed<'_>,
    proved: &Proved<'_>,
) -> [Verdict; 4] {
    let mut value = Worst::of("value", tolerance::ROUNDING);
    value.compare(stated.value, proved.primal, || "value".into());
    value.compare(stated.primal, proved.primal, || "primal".into());
    value.compare(stated.dual, proved.dual, || "dual".into());
    value.see((stated.relative_gap - proved.relative_gap).abs(), || {
        format!("relative gap: {} is stated, {} is computed", stated.relative_gap, proved.relative_gap)
    });
    [
        value.verdict(),
        shares(instance, claim, stated, proved.shares),
        utilization(instance, stated, proved.loads),
        prices(instance, claim, stated, proved),
    ]
}

/// `shares`: tasks, dominant shares and dominant resources (which may be any of several equal ones).
fn shares(instance: &Instance, claim: &SolutionClaim<'_>, stated: &Printed<'_>, proved: &Shares) -> Verdict {
    let mut worst = Worst::of("shares", tolerance::STATED);
    for user in instance.users() {
        let i = user.index().0;
        let mut tasks = 0.0;
        claim.tasks.visit(i, |_, here| tasks += here);
        worst.compare(stated.tasks[i], tasks, || format!("tasks of user {}", user.id()));
        worst.compare(stated.dominant_shares[i], proved.share[i], || {
            format!("dominant share of user {}", user.id())
        });
        let share = |r: ResourceId| (user.demand_units(r), instance.total_units(r));
        let (dominant, resource) = (share(user.dominant_resource()), stated.dominant_resources[i]);
        if user.demand()[resource.0].is_zero() || compare_ratios(share(resource), dominant).is_ne() {
            worst.fail(|| {
                format!(
                    "{} is not the dominant resource of user {}",
                    instance.resources()[resource.0],
                    user.id()
                )
            });
        }
    }
    worst.verdict()
}

/// `utilization`: used parts of each class and of the whole cluster.
fn utilization(instance: &Instance, stated: &Printed<'_>, loads: &[f64]) -> Verdict {
    let m = instance.resources().len();
    let used = |load: f64, capacity: u128| if capacity == 0 { 0.0 } else { load / capacity as f64 };
    let mut worst = Worst::of("utilization", tolerance::STATED);
    // A part of the whole capacity: the rounding of 1e-30 tasks means nothing.
    let mut see = |stated: f64, computed: f64, what: &dyn Fn() -> String| {
        if (stated - computed).abs() > f64::EPSILON {
            worst.compare(stated, computed, what);
        }
    };
    for (position, (stated, load)) in stated.class_utilization.iter().zip(loads).enumerate() {
        let (class, r) = (position / m, position % m);
        see(*stated, used(*load, capacity_units(instance, class, r)), &|| {
            format!("{} of class {}", instance.resources()[r], instance.classes()[class].id)
        });
    }
    for (r, stated) in stated.utilization.iter().enumerate() {
        let load = loads.iter().skip(r).step_by(m).sum();
        see(*stated, used(load, instance.total_units(ResourceId(r))), &|| {
            format!("{} of the cluster", instance.resources()[r])
        });
    }
    worst.verdict()
}

/// `prices`: those of the first level when it is the value; else 0, since no capacity raises the value. Where a user
/// with all its tasks is just at the first level, either may be stated.
fn prices(
    instance: &Instance,
    claim: &SolutionClaim<'_>,
    stated: &Printed<'_>,
    proved: &Proved<'_>,
) -> Verdict {
    let m = instance.resources().len();
    let first = claim.levels.first();
    let lowest_held = (proved.shares.weighted.iter().zip(claim.limited_by))
        .filter(|(_, reason)| **reason != LimitedBy::Capacity)
        .fold(f64::INFINITY, |lowest, (share, _)| share.min(lowest));
    let level = first.map_or(f64::INFINITY, |level| level.value);
    let may_be_zero = lowest_held <= level * (1.0 + tolerance::STATED);
    let may_be_first = lowest_held >= level * (1.0 - tolerance::STATED);
    let mut worst = Worst::of("prices", tolerance::STATED);
    if may_be_zero && stated.prices.iter().all(|price| *price == 0.0) {
        return worst.verdict();
    }
    for (position, stated) in stated.prices.iter().enumerate() {
        let price = first.filter(|_| may_be_first).map_or(0.0, |level| level.prices[position]);
        worst.compare(*stated, price, || {
            let (class, r) = (&instance.classes()[position / m].id, &instance.resources()[position % m]);
            format!("price of {r} in class {class}")
        });
    }
    worst.verdict()
}
