//! The first server with room, found through [`Blocks`].

use crate::blocks::{Blocks, Demand};
use crate::packing::{Packing, Shape, resized};
use crate::rule::Rule;
use fairplan_instances::ServerChoice;
use std::ops::Range;

/// Takes the lowest-index server with room, for any measure of room. Room only shrinks while filling, so the first
/// server with room for a shape only moves forward.
pub(crate) struct FirstWithRoom {
    demands: Vec<Demand>,
    /// The servers that may still have room for each shape, as ranges from the last to the first.
    ahead: Vec<Vec<Range<usize>>>,
    blocks: Blocks,
}

impl FirstWithRoom {
    pub fn new(packing: &Packing) -> Self {
        let ahead = |shape: &Shape| packing.servers_of(&shape.classes).into_iter().rev().collect();
        Self {
            demands: packing.shapes.iter().map(|shape| Demand::new(&shape.demand)).collect(),
            ahead: packing.shapes.iter().map(ahead).collect(),
            blocks: Blocks::new(packing.width, packing.free()),
        }
    }
}

impl Rule for FirstWithRoom {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.demands[shape];
        while let Some(range) = self.ahead[shape].last_mut() {
            let Some(server) = self.blocks.first(range, demand) else {
                self.ahead[shape].pop();
                continue;
            };
            range.start = server;
            self.blocks.take(server, demand);
            return Some(server);
        }
        None
    }

    fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        self.blocks.release(server, &self.demands[shape], count);
    }

    fn allow(&mut self, packing: &Packing, shape: usize, classes: &[usize]) {
        self.ahead[shape] = packing.servers_of(classes).into_iter().rev().collect();
    }

    fn sure(&mut self, shape: usize) -> Option<usize> {
        let server = self.ahead[shape].last()?.start;
        self.blocks.has_room(server, &self.demands[shape]).then_some(server)
    }

    fn free(&self, server: usize) -> &[u128] {
        self.blocks.free(server)
    }

    fn take_many(&mut self, server: usize, shape: usize, count: u64) {
        self.blocks.take_many(server, &self.demands[shape], count);
    }
}

/// The same among servers whose tasks come and go.
pub(crate) struct FirstFitting {
    demands: Vec<Demand>,
    blocks: Blocks,
    /// What servers have that are not in `blocks` yet: they are entered together.
    added: Vec<u128>,
}

impl FirstFitting {
    /// No servers and no tasks yet.
    pub fn new(width: usize) -> Self {
        Self { demands: Vec::new(), blocks: Blocks::new(width, Vec::new()), added: Vec::new() }
    }

    fn enter(&mut self) {
        if !self.added.is_empty() {
            self.blocks.extend(&self.added);
            self.added.clear();
        }
    }

    /// What all servers have free, and what a task of this shape needs.
    pub fn asked(&mut self, shape: usize) -> (&mut Blocks, &Demand) {
        self.enter();
        (&mut self.blocks, &self.demands[shape])
    }
}

impl ServerChoice for FirstFitting {
    fn add_server(&mut self, capacity: &[u128]) {
        self.added.extend_from_slice(capacity);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        self.enter();
        let Some(left) = resized(self.blocks.free(server), from, to) else { return false };
        self.blocks.set(server, left.into_iter());
        true
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.demands.push(Demand::new(demand));
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        let (blocks, demand) = self.asked(shape);
        let servers = 0..blocks.servers();
        if servers.is_empty() {
            return None;
        }
        let server = blocks.first(&servers, demand)?;
        blocks.take(server, demand);
        Some(server)
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        self.enter();
        let has_room = self.blocks.has_room(server, &self.demands[shape]);
        if has_room {
            self.blocks.take(server, &self.demands[shape]);
        }
        has_room
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.blocks.release(server, &self.demands[shape], 1);
    }
}
