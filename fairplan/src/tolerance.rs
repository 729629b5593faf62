//! Every tolerance of the library in front: what counts as kept, as the same, as gained; in which unit, and why so much.

/// How far a share may be from what a rule for tasks asks for, in parts of the cluster: further is a failure of ours.
pub(crate) const RULE: f64 = 1e-6;

/// By which part amounts of two configurations may differ and be the same: they are told and computed by the same steps, and differ by
/// what the text of a number loses.
pub(crate) const AMOUNT: f64 = 1e-9;

/// By which part a share by a scheduler's rule must change for a queue to gain or lose: the rule is followed in steps of a thousandth.
pub(crate) const GAINED: f64 = 2e-3;

/// The part of what is reached that the next stage of a purchase must ask for more, and by which less is asked than is reached now: its
/// last digit costs nothing.
pub(crate) const REACHED: f64 = 1e-9;

/// The part of a number of tasks that is rounding where it is to be whole.
pub(crate) const WHOLE: f64 = 1e-9;

/// By which part fewer tasks may run than a purchase promises: the slack of the program and that of the solver.
pub(crate) const PROMISED: f64 = 3e-9;
