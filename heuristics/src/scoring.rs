//! Rules that give each server a cost and take the least: the search for it.

use crate::packing::{Packing, fits, resized};
use crate::rule::Rule;
use crate::states::{States, groups};
use crate::tolerance::COST;
use crate::tree::{Search, Tree};
use fairplan_instances::ServerChoice;
use std::cmp::Ordering;
use std::ops::Range;

/// How well free resources suit a task. Servers are seen as points: some coordinates that the cost depends on,
/// followed by what is free of each resource, all as doubles.
pub(crate) trait Score {
    /// Takes note of a capacity that a server may have.
    fn add_capacity(&mut self, _capacity: &[u128]) {}

    /// Takes note of the demand of one more shape.
    fn add_shape(&mut self, demand: &[u128]);

    /// From how many sides servers are looked at, each with its own coordinates.
    fn views(&self) -> usize {
        1
    }

    /// The view from which the tasks of a shape look.
    fn view(&self, _shape: usize) -> usize {
        0
    }

    /// Appends the coordinates of a server in a view, always as many; `false` when no task that looks from
    /// there has room on it.
    fn coordinates(&self, _view: usize, _free: &[f64], _point: &mut Vec<f64>) -> bool {
        true
    }

    /// The cost of a server, the lower the better. Its error is at most `COST · (offset + |cost|)`.
    fn cost(&self, shape: usize, point: &[f64]) -> f64;

    /// See [`Score::cost`].
    fn offset(&self, _shape: usize) -> f64 {
        0.0
    }

    /// A lower bound of the cost at all points of a box, with the same error.
    fn bound(&self, shape: usize, low: &[f64], high: &[f64]) -> f64;

    /// Compares the costs of two servers with room for a task of this shape and demand exactly.
    fn compare(&self, shape: usize, demand: &[u128], a: &[u128], b: &[u128]) -> Ordering;
}

/// Takes the server of least cost; ties go to the lowest index.
pub(crate) struct LeastCost<S> {
    width: usize,
    score: S,
    states: States,
    /// The states that may still take a task: of each group of classes a tree for each view.
    trees: Vec<Vec<Tree>>,
    /// The groups of classes that each shape may run on.
    groups_of: Vec<Vec<u32>>,
    /// The group of each class.
    group_of: Vec<u32>,
    /// Each shape's demand, and the same as doubles; row-major.
    demands: Vec<u128>,
    demands_nearly: Vec<f64>,
    /// The least that any task needs of each resource: servers with less are full.
    least: Vec<u128>,
    left: Vec<u128>,
    free: Vec<f64>,
    point: Vec<f64>,
    pending: Vec<(f64, usize)>,
}

