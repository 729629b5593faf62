//! Natural logarithms of whole numbers from both sides, in whole numbers: nothing rests on how a machine computes them.

use num_bigint::BigUint;

/// Logarithms are counted in parts of `1 / ONE`.
pub(super) const ONE: u128 = 1 << BITS;
const BITS: u64 = 60;

/// `⌊ONE ln 2⌋`.
const LN_2: u128 = 799_144_290_325_165_978;

/// Terms of the series `2 (t + t³/3 + t⁵/5 + …) = ln((1 + t) / (1 − t))`: with `t <= 1/3` what is left out is below one part.
const TERMS: u128 = 20;

/// What is rounded away: the argument by one part (which counts up to 3 times), each term's power by up to 3 parts.
const ROUNDED: u128 = 256;

/// `(low, high)` with `low <= ONE ln x <= high`, `x >= 1`.
pub(super) fn logarithm(x: &BigUint) -> (u128, u128) {
    let power = x.bits().saturating_sub(1);
    // x = mantissa / ONE · 2^power, the mantissa rounded down.
    let mantissa = if power > BITS { x >> (power - BITS) } else { x << (BITS - power) };
    let mantissa = u128::try_from(mantissa).unwrap_or(ONE).max(ONE);
    let argument = ((mantissa - ONE) << BITS) / (mantissa + ONE);
    let square = (argument * argument) >> BITS;
    let (mut sum, mut term) = (0, argument);
    for odd in 0..TERMS {
        sum += term / (2 * odd + 1);
        term = (term * square) >> BITS;
    }
    let power = u128::from(power);
    let low = power * LN_2 + 2 * sum;
    (low, low + power + ROUNDED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_logarithms_lie_between() {
        // ⌊ln x · 10^15⌋
        for (x, known) in
            [(1u64, 0), (2, 693_147_180_559_945), (3, 1_098_612_288_668_109), (10, 2_302_585_092_994_045)]
        {
            let (low, high) = logarithm(&x.into());
            let scaled = |parts: u128| parts * 1_000_000_000_000_000 / ONE;
            assert!(scaled(low) <= known + 1 && known <= scaled(high), "{x}: {low} {high}");
        }
        assert!(logarithm(&1u64.into()).0 == 0);
    }

    proptest! {
        #[test]
        fn a_product_has_the_sum_of_the_logarithms(x in 1u64.., y in 1u64..) {
            let [x, y, product] = [x.into(), y.into(), BigUint::from(x) * y].map(|x: BigUint| logarithm(&x));
            prop_assert!(x.0 + y.0 <= product.1 && product.0 <= x.1 + y.1);
            prop_assert!(product.1 - product.0 < 512);
        }
    }
}
