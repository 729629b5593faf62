//! Rules inside one server: devices, of which a piece takes whole ones or a part of one, at will or by a profile, and the most pieces of
//! a user.
//!
//! What fits device by device is told exactly, by a search, for contents that are placed. What bounds contents are rows, further
//! resources that no content which fits can exceed: a piece that takes the part `x` of a device counts `min(k, ⌈(k + 1) x⌉ − 1)`,
//! one that takes `n` devices `n k`, and a device has `k`. Since `⌈y⌉ − 1 < y`, parts on one device count less than `k + 1` together.
//! With `k = 1` no two pieces of more than half a device share one. A profile counts as much more as all that a device can be cut into
//! allows: where seven of an eighth fit and no eighth, each counts 1 of 7.

use super::cuts::Cuts;
use super::quantities::{Quantities, WIDTH};
use fairplan_instances::{ClassId, Instance, ProfileId, ResourceId};
use std::sync::Arc;

/// What the rules see of a piece.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub demand: &'a Quantities,
    pub profile: Option<ProfileId>,
}

/// The devices of a resource, on whatever server.
#[derive(Clone, Debug)]
pub(super) struct Make {
    pub resource: usize,
    /// One device, in the units of the resource.
    pub size: u64,
    /// What they can be cut into, if some task has a profile.
    pub cuts: Option<Arc<Cuts>>,
}

/// The devices of one resource on a server.
#[derive(Clone, Debug)]
pub(super) struct Devices {
    pub make: Make,
    pub count: u64,
}

/// What a piece wants of the devices of a resource.
#[derive(Clone, Copy)]
pub(super) enum Want<'a> {
    Nothing,
    /// So many units of a single one.
    Part(u64),
    /// A profile, by its position among those that matter, of a single one.
    Profile(&'a Cuts, usize),
    /// So many whole ones.
    Whole(u64),
}

