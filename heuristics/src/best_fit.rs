//! Best-Fit: the server whose free resources are most like the task's demand (DRFH eq. 9).
//!
//! The cost of server `l` for user `i` is `H(i, l) = ‖D_i / D_i1 − c̄_l / c̄_l1‖₁`. The reference resource is
//! the first; for a user that demands none of it, the first that it does demand.

use crate::filling::fill;
use crate::packing::{Packing, Shape};
use crate::scoring::{LeastCost, Score};
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Instance, Placement, compare_ratios};
use num_bigint::BigUint;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

/// Places every task where the proportions of what is free come closest to those of the demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestFit;

impl PlacementPolicy for BestFit {
    fn name(&self) -> String {
        "best-fit".into()
    }

    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        let score = Mismatch::new(&packing);
        fill(instance, &packing, LeastCost::new(&packing, score))
    }
}

/// The score `H` of DRFH eq. 9.
struct Mismatch<'a> {
    shapes: &'a [Shape],
    /// Of each shape the reference resource and the demands over the demand of it.
    proportions: Vec<(usize, Vec<f64>)>,
    /// Whether every `Σ_r |D_r c_1 − c_r D_1|` is below 2^128.
    small: bool,
}

impl<'a> Mismatch<'a> {
    fn new(packing: &'a Packing) -> Self {
        let proportions = |shape: &Shape| {
            let reference = shape.demand.iter().position(|demand| *demand > 0).unwrap_or(0);
            let one = shape.demand[reference] as f64;
            (reference, shape.demand.iter().map(|demand| *demand as f64 / one).collect())
        };
        let bits =
            |amounts: &mut dyn Iterator<Item = &u128>| 128 - amounts.max().map_or(128, |n| n.leading_zeros());
        let demand_bits = bits(&mut packing.shapes.iter().flat_map(|shape| &shape.demand));
        let capacity_bits = bits(&mut packing.classes.iter().flat_map(|class| &class.capacity));
        Self {
            shapes: &packing.shapes,
            proportions: packing.shapes.iter().map(proportions).collect(),
            small: demand_bits + capacity_bits + (packing.width.ilog2() + 1) <= 128,
        }
    }
}

impl Score for Mismatch<'_> {
    fn cost(&self, shape: usize, free: &[f64]) -> f64 {
        let (reference, proportions) = &self.proportions[shape];
        let one = free[*reference];
        free.iter().zip(proportions).map(|(free, proportion)| (proportion - free / one).abs()).sum()
    }

    fn offset(&self, shape: usize) -> f64 {
        // Σ c_r / c_1 is at most Σ D_r / D_1 + H.
        2.0 * self.proportions[shape].1.iter().sum::<f64>()
    }

    fn compare(&self, shape: usize, a: &[u128], b: &[u128]) -> Ordering {
        let (demand, reference) = (&self.shapes[shape].demand, self.proportions[shape].0);
        if self.small {
            let mismatch = |free| (mismatch::<u128>(demand, free, reference), free[reference]);
            compare_ratios(mismatch(a), mismatch(b))
        } else {
            let mismatch = |free| mismatch::<BigUint>(demand, free, reference);
            (mismatch(a) * b[reference]).cmp(&(mismatch(b) * a[reference]))
        }
    }
}

/// `H` times `D_1 c_1`: the whole number `Σ_r |D_r c_1 − c_r D_1|`.
fn mismatch<N>(demand: &[u128], free: &[u128], reference: usize) -> N
where
    N: From<u128> + Mul<Output = N> + Sub<Output = N> + Add<Output = N> + Ord,
{
    let product = |x: u128, y: u128| N::from(x) * N::from(y);
    demand.iter().zip(free).fold(N::from(0), |sum, (&demand_r, &free_r)| {
        let (x, y) = (product(demand_r, free[reference]), product(free_r, demand[reference]));
        sum + if x > y { x - y } else { y - x }
    })
}
