//! What rules between servers leave: the most tasks that a user has alone, and what the servers of a domain hold in whole gangs.

use super::alone::{copies, tasks_of};
use super::{Worth, fits, kinds};
use crate::limited_tasks::Limited;
use fairplan_instances::{ClassId, GANG_SUMS, Instance, Kind, User};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// The most tasks of a user where nothing else runs: in whole gangs, within domains where these are, no further apart than they are spread,
/// and at most all that it has.
pub(super) fn tasks_under_rules(instance: &Instance, user: User<'_>) -> u64 {
    let alone = tasks_of(instance, user);
    let all = match (user.gang(), user.spread()) {
        (None, None) => return alone,
        (Some(gang), _) if gang.in_one_domain => {
            gangs_in_domains(instance, user).into_iter().sum::<u128>().saturating_mul(gang.tasks.into())
        }
        _ => {
            let tasks = |kind: Kind<'_>| -> u128 {
                let pieces = pieces_in_domains(instance, kind, 1);
                pieces.into_iter().fold(0, u128::saturating_add) / u128::from(kind.each())
            };
            user.kinds().map(tasks).min().unwrap_or(0)
        }
    };
    let most = u64::try_from(all).unwrap_or(u64::MAX).min(alone);
    most - most % user.at_once()
}

/// The same, and at most what limits let the user have.
pub(super) fn tasks_within_limits(instance: &Instance, limited: &Limited, user: User<'_>) -> u64 {
    let by_limits = limited.most[user.index().0].unwrap_or(u64::MAX);
    tasks_under_rules(instance, user).min(by_limits - by_limits % user.at_once())
}

/// The domain of a class; where there are none all are in one.
fn domain_of(instance: &Instance, class: ClassId) -> usize {
    instance.domain_of(class).map_or(0, |domain| domain.0)
}

/// The pieces of a kind that each domain holds, if it holds nothing else, as far as they are spread; so many run at once.
fn pieces_in_domains(instance: &Instance, kind: Kind<'_>, at_once: u128) -> Vec<u128> {
    let mut held = vec![0u128; instance.domains().len().max(1)];
    let classes = (0..instance.classes().len()).map(ClassId);
    for class in classes.filter(|class| fits(instance, kind, *class)) {
        let here = &mut held[domain_of(instance, class)];
        let count = u128::from(instance.classes()[class.0].count);
        *here = here.saturating_add(copies(instance, kind, class).saturating_mul(count));
    }
    if let Some(most) = kind.user().spread() {
        let whole = kind.domains().into_iter().map(|domain| held[domain.0] / at_once * at_once);
        let most = whole.min().unwrap_or(0).saturating_add(most.into());
        held.iter_mut().for_each(|held| *held = most.min(*held));
    }
    held
}

/// The gangs of a user that each domain holds, if it holds nothing else.
fn gangs_in_domains(instance: &Instance, user: User<'_>) -> Vec<u128> {
    let mut gangs = vec![u128::from(u64::MAX); instance.domains().len().max(1)];
    for kind in user.kinds() {
        let pieces = u128::from(user.at_once()) * u128::from(kind.each());
        let of_kind = pieces_in_domains(instance, kind, pieces);
        gangs.iter_mut().zip(of_kind).for_each(|(gangs, held)| *gangs = (*gangs).min(held / pieces));
    }
    gangs
}

/// What all servers hold at most of what is worth so much, a server of each class holding no more than is claimed; and what limits are
/// worth, where they are counted. Pieces of a gang are not worth the same everywhere then, and whole gangs are not counted.
pub(super) fn held_by_all(instance: &Instance, worth: Worth<'_>, has_tasks: &[bool]) -> BigUint {
    let Worth { tasks: task_values, servers: server_values, limits } = worth;
    let is_within = |user: User<'_>| user.gang().is_some_and(|gang| gang.in_one_domain);
    let users = || instance.users().filter(|user| has_tasks[user.index().0]);
    let of_class = |class: ClassId| BigUint::from(instance.classes()[class.0].count) * server_values[class.0];
    if !instance.has_rules_between_servers() || !users().any(is_within) || !limits.is_empty() {
        let of_limits: BigUint = limits.iter().copied().map(BigUint::from).sum();
        return (0..server_values.len()).map(ClassId).map(of_class).sum::<BigUint>() + of_limits;
    }
    let single: BTreeSet<u64> = kinds(instance)
        .filter(|kind| has_tasks[kind.user().index().0] && !is_within(kind.user()))
        .map(|kind| task_values[kind.index().0])
        .filter(|worth| *worth > 0)
        .collect();
    let domains = instance.domains().len().max(1);
    // In each domain how often each worth can be there.
    let mut worths: Vec<BTreeMap<u128, u128>> = vec![BTreeMap::new(); domains];
    for user in users().filter(|user| is_within(*user)) {
        let of_kind = |kind: Kind<'_>| u128::from(task_values[kind.index().0]) * u128::from(kind.each());
        let worth = user.kinds().map(of_kind).fold(0, u128::saturating_add);
        let worth = worth.saturating_mul(user.at_once().into());
        if worth == 0 {
            continue;
        }
        for (worths, gangs) in worths.iter_mut().zip(gangs_in_domains(instance, user)) {
            let sum = worths.entry(worth).or_default();
            *sum = sum.saturating_add(gangs);
        }
    }
    let mut held = vec![BigUint::from(0u8); domains];
    for class in (0..server_values.len()).map(ClassId) {
        held[domain_of(instance, class)] += of_class(class);
    }
    let whole = |(held, mut worths): (BigUint, BTreeMap<u128, u128>)| {
        let Ok(room) = u128::try_from(&held) else { return held };
        worths.extend(single.iter().map(|worth| (u128::from(*worth), u128::MAX)));
        worths.iter_mut().for_each(|(worth, most)| *most = (*most).min(room / worth));
        let ways = worths.values().fold(1u128, |ways, most| ways.saturating_mul(most.saturating_add(1)));
        if ways > GANG_SUMS { held } else { largest_sum(&worths, room).into() }
    };
    held.into_iter().zip(worths).map(whole).sum()
}

/// The largest sum within `room` that each worth, at most so often, makes with the others: all sums, worth by worth.
fn largest_sum(worths: &BTreeMap<u128, u128>, room: u128) -> u128 {
    let mut sums = BTreeSet::from([0u128]);
    for (worth, most) in worths {
        let with = |sum: &u128| {
            let (sum, most) = (*sum, (*most).min((room - *sum) / worth));
            (0..=most).map(move |often| sum + often * worth)
        };
        sums = sums.iter().flat_map(with).collect();
    }
    sums.pop_last().unwrap_or(0)
}
