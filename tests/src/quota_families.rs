//! Clusters of all sizes under quotas: any, such as end just where the optimum is anyway, and such as are all that there is, in whole units.

use crate::dice::Dice;
use crate::families::{spread, uniform};
use crate::{Draft, decimal, plain_draft, plain_user};
use fairplan_instances::{
    ClassAmounts, ClassId, Decimal, DraftKind, DraftQuota, Instance, NewGroup, Objective, Quota,
    ResourceAmounts, ResourceId, ServerClass, UserId,
};
use fairplan_solver::backend;

/// 20 to 500 users, half of the instances with up to three kinds each, some of whom have limits and some guarantees.
pub(crate) fn quotas(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0009_0000_0000);
    loop {
        let users = spread(&mut dice, 20, 500);
        let mut draft = crowd(&mut dice, users);
        let Ok(plain) = draft.build() else { continue };
        let (limited, guaranteed) = (dice.pick(&[0, 10, 30, 60]), dice.pick(&[0, 10, 30, 90]));
        let classes = draft.classes.len();
        for i in 0..plain.user_count() {
            let mut quota = Quota::default();
            if dice.percent(limited) {
                let part = dice.pick(&[0.05, 0.2, 0.5, 1.0, 1.5]);
                let limit = amounts(&mut dice, &plain, i, part, 3);
                match some_classes(&mut dice, classes) {
                    Some(classes) => quota.limits.push(ClassAmounts { classes, amounts: limit }),
                    None => quota.limit = limit,
                }
            }
            if dice.percent(guaranteed) {
                let part = dice.pick(&[0.2, 0.5, 0.8, 1.0, 1.5]);
                quota.guarantee = amounts(&mut dice, &plain, i, part, 3);
            }
            add(&mut draft, i, quota);
        }
        if let Ok(instance) = draft.build() {
            return instance;
        }
    }
}

/// Crowds of 3 to 200 users that are limited to, or guaranteed, what they have without quotas for an objective: proportional fairness, or
/// where the seed is odd alpha 2; in six, nine or twelve digits.
pub(crate) fn ending(seed: u64) -> Instance {
    let alpha = if seed.is_multiple_of(2) { 1.0 } else { 2.0 };
    let objective = Objective::alpha_fair(alpha).expect("it is a number in range");
    let mut dice = Dice::new(seed ^ 0x000a_0000_0000);
    loop {
        let users = spread(&mut dice, 3, 200);
        let mut draft = crowd(&mut dice, users);
        let Ok(plain) = draft.build() else { continue };
        let solver = backend("auto").expect("there is a way that tries all");
        let Ok(solution) = solver.solve(&plain, objective) else { continue };
        let (part, digits) = (dice.pick(&[5, 30, 100]), dice.pick(&[6, 9, 12]));
        let limits = dice.pick(&[0, 50, 100]);
        for i in 0..plain.user_count() {
            let (user, tasks) = (plain.user(UserId(i)), solution.allocation.tasks(UserId(i)));
            if !dice.percent(part) || tasks == 0.0 {
                continue;
            }
            let needed: Vec<usize> =
                (0..draft.resources.len()).filter(|r| user.demand_doubles()[*r] > 0.0).collect();
            let r = dice.pick(&needed);
            let amount = vec![(ResourceId(r), rounded(tasks * user.demand_doubles()[r], digits))];
            let quota = match dice.percent(limits) {
                true => Quota { limit: amount, ..Quota::default() },
                false => Quota { guarantee: amount, ..Quota::default() },
            };
            add(&mut draft, i, quota);
        }
        if let Ok(instance) = draft.build() {
            return instance;
        }
    }
}

/// Queues of one or two depths, each guaranteed whole units on some classes, which together are all that these have, as a cluster is described by
/// the quotas of its queues; some may have no more than so much, and some keep theirs from the others.
pub(crate) fn queues(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x000b_0000_0000);
    loop {
        if let Ok(instance) = draw_queues(&mut dice).build() {
            return instance;
        }
    }
}

