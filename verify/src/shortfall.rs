//! A shortfall: prices that prove that what is guaranteed cannot be kept together, and how large a part of it can be.

use crate::claim::{SolutionClaim, Tasks};
use crate::form::check_prices;
use crate::groups::{Bounds, cap, floors_of, paid, tree_of, work_of_share};
use crate::levels::LevelPrices;
use crate::rounding::{down, up};
use crate::solution::verify_solution;
use crate::tolerance;
use crate::users::{UsableClasses, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{InsideGroup, Instance, Level, Objective, Shortfall, UserId};

/// Whether these prices prove that no more than the stated part of all guarantees can be kept together: `shortfall`.
pub fn verify_shortfall(instance: &Instance, objective: Objective, shortfall: &Shortfall) -> Verdict {
    let mut worst = Worst::of("shortfall", 0.0);
    if let Err(problem) = check(instance, objective, shortfall) {
        worst.fail(|| problem);
    }
    worst.verdict()
}

fn check(instance: &Instance, objective: Objective, shortfall: &Shortfall) -> Result<(), String> {
    check_inside(instance, objective, shortfall, &shortfall.inside)
}

/// Of what the innermost of these groups would divide alone.
fn check_inside(
    instance: &Instance,
    objective: Objective,
    shortfall: &Shortfall,
    inside: &[InsideGroup],
) -> Result<(), String> {
    if let [InsideGroup { group, name }, rest @ ..] = inside {
        let groups = instance.guaranteed_groups().map_err(|violation| violation.to_string())?;
        let alone = groups.iter().find(|alone| alone.group == *group);
        let alone = alone.ok_or_else(|| format!("{name} is guaranteed nothing"))?;
        return check_inside(&alone.instance, objective, shortfall, rest);
    }
    objective.applies_to(instance).map_err(|violation| violation.to_string())?;
    let pooled = objective.is_pooled();
    check_prices(instance, "prices", &shortfall.prices, pooled)?;
    let of_limits = &shortfall.limit_prices;
    if of_limits.len() != instance.limit_rows().len()
        || of_limits.iter().any(|price| !price.is_finite() || *price < 0.0)
    {
        return Err("there is no price >= 0 of every limit".into());
    }
    let usable_classes = if pooled { UsableClasses::pooled(instance) } else { UsableClasses::of(instance) };
    let nobody = Tasks::Listed { starts: vec![0; instance.kind_count() + 1], entries: Vec::new() };
    let shares = UserShares::of_all(instance, objective, &usable_classes, &nobody);
    let guaranteed: Vec<SolutionClaim<'_>> = shortfall.guaranteed.iter().map(SolutionClaim::from).collect();
    let (floors, verdict) =
        floors_of(instance, objective.inside_groups(), &shares, &guaranteed, verify_solution);
    if let Some(verdict) = verdict.filter(|verdict| !verdict.holds) {
        return Err(verdict.witness);
    }
    let usable_classes = &usable_classes;
    let tree = tree_of(instance, &floors);
    let caps: Vec<Bounds> = shares.iter().enumerate().map(|(i, user)| cap(user, i, &tree)).collect();
    let (prices, limit_prices) = (shortfall.prices.clone(), of_limits.clone());
    let prices =
        LevelPrices::of(instance, usable_classes, &Level { value: 0.0, bound: 0.0, prices, limit_prices });
    let cost = |i: usize| match caps[i].high {
        0.0 => 0.0,
        _ => down(
            prices.slope(instance.user(UserId(i)), usable_classes) * work_of_share(instance, &shares[i], i),
        ),
    };
    let costs: Vec<f64> = (0..shares.len()).map(cost).collect();
    let (worth, needed) = (prices.worth(instance), paid(&costs, &tree.at(0.0, &caps)));
    let part = up(worth / needed);
    if part >= 1.0 {
        return Err(format!(
            "all there is is worth {worth}, and what is guaranteed would cost no more than {needed}"
        ));
    }
    match part > shortfall.part * (1.0 + tolerance::ROUNDING) {
        true => Err(format!("a part of {} is stated, and up to {part} is not ruled out", shortfall.part)),
        false => Ok(()),
    }
}
