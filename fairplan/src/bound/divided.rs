//! What divided tasks reach, which no placement of whole ones exceeds: solved, and proved once more from its prices alone.

use super::in_time::NOT_PROVED;
use crate::error::all_hold;
use crate::solve::{AUTO, Solved, solver};
use crate::{Control, Error};
use fairplan_instances::{
    CountedGuarantees, Instance, Objective, QuotaPart, Solution, guarantees_more_than_members,
    whole_guarantees,
};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_verify::{Verdict, verify_divisible};
use std::borrow::Cow;

/// How to bound.
#[derive(Clone, Debug)]
pub struct BoundOptions {
    /// What finds the bound of divisible tasks: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self { backend: AUTO.into() }
    }
}

/// The part of the time that is left for it beside a search for whole tasks.
pub(super) const DIVISIBLE: f64 = 0.5;

/// The properties without which the bound of a solution holds all the same; it is proved from the prices alone anyway.
const OPEN: [&str; 4] = ["level-gaps", "freezing", "optimality", "price-scale"];

/// Divided tasks within limits and reserves, and the bound that they prove.
pub(crate) struct Divided<'a> {
    /// The instance with what is counted of its guarantees, in whole tasks.
    pub instance: Cow<'a, Instance>,
    /// `None` where prices rule out more than the bound, but nothing closes the gap to it.
    pub solution: Option<Solution>,
    pub bound: DivisibleBound,
    /// The divisions of what groups are guaranteed, where that is counted.
    pub divisions: Vec<Solution>,
    /// What is to be counted where no placement is known that keeps what is counted here.
    pub fewer: Option<Counted>,
}

/// Which quotas divided tasks keep; each is less than the one before.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Counted {
    /// All, guarantees in whole tasks, and what groups are guaranteed as their members would divide it.
    Quotas,
    /// The same with guarantees of users alone.
    OfUsers,
    /// Limits and reserves.
    Limits,
    Nothing,
}

impl Counted {
    /// All that counts for an objective: sums count no guarantees.
    pub fn all(instance: &Instance, objective: Objective) -> Self {
        match instance.has_guarantees() && objective == Objective::Drfh {
            true if guarantees_more_than_members(instance) => Self::Quotas,
            true => Self::OfUsers,
            false => Self::Limits,
        }
    }

    /// The next that counts less, and what is said to be left out; `None` where nothing is left to leave out.
    fn fewer(self, instance: &Instance) -> Option<(Self, &'static str)> {
        match self {
            Self::Quotas => Some((
                Self::OfUsers,
                "what groups are guaranteed beyond their members is left out of the bounds",
            )),
            Self::OfUsers => Some((Self::Limits, "guarantees are left out of the bounds")),
            Self::Limits if !instance.limit_rows().is_empty() => {
                Some((Self::Nothing, "limits and reserves are left out of the bound of divisible tasks"))
            }
            Self::Limits | Self::Nothing => None,
        }
    }
}

/// The proved bound of divisible tasks, which is proved once more from its prices, tasks, guarantees and limits alone. Where what is counted lets
/// an instance not be solved, less is.
pub(crate) fn divided<'a>(
    instance: &'a Instance,
    mut counted: Counted,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    loop {
        let failure = match divided_where(instance, counted, objective, backend, control) {
            Err(failure) if !matches!(failure, Error::TimeLimit { .. }) => failure,
            divided => return divided,
        };
        let Some((fewer, left_out)) = counted.fewer(instance) else { return Err(failure) };
        control.note(&format!("{left_out}: {failure}"));
        counted = fewer;
    }
}

fn divided_where<'a>(
    instance: &'a Instance,
    counted: Counted,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    let limit = control.deadline.after_part(DIVISIBLE);
    let solver = solver(backend, &limit)?;
    let solved = |instance: &Instance| Solved::new(instance, &*solver, objective, control)?.certified();
    let divisions = match counted {
        Counted::Quotas => solved(instance).map_err(|failure| failure.by(&limit))?.solution.guaranteed,
        _ => Vec::new(),
    };
    let are_counted = matches!(counted, Counted::Quotas | Counted::OfUsers);
    let sure = if are_counted { whole_guarantees(instance, &divisions) } else { Vec::new() };
    let bounded = match instance.quotas().is_empty() {
        true => Cow::Borrowed(instance),
        false => Cow::Owned(match counted {
            Counted::Quotas | Counted::OfUsers => instance.with_whole_guarantees(&sure)?,
            Counted::Limits => instance.without_parts(&[QuotaPart::Guarantees])?,
            Counted::Nothing => {
                instance.without_parts(&[QuotaPart::Guarantees, QuotaPart::Limits, QuotaPart::Reserves])?
            }
        }),
    };
    let solved = solved(&bounded);
    let is_closed = solved.is_ok();
    let solved = solved.map_err(|failure| failure.by(&limit)).or_else(what_prices_rule_out)?;
    let guarantees = match counted {
        _ if objective != Objective::Drfh => None,
        Counted::Quotas => Some(CountedGuarantees::All),
        _ => CountedGuarantees::of(instance, counted == Counted::OfUsers),
    };
    let whole_guarantees = if counted == Counted::Quotas { sure } else { Vec::new() };
    let bound =
        DivisibleBound { whole_guarantees, ..DivisibleBound::new(&bounded, &solved.solution, guarantees) };
    let bound = bound.within_limits(instance, objective);
    let verdict = verify_divisible(&bound.counted(instance), bound.claim(objective));
    all_hold(NOT_PROVED, &[verdict])?;
    let fewer = counted.fewer(instance).filter(|_| are_counted).map(|(fewer, _)| fewer);
    let solution = is_closed.then_some(solved.solution);
    Ok(Divided { instance: bounded, solution, bound, divisions, fewer })
}

/// What prices rule out holds, however far the allocation is from it, when time was over or since nothing closes the gap.
fn what_prices_rule_out(mut failure: Error) -> Result<Solved, Error> {
    let is_open = |verdict: &Verdict| OPEN.contains(&verdict.property);
    match failure.take_found::<Solved>() {
        Some(solved) if !solved.failures.is_empty() && solved.failures.iter().all(is_open) => Ok(solved),
        _ => Err(failure),
    }
}