fn draw_queues(dice: &mut Dice) -> Draft {
    let (classes, resources) = (dice.pick(&[1, 1, 2, 3, 5]), dice.pick(&[1, 2, 2, 3]));
    let groups = dice.pick(&[0, 1, 2, 3, 5, 8]);
    let count = spread(dice, 3, 60) as usize;
    let (zeros, most) = (dice.pick(&[0, 20, 50]), dice.pick(&[3, 10, 100, 1_000]));
    let mut capacities = vec![vec![0; resources]; classes];
    let (mut users, mut quotas) = (Vec::new(), Vec::new());
    for i in 0..count {
        let class = dice.below(classes as u64) as usize;
        let amounts: Vec<u64> = (0..resources)
            .map(|_| {
                let most = dice.below(most);
                if dice.percent(zeros) { 0 } else { 1 + dice.below(1 + most) }
            })
            .collect();
        capacities[class].iter_mut().zip(&amounts).for_each(|(all, amount)| *all += amount);
        // A task is one of the first resource of which it is guaranteed anything, with its part of the others.
        let unit = amounts.iter().copied().find(|amount| *amount > 0).unwrap_or(1) as f64;
        let of_part = |amount: &u64| rounded(*amount as f64 / unit, 6);
        let mut user = plain_user(i, amounts.iter().map(of_part).collect());
        if amounts.iter().all(|amount| *amount == 0) {
            user.demand[0] = decimal("1");
        }
        user.weight = decimal(dice.pick(&["1", "1", "2", "0.5", "10"]));
        user.eligible = dice.percent(70).then(|| vec![class]);
        user.group = (groups > 0 && dice.percent(80)).then(|| dice.below(groups) as usize);
        let stated = |factor: u64| -> ResourceAmounts {
            let some = amounts.iter().enumerate().filter(|(_, amount)| **amount > 0);
            some.map(|(r, amount)| (ResourceId(r), decimal(&(factor * amount).to_string()))).collect()
        };
        let here = |amounts| vec![ClassAmounts { classes: vec![ClassId(class)], amounts }];
        let mut quota = Quota { guarantees: here(stated(1)), ..Quota::default() };
        if dice.percent(30) {
            quota.limits = here(stated(dice.pick(&[1, 2, 3])));
        }
        if dice.percent(15) {
            quota.reserves = here(stated(1));
        }
        if amounts.iter().any(|amount| *amount > 0) {
            quotas.push(DraftQuota { is_group: false, owner: user.id.clone(), quota });
        }
        users.push(user);
    }
    let classes = capacities.into_iter().enumerate().map(|(l, capacity)| {
        let capacity = capacity.into_iter().map(|amount| decimal(&amount.to_string())).collect();
        ServerClass::new(format!("class-{l}"), 1, capacity)
    });
    let names = (0..resources).map(|r| format!("r{r}")).collect();
    let mut draft = plain_draft(names, classes.collect(), users);
    draft.groups = (0..groups)
        .map(|g| NewGroup {
            id: format!("group-{g}"),
            weight: decimal(dice.pick(&["1", "1", "2", "0.5"])),
            parent: (g > 0 && dice.percent(40)).then(|| format!("group-{}", dice.below(g))),
        })
        .collect();
    draft.quotas = quotas;
    draft
}

/// Users with uniform demands on classes with uniform capacities; in half of the crowds with up to three kinds, in some with weights or with
/// classes of their own.
fn crowd(dice: &mut Dice, users: u64) -> Draft {
    let (resources, classes) = (2 + dice.below(3), 1 + dice.below(12));
    let mut draft = Draft::from(&uniform(dice, users, resources, classes));
    let (kinds, weights, eligibility) =
        (dice.pick(&[0, 0, 50, 100]), dice.percent(33), dice.pick(&[0, 0, 40]));
    for user in &mut draft.users {
        if dice.percent(kinds) {
            let kind = |k| DraftKind {
                profile: None,
                id: format!("kind-{k}"),
                each: dice.pick(&[1, 1, 2, 3]),
                demand: (0..resources)
                    .map(|_| decimal(&format!("{}e-6", 1_000 + dice.below(999_001))))
                    .collect(),
                eligible: dice.percent(eligibility).then(|| some_of(dice, classes as usize)),
            };
            user.kinds = (0..3).map(kind).collect();
            user.kinds.truncate(1 + dice.below(3) as usize);
        } else if dice.percent(eligibility) {
            user.eligible = Some(some_of(dice, classes as usize));
        }
        if weights {
            user.weight = decimal(dice.pick(&["0.1", "0.5", "1", "2", "10"]));
        }
    }
    draft
}

/// Some of the classes, at least one.
fn some_of(dice: &mut Dice, classes: usize) -> Vec<usize> {
    let some: Vec<usize> = (0..classes).filter(|_| dice.percent(60)).collect();
    if some.is_empty() { vec![dice.below(classes as u64) as usize] } else { some }
}

/// In a third of the cases some classes, else `None`: all of them.
fn some_classes(dice: &mut Dice, classes: usize) -> Option<Vec<ClassId>> {
    dice.percent(33).then(|| some_of(dice, classes).into_iter().map(ClassId).collect())
}

/// Of one resource so much as so many parts of the equal division of all there is.
fn amounts(dice: &mut Dice, plain: &Instance, user: usize, part: f64, digits: usize) -> ResourceAmounts {
    let view = plain.user(UserId(user));
    let needed: Vec<usize> =
        (0..plain.resources().len()).filter(|r| view.demand_doubles()[*r] > 0.0).collect();
    let r = dice.pick(&needed);
    // A share of one is what it could have of the whole cluster at most.
    let tasks = part / plain.user_count() as f64 / view.task_share();
    vec![(ResourceId(r), rounded(tasks * view.demand_doubles()[r], digits))]
}

/// A number with so many digits.
fn rounded(number: f64, digits: usize) -> Decimal {
    decimal(&format!("{number:.*e}", digits - 1))
}

/// States the quota of a user, if it says anything.
fn add(draft: &mut Draft, user: usize, quota: Quota) {
    if quota != Quota::default() {
        let owner = draft.users[user].id.clone();
        draft.quotas.push(DraftQuota { is_group: false, owner, quota });
    }
}
