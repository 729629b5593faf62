//! The whole tasks that users are guaranteed, where what groups are guaranteed counts as their members would divide it alone.

use crate::claim::SolutionClaim;
use crate::groups::divided_so;
use crate::limited_tasks::Limited;
use crate::solution::verify_solution;
use crate::tolerance::STATED;
use crate::verdict::Verdict;
use fairplan_instances::{Instance, Objective, UserId};
use std::borrow::Cow;

/// The instance that levels are of: with so many whole tasks guaranteed to each user where that is said, and nothing to groups.
pub(crate) fn counted<'a>(instance: &'a Instance, sure: Option<&[u64]>) -> Result<Cow<'a, Instance>, String> {
    match sure {
        None => Ok(Cow::Borrowed(instance)),
        Some(sure) if sure.len() == instance.user_count() => {
            let counted = instance.with_whole_guarantees(sure);
            counted.map(Cow::Owned).map_err(|violation| violation.to_string())
        }
        Some(sure) => {
            Err(format!("guaranteed tasks of {} users instead of {}", sure.len(), instance.user_count()))
        }
    }
}

/// The whole tasks, in whole gangs, that every user is guaranteed itself, or has by the division of what a group around it is guaranteed;
/// and `guaranteed-groups`, the verdict on the divisions: `None` where no group is guaranteed anything, and none is stated.
pub fn whole_guarantees(instance: &Instance, divisions: &[SolutionClaim<'_>]) -> (Vec<u64>, Option<Verdict>) {
    let Limited { mut sure, most, .. } = Limited::of(instance);
    let verdict = divided_so(instance, Objective::Drfh, divisions, verify_solution, |alone, claim| {
        for (i, user) in alone.members.iter().enumerate() {
            let tasks = (claim.tasks.running(alone.instance.user(UserId(i))) * (1.0 + STATED)) as u64;
            let user = instance.user(*user);
            let whole = tasks.min(most[user.index().0].unwrap_or(u64::MAX)) / user.at_once() * user.at_once();
            if user.fits_somewhere() {
                sure[user.index().0] = sure[user.index().0].max(whole);
            }
        }
    });
    (sure, verdict)
}
