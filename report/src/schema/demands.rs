//! The shape of `fairplan.demands.v1` as its schema describes it. Reading and writing it is the business of
//! `fairplan-instances`, which checks more than a schema can say.

use schemars::JsonSchema;

/// Demands over time: how many slices of one resource, or tasks over the servers of an instance, each user asks for in
/// each quantum.
#[derive(JsonSchema)]
#[schemars(rename = "Demands", deny_unknown_fields)]
#[allow(dead_code)]
pub(super) struct DemandsDocument {
    /// The format and its version.
    format: DemandsFormat,
    /// The users' ids.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    users: Vec<UserId>,
    /// The file of the instance whose tasks are demanded, relative to this one. Absent: slices of one resource.
    instance: Option<String>,
    /// What the quanta are called: whole numbers in ascending order at even steps, or texts that sort in the order of
    /// time. Absent: 0, 1, 2 and so on. Whole numbers left out are quanta without demand.
    quanta: Option<Vec<QuantumName>>,
    /// One row a quantum, one number a user.
    #[schemars(length(min = 1))]
    demands: Vec<Vec<Slices>>,
}

/// The format and its version.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum DemandsFormat {
    /// Version 1.
    #[schemars(rename = "fairplan.demands.v1")]
    V1,
}

/// Unique name.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct UserId(#[schemars(length(min = 1))] String);

/// A quantum's name.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)]
enum QuantumName {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(String),
}

/// A demand in slices: a whole number, unless fractions are asked to be rounded.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Slices(#[schemars(range(min = 0, max = 100_000_000_000_u64))] f64);
