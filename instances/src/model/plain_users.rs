//! Users who have an id and a demand and nothing else, as an instance keeps them: a million are written where they stay, and checked
//! column by column.

use super::InstanceBuilder;
use crate::{Decimal, IdTable};
use rayon::prelude::*;

/// What is known of the numbers of a column.
#[derive(Clone, Copy, Debug)]
pub struct NumberRange {
    /// The smallest power of ten.
    pub exponent: i8,
    /// The largest.
    pub largest: f64,
    /// Whether one is zero.
    pub has_zero: bool,
}

impl Default for NumberRange {
    /// Of no number.
    fn default() -> Self {
        Self { exponent: i8::MAX, largest: 0.0, has_zero: false }
    }
}

impl NumberRange {
    /// With the numbers of other rows.
    pub fn and(self, other: Self) -> Self {
        Self {
            exponent: self.exponent.min(other.exponent),
            largest: self.largest.max(other.largest),
            has_zero: self.has_zero || other.has_zero,
        }
    }
}

/// Users who have an id and a demand and nothing else, as an instance keeps them.
pub struct PlainUsers {
    /// Their ids, and where each ends.
    pub letters: Vec<u8>,
    pub ends: Vec<usize>,
    /// Their demands, user by user, and the doubles next to these.
    pub decimals: Vec<Decimal>,
    pub doubles: Vec<f64>,
    /// What is known of the demands of each resource.
    pub ranges: Vec<NumberRange>,
}

impl PlainUsers {
    /// Room for so many.
    pub fn new(users: usize, letters: usize, resources: usize) -> Self {
        let numbers = users * resources;
        Self {
            letters: vec![0; letters],
            ends: vec![0; users],
            // Zeros that the system does not hand out by itself are written side by side.
            decimals: (0..numbers).into_par_iter().with_min_len(1 << 15).map(|_| Decimal::ZERO).collect(),
            doubles: vec![0.0; numbers],
            ranges: Vec::new(),
        }
    }
}

impl InstanceBuilder {
    /// Adds users who have an id and a demand and nothing else to a builder that has none, if each of them needs something.
    pub(crate) fn plain_users(&mut self, users: PlainUsers) -> Option<()> {
        let Self { instance, largest, .. } = self;
        let PlainUsers { letters, ends, decimals, doubles, ranges } = users;
        let width = instance.resources.len();
        // Where some column has no zero everybody needs something of it.
        let may_need_nothing = ranges.iter().all(|range| range.has_zero);
        let needs_nothing = |demand: &[Decimal]| demand.iter().all(|amount| amount.is_zero());
        let is_complete = ranges.len() == width
            && instance.ids.is_empty()
            && [decimals.len(), doubles.len()] == [ends.len() * width; 2];
        if !is_complete || may_need_nothing && decimals.chunks_exact(width).any(needs_nothing) {
            return None;
        }
        instance.ids = IdTable::of(String::from_utf8(letters).ok()?, ends)?;
        for (r, range) in ranges.iter().enumerate() {
            largest[r] = largest[r].max(range.largest);
            instance.exponents[r] = instance.exponents[r].min(range.exponent);
        }
        (instance.demands, instance.demand_doubles) = (decimals, doubles);
        Some(())
    }
}
