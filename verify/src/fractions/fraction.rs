//! Fractions of whole numbers of any size. Results write those >= 0.

use fairplan_instances::Decimal;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;

/// A fraction, not always in lowest terms; its denominator is positive.
#[derive(Clone, Debug)]
pub(crate) struct Fraction {
    above: BigInt,
    below: BigInt,
}

/// Bits up to which a stated fraction must be in lowest terms, and up to which sums are brought there.
const SHORT: u64 = 1024;

impl Fraction {
    pub fn of(above: impl Into<BigInt>, below: impl Into<BigInt>) -> Self {
        Self { above: above.into(), below: below.into() }.shortened()
    }

    pub fn whole(number: impl Into<BigInt>) -> Self {
        Self { above: number.into(), below: BigInt::from(1) }
    }

    pub fn zero() -> Self {
        Self::whole(0)
    }

    pub fn decimal(decimal: Decimal) -> Self {
        let exponent = decimal.exponent();
        let digits = BigInt::from(decimal.scaled(exponent).unwrap_or(0));
        let power = BigInt::from(10).pow(u32::from(exponent.unsigned_abs()));
        if exponent < 0 { Self::of(digits, power) } else { Self::whole(digits * power) }
    }

    /// What a result says: `5/7`, or `3`; in lowest terms, without a sign, a space or a leading zero.
    pub fn read(text: &str) -> Result<Self, String> {
        let (above, below) = text.split_once('/').unwrap_or((text, "1"));
        let number = |digits: &str| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let leads = digits.len() > 1 && digits.starts_with('0');
            let number = (plain && !leads).then(|| BigInt::parse_bytes(digits.as_bytes(), 10)).flatten();
            number.ok_or_else(|| format!("{} is no fraction such as 5/7", shown(text)))
        };
        let (above, below) = (number(above)?, number(below)?);
        if below.sign() != Sign::Plus || text.ends_with("/1") {
            return Err(format!("{} is no fraction in lowest terms", shown(text)));
        }
        let read = Self { above, below };
        if read.bits() <= SHORT && read.clone().shortened().below != read.below {
            return Err(format!("{} is not in lowest terms", shown(text)));
        }
        Ok(read)
    }

    pub fn is_zero(&self) -> bool {
        self.above.sign() == Sign::NoSign
    }

    pub fn is_positive(&self) -> bool {
        self.above.sign() == Sign::Plus
    }

    pub fn above(&self) -> &BigInt {
        &self.above
    }

    pub fn below(&self) -> &BigInt {
        &self.below
    }

    fn bits(&self) -> u64 {
        self.above.bits() + self.below.bits()
    }

    fn shortened(self) -> Self {
        if self.bits() > SHORT {
            return self;
        }
        let divisor = BigInt::from(divisor(self.above.magnitude().clone(), self.below.magnitude().clone()));
        if divisor == BigInt::from(1) {
            return self;
        }
        Self { above: self.above / &divisor, below: self.below / divisor }
    }

    pub fn plus(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other.clone() } else { self.clone() };
        }
        if self.below == other.below {
            return Self::of(&self.above + &other.above, self.below.clone());
        }
        let common = BigInt::from(divisor(self.below.magnitude().clone(), other.below.magnitude().clone()));
        let (own, others) = (&self.below / &common, &other.below / common);
        Self::of(&self.above * &others + &other.above * own, &self.below * others)
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { above: -&other.above, below: other.below.clone() })
    }

    pub fn times(&self, other: &Self) -> Self {
        Self::of(&self.above * &other.above, &self.below * &other.below)
    }

    /// The quotient; `other` must not be 0.
    pub fn over(&self, other: &Self) -> Self {
        Self::of(&self.above * &other.below, &self.below * &other.above)
    }

    /// A double within a few units of its last place.
    pub fn near(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let shift = 80 + self.below.bits() as i64 - self.above.bits() as i64;
        let parts = if shift >= 0 {
            (&self.above << shift) / &self.below
        } else {
            &self.above / (&self.below << -shift)
        };
        let parts = i128::try_from(&parts).unwrap_or(i128::MAX) as f64;
        let down = -(shift as i32);
        parts * 2f64.powi(down / 2) * 2f64.powi(down - down / 2)
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.above * &other.below).cmp(&(&other.above * &self.below))
    }
}

/// The beginning of a text.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let start: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() { format!("{start}…") } else { start }
}

/// The greatest common divisor.
pub(crate) fn divisor(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        if let (Ok(mut a), Ok(mut b)) = (u128::try_from(&a), u128::try_from(&b)) {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            return a.into();
        }
        (a, b) = (b.clone(), a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_results_write_is_read() {
        assert_eq!(Fraction::read("5/7").unwrap(), Fraction::of(10, 14));
        assert_eq!(Fraction::read("0").unwrap(), Fraction::zero());
        for wrong in
            ["", "/", "5/", "/7", "-1", "+1", "1/0", "10/14", "5/1", "05", "1e3", "0.5", " 1", "1/2/3", "NaN"]
        {
            assert!(Fraction::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sums_products_and_doubles_are_right() {
        let (half, third) = (Fraction::of(1, 2), Fraction::of(1, 3));
        assert_eq!(half.plus(&third), Fraction::of(5, 6));
        assert_eq!(half.times(&third).over(&third), half);
        assert_eq!(third.near(), 1.0 / 3.0);
        assert!(third < half);
    }
}
