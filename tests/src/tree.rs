//! The exact division over a tree of groups: everybody rises at the rate that weights give it, from the root down over those
//! who can still rise, until somebody cannot; and so on.

use crate::Fraction;
use crate::max_min::ExactRows;
use crate::random_instances::random_draft;
use crate::simplex::Tableau;
use crate::{Dice, Draft, decimal};
use fairplan_instances::{Instance, NewGroup, Objective};
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
