//! One level solved over bins that are refined until the certificate closes over the users themselves.
//!
//! Loads add up linearly, so a split that a whole bin shares is feasible for each of its users. The prices of
//! the small problem bound the level of the large one after a single streaming pass, and the bound is tight
//! wherever the users of a bin agree on their cheapest classes.

use crate::bins::{Amounts, Bins, Grouping, level_problem};
use crate::level::{Groups, LevelSolution, LevelSolver, dot};
use crate::pools;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::task_rows::cost_with_task_rows;
use crate::tolerance::level::{AHEAD, CLOSED, FINEST, TOLERANCE};
use fairplan_instances::InstanceError;

/// A level solved over groups, and what that proves over the users.
pub(crate) struct Solved {
    /// The groups of the last round, which belong to the bins as they are now.
    pub grouping: Grouping,
    /// The last round's solution, with the prices of the round that proved the best bound.
    pub solution: LevelSolution,
    pub iterations: u64,
    pub rounds: u64,
    /// How far the level is from what the best prices prove, in parts of it.
    pub gap: f64,
    /// Whether the work went beyond the budget before the level was proved.
    pub gave_up: bool,
}

impl Solved {
    /// The largest part of its share that a settled user lacks here.
    pub fn missing(&self) -> f64 {
        let Self { grouping: Grouping { groups, .. }, solution, .. } = self;
        let settled = (0..groups.len()).filter(|g| !groups.rising[*g]);
        let has = |g: usize| dot(&groups.rate[groups.pairs(g)], &solution.splits[groups.pairs(g)]);
        settled.map(|g| 1.0 - has(g)).fold(0.0, f64::max)
    }
}

/// The round that reached the highest level so far, for when time is over in a later one.
struct Highest {
    bins: Bins,
    grouping: Grouping,
    solution: LevelSolution,
}

/// Most rounds of refinement, and the most bins they may lead to.
const MOST: (u64, usize) = (40, 40_000);

/// How rounds end.
pub(crate) struct Pass {
    /// What solving in full would take, in the unit of [`work_of_a_step`].
    pub budget: f64,
    /// The gap that is small enough.
    pub goal: f64,
    /// The finest gap that is asked of the small problem of a round.
    pub finest: f64,
    /// Whether classes with the same prices may be pooled.
    pub pools: bool,
    /// Prices to begin with, and the gap that they are thought to leave.
    pub near: Option<(Vec<f64>, f64)>,
}

/// Solves the level of the rising users, the settled ones held at their shares. It gives up when that does not promise to be done within the
/// `budget`, what solving in full would take, in the unit of [`work_of_a_step`]. When time is over the answer is the highest level so far.
pub(crate) fn solve_level(
    reduction: &Reduction,
    bins: &mut Bins,
    amounts: &Amounts,
    solver: &dyn LevelSolver,
    costs: &mut [f64],
    budget: f64,
) -> Result<Solved, InstanceError> {
    let pass = Pass { budget, goal: CLOSED, finest: FINEST, pools: pools::suit(reduction), near: None };
    solve_rounds(reduction, bins, amounts, solver, costs, pass)
}

