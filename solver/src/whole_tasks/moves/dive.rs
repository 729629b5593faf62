//! Whole exchanges out of the fractions of the program: what it makes whole is made, and the program is solved again over the servers
//! that are left, until nothing is missing. A vertex has no more fractions than there are users, so that little is lost.

use super::cluster::{Cluster, Exchange};
use super::program::{Priced, Question, UNIT};
use super::whole::Making;
use crate::tolerance::whole_tasks::NO_TASKS;
use fairplan_instances::{Deadline, InstanceError};

/// Programs that are solved again at most.
const ROUNDS: usize = 40;

/// Fractions from this on are rounded up, and one in so many of the largest in any case.
const NEARLY: f64 = 0.7;
const ONE_IN: usize = 6;

/// A program that is solved again ends when its bound is within this part, or so much.
const CLOSE: (f64, f64) = (0.02, 0.5);

/// What is missing is worth so many times what it was.
const MORE: f64 = 4.0;

/// Makes the exchanges of the program whole, as far as time allows; each server makes one at most.
pub(super) fn dive(
    making: &mut Making<'_>,
    question: &Question<'_>,
    priced: &Priced,
    columns: &[(usize, Exchange)],
    stop: &Deadline,
) -> Result<(), InstanceError> {
    let mut left: Vec<Vec<usize>> = question.groups.to_vec();
    let mut used = priced.used.clone();
    let mut columns = columns.to_vec();
    // What a task was worth at most: little less will do for those that are still missing.
    let most = priced.last_values.iter().copied().max().unwrap_or(0) as f64 / UNIT as f64;
    let worth = question.worth.max(MORE * most);
    for round in 0..ROUNDS {
        let mut fractions: Vec<(f64, usize)> = Vec::new();
        for (at, (group, exchange, servers)) in used.iter().enumerate() {
            let whole = (servers + NO_TASKS).floor();
            (0..whole as u64).for_each(|_| make(&mut making.cluster, &mut left[*group], exchange));
            if servers - whole > NO_TASKS {
                fractions.push((servers - whole, at));
            }
        }
        if making.all_missing() == 0 || fractions.is_empty() {
            break;
        }
        fractions.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let least = if round == 0 { 0 } else { fractions.len().div_ceil(ONE_IN) };
        for (k, (fraction, at)) in fractions.iter().enumerate() {
            if *fraction < NEARLY && k >= least {
                break;
            }
            let (group, exchange, _) = &used[*at];
            make(&mut making.cluster, &mut left[*group], exchange);
        }
        if making.all_missing() == 0 || stop.is_over() {
            break;
        }
        // What is left to exchange, over the servers that made no exchange yet.
        let positions: Vec<usize> = (0..left.len()).filter(|group| !left[*group].is_empty()).collect();
        let mut place = vec![usize::MAX; left.len()];
        positions.iter().enumerate().for_each(|(at, group)| place[*group] = at);
        let groups: Vec<Vec<usize>> = positions.iter().map(|group| left[*group].clone()).collect();
        let cluster = making.cluster.clone();
        let rest = Question { cluster: &cluster, groups: &groups, close: CLOSE, worth, ..*question };
        let mut known: Vec<(usize, Exchange)> = columns
            .iter()
            .filter(|(group, _)| place[*group] != usize::MAX)
            .map(|(group, exchange)| (place[*group], exchange.clone()))
            .collect();
        let solved = rest.solve_all(&mut known, stop)?;
        columns = known.into_iter().map(|(at, exchange)| (positions[at], exchange)).collect();
        used = solved.used.into_iter().map(|(at, exchange, n)| (positions[at], exchange, n)).collect();
    }
    Ok(())
}

/// Makes an exchange on one of the servers that are left, if there is one.
fn make(cluster: &mut Cluster<'_>, left: &mut Vec<usize>, exchange: &Exchange) {
    if let Some(server) = left.pop() {
        cluster.exchange(server, exchange);
    }
}
