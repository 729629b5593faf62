//! Every tolerance of the importers: how far numbers of files may miss what they should be, in which unit, and why so much.

/// By which part a number with twelve digits may be above the double that it is rounded from: what the double itself is off by.
pub(crate) const DOUBLE: f64 = 1e-14;

/// By which part what is sure to queues may be above all there is: sums of doubles.
pub(crate) const SUMS: f64 = 1e-9;

/// A part of a cluster that is all of it, and one that is a whole number of hundredths of a percent, but for this.
pub(crate) const PARTS: f64 = 1e-9;

/// By so many percent the percentages below a queue of YARN may miss 100, as in Hadoop (`ParentQueue.PRECISION`).
pub(crate) const PERCENTAGES: f64 = 0.05;

/// By so much a quotient of doubles may be above a whole number that it is.
pub(crate) const QUOTIENT: f64 = 1e-9;
