//! Combinations of a few tasks: every one of one, two, three… tasks while these are not too many.

use super::packing::{Packing, Quantities};

/// Most tasks of a choice.
const MOST: usize = 6;

/// A few tasks.
#[derive(Clone, Copy, Default)]
pub(super) struct Choice {
    /// The shapes of the tasks, rising.
    shapes: [u32; MOST],
    count: usize,
    /// What they are worth together.
    pub value: f64,
    /// The room they take.
    pub load: Quantities,
}

impl Choice {
    /// The shape of each task.
    pub fn shapes(&self) -> &[u32] {
        &self.shapes[..self.count]
    }

    /// How many tasks of a shape these are.
    pub fn count(&self, shape: u32) -> u64 {
        self.shapes().iter().filter(|other| **other == shape).count() as u64
    }

    fn with(&self, packing: &Packing, values: &[f64], shape: u32) -> Self {
        let mut with = *self;
        with.shapes[self.count] = shape;
        with.count += 1;
        with.value += values[shape as usize];
        // Tasks that no server has room for together may take more than can be counted.
        let demand = &packing.shapes[shape as usize].demand;
        with.load.iter_mut().zip(demand).for_each(|(load, demand)| *load = load.saturating_add(*demand));
        with
    }
}

/// The choices out of these tasks, given as `(shape, how many there are)`, small ones first; larger ones only as long as there
/// are no more than about `limit` of a size.
pub(super) fn choices(packing: &Packing, values: &[f64], tasks: &[(u32, u64)], limit: usize) -> Vec<Choice> {
    let mut all = vec![Choice::default()];
    // The task with which each choice may go on, so that none is had twice.
    let mut next = vec![0];
    let mut from = 0;
    for _ in 0..MOST {
        let to = all.len();
        if (to - from) * tasks.len() / 2 > limit {
            break;
        }
        for at in from..to {
            for (position, (shape, count)) in tasks.iter().enumerate().skip(next[at]) {
                if all[at].count(*shape) < *count {
                    all.push(all[at].with(packing, values, *shape));
                    next.push(position);
                }
            }
        }
        from = to;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole_tasks::packing::more;
    use fairplan_instances::generate::drfh_fig4;

    /// Of `a`, `a`, `b`, `c` there are these, each once.
    #[test]
    fn every_choice_is_there_once_and_none_has_more_tasks_than_there_are() {
        let packing = Packing::new(&drfh_fig4(&[1, 2, 3]).unwrap()).unwrap();
        let values = [1.0, 10.0, 100.0];
        let all = choices(&packing, &values, &[(0, 2), (1, 1), (2, 1)], 1_000);
        let mut found: Vec<Vec<u32>> = all.iter().map(|choice| choice.shapes().to_vec()).collect();
        found.sort();
        let expected: [&[u32]; 12] = [
            &[],
            &[0],
            &[0, 0],
            &[0, 0, 1],
            &[0, 0, 1, 2],
            &[0, 0, 2],
            &[0, 1],
            &[0, 1, 2],
            &[0, 2],
            &[1],
            &[1, 2],
            &[2],
        ];
        assert_eq!(found, expected);
        for choice in &all {
            let worth: f64 = choice.shapes().iter().map(|shape| values[*shape as usize]).sum();
            let load = choice.shapes().iter().fold(Quantities::default(), |load, shape| {
                more(&load, &packing.shapes[*shape as usize].demand)
            });
            assert_eq!((choice.value, choice.load), (worth, load));
        }
    }

    #[test]
    fn larger_choices_are_left_out_where_they_are_too_many() {
        let packing = Packing::new(&drfh_fig4(&[1, 2, 3]).unwrap()).unwrap();
        let tasks = [(0, 9), (1, 9), (2, 9)];
        let sizes =
            |limit| choices(&packing, &[1.0; 3], &tasks, limit).iter().map(|c| c.shapes().len()).max();
        assert_eq!(sizes(1_000), Some(MOST));
        assert_eq!(sizes(3), Some(1));
    }
}
