//! How transactions in progress share the pool: asked for by whoever simulates them, answered by the solver.

use crate::InstanceError;

/// The allocation of any state, one after the other.
pub trait Sharing {
    /// Writes the rate of one transaction of each class, in work a unit of time, when `counts[k]` transactions of class
    /// `k` are in progress; 0 for classes of which there is none.
    ///
    /// # Errors
    /// The allocation could not be certified.
    fn rates(&mut self, counts: &[u32], rates: &mut [f64]) -> Result<(), InstanceError>;
}

/// Begins a [`Sharing`], one for each thread. What one of them was asked before does not change its answers beyond the
/// last digits.
pub type SharingRule<'a> = dyn Fn() -> Box<dyn Sharing> + Sync + 'a;
