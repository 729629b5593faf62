//! Making bins anew from what their users would choose at the latest prices.
//!
//! Users that are far from changing their mind need no bin of their own direction any more: all that choose the
//! same class share one. Where the users of a bin disagree it is split by choice, the more finely the nearer a
//! user is to changing its mind.

use crate::bins::{Bins, Grouping, NO_BIN, NO_GROUP, less_certain};
use crate::reduction::{CHUNK, Reduction};
use crate::streaming::effective_prices;
use hashbrown::HashMap;
use rayon::prelude::*;

/// Pieces around a price boundary: each is this many times nearer to it than the last.
const GRADING: f64 = 4.0;
/// In units of the prices' uncertainty: the distance to a boundary at which a choice is settled, and the
/// distance below which nearer makes no difference.
const FAR: f64 = 4.0;
const FINEST: f64 = 0.1;
/// Prices that differ by less than this part are one price when users are told apart by their cheapest class.
const SAME_PRICE: f64 = 1e-9;

impl Bins {
    /// Refines where it is worth it: in bins whose `slack`, what they pay more than their users would apart, is
    /// above `worth`. `uncertainty` is how far, relative to themselves, prices may still move. Returns false,
    /// and changes nothing, when no bin would be split.
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
                    if self.of[i] != NO_BIN && flagged[self.of[i] as usize] {
                        let direction = |r: usize| users.directions[r][i];
                        let choice = Choice::of(direction, reduction.resources, &effective, &markets);
                        *key = self.key(i, &choice, uncertainty, &markets);
                    }
                }
            });
        }
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut kind = Vec::new();
        let mut pieces = vec![0u32; self.kind.len()];
        let mut of = vec![NO_BIN; users.len()];
        // Bins that are not split go on whole, or join the decided ones.
        let whole: Vec<Key> = (0..self.kind.len())
            .map(|bin| self.whole_key(bin, grouping, prices, reduction, uncertainty, &markets))
            .collect();
        let mut whole_of = vec![NO_BIN; self.kind.len()];
        for (i, old) in self.of.iter().enumerate().filter(|(_, old)| **old != NO_BIN) {
            let old = *old as usize;
            let mut find = |key: Key| {
                *known.entry(key).or_insert_with(|| {
                    pieces[old] += u32::from(flagged[old]);
                    kind.push(self.kind[old]);
                    (kind.len() - 1) as u32
                })
            };
            of[i] = if flagged[old] {
                find(keys[i])
            } else {
                if whole_of[old] == NO_BIN {
                    whole_of[old] = find(whole[old]);
                }
                whole_of[old]
            };
        }
        let split = pieces.iter().any(|pieces| *pieces > 1);
        if split {
            *self = Self { of, kind };
        }
        split
    }

    /// What decides where a bin goes that is not split.
    fn whole_key(
        &self,
        bin: usize,
        grouping: &Grouping,
        prices: &[f64],
        reduction: &Reduction,
        uncertainty: f64,
        markets: &Markets,
    ) -> Key {
        let m = reduction.resources;
        let group = grouping.group_of[bin].iter().find(|group| **group != NO_GROUP);
        let kind = self.kind[bin];
        let rates = &reduction.kinds[kind as usize];
        if let Some(group) = group
            && !reduction.has_task_rows[kind as usize]
        {
            let load = &grouping.groups.loads[*group as usize * m..(*group as usize + 1) * m];
            let effective = effective_prices(prices, &reduction.capacities, rates, m);
            let choice = Choice::of(|r| load[r], m, &effective, markets);
            if choice.is_decided(uncertainty, markets) {
                return Key::decided(kind, choice.first);
            }
        }
        Key { owner: bin as u32, first: WHOLE, ..Key::default() }
    }

    /// What decides the new bin of a user of a flagged bin.
    fn key(&self, user: usize, choice: &Choice, uncertainty: f64, markets: &Markets) -> Key {
        let bin = self.of[user];
        if choice.is_decided(uncertainty, markets) {
            return Key::decided(self.kind[bin as usize], choice.first);
        }
        let nearness = -choice.distance.max(FINEST * choice.uncertainty(uncertainty, markets)).log(GRADING);
        Key {
            owner: bin,
            decided: false,
            first: choice.first,
            second: choice.second,
            nearness: nearness.max(0.0) as u8,
        }
    }
}

/// Stands for the class in the key of a bin that goes on whole.
const WHOLE: u32 = u32::MAX;

/// What users of one new bin have in common.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Key {
    /// The bin they come from; the kind for users that are decided, far from changing their mind.
    owner: u32,
    decided: bool,
    first: u32,
    second: u32,
    nearness: u8,
}

impl Key {
    fn decided(kind: u32, first: u32) -> Self {
        Self { owner: kind, decided: true, first, ..Self::default() }
    }
}

/// What a user would do at given prices: the class it would choose, the runner-up with other prices, and by which
/// part of its cost that one is dearer.
struct Choice {
    first: u32,
    second: u32,
    distance: f64,
}

impl Choice {
    /// The choice of a user, or of a group, with this direction or load.
    fn of(direction: impl Fn(usize) -> f64, m: usize, prices: &[f64], markets: &Markets) -> Self {
        let (mut first, mut second) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
        for (price, class) in prices.chunks(m).zip(&markets.representative) {
            let cost: f64 = price.iter().enumerate().map(|(r, p)| p * direction(r)).sum();
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

    /// Whether this is far from changing, and the class chosen is a market of its own.
    fn is_decided(&self, uncertainty: f64, markets: &Markets) -> bool {
        markets.is_single[self.first as usize] && self.distance > FAR * self.uncertainty(uncertainty, markets)
    }

    /// How uncertain the distance is, where prices of an average class are uncertain by this much.
    fn uncertainty(&self, average: f64, markets: &Markets) -> f64 {
        let [first, second] = [self.first, self.second].map(|class| markets.less_certain[class as usize]);
        average * first.max(second)
    }
}

/// Which classes have the same prices, and so are one market to every user.
struct Markets {
    /// For each class the first class of its market.
    representative: Vec<u32>,
    /// Whether the market of this first class has no other class.
    is_single: Vec<bool>,
    /// How many times less certain the prices of each class are than those of an average one.
    less_certain: Vec<f64>,
}

impl Markets {
    fn of(prices: &[f64], reduction: &Reduction) -> Self {
        let representative = equal_prices(prices, reduction);
        let mut is_single = vec![false; representative.len()];
        for (l, market) in representative.iter().enumerate() {
            is_single[*market as usize] = *market as usize == l;
        }
        let less_certain = less_certain(prices, &reduction.capacities, reduction.resources);
        Self { representative, is_single, less_certain }
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
