//! What stands against an answer.

use fairplan_instances::{InstanceError, Violation};

/// Why stochastic demand could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The traffic or a setting breaks a rule.
    #[error(transparent)]
    Invalid(#[from] Violation),
    /// A trace could not be read, or an allocation not be found.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The truncated chain does not fit in memory.
    #[error(
        "memory = {allowed:.1} GiB: a border mass of {border_mass:e} takes {needed:.1} GiB, for about {states:.2e} states \
         ({truncation}); allow that much, accept a larger border mass, or simulate at the flow level"
    )]
    Memory {
        /// GiB that may be used.
        allowed: f64,
        /// The border mass asked for.
        border_mass: f64,
        /// GiB that it would take.
        needed: f64,
        /// States that it would take.
        states: f64,
        /// Most transactions of each class, as text.
        truncation: String,
    },
    /// The cycles over the chain did not close in.
    #[error("the stationary distribution is known to {reached:.1e} only, after {cycles} cycles")]
    Stalled {
        /// The relative change that was left.
        reached: f64,
        /// Cycles that were done.
        cycles: u64,
    },
}
