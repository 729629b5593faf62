//! What becomes of demands that are no whole numbers of slices.

use crate::{Decimal, Violation};

/// What becomes of a demand that is no whole number of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rounding {
    /// It is refused.
    #[default]
    Refused,
    /// The next smaller whole number.
    Down,
    /// The nearest whole number, halves up.
    Nearest,
    /// The next larger whole number.
    Up,
    /// It counts in millionths, as all others do, to the nearest: for a series of which only the proportions matter.
    Proportions,
}

/// So many slices count for one where only proportions matter.
pub(super) const MILLION: u64 = 1_000_000;

impl Rounding {
    /// `number` in whole slices.
    pub(super) fn apply(self, number: Decimal, place: impl Fn() -> String) -> Result<u64, Violation> {
        let too_large = || Violation::new(place(), number, "is too large");
        if self == Self::Proportions {
            // Nearer than a millionth there is nothing to tell a series' numbers apart by.
            let millionths = (number.to_f64() * MILLION as f64).round();
            return if millionths < 2f64.powi(53) { Ok(millionths as u64) } else { Err(too_large()) };
        }
        if let Some(whole) = number.scaled(0) {
            return u64::try_from(whole).map_err(|_| too_large());
        }
        // A fraction: `digits` of the unit `1/one`.
        let exponent = number.exponent();
        let digits = number.scaled(exponent).unwrap_or_default();
        let one = 10u128.checked_pow(u32::from(exponent.unsigned_abs()));
        let (whole, half_or_more) = match one {
            Some(one) => (digits / one, digits % one * 2 >= one),
            None => (0, false),
        };
        let rounded = match self {
            Self::Refused => {
                let problem = "must be a whole number of slices; scale the demands, or have them rounded";
                return Err(Violation::new(place(), number, problem));
            }
            Self::Down => whole,
            Self::Nearest | Self::Proportions => whole + u128::from(half_or_more),
            Self::Up => whole + 1,
        };
        u64::try_from(rounded).map_err(|_| too_large())
    }
}
