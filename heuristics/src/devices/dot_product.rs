//! Dot-product as the paper on Fragmentation Gradient Descent states it (Weng et al., "Beware of Fragmentation", ATC 2023): the server
//! where the product of what is free and what is demanded is least, CPU and GPU each as a part of the most that a server has.

use super::best_fit::most;
use super::scored::{CpuAndGpu, HIGHEST, NodeScore, Scored};
use super::{Servers, place, place_in_order};
use crate::{InOrder, PlacementError, PlacementPolicy, first_with_room::FirstFitting};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

/// Places every task where what is free aligns least with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuDotProduct {
    /// Draws the order of servers that decides among equal scores.
    pub seed: u64,
}

const NAME: &str = "gpu-dot-product";

impl GpuDotProduct {
    fn choice(self, instance: &Instance) -> Result<Scored<Product>, PlacementError> {
        let looked_at = CpuAndGpu::of(instance, NAME)?;
        let resources = [looked_at.cpu, Some(looked_at.gpu)].into_iter().flatten().collect::<Vec<_>>();
        Ok(Scored::new(Product { most: most(instance, &resources), resources }, self.seed))
    }
}

impl PlacementPolicy for GpuDotProduct {
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

struct Product {
    resources: Vec<usize>,
    most: Vec<f64>,
}

impl NodeScore for Product {
    fn score(&mut self, servers: &Servers, server: usize, shape: usize) -> (i64, Option<usize>) {
        let (free, demand) = (servers.free(server), servers.demand(shape));
        let term = |(r, most): (&usize, &f64)| (free[*r] as f64 / most) * (demand[*r] as f64 / most);
        let product: f64 = self.resources.iter().zip(&self.most).map(term).sum();
        (((1.0 - product / self.resources.len() as f64) * HIGHEST as f64) as i64, None)
    }
}
