//! Making bins anew from what their users would choose at the latest prices.
//!
//! Users that are far from changing their mind need no bin of their own direction any more: all that choose the
//! same class share one. Where the users of a bin disagree it is split by choice, the more finely the nearer a
//! user is to changing its mind.

use crate::bins::{Bins, Grouping, NO_BIN, NO_GROUP};
use crate::choice::{Choice, Chooser, Markets};
use crate::reduction::Reduction;
use crate::streaming::effective_prices;
use crate::sums::part_length;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::ops::Range;

/// Pieces around a price boundary: each is this many times nearer to it than the last.
const GRADING: f64 = 4.0;
/// In units of the prices' uncertainty: the distance to a boundary at which a choice is settled, and the
/// distance below which nearer makes no difference.
const FAR: f64 = 4.0;
const FINEST: f64 = 0.1;
/// Prices that differ by less than this part of the gap, the square of the uncertainty, are one price when users are
/// told apart by their cheapest class: what the small problem's own gap leaves open is no reason to split.
const SAME_PRICE: f64 = 0.1;
/// Bins whose slack is below this part of the average are left alone.
const NEGLIGIBLE: f64 = 0.05;

impl Bins {
    /// These bins, finer where it is worth it: in bins whose `slack`, what they pay more than their users would apart, is not
    /// negligible. `uncertainty` is how far, relative to themselves, prices may still move. `None` when no bin would be split.
    pub fn refined(
        &self,
        reduction: &Reduction,
        prices: &[f64],
        grouping: &Grouping,
        slack: &[f64],
        uncertainty: f64,
    ) -> Option<Self> {
        let total: f64 = slack.iter().filter(|slack| **slack > 0.0).sum();
        let worth = NEGLIGIBLE * total / slack.len() as f64;
        let is_worth_it = |groups: &[u32; 2]| {
            groups.iter().any(|group| *group != NO_GROUP && slack[*group as usize] > worth)
        };
        let refinement = Refinement {
            bins: self,
            reduction,
            prices,
            flagged: grouping.group_of.iter().map(is_worth_it).collect(),
            markets: Markets::of(prices, reduction, SAME_PRICE * uncertainty * uncertainty),
            uncertainty,
        };
        let whole = refinement.keys_of_whole_bins(grouping);
        let users = self.of.len();
        let length = part_length(users);
        let mut of = vec![NO_BIN; users];
        let parts: Vec<Vec<(Key, u32)>> = of
            .par_chunks_mut(length)
            .enumerate()
            .map(|(part, of)| refinement.number_users(part * length..part * length + of.len(), of, &whole))
            .collect();
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut pattern = Vec::new();
        let mut pieces = vec![0u32; self.pattern.len()];
        let mut number = |(key, old): (Key, u32)| {
            *known.entry(key).or_insert_with(|| {
                let old = old as usize;
                pieces[old] += u32::from(refinement.flagged[old]);
                pattern.push(self.pattern[old]);
                (pattern.len() - 1) as u32
            })
        };
        let numbers: Vec<Vec<u32>> =
            parts.into_iter().map(|keys| keys.into_iter().map(&mut number).collect()).collect();
        let split = pieces.iter().any(|pieces| *pieces > 1);
        split.then(|| {
            of.par_chunks_mut(length).zip(&numbers).for_each(|(of, numbers)| {
                of.iter_mut().filter(|bin| **bin != NO_BIN).for_each(|bin| *bin = numbers[*bin as usize]);
            });
            Self { of, pattern }
        })
    }
}

/// One refinement, underway.
struct Refinement<'a> {
    bins: &'a Bins,
    reduction: &'a Reduction,
    prices: &'a [f64],
    /// The bins worth splitting.
    flagged: Vec<bool>,
    markets: Markets,
    uncertainty: f64,
}

/// What users of one new bin have in common.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Key {
    /// The bin they come from; the pattern for users that are decided, far from changing their mind.
    owner: u32,
    decided: bool,
    first: u32,
    second: u32,
    nearness: u8,
}

/// Keys in the order in which they were met, each with the old bin of its first user.
#[derive(Default)]
struct Numbers {
    keys: Vec<(Key, u32)>,
    known: HashMap<Key, u32>,
}

