//! The exact division over a tree of groups: everybody rises at the rate that weights give it, from the root down over those
//! who can still rise, until somebody cannot; and so on.

use crate::Fraction;
use crate::max_min::ExactRows;
use crate::random_instances::random_draft;
use crate::simplex::Tableau;
use crate::{Dice, Draft, decimal};
use fairplan_instances::{ClassId, ClassLimit, DraftQuota, Instance, NewGroup, Objective, Quota, ResourceId};
use num_bigint::BigInt;

/// The share of each user, as the objective counts it and without its weight, by exact arithmetic.
pub fn exact_tree(instance: &Instance, objective: Objective) -> Vec<Fraction> {
    let mut rows = ExactRows::of(instance);
    let first_share_row = rows.constraints.len();
    let mut of_share = Vec::new();
    for user in instance.users() {
        let work =
            &crate::max_min::work_per_level(instance, objective, user) / &Fraction::from(user.weight());
        let (coefficient, row) = rows.work_row(instance, &work, user);
        rows.constraints.push((row, BigInt::ZERO));
        of_share.push(coefficient);
    }
    let mut tableau = Tableau::new(rows.variables, rows.constraints);
    let mut shares = vec![Fraction::zero(); of_share.len()];
    let mut active: Vec<usize> = (0..of_share.len()).collect();
    while !active.is_empty() {
        let rates = rates(instance, &active);
        // One rise in units in which all rates are whole.
        let unit = rates.iter().fold(BigInt::from(1), |unit, rate| unit * rate.denominator());
        let whole: Vec<BigInt> =
            rates.iter().map(|rate| rate.numerator() * &unit / rate.denominator()).collect();
        let column: Vec<_> =
            active.iter().zip(&whole).map(|(&i, rate)| (first_share_row + i, rate * &of_share[i])).collect();
        let variable = tableau.add_variable(&column);
        let rise = tableau.maximise(variable);
        tableau.keep_maxima_of(variable);
        for (&i, rate) in active.iter().zip(&whole) {
            shares[i] = &shares[i] + &(&rise * &Fraction::new(rate.clone(), 1));
        }
        let before = active.len();
        active.retain(|&i| !tableau.maximise(tableau.slack(first_share_row + i)).is_zero());
        assert!(active.len() < before, "somebody comes to its end at every stage");
    }
    shares
}

/// How much each active user gets of one more level at the root.
fn rates(instance: &Instance, active: &[usize]) -> Vec<Fraction> {
    let group_of = |i: usize| instance.user(fairplan_instances::UserId(i)).group();
    let is_active = instance.of_groups(false, |i| active.contains(&i), |a, b| a || b);
    let weight = |g: usize| Fraction::from(instance.groups()[g].weight);
    let user_weight = |i: usize| Fraction::from(instance.user(fairplan_instances::UserId(i)).weight());
    // Weights of the active children of each group.
    let mut weights = vec![Fraction::zero(); instance.groups().len()];
    for &i in active {
        if let Some(group) = group_of(i) {
            weights[group.0] = &weights[group.0] + &user_weight(i);
        }
    }
    for g in (0..weights.len()).filter(|g| is_active[*g]) {
        if let Some(parent) = instance.groups()[g].parent {
            weights[parent.0] = &weights[parent.0] + &weight(g);
        }
    }
    let rate = |&i: &usize| {
        let (mut rate, mut group) = (user_weight(i), group_of(i));
        while let Some(here) = group {
            rate = &(&rate / &weights[here.0]) * &weight(here.0);
            group = instance.groups()[here.0].parent;
        }
        rate
    };
    active.iter().map(rate).collect()
}

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
            quota.limits.push(ClassLimit { classes, amounts: vec![(resource, amount)] });
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
