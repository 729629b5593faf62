//! Quantities over several draws of the same demands.

use fairplan::report::reproduction::{Interval, Passage, Reproduced};

/// A quantity over demands drawn from several seeds.
#[derive(Clone, Copy)]
pub(super) struct Drawn {
    /// The middle one.
    pub ours: f64,
    /// How far from it the farthest is: a number agrees if it is no farther.
    pub reach: f64,
}

impl Drawn {
    pub fn of(draws: impl Iterator<Item = f64> + Clone) -> Self {
        let ours = median(draws.clone());
        let reach = draws.map(|draw| (draw - ours).abs()).fold(0.0, f64::max);
        Self { ours, reach }
    }

    pub fn beside(&self, passage: &Passage, quantity: &str, published: f64, half_a_digit: f64) -> Reproduced {
        passage.number(quantity, published, self.ours, self.reach + half_a_digit)
    }

    pub fn within(&self, passage: &Passage, quantity: &str, range: Interval) -> Reproduced {
        passage.range(quantity, range, self.ours, self.reach)
    }

    pub fn as_said(&self, passage: &Passage, quantity: &str, reading: Interval) -> Reproduced {
        passage.words_of_draws(quantity, reading, self.ours, self.reach)
    }
}

/// The middle one of some numbers.
pub(super) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match (numbers.get(half), numbers.len() % 2) {
        (Some(middle), 1) => *middle,
        (Some(upper), _) => (numbers[half - 1] + upper) / 2.0,
        (None, _) => f64::NAN,
    }
}
