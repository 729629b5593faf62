//! A larger sum of logarithms by exchanging what servers hold for other contents that are worth nearly as much.
//!
//! What a sum lacks once servers are filled is mostly that some users have a task more or fewer than is best for them, and that
//! few servers hold less than they are worth. So each server first takes the content with which the sum is largest. Then two exchange: one mends
//! what a user has, or holds what it is worth, and another makes good the worst that this does to somebody else.

use super::knapsack::Search;
use super::logarithms::Logarithms;
use super::packing::{Packing, less};
use super::patterns::Pattern;
use super::servers::Servers;
use super::table::Table;
use crate::tolerance::whole_tasks::MORE;
use fairplan_instances::Deadline;
use hashbrown::HashMap;

/// Contents of a class may be worth this part less than the best: the largest part with which they are not too many.
const PARTS: [f64; 6] = [3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4];

/// Contents of all classes together, and nodes of the searches for them.
const CONTENTS: usize = 100_000;
const NODES: u64 = 10_000_000;

/// Tasks by which what users of a shape have may change.
const FAR: u64 = 32;

/// First exchanges that are tried for a user or a server, and servers, those that lose most.
const BREADTH: usize = 8;
const LOSING: usize = 10;

/// Exchanges that are looked at in all: some seconds' work.
const LOOKED_AT: u64 = 50_000_000;

/// What bounds the sum: the worth of a task of each shape and of a server of each class, in units of which so many count for one.
pub(super) struct Prices<'a> {
    pub tasks: &'a [u64],
    pub servers: &'a [u64],
    pub units: u64,
}

/// Exchanges contents of servers while the sum becomes larger. Nothing where a task has several pieces: what servers hold would not tell
/// who has whole tasks.
pub(super) fn exchange(
    packing: &Packing,
    logarithms: &Logarithms,
    prices: &Prices<'_>,
    servers: &mut Servers,
    stop: &Deadline,
) {
    let is_single = logarithms.bundles.iter().all(|bundle| matches!(bundle.pieces[..], [(_, 1)]));
    if is_single && !stop.is_over() {
        let mut exchange = Exchange::new(packing, logarithms, prices, servers, stop);
        exchange.run();
        exchange.write(packing, servers);
    }
}

/// What servers of a class hold, and which do.
struct Held {
    pattern: Pattern,
    servers: Vec<usize>,
}

/// A server that holds one thing takes a content of its class instead.
#[derive(Clone, Copy)]
struct Move {
    gain: f64,
    held: usize,
    content: usize,
}

struct Exchange<'a> {
    stop: &'a Deadline,
    /// Contents of each class that are worth nearly most; of each shape those with tasks of it, `(class, content)`.
    contents: Vec<Vec<Pattern>>,
    with: Vec<Vec<(usize, usize)>>,
    held: Vec<Held>,
    known: HashMap<Pattern, usize>,
    /// What users of each shape have, and their sums with so many tasks, from `first` on; none of shapes of no user.
    tasks: Vec<u64>,
    first: Vec<u64>,
    sums: Vec<Vec<f64>>,
    /// What a task of each shape and a server of each class is worth in the sum.
    values: Vec<f64>,
    server_values: Vec<f64>,
    looked_at: u64,
}

impl<'a> Exchange<'a> {
    fn new(
        packing: &Packing,
        logarithms: &Logarithms,
        prices: &Prices<'_>,
        servers: &Servers,
        stop: &'a Deadline,
    ) -> Self {
        let shapes = packing.shapes.len();
        let contents = contents(packing, prices, stop);
        let mut with = vec![Vec::new(); shapes];
        for (at, pattern) in contents.iter().flat_map(|contents| contents.iter().enumerate()) {
            pattern.tasks.iter().for_each(|(shape, _)| with[*shape as usize].push((pattern.class, at)));
        }
        let mut tasks = vec![0u64; shapes];
        servers.tasks.iter().flatten().for_each(|(shape, count)| tasks[*shape as usize] += count);
        let (mut first, mut sums) = (vec![0; shapes], vec![Vec::new(); shapes]);
        for bundle in &logarithms.bundles {
            let shape = bundle.pieces[0].0 as usize;
            first[shape] = tasks[shape].saturating_sub(FAR).max(bundle.users());
            let last = tasks[shape].saturating_add(FAR).min(bundle.most());
            sums[shape] = (first[shape]..=last).map(|tasks| bundle.sum(tasks)).collect();
        }
        let in_sum =
            |values: &[u64]| values.iter().map(|value| *value as f64 / prices.units as f64).collect();
        let mut exchange = Self {
            stop,
            contents,
            with,
            held: Vec::new(),
            known: HashMap::new(),
            tasks,
            first,
            sums,
            values: in_sum(prices.tasks),
            server_values: in_sum(prices.servers),
            looked_at: 0,
        };
        for (server, tasks) in servers.tasks.iter().enumerate() {
            let pattern = Pattern::new(servers.class[server] as usize, tasks.iter().copied());
            let held = exchange.held_as(&pattern);
            exchange.held[held].servers.push(server);
        }
        exchange
    }

