//! The most valuable content of one server: a knapsack of counts of tasks, by branch and bound.
//!
//! Values are whole numbers below 2^53 in doubles, so sums are exact. A node decides how many of the best task left there
//! are, the most first. It is bounded by a table over the room that is left ([`Table`]) and by the best value per weighted
//! size among the tasks still allowed, over some directions of weights and the one that is tightest for the server. A task
//! that several of another can replace at more value is left out. What a search leaves unseen, because it could hardly be
//! worth more or because it grew too long, still bounds the value. Contents that break a rule inside the server are passed over with
//! all that hold more.

use super::packing::{Packing, Quantities, Shape, WIDTH, copies, directions, fits, less, size, times};
use super::patterns::Pattern;
use super::table::Table;
use crate::tolerance::whole_tasks::SIZES;
use fairplan_instances::Deadline;

/// How one class is searched.
pub(super) struct Search<'a> {
    pub packing: &'a Packing,
    pub class: usize,
    /// What a task of each shape is worth.
    pub values: &'a [f64],
    /// Most tasks of each shape that count, if that is limited.
    pub limits: Option<&'a [u64]>,
    /// Contents worth no more than this are of no interest.
    pub threshold: f64,
    /// By so much more they are not looked for either.
    pub slack: f64,
    /// Nodes to look at.
    pub budget: u64,
    /// Contents to keep at most; each first task gets at least this part of the nodes.
    pub kept: usize,
    /// When time is over, no more nodes are looked at.
    pub stop: &'a Deadline,
}

/// What a search found.
pub(super) struct Found {
    /// Contents worth more than the threshold, the best of each first task.
    pub patterns: Vec<Pattern>,
    /// No content is worth more.
    pub bound: f64,
    /// Whether the search was cut short.
    pub is_truncated: bool,
}

/// Counts of a task after which is asked whether time is over.
const BETWEEN_STOPS: u64 = 4_096;

/// Counts that are looked at for each node of the budget, at most: most of them take far fewer.
const COUNTS: u64 = 256;

/// Directions that are asked beside the tightest where devices make further rows.
const DIRECTIONS: usize = 8;

/// Contents of more kinds of tasks are not looked into.
const DEPTH: usize = 1_000;

struct Item {
    shape: u32,
    demand: Quantities,
    value: f64,
    limit: u64,
}

struct Tree<'a> {
    packing: &'a Packing,
    class: usize,
    items: Vec<Item>,
    table: &'a Table,
    directions: Vec<Direction>,
    best: f64,
    best_content: Vec<(u32, u64)>,
    /// All that is worth more than the threshold, where it is asked for: then the best is not looked for.
    all: Option<Listed>,
    slack: f64,
    chosen: Vec<(u32, u64)>,
    nodes: u64,
    /// Nodes to look at for the present first task, and in all.
    budget: u64,
    most_nodes: u64,
    stop: &'a Deadline,
    /// Counts looked at, and whether time is over or they have become too many for the nodes.
    counts: u64,
    is_stopped: bool,
    /// The most that contents not looked into can be worth: hardly more than the best, or cut off.
    passed: f64,
    cut: f64,
}

/// Contents, and how many at most.
struct Listed {
    contents: Vec<Vec<(u32, u64)>>,
    most: usize,
}

/// Weights of the resources, and from each item on the best value per weighted size.
struct Direction {
    weights: [f64; WIDTH],
    best_after: Vec<f64>,
}

/// The room that is left, measured in a direction.
#[derive(Clone, Copy)]
struct Space {
    direction: usize,
    size: f64,
}

fn density(item: &Item, weights: &[f64; WIDTH]) -> f64 {
    item.value / size(weights, &item.demand)
}

