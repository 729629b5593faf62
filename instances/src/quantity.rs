//! Kubernetes quantities (`3920m`, `16287804Ki`, `1E`, `2e3`), exactly.
//!
//! Source: the grammar of `k8s.io/apimachinery/pkg/api/resource.Quantity`, which is also what rounds up below 1e-9.

use crate::Decimal;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// Decimals of a quantity: the smallest is `10^-9`.
const NANO: i32 = -9;

/// An amount of a resource as a whole number of billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(u128);

impl Quantity {
    /// One.
    pub const ONE: Self = Self(10u128.pow(NANO.unsigned_abs()));

    /// Reads `<number><suffix>`; what is finer than 1e-9 is rounded up, as Kubernetes does.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (negative, unsigned) = match text.as_bytes() {
            [b'-', ..] => (true, &text[1..]),
            [b'+', ..] => (false, &text[1..]),
            _ => (false, text),
        };
        let end =
            unsigned.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + decimals.len() == 0 || decimals.contains('.') {
            return Err(FORM);
        }
        let digits = [whole, decimals].concat();
        let digits = digits.trim_start_matches('0');
        let coefficient = match digits.len() {
            0 => 0,
            1..=MOST_DIGITS => digits.parse::<u128>().map_err(|_| FORM)?,
            _ => return Err("has too many digits"),
        };
        let (factor, exponent) = scale(suffix)?;
        if negative && coefficient > 0 {
            return Err("must be >= 0");
        }
        // At most 2^60 · 10^22 · 10^27: the power of ten decides whether it still fits.
        let power = exponent - decimals.len() as i32 - NANO;
        let scaled = coefficient * factor;
        let ten = 10u128.checked_pow(power.unsigned_abs());
        let value = match (power >= 0, ten) {
            _ if scaled == 0 => Some(0),
            (true, ten) => ten.and_then(|ten| scaled.checked_mul(ten)),
            (false, Some(ten)) => Some(scaled.div_ceil(ten)),
            (false, None) => Some(1),
        };
        value.filter(|value| *value < LIMIT).map(Self).ok_or("is too large")
    }

    /// One thousand.
    pub fn thousand() -> Self {
        Self(Self::ONE.0 * 1000)
    }

    /// The product, rounded up to billionths; it stays at what 128 bits hold.
    pub fn times(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0).div_ceil(Self::ONE.0))
    }

    /// One of so many whole parts of it; `None` unless they are as large as billionths say.
    pub fn in_parts(self, parts: Self) -> Option<Self> {
        let count = parts.0.checked_div(Self::ONE.0).filter(|count| count * Self::ONE.0 == parts.0)?;
        (count > 0 && self.0.is_multiple_of(count)).then(|| Self(self.0 / count))
    }

    /// What one of so many has of it, rounded up to thousandths where it does not go up; all of it where there is none.
    pub fn among(self, count: u64) -> Self {
        let (count, thousandth) = (u128::from(count.max(1)), Self::ONE.0 / 1000);
        match self.0.is_multiple_of(count) {
            true => Self(self.0 / count),
            false => Self(self.0.div_ceil(count * thousandth) * thousandth),
        }
    }

    /// The part that it is of `whole`, which is more than nothing, in thousandths, rounded up.
    pub fn thousandths_rounded_up(self, whole: Self) -> Self {
        Self((self.0.saturating_mul(1000)).div_ceil(whole.0.max(1)) * (Self::ONE.0 / 1000))
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum; it stays far below what 128 bits hold.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// So many of it; it stays at what 128 bits hold.
    pub fn repeated(self, count: u64) -> Self {
        Self(self.0.saturating_mul(u128::from(count)))
    }

    /// A thousandth of it as a decimal; `None` if that takes more than 19 digits.
    pub fn thousandth(self) -> Option<Decimal> {
        Decimal::from_units(self.0, NANO - 3).ok()
    }

    /// The part that it is of `whole`, to a double's digits.
    pub fn part_of(self, whole: Self) -> f64 {
        self.0 as f64 / whole.0 as f64
    }

    /// How many whole thousandths of `other` it is.
    pub fn thousandths_of(self, other: Self) -> u64 {
        u64::try_from(self.0.saturating_mul(1000) / other.0.max(1)).unwrap_or(u64::MAX)
    }

    /// What is left after taking `other` away, at least nothing.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The same as a decimal; `None` if that takes more than 19 digits.
    pub fn decimal(self) -> Option<Decimal> {
        Decimal::from_units(self.0, NANO).ok()
    }
}

