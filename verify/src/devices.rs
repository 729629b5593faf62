//! Rules inside servers: whether the tasks of a server can be given devices, found by a search of our own, and how many tasks of
//! one user are there.

use crate::cuts::Cuts;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, Instance, KindId, ResourceId, ServerTasks};
use std::collections::{BTreeMap, HashSet};

/// Steps of a search, and parts in a row that it decides about, before a server counts as undecided, which is not accepted.
const MOST_STEPS: usize = 20_000_000;
const MOST_IN_A_ROW: usize = 4_000;

/// `devices`: the tasks of each server find devices; `per-server`: no more tasks of a user, or pieces of a kind, than may be are on one. The placement is
/// well-formed.
pub(crate) fn rules_inside_servers(instance: &Instance, servers: &[ServerTasks]) -> [Verdict; 2] {
    let mut inside = ["devices", "per-server"].map(|property| Worst::of(property, 0.0));
    let cuts: Vec<Option<Cuts>> =
        (0..instance.resources().len()).map(|r| Cuts::of(instance, ResourceId(r))).collect();
    for ((server, tasks), class) in servers.iter().enumerate().zip(instance.classes_of_servers()) {
        check_server(instance, &cuts, server, class, tasks, &mut inside);
    }
    inside.map(Worst::verdict)
}

/// Counts the tasks of one server against `[devices, per-server]`.
fn check_server(
    instance: &Instance,
    cuts: &[Option<Cuts>],
    server: usize,
    class: ClassId,
    tasks: &[(u32, u64)],
    inside: &mut [Worst; 2],
) {
    let [devices, per_server] = inside;
    for &(kind, count) in tasks {
        let kind = instance.kind(KindId(kind as usize));
        if let Some(most) = kind.user().per_server().filter(|most| count > *most) {
            per_server.fail(|| {
                let (user, of) = match kind.id() {
                    None => (kind.user().id(), "tasks".to_owned()),
                    Some(id) => (kind.user().id(), format!("pieces of kind {id}")),
                };
                format!("user {user} has {count} {of} on server {server}, and may have {most} on one server")
            });
        }
    }
    let (name, of_class) = (&instance.classes()[class.0].id, &instance.classes()[class.0].devices);
    for &(resource, count) in of_class {
        match hold_devices(instance, cuts[resource.0].as_ref(), (class, resource), tasks) {
            Some(true) => {}
            found => devices.fail(|| {
                let resource = &instance.resources()[resource.0];
                let fit = if found.is_some() { "do not fit" } else { "are not found to fit" };
                format!(
                    "the tasks on server {server}, of class {name}, {fit} its {count} devices of {resource}"
                )
            }),
        }
    }
}

/// Whether the devices of a resource on a server of a class hold its tasks; `None` if that is not found out. Where it has none they do.
pub(crate) fn hold_devices(
    instance: &Instance,
    cuts: Option<&Cuts>,
    (class, resource): (ClassId, ResourceId),
    tasks: &[(u32, u64)],
) -> Option<bool> {
    let devices = instance.classes()[class.0].devices_of(resource);
    let Some((count, size)) = devices.zip(instance.device_units(resource)) else { return Some(true) };
    let wanted = |&(kind, count): &(u32, u64)| {
        let kind = instance.kind(KindId(kind as usize));
        let profile = kind.profile().filter(|of| of.resource == resource);
        (kind.piece_units(resource), profile.and_then(|of| cuts?.position(of)), count)
    };
    holds(cuts, tasks.iter().map(wanted), size, count)
}

/// Whether so many devices of a size hold tasks, given as demand, profile and number: no device is both cut and shared, so what has
/// profiles is on as few as can be. `None` if that is not found out.
pub(crate) fn holds(
    cuts: Option<&Cuts>,
    tasks: impl Iterator<Item = (u128, Option<usize>, u64)>,
    size: u128,
    devices: u64,
) -> Option<bool> {
    let mut others = Vec::new();
    let mut cut = vec![0u64; cuts.map_or(0, Cuts::len)];
    for (demand, profile, count) in tasks {
        match profile {
            Some(profile) => cut[profile] = cut[profile].saturating_add(count),
            None => others.push((demand, count)),
        }
    }
    let fewest = cuts.map_or(Some(0), |cuts| cuts.fewest(&cut));
    match fewest.map(|fewest| devices.checked_sub(fewest)) {
        Some(Some(left)) => assignable(&others, size, left),
        Some(None) => Some(false),
        None => None,
    }
}

/// Whether tasks, given as demand and number, fit on so many devices of a size: whole devices for those that demand more than
/// one, else a part of one. `None` if that is not found out.
pub(crate) fn assignable(tasks: &[(u128, u64)], size: u128, devices: u64) -> Option<bool> {
    let mut whole = 0u128;
    let mut parts: BTreeMap<u128, u64> = BTreeMap::new();
    for &(demand, count) in tasks.iter().filter(|(demand, count)| *demand > 0 && *count > 0) {
        if demand < size {
            let together = parts.entry(demand).or_default();
            *together = together.checked_add(count)?;
        } else if demand.is_multiple_of(size) {
            whole = whole.saturating_add((demand / size).saturating_mul(u128::from(count)));
        } else {
            return Some(false);
        }
    }
    let Some(left) = u128::from(devices).checked_sub(whole) else { return Some(false) };
    let room = size.checked_mul(left)?;
    let total = parts
        .iter()
        .try_fold(0u128, |sum, (demand, count)| sum.checked_add(demand.checked_mul(u128::from(*count))?));
    if total.is_none_or(|total| total > room) {
        return Some(false);
    }
    let parts: Vec<(u128, u64)> = parts.into_iter().rev().collect();
    let left = usize::try_from(left).ok()?;
    if largest_first(&parts, size, left) {
        return Some(true);
    }
    let mut search =
        Search { size, parts: parts.iter().map(|(demand, _)| *demand).collect(), ..Search::default() };
    search.fits(&mut parts.iter().map(|(_, count)| *count).collect(), left)
}

