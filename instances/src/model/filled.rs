//! Filling the tree of groups below ceilings that stay: what a level at the root comes to for every user, and the level at which
//! one has so much.
//!
//! A child `c` of the root has `S_c = min(max(w_c t, F_c), U_c)`; a group divides what it has so that `S_c = min(max(w_c τ, F_c), U_c)` add up
//! to it. `F` is what a user is guaranteed, of a group the sum of its members', at most the ceiling. Where the children of a node leave their
//! floors and come to their ceilings, one after the other, is known beforehand, and a search finds the place.

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
    floor: f64,
    ceiling: f64,
}

impl Child {
    /// What it has where each child has so much for its weight.
    fn has(&self, each: f64) -> f64 {
        (self.weight * each).max(self.floor).min(self.ceiling)
    }
}

/// How a group divides what it has among its children: places where a child leaves its floor or comes to its ceiling, rising.
#[derive(Default)]
struct Division {
    /// What each child has for its weight there.
    breaks: Vec<f64>,
    /// The sum of the ceilings and floors that children have between these places, one more than there are breaks.
    full: Vec<f64>,
    /// The sum of the weights of the others, which rise.
    rising: Vec<f64>,
}

/// Where a child begins to rise, or ends.
struct Break {
    at: f64,
    weight: f64,
    begins: bool,
    share: f64,
}

impl Division {
    fn of(children: &[&Child]) -> Self {
        let place = |child: &&Child, share: f64, begins: bool| Break {
            at: share / child.weight,
            weight: child.weight,
            begins,
            share,
        };
        let floors = children.iter().filter(|child| child.floor > 0.0);
        let mut breaks: Vec<Break> = floors.clone().map(|child| place(child, child.floor, true)).collect();
        breaks.extend(children.iter().map(|child| place(child, child.ceiling, false)));
        // Who rises nowhere leaves its floor before it comes to its ceiling.
        breaks.sort_by(|a, b| a.at.total_cmp(&b.at).then(b.begins.cmp(&a.begins)));
        // The sum of no floors is -0.
        let mut full = vec![floors.map(|child| child.floor).sum::<f64>() + 0.0];
        full.extend(breaks.iter().scan(full[0], |sum, place| {
            *sum += if place.begins { -place.share } else { place.share };
            Some(*sum)
        }));
        let (mut rising, mut count) = (vec![0.0; breaks.len() + 1], 0usize);
        for (position, place) in breaks.iter().enumerate().rev() {
            count = if place.begins { count - 1 } else { count + 1 };
            let weights = rising[position + 1] + if place.begins { -place.weight } else { place.weight };
            // What is left of weights that are taken off again is rounding.
            rising[position] = if count == 0 { 0.0 } else { weights };
        }
        Self { breaks: breaks.iter().map(|place| place.at).collect(), full, rising }
    }

    /// What all children have when each has so much for its weight.
    fn total(&self, each: f64) -> f64 {
        let passed = self.breaks.partition_point(|at| *at <= each);
        self.full[passed] + if self.rising[passed] > 0.0 { self.rising[passed] * each } else { 0.0 }
    }

    /// What each child has for its weight when all have so much.
    fn each(&self, total: f64) -> f64 {
        let at = |position: usize| match self.rising[position] {
            0.0 => self.full[position],
            rising => self.full[position] + rising * self.breaks[position],
        };
        let (mut low, mut high) = (0, self.breaks.len());
        while low < high {
            let middle = (low + high) / 2;
            if at(middle) <= total { low = middle + 1 } else { high = middle }
        }
        match self.rising[low] > 0.0 {
            true => (total - self.full[low]) / self.rising[low],
            // Nobody rises before the next place.
            false => self.breaks.get(low).copied().unwrap_or(f64::INFINITY),
        }
    }
}

impl FilledTree {
    /// The tree of whole tasks: who fits on no server can have none, nobody more than its limits let it have, and nobody less than it
    /// is guaranteed itself.
    pub fn of_whole_tasks(instance: &Instance) -> Self {
        let limited = LimitedTasks::of(instance);
        let floors = limited.guaranteed_shares(instance);
        let LimitedTasks { most, .. } = limited;
        let ceiling = |user: UserId| match (instance.user(user), most[user.0]) {
            (user, _) if !user.fits_somewhere() => 0.0,
            (_, u64::MAX) => f64::INFINITY,
            (user, tasks) => tasks as f64 * user.task_share(),
        };
        Self::above_floors(instance, |user| floors[user.0], ceiling)
    }