const FORM: &str = "is no quantity; write a number with a suffix such as m, k, M, G, Ki, Mi, Gi or e3";

/// Digits that a coefficient may have.
const MOST_DIGITS: usize = 20;

/// Quantities stay below this many billionths, so that a million of them can be added.
const LIMIT: u128 = 10u128.pow(32);

/// The whole factor and the power of ten that a suffix stands for.
fn scale(suffix: &str) -> Result<(u128, i32), &'static str> {
    Ok(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => match suffix.strip_prefix(['e', 'E']) {
            Some(power) if power.trim_start_matches(['+', '-']).len() <= 3 => {
                (1, power.parse().map_err(|_| FORM)?)
            }
            _ => return Err(FORM),
        },
    })
}

/// A quantity as it stands in a file, as a text or as a bare number.
#[derive(Clone, Debug)]
pub struct Written(pub String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Written;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
                Ok(Written(text.to_owned()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Written, E> {
                Ok(Written(number.to_string()))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> String {
        Quantity::parse(text).unwrap().decimal().unwrap().to_string()
    }

    #[test]
    fn every_suffix_means_what_kubernetes_says() {
        for (text, value) in [
            ("4", "4"),
            ("3920m", "3.92"),
            ("16287804Ki", "16678711296"),
            ("93492209510", "93492209510"),
            ("1E", "1000000000000000000"),
            ("1Ei", "1152921504606846976"),
            ("1e3", "1000"),
            ("1E3", "1000"),
            ("12E-1", "1.2"),
            ("1.5Gi", "1610612736"),
            ("0.1", "0.1"),
            (".5", "0.5"),
            ("5.", "5"),
            ("+1k", "1000"),
            ("-0", "0"),
            ("100n", "0.0000001"),
            ("250u", "0.00025"),
            ("9223372036854775807", "9223372036854775807"),
            ("2P", "2000000000000000"),
            ("0.5Ti", "549755813888"),
        ] {
            assert_eq!(decimal(text), value, "{text}");
        }
    }

    #[test]
    fn what_is_finer_than_a_billionth_is_rounded_up() {
        assert_eq!(decimal("0.1n"), "0.000000001");
        assert_eq!(decimal("1e-99"), "0.000000001");
        assert_eq!(decimal("1.0000000001"), "1.000000001");
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in
            ["", "m", "1x", "1 Gi", "1.2.3", "Gi1", "1KI", "1ki", "1e", "1e+", "1e1.5", "NaN", "1mm", "--1"]
        {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
        assert_eq!(Quantity::parse("-2"), Err("must be >= 0"));
        assert_eq!(Quantity::parse("1e300"), Err("is too large"));
        assert_eq!(Quantity::parse("123456789012345678901"), Err("has too many digits"));
    }

    /// Read the slow way: the number in units of `10^-30`, times the suffix, rounded up to billionths.
    fn by_hand(whole: u32, decimals: &str, factor: u128, power: u32) -> u128 {
        let digits: u128 = format!("{whole}{decimals}").parse().unwrap();
        (digits * factor * 10u128.pow(power)).div_ceil(10u128.pow(decimals.len() as u32))
    }

    proptest! {
        #[test]
        fn a_quantity_is_its_number_times_its_suffix(
            whole: u32,
            decimals in "[0-9]{1,6}",
            suffix in prop::sample::select(vec![
                ("n", 1, 0), ("u", 1, 3), ("m", 1, 6), ("", 1, 9), ("k", 1, 12), ("M", 1, 15), ("G", 1, 18),
                ("Ki", 1u128 << 10, 9), ("Mi", 1 << 20, 9), ("Gi", 1 << 30, 9), ("e3", 1, 12), ("E-3", 1, 6),
            ]),
        ) {
            let (suffix, factor, power) = suffix;
            let read = Quantity::parse(&format!("{whole}.{decimals}{suffix}")).unwrap();
            prop_assert_eq!(read.0, by_hand(whole, &decimals, factor, power));
        }

        #[test]
        fn reading_never_panics(text in "\\PC{0,30}", suffix in "[+-]?[0-9.]{0,30}[a-zA-Z0-9+-]{0,6}") {
            let _ = Quantity::parse(&text);
            let _ = Quantity::parse(&suffix);
        }
    }
}
