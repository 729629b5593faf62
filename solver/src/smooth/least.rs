//! Users whose tasks all together are next to nothing of what there is, and who want them all, have them all.
//!
//! A solution of rounded numbers leaves such users short by next to nothing of the whole, which may be much of what they have. Where α is
//! above one whoever has least is worth most, and a sum is lost by what one of them lacks.

use super::rounds::Solved;
use super::sizes::cap;
use crate::bins::{Bins, NO_BIN, level_problem};
use crate::reduction::Reduction;
use crate::repair::feasible_splits;
use crate::streaming::cheapest_costs;
use crate::tolerance::sum::NO_LOSS;

/// Gives them what they lack, as long as that is next to nothing of each class. The others have less by as much once splits are made
/// feasible again.
pub(super) fn serve(reduction: &Reduction, bins: &Bins, solved: &mut Solved) {
    let Solved { grouping, amounts, solution, utility, .. } = solved;
    let users = &reduction.users;
    let mut costs = vec![0.0; users.len()];
    cheapest_costs(users, &solution.prices, &reduction.capacities, &mut costs);
    // What each group has tasks for, or none that is known to want them all.
    let mut all = vec![f64::INFINITY; grouping.groups.len()];
    for i in (0..users.len()).filter(|&i| bins.of[i] != NO_BIN && amounts.amount[i] > 0.0) {
        let all = &mut all[grouping.group(bins.of[i], amounts.rising[i])];
        let wants_all = utility.demand(users.weight(i), costs[i]) >= cap(reduction, i);
        *all = if wants_all { all.min(users.tasks(i) / amounts.amount[i]) } else { 0.0 };
    }
    let problem = level_problem(reduction, grouping);
    let mut splits = feasible_splits(&problem, &solution.splits);
    let m = problem.resources;
    let mut spare: Vec<f64> = problem.capacities.iter().map(|capacity| capacity * NO_LOSS).collect();
    for (g, all) in all.iter().enumerate().filter(|(_, all)| all.is_finite()) {
        let pairs = problem.groups.pairs(g);
        let missing = all - splits[pairs.clone()].iter().sum::<f64>();
        if missing <= 0.0 {
            continue;
        }
        let first = |pair: usize| problem.groups.class[pair] as usize * m;
        let part_of = |pair: usize| part(&spare[first(pair)..], problem.load(g), missing);
        // Where tasks do most, and of that where they are least.
        let better = |a: &usize, b: &usize| {
            let rates = problem.groups.rate[*b].total_cmp(&problem.groups.rate[*a]);
            rates.then_with(|| part_of(*a).total_cmp(&part_of(*b)))
        };
        if let Some(pair) = pairs.min_by(better).filter(|pair| part_of(*pair) <= 1.0) {
            splits[pair] += missing;
            let rows = spare[first(pair)..].iter_mut().zip(problem.load(g));
            rows.for_each(|(spare, load)| *spare -= load * missing);
        }
    }
    solution.splits = splits;
}

/// The part that so many tasks would take of what may be taken of a class, of the resource of which it is largest.
fn part(spare: &[f64], load: &[f64], tasks: f64) -> f64 {
    let rows = spare.iter().zip(load).filter(|(_, load)| **load > 0.0);
    rows.map(|(spare, load)| load * tasks / spare).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_no_loss_just_inside_the_tolerance_and_not_just_outside() {
        let spare = [4.0 * NO_LOSS, 0.0];
        assert!(part(&spare, &[2.0, 0.0], 2.0 * 0.9 * NO_LOSS) < 1.0);
        assert!(part(&spare, &[2.0, 0.0], 2.0 * 1.1 * NO_LOSS) > 1.0);
        assert!(part(&spare, &[2.0, 1.0], NO_LOSS) > 1.0, "of what is not there nothing may be taken");
    }
}
