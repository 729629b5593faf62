//! The form of a claim: a certificate of the objective's kind, every list as long as the instance says, every number
//! finite and, but for the value of a sum, >= 0. What a class has none of has no price.

use crate::claim::{Printed, SolutionClaim, Tasks};
use crate::feasibility::capacity_units;
use crate::parts::in_parts;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Certificate, Instance, Level, Objective, ResourceId, Total, UserId};
use std::ops::Range;

/// Whether anything else about the claim can be measured: `well-formed`. Never panics on a claim.
pub fn well_formed(instance: &Instance, claim: &SolutionClaim<'_>) -> Verdict {
    let mut worst = Worst::of("well-formed", 0.0);
    if let Err(problem) = check(instance, claim) {
        worst.fail(|| problem);
    }
    worst.verdict()
}

fn check(instance: &Instance, claim: &SolutionClaim<'_>) -> Result<(), String> {
    let (users, classes, m) = (instance.user_count(), instance.classes().len(), instance.resources().len());
    claim.objective.applies_to(instance).map_err(|violation| violation.to_string())?;
    let pooled = claim.objective.is_pooled();
    let by_bottlenecks =
        matches!(claim.objective, Objective::BottleneckMaxFairness | Objective::DrfPerServer);
    length("limited_by", claim.limited_by.len(), users)?;
    match (claim.certificate, claim.objective.alpha()) {
        (Certificate::Levels { levels: of_levels, level_of }, None) if !by_bottlenecks => {
            levels(instance, of_levels, pooled)?;
            if pooled
                && of_levels.iter().any(|level| level.prices.chunks(m).any(|row| row != &level.prices[..m]))
            {
                return Err("a pool has the same prices in every class".into());
            }
            length("level_of", level_of.len(), users)?;
            if let Some(user) = level_of.iter().position(|&level| level as usize > of_levels.len()) {
                return Err(format!("users[{user}] has level {} of {}", level_of[user], of_levels.len()));
            }
        }
        (Certificate::Total(total), Some(alpha)) => sum(instance, total, alpha)?,
        (Certificate::Bottlenecks, None) if by_bottlenecks => {}
        _ => return Err(format!("this is no certificate of the objective {}", claim.objective)),
    }
    tasks(instance, &claim.tasks, pooled)?;
    let Some(stated) = &claim.printed else { return Ok(()) };
    length("class utilizations", stated.class_utilization.len(), if pooled { 0 } else { classes * m })?;
    length("prices", stated.prices.len(), if by_bottlenecks { 0 } else { classes * m })?;
    printed(instance, stated, pooled)
}

fn levels(instance: &Instance, levels: &[Level], pooled: bool) -> Result<(), String> {
    for (k, level) in levels.iter().enumerate() {
        check_prices(instance, &format!("levels[{k}].prices"), &level.prices, pooled)?;
        numbers(&format!("levels[{k}] value and bound"), &[level.value, level.bound])?;
        check_limit_prices(instance, &format!("levels[{k}].limit_prices"), &level.limit_prices)?;
    }
    Ok(())
}

/// A price for every limit and reserve.
pub(crate) fn check_limit_prices(instance: &Instance, what: &str, prices: &[f64]) -> Result<(), String> {
    length(what, prices.len(), instance.limit_rows().len())?;
    numbers(what, prices)
}

/// A price for every class and resource, which nobody can pay for what a class has none of.
pub(crate) fn check_prices(
    instance: &Instance,
    what: &str,
    prices: &[f64],
    pooled: bool,
) -> Result<(), String> {
    let (classes, m) = (instance.classes(), instance.resources().len());
    length(what, prices.len(), classes.len() * m)?;
    numbers(what, prices)?;
    let is_there = |position: usize| match pooled {
        true => instance.total_units(ResourceId(position % m)) > 0,
        false => capacity_units(instance, position / m, position % m) > 0,
    };
    match (0..prices.len()).find(|position| prices[*position] > 0.0 && !is_there(*position)) {
        None => Ok(()),
        Some(position) => {
            let (class, resource) = (&classes[position / m].id, &instance.resources()[position % m]);
            Err(format!("{what}: {} for {resource} of class {class}, which has none", prices[position]))
        }
    }
}

