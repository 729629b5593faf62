//! What limits each user and on which level: true reasons, true levels, and nobody frozen too early.

use crate::beyond::{Beyond, part_beyond, taken_at_once};
use crate::levels::{LevelProof, Levels};
use crate::parts::in_parts;
use crate::tolerance;
use crate::used::Used;
use crate::users::{Subject, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, LimitedBy, UserId};
use std::collections::HashMap;
use std::ops::Range;

/// `limited-by`: users without usable class are those said to have none; users said to be limited by their tasks
/// run them all, where they do most or where the prices of an earlier level hold them, and are on the first level
/// that is not below their share; the others are frozen on some level, and have tasks for more.
pub(crate) fn reasons(subject: Subject<'_>, claim: Levels<'_>, proofs: &[LevelProof]) -> Verdict {
    let mut gains: HashMap<usize, f64> = HashMap::new();
    for (user, gain) in proofs.iter().flat_map(|proof| &proof.gains_by_moving) {
        gains.entry(*user).and_modify(|least| *least = least.min(*gain)).or_insert(*gain);
    }
    let part = |users: Range<usize>| {
        let mut worst = Worst::of("limited-by", tolerance::STATED);
        users.for_each(|i| reason(subject, claim, &gains, i, &mut worst));
        worst
    };
    let mut worst = Worst::of("limited-by", tolerance::STATED);
    in_parts(subject.instance.user_count(), part).into_iter().for_each(|part| worst.merge(part));
    worst.verdict()
}

/// The same for user `i`.
fn reason(subject: Subject<'_>, claim: Levels<'_>, gains: &HashMap<usize, f64>, i: usize, worst: &mut Worst) {
    let Subject { instance, usable_classes, shares } = subject;
    let id = || instance.user(UserId(i)).id();
    let (level, reason) = (claim.level_of[i] as usize, claim.limited_by[i]);
    if usable_classes.can_run(i) == (reason == LimitedBy::NoUsableClass) {
        let classes = usable_classes.fewest(i);
        worst
            .fail(|| format!("user {} is limited by {}, with {classes} usable classes", id(), reason.name()));
        return;
    }
    match reason {
        LimitedBy::NoUsableClass => {
            if level != 0 {
                worst.fail(|| format!("user {} has no usable class and level {level}, not 0", id()));
            }
        }
        LimitedBy::Limit => worst.fail(|| format!("user {} is limited by a limit, and there is none", id())),
        LimitedBy::Capacity => {
            if level == claim.levels.len() {
                worst
                    .fail(|| format!("user {} is limited by capacity on level {level}, which is none", id()));
            }
            let UserShares { weighted, cap, .. } = shares[i];
            if has_all(weighted, cap) {
                worst.fail(|| {
                    format!("user {} is limited by its tasks, not by capacity: it has all {cap}", id())
                });
            }
        }
        LimitedBy::Tasks => {
            let share = shares[i].weighted;
            let held = gains.get(&i).is_some_and(|gain| *gain <= tolerance::FREEZING)
                && all_tasks_run(instance, claim, i);
            let cap = if held { share } else { shares[i].cap };
            worst.see(below(share, cap), || {
                format!("user {} has weighted share {share}, but tasks for {cap}", id())
            });
            if let Some(here) = claim.levels.get(level) {
                worst.see(below(here.value, cap), || {
                    format!("user {} has tasks for {cap}, level {level} is at {}", id(), here.value)
                });
            }
            if let Some(before) = level.checked_sub(1).map(|before| &claim.levels[before]) {
                worst.see(below(cap, before.value), || {
                    format!("user {} has tasks for {cap}, but comes after level {}", id(), before.value)
                });
            }
        }
    }
}

/// Whether a share is all that there are tasks for, but for rounding.
pub(crate) fn has_all(share: f64, cap: f64) -> bool {
    below(share, cap) <= tolerance::ALL_BUT_ROUNDING
}

