//! Fractions of whole numbers of any size.

use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A fraction with a positive denominator. In lowest terms while it is short ([`REDUCED`]): a sum over many users has a denominator of
/// thousands of digits, and looking for what it has in common with its numerator would take longer than all else.
#[derive(Clone)]
pub(crate) struct Rational {
    numerator: BigInt,
    denominator: BigInt,
}

/// Bits up to which results are brought into lowest terms.
const REDUCED: u64 = 2048;

impl Rational {
    /// `numerator / denominator`, the latter not 0.
    pub fn new(numerator: BigInt, denominator: BigInt) -> Self {
        let (numerator, denominator) = match denominator.sign() {
            Sign::Minus => (-numerator, -denominator),
            _ => (numerator, denominator),
        };
        let fraction = Self { numerator, denominator };
        match fraction.bits() <= REDUCED {
            true => fraction.in_lowest_terms(),
            false => fraction,
        }
    }

    pub fn whole(number: impl Into<BigInt>) -> Self {
        Self { numerator: number.into(), denominator: BigInt::from(1) }
    }

    pub fn zero() -> Self {
        Self::whole(0)
    }

    pub fn one() -> Self {
        Self::whole(1)
    }

    /// A decimal of this instance or another.
    pub fn decimal(value: fairplan_instances::Decimal) -> Self {
        let exponent = value.exponent();
        // Its own unit divides it.
        let coefficient = BigInt::from(value.scaled(exponent).unwrap_or(0));
        let power = BigInt::from(10).pow(u32::from(exponent.unsigned_abs()));
        match exponent < 0 {
            true => Self::new(coefficient, power),
            false => Self::whole(coefficient * power),
        }
    }

    /// Exactly a double, which must be finite.
    pub fn double(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let significand = BigInt::from(if exponent == 0 { fraction } else { fraction | 1 << 52 });
        let significand = if value < 0.0 { -significand } else { significand };
        let shift = exponent.max(1) - 1075;
        match shift >= 0 {
            true => Self::whole(significand << shift),
            false => Self::new(significand, BigInt::from(1) << -shift),
        }
    }

    pub fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    pub fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// Bits of both parts.
    pub fn bits(&self) -> u64 {
        self.numerator.bits() + self.denominator.bits()
    }

    /// The same without what both parts have in common.
    pub fn in_lowest_terms(self) -> Self {
        let common = common_divisor(self.numerator.magnitude(), self.denominator.magnitude());
        if common == BigUint::from(1u8) {
            return self;
        }
        let common = BigInt::from(common);
        Self { numerator: self.numerator / &common, denominator: self.denominator / common }
    }

    pub fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    pub fn is_positive(&self) -> bool {
        self.numerator.sign() == Sign::Plus
    }

    pub fn is_negative(&self) -> bool {
        self.numerator.sign() == Sign::Minus
    }

    /// A double next to it, or the one after that.
    pub fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let (numerator, denominator) = (self.numerator.magnitude(), self.denominator.magnitude());
        let shift = 64 + denominator.bits() as i64 - numerator.bits() as i64;
        let quotient =
            if shift >= 0 { (numerator << shift) / denominator } else { numerator / (denominator << -shift) };
        // It has 64 or 65 bits.
        let quotient = u128::try_from(&quotient).unwrap_or(u128::MAX) as f64;
        let shift = shift as i32;
        let value = quotient * 2f64.powi(-shift / 2) * 2f64.powi(-shift - -shift / 2);
        if self.is_negative() { -value } else { value }
    }

    /// A double that is no larger, and hardly smaller. For fractions >= 0.
    pub fn to_f64_below(&self) -> f64 {
        let mut value = self.to_f64();
        while Self::double(value) > *self {
            value = value.next_down();
        }
        value
    }
}

impl From<u64> for Rational {
    fn from(number: u64) -> Self {
        Self::whole(number)
    }
}

/// The greatest common divisor, by remainders: few of them where the two have nearly all in common. Their quotients are found from
/// the leading digits, many at a time (Lehmer's algorithm, Knuth Vol. 2, 4.5.2 L).
pub(crate) fn common_divisor(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = if a < b { (b.clone(), a.clone()) } else { (a.clone(), b.clone()) };
    loop {
        if let (Ok(small), Ok(other)) = (u128::try_from(&a), u128::try_from(&b)) {
            return small_divisor(small, other).into();
        }
        if b == BigUint::ZERO {
            return a;
        }
        let shift = a.bits().saturating_sub(LEADING);
        let leading = |number: &BigUint| i128::try_from(number >> shift).unwrap_or(0);
        match cofactors(leading(&a), leading(&b)) {
            None => (a, b) = (b.clone(), a % b),
            Some([[p, q], [r, s]]) => {
                let (one, other) = (BigInt::from(a), BigInt::from(b));
                let first = &one * p + &other * q;
                let second = one * r + other * s;
                (a, b) = (first.into_parts().1, second.into_parts().1);
            }
        }
    }
}