impl<S: Score> LeastCost<S> {
    /// No servers and no tasks yet.
    pub fn empty(width: usize, score: S) -> Self {
        Self {
            width,
            score,
            states: States::empty(width),
            trees: vec![Vec::new()],
            groups_of: Vec::new(),
            group_of: Vec::new(),
            demands: Vec::new(),
            demands_nearly: Vec::new(),
            least: vec![0; width],
            left: Vec::new(),
            free: Vec::new(),
            point: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The servers and tasks of an instance.
    pub fn new(packing: &Packing, mut score: S) -> Self {
        packing.classes.iter().for_each(|class| score.add_capacity(&class.capacity));
        let group_of = groups(packing);
        let least = |r: usize| packing.shapes.iter().map(|shape| shape.demand[r]).min().unwrap_or(0);
        let count = group_of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut rule = Self {
            states: States::new(packing, &group_of),
            trees: (0..count).map(|_| Vec::new()).collect(),
            least: (0..packing.width).map(least).collect(),
            ..Self::empty(packing.width, score)
        };
        for shape in &packing.shapes {
            let groups = groups_of_classes(&group_of, &shape.classes);
            rule.add_shape_for(&shape.demand, groups);
        }
        rule.group_of = group_of;
        rule
    }

    /// Adds a kind of tasks that may run on these groups of classes.
    fn add_shape_for(&mut self, demand: &[u128], groups: Vec<u32>) {
        self.score.add_shape(demand);
        self.groups_of.push(groups);
        self.demands.extend_from_slice(demand);
        self.demands_nearly.extend(demand.iter().map(|amount| *amount as f64));
        // A first look from a new side sees all servers.
        for view in self.trees.first().map_or(0, Vec::len)..self.score.views() {
            self.point.clear();
            self.score.coordinates(view, &vec![1.0; self.width], &mut self.point);
            let leading = self.point.len();
            for trees in &mut self.trees {
                trees.push(Tree::new(leading, leading + self.width));
            }
            for state in self.states.in_use() {
                self.arrange(state, view..view + 1, Tree::insert);
            }
        }
    }

    /// Puts a state into its trees, or takes it out of them.
    fn arrange(&mut self, state: usize, views: Range<usize>, change: fn(&mut Tree, u32, &[f64])) {
        if !fits(&self.least, self.states.free(state)) {
            return;
        }
        self.free.clear();
        self.free.extend(self.states.free(state).iter().map(|amount| *amount as f64));
        let group = self.states.group(state) as usize;
        for view in views {
            self.point.clear();
            if self.score.coordinates(view, &self.free, &mut self.point) {
                self.point.extend_from_slice(&self.free);
                change(&mut self.trees[group][view], state as u32, &self.point);
            }
        }
    }

    /// Moves a server to the state in which `left` is free.
    fn move_to_left(&mut self, server: u32) {
        let state = self.states.state_of(server);
        let group = self.states.group(state);
        let views = 0..self.trees[group as usize].len();
        if self.states.has_one(state) {
            self.arrange(state, views.clone(), Tree::remove);
        }
        self.states.remove(server);
        if let Some(new) = self.states.put(group, &self.left, server) {
            self.arrange(new, views, Tree::insert);
        }
    }

    /// What a server has free.
    fn free(&self, server: usize) -> &[u128] {
        self.states.free(self.states.state_of(server as u32))
    }
}

/// The groups that classes are in.
fn groups_of_classes(group_of: &[u32], classes: &[usize]) -> Vec<u32> {
    let mut groups: Vec<u32> = classes.iter().map(|class| group_of[*class]).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

impl<S: Score> Rule for LeastCost<S> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let mut search = Cheapest {
            score: &self.score,
            states: &self.states,
            shape,
            demand,
            demand_nearly: &self.demands_nearly[shape * self.width..(shape + 1) * self.width],
            offset: 2.0 * self.score.offset(shape),
            best: None,
        };
        let view = self.score.view(shape);
        for group in &self.groups_of[shape] {
            self.trees[*group as usize][view].search(&mut self.pending, &mut search);
        }
        let (_, state) = search.best?;
        let server = self.states.first(state);
        self.left.clear();
        self.left.extend(self.states.free(state).iter().zip(demand).map(|(free, demand)| free - demand));
        self.move_to_left(server);
        Some(server as usize)
    }

    fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        let state = self.states.state_of(server as u32);
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let freed = self.states.free(state).iter().zip(demand);
        self.left = freed.map(|(free, demand)| free + demand * u128::from(count)).collect();
        self.move_to_left(server as u32);
    }

    fn allow(&mut self, _packing: &Packing, shape: usize, classes: &[usize]) {
        self.groups_of[shape] = groups_of_classes(&self.group_of, classes);
    }

    /// Only where no other server of those that the shape may run on is left.
    fn sure(&mut self, shape: usize) -> Option<usize> {
        let groups = &self.groups_of[shape];
        let is_left = |state: &usize| {
            groups.binary_search(&self.states.group(*state)).is_ok()
                && fits(&self.least, self.states.free(*state))
        };
        let mut left = self.states.in_use().into_iter().filter(is_left);
        let state = left.next()?;
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let is_only = left.next().is_none() && self.states.has_one(state);
        (is_only && fits(demand, self.states.free(state))).then(|| self.states.first(state) as usize)
    }

