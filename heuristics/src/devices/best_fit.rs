//! Best-Fit as the paper on Fragmentation Gradient Descent states it (Weng et al., "Beware of Fragmentation", ATC 2023): the server
//! that has least left of CPU and GPU, each as a part of the most that a server has, both counting alike.

use super::scored::{CpuAndGpu, HIGHEST, NodeScore, Scored};
use super::{Servers, place, place_in_order};
use crate::{InOrder, PlacementError, PlacementPolicy, first_with_room::FirstFitting};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

/// Places every task where the least CPU and GPU is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuBestFit {
    /// Draws the order of servers that decides among equal scores.
    pub seed: u64,
}

const NAME: &str = "gpu-best-fit";

impl GpuBestFit {
    fn choice(self, instance: &Instance) -> Result<Scored<Left>, PlacementError> {
        let looked_at = CpuAndGpu::of(instance, NAME)?;
        let resources = [looked_at.cpu, Some(looked_at.gpu)].into_iter().flatten().collect::<Vec<_>>();
        Ok(Scored::new(Left { most: most(instance, &resources), resources }, self.seed))
    }
}

/// The most that one server has of some resources, in units.
pub(crate) fn most(instance: &Instance, resources: &[usize]) -> Vec<f64> {
    let classes = (0..instance.classes().len()).map(fairplan_instances::ClassId);
    let of = |r: &usize| {
        let units = classes.clone().map(|l| instance.capacity_units(l, fairplan_instances::ResourceId(*r)));
        units.max().unwrap_or(0).max(1) as f64
    };
    resources.iter().map(of).collect()
}

impl PlacementPolicy for GpuBestFit {
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

struct Left {
    resources: Vec<usize>,
    most: Vec<f64>,
}

impl NodeScore for Left {
    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        let (free, demand) = (servers.free(server), servers.demand(shape));
        let part = |(r, most): (&usize, &f64)| (free[*r] - demand[*r]) as f64 / most;
        let left: f64 = self.resources.iter().zip(&self.most).map(part).sum();
        (((1.0 - left / self.resources.len() as f64) * HIGHEST as f64) as i64, None)
    }
}
