//! Placing along a placement that knows less: of it stays what all rules allow, and then the rest is placed by best-fit.
//!
//! On each server tasks are put down as far as devices and limits a server have room, those that want most of devices first. Of what a
//! limit or a reserve counts everybody keeps the same part if it is too much. Then, user by user, as many are given up again as rules
//! between servers ask: the highest domain first until counts differ by no more than the spread, and what makes no whole gang, in each
//! domain where gangs are in one. Of users with kinds pieces are counted kind by kind, and given up until they are those of whole tasks. Where giving up a task leaves others on
//! devices without room, which greedy choices can, the same is done anew with what is left. So nothing stays that breaks a rule.

use super::{Inside, Least, Servers};
use crate::PlacementError;
use crate::best_fit::Mismatch;
use crate::filling::fill_on;
use crate::packing::Packing;
use fairplan_instances::{Deadline, Gang, Instance, KindId, Placement, ServerTasks, User};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a placement has that the rules allow, and as many more tasks as best-fit finds room for, of those first who are below what they
/// are guaranteed. Its servers are those of the instance; what it has of whom need not fit, nor be no more than users have. `most`:
/// nobody gets more tasks than these beyond what stays, but for the last gang.
///
/// # Errors
/// More servers than can be numbered; the deadline is over.
pub fn place_along(
    instance: &Instance,
    along: &Placement,
    most: Option<&[u64]>,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let packing = Packing::in_resources(instance)?.apart();
    let mut kept: Vec<ServerTasks> = along.servers.clone();
    kept.resize(packing.servers(), ServerTasks::new());
    let (servers, tasks) = loop {
        let (servers, on) = put_down(instance, &packing, &kept, deadline)?;
        let allowed = allowed(instance, &packing, on);
        let is_all = allowed.servers == kept;
        kept.clone_from(&allowed.servers);
        if is_all {
            break (servers, allowed.tasks);
        }
    };
    let there = Placement { tasks, servers: kept };
    let rule = Inside { servers, choice: Least::new(Mismatch::default()) };
    fill_on(instance, &packing, rule, (&there, most), deadline)
}

/// So many pieces are put down before the deadline is asked again.
const AT_A_TIME: u64 = 4096;

/// As many of these pieces as have room inside their servers, whatever rules there are between servers.
fn put_down(
    instance: &Instance,
    packing: &Packing,
    wanted: &[ServerTasks],
    deadline: &Deadline,
) -> Result<(Servers, Vec<ServerTasks>), PlacementError> {
    let mut servers = Servers::new(instance, packing);
    let mut on = Vec::with_capacity(wanted.len());
    for (server, tasks) in wanted.iter().enumerate() {
        if deadline.is_over() {
            return Err(PlacementError::OutOfTime { placed: 0 });
        }
        let mut order: Vec<(u32, u64)> = tasks.clone();
        order.sort_by_cached_key(|(kind, _)| Reverse(servers.of_devices(*kind as usize)));
        let mut there = ServerTasks::new();
        for (kind, count) in order {
            let mut taken = 0;
            while taken < count && servers.take_inside(server, kind as usize) {
                taken += 1;
                if taken % AT_A_TIME == 0 && deadline.is_over() {
                    return Err(PlacementError::OutOfTime { placed: 0 });
                }
            }
            if taken > 0 {
                there.push((kind, taken));
            }
        }
        there.sort_unstable();
        on.push(there);
    }
    Ok((servers, on))
}

/// What all users may keep of pieces that have room inside their servers.
fn allowed(instance: &Instance, packing: &Packing, mut servers: Vec<ServerTasks>) -> Placement {
    // Of each kind, where it is.
    let mut of_kind: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); instance.kind_count()];
    for (server, tasks) in servers.iter().enumerate() {
        tasks.iter().for_each(|(kind, count)| _ = of_kind[*kind as usize].insert(server, *count));
    }
    keep_limits(instance, packing, &mut of_kind);
    let mut all = Vec::with_capacity(instance.user_count());
    for user in instance.users() {
        let kinds = user.kind_range();
        let whole = |kind: usize| {
            let pieces: u64 = of_kind[kind].values().sum();
            pieces / instance.kind(KindId(kind)).each().max(1)
        };
        let most = kinds.clone().map(whole).min().unwrap_or(0).min(user.tasks().unwrap_or(u64::MAX));
        let in_domains = user.spread().is_some() || user.gang().is_some_and(|gang| gang.in_one_domain);
        if !in_domains && (user.has_kinds() || user.gang().is_none()) {
            let most = most - most % user.at_once();
            for kind in kinds {
                let pieces = most.saturating_mul(instance.kind(KindId(kind)).each());
                keep(&mut of_kind[kind], pieces, |_| true);
            }
            all.push(most);
        } else {
            if !user.has_kinds() {
                keep(&mut of_kind[kinds.start], most, |_| true);
            }
            all.push(keep_between(instance, packing, user, &mut of_kind[kinds]));
        }
    }
    servers.iter_mut().for_each(Vec::clear);
    for (kind, on) in of_kind.into_iter().enumerate() {
        on.into_iter().for_each(|(server, count)| servers[server].push((kind as u32, count)));
    }
    Placement { tasks: all, servers }
}

