//! What queues and flavors of Kueue state beside quotas that is not so here.

use super::objects::{Condition, FlavorSpec};
use crate::manifests::{Manifest, nullable};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClusterQueue {
    #[serde(deserialize_with = "nullable")]
    spec: Spec,
    #[serde(deserialize_with = "nullable")]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "nullable")]
    preemption: Preemption,
    /// `None` where it is not stated: then no namespace is selected.
    #[serde(rename = "namespaceSelector")]
    namespaces: Option<IgnoredAny>,
    #[serde(rename = "admissionChecks", deserialize_with = "nullable")]
    checks: Vec<IgnoredAny>,
    #[serde(rename = "admissionChecksStrategy")]
    checks_strategy: Option<IgnoredAny>,
    #[serde(rename = "queueingStrategy", deserialize_with = "nullable")]
    queueing: String,
    #[serde(rename = "flavorFungibility", deserialize_with = "nullable")]
    fungibility: Fungibility,
    #[serde(rename = "admissionScope", deserialize_with = "nullable")]
    scope: AdmissionScope,
    #[serde(rename = "concurrentAdmissionPolicy")]
    concurrent: Option<IgnoredAny>,
}

/// What is said of a queue as it is.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

/// Whose pods a queue may end to have room for its own.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Preemption {
    #[serde(rename = "reclaimWithinCohort", deserialize_with = "nullable")]
    reclaim: String,
    #[serde(rename = "borrowWithinCohort", deserialize_with = "nullable")]
    borrow: BorrowWithinCohort,
    #[serde(rename = "withinClusterQueue", deserialize_with = "nullable")]
    within: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BorrowWithinCohort {
    #[serde(deserialize_with = "nullable")]
    policy: String,
}

/// When a workload tries the next of several flavors.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Fungibility {
    #[serde(rename = "whenCanBorrow", deserialize_with = "nullable")]
    borrow: String,
    #[serde(rename = "whenCanPreempt", deserialize_with = "nullable")]
    preempt: String,
    #[serde(deserialize_with = "nullable")]
    preference: String,
}

impl Fungibility {
    /// Whether it states what Kueue does where nothing is stated; `MayStopSearch` is called so since v1beta2.
    fn is_usual(&self) -> bool {
        ["", "Borrow", "MayStopSearch"].contains(&self.borrow.as_str())
            && ["", "TryNextFlavor"].contains(&self.preempt.as_str())
            && self.preference.is_empty()
    }
}

/// What counts when the local queues of a queue take turns.
#[derive(Deserialize, Default)]
#[serde(default)]
struct AdmissionScope {
    #[serde(rename = "admissionMode", deserialize_with = "nullable")]
    mode: String,
}

/// Names a queue for each thing that it states and that is not so here.
pub(super) fn tell_of_queue(
    manifest: &Manifest,
    name: &str,
    is_stopped: bool,
    report: &mut ImportReport,
) -> Result<(), InstanceError> {
    let ClusterQueue { spec, status } = manifest.read()?;
    let inactive = |condition: &Condition| condition.kind == "Active" && condition.status == "False";
    // A queue has its quota at once, and nothing by priority.
    let Preemption { reclaim, borrow, within } = &spec.preemption;
    let is_unusual = |value: &str, usual: &str| !value.is_empty() && value != usual;
    for (applies, told) in [
        (
            is_unusual(reclaim, "Any"),
            "cluster queues with a limit on taking back what was lent (reclaimWithinCohort), which is left out: here each has its quota at once",
        ),
        (
            is_unusual(&borrow.policy, "Never"),
            "cluster queues with preemption to borrow (borrowWithinCohort), which is left out: here shares alone decide",
        ),
        (
            is_unusual(within, "Never"),
            "cluster queues with preemption by priority (withinClusterQueue), which is left out",
        ),
        (
            spec.namespaces.is_none(),
            "cluster queues without a namespaceSelector, so that in Kueue no namespace may submit to them, which is left out: here they count",
        ),
        (
            // Of one that is stopped it says why itself.
            !is_stopped && status.conditions.iter().any(inactive),
            "cluster queues that are not active (Active: False in their status), so that Kueue admits nothing there, which is left out: here they count",
        ),
        (
            !spec.checks.is_empty() || spec.checks_strategy.is_some(),
            "cluster queues with admission checks (admissionChecks), which are left out: here quotas alone let workloads in",
        ),
        (
            spec.queueing == "StrictFIFO",
            "cluster queues with the strategy StrictFIFO, which is left out: here a workload that does not fit holds up nobody",
        ),
        (
            !spec.fungibility.is_usual(),
            "cluster queues with rules for when the next flavor is tried (flavorFungibility), which are left out: here tasks take any of their flavors",
        ),
        (
            spec.scope.mode == "UsageBasedAdmissionFairSharing",
            "cluster queues with admission by earlier usage (admissionScope), which is left out: here only what each has now counts",
        ),
        (
            spec.concurrent.is_some(),
            "cluster queues with admission to several flavors at once (concurrentAdmissionPolicy), which is left out: here tasks take any of their flavors",
        ),
    ] {
        if applies {
            report.named(told, name);
        }
    }
    Ok(())
}

/// Names a flavor whose nodes lie near to or far from each other.
pub(super) fn tell_of_flavor(flavor: &FlavorSpec, name: &str, report: &mut ImportReport) {
    if !flavor.topology.is_empty() {
        report.named(
            "flavors with a topology (topologyName), which is left out: here pods of a workload may be on any nodes of a flavor",
            name,
        );
    }
}

/// Whether a pod set must be on nodes near each other: `topologyRequest`, as far as it is understood.
pub(super) fn must_be_near(topology_request: &Value) -> bool {
    let required = topology_request.get("required").and_then(Value::as_str);
    required.is_some_and(|level| !level.is_empty())
}
