//! Whose the placed tasks are, and more of them until nothing fits: who is served next is a question of the
//! objective, the first server with room is taken.

use super::packing::Packing;
use super::servers::Servers;
use fairplan_instances::{Instance, Placement, UserId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Which of two users that have so many tasks is served first.
pub(super) type Order<'a> = &'a dyn Fn((UserId, u64), (UserId, u64)) -> Ordering;

/// A user in the queue with its tasks.
struct Waiting<'a> {
    user: UserId,
    tasks: u64,
    order: Order<'a>,
}

impl PartialEq for Waiting<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting<'_> {}

impl PartialOrd for Waiting<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.order)((self.user, self.tasks), (other.user, other.tasks)).then(self.user.cmp(&other.user))
    }
}

/// The placement of what is on the servers, filled up.
pub(super) fn fill(
    instance: &Instance,
    packing: &Packing,
    order: Order<'_>,
    mut servers: Servers,
) -> Placement {
    let mut unowned = vec![0u64; packing.shapes.len()];
    for (shape, tasks) in servers.tasks.iter().flatten() {
        unowned[*shape as usize] += tasks;
    }
    let mut tasks = vec![0u64; instance.user_count()];
    // Room only shrinks, so the first server with room for a shape only moves on.
    let mut first = vec![0usize; packing.shapes.len()];
    let users = packing.shapes.iter().flat_map(|shape| &shape.users);
    let mut queue: BinaryHeap<Reverse<Waiting<'_>>> =
        users.map(|&user| Reverse(Waiting { user, tasks: 0, order })).collect();
    while let Some(Reverse(Waiting { user, tasks: has, .. })) = queue.pop() {
        let Some(shape) = packing.shape_of[user.0].map(|shape| shape as usize) else { continue };
        if instance.user(user).tasks().is_some_and(|limit| has >= limit) {
            continue;
        }
        if unowned[shape] > 0 {
            unowned[shape] -= 1;
        } else {
            let server = &mut first[shape];
            while *server < servers.free.len() && !servers.has_room(packing, *server, shape) {
                *server += 1;
            }
            if *server == servers.free.len() {
                continue;
            }
            servers.add(packing, *server, shape);
        }
        tasks[user.0] += 1;
        queue.push(Reverse(Waiting { user, tasks: has + 1, order }));
    }
    hand_out(instance, packing, &servers, tasks)
}

/// Gives each user its tasks on the servers, in the instance's order of both.
fn hand_out(instance: &Instance, packing: &Packing, servers: &Servers, tasks: Vec<u64>) -> Placement {
    let mut starts = Vec::with_capacity(instance.classes().len());
    let mut start = 0usize;
    for class in instance.classes() {
        starts.push(start);
        start += class.count as usize;
    }
    let mut placed = vec![Vec::new(); start];
    let mut left = tasks.clone();
    let mut turn = vec![0usize; packing.shapes.len()];
    let order = packing.classes.iter().flat_map(|class| {
        let servers = |l: &fairplan_instances::ClassId| {
            let start = starts[l.0];
            start..start + instance.classes()[l.0].count as usize
        };
        class.members.iter().flat_map(servers)
    });
    for (server, on_it) in order.zip(&servers.tasks) {
        for &(shape, mut count) in on_it {
            let users = &packing.shapes[shape as usize].users;
            let turn = &mut turn[shape as usize];
            // Tasks beyond what any user may have stay off the servers.
            while count > 0 && *turn < users.len() {
                let UserId(user) = users[*turn];
                let here = count.min(left[user]);
                if here > 0 {
                    placed[server].push((user as u32, here));
                }
                left[user] -= here;
                count -= here;
                *turn += usize::from(left[user] == 0);
            }
        }
        placed[server].sort_unstable();
    }
    Placement { tasks, servers: placed }
}
