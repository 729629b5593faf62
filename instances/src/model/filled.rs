//! Filling the tree of groups below ceilings that stay: what a level at the root comes to for every user, and the level at which
//! one has so much.
//!
//! A child `c` of the root has `S_c = min(w_c t, U_c)`; a group divides what it has so that `S_c = min(w_c τ, U_c)` add up to it.
//! Where the children of a node come to their ceilings, one after the other, is known beforehand, and a search finds the place.

use super::{GroupId, Instance, UserId};
use crate::LimitedTasks;

/// The tree with its ceilings.
pub struct FilledTree {
    /// The groups' and the users' places among their siblings.
    groups: Vec<Child>,
    users: Vec<Child>,
    /// How each group divides what it has.
    divisions: Vec<Division>,
    /// The groups, every one after the group above it.
    downwards: Vec<usize>,
}

/// A child of the root or of a group.
struct Child {
    above: Option<usize>,
    weight: f64,
    ceiling: f64,
}

/// How a group divides what it has among its children: those that come to their ceilings first stand first.
#[derive(Default)]
struct Division {
    /// What each child has for its weight where it comes to its ceiling, rising.
    breaks: Vec<f64>,
    /// The sum of the ceilings of the children before, one more than there are breaks.
    full: Vec<f64>,
    /// The sum of the weights of the children from here on.
    rising: Vec<f64>,
}

impl Division {
    /// Of children with weights and ceilings.
    fn of(mut children: Vec<(f64, f64)>) -> Self {
        let at = |(weight, ceiling): &(f64, f64)| ceiling / weight;
        children.sort_by(|a, b| at(a).total_cmp(&at(b)));
        let mut full = vec![0.0];
        full.extend(children.iter().scan(0.0, |sum, (_, ceiling)| {
            *sum += ceiling;
            Some(*sum)
        }));
        let mut rising = vec![0.0; children.len() + 1];
        for (position, (weight, _)) in children.iter().enumerate().rev() {
            rising[position] = rising[position + 1] + weight;
        }
        Self { breaks: children.iter().map(at).collect(), full, rising }
    }

    /// What all children have when each has so much for its weight.
    fn total(&self, each: f64) -> f64 {
        let passed = self.breaks.partition_point(|at| *at <= each);
        self.full[passed] + if self.rising[passed] > 0.0 { self.rising[passed] * each } else { 0.0 }
    }

    /// What each child has for its weight when all have so much.
    fn each(&self, total: f64) -> f64 {
        let at = |position: usize| self.full[position] + self.rising[position] * self.breaks[position];
        let (mut low, mut high) = (0, self.breaks.len());
        while low < high {
            let middle = (low + high) / 2;
            if at(middle) <= total { low = middle + 1 } else { high = middle }
        }
        match self.rising[low] > 0.0 {
            true => (total - self.full[low]) / self.rising[low],
            false => f64::INFINITY,
        }
    }
}

impl FilledTree {
    /// The tree of whole tasks: who fits on no server can have none, and nobody more than its limits let it have.
    pub fn of_whole_tasks(instance: &Instance) -> Self {
        let LimitedTasks { most, .. } = LimitedTasks::of(instance);
        Self::new(instance, |user| match (instance.user(user), most[user.0]) {
            (user, _) if !user.fits_somewhere() => 0.0,
            (_, u64::MAX) => f64::INFINITY,
            (user, tasks) => tasks as f64 * user.task_share(),
        })
    }

    /// `ceiling` is what all tasks of a user are worth, infinite without a limit, 0 if it can have none.
    pub fn new(instance: &Instance, ceiling: impl Fn(UserId) -> f64) -> Self {
        let above = |group: Option<GroupId>| group.map(|group| group.0);
        let users: Vec<Child> = (instance.users())
            .map(|user| Child {
                above: above(user.group()),
                weight: user.weight().to_f64(),
                ceiling: ceiling(user.index()),
            })
            .collect();
        let ceilings = instance.of_groups(0.0, |i| users[i].ceiling, |a, b| a + b);
        let groups: Vec<Child> = (instance.groups().iter().zip(ceilings))
            .map(|(group, ceiling)| Child {
                above: above(group.parent),
                weight: group.weight.to_f64(),
                ceiling,
            })
            .collect();
        let mut children = vec![Vec::new(); groups.len()];
        for child in groups.iter().chain(&users) {
            if let Some(above) = child.above {
                children[above].push((child.weight, child.ceiling));
            }
        }
        let mut downwards: Vec<usize> = instance.groups_upwards().into_iter().map(|group| group.0).collect();
        downwards.reverse();
        Self { groups, users, divisions: children.into_iter().map(Division::of).collect(), downwards }
    }

