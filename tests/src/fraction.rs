//! Exact fractions of big integers, always in lowest terms.

use fairplan_instances::Decimal;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

/// An exact fraction with a positive denominator, in lowest terms.
#[derive(Clone, PartialEq, Eq)]
pub struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

impl Fraction {
    /// `numerator / denominator`; panics when the denominator is zero.
    pub fn new(numerator: impl Into<BigInt>, denominator: impl Into<BigInt>) -> Self {
        let (numerator, denominator) = (numerator.into(), denominator.into());
        assert!(denominator.sign() != Sign::NoSign, "division by zero");
        let divisor = greatest_common_divisor(numerator.magnitude(), denominator.magnitude());
        let divisor = BigInt::from_biguint(denominator.sign(), divisor);
        Self { numerator: numerator / &divisor, denominator: denominator / divisor }
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::new(0, 1)
    }

    /// One.
    pub fn one() -> Self {
        Self::new(1, 1)
    }

    /// Exactly the value of a double; panics on NaN and infinities.
    pub fn from_f64(value: f64) -> Self {
        assert!(value.is_finite(), "{value} is not a number");
        let bits = value.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let shift = exponent.max(1) - 1075;
        let significand = BigInt::from(significand) * value.signum() as i32;
        if shift >= 0 {
            Self::new(significand << shift, 1)
        } else {
            Self::new(significand, BigInt::from(1) << -shift)
        }
    }

    /// The numerator, in lowest terms.
    pub fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    /// The denominator, in lowest terms and positive.
    pub fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    /// The absolute value.
    pub fn abs(&self) -> Self {
        let numerator = BigInt::from_biguint(Sign::Plus, self.numerator.magnitude().clone());
        Self { numerator, denominator: self.denominator.clone() }
    }

    /// A double within a few units in the last place, for messages.
    pub fn to_f64(&self) -> f64 {
        let shift = 64 + self.denominator.bits() as i64 - self.numerator.bits() as i64;
        let quotient = if shift >= 0 {
            (&self.numerator << shift) / &self.denominator
        } else {
            &self.numerator / (&self.denominator << -shift)
        };
        let quotient = i128::try_from(&quotient).expect("the quotient has 65 bits");
        quotient as f64 * 2f64.powi(-shift as i32)
    }
}

fn greatest_common_divisor(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

impl From<Decimal> for Fraction {
    fn from(value: Decimal) -> Self {
        let exponent = value.exponent().min(0);
        let units = value.scaled(exponent).expect("a decimal is a multiple of its own unit");
        Self::new(units, BigInt::from(10).pow(u32::from(exponent.unsigned_abs())))
    }
}

impl From<u64> for Fraction {
    fn from(value: u64) -> Self {
        Self::new(value, 1)
    }
}

impl Add for &Fraction {
    type Output = Fraction;
    fn add(self, other: Self) -> Fraction {
        Fraction::new(
            &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Sub for &Fraction {
    type Output = Fraction;
    fn sub(self, other: Self) -> Fraction {
        Fraction::new(
            &self.numerator * &other.denominator - &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Mul for &Fraction {
    type Output = Fraction;
    fn mul(self, other: Self) -> Fraction {
        Fraction::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }
}

impl Div for &Fraction {
    type Output = Fraction;
    fn div(self, other: Self) -> Fraction {
        Fraction::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }
}

impl Sum for Fraction {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::zero(), |sum, term| &sum + &term)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ({:.17})", self.numerator, self.denominator, self.to_f64())
    }
}
