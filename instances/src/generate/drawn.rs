//! What is drawn one by one: how many, from which streams of the seed, under which names; and numbers as they were printed.

use crate::{Decimal, Violation};
use std::fmt::Write;

/// Streams of the seed: each drawn thing has its own, so that asking for other servers leaves the users alone.
pub(super) const SERVER_STREAM: u64 = 1;
pub(super) const USER_STREAM: u64 = 2;

/// Most servers or users that are drawn one by one.
const MAX_DRAWN: u64 = 100_000_000;

/// `count` if that many can be drawn.
pub(super) fn drawable(what: &str, count: u64) -> Result<u64, Violation> {
    if (1..=MAX_DRAWN).contains(&count) {
        Ok(count)
    } else {
        Err(Violation::new(what, count, format!("draw at least 1 and at most {MAX_DRAWN}")))
    }
}

/// `u000001`, `u000002`, …: short names of drawn users, written over `id`.
pub(super) fn name_user(id: &mut String, number: u64) {
    id.clear();
    // Writing to a String cannot fail.
    write!(id, "u{number:06}").unwrap_or_default();
}

/// Published numbers, kept in the sources as they were printed.
pub(super) fn decimals<const N: usize>(texts: [&str; N]) -> Result<[Decimal; N], Violation> {
    let mut values = [Decimal::ZERO; N];
    for (value, text) in values.iter_mut().zip(texts) {
        *value =
            text.parse().map_err(|error: crate::DecimalError| Violation::new("", text, error.to_string()))?;
    }
    Ok(values)
}
