//! Floors: what guarantees come to for users, and whom a group's guarantee is for.
//!
//! What a group is guaranteed its members would divide if they were alone in the cluster, with the guarantee as the group's limit: by
//! their weights, as its groups do, above what they are guaranteed themselves. That is the floor of each of them. A member that needs
//! nothing of what its group is guaranteed has no part in that.
//!
//! What is guaranteed over some classes counts for tasks that run there: of a resource that is guaranteed on some classes only, nothing
//! is on the others. Nobody is bound to these classes for that: a floor is a share, which may be had anywhere. Each kind of a user with kinds
//! has its own classes in this, and the user has a part where all its kinds have some.

use super::quotas::place_of;
use super::{ClassId, Draft, DraftUser, GroupId, Instance, Kind, Owner, Quota, ResourceId, User, UserId};
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
        let has_classes = |kind: Kind<'_>| kind.sure_classes(quota).next().is_some();
        user.kinds().any(|kind| kind.needs_some_of(quota))
            && (quota.guarantees.is_empty() || user.kinds().all(has_classes))
    }

    /// Whether the inner of two guarantees is over classes where the outer gives a user nothing.
    fn is_guaranteed_beyond(&self, user: User<'_>, inner: &Quota, outer: &Quota) -> bool {
        let beyond =
            |kind: Kind<'_>| kind.sure_classes(inner).any(|class| !outer.guarantees_on(kind.piece(), class));
        !outer.guarantees.is_empty() && user.kinds().any(beyond)
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
        let only = |kind: Kind<'_>| {
            let quota = over_some?;
            let on =
                |class: &ClassId| kind.rule().allows(*class) && quota.guarantees_on(kind.piece(), *class);
            let classes: Vec<usize> =
                (0..self.classes().len()).map(ClassId).filter(on).map(|class| class.0).collect();
            (classes.len() < self.classes().len()).then_some(classes)
        };
        let member = |user: &UserId| {
            let (mut here, user) = (DraftUser::from(self.user(*user)), self.user(*user));
            here.group = here.group.map(|group| place_of_group[group]);
            let DraftUser { eligible, kinds, .. } = &mut here;
            let mut of_kinds: Vec<&mut Option<Vec<usize>>> = match kinds.is_empty() {
                true => vec![eligible],
                false => kinds.iter_mut().map(|kind| &mut kind.eligible).collect(),
            };
            for (eligible, kind) in of_kinds.iter_mut().zip(user.kinds()) {
                **eligible = only(kind).or(eligible.take());
            }
            here
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

    /// How much of a resource a quota guarantees wherever it is, in whole units: over all classes, or else on all classes that are named.
    pub(crate) fn guaranteed_units(&self, quota: &Quota, resource: ResourceId) -> u128 {
        let of = quota.guaranteed().filter(|sure| sure.resource == resource);
        let units = |amount| self.in_units(resource, amount);
        let over_all = of.clone().find(|sure| sure.classes.is_none());
        let sum = || of.fold(0, |sum: u128, sure| sum.saturating_add(units(sure.amount)));
        over_all.map_or_else(sum, |sure| units(sure.amount))
    }

    /// Whether anybody is guaranteed anything.
    pub fn has_guarantees(&self) -> bool {
        self.quotas().iter().any(|(_, quota)| quota.has_guarantee())
    }

    /// Whether a user, or a group that it is in, is guaranteed anything.
    pub fn is_guaranteed(&self, user: User<'_>) -> bool {
        let groups = std::iter::successors(user.group(), |group| self.groups()[group.0].parent);
        let owners = groups.map(Owner::Group).chain(std::iter::once(Owner::User(user.index())));
        owners.filter_map(|owner| self.quota_of(owner)).any(Quota::has_guarantee)
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
