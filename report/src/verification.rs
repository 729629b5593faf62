//! `fairplan.verification.v1`: what `verify` found, property by property.

use crate::stamp::{DemandsStamp, InstanceStamp};
use crate::unchecked::{UncheckedField, unchecked};
use fairplan_instances::{Body, Document};
use fairplan_verify::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A result held against its instance, property by property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Verification")]
pub struct VerificationBody<'a> {
    /// The instance that the result was held against.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceStamp<'a>>,
    /// The demands that the result was held against, if it is one of `offline`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub demands: Option<DemandsStamp<'a>>,
    /// The format of the result.
    #[serde(borrow)]
    pub result_format: Cow<'a, str>,
    /// Whether every property holds.
    pub holds: bool,
    /// The properties.
    #[serde(borrow)]
    pub verdicts: Vec<VerdictResult<'a>>,
    /// What of the result is taken as it is; everything else that it states is checked.
    #[serde(borrow, default)]
    pub unchecked: Vec<UncheckedField<'a>>,
}

impl Body for VerificationBody<'_> {
    const FORMAT: &'static str = "fairplan.verification.v1";
}

/// The whole file.
pub type VerificationDocument<'a> = Document<VerificationBody<'a>>;

/// One property of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictResult<'a> {
    /// Which property.
    #[serde(borrow)]
    pub property: Cow<'a, str>,
    /// Whether the result has it.
    pub holds: bool,
    /// The largest violation found, 0 when there is none. Absent when it cannot be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// The largest violation that is accepted, in the same unit.
    pub tolerance: f64,
    /// Where the largest violation is, with its numbers. Absent when the property holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Cow<'a, str>>,
}

impl<'a> From<&'a Verdict> for VerdictResult<'a> {
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

/// What a result was held against.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject<'a> {
    /// An instance.
    Instance(InstanceStamp<'a>),
    /// Demands over time.
    Demands(DemandsStamp<'a>),
}

/// The document of a verification, ready to be written.
pub fn verification_document<'a>(
    subject: Subject<'a>,
    result_format: &'a str,
    verdicts: &'a [Verdict],
) -> VerificationDocument<'a> {
    let (instance, demands) = match subject {
        Subject::Instance(stamp) => (Some(stamp), None),
        Subject::Demands(stamp) => (None, Some(stamp)),
    };
    Document::new(VerificationBody {
        instance,
        demands,
        result_format: result_format.into(),
        holds: verdicts.iter().all(|verdict| verdict.holds),
        verdicts: verdicts.iter().map(VerdictResult::from).collect(),
        unchecked: unchecked(result_format).collect(),
    })
}
