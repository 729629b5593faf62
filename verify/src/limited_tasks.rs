//! How many tasks a user has at least where a limit holds it, and at most under its limits, in any placement.
//!
//! A limit is full for a user if it has no room for a piece more (for a gang, of users that run in gangs). To be held, some kind of the
//! user's tasks must find a full limit on each class that it can use, or a limit no room for all pieces of a task that can run nowhere
//! else. What the other members of a group may take of its limit is what they can have at most. And how many it is guaranteed.

use crate::groups::{Bounds, guaranteed_tasks};
use crate::rounding::{down, up};
use crate::tolerance::QUOTIENTS;
use fairplan_instances::{ClassId, Instance, Kind, LimitRow, User, UserId};
use std::collections::BTreeMap;

/// The numbers of tasks of all users; `None` where nothing is in the way.
pub(crate) struct Limited {
    /// The fewest with which a user may want no more.
    pub fewest: Vec<Option<u64>>,
    /// The most that it can have.
    pub most: Vec<Option<u64>>,
    /// The same where tasks can be divided; infinite where nothing is in the way.
    pub divided: Vec<f64>,
    /// The whole tasks that it is guaranteed itself, in whole gangs, at most those that it can have.
    pub sure: Vec<u64>,
}

impl Limited {
    pub fn of(instance: &Instance) -> Self {
        let tasks: Vec<Option<u64>> = instance.users().map(|user| user.tasks()).collect();
        let divided = tasks.iter().map(|tasks| tasks.map_or(f64::INFINITY, |tasks| tasks as f64)).collect();
        let mut limited = Self { fewest: tasks.clone(), most: tasks, divided, sure: Vec::new() };
        if !instance.limit_rows().iter().all(LimitRow::is_reserve) {
            limited.by_limits(instance);
        }
        limited.sure = instance.users().map(|user| sure_of(user, limited.most[user.index().0])).collect();
        limited
    }

    fn by_limits(&mut self, instance: &Instance) {
        let (limited, rows) = (self, instance.limit_rows());
        let above: Vec<Vec<usize>> = instance.users().map(limits_above).collect();
        for user in instance.users() {
            let i = user.index().0;
            for Most { tasks, divided } in most_by_limits(user, &above[i]) {
                limited.most[i] = Some(limited.most[i].map_or(tasks, |most| most.min(tasks)));
                limited.divided[i] = limited.divided[i].min(divided);
            }
        }
        // What each takes of the limits above it at most.
        let takes = |i: usize| -> Vec<u128> {
            let tasks = limited.most[i].map_or(u128::MAX, u128::from);
            let of = |j: &usize| {
                let all = at_most_of(instance.user(UserId(i)), &rows[*j]).saturating_mul(tasks);
                all.min(instance.limit_units(&rows[*j]))
            };
            above[i].iter().map(of).collect()
        };
        let takes: Vec<Vec<u128>> = (0..above.len()).map(takes).collect();
        let mut of_all = vec![0u128; rows.len()];
        for (j, units) in above.iter().zip(&takes).flat_map(|(above, takes)| above.iter().zip(takes)) {
            of_all[*j] = of_all[*j].saturating_add(*units);
        }
        for user in instance.users() {
            let i = user.index().0;
            let by_others: Vec<u128> =
                above[i].iter().zip(&takes[i]).map(|(j, own)| of_all[*j] - own).collect();
            if let Some(held) = held_from(user, &above[i], &by_others) {
                limited.fewest[i] = Some(limited.fewest[i].map_or(held, |tasks| tasks.min(held)));
            }
        }
    }
}

/// The whole tasks that a user is guaranteed, of which it can have at most so many; none where it fits on no server.
fn sure_of(user: User<'_>, most: Option<u64>) -> u64 {
    if !user.fits_somewhere() {
        return 0;
    }
    let tasks = (guaranteed_tasks(user.instance(), user) * (1.0 + QUOTIENTS)) as u64;
    tasks.min(most.unwrap_or(u64::MAX)) / user.at_once() * user.at_once()
}

/// The same of all users, as shares.
pub(crate) fn sure_shares(instance: &Instance) -> Vec<Bounds> {
    if !instance.has_guarantees() {
        return Vec::new();
    }
    let sure = Limited::of(instance).sure;
    instance.users().zip(sure).map(|(user, tasks)| share_of(user, tasks)).collect()
}

/// What so many tasks are worth.
pub(crate) fn share_of(user: User<'_>, tasks: u64) -> Bounds {
    if tasks == 0 {
        return Bounds::NOTHING;
    }
    let share = tasks as f64 * user.task_share();
    Bounds { low: down(share * (1.0 - QUOTIENTS)), high: up(share * (1.0 + QUOTIENTS)) }
}

fn limits_above(user: User<'_>) -> Vec<usize> {
    let rows = user.instance().limit_rows();
    user.instance().limits_above(user).into_iter().filter(|j| !rows[*j].is_reserve()).collect()
}

fn usable(kind: Kind<'_>) -> Vec<ClassId> {
    let instance = kind.user().instance();
    (0..instance.classes().len()).map(ClassId).filter(|class| kind.can_use(*class)).collect()
}

fn covers_all(row: &LimitRow, classes: &[ClassId]) -> bool {
    !classes.is_empty() && classes.iter().all(|class| row.covers(*class))
}

