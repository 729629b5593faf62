//! The program where there are thousands of different servers: of those that matter, a few hundred. The others are looked at again
//! at the prices of these, which bounds what all steps cost, and those that would gain join.

use super::cluster::Exchange;
use super::program::{Priced, Question, UNIT};
use fairplan_instances::{Deadline, InstanceError};
use std::collections::HashMap;

/// While no more groups differ, all are in the program.
const ALL: usize = 1_500;

/// Groups in the first program, and those that join at most in a round.
const FIRST: usize = 250;
const JOINING: usize = 150;

/// Rounds at most, and sets of tasks that are looked at on one server.
const ROUNDS: usize = 60;
const NODES: u64 = 300;

/// What is missing is worth so many times its cost when the first groups are chosen.
const WORTH: u64 = 6;

/// A program over a pool is close to its bound at this part, or so much; all of it ends at this part.
const INNER: (f64, f64) = (0.01, 1.0);
const CLOSE: f64 = 0.02;

impl Question<'_> {
    /// Solves it, as far as time allows.
    pub fn solve(
        &self,
        columns: &mut Vec<(usize, Exchange)>,
        stop: &Deadline,
    ) -> Result<Priced, InstanceError> {
        match self.groups.len() {
            0..=ALL => self.solve_all(columns, stop),
            _ => solve_pooled(self, columns, stop),
        }
    }
}

/// Solves the program over groups of servers that are found to matter, as far as time allows. Columns are by the position of all
/// groups.
fn solve_pooled(
    question: &Question<'_>,
    columns: &mut Vec<(usize, Exchange)>,
    stop: &Deadline,
) -> Result<Priced, InstanceError> {
    let missing = |user: usize| question.required[user] > question.cluster.totals[user];
    let guess: Vec<u64> = (0..question.required.len())
        .map(|user| if missing(user) { question.rules.costs[user].saturating_mul(WORTH * UNIT) } else { 0 })
        .collect();
    let nothing = vec![0; question.groups.len()];
    let mut pool: Vec<usize> = columns.iter().map(|(group, _)| *group).collect();
    pool.sort_unstable();
    pool.dedup();
    join(&mut pool, gains_of(question, &guess, &nothing), FIRST);
    let users = question.required.len();
    let mut best = Priced {
        least: 0,
        values: vec![0; users],
        gains: nothing.clone(),
        used: Vec::new(),
        last_values: vec![0; users],
        cost: 0.0,
    };
    for _ in 0..ROUNDS {
        let groups: Vec<Vec<usize>> = pool.iter().map(|group| question.groups[*group].clone()).collect();
        let places: HashMap<usize, usize> = pool.iter().copied().zip(0..).collect();
        let inner = Question { groups: &groups, close: INNER, ..*question };
        let mut known: Vec<(usize, Exchange)> = columns
            .iter()
            .filter_map(|(group, exchange)| Some((*places.get(group)?, exchange.clone())))
            .collect();
        let priced = inner.solve_all(&mut known, stop)?;
        *columns = known.into_iter().map(|(place, exchange)| (pool[place], exchange)).collect();
        let used = priced.used.into_iter();
        best.used = used.map(|(place, exchange, servers)| (pool[place], exchange, servers)).collect();
        (best.last_values, best.cost) = (priced.last_values, priced.cost);
        // What the others gain at the prices that bound the program best.
        let (mut gains, mut joining) = (nothing.clone(), Vec::new());
        pool.iter().zip(&priced.gains).for_each(|(group, gain)| gains[*group] = *gain);
        let found = question.search(&priced.values, &nothing, NODES, |group| !places.contains_key(&group));
        for (group, found) in found.into_iter().enumerate().filter(|(group, _)| !places.contains_key(group)) {
            gains[group] = found.bound;
            joining.extend(found.best.map(|(gain, _)| (gain, group)));
        }
        let least = question.least(&priced.values, &gains);
        if least > best.least || best.least == 0 {
            (best.least, best.values, best.gains) = (least, priced.values, gains);
        }
        let is_close = least as f64 >= (1.0 - CLOSE) * priced.least as f64;
        if joining.is_empty() || is_close {
            return Ok(best);
        }
        if stop.is_over() {
            break;
        }
        join(&mut pool, joining, JOINING);
    }
    lower(question, &mut best);
    Ok(best)
}

/// Parts of the prices that are tried where those of the pool let the others gain much: lower prices bound less, and lose less.
const LOWER: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];

/// Tries lower prices while they bound more.
fn lower(question: &Question<'_>, best: &mut Priced) {
    let values = best.last_values.clone();
    let nothing = vec![0; question.groups.len()];
    for part in LOWER {
        let values: Vec<u64> = values.iter().map(|value| (*value as f64 * part) as u64).collect();
        let found = question.search(&values, &nothing, NODES, |_| true);
        let gains: Vec<u64> = found.into_iter().map(|found| found.bound).collect();
        let least = question.least(&values, &gains);
        if least > best.least {
            (best.least, best.values, best.gains) = (least, values, gains);
        } else if best.least > 0 {
            return;
        }
    }
}

/// What each group gains, where it gains anything.
fn gains_of(question: &Question<'_>, values: &[u64], thresholds: &[u64]) -> Vec<(u64, usize)> {
    let found = question.search(values, thresholds, NODES, |_| true);
    let gain = |(group, found): (usize, super::search::Found)| Some((found.best?.0, group));
    found.into_iter().enumerate().filter_map(gain).collect()
}

/// Those that gain the most join.
fn join(pool: &mut Vec<usize>, mut gains: Vec<(u64, usize)>, most: usize) {
    gains.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    pool.extend(gains.into_iter().take(most).map(|(_, group)| group));
    pool.sort_unstable();
    pool.dedup();
}
