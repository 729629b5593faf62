//! A claimed solution against its instance: feasibility exactly, then shares, levels, freezing and the value.
//!
//! What the verdicts prove together: no user could get more, but for the stated tolerances, without taking from
//! one whose weighted share is no larger; that is the lexicographic max-min of DRFH eq. 7. Each user either has
//! all its tasks, or no class it can use, or is held by prices (see `levels`): any feasible allocation has
//! `Σ_j y_j G_j <= C·p`, so when all others keep what they have up to this level, a user with `y_i > 0` gains at most
//! `(bound − value) Σ_A w_j y_j / y_i`.

use crate::claim::SolutionClaim;
use crate::feasibility;
use crate::form::well_formed;
use crate::levels::{LevelProof, prove_level, relative_gap};
use crate::limits;
use crate::printed;
use crate::tolerance;
use crate::users::{Reaches, Shares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, Objective};

/// What is proved of a claimed solution.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionProof {
    /// The smallest weighted dominant share of the claimed tasks: a lower bound on the best.
    pub primal: f64,
    /// The upper bound that prices, task limits and usable classes prove on the best.
    pub dual: f64,
    /// `1 − primal/dual`, 0 when both are 0.
    pub relative_gap: f64,
    /// For each level how far its proved bound is above what is achieved, relative to the bound.
    pub level_gaps: Vec<f64>,
    /// One verdict a property. Only `well-formed` when that fails: nothing else can be measured then.
    pub verdicts: Vec<Verdict>,
}

impl SolutionProof {
    /// Whether the claim has every property.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The verdicts that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.holds)
    }
}

/// Re-proves a DRFH solution from the instance alone. Never panics on a claim, whatever its numbers and lengths;
/// a claim is accepted when [`SolutionProof::holds`].
pub fn verify_solution(instance: &Instance, claim: &SolutionClaim<'_>) -> SolutionProof {
    let Objective::Drfh = claim.objective;
    let well_formed = well_formed(instance, claim);
    if !well_formed.holds {
        let (primal, dual, relative_gap) = (0.0, f64::INFINITY, 1.0);
        return SolutionProof {
            primal,
            dual,
            relative_gap,
            level_gaps: Vec::new(),
            verdicts: vec![well_formed],
        };
    }
    let reaches = Reaches::of(instance);
    let feasible = feasibility::judge(instance, &reaches, &claim.tasks);
    let shares = Shares::of(instance, &reaches, &claim.tasks);
    let levels: Vec<LevelProof> = claim
        .levels
        .iter()
        .enumerate()
        .map(|level| prove_level(instance, &reaches, &shares, level, (claim.level_of, claim.limited_by)))
        .collect();

    let (primal, dual) = value_bracket(&shares, &levels);
    let relative_gap = relative_gap(primal, dual);
    let mut optimality = Worst::of("optimality", tolerance::GAP);
    optimality
        .see(relative_gap, || format!("the value is {primal}, but only {dual} is proved to be out of reach"));

    let mut verdicts = vec![well_formed];
    verdicts.extend(feasible.verdicts);
    verdicts.push(limits::reasons(instance, &reaches, &shares, claim));
    verdicts.extend(limits::levels(instance, &shares, claim, &levels));
    verdicts.push(optimality.verdict());
    if let Some(stated) = &claim.printed {
        let proved = printed::Proved { primal, dual, relative_gap, shares: &shares, loads: &feasible.loads };
        verdicts.extend(printed::judge(instance, claim, stated, &proved));
    }
    let level_gaps = levels.iter().map(LevelProof::relative_gap).collect();
    SolutionProof { primal, dual, relative_gap, level_gaps, verdicts }
}

/// The smallest weighted share, and the least of all proved upper bounds on it: the smallest cap, and the first
/// level's bound where that bounds every user. (Users frozen on the first level have shares below it, and then
/// the smallest cap is the bound.)
fn value_bracket(shares: &Shares, levels: &[LevelProof]) -> (f64, f64) {
    let primal = shares.weighted.iter().copied().fold(f64::INFINITY, f64::min);
    let caps = shares.cap.iter().copied().fold(f64::INFINITY, f64::min);
    let first = levels.first().filter(|level| level.none_frozen).map_or(f64::INFINITY, |level| level.bound);
    (primal, caps.min(first))
}
