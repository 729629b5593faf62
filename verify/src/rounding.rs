//! Doubles rounded outward: a lower bound stays a lower bound, an upper bound an upper bound.
//!
//! A rounded result is at most half a step from the exact one, so the next double below it is below the exact
//! one and the next above is above, also where numbers underflow or overflow. All quantities are >= 0.

use crate::exact::Dyadic;
use fairplan_instances::Decimal;

/// At most the exact result whose rounded value is `rounded`; 0 where that is no number.
pub(crate) fn down(rounded: f64) -> f64 {
    rounded.next_down().max(0.0)
}

/// At least the exact result whose rounded value is `rounded`; infinite where that is no number.
pub(crate) fn up(rounded: f64) -> f64 {
    if rounded.is_nan() { f64::INFINITY } else { rounded.next_up() }
}

/// `x`, but nothing where it is negative; infinite where it is no number. (`f64::max` takes what is no number for nothing.)
pub(crate) fn at_least_nothing(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x.max(0.0) }
}

/// The largest of upper bounds and 0; infinite if one of them is no number.
pub(crate) fn largest(bounds: impl Iterator<Item = f64>) -> f64 {
    bounds.map(at_least_nothing).fold(0.0, f64::max)
}

/// The largest double known to be at most `decimal`: itself where it is a double.
pub(crate) fn decimal_down(decimal: Decimal) -> f64 {
    if decimal == Decimal::ONE { 1.0 } else { down(decimal.to_f64()) }
}

/// The smallest double known to be at least `decimal`: itself where it is known to be a double.
pub(crate) fn decimal_up(decimal: Decimal) -> f64 {
    if decimal == Decimal::ONE || decimal.is_zero() { decimal.to_f64() } else { up(decimal.to_f64()) }
}

/// An exact sum of doubles >= 0: one long binary number, from the last bit of the smallest double to room for
/// 2^64 of the largest. Levels above the first subtract nearly equal sums, which a rounded one would spoil. A term that is
/// infinite or no number makes the sum unknown: at least 0, at most infinite.
#[derive(Clone)]
pub(crate) struct Sum {
    words: [u64; Self::WORDS],
    is_known: bool,
}

impl Sum {
    const WORDS: usize = (1074 + 1024 + 64) / 64 + 1;

    /// Nothing yet.
    pub fn new() -> Self {
        Self { words: [0; Self::WORDS], is_known: true }
    }

    /// Adds a number that should be finite and >= 0.
    pub fn add(&mut self, x: f64) {
        if !(x.is_finite() && x >= 0.0) {
            self.is_known = false;
            return;
        }
        let (mantissa, position) = Dyadic::of(x).and_position();
        let shifted = u128::from(mantissa) << (position % 64);
        self.add_words(position / 64, [shifted as u64, (shifted >> 64) as u64]);
    }

    /// Adds another sum. (Exact, so the order does not matter.)
    pub fn merge(&mut self, other: &Self) {
        self.add_words(0, other.words);
        self.is_known &= other.is_known;
    }

    /// Adds words from position `first` on, and the carry beyond them.
    fn add_words<const N: usize>(&mut self, first: usize, parts: [u64; N]) {
        let mut carry = false;
        for (i, part) in parts.into_iter().enumerate() {
            let word = &mut self.words[first + i];
            let (sum, over) = word.overflowing_add(part);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, over | over_again);
        }
        let mut next = first + N;
        while carry {
            (self.words[next], carry) = self.words[next].overflowing_add(1);
            next += 1;
        }
    }

    /// At most the sum, and at least all but the last bits of it.
    pub fn below(&self) -> f64 {
        if self.is_known { down(self.leading()) } else { 0.0 }
    }

    /// At least the sum.
    pub fn above(&self) -> f64 {
        if !self.is_known {
            return f64::INFINITY;
        }
        let leading = self.leading();
        if leading == 0.0 { 0.0 } else { up(leading) }
    }

    /// The sum up to half a step and the 64th of its bits; the sum exactly when it is 0.
    fn leading(&self) -> f64 {
        let Some(top) = self.words.iter().rposition(|word| *word != 0) else { return 0.0 };
        let next = top.saturating_sub(1);
        let bits =
            if top == 0 { 0 } else { u128::from(self.words[top]) << 64 } | u128::from(self.words[next]);
        // In two steps, since neither of the smallest powers of two has an inverse.
        let scale = 64 * next as i32 - 1074;
        bits as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// A double as a whole number of 2^-1074.
    fn exact(x: f64) -> BigUint {
        let exponent = (x.to_bits() >> 52) as u32;
        let fraction = x.to_bits() & ((1 << 52) - 1);
        if exponent == 0 { fraction.into() } else { BigUint::from(fraction | 1 << 52) << (exponent - 1) }
    }

    fn bracket(terms: &[f64]) -> (f64, BigUint, f64) {
        let mut sum = Sum::new();
        let (first, second) = terms.split_at(terms.len() / 3);
        first.iter().for_each(|term| sum.add(*term));
        let mut rest = Sum::new();
        second.iter().for_each(|term| rest.add(*term));
        sum.merge(&rest);
        (sum.below(), terms.iter().map(|term| exact(*term)).sum(), sum.above())
    }

    proptest! {
        #[test]
        fn sums_are_bracketed_within_three_steps(
            terms in prop::collection::vec((0.0f64..1.0, -320i32..300), 0..50), alike in any::<bool>()
        ) {
            let first = terms.first().map_or(0, |(_, scale)| *scale);
            let terms: Vec<f64> =
                terms.iter().map(|(x, scale)| x * 10f64.powi(if alike { first } else { *scale })).collect();
            let (below, truth, above) = bracket(&terms);
            prop_assert!(exact(below) <= truth && truth <= exact(above));
            prop_assert!(below.next_up().next_up().next_up() >= above);
        }
    }

    #[test]
    fn a_million_terms_lose_nothing_and_carries_run_far() {
        let (below, _, above) = bracket(&vec![0.1; 1 << 20]);
        assert!(below <= 0.1 * f64::from(1 << 20) && 0.1 * f64::from(1 << 20) <= above);
        assert!(below.next_up().next_up() >= above);
        let powers: Vec<f64> = (0..1000).map(|k| 2f64.powi(-k)).collect();
        let (below, truth, above) = bracket(&[&powers[..], &[2f64.powi(-999)]].concat());
        assert_eq!(truth, exact(2.0));
        assert!(below <= 2.0 && 2.0 <= above);
        assert_eq!((bracket(&[]).0, bracket(&[0.0]).2), (0.0, 0.0));
        assert_eq!(bracket(&[f64::MAX; 3]).0, f64::MAX);
        for odd in [f64::INFINITY, f64::NAN, -1.0] {
            let mut sum = Sum::new();
            sum.add(1.0);
            let mut other = Sum::new();
            other.add(odd);
            sum.merge(&other);
            assert_eq!((sum.below(), sum.above()), (0.0, f64::INFINITY), "{odd}");
        }
    }

    #[test]
    fn decimals_are_bracketed() {
        let tenth: Decimal = "0.1".parse().unwrap();
        assert!(decimal_down(tenth) < 0.1 && decimal_up(tenth) > 0.1);
        assert_eq!((decimal_down(Decimal::ONE), decimal_up(Decimal::ONE)), (1.0, 1.0));
        assert_eq!((decimal_down(Decimal::ZERO), decimal_up(Decimal::ZERO)), (0.0, 0.0));
    }
}
