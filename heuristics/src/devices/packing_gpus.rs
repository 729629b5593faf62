//! GPU packing (as in Weng et al., "Beware of Fragmentation", ATC 2023): first GPUs that are shared already, then free ones of servers in
//! use, then servers of which every GPU is free.

use super::Servers;
use super::scored::{CpuAndGpu, HIGHEST, NodeScore};
use fairplan_instances::Instance;

/// GPUs that are used already.
pub(crate) struct GpuPacking {
    gpu: usize,
}

impl NodeScore for GpuPacking {
    const NAME: &'static str = "gpu-packing";

    fn new(_instance: &Instance, CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        Self { gpu }
    }

    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        let (demand, size) = (servers.demand(shape)[self.gpu], servers.device_size(self.gpu));
        if demand == 0 {
            return (0, None);
        }
        let devices = servers.devices(server);
        let free = devices.iter().filter(|free| **free == size).count();
        if free == devices.len() {
            return ((HIGHEST / 3 - free as i64).max(free as i64), None);
        }
        if demand >= size {
            return ((HIGHEST / 2 - (demand / size) as i64).max(HIGHEST / 3), None);
        }
        match devices.iter().filter(|free| **free >= demand).min() {
            Some(tightest) if *tightest < size => {
                let percent = (*tightest * 100 / size) as i64;
                ((HIGHEST - percent / 10).max(HIGHEST / 2), None)
            }
            _ => (HIGHEST / 2 - 1, None),
        }
    }
}
