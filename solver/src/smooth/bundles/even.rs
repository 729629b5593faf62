//! Points whose shares add up although rounding took digits of them.

use super::Bundles;
use super::elimination::{Eliminated, Moves, Slopes};
use crate::tolerance::sum::EVEN;

impl Bundles<'_> {
    /// What all that rounding leaves of rows and kinds costs, and the largest part of a row or kind that it is.
    pub(super) fn missed(&self) -> (f64, f64) {
        let (mut cost, mut most) = (0.0, 0.0_f64);
        for ((left, capacity), p) in self.left_of_rows().iter().zip(&self.capacity).zip(&self.at.p) {
            cost += (left * p).abs();
            most = most.max((left / capacity).abs());
        }
        for (user, v) in self.users.iter().zip(&self.at.v) {
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let left = self.left_of_kind(line, *part, *v);
                cost += (left * self.at.y[line]).abs();
                most = most.max((left / (part * v)).abs());
            }
        }
        (cost, most)
    }

    /// Takes rounding out of shares: what pairs have is a difference of prices over a vanishing one, so that the nearer the
    /// optimum, the more rows and kinds are off. Everything moves in proportion to itself, as little as makes them even.
    pub(super) fn make_even(&mut self) {
        if self.missed().1 <= EVEN {
            return;
        }
        let square = |numbers: &[f64]| numbers.iter().map(|x| x * x).collect::<Vec<f64>>();
        let at = &self.at;
        let is_limited = |u: usize| self.users[u].cap < f64::INFINITY;
        let is_guaranteed = |u: usize| self.users[u].floor > 0.0;
        let stiff = |u: usize| {
            let of_room = if is_limited(u) { at.room[u].powi(-2) } else { 0.0 };
            let of_floor = if is_guaranteed(u) { self.floor_stiffness(u) } else { 0.0 };
            at.v[u].powi(-2) + of_room + of_floor
        };
        let asked = |u: usize| {
            let of_room = if is_limited(u) {
                (self.users[u].cap - at.v[u] - at.room[u]) / at.room[u].powi(2)
            } else {
                0.0
            };
            let of_floor = if is_guaranteed(u) { self.off_floor(u) * self.floor_stiffness(u) } else { 0.0 };
            of_room - of_floor
        };
        let users = 0..self.users.len();
        let slopes =
            Slopes { pairs: square(&at.z), rows: square(&at.q), users: users.clone().map(stiff).collect() };
        let Some(factors) = self.factored(slopes, self.deadline) else { return };
        let moves = Moves {
            pairs: vec![0.0; at.z.len()],
            rows: vec![0.0; at.q.len()],
            users: users.map(asked).collect(),
        };
        let Eliminated { p, v, z, .. } = self.eliminated(&factors, &moves);
        let mut even = at.clone();
        even.q.iter_mut().zip(&p).for_each(|(q, p)| *q -= *q * *q * p);
        even.z.iter_mut().zip(&z).for_each(|(z, more)| *z += more);
        for (u, user) in self.users.iter().enumerate() {
            even.v[u] += v[u];
            if is_limited(u) {
                even.room[u] = user.cap - even.v[u];
            }
        }
        self.follow_floors(&mut even);
        if self.is_inside(&even) {
            self.at = even;
        }
    }
}
