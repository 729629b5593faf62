//! Sums of tasks times whole units against a whole limit, decided exactly.
//!
//! Doubles are dyadic rationals. Each product is rounded *up* to a fixed point some 2^-125 of the limit, so a
//! sum that fits surely fits; one that does not is summed again in big integers, and that decides.

use num_bigint::BigUint;

/// `mantissa · 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dyadic {
    mantissa: u64,
    exponent: i32,
}

impl Dyadic {
    /// Exactly `x`, which must be finite and >= 0.
    pub fn of(x: f64) -> Self {
        const FRACTION: u64 = (1 << 52) - 1;
        let (exponent, fraction) = ((x.to_bits() >> 52) as i32 & 0x7ff, x.to_bits() & FRACTION);
        if exponent == 0 {
            Self { mantissa: fraction, exponent: -1074 }
        } else {
            Self { mantissa: fraction | 1 << 52, exponent: exponent - 1075 }
        }
    }

    /// The mantissa, and where its last bit is, counted from 2^-1074.
    pub fn and_position(self) -> (u64, usize) {
        (self.mantissa, (self.exponent + 1074) as usize)
    }

    /// At least `units`: exactly below 2^64, else rounded up to 63 bits or more.
    pub fn at_least(units: u128) -> Self {
        let excess = 128u32.saturating_sub(units.leading_zeros() + 63);
        if units <= u128::from(u64::MAX) {
            return Self { mantissa: units as u64, exponent: 0 };
        }
        let rounded_up = (units >> excess) + u128::from(units.trailing_zeros() < excess);
        Self { mantissa: rounded_up as u64, exponent: excess as i32 }
    }
}

/// Adds products up against a limit, each rounded up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    limit: u128,
    fraction_bits: u32,
    sum: u128,
}

impl Tally {
    /// Nothing yet against `limit` whole units (below 2^125).
    pub fn against(limit: u128) -> Self {
        Self { limit, fraction_bits: limit.leading_zeros().saturating_sub(3), sum: 0 }
    }

    /// Adds `tasks · units`.
    pub fn add(&mut self, tasks: Dyadic, units: Dyadic) {
        let product = u128::from(tasks.mantissa) * u128::from(units.mantissa);
        let shift = tasks.exponent + units.exponent + self.fraction_bits as i32;
        let bits = shift.unsigned_abs();
        let term = if product == 0 {
            0
        } else if shift >= 0 {
            if product.leading_zeros() >= bits { product << bits } else { u128::MAX }
        } else if bits < 128 {
            (product >> bits) + u128::from(product.trailing_zeros() < bits)
        } else {
            1
        };
        self.sum = self.sum.saturating_add(term);
    }

    /// Adds what another tally against the same limit has.
    pub fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Whether the sum surely is within the limit.
    pub fn fits(&self) -> bool {
        self.sum <= self.limit << self.fraction_bits
    }

    /// The sum in units, as a double.
    pub fn units(&self) -> f64 {
        self.sum as f64 / 2f64.powi(self.fraction_bits as i32)
    }
}

/// By which part of `limit` the exact sum of `tasks · units` exceeds it: 0 exactly when it does not.
pub(crate) fn excess(terms: impl Iterator<Item = (f64, u128)>, limit: u128) -> f64 {
    let mut sum = BigUint::ZERO;
    for (tasks, units) in terms {
        let (mantissa, position) = Dyadic::of(tasks).and_position();
        sum += (BigUint::from(mantissa) * units) << position;
    }
    let limit = BigUint::from(limit) << 1074;
    if sum <= limit {
        return 0.0;
    }
    if limit == BigUint::ZERO {
        return f64::INFINITY;
    }
    let parts = ((sum - &limit) << 100) / limit;
    u128::try_from(parts).map_or(f64::INFINITY, |parts| (parts.max(1) as f64) / 2f64.powi(100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(terms: &[(f64, u128)], limit: u128) -> Tally {
        let mut tally = Tally::against(limit);
        for (tasks, units) in terms {
            tally.add(Dyadic::of(*tasks), Dyadic::at_least(*units));
        }
        tally
    }

    #[test]
    fn one_step_of_a_double_over_the_limit_is_seen() {
        let full = [(10.0, 2), (10.0, 10)];
        assert!(tally(&full, 120).fits());
        assert_eq!(excess(full.into_iter(), 120), 0.0);
        let over = [(10.0f64.next_up(), 2), (10.0, 10)];
        assert!(!tally(&over, 120).fits());
        let excess = excess(over.into_iter(), 120);
        assert!(excess > 0.0 && excess < 1e-15, "{excess}");
    }

    #[test]
    fn a_limit_of_zero_takes_nothing() {
        assert!(tally(&[(0.0, 5)], 0).fits());
        assert!(!tally(&[(5e-324, 1)], 0).fits());
        assert_eq!(excess([(5e-324, 1)].into_iter(), 0), f64::INFINITY);
    }

    #[test]
    fn overflowing_sums_do_not_fit() {
        assert!(!tally(&[(f64::MAX, 1 << 119)], 1 << 119).fits());
        assert!(!tally(&[(1.0, 1 << 119); 70], 1 << 119).fits());
    }

    proptest! {
        #[test]
        fn what_fits_rounded_up_fits_exactly_and_little_else_is_left_to_decide(
            terms in proptest::collection::vec((0.0f64..1e6, 0u32..120, 0u128..1 << 64), 1..20),
            limit_bits in 0u32..120,
        ) {
            let terms: Vec<_> = terms.into_iter().map(|(x, shift, units)| (x, units << shift >> 64)).collect();
            let limit = 1u128 << limit_bits;
            let fits = tally(&terms, limit).fits();
            let truth = excess(terms.iter().copied(), limit) == 0.0;
            prop_assert!(!fits || truth, "fits rounded up, but not exactly");
            let shrunk = terms.iter().map(|(x, units)| (x * (1.0 + 1e-15), *units));
            prop_assert!(fits || excess(shrunk, limit) > 0.0, "refused with room to spare");
        }
    }
}
