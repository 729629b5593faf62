//! What is left of a piece's worth on a class where limits and reserves over it are worth something.
//!
//! Where all that limit `j` leaves, `b_j`, is worth `Q_j`, a piece that takes `d` of it pays `⌊Q_j d / b_j⌋` wherever it counts. All pieces of a
//! placement together pay no more than `Q_j`, so they are worth at most what is left of their worth on servers, and `Σ_j Q_j`. What has no
//! room in a limit is worth nothing where that is over it.

use super::Worth;
use fairplan_instances::{ClassId, Instance, Kind};
use num_bigint::BigUint;

/// The limits and reserves above a kind that its pieces take of, as positions among those of the instance; none where nothing says what
/// limits are worth.
pub(super) fn counted_in(instance: &Instance, worth: Worth<'_>, kind: Kind<'_>) -> Vec<usize> {
    if worth.limits.is_empty() {
        return Vec::new();
    }
    let takes = |j: &usize| kind.piece_units(instance.limit_rows()[*j].resource) > 0;
    instance.limits_above(kind.user()).into_iter().filter(takes).collect()
}

/// Of each limit whether it is over a class; none where nothing says what limits are worth.
pub(super) fn over_class(instance: &Instance, worth: Worth<'_>, class: ClassId) -> Vec<bool> {
    match worth.limits.is_empty() {
        true => Vec::new(),
        false => instance.limit_rows().iter().map(|row| row.covers(class)).collect(),
    }
}

/// What a piece of this worth is worth on a class, counted in these limits.
pub(super) fn left(
    instance: &Instance,
    worth: Worth<'_>,
    (kind, value): (Kind<'_>, u64),
    counted_in: &[usize],
    class: ClassId,
) -> u64 {
    let rows = counted_in.iter().map(|j| (*j, &instance.limit_rows()[*j]));
    let mut left = BigUint::from(value);
    for (j, row) in rows.filter(|(_, row)| row.covers(class)) {
        let (amount, taken) = (instance.limit_units(row), kind.piece_units(row.resource));
        if taken > amount {
            return 0;
        }
        let paid = BigUint::from(worth.limits[j]) * taken / amount;
        if paid >= left {
            return 0;
        }
        left -= paid;
    }
    u64::try_from(left).unwrap_or(value)
}

/// Whether there is a worth of each limit, or of none.
pub(super) fn check(instance: &Instance, limits: &[u64]) -> Result<(), String> {
    let (stated, rows) = (limits.len(), instance.limit_rows().len());
    match stated == 0 || stated == rows {
        true => Ok(()),
        false => Err(format!("{stated} limits have a value, and there are {rows}")),
    }
}