    /// `ceiling` is what all tasks of a user are worth, infinite without a limit, 0 if it can have none.
    pub fn new(instance: &Instance, ceiling: impl Fn(UserId) -> f64) -> Self {
        Self::above_floors(instance, |_| 0.0, ceiling)
    }

    /// The same with what each user is guaranteed.
    fn above_floors(
        instance: &Instance,
        floor: impl Fn(UserId) -> f64,
        ceiling: impl Fn(UserId) -> f64,
    ) -> Self {
        let above = |group: Option<GroupId>| group.map(|group| group.0);
        let users: Vec<Child> = (instance.users())
            .map(|user| {
                let ceiling = ceiling(user.index());
                Child {
                    above: above(user.group()),
                    weight: user.weight().to_f64(),
                    floor: floor(user.index()).min(ceiling),
                    ceiling,
                }
            })
            .collect();
        let of_user = |i: usize| (users[i].floor, users[i].ceiling);
        let of_groups = instance.of_groups((0.0, 0.0), of_user, |a, b| (a.0 + b.0, a.1 + b.1));
        let groups: Vec<Child> = (instance.groups().iter().zip(of_groups))
            .map(|(group, (floor, ceiling))| Child {
                above: above(group.parent),
                weight: group.weight.to_f64(),
                floor,
                ceiling,
            })
            .collect();
        let mut children = vec![Vec::new(); groups.len()];
        for child in groups.iter().chain(&users) {
            if let Some(above) = child.above {
                children[above].push(child);
            }
        }
        let divisions = children.iter().map(|children| Division::of(children)).collect();
        let mut downwards: Vec<usize> = instance.groups_upwards().into_iter().map(|group| group.0).collect();
        downwards.reverse();
        Self { groups, users, divisions, downwards }
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
        child.has(each)
    }

    /// What all users have at a level.
    pub fn shares(&self, level: f64) -> Vec<f64> {
        let mut each = vec![0.0; self.groups.len()];
        let has = |child: &Child, each: &[f64]| child.has(child.above.map_or(level, |group| each[group]));
        for &group in &self.downwards {
            each[group] = self.divisions[group].each(has(&self.groups[group], &each));
        }
        self.users.iter().map(|user| has(user, &each)).collect()
    }

    /// What all users below a group have when it has so much, at most its ceiling; nothing of the others.
    pub fn shares_below(&self, group: GroupId, share: f64) -> Vec<f64> {
        let mut each = vec![None; self.groups.len()];
        let has = |child: &Child, each: &[Option<f64>]| {
            child.above.and_then(|group| each[group]).map(|each| child.has(each))
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

    /// The least level at which a user has so much, at most its ceiling, by its weight.
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
    fn who_is_guaranteed_more_than_its_part_leaves_less_to_its_siblings() {
        let draft = |children: &[(f64, f64, f64)]| {
            let child = |(weight, floor, ceiling): &(f64, f64, f64)| Child {
                above: None,
                weight: *weight,
                floor: *floor,
                ceiling: *ceiling,
            };
            children.iter().map(child).collect::<Vec<_>>()
        };
        // Brute force: what the children have at a level adds up to the total that has this level.
        for children in [
            draft(&[(1.0, 0.5, 2.0), (2.0, 0.0, 1.0), (1.0, 0.25, f64::INFINITY)]),
            draft(&[(1.0, 1.0, 1.0), (1.0, 3.0, 4.0), (4.0, 0.0, 0.5)]),
            draft(&[(1.0, 1.0, 2.0), (1.0, 1.5, 3.0)]),
        ] {
            let division = Division::of(&children.iter().collect::<Vec<_>>());
            let total = |each: f64| children.iter().map(|child| child.has(each)).sum::<f64>();
            for step in 0..80 {
                let each = f64::from(step) / 16.0;
                assert_eq!(division.total(each), total(each), "{each}");
                assert_eq!(total(division.each(total(each))), total(each), "{each}");
            }
        }
        // Both are at their floors up to a level of 1: what they have there is no more than that.
        let plateau = draft(&[(1.0, 1.0, 1.0), (2.0, 2.0, 2.0)]);
        let division = Division::of(&plateau.iter().collect::<Vec<_>>());
        assert_eq!((division.total(0.5), division.each(2.9)), (3.0, 1.0));
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
