//! Random: any server with room, all equally likely.

use crate::blocks::{Blocks, Demand};
use crate::devices::{self, Choice, Chosen, OnDevices, Servers};
use crate::filling::fill;
use crate::first_with_room::FirstFitting;
use crate::packing::Packing;
use crate::rule::Rule;
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::ops::Range;

/// Places every task on a server drawn uniformly from those with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// Seed of the ChaCha8 generator; a placement is a function of the instance and the seed.
    pub seed: u64,
}

impl PlacementPolicy for Random {
    fn name(&self) -> String {
        "random".into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, AnyInside::new(self.seed));
        }
        let packing = Packing::in_resources(instance)?;
        let rule = AnyWithRoom {
            demands: packing.shapes.iter().map(|shape| Demand::new(&shape.demand)).collect(),
            eligible: packing.shapes.iter().map(|shape| packing.servers_of(&shape.classes)).collect(),
            blocks: Blocks::new(packing.width, packing.free()),
            generator: ChaCha8Rng::seed_from_u64(self.seed),
        };
        fill(instance, &packing, rule, self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, AnyInside::new(self.seed))
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        let generator = ChaCha8Rng::seed_from_u64(self.seed);
        Box::new(AnyFitting { servers: FirstFitting::new(totals.len()), generator })
    }

    fn choice_on_devices(&self, _totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        Some(Box::new(OnDevices::new(sizes, AnyInside::new(self.seed))))
    }
}

/// So many servers are drawn in the hope of room before those with room are listed.
const DRAWS: usize = 32;

struct AnyWithRoom {
    demands: Vec<Demand>,
    /// The servers that tasks of each shape may run on.
    eligible: Vec<Vec<Range<usize>>>,
    blocks: Blocks,
    generator: ChaCha8Rng,
}

impl Rule for AnyWithRoom {
    fn take(&mut self, shape: usize) -> Option<usize> {
        take_any(&mut self.blocks, &self.eligible[shape], &self.demands[shape], &mut self.generator)
    }

    fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        self.blocks.release(server, &self.demands[shape], count);
    }

    fn allow(&mut self, packing: &Packing, shape: usize, classes: &[usize]) {
        self.eligible[shape] = packing.servers_of(classes);
    }

    /// Only where there is no other server.
    fn sure(&mut self, shape: usize) -> Option<usize> {
        match &self.eligible[shape][..] {
            [only] if only.len() == 1 => {
                self.blocks.has_room(only.start, &self.demands[shape]).then_some(only.start)
            }
            _ => None,
        }
    }

    fn free(&self, server: usize) -> &[u128] {
        self.blocks.free(server)
    }

    fn take_many(&mut self, server: usize, shape: usize, count: u64) {
        // The only server is drawn for each task; its draws are passed over.
        let words = u128::from(count) * (u64::BITS / u32::BITS) as u128;
        self.generator.set_word_pos(self.generator.get_word_pos() + words);
        self.blocks.take_many(server, &self.demands[shape], count);
    }
}

/// The same where there are rules inside servers: a part of a device is of any device with room.
struct AnyInside {
    generator: ChaCha8Rng,
    with_room: Vec<usize>,
}

impl AnyInside {
    fn new(seed: u64) -> Self {
        Self { generator: ChaCha8Rng::seed_from_u64(seed), with_room: Vec::new() }
    }

    fn any(&mut self, all: impl Iterator<Item = usize>) -> Option<usize> {
        self.with_room.clear();
        self.with_room.extend(all);
        (!self.with_room.is_empty()).then(|| self.with_room[below(&mut self.generator, self.with_room.len())])
    }
}

impl Choice for AnyInside {
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        let server = self.any(servers.with_room(shape))?;
        let device = self.any(servers.for_a_part(server, shape));
        Some(Chosen { server, device })
    }
}

/// The same among servers whose tasks come and go.
struct AnyFitting {
    servers: FirstFitting,
    generator: ChaCha8Rng,
}

impl ServerChoice for AnyFitting {
    fn add_server(&mut self, capacity: &[u128]) {
        self.servers.add_server(capacity);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        self.servers.resize(server, from, to)
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.servers.add_shape(demand);
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        let (blocks, demand) = self.servers.asked(shape);
        let all = Range { start: 0, end: blocks.servers() };
        take_any(blocks, &[all], demand, &mut self.generator)
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        self.servers.take_on(server, shape)
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.servers.release(server, shape);
    }
}

/// Takes the room of a task on a server that is drawn from those of `eligible` with room.
fn take_any(
    blocks: &mut Blocks,
    eligible: &[Range<usize>],
    demand: &Demand,
    generator: &mut ChaCha8Rng,
) -> Option<usize> {
    let servers: usize = eligible.iter().map(Range::len).sum();
    if servers == 0 {
        return None;
    }
    // A drawn server with room is uniform over those with room, and so is one drawn from their list.
    let mut drawn = (0..DRAWS).map(|_| nth(eligible, below(generator, servers)));
    let found = drawn.find(|server| blocks.has_room(*server, demand));
    let server = found.or_else(|| {
        let with_room = all_with_room(blocks, eligible, demand);
        (!with_room.is_empty()).then(|| with_room[below(generator, with_room.len())])
    })?;
    blocks.take(server, demand);
    Some(server)
}

/// The servers of `eligible` with room; blocks without any are passed over.
fn all_with_room(blocks: &mut Blocks, eligible: &[Range<usize>], demand: &Demand) -> Vec<usize> {
    let mut with_room = Vec::new();
    for range in eligible {
        let mut left = range.clone();
        while !left.is_empty()
            && let Some(server) = blocks.first(&left, demand)
        {
            with_room.push(server);
            left.start = server + 1;
        }
    }
    with_room
}

/// The `n`-th server of some ranges.
fn nth(ranges: &[Range<usize>], mut n: usize) -> usize {
    for range in ranges {
        if n < range.len() {
            return range.start + n;
        }
        n -= range.len();
    }
    n
}

/// A whole number below `bound`, exactly uniform: draws from the last, incomplete multiple are repeated.
pub(crate) fn below(generator: &mut ChaCha8Rng, bound: usize) -> usize {
    let bound = bound as u64;
    let surplus = (u64::MAX % bound + 1) % bound;
    loop {
        let draw = generator.next_u64();
        if draw <= u64::MAX - surplus {
            return (draw % bound) as usize;
        }
    }
}
