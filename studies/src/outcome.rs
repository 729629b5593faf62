//! What a study yields.

use fairplan::report::figure::Figure;
use fairplan::report::reproduction::Reproduced;

/// Published numbers beside ours.
pub(crate) type Numbers = Vec<Reproduced>;

/// What is said of a figure's curves, beside ours, and our curves.
pub(crate) type Curves = (Numbers, Figure);
