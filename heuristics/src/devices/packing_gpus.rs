//! GPU packing (as in Weng et al., "Beware of Fragmentation", ATC 2023): first GPUs that are shared already, then free ones of servers in
//! use, then servers of which every GPU is free.

use super::Servers;
use super::device::Want;
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

    fn unknown(CpuAndGpu { gpu, .. }: CpuAndGpu) -> Self {
        Self { gpu }
    }

    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        let (want, make) = (servers.want(shape, self.gpu), servers.make(self.gpu));
        if want == Want::Nothing {
            return (0, None);
        }
        let (devices, size) = (servers.devices(server), make.size);
        let free = devices.iter().filter(|device| device.free == size).count();
        if free == devices.len() {
            return ((HIGHEST / 3 - free as i64).max(free as i64), None);
        }
        if !want.is_of_one() {
            return ((HIGHEST / 2 - want.devices() as i64).max(HIGHEST / 3), None);
        }
        let with_room = devices.iter().filter(|device| make.has_room(**device, want));
        match with_room.map(|device| device.free).min() {
            Some(tightest) if tightest < size => {
                let percent = (tightest * 100 / size) as i64;
                ((HIGHEST - percent / 10).max(HIGHEST / 2), None)
            }
            _ => (HIGHEST / 2 - 1, None),
        }
    }
}
