//! Worst-Fit: the server with room for the most copies of the task, fractions counted: the largest
//! `min_r c̄_lr / D_ir` over the resources that the task needs.

use crate::filling::fill;
use crate::packing::{Packing, Shape};
use crate::scoring::{LeastCost, Score};
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Instance, Placement, compare_ratios};
use std::cmp::Ordering;

/// Places every task where the most room is, and so spreads the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstFit;

impl PlacementPolicy for WorstFit {
    fn name(&self) -> String {
        "worst-fit".into()
    }

    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        let per_unit = |shape: &Shape| shape.demand.iter().map(|demand| 1.0 / *demand as f64).collect();
        let score =
            Copies { shapes: &packing.shapes, per_unit: packing.shapes.iter().map(per_unit).collect() };
        fill(instance, &packing, LeastCost::new(&packing, score))
    }
}

/// How many copies of a task fit, fractions counted.
struct Copies<'a> {
    shapes: &'a [Shape],
    /// Of each shape `1 / D_r`; infinite where it needs nothing.
    per_unit: Vec<Vec<f64>>,
}

impl Score for Copies<'_> {
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

    fn compare(&self, shape: usize, a: &[u128], b: &[u128]) -> Ordering {
        let copies = |free: &[u128]| {
            let ratios = free.iter().copied().zip(self.shapes[shape].demand.iter().copied());
            ratios.min_by(|x, y| compare_ratios(*x, *y)).unwrap_or((0, 1))
        };
        compare_ratios(copies(b), copies(a))
    }
}
