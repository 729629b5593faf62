//! One level of the lexicographic max-min as a linear program over groups of users and merged classes.
//!
//! ```text
//! maximise t   subject to   Σ_g a_gr ζ_gl <= c_lr          every class l and resource r
//!                           Σ_l ρ_gl ζ_gl >= t             every rising group g
//!                           Σ_l ρ_gl ζ_gl >= 1             every settled group g
//!                           Σ_l ζ_gl <= κ_g                every group g with a task row
//!                           Σ_gl a_gr ζ_gl <= b_j          every limit j of r, over its groups and classes
//!                           ζ >= 0
//! ```
//! A rising group stands for users whose weighted dominant share is the level `t`; its load `a_g` is the sum of
//! `w_i d_i` over them. A settled group stands for users whose shares `G_i` are fixed; its load is the sum of
//! `G_i d_i`. Users of one group run with the same split `ζ_g`, so loads simply add up. Only the pairs of a group
//! and a class that are listed exist. A task row is for users whose tasks are limited and do different work on
//! different classes: `κ_g` is what their tasks are worth at rate 1, over their weight or settled share.

/// Calls a method that is generic over the number of resources, so that the compiler knows small numbers; 0 stands for all others.
macro_rules! knowing_resources {
    ($resources:expr, $object:ident.$method:ident($($argument:expr),*)) => {
        match $resources {
            1 => $object.$method::<1>($($argument),*),
            2 => $object.$method::<2>($($argument),*),
            3 => $object.$method::<3>($($argument),*),
            4 => $object.$method::<4>($($argument),*),
            _ => $object.$method::<0>($($argument),*),
        }
    };
}

mod centred;
mod class_side;
mod group_side;
mod interior_point;
mod limit_side;
mod newton;
mod point;
mod task_row;
mod weights;
mod whole_numbers;

use crate::limits::LimitsOfPatterns;
use crate::tolerance::level::FASTER;
use fairplan_instances::{Deadline, InstanceError};
use rayon::prelude::*;
use std::ops::Range;
pub(crate) use whole_numbers::InWholeNumbers;

/// Which classes users of a pattern can use, and how fast: one number a class, 0 where it cannot run.
pub(crate) type Rates = Vec<f64>;

/// The linear program of one level.
pub(crate) struct LevelProblem<'a> {
    /// Resources `m`.
    pub resources: usize,
    /// `c`, row-major `classes × resources`; a row may hold zeros. After them `b`, one number a limit.
    pub capacities: &'a [f64],
    /// The groups, at least one of them rising.
    pub groups: &'a Groups,
    /// The limits, where there are any.
    pub limits: Option<LimitsOfPatterns<'a>>,
}

/// The groups of a level problem, column by column, with the pairs of each in one row after the other.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// `a`, row-major `groups × resources`, every row with a positive entry.
    pub loads: Vec<f64>,
    /// The pattern of the group's users.
    pub pattern: Vec<u32>,
    /// Whether the group rises with the level (otherwise it is settled).
    pub rising: Vec<bool>,
    /// Where each group's pairs begin, and at last where they all end.
    starts: Vec<usize>,
    /// The class of each pair.
    pub class: Vec<u32>,
    /// `ρ > 0` of each pair.
    pub rate: Vec<f64>,
    /// `κ > 0` of each group; infinite without a task row.
    pub limit: Vec<f64>,
}

/// Fewer pairs than this are not worth waking other threads for.
const MANY_PAIRS: usize = 1 << 15;

impl Groups {
    pub fn new() -> Self {
        Self {
            loads: Vec::new(),
            pattern: Vec::new(),
            rising: Vec::new(),
            starts: vec![0],
            class: Vec::new(),
            rate: Vec::new(),
            limit: Vec::new(),
        }
    }

    /// Adds a group that may run on these classes at these rates, without a task row.
    pub fn push(
        &mut self,
        load: &[f64],
        pattern: u32,
        rising: bool,
        pairs: impl Iterator<Item = (usize, f64)>,
    ) {
        self.loads.extend_from_slice(load);
        self.pattern.push(pattern);
        self.rising.push(rising);
        self.limit.push(f64::INFINITY);
        for (class, rate) in pairs {
            self.class.push(class as u32);
            self.rate.push(rate);
        }
        self.starts.push(self.class.len());
    }

    pub fn len(&self) -> usize {
        self.pattern.len()
    }

