//! GPU clustering (as in Weng et al., "Beware of Fragmentation", ATC 2023): tasks go to servers with tasks that want as many GPUs as they
//! do, best to those with no others; among alike servers to the one with least GPU left.

use super::Servers;
use super::device::Want;
use super::scored::{CpuAndGpu, HIGHEST, NodeScore, most};
use fairplan_instances::Instance;
use std::collections::HashMap;

/// Beside tasks that want as many GPUs.
pub(crate) struct GpuClustering {
    gpu: usize,
    /// The most GPU that a server has.
    most: u128,
    /// How many GPUs tasks on each server want, 0 standing for a part of one, and how many tasks want so many.
    there: Vec<HashMap<u128, u64>>,
}

impl GpuClustering {
    /// How many GPUs a task wants, 0 for a part of one, also by a profile; `None` if it wants none.
    fn wants(&self, servers: &Servers, shape: usize) -> Option<u128> {
        match servers.want(shape, self.gpu) {
            Want::Nothing => None,
            Want::Part(_) | Want::Profile(_) => Some(0),
            Want::Whole(count) => Some(count),
        }
    }
}

impl NodeScore for GpuClustering {
    const NAME: &'static str = "gpu-clustering";

    fn new(instance: &Instance, CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        Self { gpu, most: most(instance, gpu), there: Vec::new() }
    }

    fn unknown(CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        Self { gpu, most: 1, there: Vec::new() }
    }

    fn added(&mut self, capacity: &[u128]) {
        self.most = self.most.max(capacity[self.gpu]);
    }

    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        self.there.resize_with(servers.count(), HashMap::new);
        let Some(wants) = self.wants(servers, shape) else { return (0, None) };
        let left: u128 = servers.devices(server).iter().map(|device| device.free).sum();
        let used = self.most.saturating_sub(left);
        let within = (HIGHEST as u128 / 4 * used / self.most) as i64;
        let there = &self.there[server];
        let quarters = match (there.contains_key(&wants), there.len()) {
            (true, 1) => 3,
            (true, _) => 2,
            (false, 0) => 1,
            (false, _) => 0,
        };
        (within + HIGHEST * quarters / 4, None)
    }

    fn placed(&mut self, servers: &Servers, server: usize, shape: usize) {
        self.there.resize_with(servers.count(), HashMap::new);
        if let Some(wants) = self.wants(servers, shape) {
            *self.there[server].entry(wants).or_default() += 1;
        }
    }

    fn taken_back(&mut self, servers: &Servers, server: usize, shape: usize, count: u64) {
        let Some(wants) = self.wants(servers, shape) else { return };
        self.there.resize_with(servers.count(), HashMap::new);
        let there = &mut self.there[server];
        let left = there.get(&wants).map_or(0, |there| there.saturating_sub(count));
        match left {
            0 => drop(there.remove(&wants)),
            _ => drop(there.insert(wants, left)),
        }
    }
}