/// As [`solve_level`], in rounds that end so.
pub(crate) fn solve_rounds(
    reduction: &Reduction,
    bins: &mut Bins,
    amounts: &Amounts,
    solver: &dyn LevelSolver,
    costs: &mut [f64],
    pass: Pass,
) -> Result<Solved, InstanceError> {
    let (mut iterations, mut rounds) = (0, 0);
    let mut best_bound = f64::INFINITY;
    let mut offer_all = pass.near.is_none();
    let (mut best_prices, mut gap) = pass.near.unwrap_or((Vec::new(), 1.0));
    let mut spent = 0.0;
    let mut highest: Option<Highest> = None;
    let ends = solver.deadline().time_left().is_some();
    loop {
        let uncertain = vec![uncertainty(gap); reduction.classes()];
        let near = (!offer_all).then_some((best_prices.as_slice(), uncertain.as_slice()));
        let grouping = bins.group(reduction, amounts, near);
        let problem = level_problem(reduction, &grouping);
        let accuracy = if rounds == 0 && offer_all { pass.finest } else { pass.finest.max(gap * AHEAD) };
        let solution = solver.solve(&problem, accuracy)?;
        iterations += solution.iterations;
        rounds += 1;
        cheapest_costs(&reduction.users, &solution.prices, &reduction.capacities, costs);
        let lent = cost_with_task_rows(reduction, amounts, &solution.prices, solution.level, costs);
        let paid = bins.costs_of_groups(&grouping, amounts, costs);
        let total = |of_rising: bool| -> f64 {
            let paid_by = paid.iter().zip(&grouping.groups.rising);
            paid_by.filter(|(_, rising)| **rising == of_rising).map(|(paid, _)| paid).sum()
        };
        let (rising, settled) = (total(true), total(false));
        let bound = (dot(&solution.prices, &reduction.capacities) + lent - settled) / rising;
        if bound < best_bound || best_bound == f64::INFINITY {
            best_bound = bound;
            best_prices.clone_from(&solution.prices);
        }
        // A level above the bound is as wrong as one below: it overloads some class.
        let before = std::mem::replace(&mut gap, (1.0 - solution.level / best_bound).abs());
        if pass.pools && gap > CLOSED && rounds == 1 && !solver.deadline().is_over() {
            match pools::solve(reduction, bins, amounts, solver, &solution.prices) {
                Ok(Some((finer, solved))) => {
                    *bins = finer;
                    let (iterations, rounds) = (solved.iterations + iterations, solved.rounds + rounds);
                    return Ok(Solved { iterations, rounds, ..solved });
                }
                // What this round found stands.
                Ok(None) | Err(InstanceError::OutOfTime) => {}
                Err(error) => return Err(error),
            }
        }
        spent += solution.iterations as f64 * work_of_a_step(&grouping.groups, reduction.capacities.len());
        let mut gave_up = is_no_cheaper(pass.budget, spent, before, gap);
        let mut is_over = gave_up || solver.deadline().is_over();
        if gap > pass.goal && rounds < MOST.0 && bins.pattern.len() < MOST.1 && !is_over {
            let asked = problem.costs(&solution.prices);
            let slack_of = |(g, paid): (usize, &f64)| {
                // Users of a group with a task row are alike.
                if grouping.groups.has_task_row(g) { 0.0 } else { problem.cheapest(&asked, 0.0, g) - paid }
            };
            let slack: Vec<f64> = paid.iter().enumerate().map(slack_of).collect();
            // A level above the bound overloads some class.
            let may_stand = ends && solution.level <= best_bound;
            if may_stand && highest.as_ref().is_none_or(|highest| highest.solution.level < solution.level) {
                let (grouping, solution) = (grouping.clone(), solution.clone());
                highest = Some(Highest { bins: bins.clone(), grouping, solution });
            }
            let finer = bins.refined(reduction, &solution.prices, &grouping, &slack, uncertainty(gap));
            let next = finer.as_ref().map_or(0.0, |finer| {
                let rows = reduction.capacities.len();
                solution.iterations as f64 * work_of_a_step_when_finer((bins, finer), &grouping.groups, rows)
            });
            // A round that is known not to pay is not begun.
            gave_up = is_no_cheaper(pass.budget, spent + next, before, gap);
            is_over = gave_up;
            if !gave_up && (finer.is_some() || !offer_all) {
                // Where no bin can be split, it was the classes left out that kept the gap open.
                offer_all = finer.is_none();
                if let Some(finer) = finer {
                    *bins = finer;
                }
                continue;
            }
        }
        let (grouping, mut solution) = match highest {
            Some(highest) if is_over && (solution.level..=best_bound).contains(&highest.solution.level) => {
                *bins = highest.bins;
                (highest.grouping, highest.solution)
            }
            _ => (grouping, solution),
        };
        solution.prices = best_prices;
        return Ok(Solved { grouping, solution, iterations, rounds, gap, gave_up });
    }
}

/// About how many multiplications a step of an interior point takes: every pair meets the smaller side of the problem
/// while its equations are set up, and these are solved.
pub(crate) fn work_of_a_step(groups: &Groups, rows: usize) -> f64 {
    work(groups.pair_count(), groups.len(), rows, groups.loads.len() / groups.len().max(1))
}

