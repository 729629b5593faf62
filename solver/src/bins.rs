//! Which users share a split: bins of similar demand direction, made finer where their users disagree.

use crate::level::{Groups, LevelProblem, dot};
use crate::limits::LimitsOfPatterns;
use crate::population::{CHUNK, NO_PATTERN, Population};
use crate::reduction::Reduction;
use crate::sums::{in_parts, table_of_sums};
use hashbrown::HashMap;
use rayon::prelude::*;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

/// Marks a user that is in no bin: it can run nowhere or is settled at nothing.
pub(crate) const NO_BIN: u32 = u32::MAX;
/// Marks a state of a bin in which it has no users.
pub(crate) const NO_GROUP: u32 = u32::MAX;
/// Cells of a histogram over one coordinate of the direction.
const CELLS: usize = 4096;
/// How much dearer than its cheapest class, in units of the prices' uncertainty, a class may be to be offered to a
/// group.
const OFFERED: f64 = 4.0;
/// Below this α shares of users of different weight are too far apart to go into one sum.
const SAME_WEIGHT_BELOW: f64 = 0.5;

/// A partition of the users. All users of a bin have the same pattern.
#[derive(Clone)]
pub(crate) struct Bins {
    /// Bin of each user, or [`NO_BIN`].
    pub of: Vec<u32>,
    /// Kind of each bin.
    pub pattern: Vec<u32>,
}

/// How much of their direction the users take, and whether they still rise with the level.
#[derive(Clone)]
pub(crate) struct Amounts {
    /// The weight of a rising user, the dominant share of a settled one.
    pub amount: Vec<f64>,
    pub rising: Vec<bool>,
    /// The share that each rising user has besides, whatever the level; `None` where none has.
    pub base: Option<Vec<f64>>,
}

impl Amounts {
    /// Of users that have nothing besides.
    pub fn new(amount: Vec<f64>, rising: Vec<bool>) -> Self {
        Self { amount, rising, base: None }
    }

    /// What the user has besides.
    fn base(&self, user: usize) -> f64 {
        self.base.as_ref().map_or(0.0, |base| base[user])
    }
}

/// The groups of a level problem, made from bins: one for the rising and one for the settled users of each.
#[derive(Clone)]
pub(crate) struct Grouping {
    pub groups: Groups,
    /// For each bin the groups of its rising and of its settled users, or [`NO_GROUP`].
    pub group_of: Vec<[u32; 2]>,
}

impl Grouping {
    /// The group of a user of `bin`.
    pub fn group(&self, bin: u32, rising: bool) -> usize {
        self.group_of[bin as usize][usize::from(!rising)] as usize
    }

    /// The groups of a bin.
    pub fn groups_of(&self, bin: usize) -> impl Iterator<Item = usize> {
        self.group_of[bin].into_iter().filter(|group| *group != NO_GROUP).map(|group| group as usize)
    }
}

impl Bins {
    /// One bin for all users of exactly the same pattern and direction, and as many tasks for their weight where there
    /// are task rows.
    pub fn exact(reduction: &Reduction) -> Self {
        let mut bins = Self { of: vec![NO_BIN; reduction.users.len()], pattern: Vec::new() };
        bins.put_alike_together(reduction, |i| Some(task_row_key(reduction, i)));
        bins
    }

    /// One bin for all users that have shares in the same proportions whatever the prices, where the objective is the
    /// sum with this `alpha`: of exactly the same pattern, direction and number of tasks, and of the same weight where
    /// tasks are limited or α is small.
    pub fn alike(reduction: &Reduction, alpha: f64) -> Self {
        let users = &reduction.users;
        let mut bins = Self { of: vec![NO_BIN; users.len()], pattern: Vec::new() };
        let weight_counts = |i: usize| alpha < SAME_WEIGHT_BELOW || users.tasks(i) < f64::INFINITY;
        let weight = |i: usize| if weight_counts(i) { users.weight(i) } else { 0.0 };
        bins.put_alike_together(reduction, |i| Some([users.tasks(i).to_bits(), weight(i).to_bits()]));
        bins
    }

    /// Puts users of the same pattern and direction into one bin if they have the same key; leaves those without one.
    fn put_alike_together<K: Eq + Hash>(&mut self, reduction: &Reduction, key: impl Fn(usize) -> Option<K>) {
        let users = &reduction.users;
        let mut known: HashMap<(u32, Vec<u64>, K), u32> = HashMap::new();
        for i in 0..users.len() {
            let pattern = users.pattern[i];
            let Some(key) = key(i).filter(|_| pattern != NO_PATTERN) else { continue };
            let direction = users.directions.iter().map(|column| column[i].to_bits()).collect();
            self.of[i] = *known.entry((pattern, direction, key)).or_insert_with(|| {
                self.pattern.push(pattern);
                (self.pattern.len() - 1) as u32
            });
        }
    }

