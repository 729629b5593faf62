//! Rules inside servers: whether the tasks of a server can be given devices, found by a search of our own, and how many tasks of
//! one user are there.

use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, Instance, KindId, ResourceId, ServerTasks};
use std::collections::HashSet;

/// States looked at before a server counts as undecided, which is not accepted.
const MOST_STATES: usize = 200_000;

/// Parts of devices on one server that a search goes through.
const MOST_PARTS: usize = 2_000;

/// `devices`: the tasks of each server find devices; `per-server`: no more tasks of a user than may be are on one. The placement is
/// well-formed.
pub(crate) fn rules_inside_servers(instance: &Instance, servers: &[ServerTasks]) -> [Verdict; 2] {
    let mut inside = ["devices", "per-server"].map(|property| Worst::of(property, 0.0));
    let classes = instance.classes().iter().enumerate();
    let classes = classes.flat_map(|(l, class)| std::iter::repeat_n(ClassId(l), class.count as usize));
    for ((server, tasks), class) in servers.iter().enumerate().zip(classes) {
        check_server(instance, server, class, tasks, &mut inside);
    }
    inside.map(Worst::verdict)
}

/// Counts the tasks of one server against `[devices, per-server]`.
fn check_server(
    instance: &Instance,
    server: usize,
    class: ClassId,
    tasks: &[(u32, u64)],
    [devices, per_server]: &mut [Worst; 2],
) {
    for &(kind, count) in tasks {
        let user = instance.kind(KindId(kind as usize)).user();
        if let Some(most) = user.per_server().filter(|most| count > *most) {
            per_server.fail(|| {
                format!(
                    "user {} has {count} tasks on server {server}, and may have {most} on one server",
                    user.id()
                )
            });
        }
    }
    let (name, of_class) = (&instance.classes()[class.0].id, &instance.classes()[class.0].devices);
    for &(resource, count) in of_class {
        let Some(size) = instance.device_units(resource) else { continue };
        let demands =
            tasks.iter().map(|&(kind, count)| (demand(instance, kind, resource), count)).collect::<Vec<_>>();
        match assignable(&demands, size, count) {
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

fn demand(instance: &Instance, kind: u32, resource: ResourceId) -> u128 {
    instance.kind(KindId(kind as usize)).piece_units(resource)
}

/// Whether tasks, given as demand and number, fit on so many devices of a size: whole devices for those that demand more than
/// one, else a part of one. `None` if that is not found out.
pub(crate) fn assignable(tasks: &[(u128, u64)], size: u128, devices: u64) -> Option<bool> {
    let mut whole = 0u128;
    let mut parts: Vec<(u128, u64)> = Vec::new();
    for &(demand, count) in tasks.iter().filter(|(demand, _)| *demand > 0) {
        if demand >= size {
            if !demand.is_multiple_of(size) {
                return Some(false);
            }
            whole = whole.saturating_add((demand / size).saturating_mul(u128::from(count)));
        } else {
            parts.push((demand, count));
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
    parts.sort_unstable_by(|a, b| b.cmp(a));
    let left = usize::try_from(left).ok()?;
    if largest_first(&parts, size, left) {
        return Some(true);
    }
    let items: Vec<u128> = parts
        .iter()
        .flat_map(|&(demand, count)| (0..count.min(MOST_PARTS as u64)).map(move |_| demand))
        .collect();
    if items.len() >= MOST_PARTS {
        return None;
    }
    let mut search = Search { items: &items, failed: HashSet::new() };
    search.fits(0, &mut vec![size; left])
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

/// A search through all ways to put items, largest first, on devices.
struct Search<'a> {
    items: &'a [u128],
    /// What is known not to work: the next item and what is free, sorted.
    failed: HashSet<(usize, Vec<u128>)>,
}

impl Search<'_> {
    fn fits(&mut self, next: usize, free: &mut Vec<u128>) -> Option<bool> {
        let Some(&item) = self.items.get(next) else { return Some(true) };
        let mut key = free.clone();
        key.sort_unstable();
        if self.failed.contains(&(next, key.clone())) {
            return Some(false);
        }
        let mut tried = HashSet::new();
        for at in 0..free.len() {
            if free[at] >= item && tried.insert(free[at]) {
                free[at] -= item;
                let found = self.fits(next + 1, free);
                free[at] += item;
                if found != Some(false) {
                    return found;
                }
            }
        }
        if self.failed.len() >= MOST_STATES {
            return None;
        }
        self.failed.insert((next, key));
        Some(false)
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
    fn the_search_agrees_with_trying_all_assignments() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut both = [0; 2];
        for _ in 0..2000 {
            let devices = 1 + draw(3);
            let items: Vec<u128> = (0..2 + draw(6)).map(|_| u128::from(1 + draw(9))).collect();
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
