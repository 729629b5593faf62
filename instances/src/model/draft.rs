//! An instance taken apart: to ask what if, change a part and build it again.

use super::{
    ClassId, DeviceProfiles, DraftQuota, Gang, Group, GroupId, Instance, InstanceBuilder, Kind, NewGroup,
    NewKind, NewUser, Owner, PlacementRule, Quota, ServerClass, User, UserId,
};
use crate::Decimal;
use crate::violation::Violation;
use std::collections::HashMap;

/// The parts of an instance, free to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The instance's name.
    pub name: String,
    /// Resource names.
    pub resources: Vec<String>,
    /// Server classes.
    pub classes: Vec<ServerClass>,
    /// Into what devices can be cut, rising by resource.
    pub device_profiles: Vec<DeviceProfiles>,
    /// Groups; they name their parents.
    pub groups: Vec<NewGroup>,
    /// Users; they name classes and groups by position.
    pub users: Vec<DraftUser>,
    /// Guarantees, limits and reserves; each names whose it is.
    pub quotas: Vec<DraftQuota>,
    /// The servers by which shares are measured, class by class ([`InstanceBuilder::measured_by`]); `None`: its own.
    pub measured_by: Option<Vec<ServerClass>>,
}

/// A user of a [`Draft`].
#[derive(Clone, Debug, PartialEq)]
pub struct DraftUser {
    /// Unique name.
    pub id: String,
    /// One task's demand, one entry a resource.
    pub demand: Vec<Decimal>,
    /// The profile of the part of a device that a task takes, which `demand` has as an amount; `None`: none.
    pub profile: Option<String>,
    /// Weight (> 0).
    pub weight: Decimal,
    /// How many tasks; `None` is unlimited.
    pub tasks: Option<u64>,
    /// Positions of the eligible classes; `None`: all.
    pub eligible: Option<Vec<usize>>,
    /// Work per task by position of the class, where it is not 1.
    pub rates: Vec<(usize, Decimal)>,
    /// Position of the group; `None`: the root.
    pub group: Option<usize>,
    /// The kinds of which a task consists; then neither `demand`, which is their sum, nor `eligible` counts. Empty: none.
    pub kinds: Vec<DraftKind>,
    /// The most tasks on one server; `None` is any number.
    pub per_server: Option<u64>,
    /// How many tasks run at once or not at all; `None`: each for itself.
    pub gang: Option<Gang>,
    /// By how many the tasks in two domains differ at most; `None` is any number.
    pub spread: Option<u64>,
}

/// A kind of tasks of a [`DraftUser`].
#[derive(Clone, Debug, PartialEq)]
pub struct DraftKind {
    /// Unique among the kinds of its user.
    pub id: String,
    /// Pieces of it in one task.
    pub each: u64,
    /// One piece's demand, one entry a resource.
    pub demand: Vec<Decimal>,
    /// The profile of the part of a device that a piece takes, which `demand` has as an amount; `None`: none.
    pub profile: Option<String>,
    /// Positions of the eligible classes; `None`: all.
    pub eligible: Option<Vec<usize>>,
}

impl Draft {
    /// The same with shares measured by the servers of `instance`, as those of `instance` are. Its classes must come
    /// first among those of this one; counts and capacities may be others.
    pub fn measured_as(self, instance: &Instance) -> Self {
        Self { measured_by: Some(instance.measuring_classes().to_vec()), ..self }
    }

