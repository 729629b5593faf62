//! Random trees of groups, with and without limits, guarantees and reserves.

use crate::random_instances::{random_draft, with_random_kinds};
use crate::{Dice, Draft, decimal};
use fairplan_instances::{ClassAmounts, ClassId, DraftQuota, NewGroup, Quota, ResourceId};

/// A random tree, or none, with one to four limits of groups and users, over all classes or some of them; each is a part of what
/// the cluster has, mostly a small one.
pub fn random_tree_with_limits(seed: u64) -> Draft {
    let mut draft = random_tree(seed);
    let mut dice = Dice::new(seed ^ 0x0011_0175);
    if dice.percent(30) {
        draft.groups.clear();
        draft.users.iter_mut().for_each(|user| user.group = None);
    }
    for _ in 0..1 + dice.below(4) {
        let is_group = !draft.groups.is_empty() && dice.percent(60);
        let owner = match is_group {
            true => draft.groups[dice.below(draft.groups.len() as u64) as usize].id.clone(),
            false => draft.users[dice.below(draft.users.len() as u64) as usize].id.clone(),
        };
        let known = draft.quotas.iter().position(|quota| quota.is_group == is_group && quota.owner == owner);
        let position = known.unwrap_or_else(|| {
            draft.quotas.push(DraftQuota { is_group, owner, quota: Quota::default() });
            draft.quotas.len() - 1
        });
        let resource = ResourceId(dice.below(draft.resources.len() as u64) as usize);
        let amount = decimal(dice.pick(&["0.5", "1", "1.5", "2", "3", "5", "8", "13"]));
        let quota = &mut draft.quotas[position].quota;
        if dice.percent(50) {
            quota.limit.retain(|(other, _)| *other != resource);
            quota.limit.push((resource, amount));
        } else {
            let some: Vec<_> = (0..draft.classes.len()).filter(|_| dice.percent(60)).map(ClassId).collect();
            let classes = if some.is_empty() { vec![ClassId(0)] } else { some };
            quota.limits.push(ClassAmounts { classes, amounts: vec![(resource, amount)] });
        }
    }
    draft
}

/// A random draft with a random tree of one to five groups, some without members.
pub fn random_tree(seed: u64) -> Draft {
    let mut draft = random_draft(seed);
    let mut dice = Dice::new(seed ^ 0x7e3e);
    let count = 1 + dice.below(5) as usize;
    draft.groups = (0..count)
        .map(|g| NewGroup {
            id: format!("group-{g}"),
            weight: decimal(dice.pick(&["1", "1", "2", "0.5", "3", "10"])),
            parent: (g > 0 && dice.percent(50)).then(|| format!("group-{}", dice.below(g as u64))),
        })
        .collect();
    for user in &mut draft.users {
        user.group = dice.percent(80).then(|| dice.below(count as u64) as usize);
        if user.tasks.is_some() {
            user.rates.clear();
        }
    }
    draft
}

/// The same with guarantees of users and groups, so many tasks of a user or a part of what there is, and with reserves besides;
/// some of all those cannot be kept together.
pub fn random_tree_with_quotas(seed: u64) -> Draft {
    let mut draft = random_tree_with_limits(seed);
    let mut dice = Dice::new(seed ^ 0x00f1_0025);
    if dice.percent(40) {
        draft.quotas.clear();
    }
    let count = draft.users.len();
    for _ in 0..1 + dice.below(4) {
        let i = dice.below(count as u64) as usize;
        let user = &mut draft.users[i];
        let needed: Vec<usize> = (0..user.demand.len()).filter(|r| !user.demand[*r].is_zero()).collect();
        if needed.is_empty() {
            continue;
        }
        user.rates.clear();
        let (owner, demand) = (user.id.clone(), user.demand.clone());
        let times = dice.pick(&[0.25, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0]);
        let mut guarantee = Vec::new();
        for r in needed {
            if guarantee.is_empty() || dice.percent(30) {
                let more = dice.pick(&[1.0, 1.0, 1.5]);
                guarantee.push((ResourceId(r), decimal(&format!("{}", demand[r].to_f64() * times * more))));
            }
        }
        quota_of(&mut draft, false, owner).guarantee = guarantee;
    }
    for _ in 0..dice.below(3) {
        // A group with a member that needs it.
        let i = dice.below(count as u64) as usize;
        let user = &draft.users[i];
        let needed: Vec<usize> = (0..user.demand.len()).filter(|r| !user.demand[*r].is_zero()).collect();
        let (Some(group), false) = (user.group, needed.is_empty()) else { continue };
        let resource = ResourceId(dice.pick(&needed));
        let amount = decimal(dice.pick(&["0.5", "1", "2", "3", "5"]));
        let owner = draft.groups[group].id.clone();
        quota_of(&mut draft, true, owner).guarantee = vec![(resource, amount)];
    }
    for _ in 0..dice.below(3) {
        let is_group = !draft.groups.is_empty() && dice.percent(50);
        let owner = match is_group {
            true => draft.groups[dice.below(draft.groups.len() as u64) as usize].id.clone(),
            false => draft.users[dice.below(count as u64) as usize].id.clone(),
        };
        let resource = ResourceId(dice.below(draft.resources.len() as u64) as usize);
        let amount = decimal(dice.pick(&["0.5", "1", "2", "3", "5"]));
        quota_of(&mut draft, is_group, owner).reserve = vec![(resource, amount)];
    }
    draft
}

