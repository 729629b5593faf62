//! `fairplan.flows.v1`: how fast transactions are served under stochastic demand, as `flows` writes it.

use fairplan_instances::ResourceMap;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Evidence, Objective, Traffic, TrafficOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Service rates of classes of transactions that come and go at random (MRF Sec. 4). The same traffic and settings give
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// The traffic that was served.
    pub traffic: TrafficStamp,
    /// How the numbers were found: `markov`, or simulated at the level of the `flow`, the `task` or the `packet`.
    pub level: String,
    /// Everything else that decided the outcome.
    pub settings: FlowsSettings,
    /// One result for each objective, for each load, and for the truth and what is claimed.
    pub results: Vec<FlowsResult>,
    /// What has no long run, and so no results: loads at which what is claimed is more than there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<Unstable>,
}

impl Body for Flows {
    const FORMAT: &'static str = "fairplan.flows.v1";
}

/// Traffic under which transactions pile up without end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unstable {
    /// As in a result.
    pub demands: String,
    /// The load of the heaviest resource, by what classes truly need.
    pub load: f64,
    /// The part of each resource that would have to be taken: at least 1 of one of them.
    pub utilization: ResourceMap,
}

/// The traffic that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficStamp {
    /// Its name.
    pub name: String,
    /// SHA-256 (64 hexadecimal digits) of the traffic as fairplan writes it in JSON.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// What decides an outcome beside the traffic; settings of other levels are left out.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsSettings {
    /// `markov`: the largest probability of the states in which no more of a class are let in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border_mass: Option<f64>,
    /// Simulations: the seed of everything drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Simulations: how many that differ in nothing but the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<u64>,
    /// Simulations: arrivals in each of them, of which the first tenth is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<u64>,
    /// `task`: mean tasks of a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_per_job: Option<f64>,
    /// `task`: the part of its dominant resource that a task takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_share: Option<f64>,
    /// `packet`: mean packets of a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_flow: Option<f64>,
    /// `packet`: packets of a flow that are under way at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
}

/// What one objective comes to at one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsResult {
    /// The objective by which transactions share.
    pub objective: String,
    /// Whether all classes state what they need (`truthful`), or what the traffic has them claim (`claimed`).
    pub demands: String,
    /// The load of the heaviest resource, by what classes truly need.
    pub load: f64,
    /// The part of each resource that is taken in the long run.
    pub utilization: ResourceMap,
    /// The classes of the traffic, in its order.
    pub classes: Vec<FlowsClass>,
    /// `markov`: the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Chain>,
    /// Simulations: transactions that were measured, over all replications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<u64>,
}

/// How fast a class is served in the long run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsClass {
    /// The class's id.
    pub id: String,
    /// Transactions that arrive in a unit of time.
    pub arrival_rate: f64,
    /// Mean work over mean completion time.
    pub service_rate: f64,
    /// How far the service rate may be off: an estimate for a Markov chain, half the width of the 95% confidence interval
    /// for simulations.
    pub service_rate_error: f64,
    /// Mean time from arrival to completion.
    pub completion_time: f64,
    /// Mean number in progress.
    pub in_progress: f64,
}

/// A truncated Markov chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Most transactions of each class that it lets in.
    pub truncation: Vec<u32>,
    /// Its states.
    pub states: u64,
    /// The largest probability, over the classes, of the states in which no more of the class are let in.
    pub border_mass: f64,
    /// Multilevel cycles that its stationary distribution took.
    pub cycles: u64,
}

impl Unstable {
    /// `served` is the traffic as the pool sees it.
    pub fn new(served: &Traffic, demands: &'static str, load: f64) -> Self {
        Self { demands: demands.into(), load, utilization: utilization(served) }
    }
}

fn utilization(served: &Traffic) -> ResourceMap {
    ResourceMap(served.resources().iter().cloned().zip(served.loads()).collect())
}

impl FlowsResult {
    /// What an objective came to. `served` is the traffic as the pool saw it, at this load.
    pub fn new(
        served: &Traffic,
        objective: Objective,
        demands: &'static str,
        load: f64,
        outcome: &TrafficOutcome,
    ) -> Self {
        let class =
            |(class, found): (&fairplan_instances::TrafficClass, &fairplan_instances::ClassPerformance)| {
                FlowsClass {
                    id: class.id.clone(),
                    arrival_rate: class.arrival_rate,
                    service_rate: found.service_rate,
                    service_rate_error: found.service_rate_error,
                    completion_time: found.completion_time,
                    in_progress: found.in_progress,
                }
            };
        let (chain, measured) = match &outcome.evidence {
            Evidence::Chain { truncation, states, border_mass, cycles } => {
                let truncation = truncation.clone();
                let chain = Chain { truncation, states: *states, border_mass: *border_mass, cycles: *cycles };
                (Some(chain), None)
            }
            Evidence::Simulations { measured, .. } => (None, Some(*measured)),
        };
        Self {
            objective: objective.to_string(),
            demands: demands.into(),
            load,
            utilization: utilization(served),
            classes: served.classes().iter().zip(&outcome.classes).map(class).collect(),
            chain,
            measured,
        }
    }
}

impl Tabular for Flows {
    /// A row a class of each result.
    fn table(&self) -> Table<'_> {
        let results = self.results.iter();
        let rows: Vec<(&FlowsResult, &FlowsClass)> =
            results.flat_map(|result| result.classes.iter().map(move |class| (result, class))).collect();
        Table::over(rows.len(), move |row| rows[row])
            .column("objective", "objective", Kind::Words, |row| &row.0.objective)
            .column("demands", "demands", Kind::Words, |row| &row.0.demands)
            .column("load", "load", Kind::Number, |row| row.0.load)
            .column("class", "class", Kind::Id, |row| &row.1.id)
            .column("arrival_rate", "arrival rate", Kind::Number, |row| row.1.arrival_rate)
            .column("service_rate", "service rate", Kind::Number, |row| row.1.service_rate)
            .column("service_rate_error", "± at most", Kind::Number, |row| row.1.service_rate_error)
            .column("completion_time", "completion time", Kind::Number, |row| row.1.completion_time)
            .column("in_progress", "in progress", Kind::Number, |row| row.1.in_progress)
            .done()
    }
}
