//! Reserves as limits of all others: what these may have of a resource beside what is kept for its owner, and for others whose tasks are too few
//! for what they reserve.
//!
//! What an owner `o` does not use of its reserve `R_o` is nobody's, so of what there is, `C`, others have `C − Σ_o max(R_o, used_o)`. That is
//! `used beside S <= C − Σ_{o ∈ S} R_o` for every set `S` of owners of which none is inside another. Rows are those with one owner and all whose
//! tasks cannot use what they reserve, since these alone are sure to leave some of it.

use super::quotas::{LimitRow, Owner, QuotaAmount, place_of};
use super::{ClassId, Instance, ResourceId, UserId};
use crate::Decimal;
use crate::violation::Violation;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What is reserved of a resource over some classes, or over all.
type Place<'a> = (Option<&'a [ClassId]>, ResourceId);

/// Owners whose tasks are too few for what they reserve at a place, none of them inside another, with what that is in whole smallest units.
#[derive(Default)]
struct Idle {
    kept: BTreeMap<Owner, u128>,
    owners: Arc<[Owner]>,
}

impl Instance {
    /// All reserves as rows, in the order of the quotas.
    pub(super) fn reserve_rows(&self) -> Result<Vec<LimitRow>, Violation> {
        let idle = self.idle_reserves();
        let nobody = Idle::default();
        let all =
            self.quotas().iter().flat_map(|(owner, quota)| quota.reserved().map(move |one| (*owner, one)));
        let row = |(owner, reserve): (Owner, QuotaAmount<'_>)| {
            let idle = idle.get(&(reserve.classes, reserve.resource)).unwrap_or(&nobody);
            self.reserve_row(owner, reserve, idle)
        };
        all.map(row).collect()
    }

    /// What all others may have of a resource beside a reserve, and beside what else is kept with it.
    fn reserve_row(&self, owner: Owner, of: QuotaAmount<'_>, idle: &Idle) -> Result<LimitRow, Violation> {
        let QuotaAmount { classes, resource, amount: reserve } = of;
        let name = &self.resources[resource.0];
        let list = if classes.is_some() { "reserves" } else { "reserve" };
        let wrong =
            |problem: String| Violation::new(format!("{}.{list}.{name}", place_of(owner)), reserve, problem);
        let of_class = |class: &ClassId| {
            let count = u128::from(self.classes[class.0].count);
            self.capacity_units(*class, resource).saturating_mul(count)
        };
        let of_some = |classes: &[ClassId]| classes.iter().map(of_class).fold(0, u128::saturating_add);
        let all = classes.map_or_else(|| self.total_units(resource), of_some);
        let own = self.in_units(resource, reserve);
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
            return Err(wrong(problem.into()));
        }
        let beside = self.beside(owner, idle);
        let others = beside.iter().filter(|other| **other != owner).filter_map(|other| idle.kept.get(other));
        let kept = others.fold(0, |sum: u128, kept| sum.saturating_add(*kept));
        let is_kept = |user: &UserId| {
            self.owners_above(*user).any(|above| above == owner || beside.binary_search(&above).is_ok())
        };
        let mut users = (0..self.user_count()).map(UserId);
        let needs = |user: &UserId| !self.user(*user).demand()[resource.0].is_zero();
        let (beside, kept) = match kept < all - own {
            true => (beside, kept),
            false if users.any(|user| needs(&user) && !is_kept(&user)) => {
                let (other, amount) =
                    (beside.iter().find(|other| **other != owner), self.written(resource, kept));
                let other = other.map(|other| self.name_of(*other)).unwrap_or_default();
                return Err(wrong(format!(
                    "others with too few tasks to use theirs, {other} for one, reserve {amount} beside it, so nobody else could run a task that \
                     needs it; reserve less"
                )));
            }
            // Nobody is there to leave it.
            false => (Arc::default(), 0),
        };
        let amount = Decimal::from_units(all - own - kept, i32::from(self.exponents[resource.0]));
        let amount = amount.map_err(|error| wrong(format!("what is left beside it: {error}; round it")))?;
        let classes = classes.map(<[ClassId]>::to_vec);
        Ok(LimitRow { owner, resource, classes, amount, reserve: Some(reserve), beside })
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

    /// At each place where something is reserved, who has too few tasks for it. Of owners inside one another those that reserve most count.
    fn idle_reserves(&self) -> BTreeMap<Place<'_>, Idle> {
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
        let idle = |mut owners: Vec<(u128, Owner)>| {
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
        };
        found.into_iter().map(|(place, owners)| (place, idle(owners))).collect()
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
}
