//! Which users share a split: bins of similar demand direction, made finer where their users disagree.

use crate::level::{Groups, LevelProblem, dot};
use crate::reduction::{CHUNK, NO_KIND, Population, Reduction};
use crate::streaming::effective_prices;
use rayon::prelude::*;
use std::collections::HashMap;

/// Marks a user that is in no bin: it can run nowhere or is settled at nothing.
pub(crate) const NO_BIN: u32 = u32::MAX;
/// Marks a state of a bin in which it has no users.
const NO_GROUP: u32 = u32::MAX;
/// Cells of a histogram over one coordinate of the direction.
const CELLS: usize = 4096;
/// Parts into which the users are cut for summing, whatever the number of threads, so that sums never change.
const PARTS: usize = 8;
/// Pieces around a price boundary: each is this many times nearer to it than the last.
const GRADING: f64 = 4.0;
/// In units of the prices' uncertainty: the distance to a boundary at which a choice is settled, and the
/// distance below which nearer makes no difference.
const FAR: f64 = 4.0;
const FINEST: f64 = 0.1;
/// In the same units: how much dearer than its cheapest class a class may be to be offered to a group.
const OFFERED: f64 = 4.0;
/// Prices that differ by less than this part are one price when users are told apart by their cheapest class.
const SAME_PRICE: f64 = 1e-9;

/// A partition of the users. All users of a bin have the same kind.
pub(crate) struct Bins {
    /// Bin of each user, or [`NO_BIN`].
    pub of: Vec<u32>,
    /// Kind of each bin.
    pub kind: Vec<u32>,
}

/// How much of their direction the users take, and whether they still rise with the level.
pub(crate) struct Amounts {
    /// The weight of a rising user, the dominant share of a settled one.
    pub amount: Vec<f64>,
    pub rising: Vec<bool>,
}

/// The groups of a level problem, made from bins: one for the rising and one for the settled users of each.
pub(crate) struct Grouping {
    pub groups: Groups,
    group_of: Vec<[u32; 2]>,
}

impl Grouping {
    /// The group of a user of `bin`.
    pub fn group(&self, bin: u32, rising: bool) -> usize {
        self.group_of[bin as usize][usize::from(!rising)] as usize
    }
}

impl Bins {
    /// One bin for all users of exactly the same direction and kind.
    pub fn exact(users: &Population) -> Self {
        let mut bins = Self { of: vec![NO_BIN; users.len()], kind: Vec::new() };
        let mut known: HashMap<(u32, Vec<u64>), u32> = HashMap::new();
        for i in 0..users.len() {
            let kind = users.kind[i];
            if kind == NO_KIND {
                continue;
            }
            let direction = users.directions.iter().map(|column| column[i].to_bits()).collect();
            bins.of[i] = *known.entry((kind, direction)).or_insert_with(|| {
                bins.kind.push(kind);
                (bins.kind.len() - 1) as u32
            });
        }
        bins
    }

