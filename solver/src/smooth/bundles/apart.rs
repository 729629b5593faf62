//! Sums in which some users are next to nothing: who has what it would take by its own measure is settled, and the others are solved for
//! again, with what is left.
//!
//! With a large α a sum is nearly all that of the smallest shares. Once it is known to the last digit, what users with larger shares have,
//! on servers that the others do not need, may still be anything: by less than rounding they add to it. Among themselves they are a sum like
//! any other. So prices come from several sums, those of a row from the first in which somebody settled pays for it. They prove the whole
//! sum, and what each user has besides.

use super::find::{Finding, find};
use super::pieces::Found;
use super::{User, Utility};
use crate::level::{Groups, LevelProblem};
use crate::repair::feasible_splits;
use crate::tolerance::sum::{NOBODY_NEEDS, OWN, PAYS, STAGES};
use fairplan_instances::{Deadline, InstanceError};

/// Sums one after the other, at most: each settles somebody.
const MOST_SUMS: usize = 100;

/// Shares of kinds on classes and prices, sum by sum.
///
/// # Errors
/// Where the first sum has no answer, or somebody has nothing in the end.
pub(super) fn apart(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let mut known = Known {
        splits: vec![0.0; problem.groups.class.len()],
        prices: vec![0.0; problem.capacities.len()],
        is_priced: vec![false; problem.capacities.len()],
        utility: None,
        iterations: 0,
    };
    let mut left = problem.capacities.to_vec();
    let mut others: Vec<usize> = (0..users.len()).collect();
    for _ in 0..MOST_SUMS {
        let now = left.clone();
        let Some(part) = Part::of(problem, users, &others, &now) else { break };
        let mut best = None;
        for finding in findings(alpha) {
            let found = match find(&part.problem(problem, &now), &part.users, alpha, finding, deadline) {
                Ok(found) => found,
                Err(error) if known.utility.is_none() && best.is_none() => return Err(error),
                Err(_) => continue,
            };
            known.iterations += found.iterations;
            let sum = Sum::new(&part, part.problem(problem, &now), found);
            let settled: Vec<bool> = (0..others.len()).map(|u| sum.is_settled(u, alpha)).collect();
            let count = settled.iter().filter(|is_settled| **is_settled).count();
            if best.as_ref().is_none_or(|(_, _, most)| count > *most) {
                best = Some((sum, settled, count));
            }
            if count > 0 || deadline.is_over() {
                break;
            }
        }
        let Some((sum, settled, count)) = best else { break };
        // Where nobody is settled the checker has the last word.
        let is_last = count == 0 || count == others.len();
        let kept: Vec<usize> = (0..others.len()).filter(|u| is_last || settled[*u]).collect();
        known.keep(&sum, &kept, is_last, &mut left);
        others = (0..others.len()).filter(|u| !is_last && !settled[*u]).map(|u| others[u]).collect();
        if is_last || deadline.is_over() {
            break;
        }
    }
    let Known { splits, prices, utility, iterations, .. } = known;
    match utility {
        Some(utility) if others.is_empty() => Ok(Found { splits, prices, utility, iterations }),
        _ if deadline.is_over() => Err(InstanceError::OutOfTime),
        _ => Err(InstanceError::Unsupported(format!(
            "{} users add nothing to the sum by numbers too far apart to tell what they should have",
            others.len()
        ))),
    }
}

/// Ways to each sum, the fastest first.
fn findings(alpha: f64) -> impl Iterator<Item = Finding> {
    let all =
        [(Finding::AtOnce, alpha > 0.0), (Finding::InStages, alpha > STAGES.0), (Finding::InPieces, true)];
    all.into_iter().filter(|(_, applies)| *applies).map(|(finding, _)| finding)
}

/// What is known so far.
struct Known {
    splits: Vec<f64>,
    /// In the unit of the first sum, and which of them are known.
    prices: Vec<f64>,
    is_priced: Vec<bool>,
    utility: Option<Utility>,
    iterations: u64,
}

impl Known {
    /// Keeps what some users have of a sum, and the prices that they pay; all of them if it is the last. Takes what they use from what is left.
    fn keep(&mut self, sum: &Sum<'_>, users: &[usize], is_last: bool, left: &mut [f64]) {
        let utility = sum.found.utility;
        let first = *self.utility.get_or_insert(utility);
        let unit = (first.log_scale() - utility.log_scale()).exp();
        let is_paid_for = sum.rows_paid_for(users);
        for row in 0..self.prices.len() {
            if !self.is_priced[row] && (is_last || is_paid_for[row]) {
                (self.prices[row], self.is_priced[row]) = (sum.found.prices[row] * unit, true);
            }
        }
        for line in users.iter().flat_map(|user| sum.part.users[*user].lines.clone()) {
            for pair in sum.part.groups.pairs(line) {
                let split = sum.splits[pair];
                self.splits[sum.part.pairs[pair]] = split;
                sum.problem
                    .needs(line, pair)
                    .for_each(|(row, d)| left[row] = (left[row] - d * split).max(0.0));
            }
        }
        // What is paid for is used up, and dear to the others.
        left.iter_mut().zip(&self.is_priced).filter(|(_, is)| **is).for_each(|(left, _)| *left = 0.0);
    }
}

