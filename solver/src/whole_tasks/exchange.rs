//! Contents found by exchange, for servers of many small tasks, where branch and bound ends long before it has looked around.
//!
//! A content changes a few tasks at a time: some leave, others come at random, rather those that are worth most for their
//! size, and the most valuable pair of tasks that fits takes what room is left. What is hardly worse than before is kept:
//! the best is found on the way.

use super::knapsack::Item;
use super::packing::{Amounts, WIDTH, fits, less, more};
use super::patterns::Pattern;
use fairplan_instances::Random;

/// Pairs are made of so many tasks that are worth most for their size.
const PAIRED: usize = 400;

/// Tasks that leave, fewest and most.
const LEAVING: (u64, u64) = (2, 5);

/// Parts of a server that are left for a pair, least and most.
const FOR_A_PAIR: (f64, f64) = (0.1, 0.35);

/// Tasks that are tried until a server is full enough.
const TRIED: usize = 200;

/// A content is kept that loses up to this part more than the last one.
const WORSE: f64 = 0.2;

/// One class of servers.
pub(super) struct Exchange<'a> {
    pub class: usize,
    pub capacity: Amounts,
    pub resources: usize,
    /// Those worth most for their size first.
    pub items: &'a [Item],
    /// What the best of them are worth at least for any room.
    pub at_most: &'a dyn Fn(&Amounts) -> f64,
    /// Contents worth no more than this are of no interest.
    pub threshold: f64,
}

impl Exchange<'_> {
    /// The best contents of so many walks of so many steps each.
    pub fn run(&self, walks: usize, steps: u64) -> Vec<(f64, Pattern)> {
        let pairs = Pairs::new(self);
        let mut random = Random::new(self.threshold.to_bits(), self.class as u64);
        (0..walks).filter_map(|_| self.walk(&pairs, &mut random, steps)).collect()
    }

    fn walk(&self, pairs: &Pairs, random: &mut Random, steps: u64) -> Option<(f64, Pattern)> {
        let most = (self.at_most)(&self.capacity);
        let (mut worth, mut content) = (0.0, Content::empty(self));
        let (mut best, mut best_content) = (self.threshold, None);
        for _ in 0..steps {
            let mut next = content.clone();
            for _ in 0..random.between(LEAVING.0, LEAVING.1).min(next.tasks.len() as u64) {
                next.leave(self, random.below(next.tasks.len() as u64) as usize);
            }
            let left = FOR_A_PAIR.0 + (FOR_A_PAIR.1 - FOR_A_PAIR.0) * random.unit();
            next.fill(self, random, left);
            let least = most - (most - worth) * (1.0 + WORSE);
            let Some(pair) = pairs.best(self, &next, least - next.worth) else { continue };
            pair.into_iter().flatten().for_each(|item| next.come(self, item));
            (worth, content) = (next.worth, next);
            if worth > best {
                (best, best_content) = (worth, Some(content.clone()));
            }
        }
        best_content.map(|content| (best, content.pattern(self)))
    }
}

/// What is on a server on the way.
#[derive(Clone)]
struct Content {
    /// Of each task its item.
    tasks: Vec<u32>,
    room: Amounts,
    worth: f64,
}

impl Content {
    fn empty(exchange: &Exchange<'_>) -> Self {
        Self { tasks: Vec::new(), room: exchange.capacity, worth: 0.0 }
    }

    fn come(&mut self, exchange: &Exchange<'_>, item: u32) {
        let Item { demand, value, .. } = &exchange.items[item as usize];
        self.room = less(&self.room, demand);
        self.worth += value;
        self.tasks.push(item);
    }

    fn leave(&mut self, exchange: &Exchange<'_>, at: usize) {
        let Item { demand, value, .. } = &exchange.items[self.tasks.swap_remove(at) as usize];
        self.room = more(&self.room, demand);
        self.worth -= value;
    }

    fn count(&self, item: u32) -> u64 {
        self.tasks.iter().filter(|other| **other == item).count() as u64
    }

    /// Lets tasks come until no more than a part of some resource is left.
    fn fill(&mut self, exchange: &Exchange<'_>, random: &mut Random, left: f64) {
        let items = exchange.items;
        let is_full = |room: &Amounts| {
            let mut of = room.iter().zip(&exchange.capacity).filter(|(_, capacity)| **capacity > 0);
            of.any(|(room, capacity)| (*room as f64) < left * *capacity as f64)
        };
        for _ in 0..TRIED {
            if is_full(&self.room) {
                break;
            }
            let item = (random.unit().powi(3) * items.len() as f64) as usize;
            if fits(&items[item].demand, &self.room) && self.count(item as u32) < items[item].limit {
                self.come(exchange, item as u32);
            }
        }
    }

    fn pattern(self, exchange: &Exchange<'_>) -> Pattern {
        let mut items = self.tasks;
        items.sort_unstable();
        let counted = items.chunk_by(|a, b| a == b);
        let counted = counted.map(|of| (exchange.items[of[0] as usize].shape, of.len() as u64));
        Pattern::new(exchange.class, counted)
    }
}

/// No tasks, single ones and pairs, the most valuable first.
struct Pairs {
    values: Vec<f64>,
    items: Vec<[Option<u32>; 2]>,
    /// So many numbers each as there are resources.
    loads: Vec<u64>,
}

impl Pairs {
    fn new(exchange: &Exchange<'_>) -> Self {
        let items = &exchange.items[..exchange.items.len().min(PAIRED)];
        let mut pairs: Vec<(f64, u32, u32)> = Vec::with_capacity(items.len() * (items.len() + 3) / 2);
        for (i, one) in items.iter().enumerate() {
            pairs.push((one.value, i as u32, u32::MAX));
            for (j, other) in items[..=i].iter().enumerate() {
                if fits(&more(&one.demand, &other.demand), &exchange.capacity) {
                    pairs.push((one.value + other.value, i as u32, j as u32));
                }
            }
        }
        pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut sorted = Self { values: Vec::new(), items: Vec::new(), loads: Vec::new() };
        for (value, one, other) in pairs {
            let of = [Some(one), (other != u32::MAX).then_some(other)];
            let mut load = [0; WIDTH];
            of.into_iter().flatten().for_each(|item| load = more(&load, &items[item as usize].demand));
            sorted.values.push(value);
            sorted.items.push(of);
            sorted.loads.extend(&load[..exchange.resources]);
        }
        sorted.values.push(0.0);
        sorted.items.push([None; 2]);
        sorted.loads.extend(std::iter::repeat_n(0, exchange.resources));
        sorted
    }

    /// The most valuable that fits beside a content, if it is worth at least so much.
    fn best(&self, exchange: &Exchange<'_>, content: &Content, least: f64) -> Option<[Option<u32>; 2]> {
        let most = (exchange.at_most)(&content.room);
        let start = self.values.partition_point(|value| *value > most);
        let room = &content.room[..exchange.resources];
        for k in start..self.values.len() {
            if self.values[k] < least {
                return None;
            }
            let load = &self.loads[k * room.len()..][..room.len()];
            let may_come = |item: &Option<u32>| {
                item.is_none_or(|item| {
                    let same = self.items[k].iter().filter(|other| **other == Some(item)).count() as u64;
                    content.count(item) + same <= exchange.items[item as usize].limit
                })
            };
            if load.iter().zip(room).all(|(load, room)| load <= room) && self.items[k].iter().all(may_come) {
                return Some(self.items[k]);
            }
        }
        None
    }
}
