//! The program behind the lower bound: how many servers make each known exchange, so that all that is required runs and leaving
//! costs the least. Exchanges are added while prices find better ones, and every set of prices bounds what all steps cost.

use super::super::packing::Packing;
use super::cluster::{Cluster, Exchange};
use super::search::{Found, Prices};
use crate::linear_program::{Column, Ended, Program, Row, Settings};
use crate::linear_solver::Growing;
use crate::tolerance::highs::MASTER;
use crate::tolerance::whole_tasks::NO_TASKS;
use fairplan_instances::{Deadline, Instance, InstanceError, KindId, MoveRules};
use rayon::prelude::*;
use std::collections::HashSet;

/// A cost of one, in the whole numbers that prices are counted in.
pub(super) const UNIT: u64 = 1 << 20;

/// Exchanges that are added in one round: the best, each of another kind of server. While there are so many kinds, one in some is
/// looked at each round, until those looked at have fewer than so many that are better.
const ADDED: usize = 1_500;
const MANY: usize = 800;
const ONE_IN: usize = 8;
const FEW: usize = 40;

/// The part of new prices in their running means.
const NEW: f64 = 0.4;

/// Rounds of prices at most; the bound is within this part of what the program costs, or within this much, when it ends.
const ROUNDS: usize = 300;
pub(super) const CLOSE: (f64, f64) = (0.002, 0.3);
const ROUGH: f64 = 0.1;

/// What a missing task is worth at most in moves, at first, and how often that is doubled while tasks are missing: while it is little
/// few exchanges are worth looking at.
pub(super) const WORTH: (f64, usize) = (8.0, 6);

/// Nothing is worth more: prices are counted in whole numbers.
const MOST_WORTH: f64 = 20_000.0;

/// Sets of tasks that are looked at on one server: at first, and at most where fewer find nothing.
const NODES: (u64, u64) = (300, 19_200);

/// What the program came to.
pub(super) struct Priced {
    /// What all steps cost at least, in [`UNIT`]s, and what proves it: the worth of a task of each user, the most that each
    /// group of servers gains.
    pub least: u128,
    pub values: Vec<u64>,
    pub gains: Vec<u64>,
    /// Exchanges of servers of a group that the program makes, and how often; the most often first.
    pub used: Vec<(usize, Exchange, f64)>,
    /// What tasks were worth at last.
    pub last_values: Vec<u64>,
    /// What the program costs.
    pub cost: f64,
}

impl Priced {
    /// What bounds more of two answers to one question, with the fractions of the later.
    pub fn or(self, later: Self) -> Self {
        if later.least >= self.least {
            return later;
        }
        Self { used: later.used, last_values: later.last_values, cost: later.cost, ..self }
    }
}

/// What moving pieces of each kind costs, and whether they stay: each is a user of its own to the program, whose tasks they are.
pub(super) struct OfKinds {
    pub costs: Vec<u64>,
    pub kept: Vec<bool>,
}

impl OfKinds {
    pub fn new(instance: &Instance, rules: &MoveRules) -> Self {
        let users: Vec<usize> =
            (0..instance.kind_count()).map(|k| instance.kind(KindId(k)).user().index().0).collect();
        Self {
            costs: users.iter().map(|user| rules.costs[*user]).collect(),
            kept: users.iter().map(|user| rules.kept_users[*user]).collect(),
        }
    }
}

/// What is asked of the program.
pub(super) struct Question<'a> {
    pub packing: &'a Packing,
    pub cluster: &'a Cluster<'a>,
    pub groups: &'a [Vec<usize>],
    pub rules: &'a OfKinds,
    /// Tasks of each user at least, pieces of each kind.
    pub required: &'a [u64],
    /// The program ends when the bound is within this part of its cost, or within so much.
    pub close: (f64, f64),
    /// What a missing task is worth in moves at first.
    pub worth: f64,
}

