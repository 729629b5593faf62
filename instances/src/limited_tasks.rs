//! How many tasks limits let users have: with how few of them a limit may hold a user, and how many it has at most.
//!
//! Whom a limit holds is what [`LimitRoom`](crate::LimitRoom) says of a placement; here it is known of every placement at once. Where a
//! user has a limit of its own over all classes that it can use, both numbers are the same, and it is a user with so many tasks. A limit
//! of a group may hold a member that has few, if the others can take the rest.

use crate::{ClassId, Instance, Kind, LimitRow, Objective, Part, User, UserId};

/// The numbers of tasks of all users, in the instance's order; reserves hold nobody and do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedTasks {
    /// The fewest with which a user may want no more: all its tasks, or those with which a limit may hold it. `u64::MAX` where it
    /// always wants more.
    pub fewest: Vec<u64>,
    /// The most that a user can have: all its tasks, or what limits let it. `u64::MAX` where nothing is in the way.
    pub most: Vec<u64>,
    /// The same where tasks can be divided.
    pub divided: Vec<f64>,
}

impl LimitedTasks {
    /// Counts them for all users.
    pub fn of(instance: &Instance) -> Self {
        let all: Vec<u64> = instance.users().map(|user| user.tasks().unwrap_or(u64::MAX)).collect();
        let as_double = |tasks: &u64| if *tasks == u64::MAX { f64::INFINITY } else { *tasks as f64 };
        let divided: Vec<f64> = all.iter().map(as_double).collect();
        let mut found = Self { fewest: all.clone(), most: all, divided };
        if !instance.has_limits() {
            return found;
        }
        let rows = instance.limit_rows();
        let under: Vec<Limits<'_>> = instance.users().map(Limits::above).collect();
        for (i, limits) in under.iter().enumerate() {
            let (most, divided) = limits.most();
            found.most[i] = found.most[i].min(most);
            found.divided[i] = found.divided[i].min(divided);
        }
        // Nobody takes more of a limit than all of it.
        let takes = |i: usize, j: usize| {
            let all = under[i].of_a_task(j, Limits::reaches).saturating_mul(found.most[i].into());
            all.min(instance.limit_units(&rows[j]))
        };
        let mut taken = vec![0u128; rows.len()];
        for (i, limits) in under.iter().enumerate() {
            limits.rows.iter().for_each(|j| taken[*j] = taken[*j].saturating_add(takes(i, *j)));
        }
        let fewest = |i: usize| under[i].fewest(&|j| taken[j] - takes(i, j));
        let fewest: Vec<u64> = (0..under.len()).map(fewest).collect();
        found.fewest.iter_mut().zip(fewest).for_each(|(all, held)| *all = held.min(*all));
        found
    }
}

/// Whether a user that has the most tasks that limits let it have, infinitely many where there are none, wants more all the same.
pub fn wants_beyond_limits(user: User<'_>, most: f64) -> bool {
    user.tasks().is_none_or(|all| most < all as f64)
}

/// The smallest weighted share that tasks and limits alone allow; `None` of sums, and where nobody has a limit.
pub fn least_share_of_limits(instance: &Instance, objective: Objective, floors: &[f64]) -> Option<f64> {
    if !instance.has_limits() || objective != Objective::Drfh {
        return None;
    }
    let LimitedTasks { divided, .. } = LimitedTasks::of(instance);
    let cap = |i: usize| match instance.user(UserId(i)) {
        user if user.rule().rates().is_empty() => divided[i] * user.task_share(),
        _ => f64::INFINITY,
    };
    // Whom a limit holds wants more, and its siblings count as far as that is their part.
    let part = |i: usize| {
        let user = instance.user(UserId(i));
        let floor = floors.get(i).copied().unwrap_or(0.0);
        Part { floor, ..Part::new(cap(i), user.can_run() && wants_beyond_limits(user, divided[i])) }
    };
    let [least, _] = Part::smallest(&instance.parts_at_the_root(part));
    Some(least)
}

/// A user and the limits above it, its own and those of groups that it is in.
pub(crate) struct Limits<'a> {
    user: User<'a>,
    /// As positions among [`Instance::limit_rows`].
    pub(crate) rows: Vec<usize>,
    /// Of each kind the classes that it can use.
    usable: Vec<(Kind<'a>, Vec<ClassId>)>,
}

impl<'a> Limits<'a> {
    pub(crate) fn above(user: User<'a>) -> Self {
        let instance = user.instance();
        let mut rows = instance.limits_above(user);
        rows.retain(|j| !instance.limit_rows()[*j].is_reserve());
        let usable =
            |kind: Kind<'a>| (0..instance.classes().len()).map(ClassId).filter(move |l| kind.can_use(*l));
        let usable = user.kinds().map(|kind| (kind, usable(kind).collect())).collect();
        Self { user, rows, usable }
    }

