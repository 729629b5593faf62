//! Rules that give each server a score and take the best: the search for it.

use crate::filling::Rule;
use crate::packing::{Packing, fits};
use crate::states::{States, groups};
use std::cmp::Ordering;

/// How well free resources suit a task.
pub(crate) trait Score {
    /// The cost of a server as a double, the lower the better. Its error is at most
    /// `UNCERTAIN · (offset + |cost|)`.
    fn cost(&self, shape: usize, free: &[f64]) -> f64;

    /// See [`Score::cost`].
    fn offset(&self, shape: usize) -> f64;

    /// Compares the costs of two servers with room exactly.
    fn compare(&self, shape: usize, a: &[u128], b: &[u128]) -> Ordering;
}

/// Bound on the relative error of costs: each is a sum over resources of a few roundings.
const UNCERTAIN: f64 = 1e-12;

/// Takes the server of least cost; ties go to the lowest index.
pub(crate) struct LeastCost<'a, S> {
    packing: &'a Packing,
    score: S,
    states: States,
    /// For each shape whether it may run on the classes of a group.
    eligible: Vec<Vec<bool>>,
    left: Vec<u128>,
}

impl<'a, S: Score> LeastCost<'a, S> {
    pub fn new(packing: &'a Packing, score: S) -> Self {
        let group_of = groups(packing);
        let count = group_of.iter().max().map_or(0, |most| *most as usize + 1);
        let eligible = packing.shapes.iter().map(|shape| {
            let mut eligible = vec![false; count];
            shape.classes.iter().for_each(|&class| eligible[group_of[class] as usize] = true);
            eligible
        });
        Self {
            packing,
            score,
            eligible: eligible.collect(),
            states: States::new(packing, &group_of),
            left: Vec::with_capacity(packing.width),
        }
    }
}

impl<S: Score> Rule for LeastCost<'_, S> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.packing.shapes[shape].demand;
        let mut best: Option<(f64, usize, u32)> = None;
        for state in 0..self.states.len() {
            let Some(first) = self.states.first_server(state) else { continue };
            let free = self.states.free(state);
            if !self.eligible[shape][self.states.group(state) as usize] || !fits(demand, free) {
                continue;
            }
            let cost = self.score.cost(shape, self.states.free_nearly(state));
            let better = best.is_none_or(|(least, other, other_first)| {
                let error = UNCERTAIN * (2.0 * self.score.offset(shape) + cost.abs() + least.abs());
                let order = if (cost - least).abs() > error {
                    cost.total_cmp(&least)
                } else {
                    self.score.compare(shape, free, self.states.free(other))
                };
                order.then(first.cmp(&other_first)).is_lt()
            });
            if better {
                best = Some((cost, state, first));
            }
        }
        let (_, state, _) = best?;
        let group = self.states.group(state);
        self.left.clear();
        self.left.extend(self.states.free(state).iter().zip(demand).map(|(free, demand)| free - demand));
        let server = self.states.take_first(state)?;
        self.states.put(group, &self.left, server);
        Some(server as usize)
    }
}
