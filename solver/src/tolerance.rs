//! Every tolerance of this crate.

/// A step that aims at less than this part of the products overshoots: what the predictor promises is of first order.
pub(crate) const LEAST_CENTRING: f64 = 1e-6;
/// Part of the way to the boundary that a step takes, at least and at most.
pub(crate) const STEP_PART: (f64, f64) = (0.9, 0.9995);
/// A shorter step is none: rounding would undo it.
pub(crate) const SHORTEST_STEP: f64 = 1e-10;
/// Part of its terms that is added to a diagonal: more than their rounding, so that multipliers which nothing decides
/// stay where they are.
pub(crate) const REGULARISATION: f64 = 1e-13;
