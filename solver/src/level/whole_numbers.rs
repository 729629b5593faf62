//! A level by the simplex method in whole numbers: where levels are next to one another, which of two rows is full first is decided exactly.
//!
//! An interior point follows prices that mean both rows until what is left of one of them shows beside its own rounding; a vertex is on one side.
//! A column is what a group runs on a class, in parts of what fits there, and the level is in parts of what is guessed: so no entry is
//! far from one.

use super::{LevelProblem, LevelSolution, LevelSolver};
use crate::exact::simplex;
use crate::interior_point::InteriorPoint;
use crate::linear_program::{Program, Row};
use crate::tolerance::level::SETTLED;
use fairplan_instances::{Deadline, InstanceError};

/// The simplex method in whole numbers for levels, which ends by a deadline.
pub(crate) struct InWholeNumbers(pub Deadline);

/// What a settled group's share is worth beside the level: more than any price of what it needs, so that nothing of it is lacking.
const WORTH: f64 = (1u64 << 60) as f64;

impl LevelSolver for InWholeNumbers {
    fn solve(&self, problem: &LevelProblem<'_>, accuracy: f64) -> Result<LevelSolution, InstanceError> {
        let guess = InteriorPoint(self.0.clone()).solve(problem, accuracy)?;
        let (groups, unit) = (problem.groups, guess.level);
        if !(unit.is_normal() && unit > 0.0) {
            return Ok(guess);
        }
        let mut program = Program::maximise();
        for _ in problem.capacities {
            program.at_most(1.0, []);
        }
        let level = program.column(1.0, f64::INFINITY, false, []);
        let (mut pairs, mut are_used) = (Vec::new(), vec![true]);
        for g in 0..groups.len() {
            let work = match groups.rising[g] {
                true => program.at_most(0.0, [(level, 1.0)]),
                false => program.at_most(1.0 - SETTLED, []),
            };
            let tasks = groups.has_task_row(g).then(|| program.at_most(1.0, []));
            for pair in groups.pairs(g) {
                let taken = problem.needs(g, pair).map(|(row, d)| (Row(row), d / problem.capacities[row]));
                let mut entries: Vec<(Row, f64)> = taken.collect();
                entries.extend(tasks.map(|row| (row, 1.0 / groups.limit[g])));
                let part = 1.0 / entries.iter().map(|(_, entry)| *entry).fold(0.0, f64::max);
                if !part.is_normal() {
                    continue;
                }
                entries.iter_mut().for_each(|(_, entry)| *entry *= part);
                let done = groups.rate[pair] * part;
                let worth = if groups.rising[g] { 0.0 } else { WORTH * done };
                entries.push((work, if groups.rising[g] { -done / unit } else { done }));
                let column = program.column(worth, f64::INFINITY, false, entries);
                are_used.push(guess.splits[pair] > 0.0);
                pairs.push((pair, column, part));
            }
        }
        let solved = simplex::solve(&program, &are_used, &self.0).optimal()?;
        let mut splits = vec![0.0; groups.pair_count()];
        for (pair, column, part) in pairs {
            splits[pair] = solved.columns[column.0] * part;
        }
        let price = |(row, capacity): (usize, &f64)| match *capacity > 0.0 {
            true => solved.multipliers[row] * (unit / capacity),
            false => 0.0,
        };
        let prices: Vec<f64> = problem.capacities.iter().enumerate().map(price).collect();
        let priced: Vec<bool> = prices.iter().map(|price| *price > 0.0).collect();
        let level = solved.columns[level.0] * unit;
        let frozen = problem.frozen(&priced, level);
        Ok(LevelSolution { level, splits, prices, frozen, iterations: guess.iterations + 1 })
    }

    fn deadline(&self) -> &Deadline {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{Groups, dot};
    use crate::test_stream::stream;

    fn solved(capacities: &[f64], groups: &Groups) -> LevelSolution {
        let problem = LevelProblem { resources: 1, capacities, groups, limits: None };
        InWholeNumbers(Deadline::never()).solve(&problem, 1e-14).unwrap()
    }

    #[test]
    fn of_two_classes_that_are_full_next_to_one_another_the_one_that_is_first_has_the_price() {
        for next in [1e-5, 1e-8, 1e-11, 1e-14] {
            let mut groups = Groups::new();
            groups.push(&[1.0], 0, true, [(0, 1.0)].into_iter());
            groups.push(&[1.0], 1, true, [(0, 1.0), (1, 1.0)].into_iter());
            groups.push(&[1.0], 0, true, [(0, 1.0)].into_iter());
            let solution = solved(&[0.5, 0.25 * (1.0 + next)], &groups);
            assert_eq!((solution.level, solution.prices[1]), (0.25, 0.0), "{next}");
            assert_eq!(solution.frozen, [true, false, true], "{next}");
        }
    }

    #[test]
    fn settled_groups_keep_what_they_have_but_for_rounding_and_nobody_more_is_priced_for_it() {
        let mut groups = Groups::new();
        groups.push(&[0.5 * (1.0 + 1e-15)], 0, false, [(0, 1.0)].into_iter());
        groups.push(&[1.0], 1, true, [(0, 1.0), (1, 1.0)].into_iter());
        let solution = solved(&[0.5, 0.25], &groups);
        assert!((solution.level - 0.25).abs() < 1e-12 && solution.splits[0] > 1.0 - 2.0 * SETTLED);
        assert!(solution.prices.iter().all(|price| *price <= 1.0), "{:?}", solution.prices);
    }

    #[test]
    fn random_levels_close() {
        for case in 0..60 {
            let mut next = stream(case + 1);
            let (classes, n) = (1 + (next() * 4.0) as usize, 2 + (next() * 6.0) as usize);
            let capacities: Vec<f64> = (0..classes).map(|_| 1.0 + (next() * 9.0).floor()).collect();
            let mut groups = Groups::new();
            for g in 0..n {
                let on: Vec<(usize, f64)> =
                    (0..classes).filter(|l| *l == g % classes || next() < 0.5).map(|l| (l, 1.0)).collect();
                groups.push(&[1.0 + (next() * 4.0).floor()], g as u32, true, on.into_iter());
            }
            let solution = solved(&capacities, &groups);
            let problem =
                LevelProblem { resources: 1, capacities: &capacities, groups: &groups, limits: None };
            let costs = problem.costs(&solution.prices);
            let paid: f64 = (0..n).map(|g| problem.cheapest(&costs, 0.0, g)).sum();
            let bound = dot(&solution.prices, &capacities) / paid;
            assert!((solution.level / bound - 1.0).abs() < 1e-13, "case {case}: {} {bound}", solution.level);
            let usage = problem.usage(&solution.splits);
            assert!(usage.iter().zip(&capacities).all(|(usage, all)| *usage <= all * (1.0 + 1e-14)));
        }
    }
}
