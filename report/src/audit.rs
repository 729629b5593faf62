//! `fairplan.audit.v1`: the fairness properties of one objective on one instance.

use crate::stamp::InstanceStamp;
use fairplan_analysis::{Finding, Outcome};
use fairplan_instances::{Body, Document, Instance, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The properties that an objective has on an instance, as far as was searched. The same instance and settings give the
/// same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Audit")]
pub struct AuditBody<'a> {
    /// The instance.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The properties, always all of them and in the same order.
    #[serde(borrow)]
    pub properties: Vec<PropertyResult<'a>>,
}

impl Body for AuditBody<'_> {
    const FORMAT: &'static str = "fairplan.audit.v1";
}

/// The whole file.
pub type AuditDocument<'a> = Document<AuditBody<'a>>;

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyResult<'a> {
    /// `envy-freeness`, `pareto-optimality`, `sharing-incentive`, `truthfulness`, `single-server-drf`,
    /// `single-resource-fairness`, `bottleneck-fairness`, `population-monotonicity` or `resource-monotonicity`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Whether no violation above the tolerance was found; `not applicable` where the property says nothing here.
    pub holds: Holds,
    /// The largest violation found, a part of the larger of the two amounts of work compared, 0 to 1. Absent when
    /// not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// The largest violation that counts as none. Absent when not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The violation with its numbers and what was searched, or why the property is not applicable.
    #[serde(borrow)]
    pub witness: Cow<'a, str>,
}

/// Whether a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Holds {
    /// It was tested.
    Tested(bool),
    /// It says nothing about this instance.
    NotTested(NotApplicable),
}

/// A property that says nothing about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NotApplicable {
    /// The words for it.
    #[serde(rename = "not applicable")]
    NotApplicable,
}

impl<'a> From<&'a Finding> for PropertyResult<'a> {
    fn from(finding: &'a Finding) -> Self {
        let (holds, residual, tolerance, witness) = match &finding.outcome {
            Outcome::Tested { holds, residual, tolerance, witness } => {
                (Holds::Tested(*holds), Some(*residual), Some(*tolerance), witness)
            }
            Outcome::NotApplicable(reason) => {
                (Holds::NotTested(NotApplicable::NotApplicable), None, None, reason)
            }
        };
        Self { name: finding.property.into(), holds, residual, tolerance, witness: witness.into() }
    }
}

impl AuditBody<'_> {
    /// Whether no property fails.
    pub fn holds(&self) -> bool {
        self.properties.iter().all(|property| property.holds != Holds::Tested(false))
    }
}

/// The document of an audit, ready to be written.
pub fn audit_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    objective: Objective,
    findings: &'a [Finding],
) -> AuditDocument<'a> {
    Document::new(AuditBody {
        instance: InstanceStamp::new(instance, sha256),
        objective: objective.to_string(),
        properties: findings.iter().map(PropertyResult::from).collect(),
    })
}
