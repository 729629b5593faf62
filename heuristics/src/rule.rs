//! Where the next task goes: the part in which policies differ.

use crate::packing::Packing;
use fairplan_instances::Gang;

/// A policy at work.
pub(crate) trait Rule {
    /// Chooses a server with room for one more task of `shape` and takes the room, or finds that no server has
    /// any. Room only shrinks, so a shape that has been turned down once is not asked for again, unless it is allowed other classes.
    fn take(&mut self, shape: usize) -> Option<usize>;

    /// Takes the room of a whole gang on the classes that its shape is allowed, or nothing if it has none there. `taken` is told the
    /// server of each task and answers with the classes of the next, where these are others; if they are too few for the rest of the
    /// gang, part of it stays. Where there are gangs, rules look at servers device by device; no other is asked.
    fn take_gang(&mut self, _shape: usize, _gang: Gang, _taken: &mut dyn FnMut(usize) -> Option<Vec<usize>>) {
    }

    /// How many servers it looks at, one after another, to place a piece; 1 where it need not.
    fn looks_at(&self) -> usize {
        1
    }

    /// A task of several pieces begins: what is taken from now on may be taken back.
    fn begin(&mut self) {}

    /// Gives back the room that so many pieces of a shape took on a server since [`Rule::begin`]; all or none are given back. Their shapes
    /// are allowed their classes anew before they are asked for again.
    fn take_back(&mut self, server: usize, shape: usize, count: u64);

    /// From now on tasks of a shape may run on these classes, of those that they might at first.
    fn allow(&mut self, packing: &Packing, shape: usize, classes: &[usize]);

    /// The server that the next tasks of a shape go to, whatever else is placed meanwhile, as long as it has room; none
    /// where the rule cannot be sure.
    fn sure(&mut self, shape: usize) -> Option<usize>;

    /// What a server has free.
    fn free(&self, server: usize) -> &[u128];

    /// Takes the room of so many tasks that [`Rule::sure`] has named the server of.
    fn take_many(&mut self, server: usize, shape: usize, count: u64);
}