    /// The instance, or the first rule of the model that it breaks.
    pub fn build(&self) -> Result<Instance, Violation> {
        let mut builder = InstanceBuilder::new(self.name.clone(), self.resources.clone())?;
        for class in &self.classes {
            builder.class(class.clone())?;
        }
        for cut in &self.device_profiles {
            builder.device_profiles(cut.clone())?;
        }
        if let Some(classes) = &self.measured_by {
            builder.measured_by(classes.clone());
        }
        builder.groups(self.groups.clone())?;
        for user in &self.users {
            let classes = |eligible: &Option<Vec<usize>>| {
                eligible.as_ref().map(|all| all.iter().copied().map(ClassId).collect())
            };
            let rates = user.rates.iter().map(|&(class, rate)| (ClassId(class), rate)).collect();
            let rule = builder.rule(PlacementRule::new(classes(&user.eligible), rates));
            let new = NewUser {
                id: &user.id,
                demand: &user.demand,
                weight: user.weight,
                tasks: user.tasks,
                rule,
                group: user.group.map(GroupId),
            };
            let kind = |kind: &DraftKind| NewKind {
                id: kind.id.clone(),
                each: kind.each,
                demand: kind.demand.clone(),
                rule: builder.rule(PlacementRule::new(classes(&kind.eligible), Vec::new())),
            };
            let kinds: Vec<NewKind> = user.kinds.iter().map(kind).collect();
            let added = match kinds.is_empty() {
                true => builder.user(new)?,
                false => builder.user_with_kinds(new, &kinds)?,
            };
            if kinds.is_empty() {
                user.profile.as_ref().map_or(Ok(()), |name| builder.profile(added, None, name))?;
            }
            for (position, kind) in user.kinds.iter().enumerate() {
                kind.profile.as_ref().map_or(Ok(()), |name| builder.profile(added, Some(position), name))?;
            }
            user.per_server.map_or(Ok(()), |most| builder.per_server(added, most))?;
            user.gang.map_or(Ok(()), |gang| builder.gang(added, gang))?;
            user.spread.map_or(Ok(()), |most| builder.spread(added, most))?;
        }
        for quota in &self.quotas {
            let missing = || Violation::new("quotas", &quota.owner, "there is nobody of this id");
            let owner = if quota.is_group {
                Owner::Group(builder.group_named(&quota.owner).ok_or_else(missing)?)
            } else {
                let position = self.users.iter().position(|user| user.id == quota.owner);
                Owner::User(UserId(position.ok_or_else(missing)?))
            };
            builder.quota(owner, quota.quota.clone())?;
        }
        builder.build()
    }
}

impl Draft {
    /// Leaves out the quotas of users that are not there, and guarantees of resources that nobody there needs.
    pub fn fit_quotas(&mut self) {
        if self.quotas.is_empty() {
            return;
        }
        let mut needed = vec![vec![false; self.resources.len()]; self.groups.len()];
        let position: HashMap<&str, usize> =
            self.groups.iter().enumerate().map(|(g, group)| (group.id.as_str(), g)).collect();
        let parent =
            |group: usize| self.groups[group].parent.as_deref().and_then(|id| position.get(id).copied());
        for user in &self.users {
            let mut above = user.group;
            // A circle of groups is refused when it is built.
            for _ in 0..=self.groups.len() {
                let Some(group) = above else { break };
                for (resource, needs) in needed[group].iter_mut().enumerate() {
                    *needs |= user.needs(resource);
                }
                above = parent(group);
            }
        }
        let of_user =
            |user: &DraftUser| (0..self.resources.len()).map(|resource| user.needs(resource)).collect();
        let users: HashMap<&str, Vec<bool>> =
            self.users.iter().map(|user| (user.id.as_str(), of_user(user))).collect();
        self.quotas.retain_mut(|stated| {
            let needs = match stated.is_group {
                true => position.get(stated.owner.as_str()).map(|group| &needed[*group]),
                false => users.get(stated.owner.as_str()),
            };
            let Some(needs) = needs else { return false };
            let quota = &mut stated.quota;
            quota.guarantee.retain(|(resource, _)| needs[resource.0]);
            for over in &mut quota.guarantees {
                over.amounts.retain(|(resource, _)| needs[resource.0]);
            }
            quota.guarantees.retain(|over| !over.amounts.is_empty());
            !quota.is_empty()
        });
    }
}

impl DraftUser {
    /// Whether a task needs some of a resource: where it has kinds, one of these does.
    fn needs(&self, resource: usize) -> bool {
        let some = |demand: &[Decimal]| demand.get(resource).is_some_and(|demand| !demand.is_zero());
        if self.kinds.is_empty() {
            some(&self.demand)
        } else {
            self.kinds.iter().any(|kind| some(&kind.demand))
        }
    }
}

