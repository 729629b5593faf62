//! Progressive filling, the loop that all policies share.

use crate::PlacementError;
use crate::at_once::{Filling, SINGLY};
use crate::journal::Journal;
use crate::packing::Packing;
use crate::shares::Shares;
use fairplan_instances::{Deadline, Instance, Placement};

/// Where the next task goes: the part in which policies differ.
pub(crate) trait Rule {
    /// Chooses a server with room for one more task of `shape` and takes the room, or finds that no server has
    /// any. Room only shrinks, so a shape that has been turned down once is not asked for again.
    fn take(&mut self, shape: usize) -> Option<usize>;

    /// The server that the next tasks of a shape go to, whatever else is placed meanwhile, as long as it has room; none
    /// where the rule cannot be sure.
    fn sure(&mut self, shape: usize) -> Option<usize>;

    /// What a server has free.
    fn free(&self, server: usize) -> &[u128];

    /// Takes the room of so many tasks that [`Rule::sure`] has named the server of.
    fn take_many(&mut self, server: usize, shape: usize, count: u64);
}

/// Tasks placed between two looks at the clock.
const BETWEEN_STOPS: usize = 1 << 14;

/// Serves the user with the lowest weighted dominant share, one task at a time, until nobody is left.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let users = instance.user_count();
    let mut filling = Filling {
        packing,
        shares: Shares::new(instance)?,
        tasks: vec![0u64; users],
        limits: instance.users().map(|user| user.tasks()).collect(),
        turned_down: vec![false; packing.shapes.len()],
        journal: Journal::new(packing.servers()),
    };
    let (mut since_stop, mut singly) = (0, 0);
    while let Some(user) = filling.shares.lowest() {
        since_stop += 1;
        if since_stop == BETWEEN_STOPS {
            since_stop = 0;
            if deadline.is_over() {
                let placed = filling.tasks.iter().sum();
                return Err(PlacementError::OutOfTime { placed });
            }
        }
        singly += 1;
        if singly > SINGLY * users {
            singly = 0;
            filling.advance(&mut rule);
            continue;
        }
        let shape = packing.shape_of[user] as usize;
        let may_have_more = filling.may_have_more(user);
        match if may_have_more { rule.take(shape) } else { None } {
            Some(server) => {
                filling.tasks[user] += 1;
                filling.journal.add(server as u32, user as u32);
                filling.shares.add_tasks(user, 1, || packing.class_of(server));
            }
            None => {
                filling.turned_down[shape] |= may_have_more;
                filling.shares.leave(user);
            }
        }
    }
    Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
}