impl Question<'_> {
    /// What a task costs that leaves, with what it is worth; `None` where it stays.
    pub fn leaving(&self, values: &[u64]) -> Vec<Option<u64>> {
        let of = |(user, value): (usize, &u64)| {
            let cost = self.rules.costs[user].saturating_mul(UNIT).saturating_add(*value);
            (!self.rules.kept[user]).then_some(cost)
        };
        values.iter().enumerate().map(of).collect()
    }

    /// The best exchange of each group that gains more than its threshold; of some groups alone, where `some` says which.
    pub fn search(
        &self,
        values: &[u64],
        thresholds: &[u64],
        nodes: u64,
        some: impl Fn(usize) -> bool + Sync,
    ) -> Vec<Found> {
        let leaving = self.leaving(values);
        let prices = Prices::new(self.packing, values, &leaving, None);
        let search = |(position, threshold): (usize, &u64)| match some(position) {
            true => prices.search(&self.cluster.servers[self.groups[position][0]], *threshold, nodes),
            false => Found::default(),
        };
        thresholds.par_iter().enumerate().map(|(position, threshold)| search((position, threshold))).collect()
    }

    /// What is missing at these values, less what servers gain: what all steps cost at least.
    pub fn least(&self, values: &[u64], gains: &[u64]) -> u128 {
        let (mut above, mut below) = (0u128, 0u128);
        for ((value, required), has) in values.iter().zip(self.required).zip(&self.cluster.totals) {
            let worth = u128::from(*value) * u128::from(required.abs_diff(*has));
            let side = if required > has { &mut above } else { &mut below };
            *side = side.saturating_add(worth);
        }
        let gained =
            self.groups.iter().zip(gains).map(|(group, gain)| u128::from(*gain) * group.len() as u128);
        above.saturating_sub(below).saturating_sub(gained.sum())
    }

    /// Solves it with all groups in the program from the beginning, as far as time allows.
    pub fn solve_all(
        &self,
        columns: &mut Vec<(usize, Exchange)>,
        stop: &Deadline,
    ) -> Result<Priced, InstanceError> {
        let mut worth: Vec<f64> = self.rules.costs.iter().map(|cost| *cost as f64 * self.worth).collect();
        let users = self.required.len();
        let mut priced = Priced {
            least: 0,
            values: vec![0; users],
            gains: vec![0; self.groups.len()],
            used: Vec::new(),
            last_values: vec![0; users],
            cost: 0.0,
        };
        if (0..users).all(|user| self.required[user] <= self.cluster.totals[user]) {
            return Ok(priced);
        }
        for raise in 0..=WORTH.1 {
            let missing = self.rounds(&worth, columns, &mut priced, stop)?;
            let is_missing = missing.iter().any(|tasks| *tasks > NO_TASKS);
            if !is_missing
                || stop.is_over()
                || raise == WORTH.1
                || worth.iter().all(|worth| *worth > MOST_WORTH)
            {
                break;
            }
            for (worth, missing) in worth.iter_mut().zip(&missing) {
                if *missing > NO_TASKS {
                    *worth *= 2.0;
                }
            }
        }
        Ok(priced)
    }

    /// Adds exchanges until none is missing; returns the tasks of each user that the program leaves out.
    fn rounds(
        &self,
        worth: &[f64],
        columns: &mut Vec<(usize, Exchange)>,
        priced: &mut Priced,
        stop: &Deadline,
    ) -> Result<Vec<f64>, InstanceError> {
        let users = self.required.len();
        let mut program = Program::maximise();
        let needed = |user: usize| self.required[user] as f64 - self.cluster.totals[user] as f64;
        let rows: Vec<Row> = (0..users).map(|user| program.at_least(needed(user), [])).collect();
        let group_rows: Vec<Row> =
            self.groups.iter().map(|group| program.at_most(group.len() as f64, [])).collect();
        for (row, worth) in rows.iter().zip(worth) {
            program.column(-worth, f64::INFINITY, false, [(*row, 1.0)]);
        }
        let settings = Settings {
            primal: Some(MASTER),
            dual: Some(MASTER),
            simplex: true,
            as_it_is: true,
            ..Settings::default()
        };
        let mut growing = Growing::new(program, settings);
        let column = |(group, exchange): &(usize, Exchange)| {
            let mut entries: Vec<(Row, f64)> =
                exchange.added.iter().map(|(user, count)| (rows[*user as usize], *count as f64)).collect();
            let mut cost = 0.0;
            for (user, count) in &exchange.removed {
                cost += self.rules.costs[*user as usize] as f64 * *count as f64;
                match entries.iter_mut().find(|(row, _)| *row == rows[*user as usize]) {
                    Some((_, net)) => *net -= *count as f64,
                    None => entries.push((rows[*user as usize], -(*count as f64))),
                }
            }
            entries.retain(|(_, net)| *net != 0.0);
            entries.push((group_rows[*group], 1.0));
            Column { cost: -cost, most: f64::INFINITY, is_whole: false, entries }
        };
        let mut seen: HashSet<(usize, Exchange)> = columns.iter().cloned().collect();
        columns.iter().for_each(|known| growing.add(column(known)));
        let mut missing = vec![0.0; users];
        let mut nodes = NODES.0;
        let is_large = self.groups.len() > MANY;
        let mut looks_at_all = !is_large;
        // Prices of many users swing from round to round; their running means find what matters sooner.
        let mut is_exact = !is_large;
        let mut prices: Vec<f64> = Vec::new();
        for round in 0..ROUNDS {
            let solved = growing.solve(stop)?;
            match solved.ended {
                Ended::OutOfTime => break,
                // Bounds hold whatever the numbers are.
                Ended::Optimal | Ended::Undecided if solved.is_finite() => {}
                _ => return Err(solved.unusable()),
            }
            missing.copy_from_slice(&solved.columns[..users]);
            let used =
                columns.iter().zip(&solved.columns[users..]).filter(|(_, servers)| **servers > NO_TASKS);
            priced.used =
                used.map(|((group, exchange), servers)| (*group, exchange.clone(), *servers)).collect();
            priced.used.sort_by(|a, b| b.2.total_cmp(&a.2));
            let part = if is_exact || prices.is_empty() { 1.0 } else { NEW };
            prices.resize(solved.multipliers.len(), 0.0);
            for (price, dual) in prices.iter_mut().zip(&solved.multipliers) {
                *price += part * (dual - *price);
            }
            let whole = |value: f64| (value.max(0.0) * UNIT as f64).round() as u64;
            let values: Vec<u64> = prices[..users].iter().map(|dual| whole(-dual)).collect();
            let thresholds: Vec<u64> = prices[users..].iter().map(|dual| whole(*dual)).collect();
            let found = self.search(&values, &thresholds, nodes, |group| {
                looks_at_all || group % ONE_IN == round % ONE_IN
            });
            if looks_at_all {
                let gains: Vec<u64> =
                    found.iter().zip(&thresholds).map(|(found, least)| found.bound.max(*least)).collect();
                let least = self.least(&values, &gains);
                if least > priced.least {
                    (priced.least, priced.values, priced.gains) = (least, values.clone(), gains);
                }
            }
            priced.last_values = values;
            let cost = -solved.value;
            priced.cost = cost;
            let bound = priced.least as f64 / UNIT as f64;
            let mut better: Vec<(u64, usize, Exchange)> = Vec::new();
            for (group, (found, threshold)) in found.into_iter().zip(&thresholds).enumerate() {
                if let Some((gain, exchange)) =
                    found.best.filter(|(gain, _)| *gain > *threshold + UNIT / 10_000)
                {
                    better.push((
                        (gain - threshold) * (self.groups[group].len() as u64).min(64),
                        group,
                        exchange,
                    ));
                }
            }
            better.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let before = columns.len();
            for (_, group, exchange) in better.into_iter().take(ADDED) {
                let new = (group, exchange);
                if seen.insert(new.clone()) {
                    growing.add(column(&new));
                    columns.push(new);
                }
            }
            let is_close = cost - bound <= self.close.0 * cost || cost - bound <= self.close.1;
            let added = columns.len() - before;
            if stop.is_over() {
                break;
            }
            if is_close {
                break;
            }
            if !looks_at_all {
                looks_at_all = added < FEW;
                continue;
            }
            if !is_exact {
                is_exact = added < FEW;
                looks_at_all = is_exact;
                continue;
            }
            (looks_at_all, is_exact) = (!is_large || added < FEW, !is_large || added < FEW);
            // While tasks are missing their worth goes up before more is looked for.
            let is_missing = missing.iter().any(|tasks| *tasks > NO_TASKS);
            let is_rough = is_missing && (cost - bound <= ROUGH * cost || is_large && added < FEW);
            if is_rough || added == 0 && nodes >= NODES.1 {
                break;
            }
            if added < FEW {
                nodes = (nodes * 8).min(NODES.1);
            }
        }
        Ok(missing)
    }
}
