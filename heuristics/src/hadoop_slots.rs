//! Hadoop slots: a server has so many slots as it is large, a task takes one, and whoever holds the fewest is next.
//!
//! Hadoop's schedulers of that time counted slots instead of resources (DRFH Sec. I and VI). Of every resource the largest
//! server has the most that any server has; a slot is one N-th of that. A server of capacity `c` has
//! `⌊N · mean_r (c_r / largest_r)⌋` slots. A task takes one slot of a server that also has room for what it really needs; a
//! task larger than a slot never runs. Users are served by their tasks over their weights, whatever the tasks need.

use crate::filling::fill;
use crate::first_with_room::{FirstFitting, FirstWithRoom};
use crate::packing::Packing;
use crate::slots::{InSlotsInside, slot_count};
use crate::{InOrder, PlacementError, PlacementPolicy, Turn, devices};
use fairplan_instances::{ClassId, Deadline, Instance, Kind, Placement, ResourceId, ServerChoice};
use num_bigint::BigUint;
use std::num::NonZeroU32;

/// Packs one task a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HadoopSlots {
    /// How many slots the largest server has.
    pub count: NonZeroU32,
}

impl HadoopSlots {
    /// With the number that its name has behind the `=`.
    pub(crate) fn named(count: Option<&str>) -> Result<Self, PlacementError> {
        slot_count("hadoop-slots", count).map(|count| Self { count })
    }

    fn inside(&self, instance: &Instance) -> InSlotsInside {
        let slots = SlotsOfServers::of(self.count, instance);
        let first = |amounts: Vec<u128>| amounts.first().copied().unwrap_or_default();
        InSlotsInside::new(
            instance,
            |class| first(slots.of_server(instance, class)),
            |kind| first(slots.of_piece(instance, kind)),
        )
    }
}

impl PlacementPolicy for HadoopSlots {
    fn name(&self) -> String {
        format!("hadoop-slots={}", self.count)
    }

    fn turn(&self) -> Turn {
        Turn::FewestTasks
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, self.inside(instance));
        }
        let slots = SlotsOfServers::of(self.count, instance);
        let packing = Packing::new(
            instance,
            |class| slots.of_server(instance, class),
            |kind| slots.of_piece(instance, kind),
        )?;
        fill(instance, &packing, FirstWithRoom::new(&packing), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, self.inside(asked.instance))
    }

    fn choice(&self, _totals: &[u128], largest: &[u128]) -> Box<dyn ServerChoice> {
        let slots = SlotsOfServers::new(self.count, largest.to_vec());
        Box::new(InHadoopSlots { first: FirstFitting::new(1 + largest.len()), slots })
    }
}

/// What servers hold and tasks take: slots, then the resources.
struct SlotsOfServers {
    count: NonZeroU32,
    /// Of each resource the most that any server has.
    largest: Vec<u128>,
}

impl SlotsOfServers {
    fn new(count: NonZeroU32, largest: Vec<u128>) -> Self {
        Self { count, largest }
    }

    fn of(count: NonZeroU32, instance: &Instance) -> Self {
        let resources = (0..instance.resources().len()).map(ResourceId);
        Self::new(count, resources.map(|r| instance.largest_server_units(r)).collect())
    }

    fn of_server(&self, instance: &Instance, class: ClassId) -> Vec<u128> {
        let resources = (0..self.largest.len()).map(ResourceId);
        self.held(&resources.map(|r| instance.capacity_units(class, r)).collect::<Vec<_>>())
    }

    fn of_piece(&self, instance: &Instance, kind: Kind<'_>) -> Vec<u128> {
        let resources = (0..instance.resources().len()).map(ResourceId);
        self.taken(&resources.map(|r| kind.piece_units(r)).collect::<Vec<_>>())
    }

    fn held(&self, capacity: &[u128]) -> Vec<u128> {
        // N · Σ_r (c_r / largest_r) / m as one fraction, over the resources that there are.
        let (mut up, mut down) = (BigUint::ZERO, BigUint::from(1u8));
        let mut present = 0u32;
        for (amount, largest) in capacity.iter().zip(&self.largest).filter(|(_, largest)| **largest > 0) {
            up = up * *largest + &down * *amount;
            down *= *largest;
            present += 1;
        }
        let slots = up * self.count.get() / (down * present.max(1));
        // At most N, because no server has more than the largest.
        let slots = u128::try_from(slots).unwrap_or(u128::MAX);
        std::iter::once(slots).chain(capacity.iter().copied()).collect()
    }

    fn taken(&self, demand: &[u128]) -> Vec<u128> {
        let larger = |(amount, largest): (&u128, &u128)| {
            BigUint::from(*amount) * self.count.get() > BigUint::from(*largest)
        };
        let slots = if demand.iter().zip(&self.largest).any(larger) { u128::MAX } else { 1 };
        std::iter::once(slots).chain(demand.iter().copied()).collect()
    }
}

struct InHadoopSlots {
    slots: SlotsOfServers,
    first: FirstFitting,
}

impl ServerChoice for InHadoopSlots {
    fn add_server(&mut self, capacity: &[u128]) {
        self.first.add_server(&self.slots.held(capacity));
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        self.first.resize(server, &self.slots.held(from), &self.slots.held(to))
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.first.add_shape(&self.slots.taken(demand));
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        self.first.take(shape)
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        self.first.take_on(server, shape)
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.first.release(server, shape);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(count: u32) -> SlotsOfServers {
        SlotsOfServers::new(NonZeroU32::new(count).unwrap(), vec![100, 50])
    }

    #[test]
    fn a_server_has_slots_by_the_mean_of_its_parts_of_the_largest() {
        assert_eq!(slots(10).held(&[100, 50]), [10, 100, 50]);
        // (1/2 + 1/4) / 2 of ten, rounded down.
        assert_eq!(slots(10).held(&[50, 12]), [3, 50, 12]);
        assert_eq!(slots(10).held(&[50, 13]), [3, 50, 13]);
        assert_eq!(slots(16).held(&[50, 25]), [8, 50, 25]);
    }

    #[test]
    fn a_task_takes_one_slot_and_none_larger_than_a_slot_fits() {
        assert_eq!(slots(10).taken(&[10, 5]), [1, 10, 5]);
        assert_eq!(slots(10).taken(&[0, 0]), [1, 0, 0]);
        assert_eq!(slots(10).taken(&[11, 5])[0], u128::MAX);
        assert_eq!(slots(10).taken(&[10, 6])[0], u128::MAX);
    }
}
