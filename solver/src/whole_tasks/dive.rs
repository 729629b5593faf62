//! From fractions of patterns to whole ones: round down, then solve what is left over again and again, each time with
//! patterns of what is still needed, and round up the largest fractions.

use super::master::{Master, Want};
use super::packing::Packing;
use super::patterns::Pattern;
use super::rounds::{Effort, price};
use super::servers::Servers;
use super::worth::SCALE;
use crate::tolerance::whole_tasks::{NO_SERVERS, WHOLE};
use fairplan_instances::{Deadline, InstanceError};
use hashbrown::HashSet;

/// Rounds of pricing between two roundings, and the effort of each search.
const ROUNDS: usize = 6;
const EFFORT: Effort = Effort { budget: 3_000, part: 1e-6, kept: 6 };

/// A fraction is rounded up if it is at least this large and its pattern still holds this part of what it was worth.
const LARGE: f64 = 0.3;
const WORTHWHILE: f64 = 0.97;

/// What servers cost while requirements are met: just enough to prefer fewer.
pub(super) const COST: f64 = 0.1;

/// Where a dive starts, and what it aims at.
pub(super) struct Dive<'a> {
    /// How many servers of each class there are.
    pub servers: &'a [u64],
    /// Patterns, and how many of them hold each.
    pub patterns: &'a [(Pattern, f64)],
    /// What a server of each class is worth.
    pub server_values: &'a [f64],
    /// What all servers left cost beside what is wanted.
    pub cost: f64,
    /// Up to this part of the servers mixed are rounded up at a time, and at least one.
    pub pace: f64,
    /// What is wanted of the tasks needed that are left.
    pub wants: &'a dyn Fn(&[u64]) -> Vec<Want>,
}

/// What the bound of a sum ended with.
pub(super) struct Bounded<'a> {
    /// The patterns known, and how many servers hold each in the last mix.
    pub patterns: &'a [Pattern],
    pub servers: &'a [f64],
    /// What a server of each class is worth, of [`SCALE`].
    pub server_values: &'a [u64],
}

/// The part of the servers mixed that are rounded up at a time where tasks are wanted for a sum.
const PACE_OF_SUMS: f64 = 0.1;

/// Puts the tasks of `need` that `wants` wants on servers, from the mix that bounded their sum; reduces `need` to what is missing.
pub(super) fn dive_from_bound(
    packing: &Packing,
    need: &mut [u64],
    bounded: &Bounded<'_>,
    wants: &dyn Fn(&[u64]) -> Vec<Want>,
    stop: &Deadline,
) -> Result<Servers, InstanceError> {
    let server_values: Vec<f64> = bounded.server_values.iter().map(|value| *value as f64 / SCALE).collect();
    let start = Dive {
        servers: &packing.servers(),
        patterns: &mixed(bounded.patterns, bounded.servers),
        server_values: &server_values,
        cost: 0.0,
        pace: PACE_OF_SUMS,
        wants,
    };
    dive(packing, need, &start, stop)
}

/// The patterns that servers hold in a mix, and how many do.
pub(super) fn mixed(patterns: &[Pattern], servers: &[f64]) -> Vec<(Pattern, f64)> {
    let held = patterns.iter().zip(servers).filter(|(_, count)| **count > NO_SERVERS);
    held.map(|(pattern, count)| (pattern.clone(), *count)).collect()
}

/// Puts the tasks of `need` on servers; reduces `need` to what is missing.
pub(super) fn dive(
    packing: &Packing,
    need: &mut [u64],
    start: &Dive<'_>,
    stop: &Deadline,
) -> Result<Servers, InstanceError> {
    let Dive { patterns, server_values, .. } = start;
    let mut servers = Servers::new(packing, start.servers);
    for (pattern, count) in *patterns {
        for _ in 0..(count + WHOLE) as u64 {
            servers.fill_next(packing, &pattern.within(need), need);
        }
    }
    if stop.is_over() {
        return Ok(servers);
    }
    let mut pool: Vec<Pattern> = patterns.iter().map(|(pattern, _)| pattern.clone()).collect();
    for (s, shape) in packing.shapes.iter().enumerate().filter(|(s, _)| need[*s] > 0) {
        let classes = (0..packing.classes.len()).filter(|&l| shape.copies[l] > 0);
        pool.extend(classes.map(|l| Pattern::of_one_shape(packing, l, s)));
    }
    while need.iter().any(|need| *need > 0) && !stop.is_over() {
        let left: Vec<u64> = (0..packing.classes.len()).map(|l| servers.unused(l)).collect();
        let worth: f64 = left.iter().zip(*server_values).map(|(n, v)| *n as f64 * v).sum();
        if worth <= 0.0 {
            break;
        }
        let costs: Vec<f64> = server_values.iter().map(|value| start.cost * value / worth).collect();
        let mut master = Master::new(packing, &(start.wants)(need), &left, &costs);
        let mut known = HashSet::new();
        for pattern in pool.drain(..) {
            let pattern = pattern.within(need);
            if left[pattern.class] > 0 && !pattern.tasks.is_empty() && known.insert(pattern.clone()) {
                master.add(packing, pattern);
            }
        }
        let Some(mut solved) = master.solve(stop)? else { break };
        for _ in (0..ROUNDS).take_while(|_| !stop.is_over()) {
            let found = price(packing, solved.worth(), EFFORT, Some(need), stop);
            let mut added = false;
            for pattern in found.into_iter().flat_map(|found| found.patterns) {
                if left[pattern.class] > 0 && known.insert(pattern.clone()) {
                    master.add(packing, pattern);
                    added = true;
                }
            }
            let next = if added { master.solve(stop)? } else { None };
            let Some(next) = next else { break };
            solved = next;
        }
        pool = std::mem::take(&mut master.patterns);
        drop(master);
        // Time may have been over before the last patterns were weighed.
        let mut order: Vec<usize> =
            (0..solved.servers.len()).filter(|&p| solved.servers[p] > NO_SERVERS).collect();
        order.sort_by(|a, b| solved.servers[*b].total_cmp(&solved.servers[*a]).then(pool[*a].cmp(&pool[*b])));
        let total: f64 = order.iter().map(|p| solved.servers[*p]).sum();
        let mut quota = (total * start.pace).ceil() as u64;
        let mut is_first = true;
        for p in order {
            let count = solved.servers[p];
            let pattern = &pool[p];
            let whole = (count + WHOLE) as u64;
            for _ in 0..whole {
                servers.fill_next(packing, &pattern.within(need), need);
                is_first = false;
            }
            if whole > 0 || quota == 0 {
                continue;
            }
            let part = pattern.within(need);
            let (worth, left) = (pattern.worth(&solved.values), part.worth(&solved.values));
            let keeps_its_worth = left >= WORTHWHILE * worth && !part.tasks.is_empty() && count > LARGE;
            if (is_first || keeps_its_worth) && servers.fill_next(packing, &part, need) {
                quota -= 1;
                is_first = false;
            }
        }
        if is_first {
            break;
        }
        // Programs of fewer patterns are solved faster, and these will hardly be taken.
        pool.retain(|pattern| {
            pattern.worth(&solved.values) >= WORTHWHILE * solved.server_values[pattern.class]
        });
    }
    Ok(servers)
}
