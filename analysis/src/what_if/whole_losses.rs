//! What is lost when servers fail, in whole tasks: what a policy places today, beside what the same policy places on the servers that
//! are left, under all rules.
//!
//! Shares are those of the whole cluster before and after, and by them users are served: nothing changes but the servers.

use super::failure::Failure;
use super::guaranteed::ShortGuarantee;
use super::loss::{Left, Losses, PlacedBy, of_failures};
use super::standing::Standing;
use super::variants::{built_as_far_as_reserved, keep_who_has_a_chance};
use fairplan_instances::{Draft, Instance, InstanceStamp, KeptGuarantees, ShortOwner, Violation};

/// Whole tasks on the servers of an instance.
#[derive(Clone, Debug)]
pub struct WholeTasks {
    /// How many tasks each user has.
    pub tasks: Vec<u64>,
    /// The work that they do, in tasks of rate 1.
    pub works: Vec<f64>,
    /// The smallest weighted dominant share.
    pub value: f64,
    /// The same of those that still want more; `None` if nobody does.
    pub level: Option<f64>,
}

/// What each of these failures costs in whole tasks, the worst first as in [`losses`](super::losses). `place` places all users of an
/// instance: this one and what is left of it; the policy and the seed are what the result calls it.
///
/// # Errors
/// What `place` answers; a variant that breaks a rule of the model.
pub fn losses_of_whole_tasks<E: From<Violation>>(
    instance: &Instance,
    sha256: &str,
    placed_by: PlacedBy,
    failures: &[Failure],
    place: &mut dyn FnMut(&Instance) -> Result<WholeTasks, E>,
) -> Result<Losses, E> {
    let WholeTasks { tasks: before, works, value, level } = place(instance)?;
    let today = Standing::placed(instance, works, value, level);
    let short_today = KeptGuarantees::short_of(instance, &before);
    let left = &mut |mut draft: Draft| -> Result<Left, E> {
        let kept = keep_who_has_a_chance(&mut draft);
        let (mut tasks, mut works) = (vec![0; before.len()], vec![0.0; before.len()]);
        let (mut value, mut level, mut not_kept) = (0.0, None, None);
        if !kept.is_empty() {
            let (variant, unreserved) = built_as_far_as_reserved(draft.measured_as(instance))?;
            let placed = place(&variant)?;
            for (k, i) in kept.iter().enumerate() {
                (tasks[*i], works[*i]) = (placed.tasks[k], placed.works[k]);
            }
            value = if leaves_somebody_out(instance, &kept) { 0.0 } else { placed.value };
            (level, not_kept) = (placed.level, unreserved);
        }
        let standing = Standing::placed(instance, works, value, level);
        let short = shorter(&short_today, KeptGuarantees::short_of(instance, &tasks));
        let lost = before.iter().zip(&tasks).map(|(before, after)| before.saturating_sub(*after)).collect();
        Ok(Left { standing, not_kept, short, tasks: Some((tasks, lost)) })
    };
    let losses = of_failures(instance, &today, failures, left)?;
    Ok(Losses {
        instance: InstanceStamp::new(instance, sha256),
        placed_by: Some(placed_by),
        value: today.value,
        level: today.stated_level(),
        tasks: Some(before.iter().fold(0, |sum: u64, tasks| sum.saturating_add(*tasks))),
        losses,
    })
}

/// Whether a user without a group, or all members of a group without a parent, are not among these.
fn leaves_somebody_out(instance: &Instance, kept: &[usize]) -> bool {
    let mut is_kept = vec![false; instance.user_count()];
    kept.iter().for_each(|i| is_kept[*i] = true);
    let alone = instance.users().filter(|user| user.group().is_none()).any(|user| !is_kept[user.index().0]);
    let has_members = instance.of_groups(false, |_| true, |a, b| a || b);
    let has_kept = instance.of_groups(false, |i| is_kept[i], |a, b| a || b);
    let at_root = instance.groups().iter().map(|group| group.parent.is_none());
    alone || at_root.zip(has_members).zip(has_kept).any(|((at_root, has), kept)| at_root && has && !kept)
}

/// Who has less of its guarantee than today.
fn shorter(today: &[ShortOwner], then: Vec<ShortOwner>) -> Vec<ShortGuarantee> {
    let had = |short: &ShortOwner| today.iter().find(|other| other.owner == short.owner);
    let is_shorter = |short: &ShortOwner| had(short).is_none_or(|had| short.part < had.part);
    let told = |ShortOwner { owner, guarantee, part: kept }| ShortGuarantee { owner, guarantee, kept };
    then.into_iter().filter(is_shorter).map(told).collect()
}
