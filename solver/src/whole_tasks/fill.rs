//! Placed pieces are given to users, then more tasks are placed until nothing fits: who is served next is a question of the
//! objective, and each piece of a task takes the first server with room.
//!
//! Tasks are handed out one by one near the end and all at once before it: the order brings every user to the same level,
//! so what a level takes says how far one can go without looking at each task.

use super::divisible::is_large;
use super::packing::{Packing, WIDTH};
use super::servers::Servers;
use fairplan_instances::{Deadline, Instance, Kind, KindId, Placement, UserId};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Whose turn it is.
pub(super) trait Priority {
    /// Which of two users that have so many tasks is served first.
    fn compare(&self, a: (UserId, u64), b: (UserId, u64)) -> Ordering;

    /// About how many tasks a user has when all have been served up to a level; more at higher levels.
    fn tasks_at(&self, user: UserId, level: f64) -> u64;
}

/// A user in the queue with its tasks.
struct Waiting<'a> {
    user: UserId,
    tasks: u64,
    order: &'a dyn Priority,
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
        self.order
            .compare((self.user, self.tasks), (other.user, other.tasks))
            .then(self.user.cmp(&other.user))
    }
}

/// Tasks for each user after which it is looked again how far all can go at once.
const SINGLY: usize = 64;

/// Tasks handed out between two looks at the clock.
const BETWEEN_STOPS: u64 = 4_096;

/// The part of the time in which servers are filled before anything else is tried.
const ALONE: f64 = 0.2;

/// What filling empty servers places, in case there is no time for patterns: none where there is no limit of time, or so little to do
/// that they are found at once.
pub(super) fn filled_alone(
    instance: &Instance,
    packing: &Packing,
    order: &dyn Priority,
    limit: &Deadline,
) -> Option<Placement> {
    let is_needed = limit.time_left().is_some() && is_large(packing);
    let servers = || Servers::new(packing, &packing.servers());
    is_needed.then(|| fill(instance, packing, order, servers(), &limit.after_part(ALONE)))
}

/// The placement of what is on the servers, filled up as far as time allows.
pub(super) fn fill(
    instance: &Instance,
    packing: &Packing,
    order: &dyn Priority,
    servers: Servers,
    stop: &Deadline,
) -> Placement {
    let mut filling = Filling { instance, packing, order, servers, tasks: vec![0; instance.user_count()] };
    filling.own();
    filling.add(stop);
    filling.hand_out()
}

/// Servers being filled.
struct Filling<'a> {
    instance: &'a Instance,
    packing: &'a Packing,
    order: &'a dyn Priority,
    servers: Servers,
    /// What each user has.
    tasks: Vec<u64>,
}

impl<'a> Filling<'a> {
    fn limit(&self, user: UserId) -> u64 {
        self.instance.user(user).tasks().unwrap_or(u64::MAX)
    }

    /// How many tasks more than it has a user may have at a level.
    fn more(&self, user: UserId, level: f64) -> u64 {
        self.order.tasks_at(user, level).min(self.limit(user)).saturating_sub(self.tasks[user.0])
    }

