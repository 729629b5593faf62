//! Servers that can be emptied: all tasks of one server after the other, the least loaded first, go to other servers in use with room
//! for them, the most loaded first; or none of them goes. Servers that stay in use take tasks of those that come after them, too.
//!
//! Moved tasks do not move again, and nothing else moves: so the number is what was found, and another order may empty more.

use crate::PlacementError;
use crate::packing::{Packing, fits};
use fairplan_instances::{Instance, Kind, KindId, Placement};

/// Servers with tasks that were emptied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emptied {
    /// In the order in which they were.
    pub servers: Vec<usize>,
    /// How many tasks moved.
    pub tasks: u64,
    /// What runs where then.
    pub after: Placement,
}

/// After so many servers in a row that cannot be emptied no more are tried: those that follow are fuller.
const TRIES: usize = 200;

/// Empties servers of a placement; those that hold more than they have take nothing.
///
/// # Errors
/// More servers than can be numbered.
pub fn emptied(instance: &Instance, placement: &Placement) -> Result<Emptied, PlacementError> {
    let packing = Packing::in_resources(instance)?;
    let mut room = Room::new(instance, &packing, placement);
    let mut emptied = Emptied { servers: Vec::new(), tasks: 0, after: placement.clone() };
    let mut in_vain = 0;
    for position in 0..room.order.len() {
        let server = room.order[position];
        if room.has_received[server] {
            room.receivers.push(server);
            continue;
        }
        let Some(moves) = room.moved_from(position, &emptied.after.servers[server]) else {
            room.receivers.push(server);
            in_vain += 1;
            if in_vain == TRIES {
                break;
            }
            continue;
        };
        in_vain = 0;
        for Move { to, user, tasks } in moves {
            room.has_received[to] = true;
            emptied.tasks += tasks;
            let there = &mut emptied.after.servers[to];
            match there.binary_search_by_key(&user, |(user, _)| *user) {
                Ok(at) => there[at].1 += tasks,
                Err(at) => there.insert(at, (user, tasks)),
            }
        }
        emptied.after.servers[server].clear();
        emptied.servers.push(server);
    }
    Ok(emptied)
}

struct Move {
    to: usize,
    /// Position of the kind, of the user where nobody has kinds.
    user: u32,
    tasks: u64,
}

/// What is free where tasks may go.
struct Room<'a> {
    packing: &'a Packing,
    /// Of each kind the part of the cluster that a piece takes; of a user without kinds its task.
    sizes: Vec<f64>,
    /// Row-major, as [`Packing::free`].
    free: Vec<u128>,
    /// The servers with tasks, the least loaded first.
    order: Vec<usize>,
    /// Where tasks may go, in turn: the same servers, the most loaded first, and after them once more those that stay in use.
    receivers: Vec<usize>,
    /// How many of the first of these have no room for a shape: room only shrinks.
    full: Vec<usize>,
    has_received: Vec<bool>,
}

impl<'a> Room<'a> {
    fn new(instance: &Instance, packing: &'a Packing, placement: &Placement) -> Self {
        let size = |kind: Kind<'_>| kind.task_share() / kind.each() as f64;
        let sizes: Vec<f64> = (0..instance.kind_count()).map(|k| size(instance.kind(KindId(k)))).collect();
        let mut free = packing.free();
        let mut loads = Vec::with_capacity(placement.servers.len());
        for (room, tasks) in free.chunks_exact_mut(packing.width.max(1)).zip(&placement.servers) {
            let mut load = 0.0;
            for (user, count) in tasks {
                load += sizes[*user as usize] * *count as f64;
                let demand = &packing.shapes[packing.shape_of[*user as usize] as usize].demand;
                for (free, need) in room.iter_mut().zip(demand) {
                    *free = free.saturating_sub(need.saturating_mul(u128::from(*count)));
                }
            }
            loads.push(load);
        }
        let mut order: Vec<usize> =
            (0..placement.servers.len()).filter(|server| !placement.servers[*server].is_empty()).collect();
        order.sort_by(|a, b| loads[*a].total_cmp(&loads[*b]).then(b.cmp(a)));
        let (full, has_received) = (vec![0; packing.shapes.len()], vec![false; placement.servers.len()]);
        let receivers = order.iter().rev().copied().collect();
        Self { packing, sizes, free, order, receivers, full, has_received }
    }

    fn has_room(&self, server: usize, shape: usize) -> bool {
        let Packing { width, shapes, .. } = self.packing;
        shapes[shape].classes.binary_search(&self.packing.class_of(server).0).is_ok()
            && fits(&shapes[shape].demand, &self.free[server * width..(server + 1) * width])
    }

