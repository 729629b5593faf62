//! What is reserved together, from the rule alone: beside an owner's reserve all that others reserve of the same who have too few tasks to use
//! it, of owners inside one another the one that reserves most.

use fairplan_instances::{ClassId, GroupId, Instance, Owner, QuotaAmount, User};

/// A user and the groups that it is in.
pub fn owners_of(user: User<'_>) -> Vec<Owner> {
    let groups = std::iter::successors(user.group(), |group| user.instance().groups()[group.0].parent);
    std::iter::once(Owner::User(user.index())).chain(groups.map(Owner::Group)).collect()
}

/// What is kept of something: of what servers have, or of the limit of a group over the same.
pub struct Kept {
    /// Whose reserves are kept together.
    pub owners: Vec<Owner>,
    /// The group, if it is of a limit.
    pub within: Option<GroupId>,
    /// What all others may have, in smallest units.
    pub left: u128,
}

impl Kept {
    /// Whether a user is one of the others.
    pub fn holds(&self, user: User<'_>) -> bool {
        let above = owners_of(user);
        let is_inside = self.within.is_none_or(|group| above.contains(&Owner::Group(group)));
        is_inside && !above.iter().any(|owner| self.owners.contains(owner))
    }
}

/// Whose reserves are kept together with that of `owner`, which is among them, and what that leaves all others: of what servers have, and
/// of the limit over the same of each group around the owner.
pub fn reserved_together(instance: &Instance, owner: Owner, of: &QuotaAmount<'_>) -> Vec<Kept> {
    let units = |amount: &QuotaAmount<'_>| {
        amount.amount.scaled(instance.unit_exponent(amount.resource)).expect("it fits the unit")
    };
    let around = |owner: Owner| match owner {
        Owner::User(user) => owners_of(instance.user(user)),
        Owner::Group(group) => {
            let groups = std::iter::successors(Some(group), |group| instance.groups()[group.0].parent);
            groups.map(Owner::Group).collect()
        }
    };
    let are_related = |one: Owner, other: Owner| around(one).contains(&other) || around(other).contains(&one);
    let uses_less = |owner: Owner, reserve: u128| {
        let below = instance.users().filter(|user| owners_of(*user).contains(&owner));
        let used = below.map(|user| match (user.demand_units(of.resource), user.tasks()) {
            (0, _) => Some(0),
            (each, tasks) => Some(each * u128::from(tasks?)),
        });
        used.sum::<Option<u128>>().is_some_and(|used| used < reserve)
    };
    let is_same = |one: &QuotaAmount<'_>| (one.resource, one.classes) == (of.resource, of.classes);
    let all = instance.quotas().iter().flat_map(|(owner, quota)| {
        quota.reserved().filter(is_same).map(|one| (*owner, units(&one))).collect::<Vec<_>>()
    });
    let mut idle: Vec<(Owner, u128)> = all.filter(|(owner, reserve)| uses_less(*owner, *reserve)).collect();
    idle.sort_by_key(|(_, reserve)| std::cmp::Reverse(*reserve));
    let classes = (0..instance.classes().len()).map(ClassId);
    let there = classes.filter(|class| of.classes.is_none_or(|some| some.contains(class)));
    let capacity: u128 = there
        .map(|class| {
            instance.capacity_units(class, of.resource) * u128::from(instance.classes()[class.0].count)
        })
        .sum();
    let kept = |within: Option<GroupId>, all: u128| {
        let is_inside = |other: Owner| {
            within.is_none_or(|group| {
                other != Owner::Group(group) && around(other).contains(&Owner::Group(group))
            })
        };
        let mut chosen: Vec<(Owner, u128)> = Vec::new();
        for (other, reserve) in idle.iter().filter(|(other, _)| is_inside(*other)) {
            if chosen.iter().all(|(one, _)| !are_related(*one, *other)) {
                chosen.push((*other, *reserve));
            }
        }
        chosen.retain(|(other, _)| !are_related(*other, owner));
        let own = all.checked_sub(units(of))?;
        Some(match own.checked_sub(chosen.iter().map(|(_, reserve)| reserve).sum()) {
            Some(left) if left > 0 => {
                let owners = chosen.iter().map(|(other, _)| *other).chain([owner]).collect();
                Kept { owners, within, left }
            }
            // Then nobody else needs it.
            _ => Kept { owners: vec![owner], within, left: own },
        })
    };
    let limits = around(owner).into_iter().filter(|above| *above != owner).filter_map(|above| {
        let Owner::Group(group) = above else { return None };
        let limit = instance.quota_of(above)?.limited().find(is_same)?;
        Some((Some(group), units(&limit)))
    });
    let limits = limits.filter(|(_, all)| *all < capacity).filter_map(|(group, all)| kept(group, all));
    kept(None, capacity).into_iter().chain(limits.filter(|kept| kept.left > 0)).collect()
}
