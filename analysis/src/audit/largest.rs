//! The largest violation of a property that a search found, and who shows it.

use super::finding::{Finding, Holds, NotTested, Searched};

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

    /// The larger of both, with its witness; of equal ones this.
    pub fn or(&mut self, other: Self) {
        if other.residual > self.residual {
            *self = other;
        }
    }

    /// What the search says of the property. A violation is one however far the search went.
    pub fn finding(self, property: &str, searched: Searched) -> Finding {
        let Self { tolerance, residual, witness } = self;
        let holds = residual <= tolerance;
        let with = |searched: String| match holds {
            true => searched,
            false => format!("{witness} (searched: {searched})"),
        };
        let until = |searched: String| format!("{searched}, until time was over");
        let not_tested = |why| (Holds::NotTested(why), None);
        let ((holds, measured), witness) = match searched {
            Searched::All(searched) => ((Holds::Tested(holds), Some((residual, tolerance))), with(searched)),
            Searched::Some(searched) if holds => (not_tested(NotTested::OutOfTime), until(searched)),
            Searched::Some(searched) => {
                ((Holds::Tested(holds), Some((residual, tolerance))), with(until(searched)))
            }
            Searched::NotApplicable(reason) => (not_tested(NotTested::NotApplicable), reason),
        };
        let (residual, tolerance) = measured.unzip();
        Finding { name: property.into(), holds, residual, tolerance, witness }
    }
}
