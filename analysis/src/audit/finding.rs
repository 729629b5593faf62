//! How far an audit searches, and what it says of one property.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far an audit searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// At most this many users, spread evenly over the instance, misreport, leave or are asked for envy.
    pub users: usize,
    /// Seed of the servers dealt out for the second benchmark of sharing incentive.
    pub seed: u64,
}

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// `envy-freeness`, `pareto-optimality`, `sharing-incentive`, `truthfulness`, `single-server-drf`,
    /// `single-resource-fairness`, `bottleneck-fairness`, `population-monotonicity` or `resource-monotonicity`; of groups
    /// `group-splitting`, `group-disbanding`, `group-truthfulness`, `group-population-monotonicity` or
    /// `group-resource-monotonicity`.
    pub name: String,
    /// Whether no violation above the tolerance was found; `not applicable` where the property says nothing here, `out of time`
    /// where time was over before all was searched, and no violation was found until then.
    pub holds: Holds,
    /// The largest violation found, a part of the larger of the two amounts of work compared (of groups: of the two sums of
    /// members' shares), 0 to 1. Absent when not tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// The largest violation that counts as none. Absent when not tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The violation with its numbers and what was searched, or why the property is not tested.
    pub witness: String,
}

/// Whether a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Holds {
    /// It was tested.
    Tested(bool),
    /// It was not, for this reason.
    NotTested(NotTested),
}

/// Why a property was not tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NotTested {
    /// It says nothing about this instance.
    #[serde(rename = "not applicable")]
    NotApplicable,
    /// Time was over before all was searched, and no violation was found until then.
    #[serde(rename = "out of time")]
    OutOfTime,
}

/// How far a test went.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Searched {
    /// This was searched.
    All(String),
    /// This was, until time was over.
    Some(String),
    /// The property says nothing about this instance, for this reason.
    NotApplicable(String),
}
