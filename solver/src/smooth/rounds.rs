//! A sum solved over bins of users, round after round, until its certificate closes over the users themselves.
//!
//! Users of a bin share a split, as for a level, and have shares in the proportions of what each would take at the
//! prices of the round before. Loads add up linearly, so that is feasible, and it is the optimum where these prices are
//! right and all users of a bin agree on their cheapest classes. Prices come nearer by solving, and bins whose users do
//! not agree are split.

use super::duality::DualityGap;
use super::problem::{SumProblem, SumSolution, SumSolver};
use super::sizes::{Sizing, cap, set_amounts};
use super::utility::Utility;
use crate::aggregation::{gives_up, work_of_a_step};
use crate::bins::{Amounts, Bins, Grouping, NO_BIN, level_problem};
use crate::level::dot;
use crate::population::CHUNK;
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::tolerance::level::TOLERANCE;
use crate::tolerance::sum::{AHEAD, CLOSED, FIRST_GAP, GUESSED_GAP, SHADED, STAGES};
use fairplan_instances::SolverError;
use rayon::prelude::*;

/// A sum solved over groups, and what that proves over the users.
pub(super) struct Solved {
    /// The groups of the last round, which belong to the bins as they are now.
    pub grouping: Grouping,
    pub amounts: Amounts,
    pub solution: SumSolution,
    /// Utilities in the unit of the solution's prices.
    pub utility: Utility,
    pub iterations: u64,
    pub rounds: u64,
}

/// What proved the least gap so far.
struct Best {
    gap: f64,
    prices: Vec<f64>,
    utility: Utility,
}

/// Most bins that rounds may lead to.
const MOST_BINS: usize = 40_000;
/// Rounds after which the gap should have halved.
const PATIENCE: u64 = 6;
/// Where users that have tasks for more pay less than this part, the scale of utilities is high enough for a start.
const FREE: f64 = 0.05;
/// Below this α shares are in proportion to the powers that this one says, which are not as far apart.
const LEAST_POWER: f64 = 0.5;

/// Prices to begin with, and utilities in their unit.
pub(super) struct Guess {
    pub prices: Vec<f64>,
    pub utility: Utility,
}

/// How a sum is solved over groups, from round to round.
pub(super) struct Rounds<'a> {
    pub reduction: &'a Reduction,
    pub alpha: f64,
    /// Whether the users of each bin are alike in everything, so that a limit of one is that of all.
    pub alike: bool,
    pub most: u64,
    /// In the unit of [`work_of_a_step`].
    pub budget: f64,
    pub solver: &'a dyn SumSolver,
    /// See [`Small`].
    pub small: Small,
}

/// What counts of groups that are worth next to nothing beside others, as a large α makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Small {
    /// What they are worth, as far as doubles tell.
    AsTheyAre,
    /// No less than what shows beside rounding. Their shares are less exact, but a group that only seems to be worth nothing does not
    /// get lost on the way from one α to the next, and the bound is as good: all of them together are a part of it that is far below
    /// what is promised.
    Noticed,
}

impl Small {
    /// The least logarithm of a size, below the largest.
    fn least_log_size(self) -> f64 {
        match self {
            Self::AsTheyAre => LEAST_LOG_SIZE,
            Self::Noticed => NOTICED_LOG_SIZE,
        }
    }
}

/// Most rounds, where prices are to be found and where a guess at them is.
pub(super) const MOST_ROUNDS: u64 = 40;
pub(super) const GUESSING_ROUNDS: u64 = 2;

