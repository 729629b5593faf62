//! Every tolerance of the policies: where doubles are trusted to tell, in which unit, and why so much. Beyond it amounts are compared
//! exactly, so that a tolerance costs time and changes no placement.

/// Bound on the relative error of the cost of a server: a sum over resources of a few roundings.
pub(crate) const COST: f64 = 1e-12;

/// The same where servers have devices: a thousand times the error.
pub(crate) const COST_AMONG_DEVICES: f64 = 1e-9;

/// By this part fewer tasks are placed at once than doubles say have room; the rest is placed one by one.
pub(crate) const AT_ONCE: f64 = 1e-9;
