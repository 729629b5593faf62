//! What any room can hold at least: contents of it on a grid over two resources, tasks rounded up and rooms rounded down.

use super::packing::{Packing, Quantities};
use hashbrown::HashMap;

/// The worth of the best content of every room on the grid. Other resources are not seen: where they bind it is only a guide.
pub(super) struct Least {
    /// The two resources, and how many of its units make a step.
    axes: [(usize, u64); 2],
    columns: usize,
    /// Row-major.
    worth: Vec<f64>,
}

/// Steps along each resource.
const STEPS: u64 = 256;

impl Least {
    /// Of tasks that are worth `values` each and of which some are left.
    pub fn new(packing: &Packing, values: &[f64], left: &[u64]) -> Self {
        let load = |r: usize| -> f64 {
            let part = |s: usize| left[s] as f64 * packing.shapes[s].demand[r] as f64;
            (0..left.len()).map(part).sum::<f64>() / packing.largest(r).max(1) as f64
        };
        let mut by_load: Vec<(f64, usize)> = (0..packing.resources).map(|r| (load(r), r)).collect();
        by_load.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let axis = |position: usize| {
            let r = by_load.get(position).or(by_load.first()).map_or(0, |(_, r)| *r);
            (r, packing.largest(r).div_ceil(STEPS).max(1))
        };
        let axes = [axis(0), axis(1)];
        let [rows, columns] = axes.map(|(r, step)| (packing.largest(r) / step) as usize + 1);
        let mut best: HashMap<[usize; 2], f64> = HashMap::new();
        for s in (0..values.len()).filter(|s| left[*s] > 0) {
            let steps = axes.map(|(r, step)| packing.shapes[s].demand[r].div_ceil(step) as usize);
            let best = best.entry(steps).or_insert(0.0);
            *best = best.max(values[s]);
        }
        let mut best: Vec<([usize; 2], f64)> = best.into_iter().collect();
        best.sort_by_key(|(steps, _)| *steps);
        let mut least = Self { axes, columns, worth: vec![0.0; rows * columns] };
        // What takes nothing of both would fit without end.
        let counts = |steps: &[usize; 2]| *steps != [0, 0] && steps[0] < rows && steps[1] < columns;
        best.into_iter().filter(|(steps, _)| counts(steps)).for_each(|(steps, worth)| {
            least.allow(steps, worth, rows);
        });
        least
    }

    /// Any number of tasks of so many steps.
    fn allow(&mut self, [down, across]: [usize; 2], worth: f64, rows: usize) {
        let columns = self.columns;
        for row in down..rows {
            if down == 0 {
                let row = &mut self.worth[row * columns..][..columns];
                for column in across..columns {
                    row[column] = row[column].max(row[column - across] + worth);
                }
                continue;
            }
            let (before, after) = self.worth.split_at_mut(row * columns);
            let from = &before[(row - down) * columns..][..columns - across];
            for (to, from) in after[across..columns].iter_mut().zip(from) {
                let with = from + worth;
                *to = if with > *to { with } else { *to };
            }
        }
    }

    /// Contents of this room are worth as much.
    #[inline]
    pub fn of(&self, room: &Quantities) -> f64 {
        let [(r, r_step), (s, s_step)] = self.axes;
        self.worth[(room[r] / r_step) as usize * self.columns + (room[s] / s_step) as usize]
    }
}