/// Leading bits from which quotients are found.
const LEADING: u64 = 62;

/// What the two become after as many divisions as their leading digits are sure of; `None` where those are none.
fn cofactors(mut a: i128, mut b: i128) -> Option<[[i128; 2]; 2]> {
    let [[mut p, mut q], [mut r, mut s]] = [[1i128, 0], [0, 1]];
    while b + r != 0 && b + s != 0 {
        let quotient = (a + p) / (b + r);
        if quotient != (a + q) / (b + s) {
            break;
        }
        (p, r) = (r, p - quotient * r);
        (q, s) = (s, q - quotient * s);
        (a, b) = (b, a - quotient * b);
    }
    (q != 0).then_some([[p, q], [r, s]])
}

fn small_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(mut one), Ok(mut other)) = (u64::try_from(a), u64::try_from(b)) {
            while other != 0 {
                (one, other) = (other, one % other);
            }
            return one.into();
        }
        (a, b) = (b, a % b);
    }
    a
}

impl Add for &Rational {
    type Output = Rational;
    fn add(self, other: Self) -> Rational {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        if self.denominator == other.denominator {
            return Rational::new(&self.numerator + &other.numerator, self.denominator.clone());
        }
        // Long denominators have nearly all in common.
        let common =
            BigInt::from(common_divisor(self.denominator.magnitude(), other.denominator.magnitude()));
        let (own, others) = (&self.denominator / &common, &other.denominator / common);
        Rational::new(&self.numerator * &others + &other.numerator * own, &self.denominator * others)
    }
}

impl Sub for &Rational {
    type Output = Rational;
    fn sub(self, other: Self) -> Rational {
        self + &-other
    }
}

impl Neg for &Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        Rational { numerator: -&self.numerator, denominator: self.denominator.clone() }
    }
}

impl Mul for &Rational {
    type Output = Rational;
    fn mul(self, other: Self) -> Rational {
        if self.is_zero() || other.is_zero() {
            return Rational::zero();
        }
        Rational::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }
}

impl Div for &Rational {
    type Output = Rational;
    fn div(self, other: Self) -> Rational {
        Rational::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rational {}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        match self.numerator.sign().cmp(&other.numerator.sign()) {
            Ordering::Equal => {
                (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
            }
            apart => apart,
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `5/7`, or `3` where it is whole.
impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator == BigInt::from(1) {
            true => write!(f, "{}", self.numerator),
            false => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_the_divisor_that_they_were_made_with() {
        let mut random = BigUint::from(12_345u32);
        let mut next = |bits: u64| {
            let mut number = BigUint::from(1u8);
            while number.bits() < bits {
                random = &random * 6_364_136_223_846_793_005u64 + 1_442_695_040_888_963_407u64;
                random = &random % (BigUint::from(1u8) << 64u32);
                number = (number << 32u32) + (&random >> 32u32);
            }
            number
        };
        for bits in [1, 60, 64, 128, 200, 1_000, 5_000] {
            let (common, a, b) = (next(bits), next(300), next(2 * bits));
            let (mut small, mut other) = (a.clone(), b.clone());
            while other != BigUint::ZERO {
                (small, other) = (other.clone(), small % other);
            }
            assert_eq!(common_divisor(&(&a * &common), &(&b * &common)), common * small, "{bits} bits");
        }
    }

    #[test]
    fn doubles_and_fractions_say_the_same() {
        for value in [0.0, 1.0, -0.1, 5e-324, f64::MAX, 1e-300] {
            assert_eq!(Rational::double(value).to_f64(), value);
        }
        let third = Rational::new(1.into(), 3.into());
        let below = third.to_f64_below();
        assert!(Rational::double(below) < third && Rational::double(below.next_up().next_up()) > third);
        assert_eq!(Rational::new(10.into(), (-14).into()).to_string(), "-5/7");
        assert_eq!(Rational::decimal("0.125".parse().unwrap()).to_string(), "1/8");
    }
}
