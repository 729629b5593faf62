//! What a device can be cut into: the contents of one device by profiles, and how few devices hold so many tasks of each.
//!
//! Contents are counts of profiles that have starts beside each other; only those matter that no other holds beside more. How few devices
//! hold some tasks is searched device by device: the task that comes first is on some device, whose content is part of one of these.

use fairplan_instances::{DeviceProfile, DeviceProfiles, Instance, KindId, ResourceId};
use hashbrown::HashSet;
use std::collections::HashMap;
use std::sync::Mutex;

/// Contents of one device, and ways to cut it, beyond which there are too many to look at; steps before it is left open how few devices are enough.
const MOST_CONTENTS: usize = 2_000;
const MOST_WAYS: usize = 100_000;
const STEPS: usize = 20_000;

/// No server has more devices.
const MOST_DEVICES: u64 = 1_024;

/// Counts of which it is remembered how few devices hold them.
const REMEMBERED: usize = 100_000;

/// What the devices of a resource can be cut into, by profiles that some task has.
#[derive(Debug)]
pub(super) struct Cuts {
    cut: DeviceProfiles,
    /// The profiles that matter, by their numbers there, those of most slices first.
    used: Vec<usize>,
    /// The contents of a device, each the count of every profile, those that no other holds beside more; `None`: too many.
    contents: Option<Vec<Vec<u64>>>,
    known: Mutex<HashMap<Vec<u64>, Option<u64>>>,
}

impl Cuts {
    /// Of a resource of an instance; `None` where no task has a profile of its devices.
    pub fn new(instance: &Instance, resource: ResourceId) -> Option<Self> {
        let cut = instance.profiles_of(resource)?;
        let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
        let of_kinds = kinds.filter_map(|kind| kind.profile()).filter(|of| of.resource == resource);
        let mut is_used = vec![false; cut.profiles.len()];
        of_kinds.for_each(|of| is_used[of.number] = true);
        let mut used: Vec<usize> = (0..cut.profiles.len()).filter(|number| is_used[*number]).collect();
        used.sort_by_key(|number| std::cmp::Reverse(cut.profiles[*number].slices));
        let masks = |number: &usize| {
            let profile = &cut.profiles[*number];
            profile.starts.iter().map(|start| profile.from(*start)).collect()
        };
        let masks: Vec<Vec<u64>> = used.iter().map(masks).collect();
        let of_any = || Self { cut: cut.clone(), contents: contents(&masks), used, known: Mutex::default() };
        (!masks.is_empty()).then(of_any)
    }

    /// How many profiles matter.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Where a profile is among those that matter, by its number in the instance.
    pub fn position(&self, number: usize) -> usize {
        self.used.iter().position(|other| *other == number).unwrap_or(0)
    }

    /// Whether a profile has room on a device of which these slices are taken.
    pub fn has_start(&self, position: usize, taken: u64) -> bool {
        self.profile(position).open(taken).next().is_some()
    }

    /// The slices that a task of a profile gets on a device of which these are taken; none without room.
    pub fn begun(&self, position: usize, taken: u64) -> u64 {
        let start = self.cut.start_for(self.used[position], taken);
        start.map_or(0, |start| self.profile(position).from(start))
    }

    fn profile(&self, position: usize) -> &DeviceProfile {
        &self.cut.profiles[self.used[position]]
    }

    /// How many slices a profile has.
    pub fn slices(&self, position: usize) -> u64 {
        self.profile(position).slices.into()
    }

    /// How many slices a device has.
    pub fn slices_of_device(&self) -> u64 {
        self.cut.slices.into()
    }

    /// How many tasks of a profile one device holds.
    pub fn on_a_device(&self, position: usize) -> u64 {
        self.profile(position).times_within(0, self.cut.slices)
    }

    /// How many tasks of `other` fit in the place of one of a profile, wherever on a device that is.
    pub fn in_place(&self, one: usize, other: usize) -> u64 {
        let (one, other) = (self.profile(one), self.profile(other));
        let places = one.starts.iter().map(|start| other.times_within(*start, start + one.slices));
        places.min().unwrap_or(0)
    }

    /// What each profile counts of a further resource of which a device has `has`, where without more it would count `least`: as much as
    /// no content of a device exceeds, those of most slices first.
    pub fn lifted(&self, has: u64, mut counts: Vec<u64>) -> Vec<u64> {
        let Some(contents) = &self.contents else { return counts };
        for profile in 0..counts.len() {
            let spare = |content: &Vec<u64>| {
                let others = content.iter().zip(&counts).enumerate().filter(|(other, _)| *other != profile);
                has.saturating_sub(others.map(|(_, (number, counts))| number * counts).sum())
                    / content[profile]
            };
            let with = contents.iter().filter(|content| content[profile] > 0);
            counts[profile] = with.map(spare).min().map_or(counts[profile], |most| most.max(counts[profile]));
        }
        counts
    }

