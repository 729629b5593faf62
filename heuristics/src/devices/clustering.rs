//! GPU clustering (as in Weng et al., "Beware of Fragmentation", ATC 2023): tasks go to servers with tasks that want as many GPUs as they
//! do, best to those with no others; among alike servers to the one with least GPU left.

use super::best_fit::most;
use super::scored::{CpuAndGpu, HIGHEST, NodeScore, Scored};
use super::{Servers, place, place_in_order};
use crate::{InOrder, PlacementError, PlacementPolicy, first_with_room::FirstFitting};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};
use std::collections::HashSet;

/// Places tasks beside tasks that want as many GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuClustering {
    /// Draws the order of servers that decides among equal scores.
    pub seed: u64,
}

const NAME: &str = "gpu-clustering";

impl GpuClustering {
    fn choice(self, instance: &Instance) -> Result<Scored<Clustered>, PlacementError> {
        let gpu = CpuAndGpu::of(instance, NAME)?.gpu;
        let most = most(instance, &[gpu]).first().copied().unwrap_or(1.0) as u128;
        Ok(Scored::new(Clustered { gpu, most, there: Vec::new() }, self.seed))
    }
}

impl PlacementPolicy for GpuClustering {
    fn name(&self) -> String {
        NAME.into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        place(instance, self.turn(), deadline, (*self).choice(instance)?)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        place_in_order(asked, (*self).choice(asked.instance)?)
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(FirstFitting::new(totals.len()))
    }
}

struct Clustered {
    gpu: usize,
    /// The most GPU that a server has.
    most: u128,
    /// How many GPUs tasks on each server want, 0 standing for a part of one.
    there: Vec<HashSet<u128>>,
}

impl Clustered {
    /// How many GPUs a task wants, 0 for a part of one; `None` if it wants none.
    fn wants(&self, servers: &Servers, shape: usize) -> Option<u128> {
        let demand = servers.demand(shape)[self.gpu];
        (demand > 0).then(|| demand / servers.device_size(self.gpu).max(1))
    }
}

impl NodeScore for Clustered {
    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        self.there.resize_with(servers.count(), HashSet::new);
        let Some(wants) = self.wants(servers, shape) else { return (0, None) };
        let left: u128 = servers.devices(server).iter().sum();
        let used = self.most.saturating_sub(left);
        let within = (HIGHEST as u128 / 4 * used / self.most) as i64;
        let there = &self.there[server];
        let quarters = match (there.contains(&wants), there.len()) {
            (true, 1) => 3,
            (true, _) => 2,
            (false, 0) => 1,
            (false, _) => 0,
        };
        (within + HIGHEST * quarters / 4, None)
    }

    fn placed(&mut self, servers: &Servers, server: usize, shape: usize) {
        self.there.resize_with(servers.count(), HashSet::new);
        if let Some(wants) = self.wants(servers, shape) {
            self.there[server].insert(wants);
        }
    }
}
