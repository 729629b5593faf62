//! Whole slices: the divided optimum rounded quantum by quantum, then exchanges until none makes it more even.
//!
//! A slice can go from one user to another directly, in a quantum where the one has some and the other has room, or
//! through others in between. The totals that whole slices can reach form the whole points of the same polymatroid,
//! where an allocation that no such exchange improves is the best there is. The users are gone through from the
//! lowest total up; those who can be reached from one that gets no more make up its level, and the users of all
//! levels so far get every slice that they can get together.

use super::flow::{ByUser, Flow};
use fairplan_instances::{Deadline, OfflineLevel};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Rounds the flow to whole slices and makes it as even as can be; returns the levels, the lowest first, that are found by
/// the deadline.
pub(super) fn even_out(flow: &mut Flow, by_user: &ByUser, deadline: &Deadline) -> Vec<OfflineLevel> {
    round(flow);
    let users = flow.base.len();
    let mut totals = flow.base.clone();
    for (user, given) in flow.users.iter().zip(&flow.given) {
        totals[*user as usize] += *given as u64;
    }
    let search = Search {
        flow,
        by_user,
        totals,
        seen: vec![0; users],
        seen_quanta: vec![0; by_user.congested],
        found_by: vec![Step::default(); users],
        search: 0,
    };
    search.run(deadline)
}

/// In every quantum each entry is rounded down, and the slices that leaves go to the users who lag most behind their
/// divided totals so far.
fn round(flow: &mut Flow) {
    let mut lag = vec![0.0; flow.base.len()];
    let mut order = Vec::new();
    for position in 0..flow.quanta.len() {
        let mut left = flow.quanta[position].free;
        order.clear();
        for entry in flow.entries(position) {
            let user = flow.users[entry] as usize;
            let divided = flow.given[entry];
            flow.given[entry] = divided.floor();
            lag[user] += divided - flow.given[entry];
            left -= flow.given[entry];
            if flow.given[entry] < flow.room[entry] {
                order.push(entry);
            }
        }
        // More is demanded than there is, but sums of doubles may be a hair off either way.
        order.sort_by(|a, b| {
            let lag = |entry: usize| lag[flow.users[entry] as usize];
            lag(*b).total_cmp(&lag(*a)).then(a.cmp(b))
        });
        for entry in order.iter().copied() {
            if left < 1.0 {
                break;
            }
            flow.given[entry] += 1.0;
            lag[flow.users[entry] as usize] -= 1.0;
            left -= 1.0;
        }
        // What was rounded down lost less than a slice each, so this is hardly ever needed.
        for entry in flow.entries(position) {
            let more = left.min(flow.room[entry] - flow.given[entry]).max(-flow.given[entry]);
            flow.given[entry] += more;
            left -= more;
        }
    }
}

/// How a user was reached: it has slices in a quantum where another, nearer to the start, has room.
#[derive(Clone, Copy, Default)]
struct Step {
    /// The entry that gives, and that which takes.
    gives: usize,
    takes: usize,
    /// Who takes.
    nearer: u32,
}

struct Search<'a> {
    flow: &'a mut Flow,
    by_user: &'a ByUser,
    totals: Vec<u64>,
    /// The last search that reached each user and quantum; `CLOSED` if none need look at it again.
    seen: Vec<u32>,
    seen_quanta: Vec<u32>,
    found_by: Vec<Step>,
    search: u32,
}

const CLOSED: u32 = u32::MAX;

