//! What is reserved together, from the rule alone: beside an owner's reserve all that others reserve of the same who have too few tasks to use
//! it, of owners inside one another the one that reserves most.

use fairplan_instances::{ClassId, Instance, Owner, QuotaAmount, User};

/// A user and the groups that it is in.
pub fn owners_of(user: User<'_>) -> Vec<Owner> {
    let groups = std::iter::successors(user.group(), |group| user.instance().groups()[group.0].parent);
    std::iter::once(Owner::User(user.index())).chain(groups.map(Owner::Group)).collect()
}

/// Whose reserves are kept together with that of `owner`, which is among them, and how much that is in smallest units.
pub fn reserved_together(instance: &Instance, owner: Owner, of: &QuotaAmount<'_>) -> (Vec<Owner>, u128) {
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
    let mut chosen: Vec<(Owner, u128)> = Vec::new();
    for (other, reserve) in idle {
        if chosen.iter().all(|(one, _)| !are_related(*one, other)) {
            chosen.push((other, reserve));
        }
    }
    chosen.retain(|(other, _)| !are_related(*other, owner));
    let classes = (0..instance.classes().len()).map(ClassId);
    let there = classes.filter(|class| of.classes.is_none_or(|some| some.contains(class)));
    let capacity: u128 = there
        .map(|class| {
            instance.capacity_units(class, of.resource) * u128::from(instance.classes()[class.0].count)
        })
        .sum();
    let sum = units(of) + chosen.iter().map(|(_, reserve)| reserve).sum::<u128>();
    match sum < capacity {
        true => (chosen.iter().map(|(other, _)| *other).chain([owner]).collect(), sum),
        // Then nobody else needs it.
        false => (vec![owner], units(of)),
    }
}