    fn row(&self, j: usize) -> &'a LimitRow {
        &self.user.instance().limit_rows()[j]
    }

    fn amount(&self, j: usize) -> u128 {
        self.user.instance().limit_units(self.row(j))
    }

    /// Whether what can run on these classes may count in a limit, and whether all of it does.
    fn reaches(row: &LimitRow, usable: &[ClassId]) -> bool {
        usable.iter().any(|class| row.covers(*class))
    }

    fn is_around(row: &LimitRow, usable: &[ClassId]) -> bool {
        !usable.is_empty() && usable.iter().all(|class| row.covers(*class))
    }

    /// What a task takes of a limit wherever it runs: of the kinds that can run nowhere else.
    pub(crate) fn surely_of_a_task(&self, j: usize) -> u128 {
        self.of_a_task(j, Self::is_around)
    }

    /// What a task takes of a limit by the kinds of which `counts` says so.
    fn of_a_task(&self, j: usize, counts: fn(&LimitRow, &[ClassId]) -> bool) -> u128 {
        let row = self.row(j);
        let counted = self.usable.iter().filter(|(_, usable)| counts(row, usable));
        counted.map(|(kind, _)| kind.demand_units(row.resource)).fold(0, u128::saturating_add)
    }

    /// The most tasks, whole and divided.
    fn most(&self) -> (u64, f64) {
        let (mut most, mut divided) = (u64::MAX, f64::INFINITY);
        let mut at_most = |amount: u128, each: u128| {
            most = most.min(u64::try_from(amount / each).unwrap_or(u64::MAX));
            divided = divided.min(amount as f64 / each as f64);
        };
        for j in self.rows.iter().copied() {
            let each = self.surely_of_a_task(j);
            if each > 0 {
                at_most(self.amount(j), each);
            }
        }
        for (kind, usable) in &self.usable {
            let pieces = |j: usize| self.amount(j) / kind.piece_units(self.row(j).resource);
            let sets = self.sets(*kind, usable, pieces);
            let is_closed = |class: &ClassId| sets.iter().any(|(classes, _)| classes.contains(class));
            if !sets.is_empty() && usable.iter().all(is_closed) {
                let all = sets.iter().fold(0u128, |sum, (_, pieces)| sum.saturating_add(*pieces));
                most = most.min(u64::try_from(all / u128::from(kind.each())).unwrap_or(u64::MAX));
                // What is left of a piece on each of the sets of classes is one more at most.
                let parts = all.saturating_add(sets.len() as u128) as f64 / kind.each() as f64;
                divided = divided.min(parts);
            }
        }
        (most, divided)
    }

    /// The fewest tasks with which a limit may hold the user, if others may take so much of each.
    fn fewest(&self, others: &dyn Fn(usize) -> u128) -> u64 {
        let gang = u128::from(self.user.at_once());
        // Full for `more`, by tasks that take as much as they can of it.
        let full_from = |j: usize, more: u128| {
            let needed = (self.amount(j) + 1).saturating_sub(more).saturating_sub(others(j));
            match (needed, self.of_a_task(j, Self::reaches)) {
                (0, _) => 0,
                (_, 0) => u128::MAX,
                (needed, each) => needed.div_ceil(each),
            }
        };
        let mut fewest = u128::MAX;
        for (kind, usable) in self.usable.iter().filter(|(_, usable)| !usable.is_empty()) {
            let at_once = if self.user.has_kinds() { 1 } else { gang };
            let from =
                |j: usize| full_from(j, kind.piece_units(self.row(j).resource).saturating_mul(at_once));
            let around = self.rows.iter().copied().filter(|j| {
                Self::is_around(self.row(*j), usable) && kind.piece_units(self.row(*j).resource) > 0
            });
            fewest = fewest.min(around.map(from).min().unwrap_or(u128::MAX));
            let sets = self.sets(*kind, usable, from);
            let of_class = |class: &ClassId| {
                let closing = sets.iter().filter(|(classes, _)| classes.contains(class));
                closing.map(|(_, from)| *from).min().unwrap_or(u128::MAX)
            };
            let are_apart = sets.iter().enumerate().all(|(k, (classes, _))| {
                sets[..k].iter().all(|(others, _)| classes.iter().all(|class| !others.contains(class)))
            });
            let all_closed = usable.iter().map(of_class).max().unwrap_or(u128::MAX);
            // Tasks count on one class each, but pieces of several kinds may fill a limit each.
            fewest = fewest.min(match are_apart && all_closed < u128::MAX && !self.user.has_kinds() {
                true => sets.iter().fold(0u128, |sum, (_, from)| sum.saturating_add(*from)),
                false => all_closed,
            });
        }
        if self.user.has_kinds() {
            for j in self.rows.iter().copied() {
                let needed = self.surely_of_a_task(j).saturating_mul(gang);
                if needed > 0 {
                    fewest = fewest.min(full_from(j, needed));
                }
            }
        }
        u64::try_from(fewest).unwrap_or(u64::MAX)
    }

    /// The sets of usable classes that limits of what a piece needs are over, none of them all, each with the least that `of` says of
    /// such a limit.
    fn sets(
        &self,
        kind: Kind<'_>,
        usable: &[ClassId],
        of: impl Fn(usize) -> u128,
    ) -> Vec<(Vec<ClassId>, u128)> {
        let mut sets: Vec<(Vec<ClassId>, u128)> = Vec::new();
        for j in self.rows.iter().copied() {
            let row = self.row(j);
            let classes: Vec<ClassId> = usable.iter().copied().filter(|class| row.covers(*class)).collect();
            if kind.piece_units(row.resource) == 0 || classes.is_empty() || classes.len() == usable.len() {
                continue;
            }
            match sets.iter_mut().find(|(known, _)| *known == classes) {
                Some((_, least)) => *least = of(j).min(*least),
                None => sets.push((classes, of(j))),
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClassAmounts, Decimal, GroupId, InstanceBuilder, NewGroup, NewUser, Owner, Quota, ResourceId,
        ServerClass, UserId,
    };

    const CPU: ResourceId = ResourceId(0);

    /// Tasks of 2 and 3 cpu in a group, on two classes.
    fn counted(tasks: Option<u64>, quotas: Vec<(Owner, Quota)>) -> LimitedTasks {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        for id in ["a", "b"] {
            builder.class(ServerClass::new(id, 1, vec![Decimal::from(50)])).unwrap();
        }
        builder.groups(vec![NewGroup { id: "g".into(), weight: Decimal::ONE, parent: None }]).unwrap();
        for (id, cpu) in [("two", 2u32), ("three", 3)] {
            let demand = [Decimal::from(cpu)];
            let user = NewUser { tasks, group: Some(GroupId(0)), ..NewUser::new(id, &demand) };
            builder.user(user).unwrap();
        }
        quotas.into_iter().for_each(|(owner, quota)| builder.quota(owner, quota).unwrap());
        LimitedTasks::of(&builder.build().unwrap())
    }

    fn amount(cpu: u32) -> Vec<(ResourceId, Decimal)> {
        vec![(CPU, Decimal::from(cpu))]
    }

    fn over(classes: &[usize], cpu: u32) -> ClassAmounts {
        ClassAmounts { classes: classes.iter().copied().map(ClassId).collect(), amounts: amount(cpu) }
    }

    #[test]
    fn a_limit_of_its_own_makes_a_user_one_with_so_many_tasks() {
        let quota = Quota { limit: amount(7), ..Quota::default() };
        let found = counted(None, vec![(Owner::User(UserId(0)), quota)]);
        assert_eq!((found.fewest[0], found.most[0], found.divided[0]), (3, 3, 3.5));
        assert_eq!((found.fewest[1], found.most[1]), (u64::MAX, u64::MAX));
    }

    #[test]
    fn limits_over_classes_hold_where_all_classes_are_closed() {
        let one = Quota { limits: vec![over(&[0], 7)], ..Quota::default() };
        let found = counted(None, vec![(Owner::User(UserId(0)), one)]);
        assert_eq!((found.fewest[0], found.most[0]), (u64::MAX, u64::MAX));
        let both = Quota { limits: vec![over(&[0], 7), over(&[1], 5)], ..Quota::default() };
        let found = counted(None, vec![(Owner::User(UserId(0)), both)]);
        assert_eq!((found.fewest[0], found.most[0]), (5, 5));
    }

    #[test]
    fn a_limit_of_a_group_may_hold_who_has_what_the_others_cannot_take() {
        let quota = || vec![(Owner::Group(GroupId(0)), Quota { limit: amount(12), ..Quota::default() })];
        let found = counted(None, quota());
        assert_eq!((found.fewest, found.most), (vec![0, 0], vec![6, 4]));
        // Three tasks of the other are 9 or 6 of the 12.
        let found = counted(Some(3), quota());
        assert_eq!((found.fewest, found.most), (vec![1, 2], vec![3, 3]));
    }
}
