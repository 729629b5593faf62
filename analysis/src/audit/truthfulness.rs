//! Truthfulness: no user does more work by misreporting what its tasks demand (DRFH Sec. III-C).
//!
//! The search is exhaustive over [`FACTORS`] on every resource (on every two of them where there are more than three),
//! and goes on from the best misreport by ever smaller steps. A misreport that gains is solved like any instance.

use super::case::{Case, held, name, work_in};
use super::{Outcome, amount, shortfall};
use fairplan_instances::{Decimal, SolverError, UserId};

/// What a demand is multiplied by.
const FACTORS: [f64; 11] = [0.0, 0.25, 0.5, 2.0 / 3.0, 0.75, 1.0, 4.0 / 3.0, 1.5, 2.0, 4.0, 10.0];

/// Steps of the local search, as parts of a factor.
const STEPS: [f64; 4] = [0.2, 0.1, 0.03, 0.01];

pub(super) fn test(case: &Case<'_>) -> Result<Outcome, SolverError> {
    let mut worst = case.largest();
    let mut tried = 0u64;
    for i in case.sample() {
        let truth = case.work[i];
        let mut best = (truth, vec![1.0; case.instance.resources().len()]);
        let mut attempt = |factors: &[f64], best: &mut (f64, Vec<f64>)| -> Result<bool, SolverError> {
            let Some(work) = work_of_misreport(case, i, factors)? else { return Ok(false) };
            tried += 1;
            let better = work > best.0 * (1.0 + 1e-12);
            if better {
                *best = (work, factors.to_vec());
            }
            Ok(better)
        };
        for factors in grid(case, i) {
            attempt(&factors, &mut best)?;
        }
        for step in STEPS {
            let mut moved = best.0 > truth;
            while moved {
                moved = false;
                for r in 0..best.1.len() {
                    for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                        let mut factors = best.1.clone();
                        factors[r] *= factor;
                        // Where a step gains only by rounding, the search is over.
                        let before = best.0;
                        moved |= attempt(&factors, &mut best)? && best.0 > before * (1.0 + 1e-6);
                    }
                }
            }
        }
        worst.see(shortfall(truth, best.0), || {
            let claimed: Vec<String> = misreport(case, i, &best.1).iter().map(Decimal::to_string).collect();
            let (id, gained, truth) = (name(&case.instance, i), amount(best.0), amount(truth));
            format!(
                "user {id} claims ({}) a task and does the work of {gained} tasks instead of {truth}",
                claimed.join(", ")
            )
        });
    }
    Ok(worst.outcome(&format!("{tried} misreports of {}", case.searched())))
}

/// The factors tried on each resource that the user demands.
fn grid(case: &Case<'_>, user: usize) -> Vec<Vec<f64>> {
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
fn misreport(case: &Case<'_>, user: usize, factors: &[f64]) -> Vec<Decimal> {
    let claim = |(demand, factor): (&Decimal, &f64)| {
        if *factor == 1.0 {
            return *demand;
        }
        // Nine digits: enough to gain by, and every unit stays countable.
        format!("{:.8e}", demand.to_f64() * factor).parse().unwrap_or(*demand)
    };
    case.draft.users[user].demand.iter().zip(factors).map(claim).collect()
}

/// The work that a user does with what it gets for a misreport.
fn work_of_misreport(case: &Case<'_>, user: usize, factors: &[f64]) -> Result<Option<f64>, SolverError> {
    let mut draft = case.draft.clone();
    draft.users[user].demand = misreport(case, user, factors);
    if draft.users[user].demand.iter().all(|demand| demand.is_zero()) {
        return Ok(None);
    }
    let Some((variant, solution)) = case.solve(&draft)? else { return Ok(None) };
    let liar = variant.user(UserId(user));
    let bundles = held(&solution.allocation, liar.index())
        .into_iter()
        .map(|(class, tasks)| (class, liar.demand_doubles().iter().map(|demand| tasks * demand).collect()));
    Ok(Some(work_in(case.instance.user(UserId(user)), bundles)))
}