impl Rounds<'_> {
    /// Solves for the users that are in a bin. An error when the budget is spent before.
    pub fn run(&self, bins: &mut Bins, guess: Option<Guess>) -> Result<Solved, SolverError> {
        let &Self { reduction, alpha, alike, most: most_rounds, budget, solver, small } = self;
        let users = &reduction.users;
        let capacities = &reduction.capacities;
        let n = users.len();
        let (mut iterations, mut rounds) = (0, 0);
        let mut amounts = Amounts::new(vec![0.0; n], vec![true; n]);
        let mut costs = vec![0.0; n];
        let (mut prices, mut utility, mut gap) = match guess {
            Some(Guess { prices, utility }) => {
                cheapest_costs(users, &prices, capacities, &mut costs);
                (prices, utility, GUESSED_GAP)
            }
            None => {
                let even: Vec<f64> =
                    capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
                cheapest_costs(users, &even, capacities, &mut costs);
                let worth = dot(&even, capacities);
                let utility = first_utility(reduction, bins, alpha.max(LEAST_POWER), &costs, worth);
                (even, utility, FIRST_GAP)
            }
        };
        // The last gap that was half of one before, and its round.
        let mut halved = (f64::INFINITY, 0);
        let mut best = Best { gap: f64::INFINITY, prices: prices.clone(), utility };
        let mut offer_all = true;
        let mut spent = 0.0;
        loop {
            let worth = dot(&prices, capacities);
            let tempered = Utility::new(alpha.max(LEAST_POWER), utility.log_scale());
            // Where the sum is linear a user takes all or nothing.
            let demand = |i: usize| match alpha {
                0.0 => worth / costs[i],
                _ => tempered.demand(users.weight(i), costs[i]),
            };
            set_amounts(reduction, bins, demand, &mut amounts);
            let uncertain = uncertainties(&prices, capacities, reduction.resources, gap.sqrt());
            let near = (!offer_all).then_some((prices.as_slice(), uncertain.as_slice()));
            let grouping = bins.group(reduction, &amounts, near);
            utility.alpha = alpha;
            let sizing = Sizing {
                reduction,
                bins,
                grouping: &grouping,
                amounts: &amounts,
                utility,
                costs: &costs,
                capacity_worth: worth,
                all_limits: alike,
                round: rounds + 1,
            };
            let sizes = sizing.sizes();
            let problem = SumProblem {
                alpha,
                resources: reduction.resources,
                capacities,
                groups: &grouping.groups,
                size: &sizes.size,
                cost: &sizes.cost,
                limit: &sizes.limit,
            };
            let ahead = if alike { 0.0 } else { gap * AHEAD.0 };
            let solution = solve_in_stages(&problem, solver, ahead.max(AHEAD.1), small)?;
            iterations += solution.iterations;
            rounds += 1;
            prices.clone_from(&solution.prices);
            let excess = sizes.log_scale_excess(|g| solution.splits[grouping.groups.pairs(g)].iter().sum());
            utility = utility.scaled(sizes.log_scale + alpha * solution.log_level - excess);
            cheapest_costs(users, &prices, capacities, &mut costs);
            if alpha == 0.0 {
                let most = most_linear_log_scale(reduction, bins, &costs);
                utility = Utility::new(alpha, utility.log_scale().min(most));
            }
            let share = |i: usize| share(reduction, bins, &grouping, &amounts, &solution.works, i);
            let duality = DualityGap::of(reduction, bins, utility, &prices, &costs, share);
            gap = duality.relative_gap();
            if gap < 0.5 * halved.0 {
                halved = (gap, rounds);
            }
            spent += solution.iterations as f64 * work_of_a_step(&grouping.groups, capacities.len());
            if gap > TOLERANCE && spent > budget {
                return Err(gives_up());
            }
            let hopeless = rounds >= most_rounds
                || rounds >= halved.1 + PATIENCE
                || bins.pattern.len() >= MOST_BINS
                || solver.deadline().is_over();
            if gap <= best.gap {
                best = Best { gap, prices: prices.clone(), utility };
            } else if gap > CLOSED && !hopeless && !offer_all {
                // Some class was offered to too few: once more, offered to all, from the best prices.
                gap = best.gap;
                prices.clone_from(&best.prices);
                utility = best.utility;
                cheapest_costs(users, &prices, capacities, &mut costs);
                offer_all = true;
                continue;
            }
            if gap > CLOSED && !hopeless {
                let paid = bins.costs_of_groups(&grouping, &amounts, &costs);
                let level = level_problem(reduction, &grouping);
                let asked = level.costs(&prices);
                let slack: Vec<f64> = paid
                    .iter()
                    .enumerate()
                    .map(|(g, paid)| solution.works[g] * (level.cheapest(&asked, 0.0, g) - paid))
                    .collect();
                let split = bins.refine(reduction, &prices, &grouping, &slack, gap.sqrt());
                offer_all = !split;
                continue;
            }
            return Ok(Solved { grouping, amounts, solution, utility, iterations, rounds });
        }
    }
}

/// How uncertain the prices of each class are: those of an average one by this much, and of one that is worth less by
/// more. An error in them costs the whole in proportion to what the class is worth, so that it hardly shows in the gap.
fn uncertainties(prices: &[f64], capacities: &[f64], m: usize, average: f64) -> Vec<f64> {
    let worth: Vec<f64> = prices.chunks(m).zip(capacities.chunks(m)).map(|(p, c)| dot(p, c)).collect();
    let mean = worth.iter().sum::<f64>() / worth.len() as f64;
    worth.iter().map(|worth| average * (mean / worth).sqrt().max(1.0)).collect()
}

/// The share of a user in a bin: its amount times the work of its group, as far as its tasks last.
pub(super) fn share(
    reduction: &Reduction,
    bins: &Bins,
    grouping: &Grouping,
    amounts: &Amounts,
    works: &[f64],
    user: usize,
) -> f64 {
    let amount = amounts.amount[user];
    if amount == 0.0 {
        return 0.0;
    }
    let group = grouping.group(bins.of[user], amounts.rising[user]);
    (amount * works[group]).min(cap(reduction, user))
}

