//! A bracket that is found and proved by a deadline: by searches of lengths that double, each of which begins anew, so that more time adds a
//! longer search to those of less, and the best of what they find is the answer. What a search finds is proved before the next one, which
//! tells how much time to leave for that. Where the check of single servers takes too long, a bracket that is proved in a moment stands in,
//! if there is one.

use crate::error::all_hold;
use crate::{Control, Error, Found};
use fairplan_instances::Deadline;
use fairplan_verify::Verdict;
use std::time::{Duration, Instant};

/// What is wrong with a bracket that does not hold.
pub(super) const NOT_PROVED: &str = "the bounds of whole tasks are not proved";

/// What begins when a bracket is checked.
pub(super) const CHECKING: &str = "checking the bounds";

/// The part of a search's time in which patterns are looked for: what rules leave of them is filled in the rest.
pub(super) const SEARCHING: f64 = 0.8;

/// The first search, as a rule.
pub(super) const FIRST: Duration = Duration::from_millis(500);

/// The part of what is left that a search may take while nothing is known of checks.
const FINDING: f64 = 0.7;

/// A later check is given this many times what the longest took.
const AS_BEFORE: f64 = 2.0;

/// When checks have to end, in times of what was left: what was found is not thrown away for a moment more.
const CHECKED: f64 = 1.2;

/// The part of what is left for a check that another bracket can stand in for.
const PATIENCE: f64 = 0.3;

/// What is open where the check of a server takes too long.
const SERVER_VALUES: &str = "server-values";

/// Puts the best of two brackets together; `None` where the second adds nothing.
type Join<'a, B> = &'a dyn Fn(&B, B) -> Result<Option<B>, Error>;

/// Finds another bracket for one.
type Other<'a, B> = &'a dyn Fn(&B) -> Result<B, Error>;

/// How brackets are found, and judged.
pub(super) struct Bracketing<'a, B> {
    /// Finds one by a deadline.
    pub find: &'a dyn Fn(&Control<'_>) -> Result<B, Error>,
    /// Puts two together.
    pub join: Join<'a, B>,
    /// Checks one by code that shares nothing with the solver.
    pub check: &'a dyn Fn(&B, &Deadline) -> Vec<Verdict>,
    /// Another one, which is looser and proved in a moment.
    pub stands_in: Option<Other<'a, B>>,
    /// The length of the first search; more than there is time for makes it the only one.
    pub first: Duration,
}

/// The best bracket that is found and proved by the deadline. Without one it is found to the end, and then checked.
///
/// # Errors
/// What finding says; a bracket that does not hold; [`Error::TimeLimit`] where none could be checked in time.
pub(super) fn proved<B>(control: &Control<'_>, bracketing: &Bracketing<'_, B>) -> Result<B, Error> {
    let deadline = &control.deadline;
    let end = deadline.after_part(CHECKED);
    if deadline.time_left().is_none() {
        return bracketing.checked((bracketing.find)(control)?, control, &end);
    }
    let mut best = None;
    let (mut length, mut check) = (bracketing.first.as_secs_f64(), None);
    loop {
        let left = deadline.seconds_left();
        let free = check.map_or(FINDING * left, |check: f64| left - AS_BEFORE * check);
        // What is left after this search would be too short for one of twice the length.
        let is_last = free < 2.0 * length;
        if best.is_some() && free < length {
            break;
        }
        let searching = deadline.after_part(if is_last { free / left } else { length / left }).watched();
        let found = match (bracketing.find)(&control.until(searching.clone())) {
            Err(Error::TimeLimit { .. }) if !is_last => None,
            Err(Error::TimeLimit { .. }) if best.is_some() => break,
            found => Some(found?),
        };
        length *= 2.0;
        // Where time ended nothing there is none better.
        let is_all = found.is_some() && !searching.has_cut();
        let better = match (&best, found) {
            (Some(best), Some(found)) => (bracketing.join)(best, found)?,
            (_, found) => found,
        };
        if let Some(better) = better {
            let start = Instant::now();
            match bracketing.checked(better, control, &end) {
                Err(Error::TimeLimit { .. }) if best.is_some() => break,
                proved => best = Some(proved?),
            }
            check = Some(start.elapsed().as_secs_f64().max(check.unwrap_or(0.0)));
        }
        if is_all || is_last {
            break;
        }
    }
    best.ok_or_else(|| {
        let why = "time was over before anything was found; allow more".into();
        Error::TimeLimit { why, found: Found::nothing() }
    })
}

