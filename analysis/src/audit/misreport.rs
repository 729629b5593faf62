//! Misreports and what becomes of them. Whoever asks for twice as much, half as often, asks for the same: it is solved once, for users and for
//! groups alike.

use super::case::{Case, bundles};
use super::groups;
use fairplan_instances::{Decimal, Instance, InstanceError, Solution, UserId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What a demand is multiplied by.
const FACTORS: [f64; 11] = [0.0, 0.25, 0.5, 2.0 / 3.0, 0.75, 1.0, 4.0 / 3.0, 1.5, 2.0, 4.0, 10.0];

/// What a misreport comes to.
#[derive(Clone)]
pub(super) struct Answer {
    /// The work that the liar really does with what it gets.
    pub work: f64,
    /// What each group has that the liar is in, the innermost first.
    pub groups: Vec<f64>,
}

/// What is known already, by the liar and the direction of what it claims.
pub(super) type Answers = Mutex<HashMap<(usize, Vec<u64>), Option<Answer>>>;

/// What a misreport comes to; `None` where the user claims nothing, or where there is no solution.
pub(super) fn answer(case: &Case<'_>, user: usize, factors: &[f64]) -> Result<Option<Answer>, InstanceError> {
    let asked = direction(case, user, factors);
    let is_truth = asked == direction(case, user, &vec![1.0; factors.len()]);
    let key = (user, asked);
    let known = case.answers.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let found = match is_truth {
        true => {
            Some(Answer { work: case.work[user], groups: groups::above(case, user, || case.work.clone()) })
        }
        false => of_lie(case, user, factors)?,
    };
    case.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
    Ok(found)
}

/// The same of what is not the truth.
fn of_lie(case: &Case<'_>, user: usize, factors: &[f64]) -> Result<Option<Answer>, InstanceError> {
    let Some((variant, solution)) = ask(case, user, factors)? else { return Ok(None) };
    let work = true_work(case, user, &variant, &solution)?;
    let done = || {
        let mut done = groups::works(&variant, &solution.allocation);
        done[user] = work;
        done
    };
    Ok(Some(Answer { work, groups: groups::above(case, user, done) }))
}

/// What misreports have in common that are the same to every objective: a task of twice as much, half as often, is the same
/// bundle. Where tasks run out, each is a question of its own.
fn direction(case: &Case<'_>, user: usize, factors: &[f64]) -> Vec<u64> {
    let asked = &case.draft.users[user];
    let demanded = || factors.iter().zip(&asked.demand).filter(|(_, demand)| !demand.is_zero());
    let largest = demanded().map(|(factor, _)| *factor).fold(0.0, f64::max);
    let scale = if asked.tasks.is_none() && largest > 0.0 { largest } else { 1.0 };
    demanded().map(|(factor, _)| (factor / scale * 1e12).round() as u64).collect()
}

/// The factors tried on each resource that the user demands.
pub(super) fn grid(case: &Case<'_>, user: usize) -> Vec<Vec<f64>> {
    let demanded: Vec<usize> = (0..case.instance.resources().len())
        .filter(|&r| !case.draft.users[user].demand[r].is_zero())
        .collect();
    let unchanged = vec![1.0; case.instance.resources().len()];
    let mut points = vec![unchanged.clone()];
    if demanded.len() <= 3 {
        for &r in &demanded {
            let vary = |point: &Vec<f64>| {
                let point = point.clone();
                FACTORS.map(|factor| {
                    let mut point = point.clone();
                    point[r] = factor;
                    point
                })
            };
            points = points.iter().flat_map(vary).collect();
        }
    } else {
        for (k, &r) in demanded.iter().enumerate() {
            for &s in &demanded[k + 1..] {
                for first in FACTORS {
                    for second in FACTORS {
                        let mut point = unchanged.clone();
                        (point[r], point[s]) = (first, second);
                        points.push(point);
                    }
                }
            }
        }
    }
    points
}

/// The demand that a user claims.
pub(super) fn misreport(case: &Case<'_>, user: usize, factors: &[f64]) -> Vec<Decimal> {
    let claim = |(demand, factor): (&Decimal, &f64)| {
        if *factor == 1.0 {
            return *demand;
        }
        // Nine digits: enough to gain by, and every unit stays countable.
        format!("{:.8e}", demand.to_f64() * factor).parse().unwrap_or(*demand)
    };
    case.draft.users[user].demand.iter().zip(factors).map(claim).collect()
}

/// The variant in which a user misreports, and its solution; `None` where it claims nothing, or that has none.
fn ask(case: &Case<'_>, user: usize, factors: &[f64]) -> Result<Option<(Instance, Solution)>, InstanceError> {
    let mut draft = case.draft.clone();
    draft.users[user].demand = misreport(case, user, factors);
    if draft.users[user].demand.iter().all(|demand| demand.is_zero()) {
        return Ok(None);
    }
    case.solve(&draft)
}

/// The work that a user really does with what it gets in a variant in which it misreports.
fn true_work(
    case: &Case<'_>,
    user: usize,
    variant: &Instance,
    solution: &Solution,
) -> Result<f64, InstanceError> {
    let held = bundles(variant.user(UserId(user)), &solution.allocation);
    case.work_in(case.instance.user(UserId(user)), held.into_iter())
}
