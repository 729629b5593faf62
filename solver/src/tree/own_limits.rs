//! Limits of single users over all classes: ceilings of their shares, and the levels at which they are met.
//!
//! Such a limit needs no row in the level problem. At the level at which filling gives a user its ceiling, a price of its limit alone
//! proves that it can have no more; no other user pays it. So these levels are told without solving anything.

use crate::limits::is_ceiling;
use crate::population::Population;
use fairplan_instances::{FilledTree, Instance, Owner, User};

/// What a user has at most by its own limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnLimit {
    /// Tasks that fit the limit; infinite without one.
    pub tasks: f64,
    /// Which of the instance's limits it is.
    pub row: usize,
}

impl OwnLimit {
    const NONE: Self = Self { tasks: f64::INFINITY, row: usize::MAX };

    fn of(instance: &Instance, user: User<'_>) -> Self {
        let rows = instance.limit_rows();
        let own = |j: &usize| rows[*j].owner == Owner::User(user.index()) && is_ceiling(instance, &rows[*j]);
        let limit = |j: usize| match user.demand_units(rows[j].resource) {
            0 => Self::NONE,
            units => Self { tasks: instance.limit_units(&rows[j]) as f64 / units as f64, row: j },
        };
        let all = instance.limits_above(user).into_iter().filter(own).map(limit);
        all.reduce(|least, next| if next.tasks < least.tasks { next } else { least }).unwrap_or(Self::NONE)
    }

    /// Those of all users, in the reduction's order; empty where nobody has one.
    pub fn of_all(instance: &Instance, users: &Population) -> Vec<Self> {
        if !instance.limit_rows().iter().any(|row| is_ceiling(instance, row)) {
            return Vec::new();
        }
        (0..users.users()).map(|i| Self::of(instance, instance.user(users.user_id(i)))).collect()
    }
}

/// Users that come to a level of their own limits together.
pub(super) struct Met {
    pub level: f64,
    pub users: Vec<usize>,
}

/// How near two levels are that are told as one.
const TOGETHER: f64 = 1e-13;

/// The levels at which these users come to their ceilings, rising, given what all may have at most; none above `most`.
pub(super) fn met(
    instance: &Instance,
    users: &Population,
    ceilings: &[f64],
    which: impl Iterator<Item = usize>,
    most: f64,
) -> Vec<Met> {
    let mut position = vec![0; ceilings.len()];
    (0..ceilings.len()).for_each(|i| position[users.user_id(i).0] = i);
    let tree = FilledTree::new(instance, |user| ceilings[position[user.0]]);
    let mut levels: Vec<(f64, usize)> = which
        .map(|i| (tree.level(users.user_id(i), ceilings[i]), i))
        .filter(|(level, _)| *level <= most)
        .collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut all: Vec<Met> = Vec::new();
    for (level, user) in levels {
        match all.last_mut().filter(|last| level <= last.level * (1.0 + TOGETHER)) {
            Some(last) => last.users.push(user),
            None => all.push(Met { level, users: vec![user] }),
        }
    }
    all
}