impl<B> Bracketing<'_, B> {
    fn checked(&self, bracket: B, control: &Control<'_>, end: &Deadline) -> Result<B, Error> {
        let hold = |verdicts: &[Verdict]| all_hold(NOT_PROVED, verdicts).map_err(|failure| failure.by(end));
        let Some(stands_in) = self.stands_in else {
            return hold(&(self.check)(&bracket, end)).map(|()| bracket);
        };
        let verdicts = (self.check)(&bracket, &control.deadline.after_part(PATIENCE));
        let is_open = |verdict: &Verdict| !verdict.holds && verdict.property == SERVER_VALUES;
        if !verdicts.iter().any(is_open) {
            return hold(&verdicts).map(|()| bracket);
        }
        let other = stands_in(&bracket)?;
        hold(&(self.check)(&other, end)).map(|()| other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::thread::sleep;

    fn verdict(holds: bool) -> Vec<Verdict> {
        vec![Verdict { property: "bounds", holds, residual: 0.0, tolerance: 0.0, witness: "late".into() }]
    }

    /// What searches find by each of their deadlines, where a check takes so long: the answer, and how often each was asked. A longer search
    /// finds more.
    fn found(limit: u64, search: u64, check: u64) -> (Result<u128, Error>, u32, u32) {
        let control = Control { deadline: Deadline::after(Duration::from_millis(limit)), ..Control::none() };
        let asked = RefCell::new((0, 0));
        let find = |control: &Control<'_>| {
            let start = Instant::now();
            let whole = Deadline::after(Duration::from_millis(search));
            while !whole.is_over() && !control.deadline.is_over() {
                sleep(Duration::from_millis(1));
            }
            asked.borrow_mut().0 += 1;
            Ok(start.elapsed().as_millis())
        };
        let check = |_: &u128, deadline: &Deadline| {
            asked.borrow_mut().1 += 1;
            let takes = Deadline::after(Duration::from_millis(check));
            while !deadline.is_over() && !takes.is_over() {
                sleep(Duration::from_millis(1));
            }
            verdict(takes.is_over())
        };
        let join = |best: &u128, found: u128| Ok((found > *best).then_some(found));
        let found = proved(
            &control,
            &Bracketing { find: &find, join: &join, check: &check, stands_in: None, first: FIRST },
        );
        let (finds, checks) = *asked.borrow();
        (found, finds, checks)
    }

    #[test]
    fn a_first_search_longer_than_there_is_time_for_is_the_only_one() {
        let control = Control { deadline: Deadline::after(Duration::from_secs(2)), ..Control::none() };
        let asked = RefCell::new(Vec::new());
        let find = |control: &Control<'_>| {
            asked.borrow_mut().push(control.deadline.seconds_left());
            Ok(1)
        };
        let (join, check) = (|_: &i32, _: i32| Ok(None), |_: &i32, _: &Deadline| verdict(true));
        let first = Duration::from_secs(3);
        let bracketing = Bracketing { find: &find, join: &join, check: &check, stands_in: None, first };
        assert!(matches!(proved(&control, &bracketing), Ok(1)));
        assert!(matches!(asked.borrow()[..], [length] if length > 1.2), "{asked:?}");
    }

    #[test]
    fn what_is_found_to_the_end_is_checked_once() {
        assert!(matches!(found(5_000, 0, 0), (Ok(_), 1, 1)));
    }

    #[test]
    fn searches_grow_longer_as_long_as_there_is_time_for_them_and_their_checks() {
        let (Ok(longest), finds, checks) = found(4_000, 10_000, 20) else { panic!("nothing is found") };
        assert!(finds >= 3 && finds == checks, "{finds} and {checks}");
        assert!(longest > 1_500, "{longest}");
    }

    #[test]
    fn the_first_stays_where_there_is_no_time_for_another_check() {
        assert!(matches!(found(1_400, 10_000, 600), (Ok(_), 1, 1)));
    }

    #[test]
    fn what_cannot_be_checked_in_time_is_no_answer_and_is_not_late() {
        let before = Instant::now();
        assert!(matches!(found(300, 10_000, 10_000), (Err(Error::TimeLimit { .. }), 1, 1)));
        assert!(before.elapsed() < Duration::from_millis(2_000));
    }

    #[test]
    fn a_longer_search_that_finds_less_takes_nothing_away() {
        let control = Control { deadline: Deadline::after(Duration::from_secs(3)), ..Control::none() };
        let asked = RefCell::new(0);
        let find = |control: &Control<'_>| {
            while !control.deadline.is_over() {
                sleep(Duration::from_millis(1));
            }
            *asked.borrow_mut() += 1;
            Ok(100 - *asked.borrow())
        };
        let join = |best: &i32, found: i32| Ok((found > *best).then_some(found));
        let check = |_: &i32, _: &Deadline| verdict(true);
        let found = proved(
            &control,
            &Bracketing { find: &find, join: &join, check: &check, stands_in: None, first: FIRST },
        );
        assert!(matches!(found, Ok(99)) && *asked.borrow() > 1);
    }

    /// What is found at once, checked so, with 2 standing in for it.
    fn at_once(check: &dyn Fn(&i32, &Deadline) -> Vec<Verdict>) -> Result<i32, Error> {
        let (find, looser) = (|_: &Control<'_>| Ok(1), |_: &i32| Ok(2));
        let join = |_: &i32, _: i32| Ok(None);
        proved(
            &Control::none(),
            &Bracketing { find: &find, join: &join, check, stands_in: Some(&looser), first: FIRST },
        )
    }

    #[test]
    fn what_does_not_hold_is_no_answer() {
        assert!(matches!(at_once(&|_, _| verdict(false)), Err(Error::Uncertified { .. })));
    }

    #[test]
    fn another_stands_in_for_a_bracket_whose_servers_take_too_long_to_check_and_for_no_other() {
        let checked = |property: &'static str| {
            at_once(&move |bracket, _| vec![Verdict { property, ..verdict(*bracket == 2).remove(0) }])
        };
        assert!(matches!(checked("server-values"), Ok(2)));
        assert!(matches!(checked("upper-bound"), Err(Error::Uncertified { .. })));
    }
}
