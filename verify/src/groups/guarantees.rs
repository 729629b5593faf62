//! Guarantees: what they come to in shares, and whether they are kept.

use super::filling::{Bounds, Tree};
use super::held_up::HeldUp;
use super::members::{Members, cap, share};
use super::sure::guaranteed_tasks;
use crate::claim::{Printed, SolutionClaim};
use crate::limits::below;
use crate::proof::SolutionProof;
use crate::rounding::{down, up};
use crate::tolerance;
use crate::users::{Subject, UsableClasses, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{AloneGroup, Instance, Objective, Owner, UserId};

/// How a division of what a group is guaranteed is verified: as any solution is.
pub(crate) type VerifySolution = fn(&Instance, &SolutionClaim<'_>) -> SolutionProof;

/// The tree of an instance with what its users are guaranteed; nothing where nobody is anything.
pub(crate) fn tree_of(instance: &Instance, floors: &[Bounds]) -> Tree {
    let tree = Tree::of(instance);
    if floors.is_empty() { tree } else { tree.above_floors(floors) }
}

/// What every user is sure of, nothing where nobody is of anything; and the verdict on what groups are guaranteed. Who has a part in
/// that is sure of what it has there: the division among the group's members alone is proved as any other is, by `verify`.
pub(crate) fn floors_of(
    instance: &Instance,
    objective: Objective,
    shares: &[UserShares],
    guaranteed: &[SolutionClaim<'_>],
    verify: VerifySolution,
) -> (Vec<Bounds>, Option<Verdict>) {
    if !instance.has_guarantees() {
        return (Vec::new(), None);
    }
    let tree = Tree::of(instance);
    let mut floors: Vec<Bounds> =
        shares.iter().enumerate().map(|(i, user)| floor(instance, user, i, &tree)).collect();
    let verdict = divided_so(instance, objective, guaranteed, verify, |alone, claim| {
        let pooled = objective.is_pooled();
        let usable =
            if pooled { UsableClasses::pooled(&alone.instance) } else { UsableClasses::of(&alone.instance) };
        let has = UserShares::of_all(&alone.instance, objective, &usable, &claim.tasks);
        let here = Tree::of(&alone.instance);
        for (i, user) in alone.members.iter().enumerate() {
            floors[user.0] = share(&has[i], i, &here).at_most(cap(&shares[user.0], user.0, &tree));
        }
    });
    (floors, verdict)
}

/// `guaranteed-groups`: whether the members of each group that is guaranteed something would divide it so alone; `seen` is told of each
/// division that is proved. `None` where there is none, and none is stated.
pub(crate) fn divided_so<'a>(
    instance: &Instance,
    objective: Objective,
    guaranteed: &'a [SolutionClaim<'a>],
    verify: VerifySolution,
    mut seen: impl FnMut(&AloneGroup, &SolutionClaim<'a>),
) -> Option<Verdict> {
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
        let proof = verify(&alone.instance, claim);
        if let Some(Verdict { property, witness, .. }) = proof.failures().next() {
            worst.fail(|| format!("what {} is guaranteed is not divided so: {property}: {witness}", name()));
            continue;
        }
        seen(alone, claim);
    }
    (!groups.is_empty() || !guaranteed.is_empty()).then(|| worst.verdict())
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

/// `guarantees`: everybody has what it is guaranteed, and what is stated of that is so. Where there are levels, whoever is held up is above
/// somebody beside it who wants more of what it takes.
pub(super) fn kept(
    subject: Subject<'_>,
    tree: &Tree,
    members: &Members<'_>,
    printed: Option<&Printed<'_>>,
) -> Verdict {
    let instance = subject.instance;
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
    let mut held_up = HeldUp::of(subject, members);
    let owners = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    for ((owner, _), stated) in owners.zip(stated.guarantees) {
        let (floor, share) = match owner {
            Owner::Group(group) => of_groups[group.0],
            Owner::User(user) => of_user(user.0),
        };
        worst.compare(stated.floor, floor, || format!("what {} is sure of", instance.name_of(*owner)));
        worst.compare(stated.share, share, || format!("what {} has", instance.name_of(*owner)));
        let more = if floor > 0.0 { share / floor - 1.0 } else { f64::INFINITY };
        let part = held_up.as_mut().map_or(f64::INFINITY, |held_up| held_up.by(*owner));
        let is_true = match stated.held_up {
            true => more < tolerance::AT_FLOOR.1 && part > tolerance::ABOVE.0,
            false => more > tolerance::AT_FLOOR.0 || part < tolerance::ABOVE.1,
        };
        if !is_true {
            worst.fail(|| format!("whether {} is held up", instance.name_of(*owner)));
        }
    }
    worst.verdict()
}
