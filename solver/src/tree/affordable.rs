//! The level up to which prices allow the users' shares: Newton's method on the pieces of the filling.

use super::filling::{Piece, Sides, Tree};
use crate::sums::Compensated;
use crate::tolerance::level::{MEET, PIECE};

/// Pieces that a search for a level looks at, at most; few steps of Newton's method are usual.
pub(super) const MOST_PIECES: usize = 200;

/// The part of a level search that is left.
#[derive(Clone, Copy)]
pub(super) struct Bracket {
    /// No level below is too high, none above is possible.
    pub low: f64,
    pub high: f64,
}

impl Bracket {
    pub const EVERYTHING: Self = Self { low: 0.0, high: f64::INFINITY };

    /// A level inside, where possible this one.
    pub fn inside(self, level: f64) -> f64 {
        let Self { low, high } = self;
        if level > low && level < high {
            level
        } else if high == f64::INFINITY {
            if low > 0.0 { 2.0 * low } else { 1.0 }
        } else {
            0.5 * (low + high)
        }
    }

    pub fn is_closed(self) -> bool {
        self.high <= self.low * (1.0 + MEET)
    }
}

impl Piece {
    /// The level at which the users pay so much, where that is on this piece.
    pub fn affordable(&self, costs: &[f64], worth: f64) -> Option<f64> {
        Some(root(self.cost(costs), worth)).filter(|level| self.contains(*level))
    }
}

impl Tree {
    /// The largest level at which the users' shares cost no more than `worth`, looked for from `level` on; infinite where
    /// not even all ceilings do. Newton's method on the pieces. With it the piece that it is on, as far as that was found.
    pub fn affordable(
        &self,
        sides: &Sides,
        costs: &[f64],
        worth: f64,
        mut level: f64,
    ) -> (f64, Option<Piece>) {
        let costs = self.by_place(costs);
        let mut bracket = Bracket::EVERYTHING;
        for _ in 0..MOST_PIECES {
            let (paid, (from, to)) = self.cost_at(level, sides, &costs);
            let root = root(paid, worth);
            if (from..=to).contains(&root) {
                return (root, Some(self.piece(level, sides)));
            }
            if paid.1 == 0.0 && root > to && to < f64::INFINITY {
                // All that pay are at their floors here.
                bracket.low = to;
                level = bracket.inside(to * (1.0 + 2.0 * PIECE));
                continue;
            }
            if root > to {
                bracket.low = to
            } else {
                bracket.high = from
            }
            if bracket.is_closed() {
                break;
            }
            level = bracket.inside(root);
        }
        (bracket.low, None)
    }

    /// What the users pay on the piece at a level, a constant and so much a level, with the ends of the piece; given costs by place.
    fn cost_at(&self, level: f64, sides: &Sides, costs: &[f64]) -> ((f64, f64), (f64, f64)) {
        let mut paid: Vec<(usize, [Compensated; 2])> =
            (0..self.nodes()).map(|v| (self.places(v).start, Default::default())).collect();
        let pay = |(first, sums): &mut (usize, [Compensated; 2]), user: usize, (base, slope): (f64, f64)| {
            let cost = costs[*first + user];
            sums[0].add(base * cost);
            sums[1].add(slope * cost);
        };
        let ends = self.fill_all(level, sides, &mut paid, pay);
        let mut totals = [Compensated::default(); 2];
        for (_, sums) in &paid {
            totals.iter_mut().zip(sums).for_each(|(total, sum)| total.add(sum.value()));
        }
        ((totals[0].value(), totals[1].value()), ends)
    }
}

/// The level at which what is paid, a constant and so much a level, comes to `worth`; infinite where it never does.
fn root((constant, rising): (f64, f64), worth: f64) -> f64 {
    match rising > 0.0 {
        true => (worth - constant) / rising,
        false if constant <= worth => f64::INFINITY,
        false => 0.0,
    }
}
