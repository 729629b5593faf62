//! The door to HiGHS, the only part of fairplan that is not Rust.
//!
//! With the feature `highs` two files go through it: `levels.rs` is the independent backend, and `programs.rs` solves those linear
//! programs ([`crate::linear_program`]) that our own simplex method does not decide. Without it `absent.rs` has the same names and
//! answers every question by saying so.

#[cfg(not(feature = "highs"))]
mod absent;
#[cfg(feature = "highs")]
mod levels;
#[cfg(feature = "highs")]
mod programs;

#[cfg(not(feature = "highs"))]
pub(crate) use absent::{Highs, solve};
#[cfg(feature = "highs")]
pub(crate) use levels::{Highs, largest};
#[cfg(all(test, feature = "highs"))]
pub(crate) use programs::no_other_model;
#[cfg(feature = "highs")]
pub(crate) use programs::solve;

/// Whether this library was built with HiGHS. Without it the backend `highs` is refused by name; all else answers without.
pub const HAS_HIGHS: bool = cfg!(feature = "highs");

/// The version of HiGHS that this library was built for, such as 1.15.0; none without it.
pub fn highs_version() -> Option<String> {
    #[cfg(feature = "highs")]
    let version = Some([
        highs_sys::HIGHS_VERSION_MAJOR,
        highs_sys::HIGHS_VERSION_MINOR,
        highs_sys::HIGHS_VERSION_PATCH,
    ]);
    #[cfg(not(feature = "highs"))]
    let version: Option<[u32; 3]> = None;
    version.map(|numbers| numbers.map(|number| number.to_string()).join("."))
}

/// Which algorithm of HiGHS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighsAlgorithm {
    /// Dual simplex: exact to the last digits, slow on many users.
    Simplex,
    /// Interior point with crossover.
    InteriorPoint,
}
