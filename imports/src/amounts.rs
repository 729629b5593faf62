//! Amounts as files state them, which may say nothing of a resource.

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

/// A number with twelve significant digits; `None` for what is no number >= 0.
pub(super) fn rounded(number: f64) -> Option<Decimal> {
    Decimal::parse(format!("{number:.11e}").as_bytes()).ok()
}
