//! A claimed solution against its instance: feasibility exactly, then what its certificate proves of its objective.

use crate::bottlenecks;
use crate::claim::SolutionClaim;
use crate::feasibility;
use crate::form::well_formed;
use crate::levels::Levels;
use crate::max_min;
use crate::printed;
use crate::total;
use crate::users::{Reaches, UserShares};
use crate::verdict::Verdict;
use fairplan_instances::{Certificate, Instance};

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
    /// One verdict a property. Only `well-formed` when that fails: nothing else can be measured then.
    pub verdicts: Vec<Verdict>,
}

impl SolutionProof {
    /// The proof of nothing, for this reason.
    fn nothing(verdict: Verdict) -> Self {
        let (primal, dual, relative_gap) = (0.0, f64::INFINITY, 1.0);
        Self { primal, dual, relative_gap, level_gaps: Vec::new(), verdicts: vec![verdict] }
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

/// Re-proves a solution from the instance alone. Never panics on a claim, whatever its numbers and lengths; a claim
/// is accepted when [`SolutionProof::holds`].
pub fn verify_solution(instance: &Instance, claim: &SolutionClaim<'_>) -> SolutionProof {
    let well_formed = well_formed(instance, claim);
    if !well_formed.holds {
        return SolutionProof::nothing(well_formed);
    }
    let pooled = claim.objective.is_pooled();
    let reaches = if pooled { Reaches::pooled(instance) } else { Reaches::of(instance) };
    let feasible = feasibility::judge(instance, &reaches, &claim.tasks, pooled);
    let shares = UserShares::of_all(instance, claim.objective, &reaches, &claim.tasks);
    let mut proof = match claim.certificate {
        Certificate::Levels { levels, level_of } => {
            let levels = Levels { levels, level_of, limited_by: claim.limited_by, tasks: &claim.tasks };
            max_min::prove(instance, &reaches, &shares, levels, claim.printed.as_ref())
        }
        Certificate::Total(total) => total::prove(instance, &reaches, &shares, claim, total),
        Certificate::Bottlenecks => bottlenecks::prove(instance, &reaches, &shares, claim, &feasible.loads),
    };
    let mut verdicts = vec![well_formed];
    verdicts.extend(feasible.verdicts);
    verdicts.append(&mut proof.verdicts);
    if let Some(stated) = &claim.printed {
        verdicts.extend(printed::judge(instance, claim, stated, &shares, &feasible.loads));
    }
    SolutionProof { verdicts, ..proof }
}
