//! Servers with the same free resources are one state: a rule that scores servers scores each state once.

use crate::packing::Packing;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::BuildHasher;

/// The distinct states of all servers. Servers of classes that some user may and another may not run on are
/// kept apart: classes that every user treats alike form a group, and a state belongs to one group.
pub(crate) struct States {
    width: usize,
    /// Row-major `states × width`.
    free: Vec<u128>,
    /// The same as doubles.
    free_nearly: Vec<f64>,
    group: Vec<u32>,
    /// The servers in each state, the lowest index on top: servers are only taken from the top.
    servers: Vec<BinaryHeap<Reverse<u32>>>,
    vacant: Vec<u32>,
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl States {
    /// The states of servers empty of tasks, where class `l` belongs to group `group_of[l]`.
    pub fn new(packing: &Packing, group_of: &[u32]) -> Self {
        let mut states = Self {
            width: packing.width,
            free: Vec::new(),
            free_nearly: Vec::new(),
            group: Vec::new(),
            servers: Vec::new(),
            vacant: Vec::new(),
            positions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        };
        for (class, &group) in packing.classes.iter().zip(group_of) {
            for server in class.servers.clone() {
                states.put(group, &class.capacity, server as u32);
            }
        }
        states
    }

    /// How many state numbers are in use or vacant.
    pub fn len(&self) -> usize {
        self.group.len()
    }

    /// The first server in a state, if there is any.
    pub fn first_server(&self, state: usize) -> Option<u32> {
        self.servers[state].peek().map(|server| server.0)
    }

    /// What each server in the state has free.
    pub fn free(&self, state: usize) -> &[u128] {
        &self.free[state * self.width..(state + 1) * self.width]
    }

    /// The same as nearest doubles.
    pub fn free_nearly(&self, state: usize) -> &[f64] {
        &self.free_nearly[state * self.width..(state + 1) * self.width]
    }

    /// The group of classes that the state's servers belong to.
    pub fn group(&self, state: usize) -> u32 {
        self.group[state]
    }

    /// Takes the first server of `state` out; a state without servers becomes vacant.
    pub fn take_first(&mut self, state: usize) -> Option<u32> {
        let server = self.servers[state].pop()?.0;
        if self.servers[state].is_empty() {
            let hash = self.hash(self.group[state], self.free(state));
            if let Ok(entry) = self.positions.find_entry(hash, |&other| other as usize == state) {
                entry.remove();
            }
            self.vacant.push(state as u32);
        }
        Some(server)
    }

    /// Puts a server with `free` of a group into its state. The flag tells whether the state is new.
    pub fn put(&mut self, group: u32, free: &[u128], server: u32) -> (usize, bool) {
        let hash = self.hash(group, free);
        let found = self
            .positions
            .find(hash, |&other| self.group[other as usize] == group && self.free(other as usize) == free);
        let (state, new) = match found {
            Some(&state) => (state as usize, false),
            None => (self.add(group, free, hash), true),
        };
        self.servers[state].push(Reverse(server));
        (state, new)
    }

    fn add(&mut self, group: u32, free: &[u128], hash: u64) -> usize {
        let state = self.vacant.pop().map_or(self.len(), |state| state as usize);
        if state == self.len() {
            self.free.extend_from_slice(free);
            self.free_nearly.extend(free.iter().map(|amount| *amount as f64));
            self.group.push(group);
            self.servers.push(BinaryHeap::new());
        } else {
            let row = state * self.width..(state + 1) * self.width;
            self.free[row.clone()].copy_from_slice(free);
            self.free_nearly[row].iter_mut().zip(free).for_each(|(nearly, amount)| *nearly = *amount as f64);
            self.group[state] = group;
        }
        let Self { width, free, group, positions, hasher, .. } = self;
        let rehash = |&other: &u32| {
            let other = other as usize;
            hasher.hash_one((group[other], &free[other * *width..(other + 1) * *width]))
        };
        positions.insert_unique(hash, state as u32, rehash);
        state
    }

    fn hash(&self, group: u32, free: &[u128]) -> u64 {
        self.hasher.hash_one((group, free))
    }
}

/// The group of each class: classes are together exactly when every shape may run on both or on neither.
pub(crate) fn groups(packing: &Packing) -> Vec<u32> {
    let mut group_of = vec![0u32; packing.classes.len()];
    let mut lists: Vec<&[usize]> = packing.shapes.iter().map(|shape| &shape.classes[..]).collect();
    lists.sort_unstable();
    lists.dedup();
    for list in lists {
        let mut refined = BTreeMap::new();
        for (class, group) in group_of.iter_mut().enumerate() {
            let next = refined.len() as u32;
            *group = *refined.entry((*group, list.binary_search(&class).is_ok())).or_insert(next);
        }
    }
    group_of
}