    /// The pairs of a group.
    pub fn pairs(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    /// Whether the group has a task row.
    pub fn has_task_row(&self, group: usize) -> bool {
        self.limit[group] < f64::INFINITY
    }

    /// Writes to the pairs of every group, and returns what `write` tells of each; on all threads where there are many.
    pub fn fill<R: Send>(&self, pairs: &mut [f64], write: impl Fn(usize, &mut [f64]) -> R + Sync) -> Vec<R> {
        let mut rest = pairs;
        let piece = |g: usize| {
            let (here, later) = std::mem::take(&mut rest).split_at_mut(self.pairs(g).len());
            rest = later;
            here
        };
        let pieces: Vec<&mut [f64]> = (0..self.len()).map(piece).collect();
        let write = |(g, pairs): (usize, &mut [f64])| write(g, pairs);
        if self.pair_count() < MANY_PAIRS {
            pieces.into_iter().enumerate().map(write).collect()
        } else {
            pieces.into_par_iter().enumerate().map(write).collect()
        }
    }

    /// How many pairs there are.
    pub fn pair_count(&self) -> usize {
        self.class.len()
    }
}

impl LevelProblem<'_> {
    pub fn classes(&self) -> usize {
        self.of_classes(self.capacities).len() / self.resources
    }

    /// The part of a list of rows that belongs to the classes.
    pub fn of_classes<'r>(&self, rows: &'r [f64]) -> &'r [f64] {
        &rows[..rows.len() - self.limits.map_or(0, |limits| limits.limits.len())]
    }

    /// The rows of the limits that a group meets on a class, each with its resource.
    pub fn limits_met(&self, group: usize, class: u32) -> impl Iterator<Item = (usize, usize)> {
        let limits = self.limits.into_iter();
        limits.flat_map(move |limits| limits.covering(self.groups.pattern[group], class as usize))
    }

    /// The rows of classes and limits that a group needs on a pair, and how much of each a split of one takes.
    pub fn needs(&self, group: usize, pair: usize) -> impl Iterator<Item = (usize, f64)> {
        let load = self.load(group);
        let of_limits = self.limits_met(group, self.groups.class[pair]).map(|(row, r)| (row, load[r]));
        self.rows(pair).zip(load.iter().copied()).chain(of_limits).filter(|(_, d)| *d > 0.0)
    }

    pub fn load(&self, group: usize) -> &[f64] {
        &self.groups.loads[group * self.resources..(group + 1) * self.resources]
    }

    /// The rows of the class of a pair in anything that is `classes × resources`.
    pub fn rows(&self, pair: usize) -> Range<usize> {
        let class = self.groups.class[pair] as usize;
        class * self.resources..(class + 1) * self.resources
    }

    /// The least cost of one unit of work for a group over its pairs, given what each pair costs and `each` task of the
    /// group costing so much more.
    pub fn cheapest(&self, costs: &[f64], each: f64, group: usize) -> f64 {
        let pairs = self.groups.pairs(group);
        let rates = &self.groups.rate[pairs.clone()];
        let per_work = costs[pairs].iter().zip(rates).map(|(cost, rate)| (cost + each) / rate);
        per_work.fold(f64::INFINITY, f64::min)
    }

    /// The work `Σ_l ρ ζ` that these splits give a group.
    pub fn work(&self, splits: &[f64], group: usize) -> f64 {
        let pairs = self.groups.pairs(group);
        dot(&self.groups.rate[pairs.clone()], &splits[pairs])
    }

    /// The tasks `Σ_l ζ` that these splits give a group.
    pub fn tasks(&self, splits: &[f64], group: usize) -> f64 {
        splits[self.groups.pairs(group)].iter().sum()
    }

    /// Which groups cannot rise above `level`, given which capacity rows have a price: those that on every pair meet
    /// a priced row, however little of it they take, or have no tasks for more. (Settled groups cannot rise anyway.)
    pub fn frozen(&self, priced: &[bool], level: f64) -> Vec<bool> {
        let meets = |g: usize, pair: usize| self.needs(g, pair).any(|(row, _)| priced[row]);
        let slow =
            |g: usize, pair: usize| self.groups.rate[pair] * self.groups.limit[g] <= level * (1.0 + FASTER);
        let held = |g: usize| self.groups.pairs(g).all(|pair| meets(g, pair) || slow(g, pair));
        (0..self.groups.len()).map(|g| !self.groups.rising[g] || held(g)).collect()
    }

    /// Every group's split of one over its classes, in proportion to what it could run there alone. (By the sizes of the
    /// classes instead, a class that has next to nothing of something would be overloaded many times.)
    pub fn even_splits(&self) -> Vec<f64> {
        even_splits(self.groups, self.capacities, self.resources)
    }

    /// The load `Σ_g a_g ζ_gl` of every class, row-major `classes × resources`, and of every limit.
    pub fn usage(&self, splits: &[f64]) -> Vec<f64> {
        let mut usage = knowing_resources!(self.resources, self.usage_of(splits));
        for g in 0..if self.limits.is_some() { self.groups.len() } else { 0 } {
            let load = self.load(g);
            for pair in self.groups.pairs(g) {
                for (row, r) in self.limits_met(g, self.groups.class[pair]) {
                    usage[row] += load[r] * splits[pair];
                }
            }
        }
        usage
    }

    /// What a split of one costs on each pair: `a_g · p_l`, and the prices of limits.
    pub fn costs(&self, prices: &[f64]) -> Vec<f64> {
        let mut costs = Vec::new();
        self.write_costs(prices, &mut costs);
        costs
    }

    /// Writes the same over what is there.
    pub fn write_costs(&self, prices: &[f64], costs: &mut Vec<f64>) {
        costs.resize(self.groups.pair_count(), 0.0);
        knowing_resources!(self.resources, self.write_costs_of(prices, costs));
        for g in 0..if self.limits.is_some() { self.groups.len() } else { 0 } {
            let load = self.load(g);
            for pair in self.groups.pairs(g) {
                let met = self.limits_met(g, self.groups.class[pair]);
                costs[pair] += met.map(|(row, r)| load[r] * prices[row]).sum::<f64>();
            }
        }
    }

    /// With the number of resources known to the compiler, unless `M` is 0.
    fn usage_of<const M: usize>(&self, splits: &[f64]) -> Vec<f64> {
        let m = if M == 0 { self.resources } else { M };
        let mut usage = vec![0.0; self.capacities.len()];
        for (g, load) in self.groups.loads.chunks_exact(m).enumerate() {
            let pairs = self.groups.pairs(g);
            for (class, split) in self.groups.class[pairs.clone()].iter().zip(&splits[pairs]) {
                let row = &mut usage[*class as usize * m..][..m];
                row.iter_mut().zip(load).for_each(|(sum, a)| *sum += a * split);
            }
        }
        usage
    }

    /// As [`Self::usage_of`].
    fn write_costs_of<const M: usize>(&self, prices: &[f64], costs: &mut [f64]) {
        let m = if M == 0 { self.resources } else { M };
        self.groups.fill(costs, |g, costs| {
            let load = &self.groups.loads[g * m..][..m];
            let classes = &self.groups.class[self.groups.pairs(g)];
            for (cost, class) in costs.iter_mut().zip(classes) {
                *cost = dot(load, &prices[*class as usize * m..][..m]);
            }
        });
    }
}

