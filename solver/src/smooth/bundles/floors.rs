//! What users are guaranteed, at a point: what each has above it and lacks of it, and what it pays for that.

use super::{Bundles, Point};

/// At first users are so far from having just what they are guaranteed and from lacking nothing of it, in parts of what they have.
const ASIDE: f64 = 0.1;

/// What it costs to lack all that one is guaranteed, in parts of what everybody has at first: more where somebody still lacks some of it. Prices
/// may be as high as this where guarantees are nearly all there is, and what rounding leaves of a row costs so much more: so little comes first.
pub(super) const LACKING: [f64; 6] = [0.3, 3.0, 1e2, 1e4, 1e6, 1e8];

impl Bundles<'_> {
    /// First numbers, all above zero.
    pub(super) fn set_floors(&mut self) {
        let of_user = |u: usize| {
            let (v, floor) = (self.at.v[u], self.users[u].floor);
            let aside = ASIDE * v.max(floor);
            let nu = (ASIDE * self.at.psi[u]).min(0.5 * self.most(u));
            (u, (v - floor).max(0.0) + aside, (floor - v).max(0.0) + aside, nu)
        };
        for (u, above, lack, nu) in self.guaranteed().map(of_user).collect::<Vec<_>>() {
            (self.at.above[u], self.at.lack[u], self.at.nu[u]) = (above, lack, nu);
        }
    }

    /// How much what a user has above its floor and lacks of it resists a change of its share, where both move in proportion to themselves.
    pub(super) fn floor_stiffness(&self, u: usize) -> f64 {
        1.0 / (self.at.above[u].powi(2) + self.at.lack[u].powi(2))
    }

    /// What users have above and lack, of shares that were moved.
    pub(super) fn follow_floors(&self, point: &mut Point) {
        for u in self.guaranteed() {
            let gained = (point.v[u] - self.users[u].floor) - (point.above[u] - point.lack[u]);
            let stiffness = self.floor_stiffness(u);
            point.above[u] += self.at.above[u].powi(2) * stiffness * gained;
            point.lack[u] -= self.at.lack[u].powi(2) * stiffness * gained;
        }
    }

    /// The largest part of what a user is guaranteed that it lacks.
    pub(super) fn lacks(&self) -> f64 {
        let users = self.users.iter().zip(&self.best.v).filter(|(user, _)| user.floor > 0.0);
        users.map(|(user, v)| 1.0 - v / user.floor).fold(0.0, f64::max)
    }

    /// What a user pays at most for a unit that it lacks of what it is guaranteed.
    pub(super) fn most(&self, u: usize) -> f64 {
        self.lacking / self.users[u].floor
    }

    /// `v − a + b − F`, nothing but rounding once steps are whole.
    pub(super) fn off_floor(&self, u: usize) -> f64 {
        (self.at.v[u] - self.users[u].floor) - (self.at.above[u] - self.at.lack[u])
    }

    /// The users that are guaranteed something.
    pub(super) fn guaranteed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.users.len()).filter(|u| self.users[*u].floor > 0.0)
    }

    /// How much `ν` falls for a unit of share: `1 / (a/ν + b/(M − ν))`.
    pub(super) fn floor_slope(&self, u: usize) -> f64 {
        let at = &self.at;
        1.0 / (at.above[u] / at.nu[u] + at.lack[u] / (self.most(u) - at.nu[u]))
    }

    /// Something of everybody who is guaranteed something.
    pub(super) fn of_floors(&self, of: impl Fn(usize) -> (f64, f64)) -> Vec<(f64, f64)> {
        let floors = self.users.iter().enumerate();
        floors.map(|(u, user)| if user.floor > 0.0 { of(u) } else { (0.0, 0.0) }).collect()
    }

    /// What `v` would have to rise by for `ν` to stay where it is, with these products of what a user has above what it is guaranteed and
    /// of what it lacks (less what they are).
    pub(super) fn floor_pull(&self, u: usize, (above, lack): (f64, f64)) -> f64 {
        above / self.at.nu[u] - lack / (self.most(u) - self.at.nu[u]) - self.off_floor(u)
    }
}
