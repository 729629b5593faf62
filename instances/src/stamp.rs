//! What ties a result to its instance and to the program that made it.

use crate::{DemandSeries, Instance, QuantumLabel, Warning, lint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The instance a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstanceStamp {
    /// The instance's name.
    pub name: String,
    /// SHA-256 (64 hexadecimal digits) of the instance as fairplan writes it in JSON, whatever format it was
    /// read from.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// What its author may want to look at; nothing here changes a result. Absent when there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<InstanceWarning>,
}

/// Something about an instance that is more often a slip than meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstanceWarning {
    /// `undemanded-resource`, `unusable-servers`, `unreachable-capacity`, `kind-without-servers`, `oversized-task`, `scarce-servers`, `gang-above-limit`, `rules-inside-servers` or `mixed-units`.
    pub kind: String,
    /// One sentence with the names and numbers.
    pub message: String,
}

impl From<Warning> for InstanceWarning {
    fn from(warning: Warning) -> Self {
        Self { kind: warning.kind.name().into(), message: warning.message }
    }
}

impl InstanceStamp {
    /// The stamp of `instance`, whose hash the caller has computed (it takes a pass over all users).
    pub fn new(instance: &Instance, sha256: &str) -> Self {
        let warnings = lint(instance).into_iter().map(InstanceWarning::from).collect();
        Self { name: instance.name().into(), sha256: sha256.into(), warnings }
    }
}

/// The demands over time that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemandsStamp {
    /// How many users there are.
    pub users: u64,
    /// How many quanta there are.
    pub quanta: u64,
    /// SHA-256 (64 hexadecimal digits) of the series as fairplan writes it in JSON, whatever format it was read from.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

impl DemandsStamp {
    /// The stamp of `series`, whose hash the caller has computed.
    pub fn new(series: &DemandSeries, sha256: &str) -> Self {
        Self {
            users: series.user_count() as u64,
            quanta: series.quantum_count() as u64,
            sha256: sha256.into(),
        }
    }
}

/// A quantum as its file calls it: a whole number, or a text that sorts in the order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Label {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(String),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl From<QuantumLabel<'_>> for Label {
    fn from(label: QuantumLabel<'_>) -> Self {
        match label {
            QuantumLabel::Number(number) => Self::Number(number),
            QuantumLabel::Text(text) => Self::Text(text.into()),
        }
    }
}
