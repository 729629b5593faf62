//! Slots: the largest server is divided into N equal slots, and servers and tasks are counted in whole slots
//! (the slot schedulers of DRFH Sec. VI, Table II).
//!
//! The largest server has, of every resource, the most that any server has (in the Google clusters such a
//! server exists). With `slot_r` one N-th of that, a server holds `min_r ⌊c_lr / slot_r⌋` slots and a task
//! takes `max_r ⌈D_r / slot_r⌉` slots of one server, the first with enough free. A task never uses more than
//! its slots hold, so no server is overloaded. Users are served by dominant share of what their tasks use, as
//! under the other policies: only the packing differs.

use crate::devices::{self, Choice, Chosen, Servers};
use crate::filling::fill;
use crate::first_with_room::{FirstFitting, FirstWithRoom};
use crate::packing::Packing;
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{ClassId, Deadline, Instance, Kind, KindId, Placement, ResourceId, ServerChoice};
use num_bigint::BigUint;
use std::num::NonZeroU32;

/// Packs by slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many slots the largest server is divided into.
    pub count: NonZeroU32,
}

impl Slots {
    /// With the number that its name has behind the `=`.
    pub(crate) fn named(count: Option<&str>) -> Result<Self, PlacementError> {
        slot_count("slots", count).map(|count| Self { count })
    }

    fn inside(&self, instance: &Instance) -> InSlotsInside {
        let slot = Slot::of(self.count, instance);
        InSlotsInside::new(
            instance,
            |class| slot.of_server(instance, class),
            |kind| slot.of_piece(instance, kind),
        )
    }
}

impl PlacementPolicy for Slots {
    fn name(&self) -> String {
        format!("slots={}", self.count)
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, self.inside(instance));
        }
        let slot = Slot::of(self.count, instance);
        let packing = Packing::new(
            instance,
            |class| vec![slot.of_server(instance, class)],
            |kind| vec![slot.of_piece(instance, kind)],
        )?;
        fill(instance, &packing, FirstWithRoom::new(&packing), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, self.inside(asked.instance))
    }

    fn choice(&self, _totals: &[u128], largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(InSlots {
            slot: Slot { count: self.count, largest: largest.to_vec() },
            first: FirstFitting::new(1),
        })
    }
}

/// Slots where there are rules inside servers: what a task really needs must be there, too.
pub(crate) struct InSlotsInside {
    /// Free slots of each server, and the slots that a piece of each kind takes.
    free: Vec<u128>,
    taken: Vec<u128>,
}

impl InSlotsInside {
    /// By the slots in a server of a class, and those of a piece.
    pub fn new(
        instance: &Instance,
        held: impl Fn(ClassId) -> u128,
        taken: impl Fn(Kind<'_>) -> u128,
    ) -> Self {
        let classes = instance.classes().iter().enumerate();
        let free = classes.flat_map(|(l, class)| std::iter::repeat_n(held(ClassId(l)), class.count as usize));
        let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
        Self { free: free.collect(), taken: kinds.map(taken).collect() }
    }
}

impl Choice for InSlotsInside {
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        let taken = self.taken[shape];
        let server = servers.with_room(shape).find(|server| self.free[*server] >= taken)?;
        self.free[server] -= taken;
        Some(Chosen::server(server))
    }

    fn room(&self, servers: &Servers, server: usize, shape: usize) -> u64 {
        let slots = self.free[server].checked_div(self.taken[shape]).unwrap_or(u128::MAX);
        servers.room(server, shape).min(u64::try_from(slots).unwrap_or(u64::MAX))
    }

    fn taken_back(&mut self, _servers: &Servers, server: usize, shape: usize, count: u64) {
        self.free[server] += self.taken[shape] * u128::from(count);
    }
}

/// One N-th of the largest server.
struct Slot {
    count: NonZeroU32,
    /// Of each resource the most that any server has.
    largest: Vec<u128>,
}

impl Slot {
    fn of(count: NonZeroU32, instance: &Instance) -> Self {
        let resources = (0..instance.resources().len()).map(ResourceId);
        Self { count, largest: resources.map(|r| instance.largest_server_units(r)).collect() }
    }

    fn of_server(&self, instance: &Instance, class: ClassId) -> u128 {
        self.held((0..instance.resources().len()).map(|r| instance.capacity_units(class, ResourceId(r))))
    }

    fn of_piece(&self, instance: &Instance, kind: Kind<'_>) -> u128 {
        self.taken((0..instance.resources().len()).map(|r| kind.piece_units(ResourceId(r))))
    }

    /// Whole slots in a server.
    fn held(&self, capacity: impl Iterator<Item = u128>) -> u128 {
        // c / slot = c · N / largest.
        let present = capacity.zip(&self.largest).filter(|(_, most)| **most > 0);
        present.map(|(amount, most)| scale(amount, self.count.get(), *most, false)).min().unwrap_or(0)
    }

    /// Slots that a task takes.
    fn taken(&self, demand: impl Iterator<Item = u128>) -> u128 {
        let slots = demand.zip(&self.largest).map(|(amount, most)| match (amount, most) {
            (0, _) => 0,
            // No server has any.
            (_, 0) => u128::MAX,
            _ => scale(amount, self.count.get(), *most, true),
        });
        slots.max().unwrap_or(0)
    }
}

struct InSlots {
    slot: Slot,
    first: FirstFitting,
}

impl InSlots {
    fn held(&self, capacity: &[u128]) -> [u128; 1] {
        [self.slot.held(capacity.iter().copied())]
    }
}

impl ServerChoice for InSlots {
    fn add_server(&mut self, capacity: &[u128]) {
        self.first.add_server(&self.held(capacity));
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        self.first.resize(server, &self.held(from), &self.held(to))
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.first.add_shape(&[self.slot.taken(demand.iter().copied())]);
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

/// The number of slots that the name of a policy says behind its `=`.
pub(crate) fn slot_count(policy: &'static str, count: Option<&str>) -> Result<NonZeroU32, PlacementError> {
    let refused = || PlacementError::Slots {
        named: count.map_or(policy.into(), |count| format!("{policy}={count}")),
        policy,
    };
    count.and_then(|count| count.parse().ok()).ok_or_else(refused)
}

/// `amount · times / divisor` in whole numbers, rounded up or down.
fn scale(amount: u128, times: u32, divisor: u128, round_up: bool) -> u128 {
    let extra = if round_up { divisor - 1 } else { 0 };
    let exact = || amount.checked_mul(times.into())?.checked_add(extra).map(|product| product / divisor);
    exact().unwrap_or_else(|| {
        // Larger than any server: then it is larger than u128, too, and fits nowhere.
        u128::try_from((BigUint::from(amount) * times + extra) / divisor).unwrap_or(u128::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_without_overflow() {
        assert_eq!(scale(5, 4, 10, false), 2);
        assert_eq!((scale(6, 4, 10, false), scale(6, 4, 10, true)), (2, 3));
        let big = u128::MAX / 2;
        assert_eq!((scale(big, 14, big, false), scale(big, 14, big, true)), (14, 14));
        assert_eq!(scale(big, 14, big - 1, true), 15);
    }
}
