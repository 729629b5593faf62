//! Dot-product as the paper on Fragmentation Gradient Descent states it (Weng et al., "Beware of Fragmentation", ATC 2023): the server
//! where the product of what is free and what is demanded is least, CPU and GPU each as a part of the most that a server has.

use super::Servers;
use super::scored::{CpuAndGpu, Measured, NodeScore};
use fairplan_instances::Instance;

/// What is free aligns least with the task.
pub(crate) struct GpuDotProduct(Measured);

impl NodeScore for GpuDotProduct {
    const NAME: &'static str = "gpu-dot-product";

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
        let term = |r: usize, most: f64| (free[r] as f64 / most) * (demand[r] as f64 / most);
        (self.0.score_below_highest(term), None)
    }
}