/// Whether the user's tasks all run.
fn all_tasks_run(instance: &Instance, claim: Levels<'_>, i: usize) -> bool {
    let user = instance.user(UserId(i));
    let running = claim.tasks.running(user);
    let limit = user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64);
    below(running, limit) <= tolerance::STATED
}

/// The verdicts on levels: they rise and are what their users have; bounds and prices are what is stated; bounds
/// are reached; and nobody is frozen who could get more.
pub(crate) fn levels(
    subject: Subject<'_>,
    claim: Levels<'_>,
    proofs: &[LevelProof],
    used: &Used<'_>,
) -> [Verdict; 5] {
    let Subject { instance, shares, .. } = subject;
    let part = |users: Range<usize>| {
        let mut values = Worst::of("levels", tolerance::STATED);
        for i in users.filter(|&i| claim.limited_by[i] == LimitedBy::Capacity) {
            let Some(level) = claim.levels.get(claim.level_of[i] as usize) else { continue };
            values.compare(level.value, shares[i].weighted, || {
                format!("weighted share of user {}", instance.user(UserId(i)).id())
            });
        }
        values
    };
    let mut values = Worst::of("levels", tolerance::STATED);
    in_parts(instance.user_count(), part).into_iter().for_each(|part| values.merge(part));
    for (k, pair) in claim.levels.windows(2).enumerate() {
        values.see(below(pair[1].value, pair[0].value), || format!("level {} is below level {k}", k + 1));
    }

    let mut bounds = Worst::of("level-bounds", tolerance::STATED);
    let mut scales = Worst::of("price-scale", tolerance::STATED);
    let mut gaps = Worst::of("level-gaps", tolerance::GAP);
    let mut freezing = Worst::of("freezing", tolerance::FREEZING);
    for (k, (level, proof)) in claim.levels.iter().zip(proofs).enumerate() {
        if !proof.freezes {
            values.fail(|| format!("level {k} freezes no user"));
        }
        bounds.compare(level.bound, proof.bound, || format!("bound of level {k}"));
        scales.compare(1.0, proof.scale, || format!("weighted prices of the users of level {k}"));
        gaps.see(proof.relative_gap(), || {
            format!("level {k} has {}, up to {} is not ruled out", proof.achieved, proof.bound)
        });
        if let Some((gain, i)) = proof.gain {
            freezing.see(gain, || {
                let id = instance.user(UserId(i)).id();
                format!("user {id} is frozen on level {k}, but could gain {gain:e} of what such users have")
            });
        }
        let is_open = |i: usize| {
            claim.level_of[i] as usize == k
                && claim.limited_by[i] == LimitedBy::Capacity
                && !shares[i].nearly_all_tasks()
        };
        if proof.gain.is_some_and(|(gain, _)| gain > tolerance::TAKEN)
            && let Some((taken, i)) =
                Beyond::level(subject, claim.tasks, used, |i| part_beyond(shares[i].weighted, level.value))
                    .taken_by(is_open)
        {
            freezing.fail(|| taken_at_once(instance.user(UserId(i)).id(), k, taken));
        }
    }
    [values.verdict(), bounds.verdict(), scales.verdict(), gaps.verdict(), freezing.verdict()]
}

/// By which part of `reference` the smaller `value` is below it; 0 when it is not smaller.
pub(crate) fn below(value: f64, reference: f64) -> f64 {
    if value >= reference { 0.0 } else { 1.0 - value / reference }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::ALL_BUT_ROUNDING;

    #[test]
    fn a_user_has_all_its_tasks_just_inside_the_tolerance_and_not_just_outside() {
        for cap in [1e-9, 0.3, 7.0] {
            assert!(has_all(cap, cap) && has_all(cap * (1.0 - 0.99 * ALL_BUT_ROUNDING), cap));
            assert!(!has_all(cap * (1.0 - 1.01 * ALL_BUT_ROUNDING), cap));
        }
        assert!(!has_all(0.5, f64::INFINITY) && has_all(0.0, 0.0));
    }
}
