//! What users pay whose tasks are limited and do different work on different classes.
//!
//! A share `G` in tasks that are worth `τ` at rate 1 costs such a user `h(G) = max y G − z τ` over `y, z >= 0` with
//! `ρ_l y − z <= d·p_l` on every usable class: a convex function of the share, the lower hull of the origin and the
//! points `(ρ_l, d·p_l)`, stretched by `τ`. Any tangent of it gives a bound; see the documentation of `Level`.

use crate::bins::Amounts;
use crate::level::Rates;
use crate::population::CHUNK;
use crate::reduction::Reduction;
use crate::sums::Compensated;
use fairplan_instances::Level;
use rayon::prelude::*;

/// Replaces the `costs` of users with task rows: by the slope of their tangent just above `level` where they rise, by
/// what their share costs on average where they are settled. Returns what the intercepts of the rising ones add to the
/// worth of the capacity, `Σ z_i τ_i`.
pub(crate) fn cost_with_task_rows(
    reduction: &Reduction,
    amounts: &Amounts,
    prices: &[f64],
    level: f64,
    costs: &mut [f64],
) -> f64 {
    if !reduction.has_task_rows.contains(&true) {
        return 0.0;
    }
    let users = &reduction.users;
    let lent_by = |(chunk, costs): (usize, &mut [f64])| {
        let mut lent = Compensated::default();
        for (offset, cost) in costs.iter_mut().enumerate() {
            let i = chunk * CHUNK + offset;
            let (pattern, amount, tasks) = (users.pattern[i] as usize, amounts.amount[i], users.tasks(i));
            if !reduction.has_task_rows.get(pattern).is_some_and(|has| *has) || amount == 0.0 {
                continue;
            }
            let points = points(reduction, i, &reduction.patterns[pattern], prices);
            if amounts.rising[i] {
                let (slope, intercept) = tangent(&points, amount * level * Level::TANGENTS_AT / tasks);
                *cost = slope;
                lent.add(intercept * tasks);
            } else {
                let (slope, intercept) = tangent(&points, amount / tasks);
                *cost = slope - intercept * tasks / amount;
            }
        }
        lent.value()
    };
    let parts: Vec<f64> = costs.par_chunks_mut(CHUNK).enumerate().map(lent_by).collect();
    let mut lent = Compensated::default();
    parts.into_iter().for_each(|part| lent.add(part));
    lent.value()
}

/// Rate and cost of a task worth one unit of share, on every class that the user can use.
fn points(reduction: &Reduction, user: usize, rates: &Rates, prices: &[f64]) -> Vec<(f64, f64)> {
    let cost = |prices: &[f64]| {
        prices.iter().zip(&reduction.users.directions).map(|(price, column)| price * column[user]).sum()
    };
    let classes = rates.iter().zip(prices.chunks(reduction.resources));
    classes.filter(|(rate, _)| **rate > 0.0).map(|(rate, prices)| (*rate, cost(prices))).collect()
}

/// Slope `y` and intercept `z` of the lower hull of the origin and `points` just right of `average`; right of all
/// points, its last line.
fn tangent(points: &[(f64, f64)], average: f64) -> (f64, f64) {
    let (mut at, mut slope) = ((0.0, 0.0), 0.0);
    loop {
        let slope_to = |point: &(f64, f64)| ((point.1 - at.1) / (point.0 - at.0)).max(0.0);
        let next = points
            .iter()
            .filter(|point| point.0 > at.0)
            .min_by(|a, b| slope_to(a).total_cmp(&slope_to(b)).then(b.0.total_cmp(&a.0)));
        let Some(next) = next else { break };
        slope = slope_to(next);
        at = *next;
        if average < at.0 {
            break;
        }
    }
    (slope, points.iter().map(|(rate, cost)| slope * rate - cost).fold(0.0, f64::max))
}