/// Gives up pieces until all limits and reserves are kept. Of what one counts too much of, every kind keeps the same part, rounded down.
fn keep_limits(instance: &Instance, packing: &Packing, of_kind: &mut [BTreeMap<usize, u64>]) {
    let rows = instance.limit_rows();
    if rows.is_empty() {
        return;
    }
    let above: Vec<Vec<usize>> = instance.users().map(|user| instance.limits_above(user)).collect();
    for (j, row) in rows.iter().enumerate() {
        let is_inside = |server: usize| row.covers(packing.class_of(server));
        let is_counted = |kind: &usize| {
            let kind = instance.kind(KindId(*kind));
            kind.piece_units(row.resource) > 0 && above[kind.user().index().0].binary_search(&j).is_ok()
        };
        let inside = |on: &BTreeMap<usize, u64>| -> u128 {
            on.iter().filter(|(server, _)| is_inside(**server)).map(|(_, count)| u128::from(*count)).sum()
        };
        let counted: Vec<(usize, u128)> =
            (0..of_kind.len()).filter(is_counted).map(|kind| (kind, inside(&of_kind[kind]))).collect();
        let units = |(kind, pieces): &(usize, u128)| {
            instance.kind(KindId(*kind)).piece_units(row.resource).saturating_mul(*pieces)
        };
        let taken = counted.iter().map(units).fold(0, u128::saturating_add);
        let most = instance.limit_units(row);
        for (kind, pieces) in counted.into_iter().filter(|_| taken > most) {
            let stay = u64::try_from(pieces.saturating_mul(most) / taken).unwrap_or(u64::MAX);
            keep(&mut of_kind[kind], stay, is_inside);
        }
    }
}

/// Gives up pieces, of the last servers that count first, until there are at most so many on these.
fn keep(on: &mut BTreeMap<usize, u64>, most: u64, counts: impl Fn(usize) -> bool) {
    let mut left = most;
    on.retain(|server, count| {
        if counts(*server) {
            *count = (*count).min(left);
            left -= *count;
        }
        *count > 0
    });
}

/// Gives up pieces of a user until its rules between servers are kept and all are of whole tasks; how many tasks it has then. `on` says
/// of each of its kinds where pieces are.
fn keep_between(
    instance: &Instance,
    packing: &Packing,
    user: User<'_>,
    on: &mut [BTreeMap<usize, u64>],
) -> u64 {
    let domain_of = |server: usize| instance.domain_of(packing.class_of(server)).map_or(0, |domain| domain.0);
    let each: Vec<u64> = user.kinds().map(|kind| kind.each().max(1)).collect();
    let most = user.tasks().unwrap_or(u64::MAX);
    let mut counts = vec![vec![0u64; instance.domains().len().max(1)]; each.len()];
    for (counts, on) in counts.iter_mut().zip(&*on) {
        on.iter().for_each(|(server, count)| counts[domain_of(*server)] += count);
    }
    let spread: Vec<_> = user.kinds().map(|kind| user.spread().map(|most| (most, kind.domains()))).collect();
    let mut tasks;
    loop {
        let before = counts.clone();
        for (counts, spread) in counts.iter_mut().zip(&spread) {
            if let Some((most, domains)) = spread {
                let least = domains.iter().map(|domain| counts[domain.0]).min().unwrap_or(0);
                counts.iter_mut().for_each(|count| *count = (*count).min(least.saturating_add(*most)));
            }
        }
        match user.gang() {
            Some(Gang { tasks: gang, in_one_domain: true }) => {
                let whole = |domain: usize| {
                    let of_kind =
                        |(counts, each): (&Vec<u64>, &u64)| counts[domain] / gang.saturating_mul(*each);
                    counts.iter().zip(&each).map(of_kind).min().unwrap_or(0)
                };
                let mut gangs: Vec<u64> = (0..counts[0].len()).map(whole).collect();
                lower(&mut gangs, most / gang);
                for (counts, each) in counts.iter_mut().zip(&each) {
                    counts.iter_mut().zip(&gangs).for_each(|(count, gangs)| *count = gangs * gang * each);
                }
                tasks = gangs.iter().sum::<u64>() * gang;
            }
            _ => {
                let whole = |(counts, each): (&Vec<u64>, &u64)| counts.iter().sum::<u64>() / each;
                tasks = counts.iter().zip(&each).map(whole).min().unwrap_or(0).min(most);
                tasks -= tasks % user.at_once();
                counts.iter_mut().zip(&each).for_each(|(counts, each)| lower(counts, tasks * each));
            }
        }
        if counts == before {
            break;
        }
    }
    for (on, mut left) in on.iter_mut().zip(counts) {
        on.retain(|server, count| {
            let left = &mut left[domain_of(*server)];
            *count = (*count).min(*left);
            *left -= *count;
            *count > 0
        });
    }
    tasks
}

/// Takes from the highest counts until they are so many in all; what does not come out even is left to the first. Counts that differ by
/// no more than a spread do so afterwards.
fn lower(counts: &mut [u64], most: u64) {
    let up_to = |level: u64| counts.iter().map(|count| u128::from(*count.min(&level))).sum::<u128>();
    let (mut low, mut high) = (0, counts.iter().copied().max().unwrap_or(0));
    while low < high {
        let middle = high - (high - low) / 2;
        if up_to(middle) <= u128::from(most) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let mut left = u128::from(most) - up_to(low);
    for count in counts.iter_mut().filter(|count| **count > low) {
        let more = left.min(1);
        *count = low + more as u64;
        left -= more;
    }
}
