//! `fairplan.audit.v1`: the fairness properties of one objective on one instance.

use fairplan_analysis::{Finding, Outcome};
use fairplan_instances::InstanceStamp;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, Instance, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The properties that an objective has on an instance, as far as was searched. The same instance and settings give the
/// same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Audit")]
pub struct AuditBody {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The properties, always all of them and in the same order.
    pub properties: Vec<PropertyResult>,
}

impl Body for AuditBody {
    const FORMAT: &'static str = "fairplan.audit.v1";
}

/// The whole file.
pub type AuditDocument = Document<AuditBody>;

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyResult {
    /// `envy-freeness`, `pareto-optimality`, `sharing-incentive`, `truthfulness`, `single-server-drf`,
    /// `single-resource-fairness`, `bottleneck-fairness`, `population-monotonicity` or `resource-monotonicity`.
    pub name: String,
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
    pub witness: String,
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

impl<'a> From<&'a Finding> for PropertyResult {
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

impl AuditBody {
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
) -> AuditDocument {
    Document::new(AuditBody {
        instance: InstanceStamp::new(instance, sha256),
        objective: objective.to_string(),
        properties: findings.iter().map(PropertyResult::from).collect(),
    })
}

impl Tabular for AuditBody {
    /// A row a property.
    fn table(&self) -> Table<'_> {
        Table::of(&self.properties)
            .column("property", "property", Kind::Words, |property| &property.name)
            .column("holds", "verdict", Kind::Words, |property| match property.holds {
                Holds::Tested(true) => "holds",
                Holds::Tested(false) => "FAILS",
                Holds::NotTested(_) => "not applicable",
            })
            .column("residual", "violation", Kind::Violation, |property| property.residual)
            .column("tolerance", "allowed", Kind::Violation, |property| property.tolerance)
            .column("witness", "witness", Kind::Words, |property| &property.witness)
            .done()
    }
}
