//! The most valuable content of one server: a knapsack of whole tasks, by branch and bound.
//!
//! Values are whole numbers below 2^53 in doubles, so sums are exact. A node is bounded by a table over the room that is
//! left ([`Table`]) and by the best value per weighted size among the tasks still allowed, over some directions of weights.
//! A task that several of another can replace at more value is left out. A search that grows too long is cut: what was
//! left unseen still bounds the value.

use super::packing::{Amounts, Packing, WIDTH, fits, less, size};
use super::patterns::Pattern;
use super::table::Table;

/// How one class is searched.
pub(super) struct Search<'a> {
    pub packing: &'a Packing,
    pub class: usize,
    /// What a task of each shape is worth.
    pub values: &'a [f64],
    /// Most tasks of each shape that count, if that is limited.
    pub limits: Option<&'a [u64]>,
    pub table: &'a Table,
    /// Contents worth no more than this are of no interest.
    pub threshold: f64,
    /// Nodes to look at.
    pub budget: u64,
}

/// What a search found.
pub(super) struct Found {
    /// Contents worth more than the threshold, the best last.
    pub patterns: Vec<Pattern>,
    /// No content is worth more.
    pub bound: f64,
    /// Whether the search was cut short.
    pub is_truncated: bool,
}

/// Contents of more tasks are not looked into.
const DEPTH: usize = 4_000;

/// Of one search at most these contents are kept.
const KEPT: usize = 6;

struct Item {
    shape: u32,
    demand: Amounts,
    value: f64,
    limit: u64,
}

struct Tree<'a> {
    items: Vec<Item>,
    table: &'a Table,
    directions: Vec<Direction>,
    best: f64,
    bests: Vec<Vec<u32>>,
    chosen: Vec<u32>,
    nodes: u64,
    budget: u64,
    unseen: f64,
}

/// Weights of the resources, and from each item on the best value per weighted size.
struct Direction {
    weights: [f64; WIDTH],
    best_after: Vec<f64>,
}

impl Search<'_> {
    pub fn run(&self) -> Found {
        let capacity = self.packing.classes[self.class].capacity;
        let mut items = self.items();
        let weights = directions(&capacity, self.packing.resources);
        let density = |item: &Item, weights: &[f64; WIDTH]| item.value / size(weights, &item.demand);
        // The direction that bounds the whole server best decides the order.
        let root = |weights: &[f64; WIDTH]| {
            items.iter().map(|item| density(item, weights)).fold(0.0, f64::max) * size(weights, &capacity)
        };
        let order = weights.iter().map(|w| (root(w), w)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, weights)) = order {
            items.sort_by(|a, b| density(b, weights).total_cmp(&density(a, weights)));
        }
        let directions = weights
            .iter()
            .map(|weights| {
                let mut best_after = vec![0.0; items.len() + 1];
                for (j, item) in items.iter().enumerate().rev() {
                    best_after[j] = density(item, weights).max(best_after[j + 1]);
                }
                Direction { weights: *weights, best_after }
            })
            .collect();
        let mut tree = Tree {
            items,
            table: self.table,
            directions,
            best: self.threshold,
            bests: Vec::new(),
            chosen: Vec::new(),
            nodes: 0,
            budget: self.budget,
            unseen: 0.0,
        };
        tree.grow(0, capacity, 0.0);
        let is_truncated = tree.unseen > tree.best;
        let kept = tree.bests.len().saturating_sub(KEPT);
        let patterns = tree.bests[kept..]
            .iter()
            .map(|chosen| {
                let shapes = chosen.iter().map(|item| tree.items[*item as usize].shape);
                Pattern::new(self.class, shapes)
            })
            .collect();
        Found { patterns, bound: tree.best.max(tree.unseen), is_truncated }
    }

    /// The tasks worth considering.
    fn items(&self) -> Vec<Item> {
        let n = self.packing.shapes.len();
        let usable: Vec<usize> = (0..n)
            .filter(|&s| {
                self.packing.shapes[s].copies[self.class] > 0
                    && self.values[s] > 0.0
                    && self.limits.is_none_or(|limits| limits[s] > 0)
            })
            .collect();
        let is_dominated = |i: usize| {
            usable.iter().any(|&j| {
                let copies = f64::from(self.packing.in_place[i * n + j]);
                let worth = copies * self.values[j];
                // Of two that replace each other the first stays.
                j != i
                    && copies > 0.0
                    && worth >= self.values[i]
                    && (worth > self.values[i] || self.packing.in_place[j * n + i] == 0 || j < i)
            })
        };
        let compared = self.limits.is_none() && !self.packing.in_place.is_empty();
        let kept = usable.iter().copied().filter(|&i| !compared || !is_dominated(i));
        kept.map(|s| Item {
            shape: s as u32,
            demand: self.packing.shapes[s].demand,
            value: self.values[s],
            limit: self.limits.map_or(u64::MAX, |limits| limits[s]),
        })
        .collect()
    }
}

