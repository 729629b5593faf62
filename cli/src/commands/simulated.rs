//! Traces run on clusters: the policies by name, and where a trace is read from.

use crate::failure::Failure;
use fairplan_heuristics::{BestFit, POLICIES, PlacementPolicy, policy};
use fairplan_instances::trace::{EventSource, Trace};
use fairplan_instances::{ClusterOutcome, InstanceError, Objective, Solver, files};
use fairplan_simulation::{
    ClusterRules, ClusterSettings, ServiceOrder, Watch, dedicated_clouds, simulate_cluster,
};

/// Policies that serve whoever is most deprived, and place by best-fit: name, measure and rule.
const MOST_DEPRIVED: [(&str, ServiceOrder, &str); 3] = [
    (
        "exact",
        ServiceOrder::BelowIdeal(Objective::Drfh),
        "the user farthest below its share in the exact DRFH allocation first, by best-fit",
    ),
    ("pf", ServiceOrder::BelowIdeal(Objective::ProportionalFairness), "the same with proportional fairness"),
    (
        "bmf",
        ServiceOrder::LargestRank,
        "the user whose smallest rank by what users have of each bottleneck is largest first, by best-fit, which makes for \
         bottleneck max fairness",
    ),
];

/// Who is served and where: a policy of placement, which serves the lowest dominant share first, or one that serves the most
/// deprived user.
pub struct ClusterPolicy {
    pub name: String,
    placement: Box<dyn PlacementPolicy>,
    order: ServiceOrder,
}

impl ClusterPolicy {
    /// The one called `name`. Only `random` draws on `seed`.
    pub fn named(name: &str, seed: u64) -> Result<Self, Failure> {
        if let Some((name, order, _)) = MOST_DEPRIVED.iter().find(|(known, ..)| *known == name) {
            let placement = Box::new(BestFit);
            return Ok(Self { name: (*name).into(), placement, order: *order });
        }
        let others = MOST_DEPRIVED.map(|(other, ..)| other);
        let placement = policy(name, seed).map_err(|unknown| Failure::refused(unknown.among(&others)))?;
        Ok(Self { name: placement.name(), placement, order: ServiceOrder::LowestShare })
    }

    /// Every policy with its rule.
    pub fn help() -> String {
        let placements = POLICIES.iter().map(|(name, rule)| format!("{name}: {rule}"));
        let deprived = MOST_DEPRIVED.iter().map(|(name, _, rule)| format!("{name}: {rule}"));
        let all: Vec<String> = placements.chain(deprived).collect();
        format!(
            "The policies to compare, separated by commas. The user with the lowest weighted dominant share is served \
             first; the policy chooses the server. {}",
            all.join("; ")
        )
    }

    /// Runs a trace.
    pub fn run(
        &self,
        input: &TraceInput,
        solver: &dyn Solver,
        settings: ClusterSettings,
        watch: &mut dyn Watch,
    ) -> Result<ClusterOutcome, Failure> {
        self.ruled(solver, |rules| Ok(simulate_cluster(&mut *input.open()?, rules, settings, watch)?))
    }

    /// Runs every user of a trace alone on its part of the servers.
    pub fn run_dedicated(
        &self,
        input: &TraceInput,
        solver: &dyn Solver,
        settings: ClusterSettings,
        seed: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<ClusterOutcome, Failure> {
        self.ruled(solver, |rules| Ok(dedicated_clouds(&|| input.open(), rules, settings, seed, stop)?))
    }

    fn ruled<T>(&self, solver: &dyn Solver, run: impl FnOnce(ClusterRules<'_>) -> T) -> T {
        let choice = |totals: &[u128], largest: &[u128]| self.placement.choice(totals, largest);
        run(ClusterRules { choice: &choice, order: self.order, solver })
    }
}

/// A trace that can be read more than once.
pub enum TraceInput {
    File(String),
    Memory(Box<Trace>),
}

impl TraceInput {
    /// A file, streamed each time it is read; or all of it in memory, as standard input must be.
    pub fn new(path: String, in_memory: bool) -> Result<Self, Failure> {
        if path != "-" && !in_memory {
            return Ok(Self::File(path));
        }
        Ok(Self::Memory(Box::new(Trace::read(&mut *files::read_trace(&path)?)?)))
    }

    /// Its events from the beginning.
    pub fn open(&self) -> Result<Box<dyn EventSource + '_>, InstanceError> {
        match self {
            Self::File(path) => Ok(files::read_trace(path)?),
            Self::Memory(trace) => {
                let replay = trace.replay();
                let invalid = |violation| InstanceError::Invalid { file: "the trace".into(), violation };
                Ok(Box::new(replay.map_err(invalid)?))
            }
        }
    }
}
