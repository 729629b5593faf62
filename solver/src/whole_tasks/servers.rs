//! The servers one by one: what is on each and what is free.

use super::packing::{Packing, Quantities, fits, less, more, times};
use super::patterns::Pattern;
use std::ops::Range;

/// Servers numbered merged class by merged class.
#[derive(Clone)]
pub(super) struct Servers {
    /// The servers of each merged class.
    pub of_class: Vec<Range<usize>>,
    pub class: Vec<u32>,
    pub free: Vec<Quantities>,
    /// `(shape, tasks)`, no zeros.
    pub tasks: Vec<Vec<(u32, u64)>>,
    /// Of each class the first server that no pattern has filled.
    next: Vec<usize>,
}

impl Servers {
    /// So many of each class, all empty.
    pub fn new(packing: &Packing, counts: &[u64]) -> Self {
        let (mut of_class, mut class, mut free) = (Vec::new(), Vec::new(), Vec::new());
        for (l, (of, count)) in packing.classes.iter().zip(counts).enumerate() {
            let start = free.len();
            free.resize(start + *count as usize, of.capacity);
            class.resize(free.len(), l as u32);
            of_class.push(start..free.len());
        }
        let next = of_class.iter().map(|range| range.start).collect();
        Self { tasks: vec![Vec::new(); free.len()], of_class, class, free, next }
    }

    /// How many servers of a class no pattern has filled.
    pub fn unused(&self, class: usize) -> u64 {
        (self.of_class[class].end - self.next[class]) as u64
    }

    /// Fills the next server of its class with a pattern, all of which is needed. Returns whether there was one.
    pub fn fill_next(&mut self, packing: &Packing, pattern: &Pattern, need: &mut [u64]) -> bool {
        let server = self.next[pattern.class];
        if pattern.tasks.is_empty() || server == self.of_class[pattern.class].end {
            return false;
        }
        self.next[pattern.class] += 1;
        for (shape, tasks) in &pattern.tasks {
            need[*shape as usize] -= tasks;
        }
        self.tasks[server].clone_from(&pattern.tasks);
        self.free[server] = less(&self.free[server], &pattern.load(packing));
        true
    }

    /// Whether one more task of `shape` fits on `server`.
    pub fn has_room(&self, packing: &Packing, server: usize, shape: usize) -> bool {
        let demand = &packing.shapes[shape].demand;
        packing.shapes[shape].copies[self.class[server] as usize] > 0
            && fits(demand, &self.free[server])
            && self.would_keep_rules(packing, server, &[], shape)
    }

    /// Whether the rules inside a server, which has the room, let it take one more task of `shape` when one each of others there have
    /// left. What is not found out counts as no.
    pub fn would_keep_rules(&self, packing: &Packing, server: usize, gone: &[usize], shape: usize) -> bool {
        if !packing.has_rules {
            return true;
        }
        let left = |(other, count): &(u32, u64)| {
            let gone = gone.iter().filter(|gone| **gone == *other as usize).count() as u64;
            (*other as usize, count - gone + u64::from(*other as usize == shape))
        };
        let is_new = self.tasks[server].iter().all(|(other, _)| *other as usize != shape);
        let content = self.tasks[server].iter().map(left).chain(is_new.then_some((shape, 1)));
        packing.keeps_rules(self.class[server] as usize, content) == Some(true)
    }

    /// Puts a task on a server with room.
    pub fn add(&mut self, packing: &Packing, server: usize, shape: usize) {
        self.add_many(packing, server, shape, 1);
    }

    /// Puts so many tasks of a shape, at least one, on a server with room for all.
    pub fn add_many(&mut self, packing: &Packing, server: usize, shape: usize, count: u64) {
        self.free[server] = less(&self.free[server], &times(&packing.shapes[shape].demand, count));
        let tasks = &mut self.tasks[server];
        match tasks.iter_mut().find(|(other, _)| *other == shape as u32) {
            Some((_, there)) => *there += count,
            None => tasks.push((shape as u32, count)),
        }
    }

    /// Takes so many tasks of each shape off the servers, the first first, as far as there are any.
    pub fn take_off(&mut self, packing: &Packing, mut gone: Vec<u64>) {
        for server in 0..self.tasks.len() {
            for (shape, count) in self.tasks[server].clone() {
                let shape = shape as usize;
                let here = gone[shape].min(count);
                self.remove_many(packing, server, shape, here);
                gone[shape] -= here;
            }
        }
    }

    /// Takes a task off a server that has it.
    pub fn remove(&mut self, packing: &Packing, server: usize, shape: usize) {
        self.remove_many(packing, server, shape, 1);
    }

    /// Takes so many off a server that has them.
    fn remove_many(&mut self, packing: &Packing, server: usize, shape: usize, count: u64) {
        self.free[server] = more(&self.free[server], &times(&packing.shapes[shape].demand, count));
        let tasks = &mut self.tasks[server];
        if let Some(at) = tasks.iter().position(|(other, _)| *other == shape as u32) {
            tasks[at].1 -= count;
            if tasks[at].1 == 0 {
                tasks.remove(at);
            }
        }
    }
}
