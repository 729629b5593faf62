//! Every tolerance of the questions: what counts as a change, as reached, as on a line; in which unit, and why so much.

/// Part of its work by which a user must change to count as gaining or losing: what solutions are exact to, with room.
pub(crate) const NOTICED: f64 = 1e-6;

/// Weight, beside the smallest share, of users that have nothing: they may gain, but hardly at the others' cost.
pub(crate) const NEXT_TO_NOTHING: f64 = 1e-9;

/// A limit counts as used up from this part on: loads are sums of doubles.
pub(crate) const USED_UP: f64 = 1.0 - 1e-9;

/// A smaller part of a guarantee is not missed: amounts are lowered to seven digits.
pub(crate) const SHORT: f64 = 1e-5;

/// The part of a quantum from which on it is reached: what a solution is exact to is missing.
pub(crate) const REACHED: f64 = 1.0 - 1e-9;

/// By which part of the level a point may lie off the price's line.
pub(crate) const OFF_THE_LINE: f64 = 1e-7;

/// Factors of a capacity this close are one: prices are told to five digits.
pub(crate) const CLOSE: f64 = 1e-5;
