//! What plans of whole tasks ask beside those of divided ones: gangs, domains, and a placement of all tasks that the checker counts.

use super::target::Asked;
use crate::compare::is_soon_bounded;
use crate::error::all_hold;
use crate::tolerance::WHOLE;
use crate::{Control, Error, Progress};
use fairplan_heuristics::{PlacementError, policy};
use fairplan_instances::wording::printable;
use fairplan_instances::{Catalog, Deadline, Instance, InstanceError, Placement, Purchase, User};
use fairplan_solver::{ServingOrder, whole_task_bracket};
use fairplan_verify::{PlacementClaim, verify_placement};

/// Asks for whole tasks and whole gangs, as many as run of all that a user has.
pub(super) fn in_whole_tasks(asked: &mut Asked, control: &Control<'_>) {
    for (user, work) in asked.extended.users().zip(&mut asked.required) {
        let (wanted, whole) = ((*work * (1.0 - WHOLE)).ceil(), rounded_up(user, *work));
        if let (Some(gang), true) = (user.gang(), whole < wanted) {
            let note = format!(
                "User {} runs whole gangs of {}: {whole} of its {wanted} tasks are asked for, the others cannot run.",
                printable(user.id(), 60),
                gang.tasks
            );
            (control.progress)(Progress::Note(&note));
        }
        *work = whole;
    }
}

/// So much work in whole tasks and whole gangs, as many as run of all that the user has.
pub(super) fn rounded_up(user: User<'_>, work: f64) -> f64 {
    // What is a whole number but for rounding is one.
    let work = (work * (1.0 - WHOLE)).ceil();
    let Some(gang) = user.gang() else { return work };
    let size = gang.tasks as f64;
    let most = user.tasks().map_or(f64::INFINITY, |tasks| (tasks / gang.tasks * gang.tasks) as f64);
    ((work / size).ceil() * size).min(most)
}

/// The cluster with what is bought for divided tasks. Where the domain of a bought server is not known, it has no domains.
pub(super) fn bought(
    cluster: &Instance,
    catalog: &Catalog,
    purchase: &Purchase,
    control: &Control<'_>,
) -> Result<Instance, Error> {
    let mut draft = catalog.added_to(cluster, &purchase.counts, false);
    let unknown = draft.classes.iter().find(|class| class.domain.is_none());
    if let Some(class) = unknown.filter(|_| !cluster.domains().is_empty()) {
        let note = format!(
            "Server type {} is like no class, so that its domain is not known: the bought cluster is without domains, spread, and gangs in \
             one domain.",
            printable(&class.id, 60)
        );
        (control.progress)(Progress::Note(&note));
        draft.classes.iter_mut().for_each(|class| class.domain = None);
        for user in &mut draft.users {
            user.spread = None;
            user.gang = user.gang.filter(|gang| !gang.in_one_domain);
        }
    }
    Ok(draft.build()?)
}

/// The first placement that has all tasks: by two policies, or by one and then by patterns where that takes seconds.
pub(super) fn place(
    variant: &Instance,
    order: ServingOrder,
    required: &[f64],
    deadline: &Deadline,
) -> Result<Placement, InstanceError> {
    let needed: u64 = required.iter().map(|tasks| *tasks as u64).sum();
    let has_all = |placement: &Placement| placement.tasks.iter().sum::<u64>() >= needed;
    let failed = |error: PlacementError| match error {
        PlacementError::OutOfTime { .. } => InstanceError::OutOfTime,
        _ => InstanceError::Unsupported(error.to_string()),
    };
    let mut last = None;
    let (policies, patterns) = match order {
        ServingOrder::LargestFirst => (&["best-fit", "first-fit"][..], false),
        // Patterns know what is inside servers, and not between them.
        ServingOrder::Evenly => {
            (&["best-fit"][..], is_soon_bounded(variant) && !variant.has_rules_between_servers())
        }
    };
    for name in policies {
        let policy = policy(name, 0).map_err(|error| InstanceError::Unsupported(error.to_string()))?;
        let placement = policy.place_within(variant, deadline).map_err(failed)?;
        if has_all(&placement) {
            return Ok(placement);
        }
        last = Some(placement);
    }
    match last {
        Some(placement) if !patterns => Ok(placement),
        _ => Ok(whole_task_bracket(variant, deadline)?.placement),
    }
}

/// An error unless the checker counts all required tasks on the servers.
pub(super) fn placed(cluster: &Instance, placement: &Placement, required: &[f64]) -> Result<(), Error> {
    let verdicts = verify_placement(cluster, &PlacementClaim::from(placement));
    all_hold("the plan's placement fails its check", &verdicts)?;
    let short = placement.tasks.iter().zip(required).position(|(tasks, work)| (*tasks as f64) < *work);
    short.map_or(Ok(()), |user| {
        Err(Error::uncertified(format!("the plan's placement leaves tasks of users[{user}] out")))
    })
}
