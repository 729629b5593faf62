//! Limits of single users over all classes: ceilings of their shares, and the levels at which they are met.
//!
//! Such a limit needs no row in the level problem. At the level at which filling gives a user its ceiling, a price of its limit alone
//! proves that it can have no more; no other user pays it. So these levels are told without solving anything.

use crate::limits::whose_ceiling;
use crate::population::Population;
use crate::tolerance::level::TOGETHER;
use fairplan_instances::{FilledTree, Instance};

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

    /// Those of all users, in the reduction's order; empty where nobody has one.
    pub fn of_all(instance: &Instance, users: &Population) -> Vec<Self> {
        let mut all = Vec::new();
        for (row, limit) in instance.limit_rows().iter().enumerate() {
            let Some(user) = whose_ceiling(instance, limit) else { continue };
            all.resize(instance.user_count(), Self::NONE);
            let tasks = match instance.user(user).demand_units(limit.resource) {
                0 => f64::INFINITY,
                units => instance.limit_units(limit) as f64 / units as f64,
            };
            if tasks < all[user.0].tasks {
                all[user.0] = Self { tasks, row };
            }
        }
        if all.is_empty() { all } else { (0..users.users()).map(|i| all[users.user_id(i).0]).collect() }
    }
}

/// Users that come to a level of their own limits together.
pub(super) struct Met {
    pub level: f64,
    pub users: Vec<usize>,
}

/// The levels at which these users come to their ceilings, rising, given what all may have at most; none above `most`.
pub(super) fn met(
    instance: &Instance,
    users: &Population,
    ceilings: &[f64],
    which: impl Iterator<Item = usize>,
    most: f64,
) -> Vec<Met> {
    let of_users = users.by_position(ceilings.to_vec());
    let tree = FilledTree::new(instance, |user| of_users[user.0]);
    let levels = which.map(|i| (tree.level(users.user_id(i), ceilings[i]), i));
    together(levels.filter(|(level, _)| *level <= most).collect())
}

/// Users and the levels that they come to, by level; what differs by rounding is one.
fn together(mut levels: Vec<(f64, usize)>) -> Vec<Met> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_just_inside_the_tolerance_are_one_and_just_outside_two() {
        let met = |apart: f64| -> Vec<Vec<usize>> {
            together(vec![(0.5 * (1.0 + apart), 7), (0.5, 3)]).into_iter().map(|met| met.users).collect()
        };
        assert_eq!(met(0.9 * TOGETHER), [vec![3, 7]]);
        assert_eq!(met(1.1 * TOGETHER), [vec![3], vec![7]]);
    }
}