    fn run(&mut self) {
        for held in 0..self.held.len() {
            while let Some(best) = self.contents_for(held, 1).first().copied().filter(|best| best.gain > MORE)
            {
                self.make(best);
            }
        }
        let mut is_better = true;
        while is_better && !self.is_over() {
            is_better = false;
            for held in self.losing() {
                if !self.held[held].servers.is_empty() {
                    let moves = self.contents_for(held, BREADTH);
                    is_better |= self.one_or_two(moves, None);
                }
            }
            let shapes = (0..self.tasks.len() as u32).filter(|shape| !self.sums[*shape as usize].is_empty());
            let mut off: Vec<(f64, u32)> = shapes.map(|shape| (self.saved(shape).0, shape)).collect();
            off.retain(|(saved, _)| *saved > MORE);
            off.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, shape) in off {
                let (saved, is_more) = self.saved(shape);
                if saved > MORE && !self.is_over() {
                    let moves = self.moves(shape, is_more, BREADTH);
                    is_better |= self.one_or_two(moves, Some(shape));
                }
            }
        }
    }

    /// Makes one of some moves, the best first, and if that alone does not make the sum larger another one with it, which mends the worst
    /// that it does; but not to users of `shape`. Returns whether the sum is larger.
    fn one_or_two(&mut self, moves: Vec<Move>, shape: Option<u32>) -> bool {
        for one in moves.into_iter().take_while(|_| !self.stop.is_over()) {
            let from = one.held;
            let to = self.make(one);
            if one.gain > MORE {
                return true;
            }
            let changed = [from, to].map(|held| self.held[held].pattern.tasks.iter());
            let others = changed.into_iter().flatten().map(|(other, _)| *other);
            let saved = others.filter(|other| Some(*other) != shape).map(|other| (self.saved(other), other));
            let worst = saved.max_by(|a, b| a.0.0.total_cmp(&b.0.0).then(b.1.cmp(&a.1)));
            let mended = worst.filter(|worst| worst.0.0 > MORE).and_then(|((_, is_more), other)| {
                self.moves(other, is_more, 1).first().copied().filter(|two| one.gain + two.gain > MORE)
            });
            if let Some(two) = mended {
                self.make(two);
                return true;
            }
            self.shift(to, from);
        }
        false
    }

    fn is_over(&self) -> bool {
        self.looked_at > LOOKED_AT || self.stop.is_over()
    }

    /// What servers hold that lose most of what they are worth.
    fn losing(&self) -> Vec<usize> {
        let loss = |held: &Held| self.server_values[held.pattern.class] - held.pattern.worth(&self.values);
        let all = self.held.iter().enumerate().filter(|(_, held)| !held.servers.is_empty());
        let mut losing: Vec<(f64, usize)> = all.map(|(at, held)| (loss(held), at)).collect();
        losing.retain(|(loss, _)| *loss > MORE);
        losing.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        losing.truncate(LOSING);
        losing.into_iter().map(|(_, at)| at).collect()
    }

    /// What a task more or one fewer would save the users of a shape beyond what it is worth, whichever is more; and whether it is
    /// one more.
    fn saved(&self, shape: u32) -> (f64, bool) {
        let value = self.values[shape as usize];
        let (more, fewer) = (self.gain(shape, 1) - value, self.gain(shape, -1) + value);
        if more > fewer { (more, true) } else { (fewer, false) }
    }

    /// What so many more tasks of a shape add to the sum.
    fn gain(&self, shape: u32, more: i64) -> f64 {
        let shape = shape as usize;
        let sum = |tasks: i64| {
            let at = usize::try_from(tasks - self.first[shape] as i64).ok()?;
            self.sums[shape].get(at).copied()
        };
        let tasks = self.tasks[shape] as i64;
        match (sum(tasks), sum(tasks + more)) {
            (Some(now), Some(then)) => then - now,
            _ => f64::NEG_INFINITY,
        }
    }

    /// What it adds to the sum that a server holds some tasks instead of others.
    fn added(&self, from: &[(u32, u64)], to: &[(u32, u64)]) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < from.len() || j < to.len() {
            let of = |(shape, count): &(u32, u64)| (*shape, *count as i64);
            let (given, taken) = (from.get(i).map_or((u32::MAX, 0), of), to.get(j).map_or((u32::MAX, 0), of));
            let shape = given.0.min(taken.0);
            let mut more = 0;
            if given.0 == shape {
                (more, i) = (more - given.1, i + 1);
            }
            if taken.0 == shape {
                (more, j) = (more + taken.1, j + 1);
            }
            if more != 0 {
                sum += self.gain(shape, more);
            }
        }
        sum
    }

    /// The best contents for a server that holds something, best first.
    fn contents_for(&mut self, held: usize, count: usize) -> Vec<Move> {
        let Held { pattern, servers } = &self.held[held];
        let mut best = Best { moves: Vec::new(), count };
        if !servers.is_empty() && !self.is_over() {
            let contents = &self.contents[pattern.class];
            for (content, to) in contents.iter().enumerate() {
                best.see(Move { gain: self.added(&pattern.tasks, &to.tasks), held, content });
            }
            self.looked_at += contents.len() as u64;
        }
        best.moves
    }

    /// The best moves after which users of a shape have more tasks, or fewer.
    fn moves(&mut self, shape: u32, is_more: bool, count: usize) -> Vec<Move> {
        let tasks = |pattern: &Pattern| {
            let of_shape = pattern.tasks.iter().find(|(other, _)| *other == shape);
            of_shape.map_or(0, |(_, count)| *count)
        };
        let mut best = Best { moves: Vec::new(), count };
        let mut looked_at = 0;
        for (at, Held { pattern, servers }) in self.held.iter().enumerate() {
            let has = tasks(pattern);
            if servers.is_empty() || (!is_more && has == 0) {
                continue;
            }
            let contents = &self.contents[pattern.class];
            let mut see = |content: usize| {
                looked_at += 1;
                let to = &contents[content];
                let then = tasks(to);
                if then != has && (then > has) == is_more {
                    best.see(Move { gain: self.added(&pattern.tasks, &to.tasks), held: at, content });
                }
            };
            match is_more {
                true => {
                    let with = self.with[shape as usize].iter().filter(|(class, _)| *class == pattern.class);
                    with.for_each(|(_, content)| see(*content));
                }
                false => (0..contents.len()).for_each(see),
            }
        }
        self.looked_at += looked_at;
        best.moves
    }

    fn held_as(&mut self, pattern: &Pattern) -> usize {
        let held = &mut self.held;
        *self.known.entry_ref(pattern).or_insert_with(|| {
            held.push(Held { pattern: pattern.clone(), servers: Vec::new() });
            held.len() - 1
        })
    }

    /// Returns what the server then holds.
    fn make(&mut self, Move { held, content, .. }: Move) -> usize {
        let pattern = self.contents[self.held[held].pattern.class][content].clone();
        let to = self.held_as(&pattern);
        self.shift(held, to);
        to
    }

    fn shift(&mut self, from: usize, to: usize) {
        let Some(server) = self.held[from].servers.pop() else { return };
        for (shape, count) in &self.held[from].pattern.tasks {
            self.tasks[*shape as usize] -= count;
        }
        for (shape, count) in &self.held[to].pattern.tasks {
            self.tasks[*shape as usize] += count;
        }
        self.held[to].servers.push(server);
    }

    fn write(self, packing: &Packing, servers: &mut Servers) {
        for Held { pattern, servers: with_it } in self.held {
            let free = less(&packing.classes[pattern.class].capacity, &pattern.load(packing));
            for server in with_it {
                servers.free[server] = free;
                servers.tasks[server].clone_from(&pattern.tasks);
            }
        }
    }
}

