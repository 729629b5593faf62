//! How much a claim may miss what is proved. Feasibility has no tolerance: it is decided exactly.

/// Relative gap between a level's proved bound and what is achieved, and between the two sides of the value.
pub(crate) const GAP: f64 = 1e-9;

/// Relative difference between a stated number and the one that follows from the allocation and the levels.
pub(crate) const STATED: f64 = 1e-9;

/// Relative difference between a stated value or bound and the proved one: both are sums of up to millions of
/// doubles, rounded differently.
pub(crate) const ROUNDING: f64 = 1e-10;

/// How much more a user that capacity freezes might get while nobody with a smaller or equal weighted share
/// loses, in parts of what it has, or of the share [`MEASURED`] where it has more, or of the share that half of the
/// users have at least where it has less, but at most [`TIMES`] what it has.
///
/// A gap of 1e-9 on a level leaves room for this: what one user could gain is the gap summed over all
/// users of the level, divided by that user's own price.
pub(crate) const FREEZING: f64 = 1e-2;

/// The dominant share above which gains are measured by this share, not by what a user has: [`FREEZING`] of it is a
/// millionth of the cluster.
pub(crate) const MEASURED: f64 = 1e-4;

/// So many times what a user has its gains are measured by at most: no user is left to have more than ten times as much.
pub(crate) const TIMES: f64 = 1e3;

/// How far a user's tasks may be from all run, in parts of the share that they give, to leave nothing to gain; of shares
/// above this one, a millionth of the cluster.
pub(crate) const NEARLY_ALL: f64 = 1e-3;

/// How much more a user might get of a server from what nobody uses of it, in parts of what it has there.
pub(crate) const UNUSED: f64 = 1e-6;
