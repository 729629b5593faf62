//! Patterns: whole tasks that fit on one server of a class.

use super::packing::{Packing, Quantities};

/// `(shape, tasks)`, shapes rising, no zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub class: usize,
    pub tasks: Vec<(u32, u64)>,
}

impl Pattern {
    /// So many tasks of each shape listed; none is listed twice.
    pub fn new(class: usize, tasks: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut tasks: Vec<(u32, u64)> = tasks.collect();
        tasks.sort_unstable();
        Self { class, tasks }
    }

    /// As many tasks of one shape as fit.
    pub fn of_one_shape(packing: &Packing, class: usize, shape: usize) -> Self {
        Self { class, tasks: vec![(shape as u32, packing.shapes[shape].copies[class])] }
    }

    /// The same of the class of which all servers together hold most: with it a program can be solved. `None` where no class holds any.
    pub fn where_most_fit(packing: &Packing, shape: usize) -> Option<Self> {
        let copies = &packing.shapes[shape].copies;
        let all = |l: &usize| packing.classes[*l].servers.saturating_mul(copies[*l]);
        let class = (0..copies.len()).max_by_key(all).filter(|l| copies[*l] > 0)?;
        Some(Self::of_one_shape(packing, class, shape))
    }

    /// The part of it that is still needed.
    pub fn within(&self, needed: &[u64]) -> Self {
        let part = |&(shape, tasks): &(u32, u64)| (shape, tasks.min(needed[shape as usize]));
        Self {
            class: self.class,
            tasks: self.tasks.iter().map(part).filter(|(_, tasks)| *tasks > 0).collect(),
        }
    }

    /// What it is worth.
    pub fn worth(&self, values: &[f64]) -> f64 {
        self.tasks.iter().map(|(shape, tasks)| values[*shape as usize] * *tasks as f64).sum()
    }

    /// The room it takes.
    pub fn load(&self, packing: &Packing) -> Quantities {
        let mut load = Quantities::default();
        for (shape, tasks) in &self.tasks {
            for (load, demand) in load.iter_mut().zip(&packing.shapes[*shape as usize].demand) {
                *load += demand * tasks;
            }
        }
        load
    }
}
