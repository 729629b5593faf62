//! Best-Fit: the server whose free resources are most like the task's demand (DRFH eq. 9).
//!
//! The cost of server `l` for user `i` is `H(i, l) = ‖D_i / D_i1 − c̄_l / c̄_l1‖₁`. The reference resource is
//! the first; for a user that demands none of it, the first that it does demand.

use crate::filling::fill;
use crate::first_with_room::FirstWithRoom;
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
        if packing.width == 1 {
            // All servers are equally like a demand of a single resource.
            return fill(instance, &packing, FirstWithRoom::new(&packing));
        }
        let score = Mismatch::new(&packing);
        fill(instance, &packing, LeastCost::new(&packing, score))
    }
}

/// The score `H` of DRFH eq. 9. A view is a reference resource, and its coordinates are `c̄_r / c̄_1` for all
/// other resources, followed by their sum when there are several.
struct Mismatch<'a> {
    shapes: &'a [Shape],
    references: Vec<usize>,
    /// Of each shape the position of its reference resource in `references`.
    view_of: Vec<usize>,
    /// Of each shape `D_r / D_1` for all resources but the reference, and their sum.
    proportions: Vec<Vec<f64>>,
    sums: Vec<f64>,
    /// Whether every `Σ_r |D_r c_1 − c_r D_1|` is below 2^128.
    small: bool,
}

impl<'a> Mismatch<'a> {
    fn new(packing: &'a Packing) -> Self {
        let reference = |shape: &Shape| shape.demand.iter().position(|demand| *demand > 0).unwrap_or(0);
        let mut references: Vec<usize> = packing.shapes.iter().map(reference).collect();
        references.sort_unstable();
        references.dedup();
        let view = |shape: &Shape| references.partition_point(|other| *other < reference(shape));
        let proportions = |shape: &Shape| {
            let one = shape.demand[reference(shape)] as f64;
            others(&shape.demand, reference(shape)).map(|demand| *demand as f64 / one).collect()
        };
        let proportions: Vec<Vec<f64>> = packing.shapes.iter().map(proportions).collect();
        let bits =
            |amounts: &mut dyn Iterator<Item = &u128>| 128 - amounts.max().map_or(128, |n| n.leading_zeros());
        let demand_bits = bits(&mut packing.shapes.iter().flat_map(|shape| &shape.demand));
        let capacity_bits = bits(&mut packing.classes.iter().flat_map(|class| &class.capacity));
        Self {
            shapes: &packing.shapes,
            view_of: packing.shapes.iter().map(view).collect(),
            sums: proportions.iter().map(|proportions| proportions.iter().sum()).collect(),
            proportions,
            references,
            small: demand_bits + capacity_bits + (packing.width.ilog2() + 1) <= 128,
        }
    }
}

impl Score for Mismatch<'_> {
    fn views(&self) -> usize {
        self.references.len()
    }

    fn view(&self, shape: usize) -> usize {
        self.view_of[shape]
    }

    fn coordinates(&self, view: usize, free: &[f64], point: &mut Vec<f64>) -> bool {
        let one = free[self.references[view]];
        point.extend(others(free, self.references[view]).map(|free| free / one));
        if point.len() > 1 {
            point.push(point.iter().sum());
        }
        one > 0.0
    }

    fn cost(&self, shape: usize, point: &[f64]) -> f64 {
        point.iter().zip(&self.proportions[shape]).map(|(free, demanded)| (demanded - free).abs()).sum()
    }

    fn offset(&self, shape: usize) -> f64 {
        // The rounded terms are Σ D_r / D_1 and Σ c_r / c_1, which is at most Σ D_r / D_1 + H.
        2.0 * self.sums[shape]
    }

    fn bound(&self, shape: usize, low: &[f64], high: &[f64]) -> f64 {
        let apart = |low: &f64, high: &f64, demanded: &f64| (low - demanded).max(demanded - high).max(0.0);
        let proportions = &self.proportions[shape];
        let sides = low.iter().zip(high).zip(proportions);
        let bound: f64 = sides.map(|((low, high), demanded)| apart(low, high, demanded)).sum();
        // H is also at least the difference of the sums, which tells more about servers far off to one side.
        let sum = proportions.len();
        if sum > 1 { bound.max(apart(&low[sum], &high[sum], &self.sums[shape])) } else { bound }
    }

    fn compare(&self, shape: usize, a: &[u128], b: &[u128]) -> Ordering {
        let (demand, reference) = (&self.shapes[shape].demand, self.references[self.view_of[shape]]);
        if self.small {
            let mismatch = |free| (mismatch::<u128>(demand, free, reference), free[reference]);
            compare_ratios(mismatch(a), mismatch(b))
        } else {
            let mismatch = |free| mismatch::<BigUint>(demand, free, reference);
            (mismatch(a) * b[reference]).cmp(&(mismatch(b) * a[reference]))
        }
    }
}

/// The entries of all resources but one.
fn others<T>(amounts: &[T], reference: usize) -> impl Iterator<Item = &T> {
    amounts.iter().enumerate().filter(move |(r, _)| *r != reference).map(|(_, amount)| amount)
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
