//! Slots: the largest server is divided into N equal slots, and servers and tasks are counted in whole slots
//! (the slot schedulers of DRFH Sec. VI, Table II).
//!
//! The largest server has, of every resource, the most that any server has (in the Google clusters such a
//! server exists). With `slot_r` one N-th of that, a server holds `min_r ⌊c_lr / slot_r⌋` slots and a task
//! takes `max_r ⌈D_r / slot_r⌉` slots of one server, the first with enough free. A task never uses more than
//! its slots hold, so no server is overloaded. Users are served by dominant share of what their tasks use, as
//! under the other policies: only the packing differs.

use crate::filling::fill;
use crate::first_with_room::FirstWithRoom;
use crate::packing::Packing;
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{ClassId, Instance, Placement, ResourceId};
use num_bigint::BigUint;
use std::num::NonZeroU32;

/// Packs by slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many slots the largest server is divided into.
    pub count: NonZeroU32,
}

impl PlacementPolicy for Slots {
    fn name(&self) -> String {
        format!("slots={}", self.count)
    }

    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        let largest: Vec<(ResourceId, u128)> = (0..instance.resources().len())
            .map(|r| (ResourceId(r), largest_capacity(instance, ResourceId(r))))
            .filter(|(_, most)| *most > 0)
            .collect();
        // c / slot = c · N / largest.
        let slots =
            |amount: u128, most: u128, round_up: bool| scale(amount, self.count.get(), most, round_up);
        let packing = Packing::new(
            instance,
            |class| {
                let held = |&(r, most)| slots(instance.capacity_units(class, r), most, false);
                vec![largest.iter().map(held).min().unwrap_or(0)]
            },
            |user| {
                let taken = |&(r, most)| slots(user.demand_units(r), most, true);
                vec![largest.iter().map(taken).max().unwrap_or(0)]
            },
        )?;
        fill(instance, &packing, FirstWithRoom::new(&packing))
    }
}

fn largest_capacity(instance: &Instance, resource: ResourceId) -> u128 {
    let present = instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0);
    present.map(|(l, _)| instance.capacity_units(ClassId(l), resource)).max().unwrap_or(0)
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
