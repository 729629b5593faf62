//! Properties at the level of groups: what a group has is what its members have together, in shares of the cluster under audit.
//! None has more by being cut up, by disbanding or by its members' lies, and none less when another leaves or a server is added.

use super::case::{Case, name, work};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::misreport::{answer, grid, misreport};
use super::truthfulness;
use super::work::shortfall;
use fairplan_instances::{
    Allocation, Decimal, Draft, GroupId, Instance, InstanceError, NewGroup, Owner, UserId,
};
use rayon::prelude::*;

/// What each group has, given the work of every user of the audited instance.
fn sums(case: &Case<'_>, works: &[f64]) -> Vec<f64> {
    let share = |i: usize| works[i] * case.instance.user(UserId(i)).task_share();
    case.instance.of_groups(0.0, share, |a, b| a + b)
}

/// The groups that are looked at one by one: those with members, or as many as asked for, evenly spread.
fn sample(case: &Case<'_>) -> Vec<usize> {
    let has_members = case.instance.of_groups(false, |_| true, |a, b| a || b);
    let all: Vec<usize> = (0..has_members.len()).filter(|g| has_members[*g]).collect();
    let (n, wanted) = (all.len(), case.settings.users.max(1));
    if n <= wanted { all } else { (0..wanted).map(|k| all[k * n / wanted]).collect() }
}

fn searched(case: &Case<'_>) -> String {
    of_all(case, sample(case).len())
}

fn of_all(case: &Case<'_>, some: usize) -> String {
    let all = case.instance.groups().len();
    if some == all { format!("all {all} groups") } else { format!("{some} of {all} groups") }
}

/// Those of the sample without quotas of their own: of quotas nobody says how halves, or members, divide them.
fn without_quotas(case: &Case<'_>) -> Vec<usize> {
    let is_free = |g: &usize| case.instance.quota_of(Owner::Group(GroupId(*g))).is_none();
    sample(case).into_iter().filter(is_free).collect()
}

/// Where no group is without.
const ALL_HAVE_QUOTAS: &str = "every group has quotas of its own, of which nobody says who would have them";

fn id<'a>(case: &'a Case<'_>, group: usize) -> &'a str {
    &case.instance.groups()[group].id
}

/// A share in words for people.
fn share(share: f64) -> String {
    format!("{:.6}% of the cluster", share * 100.0)
}

/// What each group has that a user is in, the innermost first, given the work of every user.
pub(super) fn above(case: &Case<'_>, user: usize, works: impl FnOnce() -> Vec<f64>) -> Vec<f64> {
    let mut group = case.instance.user(UserId(user)).group();
    if group.is_none() {
        return Vec::new();
    }
    let sums = sums(case, &works());
    let mut found = Vec::new();
    while let Some(here) = group {
        found.push(sums[here.0]);
        group = case.instance.groups()[here.0].parent;
    }
    found
}

/// The work of all users of a solution.
pub(super) fn works(instance: &Instance, allocation: &Allocation) -> Vec<f64> {
    instance.users().map(|user| work(user, allocation)).collect()
}

/// Notes by how much a group has more in a variant with the same users in the same order.
fn see_gain(
    case: &Case<'_>,
    draft: &Draft,
    group: usize,
    worst: &mut LargestViolation,
    by: &str,
) -> Result<(), InstanceError> {
    let Some((variant, solution)) = case.solve(draft)? else { return Ok(()) };
    let before = sums(case, &case.work)[group];
    let after = sums(case, &works(&variant, &solution.allocation))[group];
    worst.see(shortfall(before, after), || {
        format!("group {} has {} {by} instead of {}", id(case, group), share(after), share(before))
    });
    Ok(())
}

/// A group cut in two with half the weight each, its children dealt to both in turn.
pub(super) fn splitting(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let asked = without_quotas(case);
    if asked.is_empty() {
        return Ok(Searched::NotApplicable(ALL_HAVE_QUOTAS.into()));
    }
    for g in asked.iter().copied() {
        let mut draft = case.draft.clone();
        let Ok(half) = Decimal::from_f64(0.5 * draft.groups[g].weight.to_f64()) else { continue };
        draft.groups[g].weight = half;
        let other = NewGroup { id: unused(&case.instance), ..draft.groups[g].clone() };
        let (own, second) = (draft.groups[g].id.clone(), other.id.clone());
        draft.groups.push(other);
        let position = draft.groups.len() - 1;
        let mut turn = false;
        let mut is_second = || {
            turn = !turn;
            !turn
        };
        for user in draft.users.iter_mut().filter(|user| user.group == Some(g)) {
            if is_second() {
                user.group = Some(position);
            }
        }
        for below in draft.groups.iter_mut().filter(|below| below.parent.as_ref() == Some(&own)) {
            if is_second() {
                below.parent = Some(second.clone());
            }
        }
        // Sums of the audited instance's groups: both halves are still one there.
        see_gain(case, &draft, g, worst, "when cut in two with half the weight each")?;
    }
    Ok(Searched::All(format!("{} cut in two", of_all(case, asked.len()))))
}

/// An id that no group has.
fn unused(instance: &Instance) -> String {
    let mut id = "the other half".to_owned();
    while instance.group_named(&id).is_some() {
        id.push('\'');
    }
    id
}

