//! A tournament: the lowest of many shares stays at the top while single ones change.
//!
//! Doubles decide where they differ by more than their error; elsewhere it is asked who is lower in truth. Of equal ones the
//! first in order wins.

use fairplan_instances::compare_nearly;

/// Who plays, in order. Entry 1 is the winner, entries `2p` and `2p + 1` play for entry `p`, and entrant `i` enters at
/// `places.len() / 2 + i`.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    places: Vec<Winner>,
    entrants: usize,
}

/// An entrant that has won so far.
#[derive(Clone, Copy, Debug)]
struct Winner {
    /// Its share as a double; infinite when it has left.
    nearly: f64,
    entrant: u32,
}

impl Tournament {
    /// Everybody has nothing yet.
    pub fn new(entrants: usize) -> Self {
        // Places behind the last entrant stay empty.
        let mut places =
            vec![Winner { nearly: f64::INFINITY, entrant: 0 }; 2 * entrants.max(1).next_power_of_two()];
        let first = places.len() / 2;
        for (entrant, place) in places[first..first + entrants].iter_mut().enumerate() {
            *place = Winner { nearly: 0.0, entrant: entrant as u32 };
        }
        let mut tournament = Self { places, entrants };
        // All that are there have the same, so that the first of them wins.
        for place in (1..first).rev() {
            tournament.play(place, &|_, _| false);
        }
        tournament
    }

    /// The lowest, unless all have left.
    pub fn winner(&self) -> Option<usize> {
        let winner = self.places[1];
        (winner.nearly < f64::INFINITY).then_some(winner.entrant as usize)
    }

    /// Those that have not left.
    pub fn there(&self) -> impl Iterator<Item = usize> {
        let first = self.places.len() / 2;
        let entrants = self.places[first..first + self.entrants].iter();
        entrants.filter(|place| place.nearly < f64::INFINITY).map(|place| place.entrant as usize)
    }

    /// Plays again with another share of one entrant, infinite if it leaves. `is_lower(a, b)` tells whether `a` has strictly
    /// less than `b`, of two that are there.
    pub fn replay(&mut self, entrant: usize, nearly: f64, is_lower: &impl Fn(usize, usize) -> bool) {
        let mut place = self.places.len() / 2 + entrant;
        self.places[place].nearly = nearly;
        while place > 1 {
            place /= 2;
            self.play(place, is_lower);
        }
    }

    fn play(&mut self, place: usize, is_lower: &impl Fn(usize, usize) -> bool) {
        let (left, right) = (self.places[2 * place], self.places[2 * place + 1]);
        let (x, y) = (left.nearly, right.nearly);
        let has_left = x == f64::INFINITY || y == f64::INFINITY;
        let right_is_lower = match compare_nearly(x, y) {
            _ if has_left => y < x,
            Some(order) => order.is_gt(),
            None => is_lower(right.entrant as usize, left.entrant as usize),
        };
        self.places[place] = if right_is_lower { right } else { left };
    }
}