impl From<&Instance> for Draft {
    fn from(instance: &Instance) -> Self {
        let new_group = |group: &Group| NewGroup {
            id: group.id.clone(),
            weight: group.weight,
            parent: group.parent.map(|parent| instance.groups()[parent.0].id.clone()),
        };
        Self {
            name: instance.name().to_owned(),
            resources: instance.resources().to_vec(),
            classes: instance.classes().to_vec(),
            device_profiles: instance.device_profiles().to_vec(),
            groups: instance.groups().iter().map(new_group).collect(),
            users: instance.users().map(DraftUser::from).collect(),
            quotas: instance
                .quotas()
                .iter()
                .map(|(owner, quota)| draft_quota(instance, *owner, quota))
                .collect(),
            measured_by: instance.measured_by.clone(),
        }
    }
}

/// The positions of the classes that a rule names.
fn eligible(rule: &PlacementRule) -> Option<Vec<usize>> {
    rule.eligible().map(|classes| classes.iter().map(|class| class.0).collect())
}

impl From<Kind<'_>> for DraftKind {
    fn from(kind: Kind<'_>) -> Self {
        Self {
            id: kind.id().unwrap_or_default().to_owned(),
            each: kind.each(),
            demand: kind.piece().to_vec(),
            profile: kind.profile_name().map(str::to_owned),
            eligible: eligible(kind.rule()),
        }
    }
}

fn draft_quota(instance: &Instance, owner: Owner, quota: &Quota) -> DraftQuota {
    let (is_group, id) = match owner {
        Owner::Group(group) => (true, instance.groups()[group.0].id.as_str()),
        Owner::User(user) => (false, instance.user(user).id()),
    };
    DraftQuota { is_group, owner: id.to_owned(), quota: quota.clone() }
}

