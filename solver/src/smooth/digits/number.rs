//! Floating-point numbers of as many digits as a problem asks for.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use std::ops::{Add, Div, Mul, Neg, Sub};

const TO_NEAREST: RoundingMode = RoundingMode::ToEven;

/// A number with its precision in bits, which is that of all numbers of a problem.
#[derive(Clone, Debug)]
pub(super) struct Number {
    value: BigFloat,
    bits: usize,
}

/// What logarithms and powers are worked out with.
pub(super) struct Constants(Consts);

impl Constants {
    /// `None` where there is no memory for them.
    pub fn new() -> Option<Self> {
        Consts::new().ok().map(Self)
    }
}

impl Number {
    /// A double with so many bits.
    pub fn of(value: f64, bits: usize) -> Self {
        if value.is_subnormal() {
            // The library takes these for twice or half of what they are.
            let scale = 2f64.powi(64);
            return &Self::of(value * scale, bits) / &Self::of(scale, bits);
        }
        Self { value: BigFloat::from_f64(value, bits), bits }
    }

    /// Another with as many bits.
    pub fn with(&self, value: f64) -> Self {
        Self::of(value, self.bits)
    }

    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }

    pub fn is_positive(&self) -> bool {
        self.value.is_positive() && !self.value.is_zero() && !self.value.is_nan() && !self.value.is_inf()
    }

    pub fn is_less_than(&self, other: &Self) -> bool {
        self.value.cmp(&other.value).is_some_and(|order| order < 0)
    }

    pub fn ln(&self, constants: &mut Constants) -> Self {
        Self { value: self.value.ln(self.bits, TO_NEAREST, &mut constants.0), bits: self.bits }
    }

    pub fn exp(&self, constants: &mut Constants) -> Self {
        Self { value: self.value.exp(self.bits, TO_NEAREST, &mut constants.0), bits: self.bits }
    }

    /// The nearest double but for rounding; nothing where it is too small for one, infinite where too large.
    pub fn to_f64(&self) -> f64 {
        let Some((words, _, sign, exponent, _)) = self.value.as_raw_parts() else { return f64::NAN };
        let top = words.last().copied().unwrap_or(0) as f64 / 2f64.powi(64);
        // In two steps, since what is far too large or small for one is not for both.
        let half = exponent / 2;
        let size = top * 2f64.powi(half) * 2f64.powi(exponent - half);
        if sign == Sign::Neg { -size } else { size }
    }
}

impl Add for &Number {
    type Output = Number;
    fn add(self, other: Self) -> Number {
        Number { value: self.value.add(&other.value, self.bits, TO_NEAREST), bits: self.bits }
    }
}

impl Sub for &Number {
    type Output = Number;
    fn sub(self, other: Self) -> Number {
        Number { value: self.value.sub(&other.value, self.bits, TO_NEAREST), bits: self.bits }
    }
}

impl Mul for &Number {
    type Output = Number;
    fn mul(self, other: Self) -> Number {
        Number { value: self.value.mul(&other.value, self.bits, TO_NEAREST), bits: self.bits }
    }
}

impl Div for &Number {
    type Output = Number;
    fn div(self, other: Self) -> Number {
        Number { value: self.value.div(&other.value, self.bits, TO_NEAREST), bits: self.bits }
    }
}

impl Neg for &Number {
    type Output = Number;
    fn neg(self) -> Number {
        Number { value: self.value.clone().neg(), bits: self.bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_come_back_as_they_were_and_what_none_holds_as_nothing_or_infinite() {
        for value in [1.0, -1.0, 0.1, 1e-300, -3.5e300, 2f64.powi(-1040), -5e-324] {
            assert_eq!(Number::of(value, 256).to_f64(), value);
        }
        let mut constants = Constants::new().unwrap();
        let large = Number::of(2000.0, 256).exp(&mut constants);
        assert_eq!((large.to_f64(), (&Number::of(1.0, 256) / &large).to_f64()), (f64::INFINITY, 0.0));
        assert!((large.ln(&mut constants).to_f64() - 2000.0).abs() < 1e-12);
    }

    #[test]
    fn a_difference_of_the_fiftieth_digit_is_told() {
        let one = Number::of(1.0, 256);
        let little = &one / &Number::of(1e50, 256);
        assert!(((&(&one + &little) - &one).to_f64() * 1e50 - 1.0).abs() < 1e-10);
        assert!(one.is_less_than(&(&one + &little)) && !one.is_less_than(&one));
        assert!(little.is_positive() && !(-&little).is_positive());
    }
}
