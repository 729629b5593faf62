//! What a study yields.

use fairplan::report::figure::Figure;
use fairplan::report::reproduction::Reproduced;
use fairplan::{AllocatedBound, Instance};

/// Published numbers beside ours.
pub(crate) type Numbers = Vec<Reproduced>;

/// What is said of a figure's curves, beside ours, and our curves.
pub(crate) type Curves = (Numbers, Figure);

/// A bound that a study states, with its certificate, and the instance that it is of: `verify` proves it again.
#[derive(Clone, Debug)]
pub struct KeptBound {
    /// What it is called: its exhibit, seed and percent (`fgd-seed0-120`).
    pub name: String,
    /// The instance.
    pub instance: Instance,
    /// The bound.
    pub bound: AllocatedBound,
}