impl Make {
    /// What a piece wants of them.
    pub fn want(&self, piece: Piece<'_>) -> Want<'_> {
        let profile = piece.profile.filter(|of| of.resource.0 == self.resource);
        if let (Some(of), Some(cuts)) = (profile, &self.cuts) {
            return Want::Profile(cuts, cuts.position(of.number));
        }
        match piece.demand[self.resource] {
            0 => Want::Nothing,
            part if part < self.size => Want::Part(part),
            whole => Want::Whole(whole / self.size),
        }
    }
}

/// The `k` that rows may have, in the order in which they are tried.
const PARTS: [u64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Steps before it is left open whether parts fit on devices, and parts up to which it is looked at.
const STEPS: u64 = 2_000;
const MOST_PARTS: u64 = 400;

impl Devices {
    /// How many of a piece the devices hold.
    pub fn copies(&self, piece: Piece<'_>) -> u64 {
        match self.make.want(piece) {
            Want::Nothing => u64::MAX,
            Want::Part(part) => self.count * (self.make.size / part),
            Want::Profile(cuts, profile) => self.count * cuts.on_a_device(profile),
            Want::Whole(devices) => self.count / devices,
        }
    }

    /// Whether pieces, so many of each, fit on the devices; `None` if that is not found out.
    fn hold<'a>(&self, pieces: impl Iterator<Item = (Piece<'a>, u64)>) -> Option<bool> {
        let (size, mut left) = (self.make.size, self.count);
        let mut parts: Vec<(u64, u64)> = Vec::new();
        let mut cut = vec![0; self.make.cuts.as_ref().map_or(0, |cuts| cuts.len())];
        for (piece, count) in pieces {
            match self.make.want(piece) {
                Want::Nothing => {}
                Want::Part(part) => parts.push((part, count)),
                Want::Profile(_, profile) => cut[profile] += count,
                Want::Whole(devices) => match left.checked_sub(devices.saturating_mul(count)) {
                    Some(rest) => left = rest,
                    None => return Some(false),
                },
            }
        }
        // No device is both cut and shared, so the fewest that are cut leave the most to all others.
        if let Some(cuts) = &self.make.cuts {
            match left.checked_sub(cuts.fewest(&cut)?) {
                Some(rest) => left = rest,
                None => return Some(false),
            }
        }
        if parts.is_empty() {
            return Some(true);
        }
        let load = |(part, count): &(u64, u64)| u128::from(*part) * u128::from(*count);
        let room = u128::from(size) * u128::from(left);
        let Some(spare) = room.checked_sub(parts.iter().map(load).sum::<u128>()) else { return Some(false) };
        parts.sort_unstable_by(|a, b| b.cmp(a));
        let mut free = vec![size; left as usize];
        if largest_first(&parts, &mut free) {
            return Some(true);
        }
        if parts.iter().map(|(_, count)| *count).sum::<u64>() > MOST_PARTS {
            return None;
        }
        free.fill(size);
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
    pieces: impl Iterator<Item = (Piece<'a>, u64)> + Clone,
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

/// How many of one piece fit, as to devices, in the place of another, whatever is around them.
pub(super) fn in_place(makes: &[Make], one: Piece<'_>, other: Piece<'_>) -> u64 {
    let fitting = |make: &Make| match (make.want(one), make.want(other)) {
        (_, Want::Nothing) => u64::MAX,
        (Want::Whole(devices), Want::Part(part)) => devices * (make.size / part),
        (Want::Whole(devices), Want::Profile(cuts, profile)) => devices * cuts.on_a_device(profile),
        (Want::Profile(cuts, one), Want::Profile(_, other)) => cuts.in_place(one, other),
        // A device is cut or shared.
        (Want::Profile(..), _) | (_, Want::Profile(..)) => 0,
        _ => one.demand[make.resource] / other.demand[make.resource],
    };
    makes.iter().map(fitting).min().unwrap_or(u64::MAX)
}

/// A resource beside those of the instance.
pub(super) struct Row {
    make: Make,
    k: u64,
    /// What each profile counts.
    of_profiles: Vec<u64>,
}

impl Row {
    /// The rows that say most, at most so many: for each resource with devices those by which some part or profile counts for more than
    /// by all others.
    pub fn of(makes: &[Make], pieces: &[Piece<'_>], most: usize) -> Vec<Self> {
        let mut rows = Vec::new();
        for make in makes {
            let part = |piece: &Piece<'_>| match make.want(*piece) {
                Want::Part(part) => Some(part),
                _ => None,
            };
            let mut parts: Vec<u64> = pieces.iter().filter_map(part).collect();
            parts.sort_unstable();
            parts.dedup();
            // What each part and profile is of a device, as far as is known.
            let of_device = |part: &u64| *part as f64 / make.size as f64;
            let of_profile = |cuts: &Arc<Cuts>| -> Vec<f64> {
                let slices = |profile| cuts.slices(profile) as f64 / cuts.slices_of_device() as f64;
                (0..cuts.len()).map(slices).collect()
            };
            let profiles = make.cuts.as_ref().map(of_profile).unwrap_or_default();
            let mut known: Vec<f64> = parts.iter().map(of_device).chain(profiles).collect();
            for k in ks(make) {
                let row = Self::new(make, k);
                let of_parts = parts.iter().map(|part| row.of_part(*part));
                let counts: Vec<f64> = of_parts
                    .chain(row.of_profiles.iter().copied())
                    .map(|counts| counts as f64 / k as f64)
                    .collect();
                if counts.iter().zip(&known).any(|(counts, known)| counts > known) {
                    known.iter_mut().zip(counts).for_each(|(known, counts)| *known = known.max(counts));
                    rows.push(row);
                }
            }
        }
        rows.truncate(most);
        rows
    }

    fn new(make: &Make, k: u64) -> Self {
        let mut row = Self { make: make.clone(), k, of_profiles: Vec::new() };
        if let Some(cuts) = &make.cuts {
            let by_size = |profile| match cuts.slices(profile) {
                all if all == cuts.slices_of_device() => k,
                slices => dual_feasible(slices, cuts.slices_of_device(), k),
            };
            row.of_profiles = cuts.lifted(k, (0..cuts.len()).map(by_size).collect());
        }
        row
    }

    fn of_part(&self, part: u64) -> u64 {
        dual_feasible(part, self.make.size, self.k)
    }

    /// What a piece counts.
    pub fn counts(&self, piece: Piece<'_>) -> u64 {
        match self.make.want(piece) {
            Want::Nothing => 0,
            Want::Part(part) => self.of_part(part),
            Want::Profile(_, profile) => self.of_profiles[profile],
            // What is no whole number of devices runs only where there are none.
            Want::Whole(_) => {
                let demand = u128::from(piece.demand[self.make.resource]);
                u64::try_from(demand * u128::from(self.k) / u128::from(self.make.size)).unwrap_or(u64::MAX)
            }
        }
    }

    /// What a server has; where there are no devices, so much that it says nothing.
    pub fn has(&self, capacity: u64, devices: &[Devices]) -> u64 {
        match devices.iter().find(|devices| devices.make.resource == self.make.resource) {
            Some(devices) => devices.count * self.k,
            None => {
                let most = u128::from(self.k + 1) * u128::from(capacity) / u128::from(self.make.size);
                u64::try_from(most).unwrap_or(u64::MAX >> 2).min(u64::MAX >> 2)
            }
        }
    }

    pub fn resource(&self) -> usize {
        self.make.resource
    }
}

/// What a part of a device counts of the `k` that a device has.
fn dual_feasible(part: u64, size: u64, k: u64) -> u64 {
    let (part, size, k) = (u128::from(part), u128::from(size), u128::from(k));
    (((k + 1) * part).div_ceil(size) - 1).min(k) as u64
}

/// The `k` of rows that are tried: beside [`PARTS`] as many as a device holds of a profile.
fn ks(make: &Make) -> Vec<u64> {
    let of_profiles =
        make.cuts.iter().flat_map(|cuts| (0..cuts.len()).map(|profile| cuts.on_a_device(profile)));
    let mut further: Vec<u64> = of_profiles.filter(|k| !PARTS.contains(k)).collect();
    further.sort_unstable();
    further.dedup();
    PARTS.into_iter().chain(further).collect()
}

/// The devices of each resource that has any, with sizes measured in its unit.
pub(super) fn makes(instance: &Instance, measured: impl Fn(ResourceId, u128) -> u64) -> Vec<Make> {
    let resources = (0..instance.resources().len().min(WIDTH)).map(ResourceId);
    let make = |r: ResourceId| {
        let size = measured(r, instance.device_units(r)?);
        Some(Make { resource: r.0, size, cuts: Cuts::new(instance, r).map(Arc::new) })
    };
    resources.filter_map(make).collect()
}

/// The devices of a class.
pub(super) fn of_class(instance: &Instance, class: ClassId, makes: &[Make]) -> Vec<Devices> {
    let class = &instance.classes()[class.0];
    let of = |make: &Make| {
        let count = class.devices_of(ResourceId(make.resource))?;
        Some(Devices { make: make.clone(), count })
    };
    makes.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::Random;

    fn make() -> Make {
        Make { resource: 0, size: 10, cuts: None }
    }

    fn piece(demand: &Quantities) -> Piece<'_> {
        Piece { demand, profile: None }
    }

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
            let devices = Devices { make: make(), count: 1 + random.below(3) };
            let items: Vec<u64> = (0..2 + random.below(5)).map(|_| 1 + random.below(9)).collect();
            let pieces: Vec<Quantities> = items.iter().map(|item| demand(*item)).collect();
            let pieces: Vec<Piece<'_>> = pieces.iter().map(piece).collect();
            let fits = by_trying(&items, devices.count, devices.make.size);
            assert_eq!(devices.hold(pieces.iter().map(|piece| (*piece, 1))), Some(fits), "{items:?}");
            both[usize::from(fits)] += 1;
            for row in Row::of(&[make()], &pieces, 9) {
                let counted: u64 = pieces.iter().map(|piece| row.counts(*piece)).sum();
                assert!(!fits || counted <= row.has(0, std::slice::from_ref(&devices)), "{items:?}");
            }
        }
        assert!(both.iter().all(|count| *count > 500), "{both:?}");
    }

    #[test]
    fn pieces_replace_others_device_by_device() {
        let copies = |one, other| in_place(&[make()], piece(&demand(one)), piece(&demand(other)));
        assert_eq!(
            [copies(20, 4), copies(20, 10), copies(9, 4), copies(9, 10), copies(0, 1)],
            [4, 2, 2, 0, 0]
        );
        let devices = Devices { make: make(), count: 4 };
        let copies = [4, 10, 20, 30, 0].map(|amount| devices.copies(piece(&demand(amount))));
        assert_eq!(copies, [8, 4, 2, 1, u64::MAX]);
    }
}
