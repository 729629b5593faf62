//! Groups: the division is fair among the children of the root first, then inside each (filling the tree, exact over servers).

mod affordable;
mod certificate;
mod filling;
mod held;
mod meeting;
mod places;
mod stages;
mod told_limits;

pub(crate) use filling::Tree;
pub(crate) use held::held_by_limits;
pub(crate) use stages::{LeftNothing, keep_guarantees, left_nothing, solve};
