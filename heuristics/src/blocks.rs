//! What servers have free, in blocks: a search for the first with room looks at sixteen at a time and passes over whole
//! blocks that have none.
//!
//! Blocks of sixteen servers, and blocks of blocks, know an upper bound of what any of their servers has free; a bound is
//! tightened when it has let a search in to no avail. Searches compare single-precision copies, for rounding
//! keeps the order of amounts: what has no room as a float has none in truth. What has is asked again exactly.

use crate::packing::fits;
use std::ops::Range;

/// Servers in a block, and blocks in a block of the next level.
const BLOCK: usize = 1 << BLOCK_BITS;
const BLOCK_BITS: usize = 4;

/// What all servers have free.
pub(crate) struct Blocks {
    width: usize,
    /// Row-major `servers × width`.
    free: Vec<u128>,
    levels: Vec<Level>,
}

/// What a task needs, exactly and as floats.
#[derive(Clone)]
pub(crate) struct Demand {
    exact: Vec<u128>,
    nearly: Vec<f32>,
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

impl Demand {
    pub fn new(amounts: &[u128]) -> Self {
        Self { exact: amounts.to_vec(), nearly: amounts.iter().map(|amount| *amount as f32).collect() }
    }
}

impl Blocks {
    /// Servers with these amounts free, row-major `servers × width`.
    pub fn new(width: usize, free: Vec<u128>) -> Self {
        let mut most = vec![Vec::with_capacity(free.len() / width.max(1) + BLOCK); width];
        for row in free.chunks_exact(width.max(1)) {
            most.iter_mut().zip(row).for_each(|(column, amount)| column.push(*amount as f32));
        }
        let mut levels = vec![Level::new(most, 0)];
        while let Some(above) = levels.last().and_then(Level::above) {
            levels.push(above);
        }
        Self { width, free, levels }
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.free.len() / self.width.max(1)
    }

    /// Adds servers with these amounts free, row-major.
    pub fn extend(&mut self, free: &[u128]) {
        self.free.extend_from_slice(free);
        *self = Self::new(self.width, std::mem::take(&mut self.free));
    }

    /// What a server has free.
    pub fn free(&self, server: usize) -> &[u128] {
        &self.free[server * self.width..(server + 1) * self.width]
    }

    /// Whether a task has room on a server.
    pub fn has_room(&self, server: usize, demand: &Demand) -> bool {
        fits(&demand.exact, self.free(server))
    }

    /// The first server of a range that is not empty with room for a task.
    pub fn first(&mut self, range: &Range<usize>, demand: &Demand) -> Option<usize> {
        // Most searches end where the last one did.
        if self.has_room(range.start, demand) {
            return Some(range.start);
        }
        self.first_in(self.levels.len() - 1, 0, range, demand)
    }

    /// The first server of a range, among those in one block of a level, with room for a task.
    fn first_in(
        &mut self,
        level: usize,
        block: usize,
        range: &Range<usize>,
        demand: &Demand,
    ) -> Option<usize> {
        let (start, bits) = (block * BLOCK, self.levels[level].bits);
        let asked = start.max(range.start >> bits)..(start + BLOCK).min(((range.end - 1) >> bits) + 1);
        let mut may_have_room = self.levels[level].may_have_room(block, &demand.nearly);
        while may_have_room != 0 {
            let next = may_have_room.trailing_zeros() / 8;
            may_have_room &= !(0xff << (8 * next));
            let next = start + next as usize;
            if asked.contains(&next) {
                let found = match level {
                    0 => self.has_room(next, demand).then_some(next),
                    _ => self.first_in(level - 1, next, range, demand),
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

    /// Takes the room of a task on a server that has it.
    pub fn take(&mut self, server: usize, demand: &Demand) {
        let free = &mut self.free[server * self.width..];
        for ((free, demand), nearly) in free.iter_mut().zip(&demand.exact).zip(&mut self.levels[0].most) {
            *free -= demand;
            nearly[server] = *free as f32;
        }
        self.levels.iter_mut().for_each(|level| level.tight[server >> level.bits] = false);
    }

    /// Takes the room of so many tasks on a server that has it.
    pub fn take_many(&mut self, server: usize, demand: &Demand, count: u64) {
        let free = self.free(server).to_vec();
        let left = free.iter().zip(&demand.exact).map(|(free, demand)| free - demand * u128::from(count));
        self.set(server, left);
    }

    /// Gives a server other amounts.
    pub fn set(&mut self, server: usize, amounts: impl Iterator<Item = u128>) {
        let (first, above) = self.levels.split_at_mut(1);
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        for (r, (free, amount)) in free.iter_mut().zip(amounts).enumerate() {
            *free = amount;
            let nearly = amount as f32;
            first.iter_mut().for_each(|level| level.most[r][server] = nearly);
            for level in above.iter_mut() {
                let bound = &mut level.most[r][server >> level.bits];
                if *bound >= nearly {
                    break;
                }
                *bound = nearly;
            }
        }
        above.iter_mut().for_each(|level| level.tight[server >> level.bits] = false);
    }

    /// Gives back the room of so many tasks.
    pub fn release(&mut self, server: usize, demand: &Demand, count: u64) {
        let free = self.free(server).to_vec();
        let more = free.iter().zip(&demand.exact).map(|(free, demand)| free + demand * u128::from(count));
        self.set(server, more);
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
