//! The largest violation of a property that a search found, and who shows it.

use super::Outcome;

/// Keeps the largest violation seen.
pub(super) struct LargestViolation {
    tolerance: f64,
    residual: f64,
    witness: String,
}

impl LargestViolation {
    /// None seen yet; those up to `tolerance` count as none.
    pub fn above(tolerance: f64) -> Self {
        Self { tolerance, residual: 0.0, witness: String::new() }
    }

    /// Takes note of a violation; one that is not a number counts as infinite. Of equal ones the first is the witness.
    pub fn see(&mut self, violation: f64, witness: impl FnOnce() -> String) {
        let violation = if violation.is_nan() { f64::INFINITY } else { violation };
        if violation > self.residual {
            self.residual = violation;
            if violation > self.tolerance {
                self.witness = witness();
            }
        }
    }

    /// What the search says of the property, where `searched` says how far it went.
    pub fn outcome(self, searched: &str) -> Outcome {
        let Self { tolerance, residual, witness } = self;
        let holds = residual <= tolerance;
        let witness = if holds { searched.to_owned() } else { format!("{witness} (searched: {searched})") };
        Outcome::Tested { holds, residual, tolerance, witness }
    }
}