impl Search<'_> {
    /// Searches, with a table of what fits in any room at these values.
    pub fn run(&self, table: &Table) -> Found {
        let capacity = self.packing.classes[self.class].capacity;
        let mut tree = self.tree(table);
        // What tasks that can be divided would be worth.
        let divisible = tree.gain(0, tree.tightest(0, &capacity));
        let mut found: Vec<(f64, Pattern)> = Vec::new();
        for first in 0..tree.items.len() {
            let left = self.budget.saturating_sub(tree.nodes);
            tree.budget = tree.nodes + left.min((self.budget / self.kept as u64).max(1));
            tree.best = self.threshold;
            let space = tree.tightest(first, &capacity);
            if !tree.choose(first, &capacity, 0.0, space) {
                break;
            }
            if tree.best > self.threshold {
                let shape = |(item, count): &(u32, u64)| (tree.items[*item as usize].shape, *count);
                found.push((tree.best, Pattern::new(self.class, tree.best_content.iter().map(shape))));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = found.first().map_or(self.threshold, |found| found.0);
        found.truncate(self.kept);
        Found {
            patterns: found.into_iter().map(|(_, pattern)| pattern).collect(),
            bound: best.max(tree.passed).max(tree.cut).min(divisible),
            is_truncated: tree.cut.min(divisible) > best + self.slack,
        }
    }

    /// All contents worth more than the threshold, but for tasks in whose place others fit that are worth as much; `None` if they are more
    /// than are kept or were not all found.
    pub fn all(&self, table: &Table) -> Option<Vec<Pattern>> {
        let capacity = self.packing.classes[self.class].capacity;
        let mut tree = self.tree(table);
        tree.budget = self.budget;
        tree.all = Some(Listed { contents: Vec::new(), most: self.kept });
        tree.grow(0, &capacity, 0.0);
        let Listed { contents, most } = tree.all.take()?;
        let is_all = tree.cut == 0.0 && !tree.is_stopped && contents.len() <= most;
        let shape = |(item, count): &(u32, u64)| (tree.items[*item as usize].shape, *count);
        let pattern = |content: &Vec<(u32, u64)>| Pattern::new(self.class, content.iter().map(shape));
        is_all.then(|| contents.iter().map(pattern).collect())
    }

    fn tree<'b>(&'b self, table: &'b Table) -> Tree<'b> {
        let capacity = self.packing.classes[self.class].capacity;
        let mut items = self.items();
        let mut weights = directions(&capacity, self.packing.resources);
        // The direction that bounds the whole server best decides the order.
        let tightest = tightest(&items, &capacity, &weights);
        if self.packing.has_rules {
            // Rows that devices make come with many directions, most of which never bound anything.
            let bound = |weights: &[f64; WIDTH]| {
                let best = items.iter().map(|item| density(item, weights)).fold(0.0, f64::max);
                if best.is_finite() { best * size(weights, &capacity) } else { f64::INFINITY }
            };
            weights.sort_by(|a, b| bound(a).total_cmp(&bound(b)));
            weights.truncate(DIRECTIONS);
        }
        items.sort_by(|a, b| density(b, &tightest).total_cmp(&density(a, &tightest)));
        weights.push(tightest);
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
        Tree {
            packing: self.packing,
            class: self.class,
            items,
            table,
            directions,
            best: self.threshold,
            best_content: Vec::new(),
            all: None,
            slack: self.slack,
            chosen: Vec::new(),
            nodes: 0,
            budget: 0,
            most_nodes: self.budget,
            stop: self.stop,
            counts: 0,
            is_stopped: self.stop.is_over(),
            passed: 0.0,
            cut: 0.0,
        }
    }

    /// What is known without a search: what tasks that can be divided would be worth.
    pub fn unsearched(&self) -> Found {
        let class = &self.packing.classes[self.class];
        let usable = self.packing.shapes.iter().zip(self.values).filter(|(s, _)| s.copies[self.class] > 0);
        let bound = |weights: &[f64; WIDTH]| {
            let dense = |(shape, value): (&Shape, &f64)| match value {
                value if *value > 0.0 => value / size(weights, &shape.demand),
                _ => 0.0,
            };
            let densest = usable.clone().map(dense).fold(0.0, f64::max);
            (densest * (size(weights, &class.capacity) * SIZES)).floor()
        };
        let weights = directions(&class.capacity, self.packing.resources);
        let bounds = weights.iter().map(bound).filter(|bound| !bound.is_nan());
        Found { patterns: Vec::new(), bound: bounds.fold(f64::INFINITY, f64::min), is_truncated: true }
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
            limit: self.limits.map_or(u64::MAX, |limits| limits[s]).min(self.packing.shapes[s].most),
        })
        .collect()
    }
}