/// Whether each part fits the first device with room when the largest come first.
fn largest_first(parts: &[(u128, u64)], size: u128, devices: usize) -> bool {
    let mut free = vec![size; devices];
    parts.iter().all(|&(demand, count)| {
        let mut waiting = u128::from(count);
        for free in &mut free {
            let taken = waiting.min(*free / demand);
            *free -= taken * demand;
            waiting -= taken;
        }
        waiting == 0
    })
}

/// A search through all ways to fill one device after the other. The largest part that is left is on some device, so it may be on the
/// next; and no device need be left with room for a part that another has.
#[derive(Default)]
struct Search {
    size: u128,
    /// The demands of parts, the largest first.
    parts: Vec<u128>,
    /// Steps taken, and parts that are decided about at the moment.
    steps: usize,
    in_a_row: usize,
    /// What is known not to work: devices, and how many of each part are left for them.
    failed: HashSet<(usize, Vec<u64>)>,
}

impl Search {
    /// Whether what is left of the parts fits on so many empty devices.
    fn fits(&mut self, left: &mut Vec<u64>, devices: usize) -> Option<bool> {
        let Some(largest) = left.iter().position(|count| *count > 0) else { return Some(true) };
        let total: u128 = left.iter().zip(&self.parts).map(|(count, part)| u128::from(*count) * part).sum();
        if total > self.size * devices as u128 {
            return Some(false);
        }
        self.steps += left.len();
        let key = (devices, left.clone());
        if self.failed.contains(&key) {
            return Some(false);
        }
        left[largest] -= 1;
        let found = self.fill(left, largest, self.size - self.parts[largest], devices - 1);
        left[largest] += 1;
        if found == Some(false) {
            self.failed.insert(key);
        }
        found
    }

    /// The same where one more device has so much room, for parts from `first` on.
    fn fill(&mut self, left: &mut Vec<u64>, first: usize, room: u128, devices: usize) -> Option<bool> {
        self.steps += left.len();
        if self.steps > MOST_STEPS || self.in_a_row > MOST_IN_A_ROW {
            return None;
        }
        let fits = |at: &usize| left[*at] > 0 && self.parts[*at] <= room;
        let Some(next) = (first..left.len()).find(fits) else {
            return if (0..first).any(|at| fits(&at)) { Some(false) } else { self.fits(left, devices) };
        };
        let most = u64::try_from(room / self.parts[next]).map_or(left[next], |most| most.min(left[next]));
        self.in_a_row += 1;
        let mut found = Some(false);
        for count in (0..=most).rev() {
            left[next] -= count;
            found = self.fill(left, next + 1, room - self.parts[next] * u128::from(count), devices);
            left[next] += count;
            if found != Some(false) {
                break;
            }
        }
        self.in_a_row -= 1;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_devices_and_parts_are_packed_where_that_is_possible_at_all() {
        assert_eq!(assignable(&[(20, 1), (5, 4)], 10, 4), Some(true));
        assert_eq!(assignable(&[(20, 1), (5, 5)], 10, 4), Some(false), "their sum is too much");
        assert_eq!(assignable(&[(6, 3)], 10, 2), Some(false), "two parts of 6 do not share a device");
        assert_eq!(assignable(&[(4, 2), (3, 2), (2, 3)], 10, 2), Some(true));
        assert_eq!(assignable(&[(10, 1), (1, 1)], 10, 1), Some(false));
        assert_eq!(assignable(&[(15, 1)], 10, 2), Some(false), "neither a part nor whole");
        assert_eq!(assignable(&[(1, u64::MAX)], 10, 2), Some(false));
    }

    #[test]
    fn very_many_parts_of_different_sizes_are_given_up_in_time_and_without_a_deep_search() {
        let mut state = 11u128;
        let mut parts = Vec::new();
        for _ in 0..150_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) % (1 << 61);
            parts.push((1 + state % 1_000_000, 1));
        }
        let total: u128 = parts.iter().map(|(part, _)| part).sum();
        let started = std::time::Instant::now();
        assert_ne!(assignable(&parts, total / 1000 + 1, 1000), Some(false));
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn the_search_agrees_with_trying_all_assignments() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut both = [0; 2];
        for _ in 0..2000 {
            let devices = 1 + draw(3);
            let items: Vec<u128> = (0..2 + draw(8)).map(|_| u128::from(1 + draw(9))).collect();
            let tasks: Vec<(u128, u64)> = items.iter().map(|item| (*item, 1)).collect();
            let ways = devices.pow(items.len() as u32);
            let fits = |mut way: u64| {
                let mut load = vec![0; devices as usize];
                for item in &items {
                    load[(way % devices) as usize] += item;
                    way /= devices;
                }
                load.iter().all(|load| *load <= 10)
            };
            let expected = (0..ways).any(fits);
            both[usize::from(expected)] += 1;
            assert_eq!(assignable(&tasks, 10, devices), Some(expected), "{items:?} on {devices}");
        }
        assert!(both.iter().all(|count| *count > 200), "{both:?}");
    }
}
