//! Distinct amounts of each resource, found again by hash.

use super::ShapeNumber;
use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use std::hash::BuildHasher;

/// An append-only list of distinct shapes: so many units of each resource.
#[derive(Clone, Default)]
pub struct Shapes {
    /// Row-major `shapes × resources`.
    units: Vec<u64>,
    resources: usize,
    slots: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Shapes {
    /// An empty list of shapes of so many resources (at least one).
    pub(super) fn new(resources: usize) -> Self {
        Self { resources, ..Self::default() }
    }

    /// The number of the shape `units`, new or known; `None` when there are too many to number.
    pub(super) fn intern(&mut self, units: &[u64]) -> Option<ShapeNumber> {
        let Self { units: all, resources, slots, hasher } = self;
        let row = |shape: u32| &all[shape as usize * *resources..][..*resources];
        let entry = slots.entry(
            hasher.hash_one(units),
            |shape| row(*shape) == units,
            |shape| hasher.hash_one(row(*shape)),
        );
        match entry {
            Entry::Occupied(known) => Some(ShapeNumber(*known.get())),
            Entry::Vacant(free) => {
                let shape = u32::try_from(all.len() / *resources).ok()?;
                free.insert(shape);
                all.extend_from_slice(units);
                Some(ShapeNumber(shape))
            }
        }
    }

    /// Units of each resource.
    pub fn units(&self, shape: ShapeNumber) -> &[u64] {
        &self.units[shape.index() * self.resources..][..self.resources]
    }

    /// How many distinct shapes there are.
    pub fn len(&self) -> usize {
        self.units.len() / self.resources.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