    /// About `target` bins by quantiles of the direction, kinds apart.
    pub fn by_direction(reduction: &Reduction, target: usize) -> Self {
        let users = &reduction.users;
        let (n, m) = (users.len(), reduction.resources);
        let coordinates = m - 1;
        let per_coordinate = match coordinates {
            0 => 1,
            _ => (target as f64).powf(1.0 / coordinates as f64).round().max(1.0) as usize,
        };
        let mut cell = vec![0u32; n];
        for r in 1..m {
            let part_of = coordinate_quantiles(users, r, per_coordinate);
            let column = &users.directions[r];
            cell.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, cells)| {
                for (offset, cell) in cells.iter_mut().enumerate() {
                    let i = chunk * CHUNK + offset;
                    let part = part_of[histogram_cell(column[i], sum_of_direction(users, i))];
                    *cell = *cell * per_coordinate as u32 + u32::from(part);
                }
            });
        }
        let cells = per_coordinate.pow(coordinates as u32);
        let mut bin_of_cell = vec![NO_BIN; cells * reduction.kinds.len()];
        let mut bins = Self { of: cell, kind: Vec::new() };
        for (cell, kind) in bins.of.iter_mut().zip(&users.kind) {
            if *kind == NO_KIND {
                *cell = NO_BIN;
                continue;
            }
            let bin = &mut bin_of_cell[*kind as usize * cells + *cell as usize];
            if *bin == NO_BIN {
                *bin = bins.kind.len() as u32;
                bins.kind.push(*kind);
            }
            *cell = *bin;
        }
        bins
    }

    /// Sums the users of each bin into groups.
    ///
    /// With `near` prices and their uncertainty, a group is offered only the classes that it might choose.
    pub fn group(&self, reduction: &Reduction, amounts: &Amounts, near: Option<(&[f64], f64)>) -> Grouping {
        let (users, m) = (&reduction.users, reduction.resources);
        let rows = self.kind.len() * 2;
        let part = users.len().div_ceil(PARTS).max(1);
        let sums: Vec<Vec<Compensated>> = (0..users.len().div_ceil(part))
            .into_par_iter()
            .map(|p| {
                let mut sums = vec![Compensated::default(); rows * m];
                for i in p * part..((p + 1) * part).min(users.len()) {
                    let (bin, amount) = (self.of[i], amounts.amount[i]);
                    if bin == NO_BIN || amount == 0.0 {
                        continue;
                    }
                    let row = bin as usize * 2 + usize::from(!amounts.rising[i]);
                    for (sum, column) in sums[row * m..(row + 1) * m].iter_mut().zip(&users.directions) {
                        sum.add(amount * column[i]);
                    }
                }
                sums
            })
            .collect();
        let mut groups = Groups::new();
        let mut group_of = vec![[NO_GROUP; 2]; self.kind.len()];
        for row in 0..rows {
            let load: Vec<f64> = (0..m)
                .map(|r| {
                    let mut total = Compensated::default();
                    sums.iter().for_each(|part| total.add(part[row * m + r].value()));
                    total.value()
                })
                .collect();
            if load.iter().all(|a| *a == 0.0) {
                continue;
            }
            group_of[row / 2][row % 2] = groups.len() as u32;
            let kind = self.kind[row / 2];
            let rates = &reduction.kinds[kind as usize];
            let usable = (0..rates.len()).filter(|&l| rates[l] > 0.0).map(|l| (l, rates[l]));
            match near {
                None => groups.push(&load, kind, row % 2 == 0, usable),
                Some((prices, uncertainty)) => {
                    let cost = |(l, rate): &(usize, f64)| dot(&load, &prices[l * m..(l + 1) * m]) / rate;
                    let least = usable.clone().map(|pair| cost(&pair)).fold(f64::INFINITY, f64::min);
                    let most = least * (1.0 + OFFERED * uncertainty);
                    groups.push(&load, kind, row % 2 == 0, usable.filter(|pair| cost(pair) <= most));
                }
            }
        }
        Grouping { groups, group_of }
    }

    /// Makes the bins anew from what their users would choose at these prices. Users that are far from changing
    /// their mind need no bin of their own direction any more: all that choose the same class share one. A bin
    /// whose users disagree (its `slack`, what it pays more than they would apart, is above `worth`) is split
    /// by choice, the more finely the nearer a user is to changing its mind. `uncertainty` is how far, relative
    /// to themselves, prices may still move. Returns whether any bin was split.
    pub fn refine(
        &mut self,
        reduction: &Reduction,
        prices: &[f64],
        grouping: &Grouping,
        slack: &[f64],
        worth: f64,
        uncertainty: f64,
    ) -> bool {
        let users = &reduction.users;
        let flagged: Vec<bool> = grouping
            .group_of
            .iter()
            .map(|groups| groups.iter().any(|g| *g != NO_GROUP && slack[*g as usize] > worth))
            .collect();
        let markets = Markets::of(prices, reduction);
        let mut keys: Vec<Key> = vec![Key::default(); users.len()];
        for (range, rates) in &users.by_rule {
            let effective = effective_prices(prices, &reduction.capacities, rates, reduction.resources);
            keys[range.clone()].par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, keys)| {
                for (offset, key) in keys.iter_mut().enumerate() {
                    let i = range.start + chunk * CHUNK + offset;
                    if self.of[i] != NO_BIN {
                        let choice = Choice::of(users, i, &effective, &markets);
                        *key = self.key(i, &choice, &flagged, uncertainty, &markets);
                    }
                }
            });
        }
        let before = self.kind.len();
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut kinds = Vec::new();
        let mut pieces = vec![0u32; before];
        for (bin, key) in self.of.iter_mut().zip(&keys) {
            if *bin != NO_BIN {
                *bin = *known.entry(*key).or_insert_with(|| {
                    let old = *bin as usize;
                    pieces[old] += u32::from(flagged[old]);
                    kinds.push(self.kind[old]);
                    (kinds.len() - 1) as u32
                });
            }
        }
        self.kind = kinds;
        pieces.iter().any(|pieces| *pieces > 1)
    }

    fn key(&self, user: usize, choice: &Choice, flagged: &[bool], uncertainty: f64, markets: &Markets) -> Key {
        let bin = self.of[user];
        let alone = markets.is_single[choice.first as usize];
        if alone && choice.distance > FAR * uncertainty {
            return Key { owner: self.kind[bin as usize], settled: true, first: choice.first, ..Key::default() };
        }
        if !flagged[bin as usize] {
            return Key { owner: bin, ..Key::default() };
        }
        let nearness = -choice.distance.max(FINEST * uncertainty).log(GRADING);
        Key { owner: bin, settled: false, first: choice.first, second: choice.second, nearness: nearness.max(0.0) as u8 }
    }
}

