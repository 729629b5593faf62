//! Sums one after the other in which whoever is settled keeps what it has, wherever it has it.
//!
//! What is left beside the places of those who are settled may be less than what could be left: to them it makes no difference where they
//! run, as long as that costs the same. So they stay in the later sums, guaranteed what they have and nothing more. That takes all users to every sum.

use super::settled::Counting;
use super::{Known, MOST_CHANGES, MOST_STEPS, MOST_SUMS, Part, User, Ways};
use crate::level::{Groups, LevelProblem};
use crate::smooth::bundles::Found;
use crate::tolerance::sum::ABOVE_KEPT;
use fairplan_instances::{Deadline, InstanceError};

/// The same as [`apart`](super::apart()).
///
/// # Errors
/// Where some sum has no answer, or somebody has nothing in the end.
pub(in crate::smooth) fn keeping(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let ways = Ways { problem, plain: None, alpha, deadline };
    let mut known = Known::nothing(problem);
    let mut counting: Vec<Counting> = users.iter().map(|user| Counting::fully(user.weight)).collect();
    let mut others: Vec<usize> = (0..users.len()).collect();
    // What those have who are settled.
    let mut kept: Vec<(usize, f64)> = Vec::new();
    let mut changes = MOST_CHANGES;
    for _ in 0..MOST_SUMS {
        if known.iterations > MOST_STEPS || deadline.is_over() {
            break;
        }
        // They count as the others would with all that these could have: more would hide these, and it takes nothing from those.
        let log_worth = |u: &usize| users[*u].weight.ln() + (1.0 - alpha) * users[*u].cap.min(1.0).ln();
        let log_worth = others.iter().map(log_worth).fold(f64::INFINITY, f64::min);
        let weight = |share: f64| (log_worth + (alpha - 1.0) * share.ln()).exp();
        if kept.iter().any(|(_, share)| !weight(*share).is_normal()) {
            break;
        }
        let with_weights = kept.iter().map(|(user, share)| (*user, *share, weight(*share)));
        let part = Part::keeping(problem, users, (&others, &counting), with_weights);
        let Some(sum) = ways.best(&part, &others, &mut known)? else { break };
        if changes > 0 && sum.temper(&others, &mut counting) {
            changes -= 1;
            continue;
        }
        // Who has all that its tasks do can have no more.
        let settled: Vec<bool> =
            sum.settled().iter().enumerate().map(|(u, is)| *is || sum.is_told_of_all_tasks(u)).collect();
        let is_last = !settled.contains(&true) || !settled.contains(&false);
        let done: Vec<usize> = (0..others.len()).filter(|u| is_last || settled[*u]).collect();
        known.pay(&sum, &done, is_last);
        known.place(&sum);
        if is_last {
            let Known { splits, prices, utility, iterations, .. } = known;
            let utility = utility.ok_or(InstanceError::OutOfTime)?;
            return Ok(Found { splits, prices, utility, iterations });
        }
        kept.extend(done.iter().map(|u| (others[*u], sum.share(*u))));
        let left = || (0..others.len()).filter(|u| !settled[*u]);
        others = left().map(|u| others[u]).collect();
    }
    if deadline.is_over() {
        return Err(InstanceError::OutOfTime);
    }
    Err(InstanceError::Unsupported(format!("sum after sum {} users were not settled", others.len())))
}

impl Part {
    /// Of some users on all there is, by the weights with which they count; beside them those who keep what they have: a user, its share, and the
    /// weight with which it counts.
    fn keeping(
        problem: &LevelProblem<'_>,
        users: &[User],
        (others, counting): (&[usize], &[Counting]),
        kept: impl Iterator<Item = (usize, f64, f64)>,
    ) -> Self {
        let mut part = Self {
            capacities: problem.capacities.to_vec(),
            paid: None,
            groups: Groups::new(),
            users: Vec::new(),
            own_weights: others.iter().map(|user| users[*user].weight).collect(),
            pairs: Vec::new(),
        };
        let of_others = others.iter().map(|user| {
            let User { cap, floor, .. } = users[*user];
            // A task row says as much as a cap.
            let has_row = users[*user].lines.clone().any(|line| problem.groups.has_task_row(line));
            (*user, counting[*user].weight, floor, if has_row { f64::INFINITY } else { cap })
        });
        let of_kept = kept.map(|(user, share, weight)| (user, weight, share, share * (1.0 + ABOVE_KEPT)));
        for (user, weight, floor, cap) in of_others.chain(of_kept) {
            let (User { lines, parts, .. }, first) = (&users[user], part.groups.len());
            for line in lines.clone() {
                let pairs = problem.groups.pairs(line);
                let of_pair = |pair: usize| (problem.groups.class[pair] as usize, problem.groups.rate[pair]);
                let pattern = problem.groups.pattern[line];
                part.groups.push(problem.load(line), pattern, true, pairs.clone().map(of_pair));
                if problem.groups.has_task_row(line) {
                    let at = part.groups.len() - 1;
                    part.groups.limit[at] = problem.groups.limit[line];
                }
                part.pairs.extend(pairs);
            }
            let lines = first..part.groups.len();
            part.users.push(User { weight, cap, floor, lines, parts: parts.clone() });
        }
        part
    }
}
