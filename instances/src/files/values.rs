//! Values of every format: decimals, counts, names that may not come twice.

use crate::{Decimal, Violation};

/// The decimal in `text`, or what is wrong with it at `place`.
pub fn decimal(text: &[u8], place: impl Fn() -> String) -> Result<Decimal, Violation> {
    Decimal::parse(text)
        .map_err(|error| Violation::new(place(), String::from_utf8_lossy(text), error.to_string()))
}

/// `number` as a count; `3.0` is as whole as `3`.
pub fn whole_number(number: Decimal, place: impl Fn() -> String) -> Result<u64, Violation> {
    let whole = number.scaled(0).ok_or_else(|| Violation::new(place(), number, "must be a whole number"))?;
    u64::try_from(whole).map_err(|_| Violation::new(place(), number, "is too large"))
}

/// A name that occurs more than once.
pub(super) fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
