//! Reserves as limits of all others: what these may have of a resource beside what is kept for its owner, and for others whose tasks are too few
//! for what they reserve.
//!
//! What an owner `o` does not use of its reserve `R_o` is nobody's, so of what there is, `C`, others have `C − Σ_o max(R_o, used_o)`. That is
//! `used beside S <= C − Σ_{o ∈ S} R_o` for every set `S` of owners of which none is inside another. Rows are those with one owner and all whose
//! tasks cannot use what they reserve, since these alone are sure to leave some of it. So it is of what servers have, and of the limit over the
//! same of each group that the owner is in, for all others in that.

use super::quotas::{LimitRow, Owner, QuotaAmount, place_of};
use super::{ClassId, GroupId, Instance, ResourceId, UserId};
use crate::Decimal;
use crate::violation::Violation;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Where something is reserved: over some classes, or over all; and of which resource.
type Place<'a> = (Option<&'a [ClassId]>, ResourceId);

/// Something reserved, and how much of it is kept of what: of what servers have, or of the limit of a group.
#[derive(Clone, Copy)]
struct Kept<'a> {
    owner: Owner,
    reserve: QuotaAmount<'a>,
    within: Option<GroupId>,
    /// In whole smallest units.
    own: u128,
    all: u128,
}

/// Owners whose tasks are too few for what they reserve at a place, none of them inside another, with what that is in whole smallest units.
#[derive(Default)]
struct Idle {
    kept: BTreeMap<Owner, u128>,
    owners: Arc<[Owner]>,
}

