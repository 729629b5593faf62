//! Whatever places whole tasks: a policy, or the patterns behind the whole-task bound.

use crate::arguments::CommonOptions;
use crate::failure::Failure;
use crate::progress;
use fairplan_heuristics::{POLICIES, PlacementPolicy, UnknownPolicy, policy};
use fairplan_instances::{Deadline, Instance, Placement};
use fairplan_solver::whole_task_bracket;
use fairplan_verify::{PlacementClaim, verify_placement};

/// The name of [`Placer::Pattern`].
const PATTERN: &str = "pattern";

/// How whole tasks are placed.
pub enum Placer {
    /// One task at a time.
    Policy(Box<dyn PlacementPolicy>),
    /// The placement that `bound` brackets the optimum with.
    Pattern,
}

impl Placer {
    /// The one called `name`. Only `random` draws on `seed`.
    pub fn named(name: &str, seed: u64) -> Result<Self, Failure> {
        match name {
            PATTERN => Ok(Self::Pattern),
            _ => {
                let unknown = |unknown: UnknownPolicy| Failure::refused(unknown.among(&[PATTERN]));
                Ok(Self::Policy(policy(name, seed).map_err(unknown)?))
            }
        }
    }

    /// Its name on the command line.
    pub fn name(&self) -> String {
        match self {
            Self::Policy(policy) => policy.name(),
            Self::Pattern => PATTERN.into(),
        }
    }

    /// How the server of a task is chosen, every policy with its rule.
    pub fn help() -> String {
        let pattern = (PATTERN, "whole servers at once, proved optimal or nearly so (see `fairplan bound`)");
        let rules = POLICIES.iter().chain([&pattern]).map(|(name, rule)| format!("{name}: {rule}"));
        format!("How the server of a task is chosen. {}", rules.collect::<Vec<_>>().join("; "))
    }

    /// Places, and recounts the placement by code that shares nothing with it.
    pub fn place(
        &self,
        instance: &Instance,
        deadline: &Deadline,
        common: CommonOptions,
    ) -> Result<Placement, Failure> {
        let place = || -> Result<Placement, Failure> {
            Ok(match self {
                Self::Policy(policy) => policy.place_within(instance, deadline)?,
                Self::Pattern => whole_task_bracket(instance, deadline)?.placement,
            })
        };
        let placement = progress::during(common.quiet, "placing", place)?;
        let verdicts = verify_placement(instance, &PlacementClaim::from(&placement));
        match verdicts.iter().find(|verdict| !verdict.holds) {
            None => Ok(placement),
            Some(verdict) => Err(Failure::internal(format!(
                "the placement of policy {} fails its check: {}: {}",
                self.name(),
                verdict.property,
                verdict.witness
            ))),
        }
    }
}
