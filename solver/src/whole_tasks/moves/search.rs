//! The best exchange on one server: which tasks leave, which others come into the room that they leave.
//!
//! With another task of user `i` worth `z_i` and a cost `c_i` of every task that leaves, an exchange gains
//! `Σ z_i added_i - Σ (c_i + z_i) removed_i`. Sets of tasks that leave are tried one after the other; what the others can be worth
//! is bounded by weighted sizes and a table, and searched for where the bounds leave it open. Values are whole numbers.

use super::super::packing::{Packing, Quantities, WIDTH, copies, directions, less, more, size, times};
use super::super::table::Table;
use super::cluster::{Exchange, Server};
use crate::tolerance::whole_tasks::OFF;

/// What tasks are worth and cost, in the same whole numbers.
pub(super) struct Prices<'a> {
    packing: &'a Packing,
    /// Of each user: what another task is worth, what one that leaves costs with what it is worth there; `None`: it stays.
    leaving: &'a [Option<u64>],
    classes: Vec<OfClass>,
    table: Table,
}

/// What can come to servers of a class, the densest first.
struct OfClass {
    items: Vec<Item>,
    directions: Vec<Direction>,
}

struct Item {
    user: u32,
    demand: Quantities,
    value: u64,
    limit: u64,
}

/// Weights of the resources, and from each item on the best value per weighted size.
struct Direction {
    weights: [f64; WIDTH],
    best_from: Vec<f64>,
}

/// What was found on a server.
#[derive(Default)]
pub(super) struct Found {
    /// No exchange gains more.
    pub bound: u64,
    /// The best exchange that gains more than the threshold, if one was found.
    pub best: Option<(u64, Exchange)>,
}

/// The next whole number above a value in doubles, rounding included.
fn above(value: f64) -> u64 {
    (value * (1.0 + OFF)).ceil() as u64
}

impl<'a> Prices<'a> {
    /// `limits` says how many tasks of a user may come to one server at most.
    pub fn new(
        packing: &'a Packing,
        values: &[u64],
        leaving: &'a [Option<u64>],
        limits: Option<&[u64]>,
    ) -> Self {
        let mut of_shape: Vec<Option<(u32, u64, u64)>> = vec![None; packing.shapes.len()];
        let mut items_of: Vec<(u32, usize, u64, u64)> = Vec::new();
        for (user, (value, shape)) in values.iter().zip(&packing.shape_of).enumerate() {
            let limit = limits.map_or(u64::MAX, |limits| limits[user]);
            let Some(shape) = shape.filter(|_| *value > 0 && limit > 0) else { continue };
            let shape = shape as usize;
            if limits.is_some() {
                items_of.push((user as u32, shape, *value, limit));
            } else if of_shape[shape].is_none_or(|(_, best, _)| best < *value) {
                // Of users with the same tasks only the one that is worth most matters.
                of_shape[shape] = Some((user as u32, *value, limit));
            }
        }
        let singles = of_shape.iter().enumerate();
        items_of
            .extend(singles.filter_map(|(s, best)| best.map(|(user, value, limit)| (user, s, value, limit))));
        let mut shape_values = vec![0.0f64; packing.shapes.len()];
        items_of.iter().for_each(|(_, s, value, _)| shape_values[*s] = shape_values[*s].max(*value as f64));
        let class = |l: usize| OfClass::new(packing, l, &items_of, limits.is_none());
        Self {
            packing,
            leaving,
            classes: (0..packing.classes.len()).map(class).collect(),
            table: Table::new(packing, &shape_values),
        }
    }