impl Instance {
    /// All reserves as rows, in the order of the quotas; of each what is kept of the servers before what is kept of limits.
    pub(super) fn reserve_rows(&self) -> Result<Vec<LimitRow>, Violation> {
        let few = self.too_few_tasks();
        let mut idle: BTreeMap<(Place<'_>, Option<GroupId>), Idle> = BTreeMap::new();
        let mut rows = Vec::new();
        for (owner, quota) in self.quotas() {
            for reserve in quota.reserved() {
                let of_servers = self.kept_of_servers(*owner, reserve)?;
                // Where servers have no more than a limit, what is kept of them is kept of it too.
                let of_limits = self.kept_of_limits(*owner, reserve).filter(|kept| kept.all < of_servers.all);
                let place = (reserve.classes, reserve.resource);
                for kept in std::iter::once(of_servers).chain(of_limits) {
                    let few = few.get(&place).map_or(&[][..], |few| few);
                    let idle =
                        idle.entry((place, kept.within)).or_insert_with(|| self.idle(few, kept.within));
                    rows.extend(self.reserve_row(kept, idle)?);
                }
            }
        }
        Ok(rows)
    }

    /// What is kept of what servers have.
    fn kept_of_servers<'a>(&self, owner: Owner, reserve: QuotaAmount<'a>) -> Result<Kept<'a>, Violation> {
        let QuotaAmount { classes, resource, amount } = reserve;
        let of_class = |class: &ClassId| {
            let count = u128::from(self.classes[class.0].count);
            self.capacity_units(*class, resource).saturating_mul(count)
        };
        let of_some = |classes: &[ClassId]| classes.iter().map(of_class).fold(0, u128::saturating_add);
        let all = classes.map_or_else(|| self.total_units(resource), of_some);
        let own = self.in_units(resource, amount);
        if own >= all {
            let problem = match classes {
                None => {
                    "all servers together have no more, so nobody else could run a task that needs it; reserve less"
                }
                Some(_) => {
                    "these classes together have no more, so nobody else could run there a task that needs it; \
                     reserve less, or leave them out of the others' `eligible` classes"
                }
            };
            return Err(self.wrong_reserve(owner, reserve, problem.into()));
        }
        Ok(Kept { owner, reserve, within: None, own, all })
    }

    /// What is kept of limits over the same, of the groups that the owner is in.
    fn kept_of_limits<'a>(
        &'a self,
        owner: Owner,
        reserve: QuotaAmount<'a>,
    ) -> impl Iterator<Item = Kept<'a>> {
        let own = self.in_units(reserve.resource, reserve.amount);
        let is_same =
            move |one: &QuotaAmount<'_>| (one.resource, one.classes) == (reserve.resource, reserve.classes);
        let groups = self.owners_around(owner).filter_map(|around| match around {
            Owner::Group(group) => Some((group, self.quota_of(around)?)),
            Owner::User(_) => None,
        });
        groups.filter_map(move |(group, quota)| {
            let limit = quota.limited().find(is_same)?;
            let all = self.in_units(reserve.resource, limit.amount);
            Some(Kept { owner, reserve, within: Some(group), own, all })
        })
    }

    /// What all others may have of a resource beside a reserve, and beside what else is kept with it for those with too few tasks; none of a limit of
    /// no more than that where nobody else in its group needs any.
    fn reserve_row(&self, of: Kept<'_>, idle: &Idle) -> Result<Option<LimitRow>, Violation> {
        let Kept { owner, reserve, within, own, all } = of;
        let QuotaAmount { classes, resource, amount } = reserve;
        if own >= all {
            let group = within.map(|group| self.name_of(Owner::Group(group))).unwrap_or_default();
            let problem = format!(
                "{group} may have no more, so nobody else in it could run a task that needs it; reserve less"
            );
            return match self.is_needed_beside(of, &[]) {
                true => Err(self.wrong_reserve(owner, reserve, problem)),
                false => Ok(None),
            };
        }
        let beside = self.beside(owner, idle);
        let others = beside.iter().filter(|other| **other != owner).filter_map(|other| idle.kept.get(other));
        let kept = others.fold(0, |sum: u128, kept| sum.saturating_add(*kept));
        let (beside, kept) = match kept < all - own {
            true => (beside, kept),
            false if self.is_needed_beside(of, &beside) => {
                let (other, kept) =
                    (beside.iter().find(|other| **other != owner), self.written(resource, kept));
                let other = other.map(|other| self.name_of(*other)).unwrap_or_default();
                let problem = format!(
                    "others with too few tasks to use theirs, {other} for one, reserve {kept} beside it, so nobody else could run a task that \
                     needs it; reserve less"
                );
                return Err(self.wrong_reserve(owner, reserve, problem));
            }
            // Nobody is there to leave it.
            false => (Arc::default(), 0),
        };
        let left = Decimal::from_units(all - own - kept, i32::from(self.exponents[resource.0]));
        let left = left.map_err(|error| {
            self.wrong_reserve(owner, reserve, format!("what is left beside it: {error}"))
        })?;
        let classes = classes.map(<[ClassId]>::to_vec);
        Ok(Some(LimitRow { owner, resource, classes, amount: left, reserve: Some(amount), within, beside }))
    }

    /// Whether somebody needs a resource who is below none of these owners and not below that of a reserve, but in the group of whose limit it is kept.
    fn is_needed_beside(&self, of: Kept<'_>, beside: &[Owner]) -> bool {
        let is_other = |user: &UserId| {
            let mut above = self.owners_above(*user);
            !above.any(|above| above == of.owner || beside.binary_search(&above).is_ok())
        };
        let is_inside = |user: &UserId| of.within.is_none_or(|group| self.is_in(Owner::User(*user), group));
        let needs = |user: &UserId| !self.user(*user).demand()[of.reserve.resource.0].is_zero();
        (0..self.user_count()).map(UserId).any(|user| needs(&user) && is_other(&user) && is_inside(&user))
    }

    fn wrong_reserve(&self, owner: Owner, reserve: QuotaAmount<'_>, problem: String) -> Violation {
        let list = if reserve.classes.is_some() { "reserves" } else { "reserve" };
        let name = &self.resources[reserve.resource.0];
        Violation::new(format!("{}.{list}.{name}", place_of(owner)), reserve.amount, problem)
    }

    /// What is kept of a resource beside a reserve, for others that have too few tasks for theirs, if anything is.
    pub(crate) fn kept_beside(&self, row: &LimitRow) -> Option<f64> {
        let is_same =
            |one: &QuotaAmount<'_>| one.resource == row.resource && one.classes == row.classes.as_deref();
        let others = row.beside.iter().filter(|other| **other != row.owner);
        let kept = others.filter_map(|other| self.quota_of(*other)?.reserved().find(is_same));
        let kept = kept.map(|one| self.in_units(row.resource, one.amount)).fold(0, u128::saturating_add);
        (kept > 0).then(|| self.amount(row.resource, kept))
    }

    /// Those whose reserves are kept with that of an owner: it is among them or outside all of them.
    fn beside(&self, owner: Owner, idle: &Idle) -> Arc<[Owner]> {
        let is_related = |other: &Owner| {
            *other != owner
                && (self.owners_around(owner).any(|above| above == *other)
                    || self.owners_around(*other).any(|above| above == owner))
        };
        match idle.owners.iter().any(is_related) {
            true => idle.owners.iter().copied().filter(|other| !is_related(other)).collect(),
            false => idle.owners.clone(),
        }
    }

    /// At each place where something is reserved, who has too few tasks for it, with what that is.
    fn too_few_tasks(&self) -> BTreeMap<Place<'_>, Vec<(u128, Owner)>> {
        let mut found: BTreeMap<Place<'_>, Vec<(u128, Owner)>> = BTreeMap::new();
        let mut used: BTreeMap<ResourceId, Vec<u128>> = BTreeMap::new();
        for (owner, quota) in self.quotas() {
            for QuotaAmount { classes, resource, amount } in quota.reserved() {
                let kept = self.in_units(resource, amount);
                let most_used = match owner {
                    Owner::User(user) => self.most_used(*user, resource),
                    Owner::Group(group) => {
                        let of_groups = || {
                            let of_user = |i: usize| self.most_used(UserId(i), resource);
                            self.of_groups(0, of_user, |a: u128, b| a.saturating_add(b))
                        };
                        used.entry(resource).or_insert_with(of_groups)[group.0]
                    }
                };
                if most_used < kept {
                    found.entry((classes, resource)).or_default().push((kept, *owner));
                }
            }
        }
        found
    }

    /// Those of a group, or all; of owners inside one another those that reserve most.
    fn idle(&self, few: &[(u128, Owner)], within: Option<GroupId>) -> Idle {
        let is_inside = |(_, owner): &&(u128, Owner)| within.is_none_or(|group| self.is_in(*owner, group));
        let mut owners: Vec<(u128, Owner)> = few.iter().filter(is_inside).copied().collect();
        owners.sort_by_key(|(kept, owner)| (std::cmp::Reverse(*kept), *owner));
        let (mut kept, mut around) = (BTreeMap::new(), HashSet::new());
        for (amount, owner) in owners {
            let mut outer = self.owners_around(owner);
            if !around.contains(&owner) && !outer.any(|outer| kept.contains_key(&outer)) {
                around.extend(self.owners_around(owner));
                kept.insert(owner, amount);
            }
        }
        Idle { owners: kept.keys().copied().collect(), kept }
    }

    /// What all tasks of a user need of a resource, in whole smallest units; as much as there can be where their number is not known.
    fn most_used(&self, user: UserId, resource: ResourceId) -> u128 {
        let user = self.user(user);
        let each = self.in_units(resource, user.demand()[resource.0]);
        let all = user.tasks().map_or(u128::MAX, |tasks| each.saturating_mul(tasks.into()));
        if each == 0 { 0 } else { all }
    }

    /// A user and the groups that it is in.
    pub(super) fn owners_above(&self, user: UserId) -> impl Iterator<Item = Owner> + '_ {
        std::iter::once(Owner::User(user)).chain(self.owners_around(Owner::User(user)))
    }

    /// Whether an owner is in a group, or in one that is in it.
    fn is_in(&self, owner: Owner, group: GroupId) -> bool {
        self.owners_around(owner).any(|around| around == Owner::Group(group))
    }

    /// The groups that an owner is in.
    fn owners_around(&self, owner: Owner) -> impl Iterator<Item = Owner> + '_ {
        let first = match owner {
            Owner::User(user) => self.user(user).group(),
            Owner::Group(group) => self.groups[group.0].parent,
        };
        std::iter::successors(first, |group| self.groups[group.0].parent).map(Owner::Group)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        ClassAmounts, Draft, DraftQuota, DraftUser, Instance, NewGroup, Owner, Quota, ResourceId,
        ServerClass, UserId, Violation,
    };

    /// Thirty cores, and users `(tasks, group)` of one core each.
    fn draft(users: &[(Option<u64>, Option<usize>)]) -> Draft {
        let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
        draft.resources.truncate(1);
        draft.classes = vec![ServerClass::new("n", 3, vec!["10".parse().unwrap()])];
        let user = draft.users[0].clone();
        let named = |(i, (tasks, group)): (usize, &(Option<u64>, Option<usize>))| DraftUser {
            id: format!("u{i}"),
            demand: vec!["1".parse().unwrap()],
            tasks: *tasks,
            group: *group,
            ..user.clone()
        };
        draft.users = users.iter().enumerate().map(named).collect();
        draft.groups = ["g", "h"]
            .map(|id| NewGroup { id: id.into(), weight: "1".parse().unwrap(), parent: None })
            .into();
        draft
    }

    fn reserves(mut draft: Draft, reserves: &[(&str, &str)]) -> Result<Instance, Violation> {
        draft.quotas = reserves
            .iter()
            .map(|(owner, amount)| DraftQuota {
                is_group: !owner.starts_with('u'),
                owner: (*owner).into(),
                quota: Quota { reserve: vec![(ResourceId(0), amount.parse().unwrap())], ..Quota::default() },
            })
            .collect();
        draft.build()
    }

    /// Of each reserve what is left beside it, and the users who are held to that.
    fn rows(instance: &Instance) -> Vec<(String, Vec<usize>)> {
        let held = |j: usize| {
            instance
                .users()
                .filter(|user| instance.limits_above(*user).contains(&j))
                .map(|user| user.index().0)
                .collect()
        };
        instance.limit_rows().iter().enumerate().map(|(j, row)| (row.amount.to_string(), held(j))).collect()
    }

    #[test]
    fn what_several_reserve_and_cannot_use_is_kept_together() {
        let idle = [(Some(0), None), (Some(9), None), (None, None), (None, None)];
        let instance = reserves(draft(&idle), &[("u0", "10"), ("u1", "10")]).unwrap();
        assert_eq!(rows(&instance), [("10".into(), vec![2, 3]), ("10".into(), vec![2, 3])]);
        // Who may use its own is kept its own beside what idle ones are kept.
        let instance = reserves(draft(&idle), &[("u0", "10"), ("u1", "10"), ("u2", "4")]).unwrap();
        assert_eq!(rows(&instance)[2], ("6".into(), vec![3]));
        // As many tasks as are reserved are not too few.
        let instance = reserves(
            draft(&[(Some(10), None), (Some(0), None), (None, None)]),
            &[("u0", "10"), ("u1", "10")],
        )
        .unwrap();
        assert_eq!(rows(&instance), [("10".into(), vec![2]), ("20".into(), vec![0, 2])]);
    }

    #[test]
    fn of_reserves_inside_one_another_the_largest_is_kept_and_none_twice() {
        let inside = [(Some(1), Some(0)), (Some(1), Some(0)), (None, Some(1)), (Some(0), None)];
        let instance = reserves(draft(&inside), &[("g", "12"), ("u0", "5"), ("u3", "3")]).unwrap();
        // The group with the idle user beside it; the user inside with that one alone.
        assert_eq!(
            rows(&instance),
            [("15".into(), vec![2]), ("22".into(), vec![1, 2]), ("15".into(), vec![2])]
        );
        let instance = reserves(draft(&inside), &[("g", "4"), ("u0", "5")]).unwrap();
        assert_eq!(rows(&instance), [("26".into(), vec![2, 3]), ("25".into(), vec![1, 2, 3])]);
    }

    #[test]
    fn what_is_kept_over_other_classes_is_another_matter() {
        let mut two = draft(&[(Some(0), None), (Some(0), None), (None, None)]);
        two.classes.push(ServerClass::new("m", 1, vec!["20".parse().unwrap()]));
        let mut instance =
            reserves(two, &[("u0", "10"), ("u1", "10")]).map(|instance| Draft::from(&instance)).unwrap();
        let amounts = instance.quotas[1].quota.reserve.split_off(0);
        instance.quotas[1].quota.reserves = vec![ClassAmounts { classes: vec![crate::ClassId(1)], amounts }];
        let instance = instance.build().unwrap();
        assert_eq!(rows(&instance), [("40".into(), vec![1, 2]), ("10".into(), vec![0, 2])]);
        assert!(instance.limit_rows().iter().all(|row| *row.beside == [row.owner]));
        assert_eq!(instance.limit_rows()[1].owner, Owner::User(UserId(1)));
    }

    #[test]
    fn where_idle_ones_reserve_all_there_is_nobody_else_may_be_there() {
        let all = [("u0", "15"), ("u1", "15")];
        let refused = reserves(draft(&[(Some(0), None), (Some(0), None), (None, None)]), &all).unwrap_err();
        assert_eq!(refused.place, "users[0].reserve.cpu");
        assert!(refused.problem.contains("user u1 for one, reserve 15 beside it"), "{refused}");
        assert!(reserves(draft(&[(Some(0), None), (Some(0), None)]), &all).is_ok());
    }

    #[test]
    fn a_reserve_is_kept_of_the_limits_around_it_too() {
        let users = [(Some(0), Some(0)), (None, Some(0)), (Some(1), Some(0)), (None, Some(1))];
        let limited = |limit: &str, kept: &[(&str, &str)]| {
            let mut draft = draft(&users);
            draft.groups[0].parent = Some("h".into());
            let limit = Quota { limit: vec![(ResourceId(0), limit.parse().unwrap())], ..Quota::default() };
            draft.quotas.push(DraftQuota { is_group: true, owner: "h".into(), quota: limit });
            let all = reserves(draft.clone(), kept)?;
            let mut both = Draft::from(&all);
            both.quotas.extend(draft.quotas);
            both.build()
        };
        // Of the limit of 20 nobody but the idle user itself may have more than 12, and of that what the other keeps is taken off.
        let instance = limited("20", &[("u0", "8")]).unwrap();
        let within: Vec<_> = instance.limit_rows().iter().map(|row| row.within).collect();
        assert_eq!(within, [None, None, Some(crate::GroupId(1))]);
        let expected = [("20", vec![0, 1, 2, 3]), ("22", vec![1, 2, 3]), ("12", vec![1, 2, 3])];
        assert_eq!(rows(&instance), expected.map(|(left, held)| (left.to_owned(), held)));
        let instance = limited("20", &[("u0", "8"), ("u2", "4")]).unwrap();
        let expected = [
            ("20", vec![0, 1, 2, 3]),
            ("18", vec![1, 3]),
            ("8", vec![1, 3]),
            ("18", vec![1, 3]),
            ("8", vec![1, 3]),
        ];
        assert_eq!(rows(&instance), expected.map(|(left, held)| (left.to_owned(), held)));
        // A limit of no less than the servers have says nothing more, and one of no more than is kept leaves the others nothing.
        assert_eq!(rows(&limited("30", &[("u0", "8")]).unwrap()).len(), 2);
        let refused = limited("8", &[("u0", "8")]).unwrap_err();
        assert_eq!(refused.place, "users[0].reserve.cpu");
        assert!(refused.problem.starts_with("group h may have no more, so nobody else in it"), "{refused}");
    }
}
