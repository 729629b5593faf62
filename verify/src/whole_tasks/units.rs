//! What servers have and pieces take in the largest unit of each resource that measures all of it: an instance's own may be finer, for
//! digits that only quotas have.

use super::kinds;
use fairplan_instances::{ClassId, Instance, Kind, ResourceId};

/// Numbers longer than this are not counted with.
const BITS: u32 = 62;

/// The unit of each resource, in units of the instance.
pub(super) struct Units(Vec<u128>);

impl Units {
    pub fn of(instance: &Instance) -> Self {
        let unit = |r: ResourceId| {
            let pieces = kinds(instance).map(|kind| kind.piece_units(r));
            let all = capacities(instance, r).chain(pieces).chain(instance.device_units(r));
            all.fold(0, greatest_common_divisor).max(1)
        };
        Self((0..instance.resources().len()).map(ResourceId).map(unit).collect())
    }

    /// Refuses amounts too long to count with.
    pub fn check(&self, instance: &Instance) -> Result<(), String> {
        for r in (0..self.0.len()).map(ResourceId) {
            let mut amounts = capacities(instance, r).chain(kinds(instance).map(|kind| kind.piece_units(r)));
            if amounts.any(|amount| (amount / self.0[r.0]) >> BITS > 0) {
                return Err(format!("{} has amounts of more than {BITS} bits", instance.resources()[r.0]));
            }
        }
        Ok(())
    }

    /// What a server of a class has.
    pub fn of_server(&self, instance: &Instance, class: ClassId) -> Vec<u128> {
        self.measured(|r| instance.capacity_units(class, r))
    }

    /// What a piece of a kind takes.
    pub fn of_piece(&self, kind: Kind<'_>) -> Vec<u128> {
        self.measured(|r| kind.piece_units(r))
    }

    /// What one device has; `None` where there are none of the resource.
    pub fn of_device(&self, instance: &Instance, resource: ResourceId) -> Option<u128> {
        Some(instance.device_units(resource)? / self.0[resource.0])
    }

    fn measured(&self, amount: impl Fn(ResourceId) -> u128) -> Vec<u128> {
        self.0.iter().enumerate().map(|(r, unit)| amount(ResourceId(r)) / unit).collect()
    }
}

fn capacities(instance: &Instance, resource: ResourceId) -> impl Iterator<Item = u128> + '_ {
    (0..instance.classes().len()).map(move |l| instance.capacity_units(ClassId(l), resource))
}

pub(super) fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
