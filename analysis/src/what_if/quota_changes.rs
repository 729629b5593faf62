//! What differs between the quotas of two instances.

use super::part_change::PartChange;
use fairplan_instances::{ClassAmounts, ClassId, Draft, DraftQuota, Quota, ResourceAmounts};

/// The quotas of `first`, over the classes of the same names in `second`.
pub(super) fn on_classes(first: &Draft, second: &Draft) -> Vec<DraftQuota> {
    let there = |class: &ClassId| {
        let id = &first.classes[class.0].id;
        second.classes.iter().position(|other| other.id == *id).map(ClassId)
    };
    let moved = |all: &Vec<ClassAmounts>| -> Vec<ClassAmounts> {
        let over = all.iter().map(|over| ClassAmounts {
            classes: over.classes.iter().filter_map(there).collect(),
            amounts: over.amounts.clone(),
        });
        over.filter(|over| !over.classes.is_empty()).collect()
    };
    let quota = |stated: &DraftQuota| {
        let quota = &stated.quota;
        let quota = Quota {
            guarantees: moved(&quota.guarantees),
            limits: moved(&quota.limits),
            reserves: moved(&quota.reserves),
            ..quota.clone()
        };
        DraftQuota { quota, ..stated.clone() }
    };
    first.quotas.iter().map(quota).collect()
}

/// The changes of users, or of groups, with those of the quotas of who is in both.
pub(super) fn quota_changes(
    [first, second]: [&Draft; 2],
    of_groups: bool,
    mut changes: Vec<PartChange>,
) -> Vec<PartChange> {
    let ids = |draft: &Draft| -> Vec<String> {
        match of_groups {
            true => draft.groups.iter().map(|group| group.id.clone()).collect(),
            false => draft.users.iter().map(|user| user.id.clone()).collect(),
        }
    };
    let in_both = ids(second);
    let stated = |draft: &Draft, id: &str| {
        let is_its = |stated: &&DraftQuota| stated.is_group == of_groups && stated.owner == id;
        let quota = draft.quotas.iter().find(is_its).map(|stated| stated.quota.clone());
        told(draft, &quota.unwrap_or_default())
    };
    let has_quota = |id: &String| {
        let mut all = first.quotas.iter().chain(&second.quotas);
        all.any(|stated| stated.is_group == of_groups && stated.owner == *id)
    };
    if first.quotas.is_empty() && second.quotas.is_empty() {
        return changes;
    }
    for id in ids(first).into_iter().filter(|id| has_quota(id) && in_both.contains(id)) {
        let sides = stated(first, &id).into_iter().zip(stated(second, &id));
        let differing = sides.filter(|((_, before), (_, after))| before != after);
        let more: Vec<String> =
            differing.map(|((list, before), (_, after))| format!("{list} {before} -> {after}")).collect();
        match changes.iter_mut().find(|change| change.id == id) {
            _ if more.is_empty() => {}
            Some(change) => change.changes.extend(more),
            None => changes.push(PartChange { id, kind: "changed".into(), changes: more }),
        }
    }
    changes
}

/// What a quota says, list by list.
fn told(draft: &Draft, quota: &Quota) -> Vec<(&'static str, String)> {
    let amounts = |amounts: &ResourceAmounts| {
        let told = amounts.iter().map(|(r, amount)| format!("{amount} {}", draft.resources[r.0]));
        told.collect::<Vec<_>>().join(" and ")
    };
    let list = |all: &ResourceAmounts, some: &[ClassAmounts]| {
        let over = some.iter().map(|over| {
            let on: Vec<&str> = over.classes.iter().map(|class| draft.classes[class.0].id.as_str()).collect();
            format!("{} on {}", amounts(&over.amounts), on.join(" and "))
        });
        let all = (!all.is_empty()).then(|| amounts(all));
        let told: Vec<String> = all.into_iter().chain(over).collect();
        if told.is_empty() { "none".to_owned() } else { told.join("; ") }
    };
    vec![
        ("guarantee", list(&quota.guarantee, &quota.guarantees)),
        ("limit", list(&quota.limit, &quota.limits)),
        ("reserve", list(&quota.reserve, &quota.reserves)),
    ]
}