/// What users of one new bin have in common.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Key {
    /// The bin they come from; for settled choices the kind.
    owner: u32,
    settled: bool,
    first: u32,
    second: u32,
    nearness: u8,
}

/// What a user would do at given prices: the class it would choose, the runner-up with other prices, and by which
/// part of its cost that one is dearer.
struct Choice {
    first: u32,
    second: u32,
    distance: f64,
}

impl Choice {
    fn of(users: &Population, i: usize, prices: &[f64], markets: &Markets) -> Self {
        let m = users.directions.len();
        let (mut first, mut second) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
        for (price, class) in prices.chunks(m).zip(&markets.representative) {
            let cost: f64 = price.iter().zip(&users.directions).map(|(p, d)| p * d[i]).sum();
            if cost < first.0 {
                if *class != first.1 {
                    second = first;
                }
                first = (cost, *class);
            } else if cost < second.0 && *class != first.1 {
                second = (cost, *class);
            }
        }
        let distance = (second.0 - first.0) / first.0;
        Self { first: first.1, second: second.1, distance: if distance.is_nan() { 0.0 } else { distance } }
    }
}

/// Which classes have the same prices, and so are one market to every user.
struct Markets {
    /// For each class the first class of its market.
    representative: Vec<u32>,
    /// Whether the market of this first class has no other class.
    is_single: Vec<bool>,
}

impl Markets {
    fn of(prices: &[f64], reduction: &Reduction) -> Self {
        let representative = equal_prices(prices, reduction);
        let mut is_single = vec![false; representative.len()];
        for (l, market) in representative.iter().enumerate() {
            is_single[*market as usize] = *market as usize == l;
        }
        Self { representative, is_single }
    }
}