/// What a task takes of a limit at most: by kinds that can run within it; and at least: by those that can run nowhere else.
fn at_most_of(user: User<'_>, row: &LimitRow) -> u128 {
    let inside = user.kinds().filter(|kind| usable(*kind).iter().any(|class| row.covers(*class)));
    inside.map(|kind| kind.demand_units(row.resource)).fold(0, u128::saturating_add)
}

fn at_least_of(user: User<'_>, row: &LimitRow) -> u128 {
    let inside = user.kinds().filter(|kind| covers_all(row, &usable(*kind)));
    inside.map(|kind| kind.demand_units(row.resource)).fold(0, u128::saturating_add)
}

struct Most {
    tasks: u64,
    divided: f64,
}

/// What limits let a user have, each alone, and those over some classes together.
fn most_by_limits(user: User<'_>, above: &[usize]) -> Vec<Most> {
    let instance = user.instance();
    let rows = instance.limit_rows();
    let whole = |tasks: u128| u64::try_from(tasks).unwrap_or(u64::MAX);
    let mut found = Vec::new();
    for row in above.iter().map(|j| &rows[*j]) {
        let (amount, each) = (instance.limit_units(row), at_least_of(user, row));
        if let Some(tasks) = amount.checked_div(each) {
            found.push(Most { tasks: whole(tasks), divided: amount as f64 / each as f64 });
        }
    }
    for kind in user.kinds() {
        let usable = usable(kind);
        // By the classes that they are over, all but all of them: the fewest pieces.
        let mut sets: BTreeMap<Vec<ClassId>, u128> = BTreeMap::new();
        for row in above.iter().map(|j| &rows[*j]).filter(|row| kind.piece_units(row.resource) > 0) {
            let classes: Vec<ClassId> = usable.iter().copied().filter(|class| row.covers(*class)).collect();
            if !classes.is_empty() && classes.len() < usable.len() {
                let pieces = instance.limit_units(row) / kind.piece_units(row.resource);
                sets.entry(classes).and_modify(|least| *least = pieces.min(*least)).or_insert(pieces);
            }
        }
        if !usable.is_empty() && usable.iter().all(|class| sets.keys().any(|set| set.contains(class))) {
            let pieces = sets.values().fold(0u128, |sum, pieces| sum.saturating_add(*pieces));
            let beyond = pieces.saturating_add(sets.len() as u128);
            found.push(Most {
                tasks: whole(pieces / u128::from(kind.each())),
                divided: beyond as f64 / kind.each() as f64,
            });
        }
    }
    found
}

/// The fewest tasks with which limits can hold a user, if others take so much of each; `None` if they never do.
fn held_from(user: User<'_>, above: &[usize], by_others: &[u128]) -> Option<u64> {
    let instance = user.instance();
    let rows = instance.limit_rows();
    let at_once = u128::from(user.gang().map_or(1, |gang| gang.tasks));
    // With how few tasks the k-th limit has less than `more` left.
    let full_from = |k: usize, more: u128| -> Option<u128> {
        let row = &rows[above[k]];
        let there = by_others[k].saturating_add(more);
        let missing = (instance.limit_units(row) + 1).saturating_sub(there);
        match at_most_of(user, row) {
            _ if missing == 0 => Some(0),
            0 => None,
            each => Some(missing.div_ceil(each)),
        }
    };
    let mut held: Vec<u128> = Vec::new();
    for kind in user.kinds() {
        let usable = usable(kind);
        let step = if user.has_kinds() { 1 } else { at_once };
        let needed = |k: usize| kind.piece_units(rows[above[k]].resource);
        let limits = (0..above.len()).filter(|k| needed(*k) > 0);
        let (around, over_some): (Vec<usize>, Vec<usize>) =
            limits.partition(|k| covers_all(&rows[above[*k]], &usable));
        let from = |k: &usize| full_from(*k, needed(*k).saturating_mul(step));
        held.extend(around.iter().filter_map(from));
        // Classes by the limits over them.
        let mut alike: BTreeMap<Vec<usize>, Option<u128>> = BTreeMap::new();
        for class in &usable {
            let over: Vec<usize> =
                over_some.iter().copied().filter(|k| rows[above[*k]].covers(*class)).collect();
            let least = over.iter().filter_map(from).min();
            alike.insert(over, least);
        }
        let Some(closed) = alike.values().copied().collect::<Option<Vec<u128>>>() else { continue };
        let mut named: Vec<usize> = alike.keys().flatten().copied().collect();
        named.sort_unstable();
        // A task counts in one of the places, if no limit is over two of them.
        let are_apart = !user.has_kinds() && named.windows(2).all(|pair| pair[0] != pair[1]);
        held.extend(match are_apart {
            true => (!closed.is_empty())
                .then(|| closed.iter().fold(0, |sum: u128, from| sum.saturating_add(*from))),
            false => closed.iter().copied().max(),
        });
    }
    if user.has_kinds() {
        let inside = |k: usize| at_least_of(user, &rows[above[k]]).saturating_mul(at_once);
        held.extend((0..above.len()).filter(|k| inside(*k) > 0).filter_map(|k| full_from(k, inside(k))));
    }
    held.into_iter().min().map(|tasks| u64::try_from(tasks).unwrap_or(u64::MAX))
}
