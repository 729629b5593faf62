//! Progressive filling, the loop that all policies share.

use crate::at_once::{Filling, SINGLY};
use crate::journal::Journal;
use crate::packing::Packing;
use crate::rule::Rule;
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::{Deadline, Instance, Placement};

/// Tasks placed between two looks at the clock.
const BETWEEN_STOPS: usize = 1 << 14;

/// Serves users in this order, one task at a time, until nobody is left.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
    turn: Turn,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let users = instance.user_count();
    let mut filling = Filling {
        packing,
        shares: Shares::new(instance, turn)?,
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