impl Tree<'_> {
    /// Adds to what is chosen, worth `value`, tasks from item `start` on that fit in `room`.
    fn grow(&mut self, start: usize, room: Amounts, value: f64) {
        self.nodes += 1;
        if value > self.best {
            self.best = value;
            self.bests.push(self.chosen.clone());
        }
        let mut tightest: Option<(usize, f64, f64)> = None;
        for (k, direction) in self.directions.iter().enumerate() {
            // Sums of a few products: rounding stays far below the margin.
            let room = size(&direction.weights, &room) * (1.0 + 1e-12);
            let gain = direction.best_after[start] * room;
            // Without room for what it weighs, a direction that items weigh nothing in says nothing.
            if !gain.is_nan() && tightest.is_none_or(|(_, _, least)| gain < least) {
                tightest = Some((k, room, gain));
            }
        }
        let Some((k, space, _)) = tightest else { return };
        for j in start..self.items.len() {
            if value + (self.directions[k].best_after[j] * space).floor() <= self.best {
                return;
            }
            let item = &self.items[j];
            if !fits(&item.demand, &room) {
                continue;
            }
            let worth = value + item.value;
            let rest = less(&room, &item.demand);
            let bound = worth + self.table.bound(&rest);
            if bound <= self.best {
                continue;
            }
            if item.limit != u64::MAX {
                let taken = self.chosen.iter().rev().take_while(|other| **other == j as u32).count();
                if taken as u64 >= item.limit {
                    continue;
                }
            }
            if self.nodes >= self.budget || self.chosen.len() >= DEPTH {
                let least = self
                    .directions
                    .iter()
                    .map(|d| (d.best_after[j] * size(&d.weights, &rest) * (1.0 + 1e-12)).floor())
                    .fold(bound - worth, f64::min);
                self.unseen = self.unseen.max(worth + least);
                continue;
            }
            self.chosen.push(j as u32);
            self.grow(j, rest, worth);
            self.chosen.pop();
        }
    }
}

/// Weights that measure a server as 1 in sum: even ones, ones that lean to a resource, and ones for each alone.
pub(super) fn directions(capacity: &Amounts, resources: usize) -> Vec<[f64; WIDTH]> {
    let mut mixes: Vec<Vec<f64>> = Vec::new();
    if resources == 2 {
        for part in [0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0] {
            mixes.push(vec![part, 1.0 - part]);
        }
    } else {
        mixes.push(vec![1.0; resources]);
        for r in 0..resources {
            for (own, other) in [(1.0, 0.0), (2.0, 1.0), (4.0, 1.0), (1.0, 2.0), (0.0, 1.0)] {
                let mut mix = vec![other; resources];
                mix[r] = own;
                mixes.push(mix);
            }
        }
    }
    let weigh = |mix: Vec<f64>| {
        let mut weights = [0.0; WIDTH];
        for (r, part) in mix.iter().enumerate() {
            // A resource that the server lacks is not demanded by what fits on it.
            weights[r] = if capacity[r] > 0 { part / capacity[r] as f64 } else { 0.0 };
        }
        weights
    };
    mixes.into_iter().map(weigh).collect()
}