/// The same once these groups are finer, as their bins become: pairs grow as groups do.
pub(crate) fn work_of_a_step_when_finer((bins, finer): (&Bins, &Bins), groups: &Groups, rows: usize) -> f64 {
    let finer = |number: usize| number * finer.pattern.len() / bins.pattern.len().max(1);
    let resources = groups.loads.len() / groups.len().max(1);
    work(finer(groups.pair_count()), finer(groups.len()), rows, resources)
}

/// For so many pairs of so many groups with these rows of so many resources.
pub(crate) fn work(pairs: usize, groups: usize, rows: usize, resources: usize) -> f64 {
    let small = groups.min(rows) as f64;
    (pairs * resources) as f64 * small + small.powi(3) / 3.0
}

/// The part of the work of solving in full that bins may take before they must show that they will be done. Where bins help they
/// take a hundredth of it; where users disagree on many classes they take as much as all of it, for nothing.
const IMPATIENT: f64 = 0.125;

/// The part of a gap that a round leaves which will be done in a few more: each leaves less.
const PROMISING: f64 = 0.1;

/// Whether solving in full, which takes about `budget`, is no dearer than going on after a round that changed the gap so.
pub(crate) fn is_no_cheaper(budget: f64, spent: f64, before: f64, gap: f64) -> bool {
    let allowed = if gap <= PROMISING * before { budget } else { IMPATIENT * budget };
    gap > TOLERANCE && spent > allowed
}

/// What a way says that stops because another is no dearer.
pub(crate) fn gives_up() -> InstanceError {
    InstanceError::Unsupported("users disagree on more classes than bins are worth splitting for".into())
}

