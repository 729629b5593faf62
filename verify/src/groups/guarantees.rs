//! Guarantees: what they come to in shares, whether they are kept, and what proves that they cannot be.

use super::filling::{Bounds, Tree};
use super::members::{Members, cap, share, work_of_share};
use super::paid;
use super::sure::guaranteed_tasks;
use crate::claim::{Printed, SolutionClaim, Tasks};
use crate::form::check_prices;
use crate::levels::LevelPrices;
use crate::limits::below;
use crate::rounding::{down, up};
use crate::solution::verify_solution;
use crate::tolerance;
use crate::users::{UsableClasses, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    GuaranteeResult, InsideGroup, Instance, Level, Objective, Owner, Shortfall, UserId,
};

/// The tree of an instance with what its users are guaranteed; nothing where nobody is anything.
pub(crate) fn tree_of(instance: &Instance, floors: &[Bounds]) -> Tree {
    let tree = Tree::of(instance);
    if floors.is_empty() { tree } else { tree.above_floors(floors) }
}

/// What every user is sure of, nothing where nobody is of anything; and the verdict on what groups are guaranteed. Who has a part in
/// that is sure of what it has there: the division among the group's members alone is proved as any other is.
pub(crate) fn floors_of(
    instance: &Instance,
    objective: Objective,
    shares: &[UserShares],
    guaranteed: &[SolutionClaim<'_>],
) -> (Vec<Bounds>, Option<Verdict>) {
    if !instance.has_guarantees() {
        return (Vec::new(), None);
    }
    let tree = Tree::of(instance);
    let mut floors: Vec<Bounds> =
        shares.iter().enumerate().map(|(i, user)| floor(instance, user, i, &tree)).collect();
    let mut worst = Worst::of("guaranteed-groups", 0.0);
    let groups = instance.guaranteed_groups().unwrap_or_default();
    if groups.len() != guaranteed.len() {
        worst.fail(|| {
            format!("{} divisions of what {} groups are guaranteed", guaranteed.len(), groups.len())
        });
    }
    for (alone, claim) in groups.iter().zip(guaranteed) {
        let name = || instance.name_of(Owner::Group(alone.group));
        if claim.objective != objective {
            worst.fail(|| format!("what {} is guaranteed is divided by {}", name(), claim.objective));
        }
        let proof = verify_solution(&alone.instance, claim);
        if let Some(Verdict { property, witness, .. }) = proof.failures().next() {
            worst.fail(|| format!("what {} is guaranteed is not divided so: {property}: {witness}", name()));
            continue;
        }
        let pooled = objective.is_pooled();
        let usable =
            if pooled { UsableClasses::pooled(&alone.instance) } else { UsableClasses::of(&alone.instance) };
        let has = UserShares::of_all(&alone.instance, objective, &usable, &claim.tasks);
        let here = Tree::of(&alone.instance);
        for (i, user) in alone.members.iter().enumerate() {
            floors[user.0] = share(&has[i], i, &here).at_most(cap(&shares[user.0], user.0, &tree));
        }
    }
    (floors, (!groups.is_empty() || !guaranteed.is_empty()).then(|| worst.verdict()))
}

/// What a user is guaranteed, as the objective counts shares without weights: the tasks that its amounts hold, at most its own.
fn floor(instance: &Instance, shares: &UserShares, i: usize, tree: &Tree) -> Bounds {
    let user = instance.user(UserId(i));
    let tasks = guaranteed_tasks(instance, user);
    if tasks == 0.0 || shares.cap == 0.0 {
        return Bounds::NOTHING;
    }
    let high = up(up(tasks * tree.user_weight(i).high) / shares.work_per_level);
    Bounds { low: down(high * (1.0 - tolerance::ROUNDINGS)), high }.at_most(cap(shares, i, tree))
}

/// `guarantees`: everybody has what it is guaranteed, and what is stated of that is so.
pub(super) fn kept(
    instance: &Instance,
    tree: &Tree,
    members: &Members<'_>,
    printed: Option<&Printed<'_>>,
) -> Verdict {
    let mut worst = Worst::of("guarantees", tolerance::STATED);
    let (at, shares) = (tree.at(0.0, members.caps()), &members.shares);
    for (i, (floor, has)) in at.iter().zip(shares).enumerate() {
        let least = floor.share.low;
        worst.see(below(has.high, least), || {
            format!(
                "user {} has {}, of {least} that it is guaranteed",
                instance.user(UserId(i)).id(),
                has.high
            )
        });
    }
    let Some(stated) = printed else { return worst.verdict() };
    let of_user = |i: usize| (tree.floor_of_user(i), shares[i].low);
    let of_groups = instance.of_groups((0.0, 0.0), of_user, |a, b| (a.0 + b.0, a.1 + b.1));
    let owners = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    for ((owner, _), stated) in owners.zip(stated.guarantees) {
        let (floor, share) = match owner {
            Owner::Group(group) => of_groups[group.0],
            Owner::User(user) => of_user(user.0),
        };
        worst.compare(stated.floor, floor, || format!("what {} is sure of", instance.name_of(*owner)));
        worst.compare(stated.share, share, || format!("what {} has", instance.name_of(*owner)));
        if stated.held_up != GuaranteeResult::is_held_up(stated.floor, stated.share) {
            worst.fail(|| format!("whether {} is held up", instance.name_of(*owner)));
        }
    }
    worst.verdict()
}

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
    let (floors, verdict) = floors_of(instance, objective, &shares, &guaranteed);
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
