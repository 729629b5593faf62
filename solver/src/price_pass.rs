//! One streaming pass over the users, as a thing of its own: the unit in which solving is measured.

use crate::reduction::Reduction;
use crate::streaming::cheapest_costs;
use fairplan_instances::{Instance, Objective};

/// An instance made ready for passes: computing `π_i = min_l Σ_r d_ir p_lr` of every user at some prices.
pub struct PricePass {
    reduction: Reduction,
    costs: Vec<f64>,
}

impl PricePass {
    /// Normalises the instance once.
    pub fn new(instance: &Instance) -> Self {
        let reduction = Reduction::new(instance, Objective::Drfh);
        Self { costs: vec![0.0; reduction.users.len()], reduction }
    }

    /// One pass at prices at which every class costs the same. Returns what a unit of dominant share costs each
    /// user at the least, rule by rule in the instance's order.
    pub fn run(&mut self) -> &[f64] {
        let prices: Vec<f64> =
            self.reduction.capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        cheapest_costs(&self.reduction.users, &prices, &self.reduction.capacities, &mut self.costs);
        &self.costs
    }
}