/// How far prices may still be from the optimal ones, relative to themselves: the gap is of second order in that.
fn uncertainty(gap: f64) -> f64 {
    gap.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interior_point::InteriorPoint;
    use crate::level::LevelProblem;
    use crate::progress::Progress;
    use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
    use fairplan_instances::{Deadline, Objective};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// An interior point of whose round with this number a tenth is left, since time is over in it.
    struct Interrupted {
        round: u64,
        rounds: AtomicU64,
        over: Arc<AtomicBool>,
        inner: InteriorPoint,
    }

    impl LevelSolver for Interrupted {
        fn solve(&self, problem: &LevelProblem<'_>, accuracy: f64) -> Result<LevelSolution, InstanceError> {
            let mut solution = InteriorPoint(Deadline::never()).solve(problem, accuracy)?;
            if self.rounds.fetch_add(1, Ordering::Relaxed) + 1 == self.round {
                self.over.store(true, Ordering::Relaxed);
                solution.level *= 0.1;
                solution.splits.iter_mut().for_each(|split| *split *= 0.1);
            }
            Ok(solution)
        }

        fn deadline(&self) -> &Deadline {
            self.inner.deadline()
        }
    }

    /// The level over the bins of many users where time is over in this round, within this budget.
    fn level_if_over_in(round: u64, budget: f64) -> Solved {
        let options = PopulationOptions {
            kind: PopulationKind::Spread,
            users: 3_000,
            cluster: Cluster::Random { classes: 30, resources: 4 },
            seed: 1,
        };
        let instance = population(&options).unwrap();
        let reduction = Reduction::new(&instance, Objective::Drfh);
        let mut bins = Bins::by_direction(&reduction, 8);
        let amounts = Progress::start(&reduction, &mut bins).amounts;
        let mut costs = vec![0.0; reduction.users.len()];
        let over = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::after(Duration::from_secs(3_600)).or_when(over.clone());
        let solver = Interrupted { round, rounds: AtomicU64::new(0), over, inner: InteriorPoint(deadline) };
        let solved = solve_level(&reduction, &mut bins, &amounts, &solver, &mut costs, budget).unwrap();
        // Its groups are those of the bins as they are.
        let most = bins.of.iter().map(|bin| solved.grouping.group(*bin, true)).max().unwrap();
        assert_eq!((most + 1, solved.grouping.groups.len()), (bins.pattern.len(), bins.pattern.len()));
        solved
    }

    #[test]
    fn when_time_is_over_in_a_round_the_highest_level_so_far_stands_with_the_best_prices() {
        let first = level_if_over_in(1, f64::INFINITY).solution.level * 10.0;
        let second = level_if_over_in(2, f64::INFINITY);
        assert!((second.solution.level / first - 1.0).abs() < 1e-12);
        assert!(second.rounds == 2 && !second.gave_up, "{} rounds", second.rounds);
        let whole = level_if_over_in(u64::MAX, f64::INFINITY);
        assert!(whole.rounds > 2 && whole.solution.level > first, "{} rounds", whole.rounds);
    }

    #[test]
    fn beyond_the_budget_the_level_so_far_is_told_as_given_up() {
        let solved = level_if_over_in(u64::MAX, 1.0);
        assert!(solved.gave_up && solved.rounds == 1 && solved.solution.level > 0.0);
    }

    #[test]
    fn a_round_that_would_go_beyond_the_budget_is_not_begun() {
        let first = level_if_over_in(u64::MAX, 1.0);
        let step = work_of_a_step(&first.grouping.groups, 30 * 4);
        let spent = first.iterations as f64 * step;
        // After the first round there is a hundredth left of what bins may take; the second takes more than the first.
        let solved = level_if_over_in(u64::MAX, 1.01 * spent / IMPATIENT);
        assert!(solved.gave_up && solved.rounds == 1, "{} rounds", solved.rounds);
        assert_eq!(solved.solution.level, first.solution.level);
    }

    /// An interior point that counts the rows of every problem it is given.
    #[derive(Default)]
    struct Counting {
        rows: Mutex<Vec<usize>>,
        inner: InteriorPoint,
    }

    impl LevelSolver for Counting {
        fn solve(&self, problem: &LevelProblem<'_>, accuracy: f64) -> Result<LevelSolution, InstanceError> {
            self.rows.lock().unwrap().push(problem.capacities.len());
            self.inner.solve(problem, accuracy)
        }

        fn deadline(&self) -> &Deadline {
            self.inner.deadline()
        }
    }

    #[test]
    fn a_level_of_many_users_alike_takes_pools_after_one_round_over_all_classes() {
        let options = PopulationOptions {
            kind: PopulationKind::Alike,
            users: 140_000,
            cluster: Cluster::Random { classes: 34, resources: 4 },
            seed: 1,
        };
        let instance = population(&options).unwrap();
        let reduction = Reduction::new(&instance, Objective::Drfh);
        let mut bins = Bins::by_direction(&reduction, 128);
        let amounts = Progress::start(&reduction, &mut bins).amounts;
        let mut costs = vec![0.0; reduction.users.len()];
        let solver = Counting::default();
        let solved =
            solve_level(&reduction, &mut bins, &amounts, &solver, &mut costs, f64::INFINITY).unwrap();
        assert!(solved.gap <= CLOSED && !solved.gave_up);
        let rows = solver.rows.into_inner().unwrap();
        assert_eq!(rows.iter().filter(|rows| **rows == reduction.capacities.len()).count(), 1, "{rows:?}");
        assert!(rows.len() > 1 && rows[0] == reduction.capacities.len(), "{rows:?}");
    }

    #[test]
    fn bins_go_on_past_an_eighth_of_the_full_work_only_while_their_gap_falls_fast() {
        assert!(!is_no_cheaper(100.0, 12.0, 1e-3, 1e-3) && is_no_cheaper(100.0, 13.0, 1e-3, 1e-3));
        assert!(!is_no_cheaper(100.0, 99.0, 1e-6, 0.9e-7) && is_no_cheaper(100.0, 99.0, 1e-6, 1.1e-7));
        assert!(
            is_no_cheaper(100.0, 101.0, 1e-6, 1e-8) && !is_no_cheaper(100.0, 101.0, 1e-6, 0.9 * TOLERANCE)
        );
        assert!(!is_no_cheaper(f64::INFINITY, 1e30, 1.0, 1.0));
    }
}
