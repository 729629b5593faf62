//! The levels against a linear program, one level after another (good_lp with HiGHS).

use super::offline_optimum;
use super::random_series::random_series;
use crate::highs::no_other_model;
use fairplan_instances::{DemandSeries, FairShares, OfflineMeasure, OfflineProblem, Random};
use good_lp::solvers::highs::highs;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, variable};

/// Every user's total over weight at the lexicographic optimum: the level of all who are not settled is maximised,
/// and those who cannot get above it, tried one by one, are settled.
fn by_linear_programs(series: &DemandSeries, capacity: u64, weights: &[u64]) -> Vec<f64> {
    let mut settled: Vec<Option<f64>> = weights.iter().map(|weight| (*weight == 0).then_some(0.0)).collect();
    while settled.iter().any(Option::is_none) {
        let level = largest(series, capacity, weights, &settled, None);
        let open: Vec<usize> = (0..weights.len()).filter(|user| settled[*user].is_none()).collect();
        for user in &open {
            let at_least: Vec<Option<f64>> =
                settled.iter().map(|known| Some(known.unwrap_or(level))).collect();
            let most = largest(series, capacity, weights, &at_least, Some(*user));
            if most <= level * (1.0 + 1e-6) {
                settled[*user] = Some(level);
            }
        }
        assert!(open.iter().any(|user| settled[*user].is_some()), "no user is settled at {level}");
    }
    settled.into_iter().flatten().collect()
}

/// The largest level of all who have no least total, or the largest total over weight of `favoured`.
fn largest(
    series: &DemandSeries,
    capacity: u64,
    weights: &[u64],
    least: &[Option<f64>],
    favoured: Option<usize>,
) -> f64 {
    let _alone = no_other_model();
    let mut variables = ProblemVariables::new();
    let level: Variable = variables.add(variable().min(0.0));
    let mut totals = vec![Expression::default(); weights.len()];
    let mut used = Vec::new();
    for quantum in 0..series.quantum_count() {
        let mut sum = Expression::default();
        for (user, demand) in std::iter::zip(series.demands(quantum).0, series.demands(quantum).1) {
            let given = variables.add(variable().min(0.0).max(*demand as f64));
            sum += given;
            totals[*user as usize] += given;
        }
        used.push(sum);
    }
    let mut model = variables.maximise(level).using(highs);
    for sum in used {
        model.add_constraint(constraint!(sum <= capacity as f64));
    }
    for (user, total) in totals.into_iter().enumerate().filter(|(user, _)| weights[*user] > 0) {
        let weight = weights[user] as f64;
        if favoured == Some(user) || least[user].is_none() {
            model.add_constraint(constraint!(level * weight - total.clone() <= 0.0));
        }
        if let Some(least) = least[user] {
            // A hair of room, so that what was computed before stays feasible.
            model.add_constraint(constraint!(least * weight * (1.0 - 1e-9) - total <= 0.0));
        }
    }
    model.solve().unwrap().value(level)
}

#[test]
fn levels_are_those_of_linear_programs_on_500_random_series() {
    let mut random = Random::new(500, 0);
    let mut several = 0;
    for case in 0..500 {
        let series = random_series(&mut random, 5, 6);
        let users = series.user_count();
        let weighted = random.below(2) == 1;
        let shares: Vec<u64> = (0..users).map(|_| if weighted { random.between(1, 4) } else { 1 }).collect();
        let shares = FairShares::Each(shares);
        let measure = [OfflineMeasure::Totals, OfflineMeasure::Welfare][random.below(2) as usize];
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: None,
            measure,
            whole_slices: false,
        };
        let weights = problem.weights();
        let capacity = shares.entitlement(&series, 0).capacity();
        let expected = by_linear_programs(&series, capacity, &weights);
        let optimum = offline_optimum(&problem);
        let totals = optimum.totals(&series);
        several += usize::from(optimum.levels.len() > 1);
        for level in &optimum.levels {
            for user in level.users.iter().map(|user| *user as usize) {
                let ours = totals[user] / weights[user] as f64;
                for value in [ours, level.value] {
                    let close = (value - expected[user]).abs() <= 1e-6 * expected[user].max(1.0);
                    assert!(
                        close,
                        "case {case}, user {user}: {value}, by linear programs {}",
                        expected[user]
                    );
                }
            }
        }
    }
    assert!(several > 100, "{several} series have more than one level");
}
