//! Dot-product: the server whose free resources align most with the demand, `Σ_r (D_ir / C_r) (c̄_lr / C_r)`
//! with what a share of one is of each resource, `C_r`, as the unit: the whole cluster's capacity (the alignment score of Tetris, SIGCOMM 2014).

use crate::devices::{self, Least, OnDevices};
use crate::filling::fill;
use crate::packing::Packing;
use crate::scoring::{LeastCost, Score};
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ResourceId, ServerChoice};
use num_bigint::BigUint;
use std::cmp::Ordering;

/// Places every task where much is free of what the task needs much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotProduct;

impl PlacementPolicy for DotProduct {
    fn name(&self) -> String {
        "dot-product".into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, Least::new(Alignment::of(instance)));
        }
        let packing = Packing::in_resources(instance)?;
        fill(instance, &packing, LeastCost::new(&packing, Alignment::of(instance)), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, Least::new(Alignment::of(asked.instance)))
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(LeastCost::empty(totals.len(), Alignment::new(totals)))
    }

    fn choice_on_devices(&self, totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        Some(Box::new(OnDevices::new(sizes, Least::new(Alignment::new(totals)))))
    }
}

/// The alignment of what is free with a demand.
struct Alignment {
    /// `C_r`, as doubles.
    totals: Vec<f64>,
    /// Of each shape `D_r / C_r²`, as doubles.
    slopes: Vec<Vec<f64>>,
    /// `Π_s C_s² / C_r²`: the alignment times `Π_s C_s²` is a whole number.
    cofactors: Vec<BigUint>,
}

impl Alignment {
    fn of(instance: &Instance) -> Self {
        let resources = (0..instance.resources().len()).map(ResourceId);
        Self::new(&resources.map(|r| instance.measure_units(r)).collect::<Vec<_>>())
    }

    fn new(totals: &[u128]) -> Self {
        // A resource that no server has is free nowhere and demanded by nobody.
        let present = |r: usize| totals[r].max(1);
        let cofactor = |r: usize| {
            let others = (0..totals.len()).filter(|s| *s != r);
            others.fold(BigUint::from(1u8), |product, s| product * present(s) * present(s))
        };
        Self {
            totals: (0..totals.len()).map(|r| present(r) as f64).collect(),
            slopes: Vec::new(),
            cofactors: (0..totals.len()).map(cofactor).collect(),
        }
    }
}

impl Score for Alignment {
    fn add_shape(&mut self, demand: &[u128]) {
        let slope = |(demand, total): (&u128, &f64)| *demand as f64 / total / total;
        self.slopes.push(demand.iter().zip(&self.totals).map(slope).collect());
    }

    fn cost(&self, shape: usize, free: &[f64]) -> f64 {
        -free.iter().zip(&self.slopes[shape]).map(|(free, slope)| free * slope).sum::<f64>()
    }

    fn bound(&self, shape: usize, _low: &[f64], high: &[f64]) -> f64 {
        self.cost(shape, high)
    }

    fn compare(&self, _shape: usize, demand: &[u128], a: &[u128], b: &[u128]) -> Ordering {
        let alignment = |free: &[u128]| {
            let terms = free.iter().zip(demand).zip(&self.cofactors);
            terms.fold(BigUint::ZERO, |sum, ((free, demand), cofactor)| sum + cofactor * *free * *demand)
        };
        alignment(b).cmp(&alignment(a))
    }
}
