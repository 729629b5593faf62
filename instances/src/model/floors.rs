//! Floors: what guarantees come to for users, and whom a group's guarantee is for.
//!
//! What a group is guaranteed its members would divide if they were alone in the cluster, with the guarantee as the group's limit: by
//! their weights, as its groups do, above what they are guaranteed themselves. That is the floor of each of them. A member that needs
//! nothing of what its group is guaranteed has no part in that.
//!
//! What is guaranteed over some classes counts for tasks that run there: of a resource that is guaranteed on some classes only, nothing
//! is on the others. Nobody is bound to these classes for that: a floor is a share, which may be had anywhere.
//!
//! Users with kinds, and groups with such members, are guaranteed nothing yet.

use super::quotas::place_of;
use super::{ClassId, Draft, DraftUser, GroupId, Instance, Owner, Quota, User, UserId};
use crate::Decimal;
use crate::violation::Violation;

/// A group that is guaranteed something, as if its members were alone in the cluster.
#[derive(Debug)]
pub struct AloneGroup {
    /// The group; in no other one that is guaranteed something.
    pub group: GroupId,
    /// Its members and what is inside it, with the guarantee as its limit.
    pub instance: Instance,
    /// The members, in the order of that instance.
    pub members: Vec<UserId>,
}

impl Instance {
    /// The groups that are guaranteed something, without those inside others of them.
    ///
    /// # Errors
    /// If a member has a part in the guarantee of a group inside another that is guaranteed something that it does not need.
    pub fn guaranteed_groups(&self) -> Result<Vec<AloneGroup>, Violation> {
        let members = self.guaranteed_members()?;
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let whole = Draft { users: Vec::new(), ..Draft::from(self) };
        let groups = members.into_iter().enumerate().filter(|(_, members)| !members.is_empty());
        groups.map(|(g, members)| self.alone(GroupId(g), members, &whole)).collect()
    }

    /// Of each group the users that have a part in its guarantee, unless they have it in that of a group around it; nothing where no
    /// group is guaranteed anything.
    fn guaranteed_members(&self) -> Result<Vec<Vec<UserId>>, Violation> {
        let guarantee = |owner: Owner| {
            self.quota_of(owner).filter(|quota| quota.has_guarantee()).map(|quota| (owner, quota))
        };
        let of_group = |group: usize| guarantee(Owner::Group(GroupId(group)));
        if (0..self.groups().len()).all(|group| of_group(group).is_none()) {
            return Ok(Vec::new());
        }
        let mut members: Vec<Vec<UserId>> = vec![Vec::new(); self.groups().len()];
        for user in self.users() {
            let (mut above, mut top) = (user.group(), None);
            let mut inside = guarantee(Owner::User(user.index()));
            while let Some(group) = above {
                let here = of_group(group.0);
                let wrong = |inner: Owner, why: &str, state: &str| {
                    let (who, inner) = (self.name_of(Owner::User(user.index())), self.name_of(inner));
                    let problem = format!(
                        "{who} {why}, but of what {inner} is guaranteed, which is inside it; state the {state} in both"
                    );
                    let field = here.map_or("guarantee", |(_, quota)| quota.guarantee_field());
                    let place = format!("{}.{field}", place_of(Owner::Group(group)));
                    Err(Violation::new(place, self.name_of(Owner::Group(group)), problem))
                };
                match (here.map(|(_, quota)| self.has_part(user, quota)), top, inside) {
                    (Some(true), _, inner) => {
                        if let (Some((owner, inner)), Some((_, quota))) = (inner, here)
                            && self.is_guaranteed_beyond(user, inner, quota)
                        {
                            return wrong(owner, "can have nothing of it on some classes", "classes");
                        }
                        (top, inside) = (Some(group), here);
                    }
                    (Some(false), Some(inner), _) => {
                        return wrong(Owner::Group(inner), "needs nothing of it", "resource");
                    }
                    _ => {}
                }
                above = self.groups()[group.0].parent;
            }
            if let Some(GroupId(top)) = top {
                members[top].push(user.index());
            }
        }
        Ok(members)
    }

    /// Whether a user could have any of what is guaranteed.
    fn has_part(&self, user: User<'_>, quota: &Quota) -> bool {
        let needs_some = quota.guaranteed().any(|sure| !user.demand()[sure.resource.0].is_zero());
        let on = |class: ClassId| user.can_use(class) && quota.guarantees_on(user.demand(), class);
        needs_some && (quota.guarantees.is_empty() || (0..self.classes().len()).map(ClassId).any(on))
    }

