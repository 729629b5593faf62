//! Progressive filling, the loop that all policies share.

use crate::PlacementError;
use crate::journal::Journal;
use crate::packing::Packing;
use crate::shares::Shares;
use fairplan_instances::{Instance, Placement};

/// Where the next task goes: the part in which policies differ.
pub(crate) trait Rule {
    /// Chooses a server with room for one more task of `shape` and takes the room, or finds that no server has
    /// any. Room only shrinks, so a shape that has been turned down once is not asked for again.
    fn take(&mut self, shape: usize) -> Option<usize>;
}

/// Serves the user with the lowest weighted dominant share, one task at a time, until nobody is left.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
) -> Result<Placement, PlacementError> {
    let mut shares = Shares::new(instance)?;
    let mut turned_down = vec![false; packing.shapes.len()];
    let mut tasks = vec![0u64; instance.user_count()];
    let mut journal = Journal::new(packing.servers());
    let limits: Vec<Option<u64>> = instance.users().map(|user| user.tasks()).collect();

    while let Some(user) = shares.lowest() {
        let shape = packing.shape_of[user] as usize;
        let may_have_more = limits[user].is_none_or(|limit| tasks[user] < limit) && !turned_down[shape];
        match if may_have_more { rule.take(shape) } else { None } {
            Some(server) => {
                tasks[user] += 1;
                journal.add(server as u32, user as u32);
                shares.add_task(user, || packing.class_of(server));
            }
            None => {
                turned_down[shape] |= may_have_more;
                shares.leave(user);
            }
        }
    }
    Ok(Placement { tasks, servers: journal.finish() })
}
