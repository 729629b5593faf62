//! Servers filled one after the other, where there are very many unlike tasks: of those that could complete a content nearly always some leave
//! hardly any room.
//!
//! What tasks and servers are worth says only what a content may lose. So that the last servers still find all kinds of tasks, rows of shapes that are
//! alike ([`Alike`]) and classes of servers shall be used up evenly: each server begins with the row that is most behind, and what is behind counts
//! for more than it is worth, what is ahead for less.

use super::alike::Alike;
use super::least::Least;
use super::packing::{Packing, Quantities, fits, less};
use super::patterns::Pattern;
use super::rebuild::Values;
use super::servers::Servers;
use fairplan_instances::Deadline;

/// Looks at what the tasks left are worth together: so many while all are placed.
const LOOKS: u64 = 50;

/// Classes that are tried for a first task, and second tasks that are tried with it.
const CLASSES: usize = 2;
const SECOND: usize = 3;

/// Fills all servers with tasks of `need`, and reduces it to what is missing.
pub(super) fn assemble(
    packing: &Packing,
    need: &mut [u64],
    values: &Values<'_>,
    alike: &Alike,
    stop: &Deadline,
) -> Servers {
    let mut assembly = Assembly::new(packing, need, values, alike);
    while !stop.is_over() && assembly.fill_one(stop) {}
    need.copy_from_slice(&assembly.left);
    assembly.servers
}

/// Servers being filled.
struct Assembly<'a> {
    packing: &'a Packing,
    values: &'a Values<'a>,
    alike: &'a Alike,
    servers: Servers,
    /// Tasks left of each shape, and shapes that no server left can begin with.
    left: Vec<u64>,
    is_unfit: Vec<bool>,
    /// The shapes of each row, and its tasks at first and left.
    rows: Vec<Vec<usize>>,
    first: Vec<f64>,
    of_rows: Vec<f64>,
    /// What servers are worth in all, and those that are not filled yet.
    all: f64,
    unfilled: f64,
    /// What tasks count for now.
    counts: Vec<f64>,
    /// What rooms can hold at least and shapes of which tasks are left, at the last look, and the tasks that are left at the next.
    least: Least,
    there: Vec<usize>,
    next_look: u64,
    between: u64,
}

impl<'a> Assembly<'a> {
    fn new(packing: &'a Packing, need: &[u64], values: &'a Values<'a>, alike: &'a Alike) -> Self {
        let mut rows = vec![Vec::new(); alike.first.len()];
        alike.rows.iter().enumerate().for_each(|(s, row)| rows[*row].push(s));
        let in_row = |row: &Vec<usize>| row.iter().map(|s| need[*s] as f64).sum();
        let first: Vec<f64> = rows.iter().map(in_row).collect();
        let all = values.of_servers(packing);
        let tasks: u64 = need.iter().sum();
        Self {
            packing,
            values,
            alike,
            servers: Servers::new(packing, &packing.servers()),
            left: need.to_vec(),
            is_unfit: vec![false; need.len()],
            rows,
            of_rows: first.clone(),
            first,
            all,
            unfilled: all,
            counts: values.tasks.to_vec(),
            least: Least::new(packing, values.tasks, need),
            there: (0..need.len()).filter(|s| need[*s] > 0).collect(),
            next_look: tasks - tasks / LOOKS,
            between: (tasks / LOOKS).max(1),
        }
    }

    /// By how much a part of what there was is more than the part of servers that are left.
    fn behind(&self, part: f64) -> f64 {
        let due = self.unfilled / self.all;
        ((part - due) / due).clamp(-1.0, 1.0)
    }

