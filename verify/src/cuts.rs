//! What devices can be cut into by profiles, worked out from what the instance says of each: which tasks one device holds, and whether so
//! few devices hold so many of each.

use fairplan_instances::{Instance, KindId, ProfileId, ResourceId};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Ways to cut one device beyond which nothing is decided, and steps of a search.
const MOST_WAYS: usize = 100_000;
const MOST_CONTENTS: usize = 2_000;
const MOST_STEPS: usize = 400_000;

/// No server has more devices.
const MOST_DEVICES: u64 = 1_024;

/// Answers that are kept.
const MOST_KNOWN: usize = 200_000;

/// One profile: how many slices, and where it may begin.
#[derive(Debug)]
struct Profile {
    number: usize,
    slices: u64,
    starts: Vec<u64>,
}

/// What the devices of a resource can be cut into, by profiles that some task has.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// Of one device.
    slices: u64,
    profiles: Vec<Profile>,
    /// How many tasks of each profile one device holds at once, in all ways of which no other holds more; `None`: too many.
    contents: Option<Vec<Vec<u64>>>,
    known: Mutex<HashMap<Vec<u64>, Option<u64>>>,
}

impl Cuts {
    /// Of a resource; `None` where no task has a profile of its devices.
    pub fn of(instance: &Instance, resource: ResourceId) -> Option<Self> {
        let stated = instance.profiles_of(resource)?;
        let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
        let wanted: BTreeSet<usize> = kinds
            .filter_map(|kind| kind.profile())
            .filter(|of| of.resource == resource)
            .map(|of| of.number)
            .collect();
        let profile = |number: usize| {
            let starts = stated.profiles[number].starts.iter().map(|start| u64::from(*start)).collect();
            Profile { number, slices: stated.profiles[number].slices.into(), starts }
        };
        // The largest first, which have the fewest places.
        let profiles: Vec<Profile> = wanted.into_iter().rev().map(profile).collect();
        let slices = stated.slices.into();
        let contents = fullest(slices, &profiles);
        (!profiles.is_empty()).then(|| Self { slices, profiles, contents, known: Mutex::default() })
    }

    /// How many profiles there are.
    pub fn len(&self) -> usize {
        self.profiles.len()
    }

    /// Which of them an instance's profile is.
    pub fn position(&self, of: ProfileId) -> Option<usize> {
        self.profiles.iter().position(|profile| profile.number == of.number)
    }

    /// How many slices a profile has, and a device.
    pub fn part(&self, profile: usize) -> (u64, u64) {
        (self.profiles[profile].slices, self.slices)
    }

    /// How many tasks of a profile one device holds.
    pub fn alone(&self, profile: usize) -> u64 {
        self.profiles[profile].between(0, self.slices)
    }

    /// How many tasks of a profile fit in the place of one of another, wherever that is.
    pub fn in_place(&self, one: usize, other: usize) -> u64 {
        let (one, other) = (&self.profiles[one], &self.profiles[other]);
        one.starts.iter().map(|start| other.between(*start, start + one.slices)).min().unwrap_or(0)
    }

    /// What a task of each profile counts of something of which a device has `has`: at least `counts`, with which no device has too little,
    /// and as much more as each way to cut a device allows.
    pub fn counting_more(&self, has: u128, mut counts: Vec<u128>) -> Vec<u128> {
        for profile in 0..self.profiles.len() {
            let Some(contents) = &self.contents else { break };
            let mut most = has;
            for content in contents.iter().filter(|content| content[profile] > 0) {
                let others = (0..counts.len()).filter(|other| *other != profile);
                let taken: u128 = others.map(|other| u128::from(content[other]) * counts[other]).sum();
                most = most.min(has.saturating_sub(taken) / u128::from(content[profile]));
            }
            counts[profile] = counts[profile].max(most);
        }
        counts
    }