    /// These users, with what they have, the next to be served on top.
    fn queue(&self, users: impl Iterator<Item = UserId>) -> BinaryHeap<Reverse<Waiting<'a>>> {
        let waiting = |user: UserId| Waiting { user, tasks: self.tasks[user.0], order: self.order };
        users.map(|user| Reverse(waiting(user))).collect()
    }

    /// Gives the pieces that are on the servers to users: those of a shape to its users, in order.
    fn own(&mut self) {
        let packing = self.packing;
        let mut unowned = vec![0u64; packing.shapes.len()];
        for (shape, count) in self.servers.tasks.iter().flatten() {
            unowned[*shape as usize] += count;
        }
        if self.instance.has_kinds() {
            return self.own_bundles(unowned);
        }
        for (shape, mut unowned) in packing.shapes.iter().zip(unowned) {
            let users: Vec<UserId> = shape.kinds.iter().map(|kind| UserId(kind.0)).collect();
            if unowned / SINGLY as u64 > users.len() as u64 {
                // One task each is left for those whose turn is told by a digit that doubles do not have.
                let spare = unowned - users.len() as u64;
                let taken = |level: f64| {
                    users.iter().fold(0, |sum: u64, user| sum.saturating_add(self.more(*user, level)))
                };
                if let Some(level) = highest(|level| taken(level) <= spare) {
                    unowned -= taken(level);
                    let owned: Vec<u64> = users.iter().map(|user| self.more(*user, level)).collect();
                    users.iter().zip(owned).for_each(|(user, owned)| self.tasks[user.0] += owned);
                }
            }
            let mut queue = self.queue(users.iter().copied());
            while unowned > 0 {
                let Some(Reverse(Waiting { user, tasks: has, .. })) = queue.pop() else { break };
                if has < self.limit(user) {
                    unowned -= 1;
                    self.tasks[user.0] += 1;
                    queue.push(Reverse(Waiting { user, tasks: has + 1, order: self.order }));
                }
            }
        }
    }

    /// The same where a task is a bundle of pieces: whoever is next takes all that its task needs, or no more.
    fn own_bundles(&mut self, mut unowned: Vec<u64>) {
        let packing = self.packing;
        let mut users = self.users();
        let mut is_served = vec![true; self.instance.user_count()];
        while !users.is_empty() {
            self.own_at_once(&users, &mut unowned);
            let mut queue = self.queue(users.iter().copied());
            for _ in 0..SINGLY * users.len() {
                let Some(Reverse(Waiting { user, tasks: has, .. })) = queue.pop() else { break };
                let pieces = packing.pieces(user);
                let are_there = pieces.iter().all(|(shape, each)| unowned[*shape as usize] >= *each);
                if has >= self.limit(user) || !are_there {
                    is_served[user.0] = false;
                    continue;
                }
                pieces.iter().for_each(|(shape, each)| unowned[*shape as usize] -= each);
                self.tasks[user.0] += 1;
                queue.push(Reverse(Waiting { user, tasks: has + 1, order: self.order }));
            }
            users.retain(|user| is_served[user.0]);
        }
        // Pieces that make no whole task.
        self.servers.take_off(packing, unowned);
    }

    /// Brings these users to the highest level for which all pieces are there.
    fn own_at_once(&mut self, users: &[UserId], unowned: &mut [u64]) {
        let packing = self.packing;
        let of_users = |tasks: &dyn Fn(&UserId) -> u64| {
            let mut of_all = vec![0; self.tasks.len()];
            users.iter().for_each(|user| of_all[user.0] = tasks(user));
            of_all
        };
        let more = |level: f64| of_users(&|user| self.more(*user, level));
        // One task each is left for those whose turn is told by a digit that doubles do not have.
        let one_each = packing.need(&of_users(&|_| 1));
        let are_there = |level: f64| {
            let needed = packing.need(&more(level));
            let mut parts = needed.iter().zip(&one_each).zip(&*unowned);
            parts.all(|((needed, one), there)| *needed == 0 || needed.saturating_add(*one) <= *there)
        };
        let Some(level) = highest(are_there) else { return };
        let taken = more(level);
        unowned.iter_mut().zip(packing.need(&taken)).for_each(|(there, needed)| *there -= needed);
        self.tasks.iter_mut().zip(taken).for_each(|(tasks, more)| *tasks += more);
    }

    /// The users that can have tasks.
    fn users(&self) -> Vec<UserId> {
        let all = (0..self.tasks.len()).map(UserId);
        all.filter(|user| !self.packing.pieces(*user).is_empty()).collect()
    }

    /// Adds tasks on the first servers with room, until nothing fits.
    fn add(&mut self, stop: &Deadline) {
        let packing = self.packing;
        // Room only shrinks, so the first server with room for a shape only moves on.
        let mut first = vec![0usize; packing.shapes.len()];
        let mut users = self.users();
        let mut is_served = vec![true; self.instance.user_count()];
        while !users.is_empty() && !stop.is_over() {
            let mut queue = self.queue(users.iter().copied());
            let mut singly = 0;
            while singly < SINGLY * users.len() {
                let Some(Reverse(Waiting { user, tasks: has, .. })) = queue.pop() else { return };
                if has >= self.limit(user) || !self.place(user, &mut first) {
                    is_served[user.0] = false;
                    continue;
                }
                self.tasks[user.0] += 1;
                queue.push(Reverse(Waiting { user, tasks: has + 1, order: self.order }));
                singly += 1;
                if (singly as u64).is_multiple_of(BETWEEN_STOPS) && stop.is_over() {
                    return;
                }
            }
            users.retain(|user| is_served[user.0]);
            self.add_at_once(&users, &first);
        }
    }

    /// Puts each piece of a task on the first server with room; none of them unless all have room. Returns whether they have.
    fn place(&mut self, user: UserId, first: &mut [usize]) -> bool {
        let packing = self.packing;
        let pieces = packing.pieces(user);
        // Room taken for some pieces in vain is given back, and with it the servers that lacked it.
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let before: Vec<usize> = pieces.iter().map(|(shape, _)| first[*shape as usize]).collect();
        let is_one = matches!(pieces, [(_, 1)]);
        for (shape, each) in pieces {
            let shape = *shape as usize;
            for _ in 0..*each {
                let server = &mut first[shape];
                while *server < self.servers.free.len() && !self.servers.has_room(packing, *server, shape) {
                    *server += 1;
                }
                if *server == self.servers.free.len() {
                    taken.iter().for_each(|(server, shape)| self.servers.remove(packing, *server, *shape));
                    if !is_one {
                        pieces.iter().zip(before).for_each(|((shape, _), at)| first[*shape as usize] = at);
                    }
                    return false;
                }
                self.servers.add(packing, *server, shape);
                if !is_one {
                    taken.push((*server, shape));
                }
            }
        }
        true
    }

    /// Brings all users to the highest level up to which the first servers with room stay the first.
    fn add_at_once(&mut self, users: &[UserId], first: &[usize]) {
        let packing = self.packing;
        // Room says nothing of devices.
        if packing.has_rules {
            return;
        }
        let pieces = |user: &UserId| packing.pieces(*user).iter().map(|(s, each)| (*s as usize, *each));
        let mut places: Vec<usize> = users.iter().flat_map(pieces).map(|(shape, _)| first[shape]).collect();
        places.sort_unstable();
        places.dedup();
        let has_room = |level: f64| {
            let mut load = vec![[0u128; WIDTH]; places.len()];
            for user in users {
                let tasks = u128::from(self.more(*user, level));
                for (shape, each) in pieces(user) {
                    let place = places.partition_point(|place| *place < first[shape]);
                    let demand = &packing.shapes[shape].demand;
                    let count = tasks * u128::from(each);
                    let sums = load[place].iter_mut().zip(demand);
                    sums.for_each(|(sum, d)| *sum = sum.saturating_add(u128::from(*d).saturating_mul(count)));
                }
            }
            let fits = |(place, load): (&usize, &[u128; WIDTH])| {
                let free = self.servers.free.get(*place).copied().unwrap_or_default();
                load.iter().zip(free).all(|(load, free)| *load <= u128::from(free))
            };
            places.iter().zip(&load).all(fits)
        };
        let Some(level) = highest(has_room) else { return };
        let counts: Vec<u64> = users.iter().map(|user| self.more(*user, level)).collect();
        for (user, count) in users.iter().zip(counts).filter(|(_, count)| *count > 0) {
            for (shape, each) in pieces(user) {
                self.servers.add_many(packing, first[shape], shape, count * each);
            }
            self.tasks[user.0] += count;
        }
    }

    /// Gives each kind the pieces of its user's tasks on the servers, in the instance's order of both.
    fn hand_out(self) -> Placement {
        let Self { instance, packing, servers, tasks, .. } = self;
        let mut starts = Vec::with_capacity(instance.classes().len());
        let mut start = 0usize;
        for class in instance.classes() {
            starts.push(start);
            start += class.count as usize;
        }
        let mut placed = vec![Vec::new(); start];
        let of_kind = |kind: Kind<'_>| tasks[kind.user().index().0] * kind.each();
        let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
        let mut left: Vec<u64> = kinds.map(of_kind).collect();
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
                let kinds = &packing.shapes[shape as usize].kinds;
                let turn = &mut turn[shape as usize];
                // Pieces beyond those of whole tasks that users may have stay off the servers.
                while count > 0 && *turn < kinds.len() {
                    let KindId(kind) = kinds[*turn];
                    let here = count.min(left[kind]);
                    if here > 0 {
                        placed[server].push((kind as u32, here));
                    }
                    left[kind] -= here;
                    count -= here;
                    *turn += usize::from(left[kind] == 0);
                }
            }
            placed[server].sort_unstable();
        }
        Placement { tasks, servers: placed }
    }
}

/// The highest level, of those that are numbers, that is possible; all below are. `None` where none is: whoever is guaranteed something has
/// tasks at any level.
fn highest(is_possible: impl Fn(f64) -> bool) -> Option<f64> {
    if !is_possible(0.0) {
        return None;
    }
    // Positive doubles are in the order of their bits.
    let (mut low, mut high) = (0u64, f64::MAX.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_possible(f64::from_bits(middle)) { low = middle } else { high = middle }
    }
    Some(f64::from_bits(low))
}
