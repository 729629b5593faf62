//! A sum solved over bins of users, round after round, until its certificate closes over the users themselves.
//!
//! Users of a bin share a split, as for a level, and have shares in the proportions of what each would take at the
//! prices of the round before. Loads add up linearly, so that is feasible, and it is the optimum where these prices are
//! right and all users of a bin agree on their cheapest classes. Prices come nearer by solving, and bins whose users do
//! not agree are split.
//!
//! Kinds of a user are lines of their own, in bins with lines of others: each is worth to its user what the user pays for it at these prices. So
//! much of `w ln S` is divided among the lines, no less than which `w ln min_k S_k` is at any other prices: a round minimises a bound of the dual
//! function that touches it at the prices before (majorization), and comes nearer with each by a part of what is left. So rounds over kinds begin
//! at the prices of whole users, and where that is not enough go on from mixes of the rounds before (`extrapolation`).

use super::duality::DualityGap;
use super::extrapolation::Extrapolation;
use super::problem::{SumProblem, SumSolution, SumSolver};
use super::sizes::{Sizing, cap, set_amounts};
use super::stages;
use super::utility::Utility;
use crate::aggregation::{gives_up, is_no_cheaper, work_of_a_step, work_of_a_step_when_finer};
use crate::bins::{Amounts, Bins, Grouping, NO_BIN, level_problem};
use crate::level::dot;
use crate::population::{CHUNK, Population};
use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use crate::tolerance::sum::{AHEAD, CLOSED, FIRST_GAP, GUESSED_GAP, SHADED};
use fairplan_instances::InstanceError;
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
/// The same where users have kinds: rounds come nearer by a part each time, and solving for users one by one takes many times as long.
const PATIENCE_WITH_KINDS: u64 = 12;
/// Mixes that may lead astray before rounds go on without.
const MOST_ASTRAY: u64 = 2;
/// Where users that have tasks for more pay less than this part, the scale of utilities is high enough for a start.
const FREE: f64 = 0.05;
/// Below this α shares are in proportion to the powers that this one says, which are not as far apart.
const LEAST_POWER: f64 = 0.5;

/// What to begin with.
pub(super) enum Guess {
    /// Prices, and utilities in their unit.
    Prices(Vec<f64>, Utility),
    /// What each user has about, which no prices need to tell: for a single round.
    Shares(Vec<f64>),
}

/// How a sum is solved over groups, from round to round.
pub(super) struct Rounds<'a> {
    pub reduction: &'a Reduction,
    pub alpha: f64,
    /// Whether the users of each bin are alike in everything, so that a limit of one is that of all.
    pub alike: bool,
    pub most: u64,
    /// What solving in full would take, in the unit of [`work_of_a_step`].
    pub budget: f64,
    pub solver: &'a dyn SumSolver,
}

/// Most rounds, where prices are to be found and where a guess at them is.
pub(super) const MOST_ROUNDS: u64 = 40;
pub(super) const GUESSING_ROUNDS: u64 = 2;