    /// The fewest devices that hold so many tasks of each profile, or more than a server has where so many do not; `None` if that is not
    /// found out.
    pub fn fewest(&self, tasks: &[u64]) -> Option<u64> {
        if tasks.iter().all(|count| *count == 0) {
            return Some(0);
        }
        // What is kept is whole, whoever was interrupted.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(tasks) {
            return *answer;
        }
        let answer = self.searched(tasks);
        let mut known = known();
        if known.len() < MOST_KNOWN {
            known.insert(tasks.to_vec(), answer);
        }
        answer
    }

    fn searched(&self, tasks: &[u64]) -> Option<u64> {
        let contents = self.contents.as_ref()?;
        let mut search = Search { contents, slices: self, steps: 0, hopeless: HashSet::new() };
        let mut devices = self.needed(tasks);
        while devices <= MOST_DEVICES && !search.cover(tasks, devices)? {
            devices += 1;
        }
        Some(devices)
    }

    /// As many devices are needed for the slices of tasks, or for those of one profile.
    fn needed(&self, tasks: &[u64]) -> u64 {
        let mut slices = 0u128;
        let mut needed = 0u64;
        for (profile, count) in tasks.iter().enumerate() {
            slices += u128::from(*count) * u128::from(self.profiles[profile].slices);
            needed = needed.max(count.div_ceil(self.alone(profile).max(1)));
        }
        needed.max(u64::try_from(slices.div_ceil(self.slices.max(1).into())).unwrap_or(u64::MAX))
    }
}

impl Profile {
    /// How many tasks of it are beside each other between two slices.
    fn between(&self, first: u64, end: u64) -> u64 {
        let mut free = first;
        let mut count = 0;
        for start in self.starts.iter().filter(|start| **start + self.slices <= end) {
            if *start >= free {
                count += 1;
                free = start + self.slices;
            }
        }
        count
    }
}

/// How many tasks of a profile a device holds that nothing else uses.
pub(crate) fn alone_on_a_device(instance: &Instance, of: ProfileId) -> u64 {
    let Some(stated) = instance.profiles_of(of.resource) else { return 0 };
    let Some(profile) = stated.profiles.get(of.number) else { return 0 };
    let starts = profile.starts.iter().map(|start| u64::from(*start)).collect();
    let profile = Profile { number: of.number, slices: profile.slices.into(), starts };
    profile.between(0, stated.slices.into())
}

/// What one device holds at once: all ways from the first slice to the last, at each of which some profile begins or none does.
fn fullest(slices: u64, profiles: &[Profile]) -> Option<Vec<Vec<u64>>> {
    // By the slice before which all is decided.
    let mut ways: Vec<HashSet<Vec<u64>>> = vec![HashSet::new(); slices as usize + 1];
    ways[0].insert(vec![0; profiles.len()]);
    let mut all = 0;
    for slice in 0..slices {
        for way in std::mem::take(&mut ways[slice as usize]) {
            if all > MOST_WAYS {
                return None;
            }
            for (at, profile) in
                profiles.iter().enumerate().filter(|(_, profile)| profile.starts.contains(&slice))
            {
                let mut more = way.clone();
                more[at] += 1;
                all += usize::from(ways[(slice + profile.slices) as usize].insert(more));
            }
            all += usize::from(ways[slice as usize + 1].insert(way));
        }
    }
    let ended = ways.pop().unwrap_or_default();
    let mut by_tasks: Vec<Vec<u64>> = ended.into_iter().collect();
    by_tasks.sort_by_key(|way| (std::cmp::Reverse(way.iter().sum::<u64>()), way.clone()));
    let mut kept: Vec<Vec<u64>> = Vec::new();
    for way in by_tasks {
        let is_less = |other: &Vec<u64>| way.iter().zip(other).all(|(own, other)| own <= other);
        if !kept.iter().any(is_less) {
            kept.push(way);
        }
        if kept.len() > MOST_CONTENTS {
            return None;
        }
    }
    Some(kept)
}

/// A search through the ways to cut one device after the other.
struct Search<'a> {
    contents: &'a [Vec<u64>],
    slices: &'a Cuts,
    steps: usize,
    /// Tasks that so many devices do not hold.
    hopeless: HashSet<(u64, Vec<u64>)>,
}

impl Search<'_> {
    /// Whether so many devices hold these tasks; `None` if that takes too long to tell.
    fn cover(&mut self, tasks: &[u64], devices: u64) -> Option<bool> {
        let Some(first) = tasks.iter().position(|count| *count > 0) else { return Some(true) };
        if self.slices.needed(tasks) > devices || self.hopeless.contains(&(devices, tasks.to_vec())) {
            return Some(false);
        }
        // One of the first that are left is on some device; no device need hold less beside it than it could.
        let mut tried: HashSet<Vec<u64>> = HashSet::new();
        for content in self.contents.iter().filter(|content| content[first] > 0) {
            let left: Vec<u64> =
                tasks.iter().zip(content).map(|(count, held)| count.saturating_sub(*held)).collect();
            if !tried.insert(left.clone()) {
                continue;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            if self.cover(&left, devices - 1)? {
                return Some(true);
            }
        }
        self.hopeless.insert((devices, tasks.to_vec()));
        Some(false)
    }
}

#[cfg(test)]
mod tests;
