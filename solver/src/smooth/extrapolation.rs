//! Where rounds are heading: prices to begin the next one with, from what the rounds before made of theirs (Anderson's mixing).
//!
//! Near the end what a round changes of the logarithms of prices is nearly a linear function of them, and comes nearer by the same part each
//! time. So the mix of the rounds before whose changes cancel best is nearer to where nothing changes. It is only a start: the round that
//! follows proves its own prices, and whoever runs the rounds forgets the mix where these prove no more than the best before.

use crate::level::dot;

/// Changes from round to round that are remembered.
const REMEMBERED: usize = 4;
/// The part of a change from round to round that must differ from newer ones for it to tell more than they do.
const NEW: f64 = 0.03;
/// A row that is worth less than this part of all keeps the price that the last round found.
const WORTHLESS: f64 = 1e-9;
/// The most by which the logarithm of a price is moved beyond what the last round found.
const FARTHEST: f64 = 1.0;

/// Something about each row: by how much a round changed its worth, and what worth it found, in logarithms of parts of all.
#[derive(Clone)]
struct Rows {
    change: Vec<f64>,
    found: Vec<f64>,
}

/// The rounds so far: the last one, and how the others differed from each other, the newest last.
#[derive(Default)]
pub(super) struct Extrapolation {
    last: Option<Rows>,
    differences: Vec<Rows>,
}

impl Extrapolation {
    /// Forgets the rounds so far.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The prices to go on from after a round that went from some prices to those it found, worth as much as these. `None` where there is
    /// nothing to mix.
    pub fn next(&mut self, from: &[f64], found: &[f64], capacities: &[f64]) -> Option<Vec<f64>> {
        let parts = |prices: &[f64]| -> Vec<f64> {
            let total = dot(prices, capacities);
            prices.iter().zip(capacities).map(|(price, capacity)| price * capacity / total).collect()
        };
        let worth = parts(found);
        let logs =
            |parts: &[f64]| -> Vec<f64> { parts.iter().map(|part| part.max(WORTHLESS).ln()).collect() };
        let (before, after) = (logs(&parts(from)), logs(&worth));
        let mut change = after.clone();
        take_away(&mut change, 1.0, &before);
        let round = Rows { change, found: after };
        if let Some(last) = self.last.replace(round.clone()) {
            let mut difference = round.clone();
            difference.take_away(1.0, &last);
            if self.differences.len() == REMEMBERED {
                self.differences.remove(0);
            }
            self.differences.push(difference);
        }
        let directions = self.directions(&worth);
        let mut mix = round.clone();
        for direction in &directions {
            let part = product(&worth, &mix.change, &direction.change)
                / product(&worth, &direction.change, &direction.change);
            mix.take_away(part, direction);
        }
        let moved = |r: usize| (mix.found[r] - round.found[r]).clamp(-FARTHEST, FARTHEST);
        let price =
            |(r, price): (usize, &f64)| if worth[r] > WORTHLESS { price * moved(r).exp() } else { *price };
        let next: Vec<f64> = found.iter().enumerate().map(price).collect();
        let scale = dot(found, capacities) / dot(&next, capacities);
        let is_told = !directions.is_empty() && scale.is_finite() && scale > 0.0;
        is_told.then(|| next.into_iter().map(|price| price * scale).collect())
    }

    /// What is new in each difference beside newer ones, each row counted by what it is worth: changes at right angles to each other.
    fn directions(&self, worth: &[f64]) -> Vec<Rows> {
        let mut directions: Vec<Rows> = Vec::new();
        for difference in self.differences.iter().rev() {
            let mut rest = difference.clone();
            for newer in &directions {
                let part = product(worth, &rest.change, &newer.change)
                    / product(worth, &newer.change, &newer.change);
                rest.take_away(part, newer);
            }
            let square = |rows: &Rows| product(worth, &rows.change, &rows.change);
            if square(&rest) > NEW * NEW * square(difference) {
                directions.push(rest);
            }
        }
        directions
    }
}

impl Rows {
    /// Takes so many times the other away.
    fn take_away(&mut self, part: f64, other: &Self) {
        take_away(&mut self.change, part, &other.change);
        take_away(&mut self.found, part, &other.found);
    }
}

fn take_away(from: &mut [f64], part: f64, other: &[f64]) {
    from.iter_mut().zip(other).for_each(|(x, other)| *x -= part * other);
}

/// The product of two sets of rows, each row counted by what it is worth.
fn product(worth: &[f64], a: &[f64], b: &[f64]) -> f64 {
    worth.iter().zip(a).zip(b).map(|((worth, a), b)| worth * a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_each_come_nearer_by_a_part_lead_to_where_they_are_heading_after_as_many_as_there_are_directions()
     {
        let capacities = [1.0, 2.0, 4.0, 8.0];
        let goal = [0.5f64, 0.1, 0.03, 0.07];
        // Each direction comes nearer by a part of its own; prices are told in any unit.
        let round = |prices: &[f64]| -> Vec<f64> {
            let unit = prices[3] / goal[3];
            let left = [0.9, 0.6, 0.3, 0.0];
            let price = |r: usize| goal[r] * (prices[r] / unit / goal[r]).powf(left[r]);
            (0..4).map(price).collect()
        };
        let mut extrapolation = Extrapolation::default();
        let mut prices = vec![0.4, 0.15, 0.04, 0.07];
        let off = |prices: &[f64]| -> f64 {
            (0..3).map(|r| (prices[r] / prices[3] / (goal[r] / goal[3])).ln().abs()).fold(0.0, f64::max)
        };
        for _ in 0..8 {
            let found = round(&prices);
            prices = extrapolation.next(&prices, &found, &capacities).unwrap_or(found);
        }
        assert!(off(&prices) < 1e-6, "{prices:?}");
    }

    #[test]
    fn rows_worth_next_to_nothing_keep_the_price_that_the_last_round_found() {
        let capacities = [1.0; 4];
        let still = 0.1 * WORTHLESS;
        // The third row beside one that is kept for sure.
        let last = |least: f64| {
            let mut extrapolation = Extrapolation::default();
            let mut round = |from: [f64; 4], found: [f64; 4]| extrapolation.next(&from, &found, &capacities);
            assert!(round([1.0, 4.0, 4.0 * least, still], [1.0, 2.0, 2.0 * least, still]).is_none());
            let next = round([1.0, 2.0, 2.0 * least, still], [1.0, 1.5, 1.5 * least, still]).unwrap();
            next[2] / next[3] * still / (1.5 * least)
        };
        // It is found to be worth 1.5 parts of 2.5.
        assert!((last(0.99 * WORTHLESS / 0.6) - 1.0).abs() < 1e-9);
        assert!((last(1.01 * WORTHLESS / 0.6) - 1.0).abs() > 0.05);
    }

    #[test]
    fn a_change_that_differs_from_newer_ones_by_too_little_is_left_out_and_one_that_differs_more_is_not() {
        let directions = |part: f64| {
            let rows = |change: [f64; 2]| Rows { change: change.to_vec(), found: vec![0.0; 2] };
            let differences = vec![rows([1.0, part]), rows([1.0, 0.0])];
            Extrapolation { last: None, differences }.directions(&[0.5, 0.5]).len()
        };
        assert_eq!((directions(0.9 * NEW), directions(1.1 * NEW)), (1, 2));
    }
}