/// The same with most guarantees and reserves over some classes, which are inside one another or apart: half of an amount here and half
/// there, or all of it on some.
pub fn random_tree_with_quotas_of_classes(seed: u64) -> Draft {
    let mut draft = random_tree_with_quotas(seed);
    let mut dice = Dice::new(seed ^ 0x00c1_a55e);
    let classes = draft.classes.len();
    for DraftQuota { quota, .. } in &mut draft.quotas {
        for (all, some) in
            [(&mut quota.guarantee, &mut quota.guarantees), (&mut quota.reserve, &mut quota.reserves)]
        {
            let mut over = |classes: std::ops::Range<usize>, amounts| {
                some.push(ClassAmounts { classes: classes.map(ClassId).collect(), amounts });
            };
            let cut = 1 + dice.below(classes as u64) as usize;
            match dice.below(4) {
                // Besides what is guaranteed over all.
                1 if cut < classes => over(0..cut, all.clone()),
                0 | 1 => {}
                2 => over(0..cut, std::mem::take(all)),
                _ if cut < classes => {
                    over(0..cut, all.clone());
                    over(cut..classes, std::mem::take(all));
                }
                _ => over(0..1, std::mem::take(all)),
            }
        }
        quota.guarantees.retain(|over| !over.amounts.is_empty());
        quota.reserves.retain(|over| !over.amounts.is_empty());
    }
    draft
}

/// Users most of whom have several kinds of tasks under limits and, in every other tree, reserves, over all classes or some; nobody is
/// guaranteed anything. Some reserve more than there is.
pub fn random_kinds_under_limits(seed: u64) -> Draft {
    let random =
        if seed.is_multiple_of(2) { random_tree_with_limits } else { random_tree_with_quotas_of_classes };
    let mut draft = random(seed);
    for DraftQuota { quota, .. } in &mut draft.quotas {
        quota.guarantee.clear();
        quota.guarantees.clear();
    }
    with_kinds_under_quotas(draft, seed)
}

/// The same with guarantees over all classes, and reserves.
pub fn random_kinds_under_quotas(seed: u64) -> Draft {
    with_kinds_under_quotas(random_tree_with_quotas(seed), seed)
}

/// The same with most guarantees and reserves over some classes.
pub fn random_kinds_under_quotas_of_classes(seed: u64) -> Draft {
    with_kinds_under_quotas(random_tree_with_quotas_of_classes(seed), seed)
}

/// The same quotas where most users have several kinds of tasks, without guarantees of what nobody needs.
fn with_kinds_under_quotas(mut draft: Draft, seed: u64) -> Draft {
    let quotas = std::mem::take(&mut draft.quotas);
    let mut draft = Draft { quotas, ..with_random_kinds(draft, seed) };
    draft.fit_quotas();
    draft
}

/// The quota of this owner, for changes.
fn quota_of(draft: &mut Draft, is_group: bool, owner: String) -> &mut Quota {
    let known = draft.quotas.iter().position(|quota| quota.is_group == is_group && quota.owner == owner);
    let position = known.unwrap_or_else(|| {
        draft.quotas.push(DraftQuota { is_group, owner, quota: Quota::default() });
        draft.quotas.len() - 1
    });
    &mut draft.quotas[position].quota
}