/// The scale at which users together would take what all capacity costs at the first prices, each at most what it has
/// tasks for. Near is enough.
fn first_utility(
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    costs: &[f64],
    capacity_worth: f64,
) -> Utility {
    let mut utility = Utility::new(alpha, 0.0);
    let users = &reduction.users;
    for round in 0..if users.tasks.is_some() { 7 } else { 1 } {
        let taken = |i: usize| {
            // The first estimate knows no limits, so that it is too low, as the others are then.
            let cap = if round == 0 { f64::INFINITY } else { cap(reduction, i) };
            let demand = utility.demand(users.weight(i), costs[i]);
            if demand < cap { (costs[i] * demand, 0.0) } else { (0.0, costs[i] * cap) }
        };
        let chunk = |start: usize| {
            let in_bins = (start..(start + CHUNK).min(costs.len())).filter(|&i| bins.of[i] != NO_BIN);
            in_bins.map(taken).fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1))
        };
        let starts: Vec<usize> = (0..costs.len()).step_by(CHUNK).collect();
        let parts: Vec<(f64, f64)> = starts.into_par_iter().map(chunk).collect();
        let (free, held) = parts.iter().fold((0.0, 0.0), |sum, x| (sum.0 + x.0, sum.1 + x.1));
        if free < FREE * (free + held) {
            break;
        }
        // Newton's method on the logarithms, in which the sum is concave: it stays below.
        utility = utility.scaled(alpha * ((free + held) / free) * (capacity_worth / (free + held)).ln());
    }
    utility
}

/// The largest scale at which no user without a limit is worth more than it pays.
fn most_linear_log_scale(reduction: &Reduction, bins: &Bins, costs: &[f64]) -> f64 {
    let users = &reduction.users;
    let unlimited = |i: &usize| bins.of[*i] != NO_BIN && users.tasks(*i) == f64::INFINITY;
    let least =
        (0..costs.len()).filter(unlimited).map(|i| costs[i] / users.weight(i)).fold(f64::INFINITY, f64::min);
    least.ln() - SHADED * f64::EPSILON
}

/// Solves a small problem; for large α, where some group is left widely off because all it pays is next to nothing of
/// the whole, over again in stages from a moderate α to its own. Each begins near what the last one found.
fn solve_in_stages(
    problem: &SumProblem<'_>,
    solver: &dyn SumSolver,
    accuracy: f64,
    small: Small,
) -> Result<SumSolution, SolverError> {
    let solution = solver.solve(problem, accuracy)?;
    if problem.alpha <= STAGES.0 || solution.widest <= STAGES.1 || solver.deadline().is_over() {
        return Ok(solution);
    }
    let mut alphas = vec![problem.alpha];
    while alphas[alphas.len() - 1] > STAGES.0 {
        alphas.push(alphas[alphas.len() - 1] / 2.0);
    }
    let (mut iterations, mut last) = (solution.iterations, solution);
    let mut works = vec![1.0f64; problem.groups.len()];
    let m = problem.resources;
    while let Some(alpha) = alphas.pop() {
        let mut groups = problem.groups.clone();
        groups
            .loads
            .chunks_mut(m)
            .zip(&works)
            .for_each(|(load, work)| load.iter_mut().for_each(|a| *a *= work));
        let limit: Vec<f64> = problem.limit.iter().zip(&works).map(|(limit, work)| limit / work).collect();
        let logs: Vec<f64> = problem
            .size
            .iter()
            .zip(&works)
            .map(|(size, work)| size.ln() + (1.0 - alpha) * work.ln())
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sizes: Vec<f64> = logs.iter().map(|log| (log - most).max(small.least_log_size()).exp()).collect();
        let total: f64 = sizes.iter().sum();
        let size: Vec<f64> = sizes.iter().map(|size| size / total).collect();
        let cost: Vec<f64> = (0..size.len()).map(|g| size[g] * (problem.cost[g] / problem.size[g])).collect();
        let stage =
            SumProblem { alpha, groups: &groups, size: &size, cost: &cost, limit: &limit, ..*problem };
        let at_last = alphas.is_empty();
        let mut solution = solver.solve(&stage, if at_last { accuracy } else { STAGES.1 })?;
        iterations += solution.iterations;
        works.iter_mut().zip(&solution.works).for_each(|(work, factor)| *work *= factor);
        if at_last {
            // Back to the unit of the problem: the price of work is ω (v / t)^−α there.
            solution.log_level -= (most + total.ln()) / alpha;
            for g in 0..works.len() {
                let factor = works[g] / solution.works[g];
                problem.groups.pairs(g).for_each(|pair| solution.splits[pair] *= factor);
            }
            solution.works = works.clone();
        }
        last = solution;
    }
    Ok(SumSolution { iterations, ..last })
}

/// Sizes further below the largest than this, in logarithms, are beyond a double.
const LEAST_LOG_SIZE: f64 = -650.0;
/// The same where small groups shall be noticed: a hundred thousandth of what is promised of all.
const NOTICED_LOG_SIZE: f64 = -32.0;
