//! Rules inside one server: devices, of which a piece takes whole ones or a part of one, and the most pieces of a user.
//!
//! What fits device by device is told exactly, by a search, for contents that are placed. What bounds contents are rows, further
//! resources that no content which fits can exceed: a piece that takes the part `x` of a device counts `min(k, ⌈(k + 1) x⌉ − 1)`,
//! one that takes `n` devices `n k`, and a device has `k`. Since `⌈y⌉ − 1 < y`, parts on one device count less than `k + 1` together.
//! With `k = 1` no two pieces of more than half a device share one.

use super::quantities::{Quantities, WIDTH};
use fairplan_instances::{ClassId, Instance, ResourceId};

/// The devices of one resource on a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Devices {
    pub resource: usize,
    pub count: u64,
    /// One device, in the units of the resource.
    pub size: u64,
}

/// The `k` that rows may have, in the order in which they are tried.
const PARTS: [u64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Steps before it is left open whether parts fit on devices, and parts up to which it is looked at.
const STEPS: u64 = 2_000;
const MOST_PARTS: u64 = 400;

impl Devices {
    /// How many pieces of a demand the devices hold.
    pub fn copies(&self, demand: &Quantities) -> u64 {
        match demand[self.resource] {
            0 => u64::MAX,
            part if part < self.size => self.count * (self.size / part),
            whole => self.count / (whole / self.size),
        }
    }

    /// Whether pieces, given as demand and number, fit on the devices; `None` if that is not found out.
    fn hold<'a>(&self, pieces: impl Iterator<Item = (&'a Quantities, u64)>) -> Option<bool> {
        let mut left = self.count;
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for (demand, count) in pieces {
            match demand[self.resource] {
                0 => {}
                part if part < self.size => parts.push((part, count)),
                whole => match left.checked_sub((whole / self.size).saturating_mul(count)) {
                    Some(rest) => left = rest,
                    None => return Some(false),
                },
            }
        }
        if parts.is_empty() {
            return Some(true);
        }
        let load = |(part, count): &(u64, u64)| u128::from(*part) * u128::from(*count);
        let room = u128::from(self.size) * u128::from(left);
        let Some(spare) = room.checked_sub(parts.iter().map(load).sum::<u128>()) else { return Some(false) };
        parts.sort_unstable_by(|a, b| b.cmp(a));
        let mut free = vec![self.size; left as usize];
        if largest_first(&parts, &mut free) {
            return Some(true);
        }
        if parts.iter().map(|(_, count)| *count).sum::<u64>() > MOST_PARTS {
            return None;
        }
        free.fill(self.size);
        let smallest = parts.last().map_or(0, |(part, _)| *part);
        let parts =
            parts.iter().flat_map(|(part, count)| std::iter::repeat_n(*part, *count as usize)).collect();
        Search { parts, smallest, spare, free, steps: 0 }.fit(0)
    }
}

/// Whether each part fits the first device with room when the largest come first.
fn largest_first(parts: &[(u64, u64)], free: &mut [u64]) -> bool {
    parts.iter().all(|(part, count)| {
        let mut waiting = *count;
        for free in &mut *free {
            let here = waiting.min(*free / part);
            *free -= here * part;
            waiting -= here;
        }
        waiting == 0
    })
}

/// All ways to put parts, the largest first, on devices.
struct Search {
    parts: Vec<u64>,
    smallest: u64,
    /// What may stay free.
    spare: u128,
    free: Vec<u64>,
    steps: u64,
}

impl Search {
    /// Whether the parts from `next` on fit what is free.
    fn fit(&mut self, next: usize) -> Option<bool> {
        let Some(part) = self.parts.get(next).copied() else { return Some(true) };
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        // What is too little for any part stays free.
        let lost = self.free.iter().filter(|free| **free < self.smallest).map(|free| u128::from(*free));
        if lost.sum::<u128>() > self.spare {
            return Some(false);
        }
        for at in 0..self.free.len() {
            if self.free[at] < part || self.free[..at].contains(&self.free[at]) {
                continue;
            }
            self.free[at] -= part;
            let found = self.fit(next + 1);
            self.free[at] += part;
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }
}

/// Whether pieces fit on all devices of a server.
pub(super) fn hold<'a>(
    devices: &[Devices],
    pieces: impl Iterator<Item = (&'a Quantities, u64)> + Clone,
) -> Option<bool> {
    let mut holds = Some(true);
    for of_resource in devices {
        match of_resource.hold(pieces.clone()) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => holds = None,
        }
    }
    holds
}

/// How many pieces of a demand fit, as to devices of these sizes, in the place of one of another, whatever is around them.
pub(super) fn in_place(sizes: &[(usize, u64)], one: &Quantities, other: &Quantities) -> u64 {
    let fitting = |(resource, size): &(usize, u64)| match (one[*resource], other[*resource]) {
        (_, 0) => u64::MAX,
        (whole, part) if whole >= *size && part < *size => (whole / size) * (size / part),
        (one, other) => one / other,
    };
    sizes.iter().map(fitting).min().unwrap_or(u64::MAX)
}

/// A resource beside those of the instance.
pub(super) struct Row {
    resource: usize,
    size: u64,
    k: u64,
}

