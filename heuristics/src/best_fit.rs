//! Best-Fit: the server whose free resources are most like the task's demand (DRFH eq. 9).
//!
//! The cost of server `l` for user `i` is `H(i, l) = ‖D_i / D_i1 − c̄_l / c̄_l1‖₁`. The reference resource is
//! the first; for a user that demands none of it, the first that it does demand.

use crate::devices::{self, Least, OnDevices};
use crate::filling::fill;
use crate::first_with_room::{FirstFitting, FirstWithRoom};
use crate::packing::Packing;
use crate::scoring::{LeastCost, Score};
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice, compare_ratios};
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

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, Least::new(Mismatch::default()));
        }
        let packing = Packing::in_resources(instance)?;
        if packing.width == 1 {
            // All servers are equally like a demand of a single resource.
            return fill(instance, &packing, FirstWithRoom::new(&packing), self.turn(), deadline);
        }
        fill(instance, &packing, LeastCost::new(&packing, Mismatch::default()), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, Least::new(Mismatch::default()))
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        match totals.len() {
            1 => Box::new(FirstFitting::new(totals.len())),
            _ => Box::new(LeastCost::empty(totals.len(), Mismatch::default())),
        }
    }

    fn choice_on_devices(&self, _totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        Some(Box::new(OnDevices::new(sizes, Least::new(Mismatch::default()))))
    }
}

/// The score `H` of DRFH eq. 9. A view is a reference resource, and its coordinates are `c̄_r / c̄_1` for all
/// other resources, followed by their sum when there are several.
#[derive(Default)]
pub(crate) struct Mismatch {
    references: Vec<usize>,
    /// Of each shape the position of its reference resource in `references`.
    view_of: Vec<usize>,
    /// Of each shape `D_r / D_1` for all resources but the reference, and their sum.
    proportions: Vec<Vec<f64>>,
    sums: Vec<f64>,
    /// The bits of the largest demand and of the largest capacity.
    demand_bits: u32,
    capacity_bits: u32,
}

/// The bits of the largest amount.
fn bits(amounts: &[u128]) -> u32 {
    amounts.iter().map(|amount| 128 - amount.leading_zeros()).max().unwrap_or(0)
}

impl Score for Mismatch {
    fn add_capacity(&mut self, capacity: &[u128]) {
        self.capacity_bits = self.capacity_bits.max(bits(capacity));
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.demand_bits = self.demand_bits.max(bits(demand));
        let reference = demand.iter().position(|demand| *demand > 0).unwrap_or(0);
        let view = self.references.iter().position(|other| *other == reference).unwrap_or_else(|| {
            self.references.push(reference);
            self.references.len() - 1
        });
        self.view_of.push(view);
        let one = demand[reference] as f64;
        let proportions: Vec<f64> = others(demand, reference).map(|demand| *demand as f64 / one).collect();
        self.sums.push(proportions.iter().sum());
        self.proportions.push(proportions);
    }

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

    fn compare(&self, shape: usize, demand: &[u128], a: &[u128], b: &[u128]) -> Ordering {
        let reference = self.references[self.view_of[shape]];
        // Whether every `Σ_r |D_r c_1 − c_r D_1|` is below 2^128.
        let small = self.demand_bits + self.capacity_bits + (demand.len().ilog2() + 1) <= 128;
        if small {
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