    /// About `target` bins by quantiles of the direction, patterns apart, and more for users with task rows: those share
    /// bins only where [`Self::exact`] lets them.
    pub fn by_direction(reduction: &Reduction, target: usize) -> Self {
        let users = &reduction.users;
        let (n, m) = (users.len(), reduction.resources);
        let coordinates = m - 1;
        let per_coordinate = match coordinates {
            0 => 1,
            _ => (target as f64).powf(1.0 / coordinates as f64).round().max(1.0) as usize,
        };
        let quantiles = quantiles_of_direction(users, per_coordinate);
        let cells = per_coordinate.pow(coordinates as u32);
        let used: Vec<AtomicBool> =
            (0..cells * reduction.patterns.len()).map(|_| AtomicBool::new(false)).collect();
        let mut of = vec![NO_BIN; n];
        of.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, of)| {
            for (offset, bin) in of.iter_mut().enumerate() {
                let i = chunk * CHUNK + offset;
                let pattern = users.pattern[i] as usize;
                if users.pattern[i] != NO_PATTERN && !reduction.has_task_rows[pattern] {
                    let scale = histogram_scale(users, i);
                    let part = |(column, quantiles): (&Vec<f64>, &Vec<u32>)| {
                        quantiles[histogram_cell(column[i], scale)]
                    };
                    let parts = users.directions[1..].iter().zip(&quantiles).map(part);
                    let cell = parts.fold(0, |cell, part| cell * per_coordinate + part as usize);
                    let code = pattern * cells + cell;
                    // Written once: threads that write to the same line wait for each other.
                    if !used[code].load(Ordering::Relaxed) {
                        used[code].store(true, Ordering::Relaxed);
                    }
                    *bin = code as u32;
                }
            }
        });
        let mut pattern = Vec::new();
        let bin_of_code: Vec<u32> = used
            .into_iter()
            .enumerate()
            .map(|(code, used)| {
                let bin = if used.into_inner() { pattern.len() as u32 } else { NO_BIN };
                if bin != NO_BIN {
                    pattern.push((code / cells) as u32);
                }
                bin
            })
            .collect();
        of.par_iter_mut().filter(|bin| **bin != NO_BIN).for_each(|bin| *bin = bin_of_code[*bin as usize]);
        let mut bins = Self { of, pattern };
        if reduction.has_task_rows.contains(&true) {
            let has_row = |i: usize| {
                let pattern = users.pattern[i];
                pattern != NO_PATTERN && reduction.has_task_rows[pattern as usize]
            };
            bins.put_alike_together(reduction, |i| has_row(i).then(|| task_row_key(reduction, i)));
        }
        bins
    }

    /// Sums the users of each bin into groups.
    ///
    /// With `near` prices and the uncertainty of those of each class, a group is offered only the classes that it might
    /// choose; a class that would be offered to nobody goes to those for whom it is the least too dear.
    pub fn group(
        &self,
        reduction: &Reduction,
        amounts: &Amounts,
        near: Option<(&[f64], &[f64])>,
    ) -> Grouping {
        let (users, m) = (&reduction.users, reduction.resources);
        let rows = self.pattern.len() * 2;
        let sums = table_of_sums(users.len(), rows * m, |range, sums| {
            for i in range {
                let bin = self.of[i];
                if bin == NO_BIN {
                    continue;
                }
                let mut add = |amount: f64, rising: bool| {
                    let row = bin as usize * 2 + usize::from(!rising);
                    for (sum, column) in sums[row * m..(row + 1) * m].iter_mut().zip(&users.directions) {
                        sum.add(amount * column[i]);
                    }
                };
                if amounts.amount[i] > 0.0 {
                    add(amounts.amount[i], amounts.rising[i]);
                }
                if amounts.base(i) > 0.0 {
                    add(amounts.base(i), false);
                }
            }
        });
        let loads = || sums.chunks_exact(m).enumerate().filter(|(_, load)| load.iter().any(|a| *a != 0.0));
        let usable = |pattern: u32| {
            let rates = &reduction.patterns[pattern as usize];
            (0..rates.len()).filter(|&l| rates[l] > 0.0).map(|l| (l, rates[l]))
        };
        // Each class that a group can use with its rate, and how many times dearer it is than the cheapest.
        let dearness = |pattern: u32, load: &[f64], prices: &[f64]| -> Vec<(usize, f64, f64)> {
            let prices = users.limits.seen(reduction.limits_of_pattern[pattern as usize], prices);
            let cost = |(l, rate): (usize, f64)| dot(load, &prices[l * m..(l + 1) * m]) / rate;
            let least = usable(pattern).map(cost).fold(f64::INFINITY, f64::min);
            usable(pattern).map(|(l, rate)| (l, rate, cost((l, rate)) / least)).collect()
        };
        // The same for the group that minds a class least.
        let mut nearest = vec![f64::INFINITY; reduction.classes()];
        if let Some((prices, _)) = near {
            for (row, load) in loads() {
                for (l, _, times) in dearness(self.pattern[row / 2], load, prices) {
                    nearest[l] = nearest[l].min(times);
                }
            }
        }
        let mut groups = Groups::new();
        let mut group_of = vec![[NO_GROUP; 2]; self.pattern.len()];
        for (row, load) in loads() {
            group_of[row / 2][row % 2] = groups.len() as u32;
            let pattern = self.pattern[row / 2];
            match near.filter(|_| !reduction.has_task_rows[pattern as usize]) {
                None => groups.push(load, pattern, row % 2 == 0, usable(pattern)),
                Some((prices, uncertainty)) => {
                    let offered = |(l, _, times): &(usize, f64, f64)| {
                        *times <= nearest[*l] * (1.0 + OFFERED * uncertainty[*l])
                    };
                    let classes = dearness(pattern, load, prices).into_iter().filter(offered);
                    groups.push(load, pattern, row % 2 == 0, classes.map(|(l, rate, _)| (l, rate)));
                }
            }
        }
        let mut grouping = Grouping { groups, group_of };
        self.set_limits(reduction, amounts, &mut grouping);
        grouping
    }

    /// Total of `amount · cost` for each group.
    pub fn costs_of_groups(&self, grouping: &Grouping, amounts: &Amounts, costs: &[f64]) -> Vec<f64> {
        table_of_sums(costs.len(), grouping.groups.len(), |users, sums| {
            for i in users {
                let bin = self.of[i];
                if bin != NO_BIN && amounts.amount[i] > 0.0 {
                    sums[grouping.group(bin, amounts.rising[i])].add(amounts.amount[i] * costs[i]);
                }
                if bin != NO_BIN && amounts.base(i) > 0.0 {
                    sums[grouping.group(bin, false)].add(amounts.base(i) * costs[i]);
                }
            }
        })
    }

    /// `Σ amount · cost` over the rising and over the settled users.
    pub fn total_costs(&self, amounts: &Amounts, costs: &[f64]) -> (f64, f64) {
        let totals = table_of_sums(costs.len(), 2, |users, sums| {
            for i in users {
                if self.of[i] != NO_BIN {
                    sums[usize::from(!amounts.rising[i])].add(amounts.amount[i] * costs[i]);
                }
            }
        });
        (totals[0], totals[1])
    }

    /// Sets `κ` of the groups with task rows.
    fn set_limits(&self, reduction: &Reduction, amounts: &Amounts, grouping: &mut Grouping) {
        if !reduction.has_task_rows.contains(&true) {
            return;
        }
        for i in 0..self.of.len() {
            let (bin, amount) = (self.of[i], amounts.amount[i]);
            if bin != NO_BIN && amount > 0.0 && reduction.has_task_rows[self.pattern[bin as usize] as usize] {
                let group = grouping.group(bin, amounts.rising[i]);
                let limit = &mut grouping.groups.limit[group];
                *limit = limit.min(reduction.users.tasks(i) / amount);
            }
        }
    }
}

