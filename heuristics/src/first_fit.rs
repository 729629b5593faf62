//! First-Fit: the lowest-index server with room (DRFH Sec. V-B).

use crate::filling::{Rule, fill};
use crate::packing::{Packing, Servers, Shape, fits};
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Instance, Placement};
use std::ops::Range;

/// Places every task on the first server that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFit;

impl PlacementPolicy for FirstFit {
    fn name(&self) -> String {
        "first-fit".into()
    }

    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        fill(instance, &packing, FirstWithRoom::new(&packing))
    }
}

/// The rule, for any measure of room. Room only shrinks while filling, so the first server of a shape only
/// moves forward.
pub(crate) struct FirstWithRoom<'a> {
    shapes: &'a [Shape],
    servers: Servers,
    /// The servers that may still have room for each shape, as ranges from the last to the first.
    ahead: Vec<Vec<Range<usize>>>,
}

impl<'a> FirstWithRoom<'a> {
    pub fn new(packing: &'a Packing) -> Self {
        let ahead = |shape: &Shape| shape.servers(packing).into_iter().rev().collect();
        Self {
            shapes: &packing.shapes,
            servers: Servers::new(packing),
            ahead: packing.shapes.iter().map(ahead).collect(),
        }
    }
}

impl Rule for FirstWithRoom<'_> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.shapes[shape].demand;
        while let Some(range) = self.ahead[shape].last_mut() {
            if let Some(server) = range.clone().find(|&server| fits(demand, self.servers.free(server))) {
                range.start = server;
                self.servers.take(server, demand);
                return Some(server);
            }
            self.ahead[shape].pop();
        }
        None
    }
}
