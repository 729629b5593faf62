//! What limits and guarantees tell apart: tasks that otherwise pack alike, and servers of different classes.

use fairplan_instances::{GroupId, Instance, Kind, Owner, ResourceId, User, UserId};

/// The owners above a user, itself first.
pub(crate) fn owners(user: User<'_>) -> impl Iterator<Item = Owner> {
    let instance = user.instance();
    let above = move |group: &GroupId| instance.groups()[group.0].parent;
    let groups = std::iter::successors(user.group(), above).map(Owner::Group);
    std::iter::once(Owner::User(user.index())).chain(groups)
}

/// Whether an owner is guaranteed something that a user needs.
pub(crate) fn is_sure(instance: &Instance, user: User<'_>, owner: Owner) -> bool {
    let quota = instance.quota_of(owner);
    quota.is_some_and(|quota| quota.guaranteed().any(|sure| user.demand_units(sure.resource) > 0))
}

/// What tells tasks apart that otherwise pack alike: the limits and guarantees that they count in, and how much they take of them.
pub(crate) fn key(kind: Kind<'_>) -> Vec<u128> {
    let user = kind.user();
    let instance = user.instance();
    if instance.quotas().is_empty() {
        return Vec::new();
    }
    let mut key: Vec<u128> = instance.limits_above(user).into_iter().map(|row| row as u128).collect();
    key.push(u128::MAX);
    key.extend(owners(user).filter(|owner| is_sure(instance, user, *owner)).map(|owner| match owner {
        Owner::Group(GroupId(group)) => group as u128,
        Owner::User(UserId(user)) => (instance.groups().len() + user) as u128,
    }));
    key.push(u128::MAX);
    key.extend((0..instance.resources().len()).map(|r| kind.piece_units(ResourceId(r))));
    key
}

/// The sets of classes that rows are over: servers of classes that some row tells apart are not alike.
pub(crate) fn sets_of_classes(instance: &Instance) -> Vec<Vec<usize>> {
    let amounts = |(_, quota): &(Owner, fairplan_instances::Quota)| {
        let some = quota.guaranteed().chain(quota.limited()).chain(quota.reserved());
        some.filter_map(|amount| Some(amount.classes?.iter().map(|class| class.0).collect()))
            .collect::<Vec<_>>()
    };
    let mut sets: Vec<Vec<usize>> = instance.quotas().iter().flat_map(amounts).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}
