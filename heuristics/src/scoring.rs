//! Rules that give each server a cost and take the least: the search for it.

use crate::filling::Rule;
use crate::packing::{Packing, fits};
use crate::states::{States, groups};
use crate::tree::{Search, Tree};
use std::cmp::Ordering;

/// How well free resources suit a task. Servers are seen as points: some coordinates that the cost depends on,
/// followed by what is free of each resource, all as doubles.
pub(crate) trait Score {
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

    /// The cost of a server, the lower the better. Its error is at most `UNCERTAIN · (offset + |cost|)`.
    fn cost(&self, shape: usize, point: &[f64]) -> f64;

    /// See [`Score::cost`].
    fn offset(&self, _shape: usize) -> f64 {
        0.0
    }

    /// A lower bound of the cost at all points of a box, with the same error.
    fn bound(&self, shape: usize, low: &[f64], high: &[f64]) -> f64;

    /// Compares the costs of two servers with room exactly.
    fn compare(&self, shape: usize, a: &[u128], b: &[u128]) -> Ordering;
}

/// Bound on the relative error of costs: each is a sum over resources of a few roundings.
const UNCERTAIN: f64 = 1e-12;

/// Takes the server of least cost; ties go to the lowest index.
pub(crate) struct LeastCost<'a, S> {
    packing: &'a Packing,
    score: S,
    states: States,
    /// The states that may still take a task: a tree for each group of classes and view.
    trees: Vec<Tree>,
    /// The groups of classes that each shape may run on.
    groups_of: Vec<Vec<u32>>,
    /// Each shape's demand as doubles.
    demands: Vec<Vec<f64>>,
    /// The least that any task needs of each resource: servers with less are full.
    least: Vec<u128>,
    left: Vec<u128>,
    free: Vec<f64>,
    point: Vec<f64>,
    pending: Vec<(f64, usize)>,
}

impl<'a, S: Score> LeastCost<'a, S> {
    pub fn new(packing: &'a Packing, score: S) -> Self {
        let group_of = groups(packing);
        let groups_of = packing.shapes.iter().map(|shape| {
            let mut groups: Vec<u32> = shape.classes.iter().map(|&class| group_of[class]).collect();
            groups.sort_unstable();
            groups.dedup();
            groups
        });
        let nearly = |amounts: &Vec<u128>| amounts.iter().map(|amount| *amount as f64).collect();
        let least = |r: usize| packing.shapes.iter().map(|shape| shape.demand[r]).min().unwrap_or(0);
        let mut rule = Self {
            packing,
            score,
            states: States::new(packing, &group_of),
            trees: Vec::new(),
            groups_of: groups_of.collect(),
            demands: packing.shapes.iter().map(|shape| nearly(&shape.demand)).collect(),
            least: (0..packing.width).map(least).collect(),
            left: Vec::new(),
            free: Vec::new(),
            point: Vec::new(),
            pending: Vec::new(),
        };
        let count = group_of.iter().max().map_or(0, |most| *most as usize + 1);
        for _ in 0..count {
            for view in 0..rule.score.views() {
                rule.point.clear();
                rule.score.coordinates(view, &vec![1.0; packing.width], &mut rule.point);
                let leading = rule.point.len();
                rule.trees.push(Tree::new(leading, leading + packing.width));
            }
        }
        (0..rule.states.len()).for_each(|state| rule.arrange(state, Tree::insert));
        rule
    }

    /// Puts a state into its trees, or takes it out of them.
    fn arrange(&mut self, state: usize, change: fn(&mut Tree, u32, &[f64])) {
        if !fits(&self.least, self.states.free(state)) {
            return;
        }
        self.free.clear();
        self.free.extend(self.states.free(state).iter().map(|amount| *amount as f64));
        let views = self.score.views();
        let first = self.states.group(state) as usize * views;
        for (view, tree) in self.trees[first..first + views].iter_mut().enumerate() {
            self.point.clear();
            if self.score.coordinates(view, &self.free, &mut self.point) {
                self.point.extend_from_slice(&self.free);
                change(tree, state as u32, &self.point);
            }
        }
    }
}

impl<S: Score> Rule for LeastCost<'_, S> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.packing.shapes[shape].demand;
        let mut search = Cheapest {
            score: &self.score,
            states: &self.states,
            shape,
            demand,
            demand_nearly: &self.demands[shape],
            offset: 2.0 * self.score.offset(shape),
            best: None,
        };
        let (view, views) = (self.score.view(shape), self.score.views());
        for group in &self.groups_of[shape] {
            self.trees[*group as usize * views + view].search(&mut self.pending, &mut search);
        }
        let (_, state) = search.best?;
        let (group, server) = (self.states.group(state), self.states.first(state));
        self.left.clear();
        self.left.extend(self.states.free(state).iter().zip(demand).map(|(free, demand)| free - demand));
        if self.states.has_one(state) {
            self.arrange(state, Tree::remove);
        }
        self.states.take_first(state);
        if let Some(new) = self.states.put(group, &self.left, server) {
            self.arrange(new, Tree::insert);
        }
        Some(server as usize)
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
        UNCERTAIN * (self.offset + a.abs() + b.abs())
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
            let order = self.score.compare(self.shape, a, b);
            if order.then_with(|| self.states.first(state).cmp(&self.states.first(other))).is_gt() {
                return;
            }
        }
        self.best = Some((cost, state));
    }
}
