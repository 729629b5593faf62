//! Truthfulness: no user does more work by misreporting what its tasks demand (DRFH Sec. III-C).
//!
//! The search is exhaustive over a [`grid`] of factors, and goes on from the best misreport by ever smaller steps. A misreport that gains is
//! solved like any instance.

use super::case::{Case, name};
use super::finding::Searched;
use super::largest::LargestViolation;
use super::misreport::{Answer, answer, grid, misreport};
use super::work::{amount, shortfall};
use crate::tolerance::{ALIKE, BETTER, NOTICED};
use fairplan_instances::{Decimal, DraftUser, InstanceError, UserId};
use rayon::prelude::*;

/// Steps of the local search, as parts of a factor.
const STEPS: [f64; 4] = [0.2, 0.1, 0.03, 0.01];

pub(super) fn test(case: &Case<'_>, worst: &mut LargestViolation) -> Result<Searched, InstanceError> {
    let sample = liars(case);
    if sample.is_empty() {
        return Ok(Searched::NotApplicable(NO_CLAIMS.into()));
    }
    // Who is like another gains by what that one gains by.
    let like: Vec<usize> = (0..sample.len())
        .map(|k| (0..k).find(|&j| are_alike(case, sample[j], sample[k])).unwrap_or(k))
        .collect();
    let search = |k: usize| if like[k] == k { Search::of(case, sample[k]).map(Some) } else { Ok(None) };
    let searches: Vec<Option<Search>> =
        (0..sample.len()).into_par_iter().map(search).collect::<Result<_, InstanceError>>()?;
    let (mut tried, mut is_done) = (0, true);
    for (i, search) in sample.iter().zip(like).filter_map(|(i, k)| Some((*i, searches[k].as_ref()?))) {
        let truth = case.work[i];
        (tried, is_done) = (tried + search.tried, is_done && search.is_done);
        worst.see(shortfall(truth, search.best), || {
            let claimed: Vec<String> =
                misreport(case, i, &search.factors).iter().map(Decimal::to_string).collect();
            let (id, gained, truth) = (name(&case.instance, i), amount(search.best), amount(truth));
            format!(
                "user {id} claims ({}) a task and does the work of {gained} tasks instead of {truth}",
                claimed.join(", ")
            )
        });
    }
    let searched = format!("{tried} misreports of {}", searched(case));
    Ok(if is_done { Searched::All(searched) } else { Searched::Some(searched) })
}

/// Where all users have kinds.
const NO_CLAIMS: &str = "all users looked at have kinds of tasks, whose misreports are not searched";

/// The users of the sample whose misreports are searched.
pub(super) fn liars(case: &Case<'_>) -> Vec<usize> {
    let has_kinds = |i: &usize| case.instance.user(UserId(*i)).has_kinds();
    case.sample().into_iter().filter(|i| !has_kinds(i)).collect()
}

/// Whose misreports are searched, in words.
pub(super) fn searched(case: &Case<'_>) -> String {
    match liars(case).len() {
        some if some == case.sample().len() => case.searched(),
        some => format!("{some} users; what users with kinds of tasks could claim is not searched"),
    }
}

/// Whether two users differ in nothing but their names, what they do included.
fn are_alike(case: &Case<'_>, one: usize, other: usize) -> bool {
    let named_alike = |i: usize| DraftUser { id: String::new(), ..case.draft.users[i].clone() };
    let (less, more) = (case.work[one].min(case.work[other]), case.work[one].max(case.work[other]));
    shortfall(less, more) <= ALIKE * case.tolerance() && named_alike(one) == named_alike(other)
}

/// The search for a misreport that a user gains by.
struct Search {
    /// The most work that it does with one, or with the truth.
    best: f64,
    /// What it multiplies its demands by to get that.
    factors: Vec<f64>,
    tried: u64,
    /// Whether there was time for all of it.
    is_done: bool,
}

impl Search {
    fn of(case: &Case<'_>, user: usize) -> Result<Self, InstanceError> {
        let unchanged = vec![1.0; case.instance.resources().len()];
        let mut search = Self { best: case.work[user], factors: unchanged, tried: 0, is_done: true };
        match search.run(case, user) {
            Err(InstanceError::OutOfTime) => Ok(Self { is_done: false, ..search }),
            outcome => outcome.map(|()| search),
        }
    }

    fn run(&mut self, case: &Case<'_>, user: usize) -> Result<(), InstanceError> {
        let truth = case.work[user];
        for factors in grid(case, user) {
            self.attempt(case, user, &factors)?;
        }
        for step in STEPS {
            let mut moved = self.best > truth;
            while moved {
                moved = false;
                for r in 0..self.factors.len() {
                    for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                        let mut factors = self.factors.clone();
                        factors[r] *= factor;
                        // Where a step gains only by rounding, the search is over.
                        let before = self.best;
                        let better = self.attempt(case, user, &factors)?;
                        moved |= better && self.best > before * (1.0 + NOTICED);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a misreport is better than any before.
    fn attempt(&mut self, case: &Case<'_>, user: usize, factors: &[f64]) -> Result<bool, InstanceError> {
        let Some(Answer { work, .. }) = answer(case, user, factors)? else { return Ok(false) };
        self.tried += 1;
        let better = work > self.best * (1.0 + BETTER);
        if better {
            (self.best, self.factors) = (work, factors.to_vec());
        }
        Ok(better)
    }
}
