//! Mechanisms that divide the slices of one resource among users whose demands change from quantum to quantum, one
//! mechanism a file, counted in exact integers.
//!
//! A mechanism sees the demands that users report, one quantum after the other, and nothing of the future.

mod asked;
mod error;
mod karma;
mod ladders;
mod las;
mod max_min;
mod mechanism;
mod metrics;
mod mpsp;
mod registry;
mod run;
mod sharp;
mod strict;
mod ties;

pub use asked::{Divider, Quantum};
pub use error::MechanismError;
pub use karma::{Karma, KarmaSettings};
pub use las::LeastAttained;
pub use max_min::MaxMin;
pub use mechanism::{Account, Mechanism};
pub use mpsp::{Mpsp, MpspSettings};
pub use registry::{MECHANISMS, MakeMechanism, Settings, mechanism};
pub use run::{Conduct, Reports, Run, non_conformant};
pub use sharp::{Sharp, SharpSettings};
pub use strict::StrictPartitioning;
pub use ties::Ties;
