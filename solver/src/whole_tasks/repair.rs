//! Tasks that found no room: other tasks move to make it, and where that does not help, the target goes down, one breakpoint
//! at a time, and tasks that are then one too many give up theirs.

use super::breakpoints::Breakpoints;
use super::packing::{Class, Packing, Shape, copies, fits, less, more};
use super::servers::Servers;
use fairplan_instances::{Breakpoint, Deadline};

/// After so many breakpoints, which are then very close, the target goes down by one in so many of its tasks at a time.
const SINGLY: u64 = 1_000;
const COARSELY: u64 = 1_000;

/// The servers while tasks move.
pub(super) struct Repair<'a> {
    packing: &'a Packing,
    pub servers: Servers,
    /// Tasks needed and not placed, and placed and not needed, of each shape.
    pub missing: Vec<u64>,
    /// The part of a server that a task of each shape takes where it takes least.
    sizes: Vec<f64>,
    pub spare: Vec<u64>,
    /// Of each shape whether its tasks have room nowhere, as far as is known.
    pub has_no_room: Vec<bool>,
}

impl<'a> Repair<'a> {
    pub fn new(packing: &'a Packing, servers: Servers, missing: Vec<u64>) -> Self {
        let shapes = packing.shapes.len();
        let size = |shape: &Shape| -> f64 {
            let of = |class: &Class| {
                let parts = shape.demand.iter().zip(&class.capacity);
                parts.map(|(d, c)| *d as f64 / (*c).max(1) as f64).sum::<f64>()
            };
            packing.classes.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let sizes = packing.shapes.iter().map(size).collect();
        Self { packing, servers, missing, sizes, spare: vec![0; shapes], has_no_room: vec![false; shapes] }
    }

    /// Finds room for what is missing, at `target` or at the first breakpoint below where there is room for all.
    pub fn run(&mut self, breakpoints: &Breakpoints, mut target: Breakpoint, stop: &Deadline) {
        let mut needed = self.packing.need(&breakpoints.required(target, false));
        for step in 1u64.. {
            self.place_missing(stop);
            if self.missing.iter().all(|missing| *missing == 0) || stop.is_over() {
                return;
            }
            let Some(below) = breakpoints.below(target) else { return };
            target = below;
            if step > SINGLY {
                target.tasks -= target.tasks / COARSELY;
            }
            let less = self.packing.need(&breakpoints.required(target, false));
            for (s, (before, now)) in needed.iter().zip(&less).enumerate() {
                let dropped = before - now;
                let settled = dropped.min(self.missing[s]);
                self.missing[s] -= settled;
                self.spare[s] += dropped - settled;
            }
            needed = less;
        }
    }

    pub fn place_missing(&mut self, stop: &Deadline) {
        // The largest are the hardest to place.
        let mut order: Vec<usize> = (0..self.missing.len()).filter(|&s| self.missing[s] > 0).collect();
        order.sort_by(|a, b| self.sizes[*b].total_cmp(&self.sizes[*a]).then(a.cmp(b)));
        for s in order {
            while self.missing[s] > 0 && !stop.is_over() {
                let placed = self.place(s, stop);
                if placed == 0 {
                    break;
                }
                self.missing[s] -= placed;
            }
        }
    }

    /// Places some tasks of those missing; returns how many. The server with the least room to spare has still less after
    /// each of them.
    fn place(&mut self, s: usize, stop: &Deadline) -> u64 {
        if let Some(server) = self.room(s, None) {
            let room = copies(&self.packing.shapes[s].demand, &self.servers.free[server]);
            let room = if self.packing.has_rules { 1 } else { room };
            let count = room.min(self.missing[s]);
            self.servers.add_many(self.packing, server, s, count);
            return count;
        }
        u64::from(
            self.instead_of_spare(s) || self.after_moving_one(s, stop) || self.after_moving_two(s, stop),
        )
    }

    /// The server with room for a task that has the least room to spare, other than `except`.
    fn room(&mut self, s: usize, except: Option<usize>) -> Option<usize> {
        if self.has_no_room[s] {
            return None;
        }
        let mut best: Option<(f64, usize)> = None;
        let mut is_only_there = false;
        for (l, range) in self.servers.of_class.iter().enumerate() {
            if self.packing.shapes[s].copies[l] == 0 {
                continue;
            }
            let capacity = &self.packing.classes[l].capacity;
            for server in range.clone() {
                let free = &self.servers.free[server];
                if fits(&self.packing.shapes[s].demand, free)
                    && self.servers.would_keep_rules(self.packing, server, &[], s)
                {
                    if except == Some(server) {
                        is_only_there = true;
                        continue;
                    }
                    let spare: f64 =
                        free.iter().zip(capacity).map(|(f, c)| *f as f64 / (*c).max(1) as f64).sum();
                    if best.is_none_or(|(least, _)| spare < least) {
                        best = Some((spare, server));
                    }
                }
            }
        }
        self.has_no_room[s] = best.is_none() && !is_only_there;
        best.map(|(_, server)| server)
    }

    fn take(&mut self, server: usize, shape: usize) {
        self.servers.remove(self.packing, server, shape);
        // Room on one server can be room for any shape.
        let free = &self.servers.free[server];
        for (shape, has_no_room) in self.packing.shapes.iter().zip(&mut self.has_no_room) {
            *has_no_room &= !fits(&shape.demand, free);
        }
    }

    /// Servers where `s` may run and would fit if nothing were there, each with what it lacks.
    fn candidates(&self, s: usize) -> impl Iterator<Item = usize> + '_ {
        let may_run = move |l: &usize| self.packing.shapes[s].copies[*l] > 0;
        (0..self.servers.of_class.len()).filter(may_run).flat_map(|l| self.servers.of_class[l].clone())
    }