/// What users with task rows must have in common to share a bin, as long as they rise together: as many tasks for their
/// weight.
fn task_row_key(reduction: &Reduction, user: usize) -> u64 {
    let (users, pattern) = (&reduction.users, reduction.users.pattern[user]);
    if pattern != NO_PATTERN && reduction.has_task_rows[pattern as usize] {
        (users.tasks(user) / users.weight(user)).to_bits()
    } else {
        0
    }
}

/// What takes an entry of a user's direction to its place in a histogram.
fn histogram_scale(users: &Population, i: usize) -> f64 {
    CELLS as f64 / users.directions.iter().map(|column| column[i]).sum::<f64>()
}

fn histogram_cell(entry: f64, scale: f64) -> usize {
    ((entry * scale) as usize).min(CELLS - 1)
}

/// For all coordinates of the direction but the first: the quantile that each histogram cell belongs to.
fn quantiles_of_direction(users: &Population, quantiles: usize) -> Vec<Vec<u32>> {
    let coordinates = &users.directions[1..];
    let parts = in_parts(users.len(), |range| {
        let mut counts = vec![0u64; coordinates.len() * CELLS];
        for i in range {
            let scale = histogram_scale(users, i);
            for (counts, column) in counts.chunks_exact_mut(CELLS).zip(coordinates) {
                counts[histogram_cell(column[i], scale)] += 1;
            }
        }
        counts
    });
    let mut counts = vec![0; coordinates.len() * CELLS];
    for part in parts {
        counts.iter_mut().zip(part).for_each(|(all, part)| *all += part);
    }
    let quantile = |seen: &mut u64, count: &u64| {
        let quantile = *seen * quantiles as u64 / users.len() as u64;
        *seen += count;
        Some(quantile as u32)
    };
    counts.chunks_exact(CELLS).map(|counts| counts.iter().scan(0, quantile).collect()).collect()
}

/// The level problem over these groups.
pub(crate) fn level_problem<'a>(reduction: &'a Reduction, grouping: &'a Grouping) -> LevelProblem<'a> {
    LevelProblem {
        resources: reduction.resources,
        capacities: &reduction.capacities,
        groups: &grouping.groups,
        limits: (!reduction.users.limits.is_empty()).then_some(LimitsOfPatterns {
            limits: &reduction.users.limits,
            set_of_pattern: &reduction.limits_of_pattern,
        }),
    }
}