/// For each class the first class with the same prices.
fn equal_prices(prices: &[f64], reduction: &Reduction) -> Vec<u32> {
    let m = reduction.resources;
    let mut highest = vec![0.0f64; m];
    for row in prices.chunks(m) {
        highest.iter_mut().zip(row).for_each(|(high, p)| *high = high.max(*p));
    }
    let rows: Vec<&[f64]> = prices.chunks(m).collect();
    let mut representative: Vec<u32> = Vec::with_capacity(rows.len());
    let mut distinct: Vec<usize> = Vec::new();
    for (l, row) in rows.iter().enumerate() {
        let same = |other: &usize| {
            row.iter()
                .zip(rows[*other])
                .zip(&highest)
                .all(|((a, b), high)| (a - b).abs() <= SAME_PRICE * high)
                && reduction.kinds.iter().all(|rates| rates[l] == rates[*other])
        };
        match distinct.iter().find(|other| same(other)) {
            Some(other) => representative.push(*other as u32),
            None => {
                distinct.push(l);
                representative.push(l as u32);
            }
        }
    }
    representative
}

fn sum_of_direction(users: &Population, i: usize) -> f64 {
    users.directions.iter().map(|column| column[i]).sum()
}

fn histogram_cell(entry: f64, sum: f64) -> usize {
    ((entry / sum * CELLS as f64) as usize).min(CELLS - 1)
}

/// For each histogram cell of coordinate `r` the quantile it belongs to.
fn coordinate_quantiles(users: &Population, r: usize, quantiles: usize) -> Vec<u16> {
    let column = &users.directions[r];
    let counts = column
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, entries)| {
            let mut counts = vec![0u32; CELLS];
            for (offset, entry) in entries.iter().enumerate() {
                counts[histogram_cell(*entry, sum_of_direction(users, chunk * CHUNK + offset))] += 1;
            }
            counts
        })
        .reduce(
            || vec![0u32; CELLS],
            |mut all, part| {
                all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
                all
            },
        );
    let mut seen = 0u64;
    counts
        .iter()
        .map(|count| {
            let part = (seen * quantiles as u64 / users.len() as u64) as u16;
            seen += u64::from(*count);
            part
        })
        .collect()
}

/// A sum that carries its own rounding error along (Neumaier).
#[derive(Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    fn add(&mut self, x: f64) {
        let total = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() { (self.sum - total) + x } else { (x - total) + self.sum };
        self.sum = total;
    }

    fn value(self) -> f64 {
        self.sum + self.error
    }
}

/// Total of `amount · cost` for each group, in an order that does not depend on threads.
pub(crate) fn costs_of_groups(bins: &Bins, grouping: &Grouping, amounts: &Amounts, costs: &[f64]) -> Vec<f64> {
    let mut sums = vec![Compensated::default(); grouping.groups.len()];
    for (i, bin) in bins.of.iter().enumerate() {
        if *bin != NO_BIN && amounts.amount[i] > 0.0 {
            sums[grouping.group(*bin, amounts.rising[i])].add(amounts.amount[i] * costs[i]);
        }
    }
    sums.into_iter().map(Compensated::value).collect()
}

/// `Σ amount · cost` over the rising and over the settled users.
pub(crate) fn total_costs(bins: &Bins, amounts: &Amounts, costs: &[f64]) -> (f64, f64) {
    let parts: Vec<[Compensated; 2]> = costs
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, costs)| {
            let mut sums = [Compensated::default(); 2];
            for (offset, cost) in costs.iter().enumerate() {
                let i = chunk * CHUNK + offset;
                if bins.of[i] != NO_BIN {
                    sums[usize::from(!amounts.rising[i])].add(amounts.amount[i] * cost);
                }
            }
            sums
        })
        .collect();
    let mut totals = [Compensated::default(); 2];
    for part in parts {
        totals[0].add(part[0].value());
        totals[1].add(part[1].value());
    }
    (totals[0].value(), totals[1].value())
}

/// The level problem over these groups.
pub(crate) fn level_problem<'a>(reduction: &'a Reduction, grouping: &'a Grouping) -> LevelProblem<'a> {
    LevelProblem {
        resources: reduction.resources,
        capacities: &reduction.capacities,
        groups: &grouping.groups,
    }
}