/// The best of some moves, so many, the best first.
struct Best {
    moves: Vec<Move>,
    count: usize,
}

impl Best {
    fn see(&mut self, one: Move) {
        let is_full = self.moves.len() == self.count;
        let is_worse = self.moves.last().is_some_and(|last| one.gain <= last.gain);
        if one.gain == f64::NEG_INFINITY || (is_full && is_worse) {
            return;
        }
        if is_full {
            self.moves.pop();
        }
        let at = self.moves.partition_point(|other| other.gain >= one.gain);
        self.moves.insert(at, one);
    }
}

/// Contents of each class that are worth nearly most; none of a class with too many of them.
fn contents(packing: &Packing, prices: &Prices<'_>, stop: &Deadline) -> Vec<Vec<Pattern>> {
    let values: Vec<f64> = prices.tasks.iter().map(|value| *value as f64).collect();
    let table = Table::new(packing, &values);
    let classes = packing.classes.len();
    let of_class = |class: usize| {
        let within = |part: f64| {
            let threshold = prices.servers[class] as f64 * (1.0 - part);
            let (budget, kept) = (NODES / classes as u64, CONTENTS / classes);
            let values = &values;
            let search =
                Search { packing, class, values, limits: None, threshold, slack: 0.0, budget, kept, stop };
            search.all(&table)
        };
        PARTS.into_iter().take_while(|_| !stop.is_over()).find_map(within).unwrap_or_default()
    };
    (0..classes).map(of_class).collect()
}