    /// The best exchange on a server that gains more than `threshold`, and what none gains more than. So many sets of leaving tasks and
    /// contents are looked at.
    pub fn search(&self, server: &Server, threshold: u64, most_nodes: u64) -> Found {
        let of_class = &self.classes[server.class];
        if of_class.items.is_empty() {
            return Found::default();
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        let stays = server.is_kept;
        for (user, count) in server.tasks.iter().filter(|_| !stays) {
            let (Some(price), Some(shape)) =
                (self.leaving[*user as usize], self.packing.shape_of[*user as usize])
            else {
                continue;
            };
            let demand = self.packing.shapes[shape as usize].demand;
            candidates.push(Candidate { user: *user, count: *count, demand, price });
        }
        // The cheapest first: what they cost tells soonest that nothing is gained.
        candidates.sort_by_key(|candidate| (candidate.price, candidate.user));
        let mut potentials = Vec::with_capacity(of_class.directions.len());
        for direction in &of_class.directions {
            let density = direction.best_from[0];
            let mut potential = vec![0.0; candidates.len() + 1];
            for (j, candidate) in candidates.iter().enumerate().rev() {
                let gain = density * size(&direction.weights, &candidate.demand) - candidate.price as f64;
                potential[j] = potential[j + 1] + gain.max(0.0) * candidate.count as f64;
            }
            potentials.push(potential);
        }
        let mut tree = Tree {
            of_class,
            table: &self.table,
            candidates,
            potentials,
            best: threshold,
            found: None,
            removed: Vec::new(),
            added: Vec::new(),
            nodes: 0,
            most_nodes,
            cut: 0,
        };
        tree.leave(0, server.free, 0);
        let bound = tree.best.max(tree.cut);
        Found { bound, best: tree.found.map(|exchange| (tree.best, exchange)) }
    }
}

impl OfClass {
    fn new(packing: &Packing, l: usize, all: &[(u32, usize, u64, u64)], drops_replaced: bool) -> Self {
        let runs = all.iter().filter(|(_, s, ..)| packing.shapes[*s].copies[l] > 0);
        let item = |(user, s, value, limit): &(u32, usize, u64, u64)| Item {
            user: *user,
            demand: packing.shapes[*s].demand,
            value: *value,
            limit: *limit,
        };
        let mut items: Vec<Item> = runs.map(item).collect();
        if drops_replaced {
            let replaces = |one: &Item, other: &Item| {
                copies(&one.demand, &other.demand).saturating_mul(one.value) >= other.value
            };
            let is_kept = |at: usize| {
                let item = &items[at];
                !items.iter().enumerate().any(|(other_at, other)| {
                    other_at != at && replaces(other, item) && (other_at < at || !replaces(item, other))
                })
            };
            let kept: Vec<bool> = (0..items.len()).map(is_kept).collect();
            let mut kept = kept.into_iter();
            items.retain(|_| kept.next().unwrap_or(true));
        }
        let weights = directions(&packing.classes[l].capacity, packing.resources);
        let density = |item: &Item, weights: &[f64; WIDTH]| item.value as f64 / size(weights, &item.demand);
        let even = weights.get(weights.len() / 2).copied().unwrap_or([1.0; WIDTH]);
        items.sort_by(|a, b| density(b, &even).total_cmp(&density(a, &even)).then(a.user.cmp(&b.user)));
        let directions = weights.into_iter().map(|weights| {
            let mut best_from = vec![0.0f64; items.len() + 1];
            for (j, item) in items.iter().enumerate().rev() {
                best_from[j] = density(item, &weights).max(best_from[j + 1]);
            }
            Direction { weights, best_from }
        });
        // Where a task takes nothing of what counts, a direction bounds nothing.
        let directions = directions.filter(|direction| direction.best_from[0].is_finite()).collect();
        Self { items, directions }
    }
}

/// A user with tasks on the server that may leave.
struct Candidate {
    user: u32,
    count: u64,
    demand: Quantities,
    price: u64,
}

struct Tree<'a> {
    of_class: &'a OfClass,
    table: &'a Table,
    candidates: Vec<Candidate>,
    /// For each direction and from each candidate on: what leaving can gain at most.
    potentials: Vec<Vec<f64>>,
    best: u64,
    found: Option<Exchange>,
    removed: Vec<(u32, u64)>,
    added: Vec<(u32, u64)>,
    nodes: u64,
    most_nodes: u64,
    /// The most that what was not looked at can gain.
    cut: u64,
}

impl Tree<'_> {
    /// Some tasks have left, at a cost; more of those from `start` on may. Whether bounds over all directions closed it at once.
    fn leave(&mut self, start: usize, room: Quantities, cost: u64) -> bool {
        self.nodes += 1;
        let directions = self.of_class.directions.iter().zip(&self.potentials);
        let with_more = directions.map(|(direction, potential)| {
            direction.best_from[0] * size(&direction.weights, &room) + potential[start]
        });
        let most = above(with_more.fold(f64::INFINITY, f64::min));
        if most <= cost.saturating_add(self.best) {
            return true;
        }
        if self.nodes > self.most_nodes {
            self.cut = self.cut.max(most - cost);
            return false;
        }
        let in_table = above(self.table.bound(&room));
        if in_table > cost.saturating_add(self.best) {
            self.come(0, &room, 0, cost, in_table);
        }
        for j in start..self.candidates.len() {
            let Candidate { user, count, demand, price } = self.candidates[j];
            for leaving in 1..=count {
                let cost = cost.saturating_add(price.saturating_mul(leaving));
                self.removed.push((user, leaving));
                let is_closed = self.leave(j + 1, more(&room, &times(&demand, leaving)), cost);
                self.removed.pop();
                // Where nothing is gained by more of the same, in any direction, more cost more.
                if is_closed && !self.can_gain(j) {
                    break;
                }
            }
        }
        false
    }

    /// Whether what more tasks of a candidate leave can be worth more than they cost, in some direction.
    fn can_gain(&self, j: usize) -> bool {
        self.potentials.iter().any(|potential| potential[j] > potential[j + 1])
    }

    /// Tasks from `start` on come into the room, beside others worth `worth`.
    fn come(&mut self, start: usize, room: &Quantities, worth: u64, cost: u64, in_table: u64) {
        self.nodes += 1;
        let of_class = self.of_class;
        for j in start..of_class.items.len() {
            let directions = of_class.directions.iter();
            let bounds = directions.map(|direction| direction.best_from[j] * size(&direction.weights, room));
            let most = worth.saturating_add(above(bounds.fold(f64::INFINITY, f64::min))).min(in_table);
            if most <= cost.saturating_add(self.best) {
                return;
            }
            let item = &of_class.items[j];
            for count in (1..=copies(&item.demand, room).min(item.limit)).rev() {
                if self.nodes > self.most_nodes {
                    self.cut = self.cut.max(most - cost);
                    return;
                }
                let worth = worth.saturating_add(item.value.saturating_mul(count));
                self.added.push((item.user, count));
                if worth > cost.saturating_add(self.best) {
                    self.best = worth - cost;
                    self.found = Some(Exchange { removed: self.removed.clone(), added: self.added.clone() });
                }
                self.come(j + 1, &less(room, &times(&item.demand, count)), worth, cost, in_table);
                self.added.pop();
            }
        }
    }
}
