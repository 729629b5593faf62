//! Best-Fit as the paper on Fragmentation Gradient Descent states it (Weng et al., "Beware of Fragmentation", ATC 2023): the server
//! that has least left of CPU and GPU, each as a part of the most that a server has, both counting alike.

use super::Servers;
use super::scored::{CpuAndGpu, Measured, NodeScore};
use fairplan_instances::Instance;

/// The least CPU and GPU left.
pub(crate) struct GpuBestFit(Measured);

impl NodeScore for GpuBestFit {
    const NAME: &'static str = "gpu-best-fit";

    fn new(instance: &Instance, looked_at: CpuAndGpu) -> Self {
        Self(Measured::new(instance, looked_at))
    }

    fn unknown(looked_at: CpuAndGpu) -> Self {
        Self(Measured::unknown(looked_at))
    }

    fn added(&mut self, capacity: &[u128]) {
        self.0.added(capacity);
    }

    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        let (free, demand) = (servers.free(server), servers.demand(shape));
        (self.0.score_below_highest(|r, most| (free[r] - demand[r]) as f64 / most), None)
    }
}