/// As [`LevelProblem::even_splits`].
pub(crate) fn even_splits(groups: &Groups, capacities: &[f64], m: usize) -> Vec<f64> {
    let mut splits = vec![0.0; groups.pair_count()];
    groups.fill(&mut splits, |g, splits| {
        let load = &groups.loads[g * m..(g + 1) * m];
        for (split, class) in splits.iter_mut().zip(&groups.class[groups.pairs(g)]) {
            let row = &capacities[*class as usize * m..][..m];
            let parts = load.iter().zip(row).filter(|(a, _)| **a > 0.0);
            *split = parts.map(|(a, capacity)| capacity / a).fold(f64::INFINITY, f64::min);
        }
        let total: f64 = splits.iter().sum();
        splits.iter_mut().for_each(|split| *split /= total);
    });
    splits
}

/// A solution of one level with its multipliers.
#[derive(Clone, Debug)]
pub(crate) struct LevelSolution {
    /// The level `t` reached.
    pub level: f64,
    /// `ζ` of each pair.
    pub splits: Vec<f64>,
    /// Multipliers of the capacity rows, row-major `classes × resources`, and of the limits, >= 0.
    pub prices: Vec<f64>,
    /// For each group whether it cannot rise above this level (settled groups: true).
    pub frozen: Vec<bool>,
    /// Iterations spent.
    pub iterations: u64,
}

/// A way to solve level problems.
pub(crate) trait LevelSolver: Sync {
    /// Solves one level to the relative gap `accuracy` or better, as exactly as the method can. A poor answer is
    /// caught by the certificate; an error is for a backend that broke.
    /// When time is over the best found so far is returned, or an error where nothing is.
    fn solve(&self, problem: &LevelProblem<'_>, accuracy: f64) -> Result<LevelSolution, InstanceError>;

    /// When to end.
    fn deadline(&self) -> &Deadline;
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_counts_as_faster_just_outside_the_tolerance_and_not_just_inside() {
        let frozen = |rate: f64| {
            let mut groups = Groups::new();
            groups.push(&[1.0], 0, true, [(0, rate)].into_iter());
            groups.limit[0] = 1.0;
            let problem = LevelProblem { resources: 1, capacities: &[1.0], groups: &groups, limits: None };
            problem.frozen(&[false], 1.0)[0]
        };
        assert!(frozen(1.0 + 0.9 * FASTER) && !frozen(1.0 + 1.1 * FASTER));
    }
}