/// Some of the users, on what is left.
struct Part {
    groups: Groups,
    users: Vec<User>,
    /// Of each pair here the pair of the whole problem.
    pairs: Vec<usize>,
}

impl Part {
    /// `None` where there is nobody, or somebody has a kind with no class left.
    fn of(problem: &LevelProblem<'_>, users: &[User], of: &[usize], left: &[f64]) -> Option<Self> {
        let mut part = Self { groups: Groups::new(), users: Vec::new(), pairs: Vec::new() };
        for user in of.iter().map(|u| &users[*u]) {
            let first = part.groups.len();
            for line in user.lines.clone() {
                let is_left = |pair: &usize| problem.needs(line, *pair).all(|(row, _)| left[row] > 0.0);
                let pairs: Vec<usize> = problem.groups.pairs(line).filter(is_left).collect();
                if pairs.is_empty() {
                    return None;
                }
                let of_pair =
                    |pair: &usize| (problem.groups.class[*pair] as usize, problem.groups.rate[*pair]);
                let pattern = problem.groups.pattern[line];
                part.groups.push(problem.load(line), pattern, true, pairs.iter().map(of_pair));
                part.pairs.extend(pairs);
            }
            let User { weight, cap, floor, .. } = *user;
            let lines = first..part.groups.len();
            part.users.push(User { weight, cap, floor, lines, parts: user.parts.clone() });
        }
        (!part.users.is_empty()).then_some(part)
    }

    fn problem<'a>(&'a self, whole: &LevelProblem<'a>, left: &'a [f64]) -> LevelProblem<'a> {
        LevelProblem { capacities: left, groups: &self.groups, ..*whole }
    }

    fn pairs_of(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        self.users[user].lines.clone().flat_map(|line| self.groups.pairs(line))
    }
}

/// A sum over some users, and what they have of it by their own measure.
struct Sum<'a> {
    part: &'a Part,
    problem: LevelProblem<'a>,
    found: Found,
    /// Splits that fit, and what users have by them.
    splits: Vec<f64>,
    shares: Vec<f64>,
    /// Prices of what is used up.
    prices: Vec<f64>,
    /// What a split of one costs on each pair: at these prices, but where all there is would be next to nothing of what its user has at
    /// those that are found.
    costs: Vec<f64>,
}

impl<'a> Sum<'a> {
    fn new(part: &'a Part, problem: LevelProblem<'a>, found: Found) -> Self {
        let splits = feasible_splits(&problem, &found.splits);
        let used = problem.usage(&splits);
        let is_used_up = |row: usize| used[row] >= problem.capacities[row] * (1.0 - OWN);
        let price = |(row, price): (usize, &f64)| if is_used_up(row) { *price } else { 0.0 };
        let prices: Vec<f64> = found.prices.iter().enumerate().map(price).collect();
        let share = |user: &User| {
            let of_lines = user.lines.clone().zip(&user.parts);
            of_lines.map(|(line, part)| problem.work(&splits, line) / part).fold(user.cap, f64::min)
        };
        let shares: Vec<f64> = part.users.iter().map(share).collect();
        let (mut costs, at_found) = (problem.costs(&prices), problem.costs(&found.prices));
        for (user, share) in part.users.iter().zip(&shares) {
            for (line, of_line) in user.lines.clone().zip(&user.parts) {
                for pair in part.groups.pairs(line) {
                    let room = problem.needs(line, pair).map(|(row, d)| problem.capacities[row] / d);
                    let most = part.groups.rate[pair] * room.fold(f64::INFINITY, f64::min);
                    if most <= OWN * of_line * share {
                        costs[pair] = at_found[pair];
                    }
                }
            }
        }
        Self { part, problem, found, splits, shares, prices, costs }
    }

