//! An upper bound on what fits in any room: an unbounded knapsack over two resources on a grid, tasks rounded down.

use super::packing::{Packing, Quantities, WIDTH, directions, size};
use crate::tolerance::whole_tasks::SIZES;

/// The most value for every amount of two resources, in steps of the grid.
pub(super) struct Table {
    /// The two resources, and how many of its units make a step.
    axes: [(usize, u64); 2],
    columns: usize,
    /// Row-major.
    most: Vec<f64>,
    /// What tasks smaller than a step can be worth beside the entries.
    margin: f64,
    /// Tasks that take nothing along either axis count apart: weights, and the best value per weighted size.
    left_out: Vec<([f64; WIDTH], f64)>,
}

/// Steps along each axis.
const STEPS: u64 = 256;

impl Table {
    /// For tasks worth `values`, on servers of any class.
    pub fn new(packing: &Packing, values: &[f64]) -> Self {
        // The two resources that the tasks weigh on most.
        let load = |r: usize| -> f64 {
            let parts =
                packing.shapes.iter().map(|shape| shape.demand[r] as f64 / packing.largest(r).max(1) as f64);
            parts.sum()
        };
        let mut axes: Vec<usize> = (0..packing.resources).collect();
        axes.sort_by(|a, b| load(*b).total_cmp(&load(*a)));
        let axis = |position: usize| {
            let r = axes.get(position).copied().unwrap_or(0);
            (r, packing.largest(r).div_ceil(STEPS).max(1))
        };
        let axes = [axis(0), axis(1)];
        let last = |(r, step): (usize, u64)| (packing.largest(r) / step) as usize;
        let one_axis = packing.resources == 1;
        let (rows, columns) = (last(axes[0]) + 1, if one_axis { 1 } else { last(axes[1]) + 1 });
        let n = packing.shapes.len();
        let compared = if packing.in_place.is_empty() { 0 } else { n };
        let is_dominated = |i: usize| {
            (0..compared).any(|j| {
                let copies = packing.in_place.get(i * n + j).map_or(0.0, |copies| f64::from(*copies));
                copies > 0.0 && copies * values[j] > values[i]
            })
        };
        let mut largest_room = Quantities::default();
        (0..packing.resources).for_each(|r| largest_room[r] = packing.largest(r));
        let weights = directions(&largest_room, packing.resources);
        let mut left_out: Vec<([f64; WIDTH], f64)> = weights.into_iter().map(|w| (w, 0.0)).collect();
        let mut has_left_out = false;
        let mut grid = Grid { most: vec![0.0f64; rows * columns], rows, columns };
        let mut small: Vec<([f64; 2], f64)> = Vec::new();
        for s in (0..n).filter(|&s| values[s] > 0.0 && !is_dominated(s)) {
            let demand = |(r, _): (usize, u64)| packing.shapes[s].demand[r];
            let (down, across) = (demand(axes[0]), if one_axis { 0 } else { demand(axes[1]) });
            if down == 0 && across == 0 {
                has_left_out = true;
                for (weights, best) in &mut left_out {
                    *best = best.max(values[s] / size(weights, &packing.shapes[s].demand));
                }
            } else if down < axes[0].1 && across < axes[1].1 {
                let steps = [down as f64 / axes[0].1 as f64, across as f64 / axes[1].1 as f64];
                small.push((steps, values[s]));
            } else {
                grid.allow((down / axes[0].1) as usize, (across / axes[1].1) as usize, values[s]);
            }
        }
        // Tasks smaller than a step fill room like sand, as dense as the densest of them. What they fill is short of the
        // steps that others leave by less than one step each way.
        let of = |part: f64| -> [f64; 2] {
            let dense =
                |(steps, value): &([f64; 2], f64)| value / (part * steps[0] + (1.0 - part) * steps[1]);
            let best = small.iter().map(dense).fold(0.0, f64::max);
            [best * part, best * (1.0 - part)]
        };
        let parts = (1..16).map(|part| of(f64::from(part) / 16.0));
        let sand = parts.min_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1])));
        let [down, across] = sand.filter(|_| !small.is_empty()).unwrap_or_default().map(f64::ceil);
        let across = if one_axis { 0.0 } else { across };
        if down > 0.0 {
            grid.allow(1, 0, down);
        }
        if across > 0.0 {
            grid.allow(0, 1, across);
        }
        if !has_left_out {
            left_out.clear();
        }
        Self { axes, columns, most: grid.most, margin: down + across, left_out }
    }

    /// No whole tasks that fit in `room` are worth more.
    #[inline]
    pub fn bound(&self, room: &Quantities) -> f64 {
        let [(r, r_step), (s, s_step)] = self.axes;
        let column = if self.columns == 1 { 0 } else { room[s] / s_step };
        let most = self.most[(room[r] / r_step) as usize * self.columns + column as usize];
        let of = |(weights, best): &([f64; WIDTH], f64)| best * (size(weights, room) * SIZES);
        // Without any the smallest bound of them is none.
        let left_out =
            self.left_out.iter().map(of).filter(|bound| !bound.is_nan()).fold(f64::INFINITY, f64::min);
        if self.left_out.is_empty() { most + self.margin } else { most + self.margin + left_out }
    }
}

/// The entries while they are computed.
struct Grid {
    most: Vec<f64>,
    rows: usize,
    columns: usize,
}

impl Grid {
    /// Any number of tasks of so many steps, worth `value` each.
    fn allow(&mut self, down: usize, across: usize, value: f64) {
        let columns = self.columns;
        if down >= self.rows || across >= columns {
            return;
        }
        for row in down..self.rows {
            let (before, after) = self.most.split_at_mut(row * columns);
            if down == 0 {
                for column in across..columns {
                    after[column] = after[column].max(after[column - across] + value);
                }
            } else {
                let from = &before[(row - down) * columns..][..columns - across];
                for (to, from) in after[across..columns].iter_mut().zip(from) {
                    let with = from + value;
                    *to = if with > *to { with } else { *to };
                }
            }
        }
    }
}
