//! The best that any placement of whole tasks can do, from both sides, proved before anyone sees it.

mod allocated;
mod beside;
mod divided;
mod in_time;
mod proportional;

pub use allocated::{AllocatedBound, allocate_most, bound_allocated, bound_allocated_around};
pub(crate) use allocated::{allocated_bracketed, resource_named};
pub use divided::BoundOptions;
pub(crate) use divided::{Counted, Divided, divided};
pub use proportional::{ProportionalBound, bound_proportional};

use crate::solve::hashed;
use crate::{Control, Error};
use beside::Beside;
use fairplan_instances::wording::choose;
use fairplan_instances::{
    Deadline, Instance, Objective, Solution, WholeTaskBracket, keeps_guarantees_of_users, stated_bounds,
};
use fairplan_report::bound::{BoundDocument, bound_document};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::placement::ServerResults;
use fairplan_solver::{joined, whole_task_bracket, with_best_of};
use fairplan_verify::{Verdict, WholeTaskClaim, verify_whole_tasks};
use in_time::{Bracketing, CHECKING, FIRST, SEARCHING};
use std::str::FromStr;

/// What whole tasks are bounded for, and compared by: `drfh`, `pf` or `allocated=RESOURCE`.
///
/// ```
/// use fairplan::WholeTaskObjective;
///
/// assert_eq!("allocated=gpu".parse(), Ok(WholeTaskObjective::Allocated("gpu".into())));
/// assert!("utilitarian".parse::<WholeTaskObjective>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WholeTaskObjective {
    /// The smallest weighted dominant share, of those who want more where tasks are limited.
    #[default]
    SmallestShare,
    /// The sum `Σ w ln(dominant share)`.
    ProportionalFairness,
    /// How much of this resource is taken.
    Allocated(String),
}

impl FromStr for WholeTaskObjective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), text.split_once('=')) {
            (Ok(Objective::Drfh), _) => Ok(Self::SmallestShare),
            (Ok(Objective::ProportionalFairness), _) => Ok(Self::ProportionalFairness),
            (_, Some(("allocated", resource))) if !resource.is_empty() => {
                Ok(Self::Allocated(resource.into()))
            }
            _ => {
                let known = ["drfh", "pf", "allocated=RESOURCE"];
                Err(format!("whole tasks are not bounded for it; {}", choose(text, &known)))
            }
        }
    }
}

/// The smallest weighted dominant share of whole tasks, between a placement and a proved bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The bound of divisible tasks.
    pub divisible: DivisibleBound,
    /// The divisions of what groups are guaranteed beyond their members, where that is counted.
    pub divisions: Vec<Solution>,
    /// The bracket of whole ones.
    pub bracket: WholeTaskBracket,
    /// The SHA-256 of the instance.
    pub sha256: String,
}

impl Bound {
    /// The `fairplan.bound.v1`.
    pub fn document<'a>(&'a self, instance: &'a Instance) -> BoundDocument<ServerResults<'a>> {
        bound_document(instance, &self.sha256, &self.divisible, &self.divisions, &self.bracket)
    }
}

/// Brackets the smallest weighted dominant share that whole tasks can reach, where users have kinds with all pieces of a task somewhere,
/// and within the rules inside servers (devices, limits a server).
///
/// Whom a limit holds needs no more than it has: a level is about those who want more. Limits and reserves are counted as servers are. Of
/// rules between servers the bound counts whole gangs, what each user could have alone, and whole gangs in each domain. It holds for placements
/// that give users the whole tasks that they are guaranteed, and members of a group those that they would have of what it is guaranteed if they
/// divided it alone; without what groups are guaranteed, or any guarantee, where no placement is found that keeps that ([`CountedGuarantees`](fairplan_instances::CountedGuarantees)).
/// Where there are quotas or rules between servers, the placement is the best of the policies', which
/// keep them, and, where nothing is guaranteed, of what limits, reserves and rules between servers leave of the patterns.
///
/// By a deadline the bracket is as narrow as it got, and proved; [`Error::TimeLimit`] if there is none yet.
///
/// ```
/// use fairplan::{BoundOptions, Control, bound, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let bound = bound(&instance, &BoundOptions::default(), &Control::none())?;
/// assert_eq!(bound.bracket.placement.tasks, [10, 10]);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn bound(instance: &Instance, options: &BoundOptions, control: &Control<'_>) -> Result<Bound, Error> {
    let found = || {
        let mut counted = Counted::all(instance, Objective::Drfh);
        loop {
            let Divided { bound, divisions, fewer, .. } =
                divided(instance, counted, Objective::Drfh, &options.backend, control)?;
            let of = bound.counted(instance);
            let found = bracketed(&of, control);
            let keeps = |found: &WholeTaskBracket| keeps_guarantees_of_users(&of, &found.placement.tasks);
            counted = match (fewer, &found) {
                (Some(fewer), Ok(bracket)) if !keeps(bracket) => fewer,
                (Some(fewer), Err(failure)) if !matches!(failure, Error::TimeLimit { .. }) => fewer,
                _ => return found.map(|bracket| (bound, divisions, bracket)),
            };
        }
    };
    let ((divisible, divisions, bracket), sha256) = hashed(instance, found)?;
    Ok(Bound { divisible, divisions, bracket, sha256 })
}

/// Brackets the smallest share, and re-proves the bracket by code that shares nothing with the solver.
pub(crate) fn bracketed(instance: &Instance, control: &Control<'_>) -> Result<WholeTaskBracket, Error> {
    let check = |bracket: &WholeTaskBracket, end: &Deadline| {
        control.stage(CHECKING);
        let stated = Some(stated_bounds(instance, bracket, None));
        verify_whole_tasks(instance, &WholeTaskClaim { bracket, stated }, end)
    };
    best_found(instance, &check, control)
}

/// A bracket by patterns, with the best placement of all that keep the rules, as far as it passes a check.
pub(crate) fn best_found(
    instance: &Instance,
    check: &dyn Fn(&WholeTaskBracket, &Deadline) -> Vec<Verdict>,
    control: &Control<'_>,
) -> Result<WholeTaskBracket, Error> {
    let beside = Beside::new(instance, control);
    let find = |control: &Control<'_>| {
        control.stage("bounding whole tasks");
        let bracket = whole_task_bracket(instance, &control.deadline.after_part(SEARCHING))?;
        // Where nobody has anything the best are told apart by the tasks that wait.
        let is_best = bracket.is_closed && bracket.lower.is_none_or(|lower| lower.tasks > 0);
        let placements = beside.what_was_found(&bracket.placement, is_best, control)?;
        Ok(with_best_of(instance, bracket, placements)?)
    };
    let join = |best: &WholeTaskBracket, found: WholeTaskBracket| Ok(joined(instance, best, found)?);
    in_time::proved(control, &Bracketing { find: &find, join: &join, check, stands_in: None, first: FIRST })
}