impl Numbers {
    fn number(&mut self, key: Key, old: u32) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.keys.push((key, old));
            (self.keys.len() - 1) as u32
        })
    }
}

/// Stands for the class in the key of a bin that goes on whole.
const WHOLE: u32 = u32::MAX;

impl Refinement<'_> {
    /// Where each bin goes that is not split: on as it is, or to the decided ones.
    fn keys_of_whole_bins(&self, grouping: &Grouping) -> Vec<Key> {
        let m = self.reduction.resources;
        let key = |(bin, groups): (usize, &[u32; 2])| {
            let mut key = Key { owner: bin as u32, first: WHOLE, ..Key::default() };
            let pattern = self.bins.pattern[bin] as usize;
            if let Some(group) = groups.iter().find(|group| **group != NO_GROUP)
                && !self.reduction.has_task_rows[pattern]
            {
                let load = &grouping.groups.loads[*group as usize * m..(*group as usize + 1) * m];
                let rates = &self.reduction.patterns[pattern];
                let seen =
                    self.reduction.users.limits.seen(self.reduction.limits_of_pattern[pattern], self.prices);
                let prices = effective_prices(&seen, &self.reduction.capacities, rates, m);
                let mut chooser = Chooser::new(&prices, &self.markets);
                chooser.push(bin, load.iter().copied());
                chooser.choose(|_, choice| {
                    if self.is_decided(&choice) {
                        key = self.decided(bin, &choice);
                    }
                });
            }
            key
        };
        grouping.group_of.iter().enumerate().map(key).collect()
    }

    /// Numbers the new bins that a part of the users goes to, in the order in which it meets them. Returns the key
    /// of each with the old bin of its first user.
    fn number_users(&self, users: Range<usize>, of: &mut [u32], whole: &[Key]) -> Vec<(Key, u32)> {
        let (population, m) = (&self.reduction.users, self.reduction.resources);
        let mut numbers = Numbers::default();
        let mut number_of_whole = vec![NO_BIN; whole.len()];
        for ((range, rates), limits) in population.by_rule.iter().zip(&population.limits_of_rule) {
            let here = users.start.max(range.start)..users.end.min(range.end);
            if here.is_empty() {
                continue;
            }
            let seen = population.limits.seen(*limits, self.prices);
            let prices = effective_prices(&seen, &self.reduction.capacities, rates, m);
            let mut chooser = Chooser::new(&prices, &self.markets);
            for i in here {
                let old = self.bins.of[i];
                if old == NO_BIN {
                    continue;
                }
                if self.flagged[old as usize] {
                    if chooser.is_full() {
                        self.number_by_choice(&mut chooser, &mut numbers, &users, of);
                    }
                    chooser.push(i, population.directions.iter().map(|column| column[i]));
                } else {
                    let known = &mut number_of_whole[old as usize];
                    if *known == NO_BIN {
                        *known = numbers.number(whole[old as usize], old);
                    }
                    of[i - users.start] = *known;
                }
            }
            self.number_by_choice(&mut chooser, &mut numbers, &users, of);
        }
        numbers.keys
    }

    fn number_by_choice(
        &self,
        chooser: &mut Chooser<'_>,
        numbers: &mut Numbers,
        users: &Range<usize>,
        of: &mut [u32],
    ) {
        chooser.choose(|i, choice| {
            of[i - users.start] = numbers.number(self.key(i, &choice), self.bins.of[i]);
        });
    }

    /// What decides the new bin of a user of a flagged bin.
    fn key(&self, user: usize, choice: &Choice) -> Key {
        let bin = self.bins.of[user];
        if self.is_decided(choice) {
            return self.decided(bin as usize, choice);
        }
        let nearness = -choice.distance.max(FINEST * self.uncertainty).log(GRADING);
        Key {
            owner: bin,
            decided: false,
            first: choice.first,
            second: choice.second,
            nearness: nearness.max(0.0) as u8,
        }
    }

    /// Whether a choice is far from changing, and the class chosen is a market of its own.
    fn is_decided(&self, choice: &Choice) -> bool {
        self.markets.is_single(choice.first) && choice.distance > FAR * self.uncertainty
    }

    fn decided(&self, bin: usize, choice: &Choice) -> Key {
        Key { owner: self.bins.pattern[bin], decided: true, first: choice.first, ..Key::default() }
    }
}
