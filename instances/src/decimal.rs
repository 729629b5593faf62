//! Exact non-negative decimals: what a file says is what is computed with.

use std::fmt;

/// Powers of ten that a `u64` can hold: `10^0 ..= 10^19`.
const POWERS: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut k = 1;
    while k < 20 {
        powers[k] = powers[k - 1] * 10;
        k += 1;
    }
    powers
};

/// Values must lie in `10^-MAX_EXPONENT ..= 10^MAX_EXPONENT` (or be zero).
const MAX_EXPONENT: i32 = 30;

/// How many digits more than an amount the equal parts of it may have.
const MORE_DIGITS: i32 = 9;

/// A non-negative decimal `coefficient · 10^exponent`, kept in lowest terms (the coefficient is no
/// multiple of ten, and zero is `0 · 10^0`), so that equal values are equal structures.
///
/// ```
/// use fairplan_instances::Decimal;
/// let third_of_a_server: Decimal = "0.10".parse().unwrap();
/// assert_eq!(third_of_a_server.scaled(-2), Some(10));
/// assert_eq!(third_of_a_server.to_string(), "0.1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Decimal {
    coefficient: u64,
    exponent: i8,
}

/// Why a text is not a usable decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not a number at all.
    #[error("is not a decimal number")]
    NotANumber,
    /// `nan`, `inf` and their relatives.
    #[error("must be a finite number")]
    NotFinite,
    /// Below zero.
    #[error("must be >= 0")]
    Negative,
    /// More than 19 significant digits.
    #[error("has more than 19 significant digits; round it")]
    TooPrecise,
    /// Not zero and outside 1e-30 .. 1e30.
    #[error("is outside the supported range 1e-30 .. 1e30; choose another unit")]
    OutOfRange,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { coefficient: 0, exponent: 0 };
    /// Bytes that the text of any decimal fits in.
    pub const TEXT: usize = 32;
    /// One.
    pub const ONE: Self = Self { coefficient: 1, exponent: 0 };

    /// The decimal `coefficient · 10^exponent`.
    pub fn new(coefficient: u64, exponent: i32) -> Result<Self, DecimalError> {
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        let (mut coefficient, mut exponent) = (coefficient, exponent);
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent = exponent.saturating_add(1);
        }
        let digits = coefficient.ilog10() as i32;
        let leading = exponent.saturating_add(digits);
        let is_most = (coefficient, exponent) == (1, MAX_EXPONENT);
        if !(-MAX_EXPONENT..MAX_EXPONENT).contains(&leading) && !is_most {
            return Err(DecimalError::OutOfRange);
        }
        Ok(Self { coefficient, exponent: exponent as i8 })
    }

    /// The decimal `units · 10^exponent`, of which at most 19 digits may be significant.
    pub fn from_units(units: u128, exponent: i32) -> Result<Self, DecimalError> {
        let (mut units, mut exponent) = (units, exponent);
        while units > 0 && units.is_multiple_of(10) {
            units /= 10;
            exponent = exponent.saturating_add(1);
        }
        Self::new(u64::try_from(units).map_err(|_| DecimalError::TooPrecise)?, exponent)
    }

    /// Reads plain or scientific notation: `3`, `0.4995`, `.5`, `7.057e-05`. Never loses a digit.
    pub fn parse(text: &[u8]) -> Result<Self, DecimalError> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let value = match parse_plain(digits) {
            Some(value) => value?,
            None => parse_magnitude(digits)?,
        };
        if negative && value != Self::ZERO { Err(DecimalError::Negative) } else { Ok(value) }
    }

    /// A double to so many significant digits.
    ///
    /// # Errors
    /// As for [`from_f64`](Self::from_f64).
    pub fn rounded(value: f64, digits: usize) -> Result<Self, DecimalError> {
        Self::parse(format!("{value:.*e}", digits.saturating_sub(1)).as_bytes())
    }

    /// The shortest decimal that reads back as `value`.
    pub fn from_f64(value: f64) -> Result<Self, DecimalError> {
        Self::from_f64_like(value, &mut 0)
    }

    /// The same of one number of many that have about as many places behind the point: `places`, the most of those before it, are
    /// tried first. Begins with none.
    #[inline]
    pub(crate) fn from_f64_like(value: f64, places: &mut usize) -> Result<Self, DecimalError> {
        with_places(value, *places).map_or_else(|| Self::from_f64_unlike(value, places), Ok)
    }

    /// The same of a number that has more places than those before it. It stands by itself so that one number waits for another only here.
    #[cold]
    #[inline(never)]
    fn from_f64_unlike(value: f64, places: &mut usize) -> Result<Self, DecimalError> {
        if !value.is_finite() {
            return Err(DecimalError::NotFinite);
        }
        match [0, 2, 4, 8, 15].into_iter().find_map(|places| with_places(value, places)) {
            Some(decimal) => {
                *places = usize::from(decimal.exponent.min(0).unsigned_abs()).max(*places);
                Ok(decimal)
            }
            None => Self::parse(format!("{value:e}").as_bytes()),
        }
    }

    /// Whether the value is zero.
    pub fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// The power of ten of the last significant digit.
    pub fn exponent(self) -> i8 {
        self.exponent
    }

    /// One of `count` equal parts, if that is a decimal with few more digits.
    pub(crate) fn part_of(self, count: u64) -> Option<Self> {
        let exponent = i32::from(self.exponent());
        (0..=MORE_DIGITS).find_map(|digits| {
            let units = self.scaled(i8::try_from(exponent - digits).ok()?)?;
            let whole = units.is_multiple_of(u128::from(count));
            whole.then(|| Self::from_units(units / u128::from(count), exponent - digits).ok()).flatten()
        })
    }

    /// The value as a whole number of `10^exponent`; `None` when it is no multiple of that unit or
    /// exceeds `u128`.
    pub fn scaled(self, exponent: i8) -> Option<u128> {
        if self.coefficient == 0 {
            return Some(0);
        }
        let shift = u32::try_from(i32::from(self.exponent) - i32::from(exponent)).ok()?;
        10u128.checked_pow(shift)?.checked_mul(u128::from(self.coefficient))
    }

    /// The text in files (that of `Display` but for the point of scientific notation), right-aligned in `buffer`: what writing millions of numbers needs.
    pub fn text(self, buffer: &mut [u8; Self::TEXT]) -> &[u8] {
        let mut start = buffer.len();
        let mut put = |byte: u8| {
            start -= 1;
            buffer[start] = byte;
        };
        let exponent = i32::from(self.exponent);
        let length = if self.coefficient == 0 { 1 } else { self.coefficient.ilog10() as i32 + 1 };
        let mut rest = self.coefficient;
        let mut places = 0;
        if length + exponent > 21 || exponent <= -(POWERS.len() as i32) || length + exponent < -8 {
            let mut power = exponent.unsigned_abs();
            while power > 0 {
                put(b'0' + (power % 10) as u8);
                power /= 10;
            }
            if exponent < 0 {
                put(b'-');
            }
            put(b'e');
        } else if exponent < 0 {
            places = -exponent;
        } else {
            (0..exponent).for_each(|_| put(b'0'));
        }
        let mut written = 0;
        while written <= places || rest > 0 {
            if places > 0 && written == places {
                put(b'.');
            }
            put(b'0' + (rest % 10) as u8);
            rest /= 10;
            written += 1;
        }
        &buffer[start..]
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        let shift = usize::from(self.exponent.unsigned_abs());
        if self.coefficient < 1 << 53 && shift < POWERS.len() {
            // Both operands are exact doubles (10^19 = 5^19 · 2^19), so one operation rounds once.
            let power = POWERS[shift] as f64;
            let coefficient = self.coefficient as f64;
            return if self.exponent < 0 { coefficient / power } else { coefficient * power };
        }
        // Cannot fail: digits and an exponent form a number.
        format!("{}e{}", self.coefficient, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

/// The shortest decimal of a double that has one of at most 15 digits with so many places behind the point. No other decimal of so few
/// digits reads back as the same double, so that it is the shortest. `None` of all other numbers, finite or not.
#[inline]
fn with_places(value: f64, places: usize) -> Option<Decimal> {
    const MOST: f64 = 1e15;
    // Powers up to 10^22 are exact doubles, and a quotient of two exact ones is rounded once, as reading rounds.
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let power = *POWERS.get(places)?;
    let scaled = value * power + 0.5;
    if !(value >= 0.0 && scaled < MOST) {
        return None;
    }
    let units = scaled as i64;
    if units as f64 / power != value {
        return None;
    }
    let (mut coefficient, mut exponent) = (units.unsigned_abs(), -(places as i8));
    if coefficient == 0 {
        return Some(Decimal::ZERO);
    }
    while coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    Some(Decimal { coefficient, exponent })
}

/// Plain notation with so few digits that none can be lost on the way; `None` for all else.
fn parse_plain(text: &[u8]) -> Option<Result<Decimal, DecimalError>> {
    const DIGITS: usize = 18;
    let (mut coefficient, mut point) = (0u64, None);
    for (position, byte) in text.iter().enumerate() {
        match byte.wrapping_sub(b'0') {
            digit @ 0..=9 if position <= DIGITS => coefficient = coefficient * 10 + u64::from(digit),
            _ if *byte == b'.' && point.is_none() => point = Some(position),
            _ => return None,
        }
    }
    let digits = text.len() - usize::from(point.is_some());
    let places = point.map_or(0, |point| text.len() - 1 - point);
    (1..=DIGITS).contains(&digits).then(|| Decimal::new(coefficient, -(places as i32)))
}

fn parse_magnitude(text: &[u8]) -> Result<Decimal, DecimalError> {
    let mut coefficient: u64 = 0;
    let mut exponent: i32 = 0;
    let mut pending_zeros: i32 = 0;
    let (mut seen_digit, mut seen_point) = (false, false);
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                seen_digit = true;
                if *byte == b'0' {
                    pending_zeros += 1;
                } else {
                    // Zeros count only once another digit follows, so `0.50000…0` stays exact.
                    let shift = usize::try_from(pending_zeros + 1).unwrap_or(usize::MAX);
                    coefficient = if coefficient == 0 {
                        u64::from(byte - b'0')
                    } else {
                        POWERS
                            .get(shift)
                            .and_then(|power| coefficient.checked_mul(*power))
                            .and_then(|c| c.checked_add(u64::from(byte - b'0')))
                            .ok_or(DecimalError::TooPrecise)?
                    };
                    pending_zeros = 0;
                }
                exponent -= i32::from(seen_point);
            }
            b'.' if !seen_point => seen_point = true,
            b'e' | b'E' if seen_digit => {
                exponent = exponent.saturating_add(parse_exponent(tail)?);
                break;
            }
            _ => return Err(not_a_number(text)),
        }
        rest = tail;
    }
    if !seen_digit {
        return Err(not_a_number(text));
    }
    Decimal::new(coefficient, exponent.saturating_add(pending_zeros))
}

