//! Finds the first server with room, sixteen at a time and passing over whole blocks that have none.
//!
//! Room only shrinks while filling, so the first server with room for a shape only moves forward. Blocks of
//! sixteen servers, and blocks of blocks, know an upper bound of what any of their servers has free; a bound is
//! tightened when it has let a search in to no avail. Searches compare single-precision copies, for rounding
//! keeps the order of amounts: what has no room as a float has none in truth. What has is asked again exactly.

use crate::filling::Rule;
use crate::packing::{Packing, Shape, fits};
use std::ops::Range;

/// Servers in a block, and blocks in a block of the next level.
const BLOCK: usize = 1 << BLOCK_BITS;
const BLOCK_BITS: usize = 4;

/// Takes the lowest-index server with room, for any measure of room.
pub(crate) struct FirstWithRoom<'a> {
    shapes: &'a [Shape],
    /// Each shape's demand as floats.
    demands: Vec<Vec<f32>>,
    /// The servers that may still have room for each shape, as ranges from the last to the first.
    ahead: Vec<Vec<Range<usize>>>,
    /// Row-major `servers × width`.
    free: Vec<u128>,
    levels: Vec<Level>,
}

/// Upper bounds for the servers (level 0: what they have free) or for blocks of a level.
struct Level {
    /// By resource, then by position; padded with -1, which has no room, to whole blocks.
    most: Vec<Vec<f32>>,
    /// A position stands for two to the power of so many servers.
    bits: usize,
    /// Whether the bounds of a position are the highest below it.
    tight: Vec<bool>,
}

impl<'a> FirstWithRoom<'a> {
    pub fn new(packing: &'a Packing) -> Self {
        let ahead = |shape: &Shape| shape.servers(packing).into_iter().rev().collect();
        let nearly = |shape: &Shape| shape.demand.iter().map(|amount| *amount as f32).collect();
        let free = packing.free();
        let mut most = vec![Vec::with_capacity(packing.servers() + BLOCK); packing.width];
        for row in free.chunks_exact(packing.width) {
            most.iter_mut().zip(row).for_each(|(column, amount)| column.push(*amount as f32));
        }
        let mut levels = vec![Level::new(most, 0)];
        while let Some(above) = levels.last().and_then(Level::above) {
            levels.push(above);
        }
        Self {
            shapes: &packing.shapes,
            demands: packing.shapes.iter().map(nearly).collect(),
            ahead: packing.shapes.iter().map(ahead).collect(),
            free,
            levels,
        }
    }

    fn has_room(&self, server: usize, shape: usize) -> bool {
        let demand = &self.shapes[shape].demand;
        fits(demand, &self.free[server * demand.len()..])
    }

    /// The first server of a range, among those in one block of a level, with room for a task.
    fn first_in(&mut self, level: usize, block: usize, range: &Range<usize>, shape: usize) -> Option<usize> {
        let (start, bits) = (block * BLOCK, self.levels[level].bits);
        let asked = start.max(range.start >> bits)..(start + BLOCK).min(((range.end - 1) >> bits) + 1);
        let mut may_have_room = self.levels[level].may_have_room(block, &self.demands[shape]);
        while may_have_room != 0 {
            let next = may_have_room.trailing_zeros() / 8;
            may_have_room &= !(0xff << (8 * next));
            let next = start + next as usize;
            if asked.contains(&next) {
                let found = match level {
                    0 => self.has_room(next, shape).then_some(next),
                    _ => self.first_in(level - 1, next, range, shape),
                };
                if found.is_some() {
                    return found;
                }
            }
        }
        if asked == (start..start + BLOCK) {
            self.tighten(level + 1, block);
        }
        None
    }

    /// Lowers the bounds at a position of a level to the highest in its block.
    fn tighten(&mut self, level: usize, position: usize) {
        let (below, above) = self.levels.split_at_mut(level);
        let ([.., below], [this, above @ ..]) = (below, above) else { return };
        if !this.tight[position] {
            let block = position * BLOCK..(position + 1) * BLOCK;
            for (bounds, below) in this.most.iter_mut().zip(&below.most) {
                bounds[position] = highest(&below[block.clone()]);
            }
            this.tight[position] = true;
            above.iter_mut().take(1).for_each(|next| next.tight[position >> BLOCK_BITS] = false);
        }
    }

    fn first(&mut self, range: &Range<usize>, shape: usize) -> Option<usize> {
        // Most searches end where the last one did.
        if self.has_room(range.start, shape) {
            return Some(range.start);
        }
        self.first_in(self.levels.len() - 1, 0, range, shape)
    }
}

impl Rule for FirstWithRoom<'_> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        while let Some(range) = self.ahead[shape].last().cloned() {
            let Some(server) = self.first(&range, shape) else {
                self.ahead[shape].pop();
                continue;
            };
            if let Some(range) = self.ahead[shape].last_mut() {
                range.start = server;
            }
            let demand = &self.shapes[shape].demand;
            let free = &mut self.free[server * demand.len()..];
            for ((free, demand), nearly) in free.iter_mut().zip(demand).zip(&mut self.levels[0].most) {
                *free -= demand;
                nearly[server] = *free as f32;
            }
            self.levels.iter_mut().for_each(|level| level.tight[server >> level.bits] = false);
            return Some(server);
        }
        None
    }
}

impl Level {
    fn new(mut most: Vec<Vec<f32>>, bits: usize) -> Self {
        for column in &mut most {
            column.resize(column.len().max(1).next_multiple_of(BLOCK), -1.0);
        }
        let tight = vec![true; most.first().map_or(0, Vec::len)];
        Self { most, bits, tight }
    }

    /// The level of blocks of this one, unless this one is a single block.
    fn above(&self) -> Option<Self> {
        let blocks = |column: &Vec<f32>| column.chunks_exact(BLOCK).map(highest).collect();
        let is_one_block = self.most.iter().all(|column| column.len() <= BLOCK);
        (!is_one_block).then(|| Self::new(self.most.iter().map(blocks).collect(), self.bits + BLOCK_BITS))
    }

    /// One byte for each position in a block: 1 where there may be room for `demand`, else 0.
    fn may_have_room(&self, block: usize, demand: &[f32]) -> u128 {
        let mut room = [1u8; BLOCK];
        for (column, demand) in self.most.iter().zip(demand) {
            let column = &column[block * BLOCK..(block + 1) * BLOCK];
            room.iter_mut().zip(column).for_each(|(room, most)| *room &= u8::from(demand <= most));
        }
        u128::from_le_bytes(room)
    }
}

/// The highest entry of a block, found in four lanes.
fn highest(block: &[f32]) -> f32 {
    let higher = |a: f32, b: f32| if a > b { a } else { b };
    let mut lanes = [-1.0; 4];
    for four in block.chunks_exact(4) {
        lanes.iter_mut().zip(four).for_each(|(lane, amount)| *lane = higher(*amount, *lane));
    }
    lanes.into_iter().fold(-1.0, higher)
}