    fn free(&self, server: usize) -> &[u128] {
        LeastCost::free(self, server)
    }

    fn take_many(&mut self, server: usize, shape: usize, count: u64) {
        let state = self.states.state_of(server as u32);
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let left = self.states.free(state).iter().zip(demand);
        let left: Vec<u128> = left.map(|(free, demand)| free - demand * u128::from(count)).collect();
        self.left = left;
        self.move_to_left(server as u32);
    }
}

impl<S: Score + Send> ServerChoice for LeastCost<S> {
    fn add_server(&mut self, capacity: &[u128]) {
        self.score.add_capacity(capacity);
        let server = self.states.servers() as u32;
        if let Some(new) = self.states.put(0, capacity, server) {
            let views = 0..self.trees[0].len();
            self.arrange(new, views, Tree::insert);
        }
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        let Some(left) = resized(self.free(server), from, to) else { return false };
        self.left = left;
        self.score.add_capacity(to);
        self.move_to_left(server as u32);
        true
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.add_shape_for(demand, vec![0]);
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        Rule::take(self, shape)
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        let state = self.states.state_of(server as u32);
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let has_room = fits(demand, self.states.free(state));
        if has_room {
            self.left.clear();
            self.left.extend(self.states.free(state).iter().zip(demand).map(|(free, demand)| free - demand));
            self.move_to_left(server as u32);
        }
        has_room
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.take_back(server, shape, 1);
    }
}

/// The search for the least cost among the servers with room for one task.
struct Cheapest<'a, S> {
    score: &'a S,
    states: &'a States,
    shape: usize,
    demand: &'a [u128],
    demand_nearly: &'a [f64],
    offset: f64,
    /// The least cost so far and its state.
    best: Option<(f64, usize)>,
}

impl<S: Score> Cheapest<'_, S> {
    /// By how much two costs as doubles may be apart while equal in truth.
    fn error(&self, a: f64, b: f64) -> f64 {
        COST * (self.offset + a.abs() + b.abs())
    }

    /// What is free at a point or at the upper corner of a box beside what the task needs. Rounding keeps the
    /// order of amounts: more as a double is more in truth.
    fn room<'b>(&'b self, point: &'b [f64]) -> impl Iterator<Item = (&'b f64, &'b f64)> {
        self.demand_nearly.iter().zip(&point[point.len() - self.demand.len()..])
    }

    fn has_room(&self, state: u32, point: &[f64]) -> bool {
        self.room(point).all(|(demand, free)| demand < free)
            || (self.room(point).all(|(demand, free)| demand <= free)
                && fits(self.demand, self.states.free(state as usize)))
    }
}

impl<S: Score> Search for Cheapest<'_, S> {
    fn bound(&self, low: &[f64], high: &[f64]) -> f64 {
        if self.room(high).any(|(demand, free)| demand > free) {
            return f64::INFINITY;
        }
        self.score.bound(self.shape, low, high)
    }

    fn may_improve(&self, bound: f64) -> bool {
        self.best.is_none_or(|(least, ..)| bound - least <= self.error(bound, least))
    }

    fn visit(&mut self, state: u32, point: &[f64]) {
        let cost = self.score.cost(self.shape, point);
        if !self.may_improve(cost) || !self.has_room(state, point) {
            return;
        }
        let state = state as usize;
        if let Some((least, other)) = self.best
            && least - cost <= self.error(cost, least)
        {
            let (a, b) = (self.states.free(state), self.states.free(other));
            let order = self.score.compare(self.shape, self.demand, a, b);
            if order.then_with(|| self.states.first(state).cmp(&self.states.first(other))).is_gt() {
                return;
            }
        }
        self.best = Some((cost, state));
    }
}
