//! What is proved of a claimed solution.

use crate::verdict::Verdict;

/// What is proved of a claimed solution.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionProof {
    /// The value of the claimed tasks, a lower bound on the best; where the value is a sum, in units of its
    /// certificate's `10^exponent`.
    pub primal: f64,
    /// The upper bound that prices, task limits and usable classes prove on the best, in the same unit.
    pub dual: f64,
    /// Of a max-min `1 − primal/dual`, 0 when both are 0; of a sum as [`fairplan_instances::Total`] has it.
    pub relative_gap: f64,
    /// For each level of a max-min how far its proved bound is above what is achieved, relative to the bound.
    pub level_gaps: Vec<f64>,
    /// Of a sum: those who are worth less than its gap and of whom nothing else is known, since the instance is too large for a linear
    /// program that looks for what others could leave them.
    pub unseen: usize,
    /// One verdict a property. Only `well-formed` when that fails: nothing else can be measured then.
    pub verdicts: Vec<Verdict>,
}

impl SolutionProof {
    /// The proof of nothing, for this reason.
    pub(crate) fn nothing(verdict: Verdict) -> Self {
        let (primal, dual, relative_gap) = (0.0, f64::INFINITY, 1.0);
        Self { primal, dual, relative_gap, level_gaps: Vec::new(), unseen: 0, verdicts: vec![verdict] }
    }

    /// What is found of a value that nothing is above or below.
    pub(crate) fn of(value: f64, verdicts: Vec<Verdict>) -> Self {
        let (primal, dual) = (value, value);
        Self { primal, dual, relative_gap: 0.0, level_gaps: Vec::new(), unseen: 0, verdicts }
    }

    /// Whether the claim has every property.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The verdicts that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.holds)
    }
}