fn parse_exponent(text: &[u8]) -> Result<i32, DecimalError> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(DecimalError::NotANumber);
    }
    let magnitude =
        digits.iter().fold(0i32, |sum, digit| sum.saturating_mul(10).saturating_add(i32::from(digit - b'0')));
    Ok(sign * magnitude.min(1_000_000))
}

fn not_a_number(text: &[u8]) -> DecimalError {
    let word = text.to_ascii_lowercase();
    if word.starts_with(b"nan") || word.starts_with(b"inf") {
        DecimalError::NotFinite
    } else {
        DecimalError::NotANumber
    }
}

impl std::str::FromStr for Decimal {
    type Err = DecimalError;
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        Self::parse(text.as_bytes())
    }
}

impl From<u32> for Decimal {
    fn from(whole: u32) -> Self {
        // Far below the largest value, so this never fails.
        Self::new(u64::from(whole), 0).unwrap_or(Self::ZERO)
    }
}

impl fmt::Display for Decimal {
    /// Plain notation between 1e-9 and 1e21, scientific outside, with one digit before the point; the same value prints the same text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; Self::TEXT];
        let text = std::str::from_utf8(self.text(&mut buffer)).map_err(|_| fmt::Error)?;
        match text.split_once('e') {
            Some((digits, _)) if digits.len() > 1 => {
                let exponent = i32::from(self.exponent) + digits.len() as i32 - 1;
                write!(f, "{}.{}e{exponent}", &digits[..1], &digits[1..])
            }
            _ => f.write_str(text),
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn very_small_and_large_numbers_are_told_with_one_digit_before_the_point() {
        let told = ["931322574615e-21", "5e-12", "123456789e20", "0.5"].map(|text| decimal(text).to_string());
        assert_eq!(told, ["9.31322574615e-10", "5e-12", "1.23456789e28", "0.5"]);
    }

    #[test]
    fn notations_of_one_value_are_equal() {
        for text in ["0.5", ".5", "5e-1", "0.500000000000000000000000000", "+0.50", "50E-2"] {
            assert_eq!(decimal(text), decimal("0.5"), "{text}");
        }
        assert_eq!(decimal("-0"), Decimal::ZERO);
        assert_eq!(decimal("0e999"), Decimal::ZERO);
    }

    #[test]
    fn what_is_no_decimal_is_refused_with_its_reason() {
        use DecimalError::*;
        for (text, reason) in [
            ("", NotANumber),
            (".", NotANumber),
            ("1e", NotANumber),
            ("1.2.3", NotANumber),
            ("0x10", NotANumber),
            (" 1", NotANumber),
            ("nan", NotFinite),
            ("-inf", NotFinite),
            ("Infinity", NotFinite),
            ("-2", Negative),
            ("1e999", OutOfRange),
            ("1e-31", OutOfRange),
            ("12345678901234567890123", TooPrecise),
        ] {
            assert_eq!(text.parse::<Decimal>(), Err(reason), "{text}");
        }
    }

    #[test]
    fn both_ends_of_the_range_belong_to_it() {
        for text in ["1e30", "10e29", "1000000000000000000000000000000", "1e-30", "0.1e-29"] {
            let value: Decimal = text.parse().unwrap();
            assert_eq!(value.to_string().parse(), Ok(value), "{text}");
            assert_eq!(Decimal::from_f64(value.to_f64()), Ok(value), "{text}");
        }
        for text in ["1.000000000000000001e30", "2e30", "1e31", "9.99e-31"] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::OutOfRange), "{text}");
        }
    }

    #[test]
    fn normal_form_is_plain_between_1e_9_and_1e21_and_scientific_outside() {
        for (value, text) in [
            ("0", "0"),
            ("0.10", "0.1"),
            ("120e-2", "1.2"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e21"),
            ("12e20", "1.2e21"),
            ("1e-9", "0.000000001"),
            ("12e-10", "0.0000000012"),
            ("1e-10", "1e-10"),
            ("1.000000000000000001", "1.000000000000000001"),
            ("0.1234567890123456789", "0.1234567890123456789"),
            ("0.01234567890123456789", "1.234567890123456789e-2"),
            ("9999999999999999999e10", "9.999999999999999999e28"),
        ] {
            assert_eq!(decimal(value).to_string(), text, "{value}");
        }
    }

    #[test]
    fn three_tenths_hold_exactly_three_tasks_of_a_tenth() {
        let (server, task) = (decimal("0.3").scaled(-1), decimal("0.1").scaled(-1));
        assert_eq!(server.unwrap() / task.unwrap(), 3);
        assert_eq!(decimal("0.25").scaled(-1), None);
    }

    proptest! {
        #[test]
        fn plain_notation_is_read_the_same_in_one_go_and_digit_by_digit(text in "[0-9]{0,12}(\\.[0-9]{0,12})?[.e-]?") {
            if let Some(plain) = parse_plain(text.as_bytes()) {
                prop_assert_eq!(plain, parse_magnitude(text.as_bytes()), "{}", text);
            }
        }

        #[test]
        fn text_and_doubles_round_trip(coefficient: u64, exponent in -28i32..10) {
            if let Ok(value) = Decimal::new(coefficient, exponent) {
                prop_assert_eq!(value.to_string().parse::<Decimal>(), Ok(value));
                let nearest: f64 = format!("{coefficient}e{exponent}").parse().unwrap();
                prop_assert_eq!(value.to_f64().to_bits(), nearest.to_bits());
            }
        }

        #[test]
        fn doubles_become_their_shortest_decimal(value in 1e-20f64..1e20) {
            prop_assert_eq!(Decimal::from_f64(value).unwrap().to_f64(), value);
        }

        #[test]
        fn whatever_numbers_came_before_a_double_becomes_its_shortest_decimal(
            numbers in prop::collection::vec((0u64..1 << 53, 0i32..20, any::<bool>()), 1..20)
        ) {
            let mut places = 0;
            for (units, below, is_round) in numbers {
                let units = if is_round { units % 1000 } else { units };
                let value = units as f64 / 10f64.powi(below);
                let shortest = Decimal::parse(format!("{value:e}").as_bytes());
                prop_assert_eq!(Decimal::from_f64_like(value, &mut places), shortest, "{} places", places);
            }
        }
    }
}
