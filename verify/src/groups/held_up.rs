//! By how much an owner of a guarantee is above somebody who wants more of what the owner takes.
//!
//! The owner, or a group around it, is above a sibling that has less for its weight while somebody of it is held by prices. What the owner takes
//! must cost something at the prices of the level that holds that one, or the sibling would have no more without it. So an owner is
//! above a sibling by the smaller of two parts: by which part the sibling has less, and which part of all that there is a share of the
//! owner costs there. Of siblings that the same level holds the lowest decides. A sibling that a limit holds counts as well, unless a limit of its own
//! has a price there: then it could have no more whatever others leave.

use super::members::Members;
use crate::levels::LevelPrices;
use crate::prices::capacity_value;
use crate::tolerance;
use crate::users::Subject;
use fairplan_instances::{GroupId, Instance, Level, LimitedBy, Owner, User};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What all have over their weights, and the lowest of whoever wants more.
pub(super) struct HeldUp<'a> {
    subject: Subject<'a>,
    members: &'a Members<'a>,
    users: Vec<f64>,
    groups: Vec<f64>,
    /// Of the children of each group, and at last of those of the root: by the level that holds somebody of them the least that one of
    /// them has.
    lowest: Vec<BTreeMap<usize, f64>>,
    /// The prices of the levels that were asked for, and what all costs at them.
    prices: HashMap<usize, (LevelPrices, f64)>,
}

impl<'a> HeldUp<'a> {
    /// `None` where users are held on no levels, as in a sum.
    pub fn of(subject: Subject<'a>, members: &'a Members<'a>) -> Option<Self> {
        let instance = subject.instance;
        let claim = &members.claim;
        if claim.level_of.len() < instance.user_count() {
            return None;
        }
        let root = instance.groups().len();
        let place = |group: Option<GroupId>| group.map_or(root, |group| group.0);
        let mut lowest = vec![BTreeMap::new(); root + 1];
        let mut see = |parent: usize, has: f64, level: Option<usize>| {
            if let Some(level) = level {
                let least = lowest[parent].entry(level).or_insert(f64::INFINITY);
                *least = has.min(*least);
            }
        };
        let own = own_prices(instance, claim.levels);
        // Levels that hold somebody by prices of servers, and by limits of groups around all of the node.
        let mut sums = vec![0.0; root + 1];
        let mut last: Vec<[Option<usize>; 2]> = vec![[None; 2]; root + 1];
        let mut users = Vec::with_capacity(instance.user_count());
        for user in instance.users() {
            let (i, above) = (user.index().0, place(user.group()));
            let level = claim.level_of[i] as usize;
            let by_limit =
                claim.limited_by[i] == LimitedBy::Limit && !own.contains(&(Owner::User(user.index()), level));
            let by_capacity = claim.limited_by[i] == LimitedBy::Capacity;
            let share = members.shares[i].low;
            users.push(share / user.weight().to_f64());
            let levels = [by_capacity.then_some(level), by_limit.then_some(level)];
            levels.into_iter().for_each(|level| see(above, users[i], level));
            sums[above] += share;
            last[above] = [last[above][0].max(levels[0]), last[above][1].max(levels[1])];
        }
        let mut groups = vec![0.0; root];
        for GroupId(g) in instance.groups_upwards() {
            let group = &instance.groups()[g];
            let above = place(group.parent);
            groups[g] = sums[g] / group.weight.to_f64();
            let by_limit = last[g][1].filter(|level| !own.contains(&(Owner::Group(GroupId(g)), *level)));
            let levels = [last[g][0], by_limit];
            levels.into_iter().for_each(|level| see(above, groups[g], level));
            sums[above] += sums[g];
            last[above] = [last[above][0].max(levels[0]), last[above][1].max(levels[1])];
        }
        Some(Self { subject, members, users, groups, lowest, prices: HashMap::new() })
    }

    /// The part by which an owner is above somebody; 0 where it is above nobody.
    pub fn by(&mut self, owner: Owner) -> f64 {
        let instance = self.subject.instance;
        let (mut has, mut parent) = match owner {
            Owner::User(user) => (self.users[user.0], instance.user(user).group()),
            Owner::Group(group) => (self.groups[group.0], instance.groups()[group.0].parent),
        };
        // By level the largest part by which the owner, or a group around it, is above whom that level holds.
        let mut above: BTreeMap<usize, f64> = BTreeMap::new();
        loop {
            let root = self.groups.len();
            for (level, least) in &self.lowest[parent.map_or(root, |group| group.0)] {
                if *least < has {
                    let most = above.entry(*level).or_insert(0.0);
                    *most = most.max(1.0 - least / has);
                }
            }
            let Some(group) = parent else { break };
            (has, parent) = (self.groups[group.0], instance.groups()[group.0].parent);
        }
        above.into_iter().fold(0.0, |most, (level, part)| match part > most {
            true => most.max(part.min(self.cost(owner, level))),
            false => most,
        })
    }

    /// The part of all that there is that a share of one of somebody of the owner costs at the prices of a level, at most.
    fn cost(&mut self, owner: Owner, level: usize) -> f64 {
        let Subject { instance, usable_classes, .. } = self.subject;
        let Some(stated) = self.members.claim.levels.get(level) else { return 0.0 };
        let (prices, worth) = self.prices.entry(level).or_insert_with(|| {
            let prices = LevelPrices::of(instance, usable_classes, stated);
            let worth = prices.worth(instance);
            (prices, worth)
        });
        let of_user = |user: User<'_>| match usable_classes.fewest(user.index().0) {
            0 => 0.0,
            _ => prices.slope(user, usable_classes) / user.task_share(),
        };
        let most = match owner {
            Owner::User(user) => of_user(instance.user(user)),
            Owner::Group(group) => {
                let inside = instance.groups_inside(group);
                let is_member = |user: &User<'_>| user.group().is_some_and(|group| inside[group.0]);
                instance.users().filter(is_member).map(of_user).fold(0.0, f64::max)
            }
        };
        if *worth > 0.0 { most / *worth } else { 0.0 }
    }
}

/// Whose limits have a price, and at which levels, as a part of what all costs there.
fn own_prices(instance: &Instance, levels: &[Level]) -> BTreeSet<(Owner, usize)> {
    let mut own = BTreeSet::new();
    for (k, level) in levels.iter().enumerate() {
        let prices = || instance.limit_rows().iter().zip(&level.limit_prices);
        let of_rows: f64 = prices().map(|(row, price)| price * row.amount.to_f64()).sum();
        let worth = capacity_value(instance, &level.prices) + of_rows;
        let priced = prices().filter(|(row, price)| {
            !row.is_reserve() && **price * row.amount.to_f64() > tolerance::PRICED * worth
        });
        own.extend(priced.map(|(row, _)| (row.owner, k)));
    }
    own
}