fn sum(instance: &Instance, total: &Total, alpha: f64) -> Result<(), String> {
    if alpha == 1.0 && total.exponent != 0 {
        return Err(format!("a sum of logarithms has no unit of 10^{}", total.exponent));
    }
    if total.price_exponent > total.exponent || alpha <= 1.0 && total.price_exponent < total.exponent {
        return Err(format!(
            "prices in units of 10^{} beside a value in units of 10^{}",
            total.price_exponent, total.exponent
        ));
    }
    check_prices(instance, "prices", &total.prices, false)?;
    check_limit_prices(instance, "limit prices", &total.limit_prices)?;
    numbers("relative gap", &[total.relative_gap])?;
    finite("value and bound", &[total.value, total.bound])
}

fn tasks(instance: &Instance, tasks: &Tasks<'_>, pooled: bool) -> Result<(), String> {
    let (users, kinds, classes) = (instance.user_count(), instance.kind_count(), instance.classes().len());
    match tasks {
        Tasks::Allocation(allocation) => {
            length("the allocation's users", allocation.user_count(), users)?;
            length("the allocation's kinds", allocation.kind_count(), if pooled { users } else { kinds })?;
            length(
                "the allocation's classes",
                allocation.split(UserId(0)).len(),
                if pooled { 0 } else { classes },
            )?;
        }
        Tasks::Pooled(tasks) if pooled => length("the users' tasks", tasks.len(), users)?,
        Tasks::Pooled(_) => return Err("the tasks are on no class".into()),
        Tasks::Listed { .. } if pooled => return Err("the tasks of a pool are on no class".into()),
        Tasks::Listed { starts, entries } => {
            length("starts of the users' tasks", starts.len(), kinds + 1)?;
            if starts[0] != 0 || starts[kinds] != entries.len() || !starts.is_sorted() {
                return Err("the starts of the users' tasks do not divide their entries".into());
            }
            if let Some((class, _)) = entries.iter().find(|(class, _)| *class as usize >= classes) {
                return Err(format!("tasks on class {class} of {classes}"));
            }
        }
    }
    let first_wrong = |users: Range<usize>| {
        let mut wrong = None;
        for user in users {
            for kind in tasks.kinds(instance.user(UserId(user))) {
                tasks.visit(user, kind, |class, here| {
                    if !usable(here) {
                        wrong = wrong.or(Some((user, class, here)));
                    }
                });
            }
        }
        wrong
    };
    match in_parts(users, first_wrong).into_iter().flatten().next() {
        None => Ok(()),
        Some((user, class, here)) => {
            let user = instance.user(UserId(user)).id();
            Err(format!("user {user} has {here} tasks on class {class}"))
        }
    }
}

fn printed(instance: &Instance, stated: &Printed<'_>, pooled: bool) -> Result<(), String> {
    let (users, m) = (instance.user_count(), instance.resources().len());
    length("groups", stated.groups.len(), instance.groups().len())?;
    length("limits", stated.limits.len(), instance.limit_rows().len())?;
    let guaranteed = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee()).count();
    length("guarantees", stated.guarantees.len(), guaranteed)?;
    length("tasks", stated.tasks.len(), users)?;
    length("dominant shares", stated.dominant_shares.len(), users)?;
    length("dominant resources", stated.dominant_resources.len(), users)?;
    length("utilizations", stated.utilization.len(), m)?;
    numbers("tasks", stated.tasks)?;
    numbers("dominant shares", stated.dominant_shares)?;
    numbers("class utilizations", stated.class_utilization)?;
    numbers("utilizations", stated.utilization)?;
    if !stated.prices.is_empty() {
        check_prices(instance, "prices", stated.prices, pooled)?;
    }
    finite("value, primal and dual", &[stated.value, stated.primal, stated.dual])?;
    numbers("relative gap", &[stated.relative_gap])?;
    match stated.dominant_resources.iter().position(|resource| resource.0 >= m) {
        None => Ok(()),
        Some(user) => Err(format!("users[{user}] has a dominant resource that the instance lacks")),
    }
}

fn usable(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

fn length(what: &str, actual: usize, expected: usize) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("{what}: {actual} instead of {expected}")) }
}

fn finite(what: &str, numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => Err(format!("{what}: {number}")),
    }
}

fn numbers(what: &str, numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().position(|number| !usable(*number)) {
        None => Ok(()),
        Some(position) => Err(format!("{what}: number {position} is {}", numbers[position])),
    }
}
