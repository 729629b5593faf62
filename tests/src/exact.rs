//! Solutions in fractions, held against the rational oracle.

use crate::{Fraction, exact_max_min_of};
use fairplan_instances::{Instance, Solution};
use num_bigint::BigInt;

/// A fraction as results write it; `None` where it is none.
pub fn read_fraction(text: &str) -> Option<Fraction> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let whole = |digits: &str| BigInt::parse_bytes(digits.as_bytes(), 10);
    Some(Fraction::new(whole(numerator)?, whole(denominator)?))
}

/// Whether every fraction of a solution of DRFH or task share fairness is the oracle's; if not, which is not.
///
/// # Errors
/// The first that differs, with both.
pub fn is_as_the_oracle_says(instance: &Instance, solution: &Solution) -> Result<(), String> {
    let exact = solution.exact.as_ref().ok_or("there are no fractions")?;
    let truth = exact_max_min_of(instance, solution.objective);
    let same = |what: &str, stated: &str, truth: &Fraction| match read_fraction(stated) {
        Some(stated) if stated == *truth => Ok(()),
        _ => Err(format!("{what}: {stated} is stated, {truth:?} is the truth")),
    };
    same("value", &exact.value, truth.value())?;
    for ((user, stated), share) in instance.users().zip(&exact.users).zip(&truth.shares) {
        let what = format!("share of {}", user.id());
        // Long ones are left out.
        if let Some(stated) = &stated.dominant_share {
            same(&what, stated, share)?;
        }
    }
    let levels = truth.levels();
    for level in &exact.levels {
        let known = read_fraction(&level.value).is_some_and(|level| levels.contains(&level));
        if !known {
            return Err(format!("level {} is none of {levels:?}", level.value));
        }
    }
    Ok(())
}