/// A group of which the children stand beside its siblings, with its weight divided among them.
pub(super) fn disbanding(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let asked = without_quotas(case);
    if asked.is_empty() {
        return Ok(Searched::NotApplicable(ALL_HAVE_QUOTAS.into()));
    }
    for g in asked.iter().copied() {
        let mut draft = case.draft.clone();
        let (own, above) = (draft.groups[g].id.clone(), draft.groups[g].parent.clone());
        let position = above.as_ref().and_then(|above| case.instance.group_named(above)).map(|above| above.0);
        let has_members = case.instance.of_groups(false, |_| true, |a, b| a || b);
        let is_below = |k: usize, below: &NewGroup| below.parent.as_ref() == Some(&own) && has_members[k];
        let users = draft.users.iter().filter(|user| user.group == Some(g)).map(|user| user.weight.to_f64());
        let groups = draft.groups.iter().enumerate().filter(|(k, below)| is_below(*k, below));
        let all: f64 = users.chain(groups.map(|(_, below)| below.weight.to_f64())).sum();
        let of_all = draft.groups[g].weight.to_f64() / all;
        let scaled = |weight: Decimal| Decimal::from_f64(weight.to_f64() * of_all).unwrap_or(weight);
        for user in draft.users.iter_mut().filter(|user| user.group == Some(g)) {
            (user.weight, user.group) = (scaled(user.weight), position);
        }
        for below in draft.groups.iter_mut().filter(|below| below.parent.as_ref() == Some(&own)) {
            (below.weight, below.parent) = (scaled(below.weight), above.clone());
        }
        see_gain(case, &draft, g, worst, "when its children stand alone with its weight divided among them")?;
    }
    Ok(Searched::All(format!("{} disbanded", of_all(case, asked.len()))))
}

/// A member claims other demands than it has.
pub(super) fn truthful(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let before = sums(case, &case.work);
    let is_member = |liar: &usize| case.instance.user(UserId(*liar)).group().is_some();
    let liars: Vec<usize> = truthfulness::liars(case).into_iter().filter(is_member).collect();
    let search = |liar: &usize| lies_of(case, *liar, &before);
    let found: Vec<Lies> = liars.par_iter().map(search).collect::<Result<_, InstanceError>>()?;
    let tried: u64 = found.iter().map(|lies| lies.tried).sum();
    let is_done = found.iter().all(|lies| lies.is_done);
    found.into_iter().for_each(|lies| worst.or(lies.worst));
    Ok(match is_done {
        true => Searched::All(format!("{tried} misreports of {}", truthfulness::searched(case))),
        false => Searched::Some(format!("{tried} misreports")),
    })
}

/// What groups gain by the misreports of one member.
struct Lies {
    worst: LargestViolation,
    tried: u64,
    /// Whether there was time for all of them.
    is_done: bool,
}

fn lies_of(case: &Case<'_>, liar: usize, before: &[f64]) -> Result<Lies, InstanceError> {
    let mut lies = Lies { worst: case.largest(), tried: 0, is_done: true };
    for factors in grid(case, liar) {
        let answer = match answer(case, liar, &factors) {
            Err(InstanceError::OutOfTime) => return Ok(Lies { is_done: false, ..lies }),
            answer => answer?,
        };
        let Some(answer) = answer else { continue };
        lies.tried += 1;
        let mut group = case.instance.user(UserId(liar)).group();
        for after in answer.groups {
            let Some(here) = group else { break };
            lies.worst.see(shortfall(before[here.0], after), || {
                let claims = misreport(case, liar, &factors);
                let claims: Vec<String> = claims.iter().map(Decimal::to_string).collect();
                let (own, liar) = (id(case, here.0), name(&case.instance, liar));
                let (has, had) = (share(after), share(before[here.0]));
                format!(
                    "group {own} has {has} instead of {had} when user {liar} claims ({}) a task",
                    claims.join(", ")
                )
            });
            group = case.instance.groups()[here.0].parent;
        }
    }
    Ok(lies)
}

/// No group has less when another leaves, with all its members.
pub(super) fn population(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let before = sums(case, &case.work);
    for g in sample(case) {
        let leaves = case.instance.groups_inside(GroupId(g));
        let stays = |i: usize| case.instance.user(UserId(i)).group().is_none_or(|group| !leaves[group.0]);
        let kept: Vec<usize> = (0..case.work.len()).filter(|i| stays(*i)).collect();
        let mut draft = case.draft.clone();
        draft.users = kept.iter().map(|i| draft.users[*i].clone()).collect();
        let Some((variant, solution)) = case.solve(&draft)? else { continue };
        let mut left = vec![0.0; case.work.len()];
        kept.iter().zip(works(&variant, &solution.allocation)).for_each(|(i, work)| left[*i] = work);
        // Groups above the one that leaves lose what it had.
        let has_lost = case.instance.of_groups(false, |i| !stays(i), |a, b| a || b);
        for (other, after) in sums(case, &left).into_iter().enumerate().filter(|(other, _)| !has_lost[*other])
        {
            worst.see(shortfall(after, before[other]), || {
                let (id, leaver) = (id(case, other), id(case, g));
                let (has, had) = (share(after), share(before[other]));
                format!("when group {leaver} leaves, group {id} has {has} instead of {had}")
            });
        }
    }
    Ok(Searched::All(format!("{} leaving one by one", searched(case))))
}

/// No group has less when a server is added.
pub(super) fn resources(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let before = sums(case, &case.work);
    for (l, class) in case.servers.classes.iter().enumerate() {
        let more = |draft: &mut Draft| draft.classes[l].set_count(class.count + 1);
        let Some(draft) = case.with_other_servers(more) else { continue };
        let Some((variant, solution)) = case.solve(&draft)? else { continue };
        for (g, after) in sums(case, &works(&variant, &solution.allocation)).into_iter().enumerate() {
            worst.see(shortfall(after, before[g]), || {
                let (has, had) = (share(after), share(before[g]));
                format!(
                    "when class {} has one more server, group {} has {has} instead of {had}",
                    class.id,
                    id(case, g)
                )
            });
        }
    }
    Ok(Searched::All("one more server of each class".into()))
}