    /// Whether a user has what it would take at the prices of what is used up, where that costs least.
    fn is_settled(&self, user: usize, alpha: f64) -> bool {
        let User { weight, cap, floor, lines, parts } = &self.part.users[user];
        let share = self.shares[user];
        let least = |line: usize| self.problem.cheapest(&self.costs, 0.0, line);
        let cost: f64 = lines.clone().zip(parts).map(|(line, part)| part * least(line)).sum();
        let want = if alpha == 0.0 {
            let cheap = self.found.utility.marginal(*weight, 1.0) / cost - 1.0;
            if cheap.abs() <= OWN {
                share
            } else if cheap > 0.0 {
                f64::INFINITY
            } else {
                0.0
            }
        } else {
            self.found.utility.demand(*weight, cost)
        };
        let want = want.min(*cap).max(*floor);
        let paid: f64 = self.part.pairs_of(user).map(|pair| self.splits[pair] * self.costs[pair]).sum();
        let worth = if share > 0.0 { self.found.utility.marginal(*weight, share) * share } else { 0.0 };
        let off = (share - want).abs();
        let is_enough = off <= OWN * want.max(share) || (alpha < 1.0 && off <= NOBODY_NEEDS);
        want.is_finite() && is_enough && paid - cost * share <= OWN * paid.max(worth)
    }

    /// The rows that are a part of what one of these users pays.
    fn rows_paid_for(&self, users: &[usize]) -> Vec<bool> {
        let mut is_paid_for = vec![false; self.prices.len()];
        for user in users {
            for line in self.part.users[*user].lines.clone() {
                let all =
                    self.problem.work(&self.splits, line) * self.problem.cheapest(&self.costs, 0.0, line);
                let is_part = |pair: &usize| self.splits[*pair] * self.costs[*pair] > PAYS * all;
                for pair in self.part.groups.pairs(line).filter(is_part) {
                    for (row, d) in self.problem.needs(line, pair) {
                        is_paid_for[row] |= d * self.prices[row] > PAYS * self.costs[pair];
                    }
                }
            }
        }
        is_paid_for
    }
}

#[cfg(test)]
mod tests {
    use crate::question::Question;
    use crate::ways::{Way, solve};
    use approx::assert_relative_eq;
    use fairplan_instances::{
        ClassId, Deadline, Decimal, Instance, InstanceBuilder, NewUser, Objective, PlacementRule,
        ServerClass, Status, UserId,
    };

    /// Servers of one resource, and users with a weight who can run on some of them.
    fn instance(servers: &[u32], users: &[(&[usize], u32)]) -> Instance {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        for (l, cores) in servers.iter().enumerate() {
            builder.class(ServerClass::new(format!("c{l}"), 1, vec![Decimal::from(*cores)])).unwrap();
        }
        for (i, (eligible, weight)) in users.iter().enumerate() {
            let eligible = eligible.iter().map(|l| ClassId(*l)).collect();
            let rule = builder.rule(PlacementRule::new(Some(eligible), Vec::new()));
            let (id, weight) = (format!("u{i}"), Decimal::from(*weight));
            builder.user(NewUser { weight, rule, ..NewUser::new(&id, &[Decimal::ONE]) }).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn who_adds_nothing_to_a_sum_has_what_is_best_by_its_own_measure() {
        for servers in [[1, 5], [1, 10], [1, 30], [2, 1_000]] {
            let instance = instance(&servers, &[(&[0], 1), (&[1], 1), (&[1], 2)]);
            for alpha in [8.0f64, 20.0, 32.0, 64.0] {
                let objective = Objective::alpha_fair(alpha).unwrap();
                let deadline = Deadline::never();
                let question = Question::new(&instance, objective, "auto", &deadline);
                let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
                assert_eq!(solution.status, Status::Optimal, "{servers:?}, alpha {alpha}");
                let tasks = |i: usize| solution.allocation.tasks(UserId(i));
                let [small, large] = servers.map(f64::from);
                assert_relative_eq!(tasks(0), small, max_relative = 1e-9);
                assert_relative_eq!(tasks(1) + tasks(2), large, max_relative = 1e-4);
                assert_relative_eq!(tasks(2) / tasks(1), 2f64.powf(1.0 / alpha), max_relative = 1e-4);
            }
        }
    }

    /// A user that could run where another is alone, and would have next to nothing there.
    #[test]
    fn who_could_run_where_tasks_are_dear_runs_them_where_they_are_not() {
        let instance = instance(&[1, 100], &[(&[0], 1), (&[0, 1], 1), (&[1], 1)]);
        let deadline = Deadline::never();
        let question = Question::new(&instance, Objective::alpha_fair(32.0).unwrap(), "auto", &deadline);
        let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        for (user, tasks) in [1.0, 50.0, 50.0].into_iter().enumerate() {
            assert_relative_eq!(solution.allocation.tasks(UserId(user)), tasks, max_relative = 1e-4);
        }
    }
}
