//! Every tolerance of the simulations: how far numbers may be from what is meant, in which unit, and why so much. Where the shares of a
//! cluster are compared there is none: fractions decide what doubles cannot.

/// By how much of a resource, of which there is 1, the parts that run may seem to take more: sums of so many parts are off by far less, and
/// no task is so small.
pub(crate) const ROOM: f64 = 1e-9;

/// The part of itself to which the mean number of a class is known before the truncation is judged, which is coarse.
pub(crate) const ROUGH: f64 = 1e-2;

/// The same in the end: far below what the truncation leaves out.
pub(crate) const FINE: f64 = 1e-8;

/// Probabilities do not fall below this: far out they would become numbers that processors are slow with, or zero.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-280;
