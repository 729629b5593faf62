//! A first iterate near the central path, whatever the numbers: for problems that the usual one is too far off for.
//!
//! Prices make every class worth the same multiple of what the groups that can use it pay, and a group's split over its
//! classes is in inverse proportion to its reduced costs there. So every product is what it should be but for a factor of
//! the number of a group's classes, however far apart rates, weights, demands and capacities are. Such a point is far from the
//! optimum, and the way from it longer than from one that fills the classes.

use super::super::problem::SumProblem;
use super::start::{Start, used_rows};
use crate::level::dot;
use crate::tolerance::sum::LEAST_PART;

/// What a class is worth in parts of what the groups pay that can use it: its rows are then at most half used.
const WORTH: f64 = 4.0;
/// The part of the least that its work can cost which a group's multiplier is.
const MULTIPLIER: f64 = 0.5;
/// How often prices and what groups pay at them follow from each other.
const TURNS: usize = 4;

/// What groups pay at the first prices, in parts of the whole.
pub(super) fn costs(problem: &SumProblem<'_>) -> Vec<f64> {
    let used = used_rows(problem);
    let mut cost = problem.size.to_vec();
    let turns = if problem.alpha == 1.0 { 0 } else { TURNS };
    for _ in 0..turns {
        let prices = prices(problem, &used, &cost);
        let logs: Vec<f64> = (0..cost.len()).map(|g| log_cost(problem, g, &prices)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let parts: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let total: f64 = parts.iter().sum();
        let least = LEAST_PART / cost.len() as f64;
        cost = parts.iter().map(|part| (part / total).max(least)).collect();
    }
    cost
}

/// The logarithm of what a group pays for the work that it wants at these prices, `π v` with `π = ω v^−α`, but for a term that
/// all groups have.
fn log_cost(problem: &SumProblem<'_>, g: usize, prices: &[f64]) -> f64 {
    let alpha = problem.alpha;
    (problem.size[g].ln() + (alpha - 1.0) * least_cost(problem, g, prices, 0.0).ln()) / alpha
}

/// What a unit of work costs a group at least, each task costing `each` more.
fn least_cost(problem: &SumProblem<'_>, g: usize, prices: &[f64], each: f64) -> f64 {
    let of_pair = |pair: usize| (problem.cost_at(prices, g, pair) + each) / problem.groups.rate[pair];
    problem.groups.pairs(g).map(of_pair).fold(f64::INFINITY, f64::min)
}

/// Prices at which each row of a class is worth [`WORTH`] times what the groups pay together that can use the class.
fn prices(problem: &SumProblem<'_>, used: &[bool], cost: &[f64]) -> Vec<f64> {
    let paid = paid_in_class(problem, cost);
    let price = |row: usize| {
        if used[row] { WORTH * paid[row / problem.resources] / problem.capacities[row] } else { 0.0 }
    };
    (0..used.len()).map(price).collect()
}

fn paid_in_class(problem: &SumProblem<'_>, cost: &[f64]) -> Vec<f64> {
    let mut paid = vec![0.0; problem.classes()];
    for (g, cost) in cost.iter().enumerate() {
        problem.groups.pairs(g).for_each(|pair| paid[problem.groups.class[pair] as usize] += cost);
    }
    paid
}

/// The start of a problem of any α above 0, whose expected costs are those of [`costs`].
pub(super) fn start(problem: &SumProblem<'_>) -> Start {
    let (n, alpha) = (problem.groups.len(), problem.alpha);
    let used = used_rows(problem);
    let mut p = prices(problem, &used, problem.cost);
    let paid = paid_in_class(problem, problem.cost);
    let weight =
        (0..used.len()).map(|row| if used[row] { WORTH * paid[row / problem.resources] } else { 0.0 });
    let weight: Vec<f64> = weight.collect();
    let mut zeta = vec![0.0; problem.groups.pair_count()];
    let (mut lambda, mut log_r, mut works) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for g in 0..n {
        let pairs = problem.groups.pairs(g);
        let rates = &problem.groups.rate[pairs.clone()];
        if problem.is_limited(g) {
            lambda[g] = 2.0 * pairs.len() as f64 * problem.cost[g] / problem.limit[g];
        }
        let y = MULTIPLIER * least_cost(problem, g, &p, lambda[g]);
        for pair in pairs.clone() {
            let reduced = problem.cost_at(&p, g, pair) + lambda[g] - problem.groups.rate[pair] * y;
            zeta[pair] = problem.cost[g] / reduced;
        }
        works[g] = dot(rates, &zeta[pairs]);
        log_r[g] = (problem.size[g].ln() - y.ln()) / alpha;
    }
    // The unit of prices is free: such that the works are near one on average.
    let mean: f64 = log_r.iter().zip(problem.size).map(|(log, size)| size * log).sum();
    let unit = (alpha * mean).exp();
    p.iter_mut().chain(&mut lambda).for_each(|price| *price *= unit);
    let r: Vec<f64> = log_r.iter().map(|log| (log - mean).exp()).collect();
    let t = 0.5 * works.iter().zip(&r).map(|(work, r)| work / r).fold(f64::INFINITY, f64::min);
    Start { level: true, used, zeta, t, r, lambda, p, weight }
}