    /// Whether the inner of two guarantees is over classes where the outer gives a user nothing.
    fn is_guaranteed_beyond(&self, user: User<'_>, inner: &Quota, outer: &Quota) -> bool {
        let beyond = |class: ClassId| {
            user.can_use(class)
                && inner.guarantees_on(user.demand(), class)
                && !outer.guarantees_on(user.demand(), class)
        };
        !outer.guarantees.is_empty() && (0..self.classes().len()).map(ClassId).any(beyond)
    }

    fn alone(&self, group: GroupId, members: Vec<UserId>, whole: &Draft) -> Result<AloneGroup, Violation> {
        let inside = self.groups_inside(group);
        let id = self.groups()[group.0].id.as_str();
        let place_of_group: Vec<usize> = inside
            .iter()
            .scan(0, |next, inside| Some(std::mem::replace(next, *next + usize::from(*inside))))
            .collect();
        // Members run where something is guaranteed.
        let over_some = self.quota_of(Owner::Group(group)).filter(|quota| !quota.guarantees.is_empty());
        let only = |user: User<'_>| {
            let quota = over_some?;
            let classes = (0..self.classes().len()).map(ClassId);
            let on =
                |class: &ClassId| user.rule().allows(*class) && quota.guarantees_on(user.demand(), *class);
            let classes: Vec<usize> = classes.filter(on).map(|class| class.0).collect();
            (classes.len() < self.classes().len()).then_some(classes)
        };
        let member = |user: &UserId| {
            let (here, user) = (DraftUser::from(self.user(*user)), self.user(*user));
            DraftUser {
                group: here.group.map(|group| place_of_group[group]),
                eligible: only(user).or(here.eligible.clone()),
                ..here
            }
        };
        let names: Vec<&str> = members.iter().map(|user| self.user(*user).id()).collect();
        let known: std::collections::HashSet<&str> = names.iter().copied().collect();
        let group_is_inside =
            |name: &str| self.groups().iter().zip(&inside).any(|(group, inside)| *inside && group.id == name);
        let is_inside = |quota: &&super::DraftQuota| match quota.is_group {
            true => group_is_inside(&quota.owner),
            false => known.contains(quota.owner.as_str()),
        };
        let quota = |quota: &super::DraftQuota| {
            let mut here = super::DraftQuota {
                quota: Quota { reserve: Vec::new(), reserves: Vec::new(), ..quota.quota.clone() },
                ..quota.clone()
            };
            if quota.is_group && quota.owner == id {
                let Quota { guarantee, guarantees, limit, limits, .. } = &mut here.quota;
                limit.retain(|(resource, _)| guarantee.iter().all(|(other, _)| other != resource));
                limit.append(guarantee);
                limits.append(guarantees);
            }
            here
        };
        let mut groups: Vec<_> = whole
            .groups
            .iter()
            .zip(&inside)
            .filter(|(_, inside)| **inside)
            .map(|(group, _)| group.clone())
            .collect();
        groups.iter_mut().filter(|group| group.id == id).for_each(|group| group.parent = None);
        let alone = Draft {
            groups,
            users: members.iter().map(member).collect(),
            quotas: whole.quotas.iter().filter(is_inside).map(quota).collect(),
            ..whole.clone()
        };
        Ok(AloneGroup { group, instance: alone.build()?, members })
    }

    /// Whether anybody is guaranteed anything.
    pub fn has_guarantees(&self) -> bool {
        self.quotas().iter().any(|(_, quota)| quota.has_guarantee())
    }

    /// The tasks that a user is sure of: as many as hold what it is guaranteed, `min_r a_r / D_ir`, at most its own; 0 without a
    /// guarantee. Of amounts over some classes it is the most tasks that it could run there within all of them, if it were alone.
    pub fn guaranteed_tasks(&self, user: User<'_>) -> f64 {
        let tasks = self.tasks_within_guarantee(user).unwrap_or(0.0);
        user.tasks().map_or(tasks, |all| tasks.min(all as f64))
    }

    /// The tasks that a user's guarantee holds; `None` where it is over sets of classes that cross.
    fn tasks_within_guarantee(&self, user: User<'_>) -> Option<f64> {
        let quota = self.quota_of(Owner::User(user.index())).filter(|quota| quota.has_guarantee());
        let Some(quota) = quota else { return Some(0.0) };
        let demand = user.demand_doubles();
        if quota.guarantees.is_empty() {
            let of = |sure: super::QuotaAmount<'_>| sure.amount.to_f64() / demand[sure.resource.0];
            return Some(quota.guaranteed().map(of).fold(f64::INFINITY, f64::min));
        }
        let classes = (0..self.classes().len()).map(ClassId);
        let on = |class: &ClassId| user.can_use(*class) && quota.guarantees_on(user.demand(), *class);
        let usable: Vec<ClassId> = classes.filter(on).collect();
        let within = |sure: super::QuotaAmount<'_>| {
            let there = usable.iter().copied().filter(|class| sure.covers(*class)).collect();
            (there, sure.amount.to_f64() / demand[sure.resource.0])
        };
        most_within(quota.guaranteed().map(within).collect())
    }

    /// Of how many bundles of kinds one is sure by some amounts is not defined yet.
    ///
    /// # Errors
    /// If a user with kinds, or a group that it is in, is guaranteed something.
    pub(super) fn check_guarantees_of_kinds(&self) -> Result<(), Violation> {
        if !self.has_kinds() {
            return Ok(());
        }
        for (owner, quota) in self.quotas.iter().filter(|(_, quota)| quota.has_guarantee()) {
            let with_kinds = match *owner {
                Owner::User(user) => Some(self.user(user)).filter(|user| user.has_kinds()),
                Owner::Group(group) => {
                    let inside = self.groups_inside(group);
                    let is_member = |user: &User<'_>| user.group().is_some_and(|group| inside[group.0]);
                    self.users().filter(is_member).find(|user| user.has_kinds())
                }
            };
            if let Some(user) = with_kinds {
                let problem = format!(
                    "guarantees do not go together with users of several kinds of tasks yet, as {} is; drop the guarantee, or make each \
                     kind a user of its own",
                    self.name_of(Owner::User(user.index()))
                );
                let place = format!("{}.{}", place_of(*owner), quota.guarantee_field());
                return Err(Violation::new(place, self.name_of(*owner), problem));
            }
        }
        Ok(())
    }

    /// For what knows the guarantees that can be solved.
    ///
    /// # Errors
    /// If somebody's cannot.
    pub fn check_guarantees(&self) -> Result<(), Violation> {
        self.guaranteed_members()?;
        if self.has_guarantees()
            && let Some(user) = self.users().find(|user| user.tasks().is_some() && user.rates_differ())
        {
            let problem = "its tasks may run out, and do different work on different classes: beside guarantees that is not solved; \
                           leave out its tasks, its rates or the guarantees";
            return Err(Violation::new(format!("users[{}].tasks", user.index().0), user.id(), problem));
        }
        for (owner, _) in self.quotas().iter().filter(|(_, quota)| quota.has_guarantee()) {
            let Owner::User(UserId(i)) = *owner else { continue };
            if self.tasks_within_guarantee(self.user(UserId(i))).is_none() {
                let problem = "two of its sets of classes cross, neither inside the other; state amounts of sets that are inside \
                               one another or apart, or guarantee them to a group of which it is the only member";
                return Err(Violation::new(format!("users[{i}].guarantees"), self.name_of(*owner), problem));
            }
            if !self.user(UserId(i)).rule().rates().is_empty() {
                let problem = "what is guaranteed to a user whose tasks do different work on different classes is not \
                               defined; leave out its rates or its guarantee";
                return Err(Violation::new(format!("users[{i}].guarantee"), self.name_of(*owner), problem));
            }
        }
        Ok(())
    }
}

