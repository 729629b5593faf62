//! One of several sums over users without kinds: those that are alike share bins, as they do in the sum of all.

use super::{Part, Plain};
use crate::bins::Bins;
use crate::smooth::bundles::Found;
use crate::smooth::rounds::{MOST_ROUNDS, Rounds, Solved, share};
use crate::smooth::{SumSolver, leave_out_users_without_tasks};
use fairplan_instances::InstanceError;

/// Shares and prices of a part, which is of these users, with what is left.
///
/// # Errors
/// Those of the solver.
pub(super) fn find_in_bins(
    plain: &Plain<'_>,
    (part, users): (&Part, &[usize]),
    left: &[f64],
    alpha: f64,
    solver: &dyn SumSolver,
) -> Result<Found, InstanceError> {
    let positions = users.iter().map(|user| plain.positions[*user]).collect();
    let mut reduction = plain.reduction.part(positions, left);
    reduction.users.weights = Some(part.users.iter().map(|user| user.weight).collect());
    let mut bins = Bins::alike(&reduction, alpha);
    leave_out_users_without_tasks(&reduction, &mut bins);
    let rounds = Rounds {
        reduction: &reduction,
        alpha,
        alike: true,
        most: MOST_ROUNDS,
        budget: f64::INFINITY,
        solver,
    };
    let Solved { grouping, amounts, solution, utility, iterations, .. } = rounds.run(&mut bins, None)?;
    let mut splits = vec![0.0; part.groups.pair_count()];
    for user in (0..users.len()).filter(|user| amounts.amount[*user] > 0.0) {
        let group = grouping.group(bins.of[user], amounts.rising[user]);
        let work = solution.works[group];
        let share = share(&reduction, &bins, &grouping, &amounts, &solution.works, user);
        let own = part.groups.pairs(user);
        for pair in grouping.groups.pairs(group).filter(|_| work > 0.0) {
            let class = grouping.groups.class[pair];
            if let Ok(at) = part.groups.class[own.clone()].binary_search(&class) {
                splits[own.start + at] = solution.splits[pair] * (share / work);
            }
        }
    }
    Ok(Found { splits, prices: solution.prices, utility, iterations })
}
