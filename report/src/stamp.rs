//! What ties a result to its instance and to the program that made it.

use fairplan_instances::{Instance, Warning, lint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version written into every result.
pub const FAIRPLAN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The instance a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstanceStamp<'a> {
    /// The instance's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// SHA-256 (64 hexadecimal digits) of the instance as fairplan writes it in JSON, whatever format it was
    /// read from.
    #[serde(borrow)]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: Cow<'a, str>,
    /// What its author may want to look at; nothing here changes a result. Absent when there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<InstanceWarning>,
}

/// Something about an instance that is more often a slip than meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstanceWarning {
    /// `undemanded-resource`, `unusable-servers`, `unreachable-capacity`, `oversized-task` or `mixed-units`.
    pub kind: String,
    /// One sentence with the names and numbers.
    pub message: String,
}

impl From<Warning> for InstanceWarning {
    fn from(warning: Warning) -> Self {
        Self { kind: warning.kind.name().into(), message: warning.message }
    }
}

impl<'a> InstanceStamp<'a> {
    /// The stamp of `instance`, whose hash the caller has computed (it takes a pass over all users).
    pub fn new(instance: &'a Instance, sha256: &'a str) -> Self {
        let warnings = lint(instance).into_iter().map(InstanceWarning::from).collect();
        Self { name: instance.name().into(), sha256: sha256.into(), warnings }
    }
}