impl Quota {
    /// Whether tasks of a demand have a part in what is guaranteed where they run on a class: whatever they need of what is guaranteed
    /// anywhere is guaranteed there.
    pub fn guarantees_on(&self, demand: &[Decimal], class: ClassId) -> bool {
        let needed = || self.guaranteed().filter(|sure| !demand[sure.resource.0].is_zero());
        let is_there = |resource| needed().any(|sure| sure.resource == resource && sure.covers(class));
        needed().all(|sure| is_there(sure.resource))
    }
}

/// The most tasks of which no set of classes has more than its amount, of sets that are inside one another or apart; `None` where two
/// cross. Each class is in some set.
fn most_within(mut sets: Vec<(Vec<ClassId>, f64)>) -> Option<f64> {
    sets.retain(|(classes, _)| !classes.is_empty());
    sets.sort_by_key(|(classes, _)| classes.len());
    // Sets that are inside no other so far, and the most that there is in each.
    let mut outer: Vec<(Vec<ClassId>, f64)> = Vec::new();
    for (classes, most) in sets {
        let has = |class: &ClassId| classes.contains(class);
        if outer.iter().any(|(set, _)| set.iter().any(has) && !set.iter().all(has)) {
            return None;
        }
        let (inside, apart): (Vec<_>, Vec<_>) = outer.into_iter().partition(|(set, _)| set.iter().any(has));
        let is_all = inside.iter().map(|(set, _)| set.len()).sum::<usize>() == classes.len();
        let in_sets = if is_all { inside.iter().map(|(_, most)| most).sum() } else { f64::INFINITY };
        outer = apart;
        outer.push((classes, most.min(in_sets)));
    }
    Some(outer.iter().map(|(_, most)| most).sum())
}