impl From<User<'_>> for DraftUser {
    fn from(user: User<'_>) -> Self {
        let rule = user.rule();
        Self {
            id: user.id().to_owned(),
            demand: user.demand().to_vec(),
            profile: user.profile_name().map(str::to_owned),
            weight: user.weight(),
            tasks: user.tasks(),
            eligible: eligible(rule),
            rates: rule.rates().iter().map(|(class, rate)| (class.0, *rate)).collect(),
            group: user.group().map(|group| group.0),
            kinds: if user.has_kinds() { user.kinds().map(DraftKind::from).collect() } else { Vec::new() },
            per_server: user.per_server(),
            gang: user.gang(),
            spread: user.spread(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceProfile;

    #[test]
    fn an_instance_taken_apart_and_built_again_is_the_same() {
        let same = |draft: &Draft| {
            let again = Draft::from(&draft.build().unwrap());
            assert_eq!(again, *draft);
            assert_eq!(again.to_string(), draft.to_string());
        };
        let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
        let amounts = |amount: &str| vec![(crate::ResourceId(1), amount.parse().unwrap())];
        let limits = vec![crate::ClassAmounts { classes: vec![ClassId(1)], amounts: amounts("2.5") }];
        let over =
            |amount: &str| vec![crate::ClassAmounts { classes: vec![ClassId(1)], amounts: amounts(amount) }];
        let quota = Quota {
            guarantee: amounts("1"),
            guarantees: over("0.5"),
            limit: amounts("3"),
            limits,
            reserve: amounts("0.25"),
            reserves: over("0.125"),
        };
        let quotas = vec![DraftQuota { is_group: false, owner: draft.users[1].id.clone(), quota }];
        draft.users[1].eligible = Some(vec![0]);
        draft.users[0].rates = vec![(1, "1.5".parse().unwrap())];
        draft.users[0].tasks = Some(3);
        draft.users[0].weight = "0.5".parse().unwrap();
        same(&Draft { quotas, ..draft.clone() });
        let mut ruled = draft.clone();
        ruled.users[0].per_server = Some(2);
        ruled.classes[1].devices = vec![(crate::ResourceId(0), 4)];
        for (class, domain) in ruled.classes.iter_mut().zip(["rack-1", "rack-2"]) {
            class.domain = Some(domain.into());
        }
        ruled.users[0].tasks = Some(4);
        ruled.users[0].gang = Some(Gang { tasks: 2, in_one_domain: false });
        ruled.users[1].spread = Some(1);
        same(&ruled);
        let mut cut = ruled.clone();
        cut.classes[0].devices = vec![(crate::ResourceId(0), 2)];
        cut.classes[0].capacity[0] = "6".parse().unwrap();
        let profile = |name: &str, slices| DeviceProfile { name: name.into(), slices, starts: vec![0] };
        let profiles = vec![profile("third", 1), profile("all", 3)];
        let resource = crate::ResourceId(0);
        cut.device_profiles = vec![DeviceProfiles { resource, slices: 3, profiles }];
        cut.users[1].demand[0] = "1".parse().unwrap();
        cut.users[1].profile = Some("third".into());
        same(&cut);
        let piece = draft.users[1].demand.clone();
        let kind = |id: &str, each, eligible| DraftKind {
            id: id.into(),
            each,
            demand: piece.clone(),
            profile: None,
            eligible,
        };
        let kinds = vec![kind("worker", 2, Some(vec![1])), kind("driver", 1, None)];
        let sum = piece.iter().map(|d| Decimal::from_units(3 * d.scaled(-6).unwrap(), -6).unwrap()).collect();
        let plain = draft.users[1].clone();
        draft.users.push(DraftUser { id: "bundle".into(), demand: sum, eligible: None, kinds, ..plain });
        same(&draft);
        for class in &mut draft.classes {
            class.domain = Some(class.id.clone());
        }
        let bundle = &mut draft.users[2];
        (bundle.tasks, bundle.per_server, bundle.spread) = (Some(4), Some(4), Some(1));
        same(&draft);
        (draft.users[2].spread, draft.users[2].gang) = (None, Some(Gang { tasks: 2, in_one_domain: true }));
        same(&draft);
    }

    #[test]
    fn shares_of_a_variant_are_measured_by_the_cluster_that_it_names() {
        use crate::{Objective, ResourceId, UserId};
        let today = crate::generate::drfh_fig1().unwrap();
        let mut draft = Draft::from(&today).measured_as(&today);
        draft.classes[0].count += 3;
        draft.classes[1].capacity[0] = "12.000000001".parse().unwrap();
        let variant = draft.build().unwrap();
        for user in (0..today.user_count()).map(UserId) {
            let (before, after) = (today.user(user), variant.user(user));
            assert_eq!(after.task_share(), before.task_share());
            assert_eq!(after.dominant_resource(), before.dominant_resource());
            for objective in [Objective::Drfh, Objective::TaskShareFairness] {
                assert_eq!(objective.share_per_level(after), objective.share_per_level(before));
            }
        }
        let memory = ResourceId(1);
        assert_eq!(variant.measure(memory), today.total(memory));
        assert!(variant.total(memory) > today.total(memory), "what servers have is what they have");
        let cpu = ResourceId(0);
        assert_eq!(variant.measure(cpu), today.total(cpu), "in whatever unit");
        assert_eq!(Draft::from(&variant), draft);
    }

    #[test]
    fn shares_are_only_measured_by_the_same_classes_that_have_what_users_need() {
        let today = crate::generate::drfh_fig1().unwrap();
        let refusal = |change: &dyn Fn(&mut Vec<ServerClass>)| {
            let mut classes = today.classes().to_vec();
            change(&mut classes);
            let draft = Draft { measured_by: Some(classes), ..Draft::from(&today) };
            draft.build().unwrap_err().to_string()
        };
        let others = "server_classes = 2 classes: shares can only be measured by servers of classes with which the instance begins";
        assert_eq!(refusal(&|classes| classes.reverse()), others);
        assert_eq!(
            refusal(&|classes| classes.iter_mut().for_each(|class| class.capacity[1] = Decimal::ZERO)),
            "resource memory: users need it, and the servers by which shares are measured have none"
        );
    }
}