    fn instead_of_spare(&mut self, s: usize) -> bool {
        let demand = self.packing.shapes[s].demand;
        let found = self.candidates(s).find_map(|server| {
            let free = &self.servers.free[server];
            let gives_way = |&&(other, _): &&(u32, u64)| {
                self.spare[other as usize] > 0
                    && fits(&demand, &more(free, &self.packing.shapes[other as usize].demand))
                    && self.servers.would_keep_rules(self.packing, server, &[other as usize], s)
            };
            self.servers.tasks[server].iter().find(gives_way).map(|(other, _)| (server, *other as usize))
        });
        let Some((server, other)) = found else { return false };
        self.take(server, other);
        self.spare[other] -= 1;
        self.servers.add(self.packing, server, s);
        true
    }

    fn after_moving_one(&mut self, s: usize, stop: &Deadline) -> bool {
        let demand = self.packing.shapes[s].demand;
        let servers: Vec<usize> = self.candidates(s).collect();
        for server in servers {
            if stop.is_over() {
                break;
            }
            for at in 0..self.servers.tasks[server].len() {
                let other = self.servers.tasks[server][at].0 as usize;
                let freed = more(&self.servers.free[server], &self.packing.shapes[other].demand);
                if other == s
                    || !fits(&demand, &freed)
                    || !self.servers.would_keep_rules(self.packing, server, &[other], s)
                {
                    continue;
                }
                if let Some(elsewhere) = self.room(other, Some(server)) {
                    self.take(server, other);
                    self.servers.add(self.packing, elsewhere, other);
                    self.servers.add(self.packing, server, s);
                    return true;
                }
            }
        }
        false
    }

    fn after_moving_two(&mut self, s: usize, stop: &Deadline) -> bool {
        let demand = self.packing.shapes[s].demand;
        let servers: Vec<usize> = self.candidates(s).collect();
        for server in servers {
            if stop.is_over() {
                break;
            }
            let kinds = self.servers.tasks[server].clone();
            for (at, (first, count)) in kinds.iter().enumerate() {
                if self.has_no_room[*first as usize] {
                    continue;
                }
                for (second, _) in &kinds[if *count > 1 { at } else { at + 1 }..] {
                    let (first, second) = (*first as usize, *second as usize);
                    let freed = more(&self.servers.free[server], &self.packing.shapes[first].demand);
                    let freed = more(&freed, &self.packing.shapes[second].demand);
                    if self.has_no_room[second]
                        || !fits(&demand, &freed)
                        || !self.servers.would_keep_rules(self.packing, server, &[first, second], s)
                    {
                        continue;
                    }
                    let Some(one) = self.room(first, Some(server)) else { break };
                    let before = self.servers.free[one];
                    self.servers.free[one] = less(&before, &self.packing.shapes[first].demand);
                    let known = self.has_no_room[second];
                    let two = self.room(second, Some(server));
                    self.has_no_room[second] = known;
                    self.servers.free[one] = before;
                    let Some(two) = two else { continue };
                    // Whether both keep the rules of one server is not known.
                    if self.packing.has_rules && one == two {
                        continue;
                    }
                    self.take(server, first);
                    self.take(server, second);
                    self.servers.add(self.packing, one, first);
                    self.servers.add(self.packing, two, second);
                    self.servers.add(self.packing, server, s);
                    return true;
                }
            }
        }
        false
    }
}
