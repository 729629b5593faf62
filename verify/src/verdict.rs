//! A verdict: one property, how far it is missed, how far it may be, and who shows it.

/// What the checker says about one property of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Which property (`capacity`, `level-gaps`, …).
    pub property: &'static str,
    /// Whether the claim has it: `residual <= tolerance`.
    pub holds: bool,
    /// The largest violation found, 0 when there is none, infinite when it cannot be measured.
    pub residual: f64,
    /// The largest violation that is accepted, in the same unit.
    pub tolerance: f64,
    /// Where the largest violation is, with its numbers; empty when the property holds.
    pub witness: String,
}

impl Verdict {
    /// On a property that has no sizes: it holds, or it does not for the stated reason.
    pub fn without_size(property: &'static str, witness: Option<String>) -> Self {
        let residual = if witness.is_some() { f64::INFINITY } else { 0.0 };
        let holds = witness.is_none();
        Self { property, holds, residual, tolerance: 0.0, witness: witness.unwrap_or_default() }
    }
}

/// Collects the largest violation of one property.
pub(crate) struct Worst {
    property: &'static str,
    tolerance: f64,
    residual: f64,
    witness: String,
}

impl Worst {
    /// Nothing seen yet of `property`, of which violations up to `tolerance` are accepted.
    pub fn of(property: &'static str, tolerance: f64) -> Self {
        Self { property, tolerance, residual: 0.0, witness: String::new() }
    }

    /// Takes note of a violation; one that is not a number counts as infinite.
    pub fn see(&mut self, violation: f64, witness: impl FnOnce() -> String) {
        let violation = if violation.is_nan() { f64::INFINITY } else { violation };
        if violation > self.residual {
            self.residual = violation;
            if violation > self.tolerance {
                self.witness = witness();
            }
        }
    }

    /// Takes note of what was seen of the same property elsewhere, after this.
    pub fn merge(&mut self, later: Self) {
        if later.residual > self.residual {
            (self.residual, self.witness) = (later.residual, later.witness);
        }
    }

    /// Takes note of a violation that has no size.
    pub fn fail(&mut self, witness: impl FnOnce() -> String) {
        self.see(f64::INFINITY, witness);
    }

    /// Takes note of how far `stated` is from `computed`, relative to the larger of the two. What is not finite is never
    /// near anything, not even itself.
    pub fn compare(&mut self, stated: f64, computed: f64, what: impl FnOnce() -> String) {
        let scale = stated.abs().max(computed.abs());
        let violation = if !scale.is_finite() || stated.is_nan() || computed.is_nan() {
            f64::INFINITY
        } else if stated == computed {
            0.0
        } else {
            (stated - computed).abs() / scale
        };
        self.see(violation, || format!("{}: {stated} is stated, {computed} is computed", what()));
    }

    /// The same of a number that is stated where there is one (it is finite), and nowhere else.
    pub fn compare_if_any(&mut self, stated: Option<f64>, computed: f64, what: impl FnOnce() -> String) {
        match (stated, computed.is_finite()) {
            (Some(stated), true) => self.compare(stated, computed, what),
            (None, true) => self.fail(|| format!("{}: none is stated, {computed} is computed", what())),
            (Some(stated), false) => {
                self.fail(|| format!("{}: {stated} is stated, and there is none", what()))
            }
            (None, false) => {}
        }
    }

    /// Whether nothing was seen that is not accepted.
    pub fn passes(&self) -> bool {
        self.residual <= self.tolerance
    }

    /// The verdict on all that was seen.
    pub fn verdict(self) -> Verdict {
        let Self { property, tolerance, residual, witness } = self;
        Verdict { property, holds: residual <= tolerance, residual, tolerance, witness }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_violation_decides_and_names_its_witness() {
        let mut worst = Worst::of("p", 0.1);
        worst.see(0.05, || unreachable!("what is accepted needs no witness"));
        worst.see(0.3, || "b".into());
        worst.see(0.2, || "c".into());
        let verdict = worst.verdict();
        assert!(!verdict.holds);
        assert_eq!((verdict.residual, verdict.witness.as_str()), (0.3, "b"));
    }

    #[test]
    fn what_is_not_a_number_never_holds() {
        let mut worst = Worst::of("p", f64::MAX);
        worst.see(f64::NAN, || "nan".into());
        worst.see(1.0, || "small".into());
        let verdict = worst.verdict();
        assert!(!verdict.holds);
        assert_eq!(verdict.witness, "nan");
        let mut elsewhere = Worst::of("p", f64::MAX);
        elsewhere.fail(|| "later".into());
        let mut stated = Worst::of("p", f64::MAX);
        stated.fail(|| "first".into());
        stated.merge(elsewhere);
        assert_eq!(stated.verdict().witness, "first", "of equal violations the first is the witness");
        let mut stated = Worst::of("p", 1e-9);
        stated.compare(f64::INFINITY, 1.0, || "x".into());
        assert!(!stated.verdict().holds);
        for odd in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut equal = Worst::of("p", f64::MAX);
            equal.compare(odd, odd, || "x".into());
            assert!(!equal.verdict().holds, "{odd} is no number that can be stated");
        }
    }
}
