//! Every tolerance of this crate: which numbers are told as one, in which unit, and why so much. What is *proved* is decided in `verify`.

/// Two shares, amounts, levels or costs are one up to this part of them: solutions are exact to it, and sums of doubles added up in
/// another order to much less.
pub(crate) const SAME: f64 = 1e-9;

/// A share of the cluster below which what a rule promises is rounding.
pub(crate) const NEXT_TO_NOTHING: f64 = 1e-15;

/// Who has more or less by a smaller part than this is not said to: what solutions are exact to, with room.
pub(crate) const NOTICED: f64 = 1e-6;

/// A number this close to a tick of an axis is on it, in steps of the axis: a quotient of two doubles.
pub(crate) const TICK: f64 = 1e-9;

/// By which part of itself a percentage may be below the half from which it is rounded up: more than rounding takes away on the way.
pub(crate) const HALF: f64 = 1e-12;

/// The gap up to which a number is proved, where all else is: what `verify` grants a level.
pub(crate) const PROVED: f64 = 1e-9;

/// Where spans of time are rounded to some digits, shorter ones than this have the digits of this one.
pub(crate) const SHORTEST_SPAN: f64 = 1e-9;

/// Whether two numbers are told as one.
pub(crate) fn same(a: f64, b: f64) -> bool {
    // No part of what is infinite is a distance from it.
    a == b || a.is_finite() && b.is_finite() && (a - b).abs() <= SAME * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_just_inside_the_part_of_them_and_two_just_outside() {
        for size in [1e-12, 1.0, 1e12] {
            assert!(same(size, size * (1.0 + 0.9 * SAME)) && same(-size, -size * (1.0 - 0.9 * SAME)));
            assert!(!same(size, size * (1.0 + 1.1 * SAME)) && !same(-size, -size * (1.0 - 1.1 * SAME)));
        }
        assert!(same(0.0, 0.0) && !same(0.0, f64::MIN_POSITIVE));
        assert!(same(f64::INFINITY, f64::INFINITY) && !same(f64::INFINITY, 1.0) && !same(1.0, f64::INFINITY));
    }
}
