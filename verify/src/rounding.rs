//! Doubles rounded outward: a lower bound stays a lower bound, an upper bound an upper bound.
//!
//! A rounded result is at most half a step from the exact one, so the next double below it is below the exact
//! one and the next above is above, also where numbers underflow or overflow. All quantities are >= 0.

use fairplan_instances::Decimal;

/// At most the exact result whose rounded value is `rounded`.
pub(crate) fn down(rounded: f64) -> f64 {
    rounded.next_down().max(0.0)
}

/// At least the exact result whose rounded value is `rounded`.
pub(crate) fn up(rounded: f64) -> f64 {
    rounded.next_up()
}

/// The largest double known to be at most `decimal`: itself where it is a double.
pub(crate) fn decimal_down(decimal: Decimal) -> f64 {
    if decimal == Decimal::ONE { 1.0 } else { down(decimal.to_f64()) }
}

/// The smallest double known to be at least `decimal`: itself where it is known to be a double.
pub(crate) fn decimal_up(decimal: Decimal) -> f64 {
    if decimal == Decimal::ONE || decimal.is_zero() { decimal.to_f64() } else { up(decimal.to_f64()) }
}

/// A lower bound on a sum of lower bounds. Summed in blocks, so that a million terms lose a thousand times
/// less than one by one.
#[derive(Clone, Copy, Default)]
pub(crate) struct SumBelow {
    blocks: f64,
    block: f64,
    terms: u32,
}

impl SumBelow {
    const BLOCK: u32 = 1024;

    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        self.block = down(self.block + term);
        self.terms += 1;
        if self.terms == Self::BLOCK {
            *self = Self { blocks: self.sum(), ..Self::default() };
        }
    }

    /// The bound.
    pub fn sum(&self) -> f64 {
        down(self.blocks + self.block)
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

    proptest! {
        #[test]
        fn sums_never_exceed_the_exact_sum_and_hardly_fall_short(
            terms in proptest::collection::vec(0.0f64..1.0, 0..3000), scale in -300i32..300
        ) {
            let mut sum = SumBelow::default();
            let mut truth = BigUint::ZERO;
            for term in terms {
                let term = term * 10f64.powi(scale);
                sum.add(term);
                truth += exact(term);
            }
            prop_assert!(exact(sum.sum()) <= truth);
            prop_assert!(exact(sum.sum() * (1.0 + 1e-12)) + BigUint::from(5000u32) >= truth);
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
