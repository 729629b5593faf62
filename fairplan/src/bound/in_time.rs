//! A bracket that is found and proved by a deadline. An early one is proved first, which tells how long that takes; a better one is looked
//! for as long as leaves time to prove it, and the last that is proved is the answer. Where the check of single servers takes too long, a
//! bracket that is proved in a moment stands in, if there is one.

use super::NOT_PROVED;
use crate::error::all_hold;
use crate::{Control, Error};
use fairplan_instances::Deadline;
use fairplan_verify::Verdict;

/// The part of the time for the early bracket; and for a first one where that found none, so that the rest is for its check.
const EARLY: f64 = 0.35;
const FINDING: f64 = 0.7;

/// A later check is given this many times what the first took.
const AS_THE_FIRST: f64 = 2.0;

/// When checks have to end, in times of what was left: what was found is not thrown away for a moment more.
const CHECKING: f64 = 1.2;

/// The part of what is left for a check that another bracket can stand in for.
const PATIENCE: f64 = 0.3;

/// What is open where the check of a server takes too long.
const SERVER_VALUES: &str = "server-values";

/// Another bracket, which is looser and proved in a moment.
pub(super) type StandsIn<'a, B> = &'a dyn Fn(&B) -> Result<B, Error>;

/// Finds a bracket by the deadline and has it checked by code that shares nothing with the solver. Without a deadline it is found to the
/// end, and then checked.
///
/// # Errors
/// What `find` says; a bracket that does not hold; [`Error::TimeLimit`] where none could be checked in time.
pub(super) fn proved<B>(
    control: &Control<'_>,
    find: &dyn Fn(&Control<'_>) -> Result<B, Error>,
    check: &dyn Fn(&B, &Deadline) -> Vec<Verdict>,
    stands_in: Option<StandsIn<'_, B>>,
) -> Result<B, Error> {
    let deadline = &control.deadline;
    let end = deadline.after_part(CHECKING);
    let checked = |bracket: B| {
        control.stage("checking the bounds");
        let hold = |verdicts: &[Verdict]| all_hold(NOT_PROVED, verdicts).map_err(|failure| failure.by(&end));
        let Some(stands_in) = stands_in else { return hold(&check(&bracket, &end)).map(|()| bracket) };
        let verdicts = check(&bracket, &deadline.after_part(PATIENCE));
        let is_open = |verdict: &Verdict| !verdict.holds && verdict.property == SERVER_VALUES;
        if !verdicts.iter().any(is_open) {
            return hold(&verdicts).map(|()| bracket);
        }
        let other = stands_in(&bracket)?;
        hold(&check(&other, &end)).map(|()| other)
    };
    let Some(all) = deadline.time_left() else { return find(control).and_then(checked) };
    let early = deadline.after_part(EARLY);
    let first = match find(&control.until(early.clone())) {
        Err(Error::TimeLimit { .. }) => {
            return find(&control.until(deadline.after_part(FINDING))).and_then(checked);
        }
        found => found?,
    };
    // Found to the end: there is none better.
    if !early.is_over() {
        return checked(first);
    }
    let before = deadline.seconds_left();
    let first = checked(first)?;
    let left = deadline.seconds_left();
    let finding = left - AS_THE_FIRST * (before - left);
    // It begins anew, and would come no further than before.
    if finding <= EARLY * all.as_secs_f64() {
        return Ok(first);
    }
    match find(&control.until(deadline.after_part(finding / left))).and_then(checked) {
        Err(Error::TimeLimit { .. }) => Ok(first),
        better => better,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::thread::sleep;
    use std::time::Duration;

    fn verdict(holds: bool) -> Vec<Verdict> {
        vec![Verdict { property: "bounds", holds, residual: 0.0, tolerance: 0.0, witness: "late".into() }]
    }

    /// What a search finds by each of its deadlines, where a check takes so long: the answer, and how often each was asked.
    fn found(limit: u64, search: u64, check: u64) -> (Result<u32, Error>, u32, u32) {
        let control = Control { deadline: Deadline::after(Duration::from_millis(limit)), ..Control::none() };
        let asked = RefCell::new((0, 0));
        let whole = Deadline::after(Duration::from_millis(search));
        let find = |control: &Control<'_>| {
            while !control.deadline.is_over() && !whole.is_over() {
                sleep(Duration::from_millis(1));
            }
            asked.borrow_mut().0 += 1;
            Ok(asked.borrow().0)
        };
        let check = |_: &u32, deadline: &Deadline| {
            asked.borrow_mut().1 += 1;
            let takes = Deadline::after(Duration::from_millis(check));
            while !deadline.is_over() && !takes.is_over() {
                sleep(Duration::from_millis(1));
            }
            verdict(takes.is_over())
        };
        let found = proved(&control, &find, &check, None);
        let (finds, checks) = *asked.borrow();
        (found, finds, checks)
    }

    #[test]
    fn what_is_found_to_the_end_is_checked_once() {
        assert!(matches!(found(5_000, 0, 0), (Ok(1), 1, 1)));
    }

    #[test]
    fn a_better_one_is_looked_for_as_long_as_leaves_time_for_its_check() {
        assert!(matches!(found(1_500, 10_000, 20), (Ok(2), 2, 2)));
    }

    #[test]
    fn the_first_stays_where_there_is_no_time_for_another_check() {
        assert!(matches!(found(600, 10_000, 250), (Ok(1), 1, 1)));
    }

    #[test]
    fn what_cannot_be_checked_in_time_is_no_answer_and_is_not_late() {
        let before = std::time::Instant::now();
        assert!(matches!(found(300, 10_000, 10_000), (Err(Error::TimeLimit { .. }), 1, 1)));
        assert!(before.elapsed() < Duration::from_millis(2_000));
    }

    #[test]
    fn what_does_not_hold_is_no_answer() {
        let find = |_: &Control<'_>| Ok(1);
        let refused = proved(&Control::none(), &find, &|_, _| verdict(false), None);
        assert!(matches!(refused, Err(Error::Uncertified { .. })));
    }

    #[test]
    fn another_stands_in_for_a_bracket_whose_servers_take_too_long_to_check_and_for_no_other() {
        let find = |_: &Control<'_>| Ok(1);
        let looser = |_: &i32| Ok(2);
        let checked = |property: &'static str| {
            let check = move |bracket: &i32, _: &Deadline| {
                vec![Verdict { property, ..verdict(*bracket == 2).remove(0) }]
            };
            proved(&Control::none(), &find, &check, Some(&looser))
        };
        assert!(matches!(checked("server-values"), Ok(2)));
        assert!(matches!(checked("upper-bound"), Err(Error::Uncertified { .. })));
    }
}
