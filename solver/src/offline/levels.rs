//! Which users end up at one level, and what it is.
//!
//! Whatever is decided, the users of a set `Z` get at most `ρ(Z) = Σ_t min(S_t, Σ_{i∈Z} d_it)` together. Put the
//! users in the order of their totals; then the points `(w(Z), ρ(Z))` of all sets of first users have a lower convex
//! hull, and its slopes are the levels: no allocation can lift the users of the first piece above the first slope,
//! nor, once they have that, those of the second piece above the second. All of it is counted in whole slices, so
//! the levels are exact as soon as the order is right, long before the totals are.

use super::flow::{ByUser, Flow};
use fairplan_instances::{OfflineLevel, compare_ratios};

/// The hull, from the lowest level on.
pub(super) struct Levels {
    /// Users that count, by rising total over weight.
    order: Vec<u32>,
    /// The ends of the pieces, the first one's beginning included.
    hull: Vec<Point>,
}

impl Levels {
    pub fn of(flow: &Flow, by_user: &ByUser) -> Self {
        let standing = |user: u32| flow.totals[user as usize] / flow.weights[user as usize];
        let counting = (0..flow.weights.len() as u32).filter(|user| flow.weights[*user as usize] > 0.0);
        let mut order: Vec<u32> = counting.collect();
        order.sort_by(|a, b| standing(*a).total_cmp(&standing(*b)));
        // ρ of the first users, one user more at a time. Slices of one quantum are exact as doubles.
        let mut taken = vec![0.0; flow.quanta.len()];
        let mut hull: Vec<Point> = vec![Point { users: 0, weight: 0, slices: 0 }];
        let mut point = hull[0];
        for user in &order {
            let user = *user as usize;
            let mut more = flow.base[user];
            for at in by_user.of(user) {
                let quantum = by_user.quanta[at] as usize;
                let room = flow.room[by_user.entries[at]];
                let part = room.min(flow.quanta[quantum].free - taken[quantum]);
                taken[quantum] += part;
                more += part as u64;
            }
            point.users += 1;
            point.weight += u128::from(flow.whole_weights[user]);
            point.slices += u128::from(more);
            while let [.., before, last] = hull[..]
                && !point.is_above(before, last)
            {
                hull.pop();
            }
            hull.push(point);
        }
        Self { hull, order }
    }

    /// The largest part that a user lacks of what its level can be, given what the lower levels have.
    pub fn gap(&self, flow: &Flow) -> f64 {
        let mut given = 0.0;
        let mut widest: f64 = 0.0;
        for pair in self.hull.windows(2) {
            let level = (pair[1].slices as f64 - given) / (pair[1].weight - pair[0].weight) as f64;
            for user in self.order[pair[0].users..pair[1].users].iter().map(|user| *user as usize) {
                given += flow.totals[user];
                let lacking = level - flow.totals[user] / flow.weights[user];
                if lacking > 0.0 {
                    widest = widest.max(lacking / level);
                }
            }
        }
        widest
    }

    pub fn finish(self) -> Vec<OfflineLevel> {
        let level = |pair: &[Point]| {
            let (slices, weight) = (pair[1].slices - pair[0].slices, pair[1].weight - pair[0].weight);
            let mut users = self.order[pair[0].users..pair[1].users].to_vec();
            users.sort_unstable();
            OfflineLevel { value: slices as f64 / weight as f64, users }
        };
        self.hull.windows(2).map(level).collect()
    }
}

/// The first users in order: how many, their weight, and what they can get at most together.
#[derive(Clone, Copy)]
struct Point {
    users: usize,
    weight: u128,
    slices: u128,
}

impl Point {
    /// Whether the way from `before` over `last` to here turns upwards.
    fn is_above(&self, before: Point, last: Point) -> bool {
        let slope = |from: Point, to: Point| (to.slices - from.slices, to.weight - from.weight);
        compare_ratios(slope(last, *self), slope(before, last)).is_gt()
    }
}
