//! Progressive filling, the loop that all policies share.

use crate::PlacementError;
use crate::packing::Packing;
use crate::shares::Shares;
use fairplan_instances::{Instance, Placement, ServerTasks};

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
    let mut servers: Vec<Tally> = vec![Tally::default(); packing.servers()];
    let limits: Vec<Option<u64>> = instance.users().map(|user| user.tasks()).collect();

    while let Some(user) = shares.lowest() {
        let shape = packing.shape_of[user] as usize;
        let may_have_more = limits[user].is_none_or(|limit| tasks[user] < limit) && !turned_down[shape];
        match if may_have_more { rule.take(shape) } else { None } {
            Some(server) => {
                tasks[user] += 1;
                servers[server].add(user as u32);
                shares.add_task(user, || packing.class_of(server));
            }
            None => {
                turned_down[shape] |= may_have_more;
                shares.leave(user);
            }
        }
    }
    Ok(Placement { tasks, servers: servers.into_iter().map(Tally::finish).collect() })
}

/// The tasks on one server as they come: merged whenever the list would grow, so that it stays as short as
/// the number of its users.
#[derive(Clone, Default)]
struct Tally(ServerTasks);

impl Tally {
    fn add(&mut self, user: u32) {
        match self.0.last_mut() {
            Some((last, count)) if *last == user => *count += 1,
            _ => {
                if self.0.len() == self.0.capacity() && self.0.len() > 1 {
                    self.merge();
                    // Room for as many again keeps the cost of merging in proportion to the tasks.
                    self.0.reserve(self.0.len());
                }
                self.0.push((user, 1));
            }
        }
    }

    fn merge(&mut self) {
        self.0.sort_unstable_by_key(|(user, _)| *user);
        self.0.dedup_by(|(user, count), (kept, sum)| {
            let same = user == kept;
            if same {
                *sum += *count;
            }
            same
        });
    }

    fn finish(mut self) -> ServerTasks {
        self.merge();
        self.0.shrink_to_fit();
        self.0
    }
}
