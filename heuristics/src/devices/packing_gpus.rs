//! GPU packing (as in Weng et al., "Beware of Fragmentation", ATC 2023): first GPUs that are shared already, then free ones of servers in
//! use, then servers of which every GPU is free.

use super::scored::{CpuAndGpu, HIGHEST, NodeScore, Scored};
use super::{Servers, place, place_in_order};
use crate::{InOrder, PlacementError, PlacementPolicy, first_with_room::FirstFitting};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

/// Packs tasks on GPUs that are used already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuPacking {
    /// Draws the order of servers that decides among equal scores.
    pub seed: u64,
}

const NAME: &str = "gpu-packing";

impl GpuPacking {
    fn choice(self, instance: &Instance) -> Result<Scored<Packed>, PlacementError> {
        Ok(Scored::new(Packed { gpu: CpuAndGpu::of(instance, NAME)?.gpu }, self.seed))
    }
}

impl PlacementPolicy for GpuPacking {
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

struct Packed {
    gpu: usize,
}

impl NodeScore for Packed {
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