impl Rounds<'_> {
    /// Solves for the users that are in a bin. An error when the budget is spent before.
    pub fn run(&self, bins: &mut Bins, guess: Option<Guess>) -> Result<Solved, InstanceError> {
        let &Self { reduction, alpha, alike, most: most_rounds, budget, solver } = self;
        let users = &reduction.users;
        let capacities = &reduction.capacities;
        let n = users.len();
        let (mut iterations, mut rounds) = (0, 0);
        let mut amounts = Amounts::new(vec![0.0; n], vec![true; n]);
        let mut costs = vec![0.0; n];
        let even =
            || -> Vec<f64> { capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect() };
        let mut shares = None;
        let (mut prices, mut utility, mut gap) = match guess {
            Some(Guess::Prices(prices, utility)) => {
                cheapest_costs(users, &prices, capacities, &mut costs);
                (prices, utility, GUESSED_GAP)
            }
            Some(Guess::Shares(guessed)) => {
                let even = even();
                cheapest_costs(users, &even, capacities, &mut costs);
                let in_bins = (0..n).filter(|i| bins.of[*i] != NO_BIN);
                let least = in_bins.map(|i| guessed[i]).fold(f64::INFINITY, f64::min);
                shares = Some(guessed);
                (even, Utility::new(alpha, alpha * least.ln()), FIRST_GAP)
            }
            None => {
                let even = even();
                cheapest_costs(users, &even, capacities, &mut costs);
                let worth = dot(&even, capacities);
                let paid = users.costs_of_users(&costs);
                let paid = paid.as_ref().unwrap_or(&costs);
                let utility = first_utility(reduction, bins, alpha.max(LEAST_POWER), (&costs, paid), worth);
                (even, utility, FIRST_GAP)
            }
        };
        let patience = if users.lines.is_some() { PATIENCE_WITH_KINDS } else { PATIENCE };
        // The last gap that was half of one before, and its round.
        let mut halved = (f64::INFINITY, 0);
        let mut best = Best { gap: f64::INFINITY, prices: prices.clone(), utility };
        let mut offer_all = true;
        let mut spent = 0.0;
        let (mut extrapolation, mut is_mixed, mut astray) = (Extrapolation::default(), false, 0);
        loop {
            let worth = dot(&prices, capacities);
            let tempered = Utility::new(alpha.max(LEAST_POWER), utility.log_scale());
            let paid = users.costs_of_users(&costs);
            let paid = paid.as_ref().unwrap_or(&costs);
            // Where the sum is linear a user takes all or nothing.
            let demand = |i: usize| match (alpha, &shares) {
                (0.0, _) => worth / costs[i],
                (_, Some(shares)) => shares[i],
                (_, None) => demand_of_line(users, tempered, i, paid[i]),
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
            // Rounds over kinds are mixed by small differences of what they find.
            let ahead = if alike || users.lines.is_some() { 0.0 } else { gap * AHEAD.0 };
            let solution = match shares {
                Some(_) => stages::solve_noticing(&problem, solver, AHEAD.1)?,
                None => stages::solve(&problem, solver, ahead.max(AHEAD.1))?,
            };
            iterations += solution.iterations;
            rounds += 1;
            let from = std::mem::replace(&mut prices, solution.prices.clone());
            let excess = sizes.log_scale_excess(|g| solution.splits[grouping.groups.pairs(g)].iter().sum());
            utility = utility.scaled(sizes.log_scale + alpha * solution.log_level - excess);
            cheapest_costs(users, &prices, capacities, &mut costs);
            if alpha == 0.0 {
                let most = most_linear_log_scale(reduction, bins, &costs);
                utility = Utility::new(alpha, utility.log_scale().min(most));
            }
            let share = |i: usize| share(reduction, bins, &grouping, &amounts, &solution.works, i);
            let of_user = |i: usize| users.share_of_user(i, share);
            let duality = DualityGap::of(reduction, bins, utility, &prices, &costs, of_user);
            let before = std::mem::replace(&mut gap, duality.relative_gap());
            if gap < 0.5 * halved.0 {
                halved = (gap, rounds);
            }
            spent += solution.iterations as f64 * work_of_a_step(&grouping.groups, capacities.len());
            if is_no_cheaper(budget, spent, before, gap) {
                return Err(gives_up());
            }
            let hopeless = rounds >= most_rounds
                || rounds >= halved.1 + patience
                || bins.pattern.len() >= MOST_BINS
                || solver.deadline().is_over();
            if gap <= best.gap {
                best = Best { gap, prices: prices.clone(), utility };
            } else if gap > CLOSED && !hopeless && (!offer_all || is_mixed) {
                // Some class was offered to too few, or the mix led astray: once more, offered to all, from the best prices.
                if is_mixed {
                    astray += 1;
                    // What the mix took is not counted against the rounds without it.
                    halved.1 = rounds;
                }
                extrapolation.forget();
                is_mixed = false;
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
                let finer = bins.refined(reduction, &prices, &grouping, &slack, gap.sqrt());
                offer_all = finer.is_none();
                if let Some(finer) = finer {
                    let step = work_of_a_step_when_finer((bins, &finer), &grouping.groups, capacities.len());
                    let next = solution.iterations as f64 * step;
                    if is_no_cheaper(budget, spent + next, before, gap) {
                        return Err(gives_up());
                    }
                    *bins = finer;
                }
                // Without kinds rounds come nearer by more each time, and need no help.
                let next = users
                    .lines
                    .as_ref()
                    .filter(|_| astray < MOST_ASTRAY)
                    .and_then(|_| extrapolation.next(&from, &prices, capacities));
                is_mixed = next.is_some();
                if let Some(next) = next {
                    prices = next;
                    cheapest_costs(users, &prices, capacities, &mut costs);
                }
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

/// What a user at these utilities wants of what this is, itself or a kind of its tasks, where a unit of its share costs so much.
fn demand_of_line(users: &Population, utility: Utility, line: usize, paid: f64) -> f64 {
    match users.lines {
        None => utility.demand(users.weight(line), paid),
        Some(_) => {
            let part = users.part(line);
            part * utility.demand(users.weight(line) / part, paid)
        }
    }
}

/// The scale at which users together would take what all capacity costs at the first prices, each at most what it has
/// tasks for. Near is enough.
fn first_utility(
    reduction: &Reduction,
    bins: &Bins,
    alpha: f64,
    (costs, paid): (&[f64], &[f64]),
    capacity_worth: f64,
) -> Utility {
    let mut utility = Utility::new(alpha, 0.0);
    let users = &reduction.users;
    for round in 0..if users.tasks.is_some() { 7 } else { 1 } {
        let taken = |i: usize| {
            // The first estimate knows no limits, so that it is too low, as the others are then.
            let cap = if round == 0 { f64::INFINITY } else { cap(reduction, i) };
            let demand = demand_of_line(users, utility, i, paid[i]);
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
