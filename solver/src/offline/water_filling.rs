//! A round over the quanta: in each, the users with the lowest weighted totals are raised to one level.
//!
//! With what users get in the other quanta held fixed, a quantum's slices are poured over its users like water: up to
//! the level `θ` at which `Σ_i clamp(θ w_i - rest_i, 0, room_i)` is all there is. That is the best that the quantum
//! can do, and every round makes the whole more even.

use super::flow::Flow;
use crate::tolerance::offline::PRECISION;

/// Steps towards a level; halving alone would need about a hundred.
const MAX_STEPS: usize = 200;

impl Flow {
    /// Goes once through all congested quanta.
    pub fn round(&mut self) {
        let mut pool = Pool::default();
        let mut start = 0;
        for congested in &mut self.quanta {
            let entries = start..congested.end;
            start = congested.end;
            let users = &self.users[entries.clone()];
            pool.room.clear();
            pool.room.extend_from_slice(&self.room[entries.clone()]);
            let given = &mut self.given[entries];
            pool.rest.clear();
            pool.rest
                .extend(users.iter().zip(&*given).map(|(user, given)| self.totals[*user as usize] - given));
            pool.weights.clear();
            pool.weights.extend(users.iter().map(|user| self.weights[*user as usize]));
            congested.level = pool.level(congested.free, congested.level);
            for (position, user) in users.iter().enumerate() {
                given[position] = pool.at(position, congested.level);
                self.totals[*user as usize] = pool.rest[position] + given[position];
            }
        }
    }
}

/// The users of a quantum: weights, what they get elsewhere, and how much they have room for here.
#[derive(Default)]
struct Pool {
    weights: Vec<f64>,
    rest: Vec<f64>,
    room: Vec<f64>,
}

impl Pool {
    /// What an entry takes at a level.
    fn at(&self, position: usize, level: f64) -> f64 {
        (level * self.weights[position] - self.rest[position]).max(0.0).min(self.room[position])
    }

    /// What all take at a level, and how much more for each unit that it rises.
    fn poured(&self, level: f64) -> (f64, f64) {
        let (mut sum, mut slope) = (0.0, 0.0);
        for ((weight, rest), room) in self.weights.iter().zip(&self.rest).zip(&self.room) {
            let wanted = level * weight - rest;
            sum += wanted.max(0.0).min(*room);
            slope += if wanted > 0.0 && wanted < *room { *weight } else { 0.0 };
        }
        (sum, slope)
    }

    /// The levels below which nobody takes anything, and above which everybody is full.
    fn bracket(&self) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for ((weight, rest), room) in self.weights.iter().zip(&self.rest).zip(&self.room) {
            low = low.min(rest / weight);
            high = high.max((rest + room) / weight);
        }
        (low, high)
    }

    /// The level at which `free` is taken: by Newton's method from a guess, and by halving where that leaves the
    /// bracket.
    fn level(&self, free: f64, guess: f64) -> f64 {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut level = guess;
        for _ in 0..MAX_STEPS {
            let (sum, slope) = self.poured(level);
            let missing = free - sum;
            if missing.abs() <= PRECISION * free {
                break;
            }
            if missing > 0.0 {
                low = level
            } else {
                high = level
            }
            let mut next = level + missing / slope;
            if !(next > low && next < high) {
                if low.is_infinite() || high.is_infinite() {
                    let (lowest, highest) = self.bracket();
                    (low, high) = (low.max(lowest), high.min(highest));
                }
                next = low + (high - low) / 2.0;
            }
            if next == level || next <= low || next >= high {
                break;
            }
            level = next;
        }
        level
    }
}
