//! Which users with limited tasks the level will reach, where task rows are among them.
//!
//! A task row holds the level back where the user's tasks run out, so raising the level from below would settle one
//! such user at a time. Instead the level is lowered from above: shares `min(w_i t, cap_i)` for a level `t` at which some
//! users' tasks run out are possible if and only if all users can have them at once, which is a level problem in which
//! everybody rises. Where they cannot, its prices rule out every level at which the shares cost more than the capacity.

use crate::aggregation::Solved;
use crate::bins::{Amounts, Bins};
use crate::level::dot;
use crate::progress::Progress;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::task_rows::cost_with_task_rows;
use crate::tolerance::level::MISSING;
use fairplan_instances::{Deadline, InstanceError, LimitedBy};

/// A way to solve a level problem over the bins, which it may refine, with room for what the users pay.
pub(crate) type Solve<'a> = dyn FnMut(&mut Bins, &Amounts, &mut [f64]) -> Result<Solved, InstanceError> + 'a;

/// Settles the rising users whose tasks run out below the level that the others reach, at all they have tasks for.
/// Does nothing without task rows, and leaves at least one user rising.
pub(crate) fn settle_users_whose_tasks_will_run_out(
    reduction: &Reduction,
    bins: &mut Bins,
    progress: &mut Progress,
    position: u32,
    solve: &mut Solve<'_>,
    deadline: &Deadline,
) -> Result<(), InstanceError> {
    let users = &reduction.users;
    let rises = |&i: &usize| progress.amounts.rising[i];
    let has_task_row = |i: usize| reduction.has_task_rows[users.pattern[i] as usize];
    if !reduction.has_task_rows.contains(&true) || !(0..users.len()).filter(rises).any(has_task_row) {
        return Ok(());
    }
    let mut costs = vec![0.0; users.len()];
    let rising: Vec<usize> = (0..users.len()).filter(rises).collect();
    let level_of_cap = |progress: &Progress, i: usize| progress.cap(reduction, i) / users.weight(i);
    let mut candidates: Vec<f64> = rising.iter().map(|&i| level_of_cap(progress, i)).collect();
    candidates.sort_by(f64::total_cmp);
    candidates.dedup();
    candidates.pop();
    // No level above this many candidates is possible.
    let mut possible = candidates.len();
    let mut prices: Vec<f64> =
        reduction.capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
    loop {
        let worth = dot(&prices, &reduction.capacities) * (1.0 + MISSING);
        cheapest_costs(users, &prices, &reduction.capacities, &mut costs);
        possible = candidates[..possible].partition_point(|level| {
            cost(reduction, bins, &targets(reduction, progress, *level), &prices, &costs) <= worth
        });
        let Some(level) = possible.checked_sub(1).map(|last| candidates[last]) else { return Ok(()) };
        if deadline.is_over() {
            return Ok(());
        }
        let mut targets = targets(reduction, progress, level);
        targets.rising.fill(true);
        let solved = solve(bins, &targets, &mut costs)?;
        if solved.gave_up {
            return Ok(());
        }
        if solved.solution.level >= 1.0 - MISSING {
            for i in rising {
                if level_of_cap(progress, i) <= level {
                    progress.settle(i, progress.cap(reduction, i), position, LimitedBy::Tasks);
                }
            }
            return Ok(());
        }
        prices = solved.solution.prices;
        possible -= 1;
    }
}

/// Everybody settled: rising users at the level or at what they have tasks for, the others where they are.
fn targets(reduction: &Reduction, progress: &Progress, level: f64) -> Amounts {
    let users = &reduction.users;
    let target = |i: usize| {
        let amount = progress.amounts.amount[i];
        if progress.amounts.rising[i] { (amount * level).min(progress.cap(reduction, i)) } else { amount }
    };
    Amounts::new((0..users.len()).map(target).collect(), vec![false; users.len()])
}

/// What the shares cost at these prices, given what they cost without task rows.
fn cost(reduction: &Reduction, bins: &Bins, shares: &Amounts, prices: &[f64], costs: &[f64]) -> f64 {
    let mut costs = costs.to_vec();
    cost_with_task_rows(reduction, shares, prices, 1.0, &mut costs);
    let (_, settled) = bins.total_costs(shares, &costs);
    settled
}