    /// The fewest devices that hold so many tasks of each profile, or more than a server has where so many do not; `None` if that is not
    /// found out.
    pub fn fewest(&self, counts: &[u64]) -> Option<u64> {
        if counts.iter().all(|count| *count == 0) {
            return Some(0);
        }
        // Another thread that ended while it held the lock left nothing half done.
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(found) = known.get(counts) {
            return *found;
        }
        drop(known);
        let found = self.searched(counts);
        known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if known.len() < REMEMBERED {
            known.insert(counts.to_vec(), found);
        }
        found
    }

    fn searched(&self, counts: &[u64]) -> Option<u64> {
        let contents = self.contents.as_ref()?;
        let mut search = Search { cuts: self, contents, failed: HashSet::new(), steps: 0 };
        let mut devices = self.at_least(counts);
        while devices <= MOST_DEVICES && !search.hold(&mut counts.to_vec(), devices)? {
            devices += 1;
        }
        Some(devices)
    }

    /// So many devices are needed by slices alone, or by each profile alone.
    fn at_least(&self, counts: &[u64]) -> u64 {
        let alone =
            (0..counts.len()).map(|profile| counts[profile].div_ceil(self.on_a_device(profile).max(1)));
        alone.fold(self.sum(counts).div_ceil(self.slices_of_device()), u64::max)
    }

    /// The slices of so many of each profile.
    fn sum(&self, counts: &[u64]) -> u64 {
        let slices = |(profile, count): (usize, &u64)| count.saturating_mul(self.slices(profile));
        counts.iter().enumerate().map(slices).fold(0, u64::saturating_add)
    }
}

/// The counts of all ways to cut a device that no other way holds beside more; `None` if there are too many. `masks` are the slices
/// that each profile takes at each of its starts.
fn contents(masks: &[Vec<u64>]) -> Option<Vec<Vec<u64>>> {
    let mut open: Vec<(u64, Vec<u64>)> = vec![(0, vec![0; masks.len()])];
    let mut seen: HashSet<(u64, Vec<u64>)> = open.iter().cloned().collect();
    let mut full: HashSet<Vec<u64>> = HashSet::new();
    while let Some((taken, counts)) = open.pop() {
        let mut is_full = true;
        for (profile, masks) in masks.iter().enumerate() {
            for mask in masks.iter().filter(|mask| **mask & taken == 0) {
                is_full = false;
                let mut more = counts.clone();
                more[profile] += 1;
                let next = (taken | mask, more);
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    open.push(next);
                }
            }
        }
        if is_full {
            full.insert(counts);
        }
        if seen.len() > MOST_WAYS || full.len() > MOST_CONTENTS {
            return None;
        }
    }
    let holds = |a: &[u64], b: &[u64]| a != b && a.iter().zip(b).all(|(a, b)| a >= b);
    let all: Vec<Vec<u64>> = full.into_iter().collect();
    let mut kept: Vec<Vec<u64>> =
        all.iter().filter(|content| !all.iter().any(|other| holds(other, content))).cloned().collect();
    kept.sort_unstable_by(|a, b| b.cmp(a));
    Some(kept)
}

/// All ways to cut devices one after the other.
struct Search<'a> {
    cuts: &'a Cuts,
    contents: &'a [Vec<u64>],
    /// What is known to need more devices.
    failed: HashSet<(u64, Vec<u64>)>,
    steps: usize,
}

impl Search<'_> {
    /// Whether so many devices hold what is left.
    fn hold(&mut self, left: &mut Vec<u64>, devices: u64) -> Option<bool> {
        let Some(first) = left.iter().position(|count| *count > 0) else { return Some(true) };
        if self.cuts.at_least(left) > devices {
            return Some(false);
        }
        let key = (devices, left.clone());
        if self.failed.contains(&key) {
            return Some(false);
        }
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        let part = |content: &Vec<u64>| -> Vec<u64> {
            content.iter().zip(&key.1).map(|(most, left)| *most.min(left)).collect()
        };
        let with_first = self.contents.iter().filter(|content| content[first] > 0);
        let mut parts: Vec<Vec<u64>> = with_first.map(part).collect();
        parts.sort_by(|a, b| self.cuts.sum(b).cmp(&self.cuts.sum(a)).then_with(|| b.cmp(a)));
        parts.dedup();
        for part in parts {
            left.iter_mut().zip(&part).for_each(|(left, part)| *left -= part);
            let found = self.hold(left, devices - 1);
            left.iter_mut().zip(&part).for_each(|(left, part)| *left += part);
            if found != Some(false) {
                return found;
            }
        }
        self.failed.insert(key);
        Some(false)
    }
}

#[cfg(test)]
mod tests;
