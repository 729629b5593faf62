//! A gang is placed where it has room as a whole, or not at all; the server of each task is chosen like that of any other.
//!
//! Whether it has room is known before its first task is placed, as far as servers and domains go. What quotas leave changes with each
//! task; whoever keeps them takes back what is less than a gang.

use super::{Choice, Chosen, Servers};
use fairplan_instances::Gang;

/// Hands each task of a gang of a shape to `take`, which takes its room, or none of them; only where `take` closes classes to the shape,
/// or a policy of somebody else's turns a task down, may the last ones be missing.
pub(crate) fn take<C: Choice>(
    servers: &mut Servers,
    choice: &mut C,
    (shape, gang): (usize, Gang),
    mut take: impl FnMut(&mut Servers, Chosen),
) {
    let room =
        (0..servers.count()).map(|server| (servers.class_of(server), choice.room(servers, server, shape)));
    let Some(open) = servers.between().open_to(gang, shape, room) else { return };
    servers.between_mut().open(Some(open));
    for position in 0..gang.tasks {
        let Some(chosen) = choice.choose(servers, shape) else { break };
        take(servers, chosen);
        if gang.in_one_domain && position == 0 {
            let class = servers.class_of(chosen.server);
            servers.between_mut().open_only(class);
        }
    }
    servers.between_mut().open(None);
}
