//! Every tolerance of the exports: what counts as whole, as nothing, as too much; in which unit, and why so much. Answers are sums of doubles
//! that are exact to about 1e-9 of themselves.

/// What is this close to a whole number of units is that number, and less than this of a unit is lost by no rounding.
pub(crate) const WHOLE: f64 = 1e-6;

/// Amounts below this, in units, are none.
pub(crate) const NOTHING: f64 = 1e-9;

/// By which part more than there is may be used before everybody gets less.
pub(crate) const ROOM: f64 = 1e-9;

/// What is short by less than this part is not short.
pub(crate) const ENOUGH: f64 = 1e-9;

/// By which part of themselves weights times a factor may miss whole numbers.
pub(crate) const WHOLE_WEIGHT: f64 = 1e-9;

/// By which part the products of two tasks' demands may differ where one is a multiple of the other.
pub(crate) const MULTIPLE: f64 = 1e-12;

/// What amounts are divided by at the least: of a resource of which there is nothing nobody has any part.
pub(crate) const LEAST_TOTAL: f64 = 1e-300;
