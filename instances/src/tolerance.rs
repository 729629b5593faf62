//! Every tolerance of the vocabulary: how far two numbers may lie apart and be one, in which unit, and why so much.

/// Two shares, levels or values are one number up to this part of it: they are added up in another order.
pub(crate) const SAME: f64 = 1e-9;

/// Parts of a commitment below this are none: periods are counted in doubles.
pub(crate) const NO_PERIOD: f64 = 1e-9;

/// What dividing amounts by demands may be off.
pub(crate) const QUOTIENT: f64 = 1e-12;

/// Who pays, and what costs, less than this part of the most is not worth a name.
pub(crate) const LITTLE: f64 = 1e-6;
