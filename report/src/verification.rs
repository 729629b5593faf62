//! `fairplan.verification.v1`: what `verify` found, property by property.

use crate::unchecked::{UncheckedField, unchecked};
use fairplan_instances::Body;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{DemandsStamp, InstanceStamp};
use fairplan_verify::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A result held against its instance, property by property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// The instance that the result was held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceStamp>,
    /// The demands that the result was held against, if it is one of `offline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demands: Option<DemandsStamp>,
    /// The format of the result.
    pub result_format: String,
    /// Whether every property holds.
    pub holds: bool,
    /// The properties.
    pub verdicts: Vec<VerdictResult>,
    /// What of the result is taken as it is; everything else that it states is checked.
    #[serde(default)]
    pub unchecked: Vec<UncheckedField>,
}

impl Body for Verification {
    const FORMAT: &'static str = "fairplan.verification.v1";
}

/// One property of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictResult {
    /// Which property.
    pub property: String,
    /// Whether the result has it.
    pub holds: bool,
    /// The largest violation found, 0 when there is none. Absent when it cannot be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// The largest violation that is accepted, in the same unit.
    pub tolerance: f64,
    /// Where the largest violation is, with its numbers. Absent when the property holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
}

impl<'a> From<&'a Verdict> for VerdictResult {
    fn from(verdict: &'a Verdict) -> Self {
        Self {
            property: verdict.property.into(),
            holds: verdict.holds,
            residual: verdict.residual.is_finite().then_some(verdict.residual),
            tolerance: verdict.tolerance,
            witness: (!verdict.holds).then(|| verdict.witness.as_str().into()),
        }
    }
}

impl Verification {
    /// What was found of a result of this format that was held against an instance.
    pub fn of_instance(instance: InstanceStamp, format: &str, verdicts: &[Verdict]) -> Self {
        Self { instance: Some(instance), ..Self::new(format, verdicts) }
    }

    /// What was found of a result of this format that was held against demands over time.
    pub fn of_demands(demands: DemandsStamp, format: &str, verdicts: &[Verdict]) -> Self {
        Self { demands: Some(demands), ..Self::new(format, verdicts) }
    }

    /// The same, with more fields of this very result that were not checked.
    pub fn besides(mut self, unchecked: Vec<UncheckedField>) -> Self {
        self.unchecked.extend(unchecked);
        self
    }

    /// The same with another property.
    pub fn with(mut self, verdict: &Verdict) -> Self {
        self.holds &= verdict.holds;
        self.verdicts.push(verdict.into());
        self
    }

    fn new(format: &str, verdicts: &[Verdict]) -> Self {
        Self {
            instance: None,
            demands: None,
            result_format: format.into(),
            holds: verdicts.iter().all(|verdict| verdict.holds),
            verdicts: verdicts.iter().map(VerdictResult::from).collect(),
            unchecked: unchecked(format).collect(),
        }
    }
}

impl Tabular for Verification {
    /// A row a property.
    fn table(&self) -> Table<'_> {
        Table::of(&self.verdicts)
            .column("property", "property", Kind::Words, |verdict| &verdict.property)
            .column("holds", "verdict", Kind::Answer, |verdict| verdict.holds)
            .said(|verdict| Some(if verdict.holds { "holds" } else { "FAILS" }))
            .column("residual", "largest violation", Kind::Violation, |verdict| verdict.residual)
            .said(|verdict| verdict.residual.is_none().then_some("inf"))
            .column("tolerance", "allowed", Kind::Violation, |verdict| verdict.tolerance)
            .column("witness", "where", Kind::Words, |verdict| verdict.witness.as_deref().unwrap_or_default())
            .done()
    }
}
