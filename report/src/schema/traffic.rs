//! The shape of `fairplan.traffic.v1` as its schema describes it. Reading and writing it is the business of
//! `fairplan-instances`, which checks more than a schema can say.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// Stochastic demand: classes of transactions that arrive as Poisson processes, bring work and share a pool.
#[derive(JsonSchema)]
#[schemars(rename = "Traffic", deny_unknown_fields)]
#[allow(dead_code)]
pub(super) struct TrafficDocument {
    /// The format and its version.
    format: TrafficFormat,
    /// What to call the traffic.
    #[schemars(default)]
    name: String,
    /// The names of the resources.
    #[schemars(length(min = 1, max = 64), extend("uniqueItems" = true))]
    resources: Vec<String>,
    /// How much there is of each resource; a resource left out has 1.
    capacity: Option<BTreeMap<String, Positive>>,
    /// The classes.
    #[schemars(length(min = 1, max = 64))]
    classes: Vec<Class>,
}

/// The format and its version.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum TrafficFormat {
    /// Version 1.
    #[schemars(rename = "fairplan.traffic.v1")]
    V1,
}

/// Transactions that are alike: jobs of many tasks, or flows of many packets.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct Class {
    /// Unique name.
    #[schemars(length(min = 1))]
    id: String,
    /// What a transaction takes of each resource to do one unit of work in a unit of time; a resource left out is 0.
    demand: BTreeMap<String, Amount>,
    /// Transactions that arrive in a unit of time.
    arrival_rate: Positive,
    /// The work that each brings; absent: exponential with mean 1.
    work: Option<Work>,
    /// What it claims to take instead of its demand.
    claim: Option<BTreeMap<String, Amount>>,
    /// Packets: time that the answer to one travels; absent: 0.
    propagation_time: Option<Amount>,
    /// Packets: what they take one after the other, and again from the first. Their mean is the demand.
    packet_demands: Option<Vec<BTreeMap<String, Amount>>>,
}

/// The work of a transaction, a random number.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct Work {
    /// Its mean; absent: 1.
    mean: Option<Positive>,
    /// How it is distributed; absent: exponential.
    distribution: Option<Distribution>,
    /// Hyper-exponential work: variance over the square of the mean, at least 1.
    squared_variation: Option<f64>,
    /// Pareto work: how the tail falls, above 1.
    shape: Option<f64>,
}

/// How work is distributed around its mean.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[allow(dead_code)]
enum Distribution {
    /// Without memory.
    Exponential,
    /// Always the mean.
    Deterministic,
    /// One of two exponential phases, each of which brings half of the work.
    HyperExponential,
    /// Heavy tailed.
    Pareto,
}

/// An amount of a resource: 0 or more.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Amount(#[schemars(range(min = 0, max = 1e30))] f64);

/// A number above 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Positive(#[schemars(range(max = 1e30), extend("exclusiveMinimum" = 0))] f64);
