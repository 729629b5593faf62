//! Stochastic demand (MRF Sec. 4): what transactions that come and go at random get from a pool that is shared by some
//! objective. Exactly, where a Markov chain allows it; by simulation, where it does not.
//!
//! How a pool is shared is asked of a [`SharingRule`](fairplan_instances::SharingRule), state by state.

mod error;
mod markov;

pub use error::SimulationError;
pub use markov::{MarkovSettings, markov};
