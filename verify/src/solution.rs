//! A claimed solution against its instance: feasibility exactly, then what its certificate proves of its objective.

use crate::bottlenecks;
use crate::claim::SolutionClaim;
use crate::feasibility;
use crate::form::well_formed;
use crate::fractions;
use crate::groups;
use crate::kinds;
use crate::levels::Levels;
use crate::limit_rows::LimitUse;
use crate::max_min;
use crate::printed;
use crate::proof::SolutionProof;
use crate::total;
use crate::used::Used;
use crate::users::{Subject, UsableClasses, UserShares};
use fairplan_instances::{Certificate, Instance};

/// Re-proves a solution from the instance alone. Never panics on a claim, whatever its numbers and lengths; a claim
/// is accepted when [`SolutionProof::holds`].
pub fn verify_solution(instance: &Instance, claim: &SolutionClaim<'_>) -> SolutionProof {
    let well_formed = well_formed(instance, claim);
    if !well_formed.holds {
        return SolutionProof::nothing(well_formed);
    }
    let pooled = claim.objective.is_pooled();
    let usable_classes = if pooled { UsableClasses::pooled(instance) } else { UsableClasses::of(instance) };
    let feasible = feasibility::judge(instance, &usable_classes, &claim.tasks, pooled);
    let limits =
        (!instance.limit_rows().is_empty()).then(|| LimitUse::judge(instance, &usable_classes, &claim.tasks));
    let shares = UserShares::of_all(instance, claim.objective, &usable_classes, &claim.tasks);
    let (floors, guaranteed) = groups::floors_of(
        instance,
        claim.objective.inside_groups(),
        &shares,
        &claim.guaranteed,
        verify_solution,
    );
    let subject = Subject { instance, usable_classes: &usable_classes, shares: &shares };
    let used = Used { loads: &feasible.loads, limits: limits.as_ref().map(|(used, _)| used) };
    let mut proof = match (claim.exact, claim.certificate) {
        (Some(exact), _) => fractions::prove(subject, claim, exact),
        (None, Certificate::Levels { levels, level_of }) => {
            let levels = Levels { levels, level_of, limited_by: claim.limited_by, tasks: &claim.tasks };
            if instance.has_groups() || !instance.quotas().is_empty() {
                groups::prove(subject, levels, claim.printed.as_ref(), &used, &floors)
            } else {
                max_min::prove(subject, levels, claim.printed.as_ref(), &used)
            }
        }
        (None, Certificate::Total(total)) => total::prove(subject, claim, total, &used, &floors),
        (None, Certificate::Bottlenecks) => bottlenecks::prove(subject, claim, &feasible.loads),
    };
    let mut verdicts = vec![well_formed];
    verdicts.extend(feasible.verdicts);
    verdicts.extend(kinds::run_alike(instance, &claim.tasks));
    if let Some((used, kept)) = limits {
        verdicts.push(kept);
        verdicts.extend(claim.printed.as_ref().map(|stated| used.printed(instance, stated)));
    }
    verdicts.extend(guaranteed);
    verdicts.append(&mut proof.verdicts);
    if let Some(stated) = &claim.printed {
        verdicts.extend(printed::judge(instance, claim, stated, &shares, &floors, &feasible.loads));
    }
    SolutionProof { verdicts, ..proof }
}
