//! Floors: what guarantees come to for users, and whom a group's guarantee is for.
//!
//! What a group is guaranteed its members would divide if they were alone in the cluster, with the guarantee as the group's limit: by
//! their weights, as its groups do, above what they are guaranteed themselves. That is the floor of each of them. A member that needs
//! nothing of what its group is guaranteed has no part in that.

use super::quotas::place_of;
use super::{Draft, DraftUser, GroupId, Instance, Owner, Quota, ResourceId, User, UserId};
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
        let guarantee = |group: GroupId| self.quota_of(Owner::Group(group)).map(|quota| &quota.guarantee);
        let is_guaranteed: Vec<bool> = (0..self.groups().len())
            .map(|g| guarantee(GroupId(g)).is_some_and(|all| !all.is_empty()))
            .collect();
        if !is_guaranteed.contains(&true) {
            return Ok(Vec::new());
        }
        let mut members: Vec<Vec<UserId>> = vec![Vec::new(); self.groups().len()];
        for user in self.users() {
            let needs = |resource: &ResourceId| !user.demand()[resource.0].is_zero();
            let (mut above, mut top) = (user.group(), None);
            while let Some(group) = above {
                let all = guarantee(group).filter(|all| !all.is_empty());
                match (all.map(|all| all.iter().any(|(resource, _)| needs(resource))), top) {
                    (Some(true), _) => top = Some(group),
                    (Some(false), Some(inner)) => {
                        let problem = format!(
                            "{} needs nothing of it, but of what {} is guaranteed, which is inside it; state the resource in both",
                            self.name_of(Owner::User(user.index())),
                            self.name_of(Owner::Group(inner))
                        );
                        let place = format!("{}.guarantee", place_of(Owner::Group(group)));
                        return Err(Violation::new(place, self.name_of(Owner::Group(group)), problem));
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

    fn alone(&self, group: GroupId, members: Vec<UserId>, whole: &Draft) -> Result<AloneGroup, Violation> {
        let inside = self.groups_inside(group);
        let id = self.groups()[group.0].id.as_str();
        let place_of_group: Vec<usize> = inside
            .iter()
            .scan(0, |next, inside| Some(std::mem::replace(next, *next + usize::from(*inside))))
            .collect();
        let member = |user: &UserId| {
            let user = DraftUser::from(self.user(*user));
            DraftUser { group: user.group.map(|group| place_of_group[group]), ..user }
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
                quota: Quota { reserve: Vec::new(), ..quota.quota.clone() },
                ..quota.clone()
            };
            if quota.is_group && quota.owner == id {
                let Quota { guarantee, limit, .. } = &mut here.quota;
                limit.retain(|(resource, _)| guarantee.iter().all(|(other, _)| other != resource));
                limit.append(guarantee);
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
        self.quotas().iter().any(|(_, quota)| !quota.guarantee.is_empty())
    }

    /// The tasks that a user is sure of: as many as hold what it is guaranteed, `min_r a_r / D_ir`, at most its own; 0 without a
    /// guarantee.
    pub fn guaranteed_tasks(&self, user: User<'_>) -> f64 {
        let quota = self.quota_of(Owner::User(user.index())).filter(|quota| !quota.guarantee.is_empty());
        let Some(quota) = quota else { return 0.0 };
        let demand = user.demand_doubles();
        let of =
            |(resource, amount): &(super::ResourceId, crate::Decimal)| amount.to_f64() / demand[resource.0];
        let tasks = quota.guarantee.iter().map(of).fold(f64::INFINITY, f64::min);
        user.tasks().map_or(tasks, |all| tasks.min(all as f64))
    }

    /// For what knows the guarantees that can be solved.
    ///
    /// # Errors
    /// If somebody's cannot.
    pub fn check_guarantees(&self) -> Result<(), Violation> {
        self.guaranteed_members()?;
        for (owner, _) in self.quotas().iter().filter(|(_, quota)| !quota.guarantee.is_empty()) {
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