    /// How many receivers a task of this shape passes by, from `full` on; none if it passes by all. The server at `position` and those
    /// before it receive nothing in their first turn.
    fn passed_by(&self, shape: usize, position: usize, mut full: usize) -> Option<usize> {
        let tried = self.order.len() - 1 - position;
        loop {
            if (tried..self.order.len()).contains(&full) {
                full = self.order.len();
            }
            if self.has_room(*self.receivers.get(full)?, shape) {
                return Some(full);
            }
            full += 1;
        }
    }

    /// Moves all tasks off the server at a position, whose room is taken where they go; nothing if they do not all go.
    fn moved_from(&mut self, position: usize, tasks: &[(u32, u64)]) -> Option<Vec<Move>> {
        let mut largest_first = tasks.to_vec();
        let size = |user: u32| self.sizes[user as usize];
        largest_first.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)).then(a.0.cmp(&b.0)));
        let shape_of = |user: u32| self.packing.shape_of[user as usize] as usize;
        let mut fulls: Vec<usize> = Vec::with_capacity(largest_first.len());
        for (user, _) in &largest_first {
            let shape = shape_of(*user);
            let full = self.passed_by(shape, position, self.full[shape])?;
            self.full[shape] = full;
            fulls.push(full);
        }
        let width = self.packing.width;
        let mut moves: Vec<Move> = Vec::new();
        for ((user, count), mut full) in largest_first.into_iter().zip(fulls) {
            let shape = shape_of(user);
            let demand = &self.packing.shapes[shape].demand;
            let mut left = count;
            while left > 0 {
                let Some(next) = self.passed_by(shape, position, full) else {
                    self.take_back(&moves);
                    return None;
                };
                full = next;
                let to = self.receivers[full];
                let free = &mut self.free[to * width..(to + 1) * width];
                let copies = demand.iter().zip(&*free).filter(|(need, _)| **need > 0);
                let copies = copies.map(|(need, free)| free / need).min().unwrap_or(0);
                let tasks = u64::try_from(copies).unwrap_or(u64::MAX).min(left);
                free.iter_mut().zip(demand).for_each(|(free, need)| *free -= need * u128::from(tasks));
                moves.push(Move { to, user, tasks });
                left -= tasks;
            }
        }
        Some(moves)
    }

    fn take_back(&mut self, moves: &[Move]) {
        let width = self.packing.width;
        for Move { to, user, tasks } in moves {
            let demand = &self.packing.shapes[self.packing.shape_of[*user as usize] as usize].demand;
            let free = &mut self.free[to * width..(to + 1) * width];
            free.iter_mut().zip(demand).for_each(|(free, need)| *free += need * u128::from(*tasks));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Draft, generate};

    fn emptied_of(servers: Vec<Vec<(u32, u64)>>) -> Emptied {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        // Both classes have two servers; user 2 may run on the second alone.
        draft.classes.iter_mut().for_each(|class| class.set_count(2));
        draft.users[1].eligible = Some(vec![1]);
        let instance = draft.build().unwrap();
        let mut tasks = vec![0; 2];
        servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
        emptied(&instance, &Placement { tasks, servers }).unwrap()
    }

    #[test]
    fn the_least_loaded_server_is_emptied_into_the_fullest_with_room() {
        let found = emptied_of(vec![vec![(0, 3)], vec![(0, 7)], vec![(1, 2)], vec![(1, 7)]]);
        assert_eq!((&found.servers[..], found.tasks), (&[2, 0][..], 5));
        let after = found.after.servers;
        assert!(after[0].is_empty() && after[2].is_empty());
        let sum = |user: u32| after.iter().flatten().filter(|(u, _)| *u == user).map(|(_, n)| n).sum::<u64>();
        assert_eq!((sum(0), sum(1)), (10, 9));
    }

    #[test]
    fn tasks_go_nowhere_where_they_may_not_run_or_have_no_room() {
        // The last server's memory is full, and user 2 may not run on the first two.
        let full = emptied_of(vec![vec![(0, 1)], vec![], vec![(1, 2)], vec![(1, 10)]]);
        assert_eq!((&full.servers[..], &full.after.servers[2][..]), (&[0][..], &[(0, 1), (1, 2)][..]));
        // The first server's task goes nowhere, so that it stays, and takes the tasks of a fuller one.
        let kept = emptied_of(vec![vec![(0, 1)], vec![], vec![(1, 10)], vec![(0, 2)]]);
        assert_eq!((&kept.servers[..], kept.tasks, &kept.after.servers[0][..]), (&[3][..], 2, &[(0, 3)][..]));
        // An empty server takes nothing: that would empty none.
        let alone = emptied_of(vec![vec![(0, 1)], vec![], vec![], vec![]]);
        assert_eq!((&alone.servers[..], alone.tasks), (&[][..], 0));
    }
}