impl Tree<'_> {
    /// Adds to what is chosen, worth `value`, tasks from item `start` on that fit in `room`.
    fn grow(&mut self, start: usize, room: &Quantities, value: f64) {
        self.nodes += 1;
        if value > self.best {
            match &mut self.all {
                None => {
                    self.best = value;
                    self.best_content.clone_from(&self.chosen);
                }
                Some(Listed { contents, most }) => {
                    contents.push(self.chosen.clone());
                    self.is_stopped |= contents.len() > *most;
                }
            }
        }
        let space = self.tightest(start, room);
        for j in start..self.items.len() {
            if !self.choose(j, room, value, space) {
                return;
            }
        }
    }

    /// The direction that bounds items from `start` on best in `room`, and the size of the room in it.
    fn tightest(&self, start: usize, room: &Quantities) -> Space {
        let mut tightest = (0, f64::INFINITY, f64::INFINITY);
        for (k, direction) in self.directions.iter().enumerate() {
            // Sums of a few products: rounding stays far below the margin.
            let space = size(&direction.weights, room) * SIZES;
            let gain = direction.best_after[start] * space;
            // Without room for what it weighs, a direction that items weigh nothing in says nothing.
            if !gain.is_nan() && gain < tightest.2 {
                tightest = (k, space, gain);
            }
        }
        Space { direction: tightest.0, size: tightest.1 }
    }

    /// What items from `start` on are worth at most in the space of a direction.
    fn gain(&self, start: usize, Space { direction, size }: Space) -> f64 {
        let gain = (self.directions[direction].best_after[start] * size).floor();
        if gain.is_nan() { f64::INFINITY } else { gain }
    }

    /// Whether what is chosen keeps the rules inside the server, as it did before the last of it.
    fn keeps_rules(&self) -> Option<bool> {
        let devices = &self.packing.classes[self.class].devices;
        let last = self.chosen.last().map(|(item, _)| &self.items[*item as usize].demand);
        // Limits of items are kept already.
        if last.is_none_or(|demand| devices.iter().all(|devices| demand[devices.make.resource] == 0)) {
            return Some(true);
        }
        let shape = |(item, count): &(u32, u64)| (self.items[*item as usize].shape as usize, *count);
        self.packing.keeps_rules(self.class, self.chosen.iter().map(shape))
    }

    /// Adds tasks of item `j`, and of later ones. Returns whether contents from `j` on can be worth it at all.
    fn choose(&mut self, j: usize, room: &Quantities, value: f64, space: Space) -> bool {
        let most = value + self.gain(j, space);
        if most <= self.best + self.slack {
            self.passed = self.passed.max(most);
            return false;
        }
        let item = &self.items[j];
        if !fits(&item.demand, room) {
            return true;
        }
        let (demand, each, limit) = (item.demand, item.value, item.limit);
        let mut count = limit.min(copies(&demand, room));
        while count > 0 {
            self.counts += 1;
            if self.counts.is_multiple_of(BETWEEN_STOPS) {
                self.is_stopped |= self.stop.is_over() || self.counts / COUNTS > self.most_nodes;
            }
            if self.is_stopped {
                self.cut = self.cut.max(most.min(value + self.table.bound(room)));
                return true;
            }
            let worth = value + each * count as f64;
            let rest = less(room, &times(&demand, count));
            // The direction of the whole room is tried first: it is often enough.
            let in_it = size(&self.directions[space.direction].weights, &rest) * SIZES;
            let mut by_size = worth + self.gain(j + 1, Space { size: in_it, ..space });
            let mut bound = by_size;
            let mut direction = space.direction;
            if by_size > self.best + self.slack {
                bound = worth + self.table.bound(&rest);
            }
            if bound > self.best + self.slack {
                let tightest = self.tightest(j + 1, &rest);
                direction = tightest.direction;
                by_size = worth + self.gain(j + 1, tightest);
                bound = by_size.min(bound);
            }
            let enough = self.best + self.slack;
            if bound <= enough && worth <= self.best {
                self.passed = self.passed.max(bound);
                if by_size <= enough {
                    // In this direction, what fewer of them gain for each.
                    let direction = &self.directions[direction];
                    let gain = direction.best_after[j + 1] * size(&direction.weights, &demand) - each;
                    if gain <= 0.0 {
                        break;
                    }
                    let fewer = (((enough - by_size) / gain) as u64).min(count);
                    self.passed = self.passed.max(if fewer > 0 { enough } else { 0.0 });
                    count -= fewer;
                }
            } else if self.nodes >= self.budget || self.chosen.len() >= DEPTH {
                self.cut = self.cut.max(most.min(value + self.table.bound(room)));
                return true;
            } else {
                self.chosen.push((j as u32, count));
                match self.keeps_rules() {
                    Some(true) => self.grow(j + 1, &rest, worth),
                    Some(false) => {}
                    None => self.cut = self.cut.max(bound),
                }
                self.chosen.pop();
            }
            count = count.saturating_sub(1);
        }
        true
    }
}

/// The weights that bound a whole server best: the bound is convex in them, so it falls between two resources at a time.
fn tightest(items: &[Item], capacity: &Quantities, known: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let bound = |weights: &[f64; WIDTH]| {
        let best = items.iter().map(|item| density(item, weights)).fold(0.0, f64::max);
        best * size(weights, capacity)
    };
    let least = |a: &[f64; WIDTH], b: &[f64; WIDTH]| bound(a).total_cmp(&bound(b));
    let mut weights = known.iter().copied().min_by(least).unwrap_or([0.0; WIDTH]);
    let resources: Vec<usize> = (0..WIDTH).filter(|&r| capacity[r] > 0).collect();
    for r in &resources {
        for s in resources.iter().filter(|s| *s > r) {
            let (of_r, of_s) = (capacity[*r] as f64, capacity[*s] as f64);
            let both = weights[*r] * of_r + weights[*s] * of_s;
            let with = |part: f64| {
                let mut weights = weights;
                (weights[*r], weights[*s]) = (both * part / of_r, both * (1.0 - part) / of_s);
                weights
            };
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let third = (high - low) / 3.0;
                let is_lower = least(&with(low + third), &with(high - third)).is_lt();
                if is_lower { high -= third } else { low += third }
            }
            let between = with(0.5 * (low + high));
            if bound(&between) < bound(&weights) {
                weights = between;
            }
        }
    }
    weights
}
