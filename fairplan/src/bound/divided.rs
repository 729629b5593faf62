//! What divided tasks reach, which no placement of whole ones exceeds: solved, and proved once more from its prices alone.

use super::in_time::NOT_PROVED;
use crate::error::all_hold;
use crate::solve::{Solved, solver};
use crate::{Control, Error};
use fairplan_instances::{CountedGuarantees, Instance, Objective, QuotaPart, Solution};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_verify::{Verdict, verify_divisible};
use std::borrow::Cow;

/// The part of the time that is left for it beside a search for whole tasks.
pub(super) const DIVISIBLE: f64 = 0.5;

/// The properties without which the bound of a solution holds all the same; it is proved from the prices alone anyway.
const OPEN: [&str; 4] = ["level-gaps", "freezing", "optimality", "price-scale"];

/// Divided tasks within limits and reserves, and the bound that they prove.
pub(crate) struct Divided<'a> {
    /// The instance with what whole tasks can keep of its guarantees; without guarantees for sums, or where they cannot be kept together.
    pub instance: Cow<'a, Instance>,
    /// `None` where prices rule out more than the bound, but nothing closes the gap to it.
    pub solution: Option<Solution>,
    pub bound: DivisibleBound,
}

/// The proved bound of divisible tasks, which is proved once more from its prices, tasks, guarantees and limits alone. Where guarantees let
/// an instance not be solved, they are left out; then limits and reserves.
pub(crate) fn divided<'a>(
    instance: &'a Instance,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    if instance.has_guarantees() && objective == Objective::Drfh {
        match divided_where(instance, Counted::Quotas, objective, backend, control) {
            Err(failure) if !matches!(failure, Error::TimeLimit { .. }) => {
                control.note(&format!("guarantees are left out of the bounds: {failure}"));
            }
            divided => return divided,
        }
    }
    divided_without_guarantees(instance, objective, backend, control)
}

/// The same whatever is guaranteed.
pub(crate) fn divided_without_guarantees<'a>(
    instance: &'a Instance,
    objective: Objective,
    backend: &str,
    control: &Control<'_>,
) -> Result<Divided<'a>, Error> {
    let solve = |counted: Counted| divided_where(instance, counted, objective, backend, control);
    match solve(Counted::Limits) {
        Err(failure) if !instance.limit_rows().is_empty() && !matches!(failure, Error::TimeLimit { .. }) => {
            control.note(&format!(
                "limits and reserves are left out of the bound of divisible tasks: {failure}"
            ));
            solve(Counted::Nothing)
        }
        divided => divided,
    }
}

/// Which quotas divided tasks keep: all, guarantees in whole tasks; limits and reserves; or none.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Quotas,
    Limits,
    Nothing,
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
    let bounded = match instance.quotas().is_empty() {
        true => Cow::Borrowed(instance),
        false => Cow::Owned(match counted {
            Counted::Quotas => instance.with_whole_guarantees()?,
            Counted::Limits => instance.without_parts(&[QuotaPart::Guarantees])?,
            Counted::Nothing => {
                instance.without_parts(&[QuotaPart::Guarantees, QuotaPart::Limits, QuotaPart::Reserves])?
            }
        }),
    };
    let solved = Solved::new(&bounded, &*solver, objective, control)?.certified();
    let is_closed = solved.is_ok();
    let solved = solved.map_err(|failure| failure.by(&limit)).or_else(what_prices_rule_out)?;
    let guarantees = CountedGuarantees::of(instance, counted == Counted::Quotas);
    let guarantees = guarantees.filter(|_| objective == Objective::Drfh);
    let bound =
        DivisibleBound::new(&bounded, &solved.solution, guarantees).within_limits(instance, objective);
    let verdict = verify_divisible(instance, bound.claim(objective));
    all_hold(NOT_PROVED, &[verdict])?;
    Ok(Divided { instance: bounded, solution: is_closed.then_some(solved.solution), bound })
}

/// What prices rule out holds, however far the allocation is from it, when time was over or since nothing closes the gap.
fn what_prices_rule_out(mut failure: Error) -> Result<Solved, Error> {
    let is_open = |verdict: &Verdict| OPEN.contains(&verdict.property);
    match failure.take_found::<Solved>() {
        Some(solved) if !solved.failures.is_empty() && solved.failures.iter().all(is_open) => Ok(solved),
        _ => Err(failure),
    }
}
