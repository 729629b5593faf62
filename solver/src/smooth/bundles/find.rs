//! The ways to shares and prices of bundles: by the interior point at once, by way of smaller α, or by linear programs of what was found.

use super::floors::LACKING;
use super::pieces::{Effort, Found, pieces};
use super::{Bundles, Paid, Setting, User};
use crate::interior_point::{Stopping, run};
use crate::level::LevelProblem;
use crate::smooth::digits;
use crate::tolerance::level::KEPT;
use crate::tolerance::sum::{BETTER, KINDS, NEARLY, STAGES};
use fairplan_instances::{Deadline, InstanceError};

/// How shares and prices are found.
#[derive(Clone, Copy)]
pub(crate) enum Finding {
    /// By the interior point.
    AtOnce,
    /// The same of a large α by way of smaller ones, each from what the last one found.
    InStages,
    /// In many digits, from what the interior point finds.
    InManyDigits,
    /// By linear programs, each over pieces of utilities on which they are straight; of an α above zero near what an interior point finds.
    InPieces,
}

/// Linear programs at most, on the way and for the last α; ten are usual.
const PROGRAMS: (u64, u64) = (20, 120);
/// How often steps begin again from the best point where they came to no end.
const MOST_STARTS: usize = 3;

/// Shares of kinds on classes, and prices.
///
/// # Errors
/// Where a linear program came to no end.
pub(in crate::smooth) fn find(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    finding: Finding,
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let stages = match finding {
        Finding::AtOnce | Finding::InManyDigits => vec![alpha],
        Finding::InStages | Finding::InPieces => stages(alpha),
    };
    if matches!(finding, Finding::InPieces) {
        return in_pieces(problem, users, &stages, deadline);
    }
    let (bundles, iterations) = by_interior_point(problem, users, None, &stages, deadline);
    let found = found(bundles, iterations);
    match finding {
        Finding::InManyDigits => digits::find(problem, users, alpha, &found, deadline),
        _ => Ok(found),
    }
}

/// The same at once, where pairs cost something besides.
pub(in crate::smooth) fn find_beside_paid(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    paid: &Paid,
    deadline: &Deadline,
) -> Found {
    let (bundles, iterations) = by_interior_point(problem, users, Some(paid), &[alpha], deadline);
    found(bundles, iterations)
}

fn found(bundles: Bundles<'_>, iterations: u64) -> Found {
    let (splits, prices, utility) = bundles.best();
    Found { splits, prices, utility, iterations }
}

/// By linear programs for each of these α in turn: what is found for one keeps all guarantees, which it would cost many orders of magnitude
/// more to keep from afar with the next.
fn in_pieces(
    problem: &LevelProblem<'_>,
    users: &[User],
    stages: &[f64],
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let (mut thought, mut spent) = (Vec::new(), 0);
    if stages[0] > 0.0 {
        let (bundles, steps) = by_interior_point(problem, users, None, &stages[..1], deadline);
        (thought, spent) = (bundles.best.v, steps);
    }
    let mut last = None;
    for (k, alpha) in stages.iter().enumerate() {
        let effort = match k + 1 == stages.len() {
            true => Effort { better: BETTER, programs: PROGRAMS.1 },
            false => Effort { better: NEARLY, programs: PROGRAMS.0 },
        };
        let (found, shares) = pieces(problem, users, *alpha, &thought, effort, deadline)?;
        spent += found.iterations;
        thought = shares;
        last = Some(found);
    }
    let found = last.ok_or(InstanceError::OutOfTime)?;
    Ok(Found { iterations: spent, ..found })
}

/// From a moderate α to this one.
fn stages(alpha: f64) -> Vec<f64> {
    let mut alphas = vec![alpha];
    while alphas[0] > STAGES.0 {
        alphas.insert(0, alphas[0] / 2.0);
    }
    alphas
}

/// The best point that steps lead to by way of these α, lacking as little as any price of that makes them; and how many there were.
fn by_interior_point<'a>(
    problem: &'a LevelProblem<'a>,
    users: &'a [User],
    paid: Option<&'a Paid>,
    stages: &[f64],
    deadline: &'a Deadline,
) -> (Bundles<'a>, u64) {
    let stopping = Stopping { accuracy: KINDS.0, small: (KINDS.1, KINDS.2), rounded: 0.0 };
    let from = |mut bundles: Bundles<'a>| {
        let mut iterations = run(&mut bundles, stopping, deadline);
        for alpha in &stages[1..] {
            bundles = bundles.again(*alpha);
            iterations += run(&mut bundles, stopping, deadline);
        }
        for _ in 0..MOST_STARTS {
            if !stopping.is_lost(bundles.gap()) || deadline.is_over() {
                break;
            }
            let mut again = bundles.again(bundles.utility.alpha);
            iterations += run(&mut again, stopping, deadline);
            if again.gap() >= bundles.gap() {
                break;
            }
            bundles = again;
        }
        (bundles, iterations)
    };
    let solve = |lacking: f64| {
        let setting = Setting { problem, users, paid, alpha: stages[0], lacking, deadline };
        let (bundles, iterations) = from(Bundles::start(setting));
        if !stopping.is_lost(bundles.gap()) || paid.is_some() || deadline.is_over() {
            return (bundles, iterations);
        }
        let (other, spent) = from(Bundles::start_evenly(setting));
        let best = if other.gap() < bundles.gap() { other } else { bundles };
        (best, iterations + spent)
    };
    let (mut bundles, mut iterations) = solve(LACKING[0]);
    // By what is lacking of guarantees, where that is more than counts as none, else by the gap.
    let off = |bundles: &Bundles<'_>| bundles.lacks().max(KEPT).max(bundles.gap());
    let is_guaranteed = users.iter().any(|user| user.floor > 0.0);
    for lacking in &LACKING[1..] {
        if !is_guaranteed || off(&bundles) <= KEPT || deadline.is_over() {
            break;
        }
        let (other, spent) = solve(*lacking);
        iterations += spent;
        if off(&other) < off(&bundles) {
            bundles = other;
        }
    }
    (bundles, iterations)
}