impl Search<'_> {
    fn run(mut self, deadline: &Deadline) -> Vec<OfflineLevel> {
        let counting = (0..self.totals.len()).filter(|user| self.flow.whole_weights[*user] > 0);
        let mut lowest: BinaryHeap<Reverse<Standing>> =
            counting.map(|user| Reverse(self.standing(user))).collect();
        let mut levels = Vec::new();
        while let Some(Reverse(standing)) = lowest.pop() {
            if deadline.is_over() {
                break;
            }
            let user = standing.user;
            if self.seen[user] == CLOSED || standing.slices != self.totals[user] {
                continue; // It belongs to a level, or stands elsewhere by now.
            }
            match self.better_off(user) {
                Ok(giver) => {
                    self.pass_on(giver, user);
                    lowest.push(Reverse(self.standing(user)));
                    lowest.push(Reverse(self.standing(giver)));
                }
                Err(mut users) => {
                    users.sort_unstable();
                    let value = standing.slices as f64 / standing.weight as f64;
                    levels.push(OfflineLevel { value, users });
                }
            }
        }
        levels
    }

    fn standing(&self, user: usize) -> Standing {
        Standing { slices: self.totals[user], weight: self.flow.whole_weights[user], user }
    }

    /// Somebody from whom a slice can come to `start` so that all is more even; or else, all who could give one.
    fn better_off(&mut self, start: usize) -> Result<usize, Vec<u32>> {
        self.search += 1;
        if self.search == CLOSED {
            // After four billion searches the old marks would be mistaken for new ones.
            self.search = 1;
            self.seen
                .iter_mut()
                .chain(&mut self.seen_quanta)
                .filter(|seen| **seen != CLOSED)
                .for_each(|seen| *seen = 0);
        }
        let search = self.search;
        self.seen[start] = search;
        let mut reached = vec![start as u32];
        let mut reached_quanta = Vec::new();
        let mut next = 0;
        while next < reached.len() {
            let nearer = reached[next];
            next += 1;
            for at in self.by_user.of(nearer as usize) {
                let (quantum, takes) = (self.by_user.quanta[at] as usize, self.by_user.entries[at]);
                let is_new = !matches!(self.seen_quanta[quantum], seen if seen == search || seen == CLOSED);
                if !is_new || self.flow.given[takes] >= self.flow.room[takes] {
                    continue;
                }
                self.seen_quanta[quantum] = search;
                reached_quanta.push(quantum);
                for gives in self.flow.entries(quantum) {
                    let user = self.flow.users[gives] as usize;
                    if self.flow.given[gives] < 1.0 || self.seen[user] == search || self.seen[user] == CLOSED
                    {
                        continue;
                    }
                    self.seen[user] = search;
                    self.found_by[user] = Step { gives, takes, nearer };
                    if self.is_better(user, start) {
                        return Ok(user);
                    }
                    reached.push(user as u32);
                }
            }
        }
        reached.iter().for_each(|user| self.seen[*user as usize] = CLOSED);
        reached_quanta.iter().for_each(|quantum| self.seen_quanta[*quantum] = CLOSED);
        Err(reached)
    }

    /// Whether all is more even when one slice of `giver` is `taker`'s: the lower of the two gets higher or, if it
    /// only changes places, the other does.
    fn is_better(&self, giver: usize, taker: usize) -> bool {
        let (mut after, before) = (self.standing(giver), self.standing(taker));
        if after.weight == 0 || after.slices == 0 {
            return false;
        }
        after.slices -= 1;
        match after.compare(&before) {
            Ordering::Greater => true,
            Ordering::Equal => before.weight < after.weight,
            Ordering::Less => false,
        }
    }

    /// Passes a slice from `giver` to `taker` along the way on which it was found.
    fn pass_on(&mut self, giver: usize, taker: usize) {
        let mut user = giver;
        while user != taker {
            let Step { gives, takes, nearer } = self.found_by[user];
            self.flow.given[gives] -= 1.0;
            self.flow.given[takes] += 1.0;
            user = nearer as usize;
        }
        self.totals[giver] -= 1;
        self.totals[taker] += 1;
    }
}

/// What a user has, over its weight; equal ones by weight and position, so that results never depend on chance.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Standing {
    slices: u64,
    weight: u64,
    user: usize,
}

impl Standing {
    fn compare(&self, other: &Self) -> Ordering {
        let cross = |a: &Self, b: &Self| u128::from(a.slices) * u128::from(b.weight);
        cross(self, other).cmp(&cross(other, self))
    }
}

impl Ord for Standing {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other).then(self.weight.cmp(&other.weight)).then(self.user.cmp(&other.user))
    }
}

impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