    /// Fills one more server. Returns whether there may be others.
    fn fill_one(&mut self, stop: &Deadline) -> bool {
        if self.unfilled <= 0.0 {
            return false;
        }
        for (row, shapes) in self.rows.iter().enumerate().filter(|(row, _)| self.of_rows[*row] > 0.0) {
            let factor = 1.0 + self.behind(self.of_rows[row] / self.first[row]);
            shapes.iter().for_each(|s| self.counts[*s] = self.values.tasks[*s] * factor);
        }
        let tasks: u64 = self.left.iter().sum();
        if tasks < self.next_look {
            self.next_look = tasks.saturating_sub(self.between);
            self.least = Least::new(self.packing, &self.counts, &self.left);
            self.there.retain(|s| self.left[*s] > 0);
        }
        let Some(first) = self.next_first() else { return false };
        let demand = self.packing.shapes[first].demand;
        let room = |l: usize| less(&self.packing.classes[l].capacity, &demand);
        let mut classes: Vec<(f64, usize)> = (0..self.packing.classes.len())
            .filter(|l| self.servers.unused(*l) > 0 && self.packing.shapes[first].copies[*l] > 0)
            .map(|l| ((self.counts[first] + self.least.of(&room(l))) / self.price(l), l))
            .collect();
        classes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.left[first] -= 1;
        let mut best: Option<(f64, usize, Vec<usize>)> = None;
        for (_, l) in classes.into_iter().take(CLASSES) {
            let (worth, others) = self.complete(l, room(l), stop);
            let part = (self.counts[first] + worth) / self.price(l);
            if best.as_ref().is_none_or(|(best, ..)| part > *best) {
                best = Some((part, l, others));
            }
        }
        self.left[first] += 1;
        match best {
            Some((_, class, mut tasks)) => {
                tasks.push(first);
                self.fill(class, tasks);
            }
            None => self.is_unfit[first] = true,
        }
        true
    }

    /// What a server of a class costs: less where the class is behind.
    fn price(&self, class: usize) -> f64 {
        let part = self.servers.unused(class) as f64 / self.packing.classes[class].servers as f64;
        // However far behind, it costs something.
        self.values.servers[class] * (1.0 - self.behind(part)).max(f64::MIN_POSITIVE)
    }

    /// The shape that the next server begins with: of the row that is most behind, the one of which most tasks are left.
    fn next_first(&self) -> Option<usize> {
        let can_begin = |s: &usize| self.left[*s] > 0 && !self.is_unfit[*s];
        let rows = (0..self.rows.len()).filter(|row| self.rows[*row].iter().any(can_begin));
        let size = |row: usize| self.values.tasks[self.alike.first[row]];
        let behind = |row: &usize| self.of_rows[*row] / self.first[*row];
        let row = rows.max_by(|a, b| {
            behind(a).total_cmp(&behind(b)).then(size(*a).total_cmp(&size(*b))).then(b.cmp(a))
        })?;
        let worth = |s: usize| self.values.tasks[s];
        let shapes = self.rows[row].iter().copied().filter(can_begin);
        shapes.max_by(|a, b| {
            self.left[*a].cmp(&self.left[*b]).then(worth(*a).total_cmp(&worth(*b))).then(b.cmp(a))
        })
    }

    /// The best content that is found for a room on servers of a class: with each of the second tasks that promise most, tasks are added one by one.
    fn complete(&mut self, class: usize, room: Quantities, stop: &Deadline) -> (f64, Vec<usize>) {
        let mut best = (0.0, Vec::new());
        for second in self.promising(class, &room, SECOND) {
            let (mut room, mut worth, mut tasks) = (room, 0.0, Vec::new());
            let mut next = Some(second);
            while let Some(s) = next {
                self.left[s] -= 1;
                room = less(&room, &self.packing.shapes[s].demand);
                worth += self.counts[s];
                tasks.push(s);
                next = if stop.is_over() { None } else { self.promising(class, &room, 1).pop() };
            }
            tasks.iter().for_each(|s| self.left[*s] += 1);
            if worth > best.0 {
                best = (worth, tasks);
            }
        }
        best
    }

    /// The few shapes that fit in a room and count for most, together with what the rest of it can hold at least.
    fn promising(&self, class: usize, room: &Quantities, few: usize) -> Vec<usize> {
        let mut promising: Vec<(f64, usize)> = Vec::with_capacity(few + 1);
        for s in &self.there {
            let shape = &self.packing.shapes[*s];
            if self.left[*s] == 0 || shape.copies[class] == 0 || !fits(&shape.demand, room) {
                continue;
            }
            let worth = self.counts[*s] + self.least.of(&less(room, &shape.demand));
            if worth > 0.0 && (promising.len() < few || worth > promising[few - 1].0) {
                let at = promising.partition_point(|(other, _)| *other >= worth);
                promising.insert(at, (worth, *s));
                promising.truncate(few);
            }
        }
        promising.into_iter().map(|(_, s)| s).collect()
    }

    fn fill(&mut self, class: usize, mut tasks: Vec<usize>) {
        tasks.sort_unstable();
        tasks.iter().for_each(|s| self.of_rows[self.alike.rows[*s]] -= 1.0);
        let content = tasks.chunk_by(|a, b| a == b).map(|alike| (alike[0] as u32, alike.len() as u64));
        self.servers.fill_next(self.packing, &Pattern::new(class, content), &mut self.left);
        self.unfilled -= self.values.servers[class];
    }
}