    /// What a user has at a level.
    pub fn share(&self, user: UserId, level: f64) -> f64 {
        self.below(&self.users[user.0], level)
    }

    fn below(&self, child: &Child, level: f64) -> f64 {
        let each = match child.above {
            None => level,
            Some(group) => self.divisions[group].each(self.below(&self.groups[group], level)),
        };
        (child.weight * each).min(child.ceiling)
    }

    /// What all users have at a level.
    pub fn shares(&self, level: f64) -> Vec<f64> {
        let mut each = vec![0.0; self.groups.len()];
        let has = |child: &Child, each: &[f64]| {
            let each = child.above.map_or(level, |group| each[group]);
            (child.weight * each).min(child.ceiling)
        };
        for &group in &self.downwards {
            each[group] = self.divisions[group].each(has(&self.groups[group], &each));
        }
        self.users.iter().map(|user| has(user, &each)).collect()
    }

    /// What all users below a group have when it has so much, at most its ceiling; nothing of the others.
    pub fn shares_below(&self, group: GroupId, share: f64) -> Vec<f64> {
        let mut each = vec![None; self.groups.len()];
        let has = |child: &Child, each: &[Option<f64>]| {
            let each = child.above.and_then(|group| each[group])?;
            Some((child.weight * each).min(child.ceiling))
        };
        for &below in &self.downwards {
            let total = match below == group.0 {
                true => Some(share.min(self.groups[below].ceiling)),
                false => has(&self.groups[below], &each),
            };
            each[below] = total.map(|total| self.divisions[below].each(total));
        }
        self.users.iter().map(|user| has(user, &each).unwrap_or(0.0)).collect()
    }

    /// The least level at which a user has so much, at most its ceiling.
    pub fn level(&self, user: UserId, share: f64) -> f64 {
        let mut child = &self.users[user.0];
        let mut each = share / child.weight;
        while let Some(group) = child.above {
            child = &self.groups[group];
            each = self.divisions[group].total(each) / self.groups[group].weight;
        }
        each
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decimal, Draft, DraftUser, NewGroup};

    /// `a` (ceiling 1) and `b` (2) in a group inside a group with `c`, beside `d`; all weights 1 but `b`'s 2 and the outer group's 3.
    fn filled() -> FilledTree {
        let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
        let group = |id: &str, weight: u32, parent: Option<&str>| NewGroup {
            id: id.into(),
            weight: Decimal::from(weight),
            parent: parent.map(str::to_owned),
        };
        draft.groups = vec![group("inner", 1, Some("outer")), group("outer", 3, None)];
        let model = draft.users[0].clone();
        let users = [("a", 1, Some(0)), ("b", 2, Some(0)), ("c", 1, Some(1)), ("d", 1, None)];
        draft.users = users
            .map(|(id, weight, group): (&str, u32, _)| DraftUser {
                id: id.into(),
                weight: Decimal::from(weight),
                group,
                ..model.clone()
            })
            .into();
        let ceilings = [1.0, 2.0, f64::INFINITY, f64::INFINITY];
        FilledTree::new(&draft.build().unwrap(), |user| ceilings[user.0])
    }

    #[test]
    fn who_comes_to_its_ceiling_leaves_more_to_its_siblings() {
        let filled = filled();
        // The outer group has 3: 1.5 for the inner one, of which b has twice what a has.
        assert_eq!(filled.shares(1.0), [0.5, 1.0, 1.5, 1.0]);
        // It has 9: both inside the inner one are at their ceilings, and c has the rest.
        assert_eq!(filled.shares(3.0), [1.0, 2.0, 6.0, 3.0]);
        assert_eq!(filled.shares_below(GroupId(1), 9.0), [1.0, 2.0, 6.0, 0.0]);
        assert_eq!(filled.shares_below(GroupId(0), 1.5), [0.5, 1.0, 0.0, 0.0]);
        assert_eq!((0..4).map(|i| filled.share(UserId(i), 3.0)).collect::<Vec<_>>(), filled.shares(3.0));
    }

    #[test]
    fn the_level_of_a_share_is_the_one_that_gives_it() {
        let filled = filled();
        for level in [0.25, 1.0, 1.75, 2.0] {
            for (user, share) in filled.shares(level).into_iter().enumerate() {
                let found = filled.level(UserId(user), share);
                assert!((found - level).abs() < 1e-12, "user {user} has {share} at {found}, not at {level}");
            }
        }
        // b is at its ceiling from a level of 2 on.
        assert_eq!(filled.level(UserId(1), 2.0), 2.0);
    }
}
