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
    members: Vec<Members>,
    vacant: Vec<u32>,
    /// The state of each server.
    state_of: Vec<u32>,
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// The servers in one state, all of one group.
struct Members {
    group: u32,
    count: u32,
    /// The lowest index. (Vacant states have whatever they had.)
    first: u32,
    /// The others. Servers that have left from the middle stay listed until they come up, or are too many.
    others: BinaryHeap<Reverse<u32>>,
}

/// The state of a server that is in none.
const NOWHERE: u32 = u32::MAX;

/// Servers that have left may stay listed if they are fewer than this, or than those that have not.
const LEFT: usize = 16;

impl States {
    /// No servers yet, in which `width` amounts are free.
    pub fn empty(width: usize) -> Self {
        Self {
            width,
            free: Vec::new(),
            members: Vec::new(),
            vacant: Vec::new(),
            state_of: Vec::new(),
            positions: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The states of servers empty of tasks, where class `l` belongs to group `group_of[l]`.
    pub fn new(packing: &Packing, group_of: &[u32]) -> Self {
        let mut states = Self::empty(packing.width);
        for (class, &group) in packing.classes.iter().zip(group_of) {
            for server in class.servers.clone() {
                states.put(group, &class.capacity, server as u32);
            }
        }
        states
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.state_of.len()
    }

    /// The state of a server.
    pub fn state_of(&self, server: u32) -> usize {
        self.state_of[server as usize] as usize
    }

    /// The states that have servers.
    pub fn in_use(&self) -> Vec<usize> {
        self.positions.iter().map(|state| *state as usize).collect()
    }

    /// What each server in the state has free.
    pub fn free(&self, state: usize) -> &[u128] {
        &self.free[state * self.width..(state + 1) * self.width]
    }

    /// The group of classes that the state's servers belong to.
    pub fn group(&self, state: usize) -> u32 {
        self.members[state].group
    }

    /// The first server in a state.
    pub fn first(&self, state: usize) -> u32 {
        self.members[state].first
    }

    /// Whether the state has only one server.
    pub fn has_one(&self, state: usize) -> bool {
        self.members[state].count == 1
    }

    /// Takes a server out of its state; a state without servers becomes vacant.
    pub fn remove(&mut self, server: u32) {
        let state = std::mem::replace(&mut self.state_of[server as usize], NOWHERE);
        let Members { group, count, first, others } = &mut self.members[state as usize];
        *count -= 1;
        if *count > 0 {
            let remains = |other: u32| self.state_of[other as usize] == state;
            if *first == server {
                while let Some(Reverse(next)) = others.pop() {
                    if remains(next) {
                        *first = next;
                        break;
                    }
                }
            } else if others.len() > 2 * *count as usize + LEFT {
                let mut listed: Vec<u32> = others.drain().map(|Reverse(other)| other).collect();
                listed.sort_unstable();
                listed.dedup();
                others.extend(listed.into_iter().filter(|other| remains(*other)).map(Reverse));
            }
            return;
        }
        others.clear();
        let group = *group;
        let hash = self.hash(group, self.free(state as usize));
        if let Ok(entry) = self.positions.find_entry(hash, |&other| other == state) {
            entry.remove();
        }
        self.vacant.push(state);
    }

    /// Puts a server of a group, which is in no state, into the state with `free`. Returns the state if it is new.
    pub fn put(&mut self, group: u32, free: &[u128], server: u32) -> Option<usize> {
        if self.state_of.len() <= server as usize {
            self.state_of.resize(server as usize + 1, NOWHERE);
        }
        let hash = self.hash(group, free);
        let same = |&other: &u32| self.group(other as usize) == group && self.free(other as usize) == free;
        let Some(&state) = self.positions.find(hash, same) else {
            let state = self.add(group, free, hash, server);
            self.state_of[server as usize] = state as u32;
            return Some(state);
        };
        self.state_of[server as usize] = state;
        let Members { count, first, others, .. } = &mut self.members[state as usize];
        *count += 1;
        others.push(Reverse(server.max(*first)));
        *first = server.min(*first);
        None
    }

    fn add(&mut self, group: u32, free: &[u128], hash: u64, server: u32) -> usize {
        let state = match self.vacant.pop() {
            Some(state) => {
                let state = state as usize;
                self.free[state * self.width..(state + 1) * self.width].copy_from_slice(free);
                // The heap is empty and keeps its memory.
                let members = &mut self.members[state];
                (members.group, members.count, members.first) = (group, 1, server);
                state
            }
            None => {
                self.free.extend_from_slice(free);
                self.members.push(Members { group, count: 1, first: server, others: BinaryHeap::new() });
                self.members.len() - 1
            }
        };
        let Self { width, free, members, positions, hasher, .. } = self;
        let rehash = |&other: &u32| {
            let other = other as usize;
            hasher.hash_one((members[other].group, &free[other * *width..(other + 1) * *width]))
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
    lists.extend(packing.sets.iter().map(|set| &set[..]));
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
