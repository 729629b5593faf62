//! Amounts as files state them, which may say nothing of a resource.

use crate::tolerance::DOUBLE;
use fairplan_instances::Decimal;

/// An amount of each resource of the cluster, where one is stated.
pub(super) type Stated = Vec<Option<Decimal>>;

/// The smaller of two amounts, of which each may be none.
pub(super) fn tighter(one: Option<Decimal>, other: Option<Decimal>) -> Option<Decimal> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.to_f64() <= other.to_f64() { one } else { other }),
        (one, other) => one.or(other),
    }
}

/// The sum; `None` where it has too many digits.
pub(super) fn added(one: Decimal, other: Decimal) -> Option<Decimal> {
    let unit = one.exponent().min(other.exponent());
    Decimal::from_units(one.scaled(unit)?.checked_add(other.scaled(unit)?)?, unit.into()).ok()
}

/// A number with twelve significant digits that is no larger, but for what a double is off by; `None` for what is no number >= 0. So
/// many tasks of this size fit where so many of the number do.
pub(super) fn rounded_down(number: f64) -> Option<Decimal> {
    let nearest = rounded(number)?;
    if nearest.to_f64() <= number * (1.0 + DOUBLE) {
        return Some(nearest);
    }
    // A unit in the last of twelve places less.
    let (digits, exponent) = (11, number.log10().floor() as i32);
    rounded(nearest.to_f64() - 10f64.powi(exponent - digits))
}

/// A number with twelve significant digits; `None` for what is no number >= 0.
pub(super) fn rounded(number: f64) -> Option<Decimal> {
    Decimal::rounded(number, 12).ok()
}