impl Row {
    /// The rows that say most, at most so many: for each resource with devices those by which some part counts for more than by all
    /// others.
    pub fn of(sizes: &[(usize, u64)], pieces: &[Quantities], most: usize) -> Vec<Self> {
        let mut rows = Vec::new();
        for (resource, size) in sizes {
            let parts = pieces.iter().map(|piece| piece[*resource]).filter(|part| (1..*size).contains(part));
            let mut parts: Vec<u64> = parts.collect();
            parts.sort_unstable();
            parts.dedup();
            // What each part is of a device, as far as is known.
            let mut known: Vec<f64> = parts.iter().map(|part| *part as f64 / *size as f64).collect();
            for k in PARTS {
                let row = Self { resource: *resource, size: *size, k };
                let counts: Vec<f64> = parts.iter().map(|part| row.counts(*part) as f64 / k as f64).collect();
                if counts.iter().zip(&known).any(|(counts, known)| counts > known) {
                    known.iter_mut().zip(counts).for_each(|(known, counts)| *known = known.max(counts));
                    rows.push(row);
                }
            }
        }
        rows.truncate(most);
        rows
    }

    /// What a piece counts.
    pub fn counts(&self, demand: u64) -> u64 {
        let (demand, size, k) = (u128::from(demand), u128::from(self.size), u128::from(self.k));
        let counted = match demand {
            0 => 0,
            part if part < size => ((k + 1) * part).div_ceil(size) - 1,
            // What is no whole number of devices runs only where there are none.
            whole => whole * k / size,
        };
        counted.min(if demand < size { k } else { u128::from(u64::MAX) }) as u64
    }

    /// What a server has; where there are no devices, so much that it says nothing.
    pub fn has(&self, capacity: u64, devices: &[Devices]) -> u64 {
        match devices.iter().find(|devices| devices.resource == self.resource) {
            Some(devices) => devices.count * self.k,
            None => {
                let most = u128::from(self.k + 1) * u128::from(capacity) / u128::from(self.size);
                u64::try_from(most).unwrap_or(u64::MAX >> 2).min(u64::MAX >> 2)
            }
        }
    }

    pub fn resource(&self) -> usize {
        self.resource
    }
}

/// The size of one device of each resource that has any, measured in its unit.
pub(super) fn sizes(instance: &Instance, measured: impl Fn(ResourceId, u128) -> u64) -> Vec<(usize, u64)> {
    let resources = (0..instance.resources().len().min(WIDTH)).map(ResourceId);
    let size = |r: ResourceId| instance.device_units(r).map(|size| (r.0, measured(r, size)));
    resources.filter_map(size).collect()
}

/// The devices of a class.
pub(super) fn of_class(instance: &Instance, class: ClassId, sizes: &[(usize, u64)]) -> Vec<Devices> {
    let class = &instance.classes()[class.0];
    let of = |(resource, size): &(usize, u64)| {
        let count = class.devices_of(ResourceId(*resource))?;
        Some(Devices { resource: *resource, count, size: *size })
    };
    sizes.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::Random;

    fn demand(amount: u64) -> Quantities {
        let mut demand = Quantities::default();
        demand[0] = amount;
        demand
    }

    /// Whether items fit, by all assignments.
    fn by_trying(items: &[u64], devices: u64, size: u64) -> bool {
        (0..devices.pow(items.len() as u32)).any(|mut way| {
            let mut load = vec![0; devices as usize];
            for item in items {
                load[(way % devices) as usize] += item;
                way /= devices;
            }
            load.iter().all(|load| *load <= size)
        })
    }

    #[test]
    fn what_fits_is_what_trying_finds_and_no_row_excludes_it() {
        let mut random = Random::new(5, 0);
        let mut both = [0; 2];
        for _ in 0..2_000 {
            let devices = Devices { resource: 0, count: 1 + random.below(3), size: 10 };
            let items: Vec<u64> = (0..2 + random.below(5)).map(|_| 1 + random.below(9)).collect();
            let pieces: Vec<Quantities> = items.iter().map(|item| demand(*item)).collect();
            let fits = by_trying(&items, devices.count, devices.size);
            assert_eq!(devices.hold(pieces.iter().map(|piece| (piece, 1))), Some(fits), "{items:?}");
            both[usize::from(fits)] += 1;
            for row in Row::of(&[(0, 10)], &pieces, 9) {
                let counted: u64 = items.iter().map(|item| row.counts(*item)).sum();
                assert!(!fits || counted <= row.has(0, std::slice::from_ref(&devices)), "{items:?}");
            }
        }
        assert!(both.iter().all(|count| *count > 500), "{both:?}");
    }

    #[test]
    fn pieces_replace_others_device_by_device() {
        let sizes = [(0, 10)];
        let copies = |one, other| in_place(&sizes, &demand(one), &demand(other));
        assert_eq!(
            [copies(20, 4), copies(20, 10), copies(9, 4), copies(9, 10), copies(0, 1)],
            [4, 2, 2, 0, 0]
        );
        let devices = Devices { resource: 0, count: 4, size: 10 };
        let copies = [4, 10, 20, 30, 0].map(|amount| devices.copies(&demand(amount)));
        assert_eq!(copies, [8, 4, 2, 1, u64::MAX]);
    }
}
