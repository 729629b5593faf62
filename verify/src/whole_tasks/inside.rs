//! Rules inside a server, as its contents are bounded: further resources that devices make, device by device whether tasks fit, and how
//! many of one user's tasks a server takes.
//!
//! A task that takes the part `x` of a device counts `min(k, ⌈(k + 1) x⌉ − 1)` of such a resource, one that takes `n` devices counts
//! `n k`, and a device has `k`. As `⌈y⌉ − 1 < y`, parts on one device count less than `k + 1` together, so no content that fits takes
//! more than there is.

use crate::devices::assignable;
use fairplan_instances::{ClassId, Instance, ResourceId};

/// The `k` that are used.
const PARTS: [u128; 7] = [1, 2, 3, 4, 5, 7, 9];

/// What every server has in common.
pub(super) struct Sizes {
    /// Resources with devices, and the size of one in whole units.
    sizes: Vec<(usize, u128)>,
}

/// The rules inside a server of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    /// How many resources, the last ones, are made by devices.
    pub rows: usize,
    /// Resource, number and size of devices.
    devices: Vec<(usize, u64, u128)>,
    /// Resources that have devices somewhere, and the size of one.
    sizes: Vec<(usize, u128)>,
}

impl Sizes {
    pub fn of(instance: &Instance) -> Self {
        let resources = (0..instance.resources().len()).map(ResourceId);
        Self { sizes: resources.filter_map(|r| Some((r.0, instance.device_units(r)?))).collect() }
    }

    fn rows(&self) -> impl Iterator<Item = (usize, u128, u128)> + '_ {
        self.sizes.iter().flat_map(|(r, size)| PARTS.iter().map(move |k| (*r, *size, *k)))
    }

    /// What a task takes, followed by what it counts of the resources that devices make.
    pub fn counted(&self, mut demand: Vec<u128>) -> Vec<u128> {
        let counts = |(r, size, k): (usize, u128, u128)| match demand[r] {
            0 => 0,
            part if part < size => (((k + 1) * part).div_ceil(size) - 1).min(k),
            // What is no whole number of devices runs only where there are none.
            whole => k * whole / size,
        };
        let counted: Vec<u128> = self.rows().map(counts).collect();
        demand.extend(counted);
        demand
    }

    /// What a server of a class has, in the same order, and its rules.
    pub fn inside(
        &self,
        instance: &Instance,
        class: ClassId,
        mut capacity: Vec<u128>,
    ) -> (Vec<u128>, Inside) {
        let of_class = &instance.classes()[class.0];
        let has = |(r, size, k): (usize, u128, u128)| match of_class.devices_of(ResourceId(r)) {
            Some(count) => u128::from(count) * k,
            // Without devices nothing that fits counts more.
            None => (k + 1) * capacity[r] / size,
        };
        let rows: Vec<u128> = self.rows().map(has).collect();
        capacity.extend(&rows);
        let devices = |(r, size): &(usize, u128)| Some((*r, of_class.devices_of(ResourceId(*r))?, *size));
        let devices = self.sizes.iter().filter_map(devices).collect();
        (capacity, Inside { rows: rows.len(), devices, sizes: self.sizes.clone() })
    }
}

impl Inside {
    /// Whether any task takes what these rules are about.
    pub fn concerns(&self, demand: &[u128]) -> bool {
        self.devices.iter().any(|(r, ..)| demand[*r] > 0)
    }

    /// Whether tasks, of so much of each resource and so many, fit on the devices as far as is found out.
    pub fn may_hold<'a>(&self, tasks: impl Iterator<Item = (&'a [u128], u64)> + Clone) -> bool {
        self.devices.iter().all(|(r, count, size)| {
            let demands: Vec<(u128, u64)> =
                tasks.clone().map(|(demand, count)| (demand[*r], count)).collect();
            assignable(&demands, *size, *count) != Some(false)
        })
    }

    /// How many tasks of `other` fit, as to devices, in the place of one task, whatever is around them.
    pub fn in_place(&self, one: &[u128], other: &[u128]) -> u128 {
        let fitting = |(r, size): &(usize, u128)| match (one[*r], other[*r]) {
            (_, 0) => u128::MAX,
            (whole, part) if whole >= *size && part < *size => (whole / size) * (size / part),
            (one, other) => one / other,
        };
        self.sizes.iter().map(fitting).min().unwrap_or(u128::MAX)
    }
}
