//! Worst-Fit: the server with room for the most copies of the task, fractions counted: the largest
//! `min_r c̄_lr / D_ir` over the resources that the task needs.

use crate::devices::{self, Least, OnDevices};
use crate::filling::fill;
use crate::packing::Packing;
use crate::scoring::{LeastCost, Score};
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice, compare_ratios};
use std::cmp::Ordering;

/// Places every task where the most room is, and so spreads the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstFit;

impl PlacementPolicy for WorstFit {
    fn name(&self) -> String {
        "worst-fit".into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, Least::new(Copies::default()));
        }
        let packing = Packing::in_resources(instance)?;
        fill(instance, &packing, LeastCost::new(&packing, Copies::default()), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, Least::new(Copies::default()))
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(LeastCost::empty(totals.len(), Copies::default()))
    }

    fn choice_on_devices(&self, _totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        Some(Box::new(OnDevices::new(sizes, Least::new(Copies::default()))))
    }
}

/// How many copies of a task fit, fractions counted.
#[derive(Default)]
struct Copies {
    /// Of each shape `1 / D_r`; infinite where it needs nothing.
    per_unit: Vec<Vec<f64>>,
}

impl Score for Copies {
    fn add_shape(&mut self, demand: &[u128]) {
        self.per_unit.push(demand.iter().map(|demand| 1.0 / *demand as f64).collect());
    }

    fn cost(&self, shape: usize, free: &[f64]) -> f64 {
        // 0 · ∞ is not a number, which `min` passes over.
        -free
            .iter()
            .zip(&self.per_unit[shape])
            .map(|(free, per_unit)| free * per_unit)
            .fold(f64::INFINITY, f64::min)
    }

    fn bound(&self, shape: usize, _low: &[f64], high: &[f64]) -> f64 {
        self.cost(shape, high)
    }

    fn compare(&self, _shape: usize, demand: &[u128], a: &[u128], b: &[u128]) -> Ordering {
        let copies = |free: &[u128]| {
            let ratios = free.iter().copied().zip(demand.iter().copied());
            ratios.min_by(|x, y| compare_ratios(*x, *y)).unwrap_or((0, 1))
        };
        compare_ratios(copies(b), copies(a))
    }
}
