//! What a result states of the users' shares and of the classes' use: each number must follow from the allocation.

use crate::claim::{Printed, SolutionClaim};
use crate::feasibility::capacity_units;
use crate::groups::{Bounds, divided_in, smallest, tree_of};
use crate::tolerance;
use crate::tolerance::COUNTED;
use crate::users::UserShares;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, LimitedBy, Objective, ResourceId, UserId};

/// The verdicts on stated numbers that follow from the allocation alone, all of them finite and >= 0. `loads` are
/// row-major `classes × resources`, in whole smallest units.
pub(crate) fn judge(
    instance: &Instance,
    claim: &SolutionClaim<'_>,
    stated: &Printed<'_>,
    proved: &[UserShares],
    floors: &[Bounds],
    loads: &[f64],
) -> [Verdict; 3] {
    [
        shares(instance, claim, stated, proved),
        levels(instance, claim, stated, proved, floors),
        utilization(instance, stated, loads),
    ]
}

/// `groups`: what groups have, how many tasks wait, and the smallest weighted share of the root's children that still want more.
fn levels(
    instance: &Instance,
    claim: &SolutionClaim<'_>,
    stated: &Printed<'_>,
    proved: &[UserShares],
    floors: &[Bounds],
) -> Verdict {
    let weighs = !matches!(claim.objective, Objective::BottleneckMaxFairness | Objective::DrfPerServer);
    let weighted = |i: usize| if weighs { proved[i].weighted } else { proved[i].share };
    let of_user = |i: usize| {
        let share = weighted(i) * instance.user(UserId(i)).weight().to_f64();
        (share, Some(claim.limited_by[i]))
    };
    let computed = instance.of_groups((0.0, None), of_user, |a, b| (a.0 + b.0, LimitedBy::hardest(a.1, b.1)));
    let mut worst = Worst::of("groups", tolerance::STATED);
    waiting(instance, claim, stated, &mut worst);
    for ((group, stated), (share, limited_by)) in instance.groups().iter().zip(stated.groups).zip(computed) {
        let (weight, id) = (group.weight.to_f64(), &group.id);
        let limited_by = limited_by.unwrap_or(LimitedBy::Tasks);
        worst.compare(stated.weight, weight, || format!("weight of group {id}"));
        worst.compare(stated.share, share, || format!("share of group {id}"));
        worst.compare(stated.level, share / weight, || format!("level of group {id}"));
        if stated.limited_by != limited_by {
            worst.fail(|| {
                let stated = stated.limited_by.name();
                format!("group {id} is limited by {}, not by {stated}", limited_by.name())
            });
        }
    }
    let wants_more = |i: usize| claim.limited_by[i] == LimitedBy::Capacity;
    let [_, level] =
        smallest(&divided_in(instance, &tree_of(instance, floors), |i| of_user(i).0, wants_more));
    worst.compare_if_any(stated.level, level, || "level of those that still want more".into());
    worst.verdict()
}

/// Whether as many tasks are said to wait as do, of all users and of each group; in parts of all tasks that those have.
fn waiting(instance: &Instance, claim: &SolutionClaim<'_>, stated: &Printed<'_>, worst: &mut Worst) {
    let of_user = |i: usize| {
        let user = instance.user(UserId(i));
        let all = user.tasks()? as f64;
        let has_all = claim.limited_by[i] == LimitedBy::Tasks;
        Some((all, if has_all { 0.0 } else { (all - claim.tasks.running(user)).max(0.0) }))
    };
    let add = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
        (Some(a), Some(b)) => Some((a.0 + b.0, a.1 + b.1)),
        (a, b) => a.or(b),
    };
    let mut compare = |who: &dyn Fn() -> String, stated: Option<f64>, computed: Option<(f64, f64)>| match (
        stated, computed,
    ) {
        (None, None) => {}
        (Some(stated), Some((all, waiting))) => {
            let part = (stated - waiting).abs() / all.max(1.0);
            worst.see(part, || format!("{stated} tasks of {} are said to wait, {waiting} do", who()));
        }
        (None, Some(_)) => worst.fail(|| format!("how many tasks of {} wait is not stated", who())),
        (Some(stated), None) => {
            worst.fail(|| {
                format!("{stated} tasks of {} are said to wait, and nobody has a number of tasks", who())
            });
        }
    };
    let all = (0..instance.user_count()).map(of_user).fold(None, add);
    compare(&|| "all users".into(), stated.unplaced, all);
    let of_groups = instance.of_groups(None, of_user, add);
    for ((group, stated), computed) in instance.groups().iter().zip(stated.groups).zip(of_groups) {
        compare(&|| format!("group {}", group.id), stated.waiting, computed);
    }
}

/// `shares`: tasks, dominant shares and dominant resources (of several equal ones the first).
fn shares(
    instance: &Instance,
    claim: &SolutionClaim<'_>,
    stated: &Printed<'_>,
    proved: &[UserShares],
) -> Verdict {
    let mut worst = Worst::of("shares", tolerance::STATED);
    for user in instance.users() {
        let i = user.index().0;
        let tasks = claim.tasks.running(user);
        worst.compare(stated.tasks[i], tasks, || format!("tasks of user {}", user.id()));
        worst.compare(stated.dominant_shares[i], proved[i].share, || {
            format!("dominant share of user {}", user.id())
        });
        let (dominant, resource) = (user.dominant_resource(), stated.dominant_resources[i]);
        if resource != dominant {
            worst.fail(|| {
                let [resource, dominant] = [resource, dominant].map(|r| &instance.resources()[r.0]);
                format!("{resource} is not the dominant resource of user {}, which is {dominant}", user.id())
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
    let mut see = |stated: f64, computed: f64, what: &dyn Fn() -> String| {
        if (stated - computed).abs() > COUNTED {
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
