//! Every tolerance of the questions: what counts as a change, as reached, as on a line; in which unit, and why so much.

/// Part of its work by which a user must change to count as gaining or losing: what solutions are exact to, with room.
pub(crate) const NOTICED: f64 = 1e-6;

/// Weight, beside the smallest share, of users that have nothing: they may gain, but hardly at the others' cost.
pub(crate) const NEXT_TO_NOTHING: f64 = 1e-9;

/// A limit counts as used up from this part on: loads are sums of doubles.
pub(crate) const USED_UP: f64 = 1.0 - 1e-9;

/// A priced capacity of a sum counts as full from this part on: of what is worth a thousandth of it, a sum proved to 1e-9 leaves no more idle.
pub(crate) const FULL: f64 = 1.0 - 1e-6;

/// A smaller part of a guarantee is not missed: amounts are lowered to ten digits, or seven.
pub(crate) const SHORT: f64 = 1e-5;

/// A dominant share up to this is nothing where guarantees were lowered: rounding them down leaves some 1e-9 of a resource to others.
pub(crate) const LEFT_OVER: f64 = 1e-8;

/// The part of a quantum from which on it is reached: what a solution is exact to is missing.
pub(crate) const REACHED: f64 = 1.0 - 1e-9;

/// By which part of the level a point may lie off the price's line.
pub(crate) const OFF_THE_LINE: f64 = 1e-7;

/// A price differs from another by less than this part of the level for each whole capacity where it is the same: a solution proved to
/// 1e-9 of the level tells prices no better. Only one more question is asked where they seem to differ.
pub(crate) const PARALLEL: f64 = 1e-6;

/// Factors of a capacity this close are one: prices are told to five digits.
pub(crate) const CLOSE: f64 = 1e-5;

/// The largest violation of a property that counts as none, in parts of a user's work. A smooth objective fixes its value to 1e-9, and so its
/// shares only to the root of that.
pub(crate) const VIOLATION: f64 = 1e-6;
pub(crate) const VIOLATION_OF_SUMS: f64 = 1e-4;

/// The part of it within which what two users do must be for them to count as alike.
pub(crate) const ALIKE: f64 = 0.1;

/// The part of a resource that is left where it counts as full while levels rise in steps.
pub(crate) const LEFT: f64 = 1e-12;

/// By which part a level may miss a user's cap and still be at it.
pub(crate) const AT_THE_CAP: f64 = 1e-12;

/// By which part a misreport must do more than the best so far to be another one.
pub(crate) const BETTER: f64 = 1e-12;

/// By which part costs must differ from the quantum before to be told again, and commitments cover less than is needed to leave a rest.
pub(crate) const COSTS: f64 = 1e-9;

/// The part of the level below which what a server adds is nothing: ten times what solutions are exact to.
pub(crate) const NO_WORTH: f64 = 1e-8;

/// A gain of share below this is nothing even where the level is 0: what sums of doubles leave over where guarantees take everything.
pub(crate) const NO_GAIN: f64 = 1e-14;

/// The part of what is left between where a price holds and where it does not that is just beyond.
pub(crate) const BEYOND: f64 = 1e-3;
