//! Random: any server with room, all equally likely.

use crate::filling::{Rule, fill};
use crate::packing::{Packing, fits};
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Instance, Placement};
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
            packing: &packing,
            free: packing.free(),
            eligible: packing.shapes.iter().map(|shape| shape.servers(&packing)).collect(),
            generator: ChaCha8Rng::seed_from_u64(self.seed),
        };
        fill(instance, &packing, rule)
    }
}

/// So many servers are drawn in the hope of room before all are looked at.
const DRAWS: usize = 32;

struct AnyWithRoom<'a> {
    packing: &'a Packing,
    /// Row-major `servers × width`.
    free: Vec<u128>,
    eligible: Vec<Vec<Range<usize>>>,
    generator: ChaCha8Rng,
}

impl Rule for AnyWithRoom<'_> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let demand = &self.packing.shapes[shape].demand;
        let eligible = &self.eligible[shape];
        let servers: usize = eligible.iter().map(Range::len).sum();
        if servers == 0 {
            return None;
        }
        let width = self.packing.width;
        let has_room = |server: &usize| fits(demand, &self.free[server * width..(server + 1) * width]);
        // A drawn server with room is uniform over those with room, and so is one drawn from their list.
        let mut drawn = (0..DRAWS).map(|_| nth(eligible, below(&mut self.generator, servers)));
        let found = drawn.find(has_room);
        let server = found.or_else(|| {
            let with_room: Vec<usize> = eligible.iter().cloned().flatten().filter(has_room).collect();
            (!with_room.is_empty()).then(|| with_room[below(&mut self.generator, with_room.len())])
        })?;
        let free = &mut self.free[server * width..(server + 1) * width];
        free.iter_mut().zip(demand).for_each(|(free, demand)| *free -= demand);
        Some(server)
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
