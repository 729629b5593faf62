//! Random: any server with room, all equally likely.

use crate::filling::{Rule, fill};
use crate::packing::{Packing, fits, resized};
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Instance, Placement, ServerChoice};
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

    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        let rule = AnyWithRoom {
            width: packing.width,
            demands: packing.shapes.iter().flat_map(|shape| shape.demand.iter().copied()).collect(),
            free: packing.free(),
            eligible: Eligible::Listed(packing.shapes.iter().map(|shape| shape.servers(&packing)).collect()),
            generator: ChaCha8Rng::seed_from_u64(self.seed),
        };
        fill(instance, &packing, rule)
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        let generator = ChaCha8Rng::seed_from_u64(self.seed);
        let (demands, free) = (Vec::new(), Vec::new());
        Box::new(AnyWithRoom { width: totals.len(), demands, free, eligible: Eligible::All, generator })
    }
}

/// So many servers are drawn in the hope of room before all are looked at.
const DRAWS: usize = 32;

struct AnyWithRoom {
    width: usize,
    /// Row-major `shapes × width`.
    demands: Vec<u128>,
    /// Row-major `servers × width`.
    free: Vec<u128>,
    eligible: Eligible,
    generator: ChaCha8Rng,
}

/// The servers that tasks may run on.
enum Eligible {
    All,
    /// Of each shape.
    Listed(Vec<Vec<Range<usize>>>),
}

impl AnyWithRoom {
    fn free(&self, server: usize) -> &[u128] {
        &self.free[server * self.width..(server + 1) * self.width]
    }

    fn free_mut(&mut self, server: usize) -> &mut [u128] {
        &mut self.free[server * self.width..(server + 1) * self.width]
    }
}

impl Rule for AnyWithRoom {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = self.demands[shape * self.width..(shape + 1) * self.width].to_vec();
        let all = Range { start: 0, end: self.free.len() / self.width };
        let eligible = match &self.eligible {
            Eligible::All => std::slice::from_ref(&all),
            Eligible::Listed(eligible) => &eligible[shape],
        };
        let servers: usize = eligible.iter().map(Range::len).sum();
        if servers == 0 {
            return None;
        }
        let width = self.width;
        let has_room = |server: &usize| fits(&demand, &self.free[server * width..(server + 1) * width]);
        // A drawn server with room is uniform over those with room, and so is one drawn from their list.
        let mut drawn = (0..DRAWS).map(|_| nth(eligible, below(&mut self.generator, servers)));
        let found = drawn.find(has_room);
        let server = found.or_else(|| {
            let with_room: Vec<usize> = eligible.iter().cloned().flatten().filter(has_room).collect();
            (!with_room.is_empty()).then(|| with_room[below(&mut self.generator, with_room.len())])
        })?;
        self.free_mut(server).iter_mut().zip(&demand).for_each(|(free, demand)| *free -= demand);
        Some(server)
    }
}

impl ServerChoice for AnyWithRoom {
    fn add_server(&mut self, capacity: &[u128]) {
        self.free.extend_from_slice(capacity);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        let Some(left) = resized(self.free(server), from, to) else { return false };
        self.free_mut(server).copy_from_slice(&left);
        true
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.demands.extend_from_slice(demand);
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        Rule::take(self, shape)
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        let has_room = fits(demand, free);
        if has_room {
            free.iter_mut().zip(demand).for_each(|(free, demand)| *free -= demand);
        }
        has_room
    }

    fn release(&mut self, server: usize, shape: usize) {
        let demand = &self.demands[shape * self.width..(shape + 1) * self.width];
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        free.iter_mut().zip(demand).for_each(|(free, demand)| *free += demand);
    }
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
fn below(generator: &mut ChaCha8Rng, bound: usize) -> usize {
    let bound = bound as u64;
    let surplus = (u64::MAX % bound + 1) % bound;
    loop {
        let draw = generator.next_u64();
        if draw <= u64::MAX - surplus {
            return (draw % bound) as usize;
        }
    }
}
