//! What Kueue's objects state, as far as it concerns an instance.

use super::stopped::Stop;
use crate::counted_in_bytes;
use crate::kubernetes::{Conditions, PodSpec, Taint, Toleration};
use crate::manifests::{Manifest, Metadata, nullable};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// The kinds of objects that are read.
pub(super) const KINDS: [&str; 5] = ["ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Workload"];

/// Those of them that have quotas or weights, and the fields that Kueue's reference lists for them.
pub(super) const OF_QUOTAS: [&str; 3] = ["ClusterQueue", "Cohort", "LocalQueue"];
pub(super) const FIELDS: [&str; 34] = [
    "admissionChecks",
    "admissionChecksStrategy",
    "admissionMode",
    "admissionScope",
    "borrowWithinCohort",
    "borrowingLimit",
    "clusterQueue",
    "cohort",
    "cohortName",
    "concurrentAdmissionPolicy",
    "coveredResources",
    "fairSharing",
    "flavorFungibility",
    "flavors",
    "lendingLimit",
    "maxPriorityThreshold",
    "name",
    "namespaceSelector",
    "nominalQuota",
    "onFlavors",
    "parent",
    "parentName",
    "policy",
    "preemption",
    "preference",
    "queueingStrategy",
    "reclaimWithinCohort",
    "resourceGroups",
    "resources",
    "stopPolicy",
    "weight",
    "whenCanBorrow",
    "whenCanPreempt",
    "withinClusterQueue",
];

/// What an object states; nothing where it has no `spec`.
pub(super) fn spec<S: DeserializeOwned + Default>(manifest: &Manifest) -> Result<(String, S), InstanceError> {
    #[derive(Deserialize)]
    struct Object<S> {
        metadata: Metadata,
        #[serde(default = "Option::default")]
        spec: Option<S>,
    }
    let Object { metadata, spec } = manifest.read()?;
    Ok((metadata.name, spec.unwrap_or_default()))
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct QueueSpec {
    /// `cohort` until v1beta1.
    #[serde(rename = "cohortName", alias = "cohort", deserialize_with = "nullable")]
    pub(super) cohort: String,
    #[serde(rename = "resourceGroups", deserialize_with = "nullable")]
    pub(super) groups: Vec<Group>,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    pub(super) fair_sharing: FairSharing,
    #[serde(rename = "stopPolicy", deserialize_with = "nullable")]
    stop: String,
}

/// Tells of an object that somebody is deleting.
pub(super) fn tell_of_deletion(manifest: &Manifest, report: &mut ImportReport) -> Result<(), InstanceError> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    let Object { metadata } = manifest.read()?;
    if !metadata.deleted.is_null() {
        let name = format!("{} {}", manifest.kind, manifest.name);
        report.named("objects that are being deleted (deletionTimestamp), counted like the others", &name);
    }
    Ok(())
}

impl QueueSpec {
    pub(super) fn stop(&self) -> Stop {
        Stop::of(&self.stop)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct CohortSpec {
    /// `parent` until v1beta1.
    #[serde(rename = "parentName", alias = "parent", deserialize_with = "nullable")]
    pub(super) parent: String,
    #[serde(rename = "resourceGroups", deserialize_with = "nullable")]
    pub(super) groups: Vec<Group>,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    pub(super) fair_sharing: FairSharing,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct LocalSpec {
    #[serde(rename = "clusterQueue")]
    pub(super) cluster_queue: String,
    #[serde(rename = "fairSharing", deserialize_with = "nullable")]
    pub(super) fair_sharing: FairSharing,
    #[serde(rename = "stopPolicy", deserialize_with = "nullable")]
    stop: String,
}

impl LocalSpec {
    pub(super) fn stop(&self) -> Stop {
        Stop::of(&self.stop)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct FlavorSpec {
    #[serde(rename = "nodeLabels", deserialize_with = "nullable")]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(rename = "nodeTaints", deserialize_with = "nullable")]
    pub(super) taints: Vec<Taint>,
    #[serde(deserialize_with = "nullable")]
    pub(super) tolerations: Vec<Toleration>,
    #[serde(rename = "topologyName", deserialize_with = "nullable")]
    pub(super) topology: String,
}

impl FlavorSpec {
    /// What keeps its tasks from nodes: labels that are missing, and taints other than its own, which its tasks tolerate.
    pub(super) fn conditions(&self) -> Conditions {
        let own = self.taints.iter().map(Taint::tolerated);
        let tolerations = self.tolerations.iter().cloned().chain(own).collect();
        Conditions { selector: self.labels.clone(), terms: None, tolerations }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WorkloadSpec {
    /// `None` where it was not switched off.
    pub(super) active: Option<bool>,
    #[serde(rename = "queueName", deserialize_with = "nullable")]
    pub(super) queue: String,
    #[serde(rename = "podSets", deserialize_with = "nullable")]
    pub(super) pods: Vec<PodSet>,
    pub(super) priority: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct PodSet {
    #[serde(default = "main")]
    pub(super) name: String,
    /// With how many pods it may be admitted where not all fit.
    #[serde(rename = "minCount", default)]
    pub(super) least: Option<u64>,
    #[serde(default = "one")]
    pub(super) count: u64,
    #[serde(default)]
    pub(super) template: Template,
    /// What it is in other versions is not looked at.
    #[serde(rename = "topologyRequest", default)]
    pub(super) topology: Value,
}

fn one() -> u64 {
    1
}

fn main() -> String {
    "main".to_owned()
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Template {
    #[serde(deserialize_with = "nullable")]
    pub(super) spec: PodSpec,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WorkloadStatus {
    #[serde(deserialize_with = "nullable")]
    pub(super) conditions: Vec<Condition>,
    #[serde(deserialize_with = "nullable")]
    pub(super) admission: Admission,
    /// Pods that are done, or needed no longer.
    #[serde(rename = "reclaimablePods", deserialize_with = "nullable")]
    pub(super) reclaimable: Vec<Pods>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Admission {
    #[serde(rename = "podSetAssignments", deserialize_with = "nullable")]
    pub(super) sets: Vec<Pods>,
}

/// So many pods of a pod set.
#[derive(Deserialize)]
pub(super) struct Pods {
    #[serde(default = "main")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) count: Option<u64>,
    /// What of the quota they hold together, of those that were admitted.
    #[serde(rename = "resourceUsage", default, deserialize_with = "nullable")]
    pub(super) usage: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
}

#[derive(Deserialize, Default)]
pub(super) struct FairSharing {
    #[serde(default)]
    weight: Option<Written>,
}

impl FairSharing {
    /// One where none is stated.
    pub(super) fn weight(&self, manifest: &Manifest) -> Result<f64, InstanceError> {
        let weight = self.weight.as_ref().map_or(Ok(Quantity::ONE), |Written(text)| {
            Quantity::parse(text)
                .map_err(|problem| manifest.refused("spec.fairSharing.weight", text, problem))
        });
        Ok(weight?.part_of(Quantity::ONE))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Group {
    #[serde(rename = "coveredResources", deserialize_with = "nullable")]
    covered: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    flavors: Vec<Flavor>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Flavor {
    name: String,
    #[serde(deserialize_with = "nullable")]
    resources: Vec<Quota>,
}

#[derive(Deserialize)]
struct Quota {
    name: String,
    #[serde(rename = "nominalQuota")]
    nominal: Written,
    #[serde(rename = "borrowingLimit", default)]
    borrowing: Option<Written>,
    #[serde(rename = "lendingLimit", default)]
    lending: Option<Written>,
}

/// A quota of one resource on one flavor.
pub(super) struct Amount {
    /// Which of the resource groups it stands in.
    pub(super) group: usize,
    pub(super) flavor: String,
    pub(super) resource: String,
    pub(super) nominal: Quantity,
    pub(super) borrowing: Option<Quantity>,
    pub(super) lending: Option<Quantity>,
}

/// All quotas of a queue or a cohort.
pub(super) fn amounts(
    manifest: &Manifest,
    groups: &[Group],
    report: &mut ImportReport,
) -> Result<Vec<Amount>, InstanceError> {
    let lends_own = manifest.kind == "ClusterQueue";
    let mut amounts: Vec<Amount> = Vec::new();
    for (group, Group { covered, flavors }) in groups.iter().enumerate() {
        for Flavor { name, resources } in flavors {
            for quota in resources {
                let place = |field: &str| {
                    let resource = &quota.name;
                    format!("spec.resourceGroups[{group}], flavor {name}, {resource}{field}")
                };
                let read = |field: &str, Written(text): &Written| {
                    Quantity::parse(text).map_err(|problem| manifest.refused(&place(field), text, problem))
                };
                let limit = |field: &str, written: &Option<Written>| {
                    written.as_ref().map(|written| read(field, written)).transpose()
                };
                if !covered.is_empty() && !covered.contains(&quota.name) {
                    let problem = format!(
                        "is not among the coveredResources of its group, which are {}",
                        covered.join(", ")
                    );
                    return Err(manifest.refused(&place(""), "", &problem));
                }
                let written = [Some(&quota.nominal), quota.borrowing.as_ref(), quota.lending.as_ref()];
                for Written(text) in written.into_iter().flatten() {
                    counted_in_bytes::tell(&quota.name, text, report);
                }
                let nominal = read(".nominalQuota", &quota.nominal)?;
                let borrowing = limit(".borrowingLimit", &quota.borrowing)?;
                let lending = limit(".lendingLimit", &quota.lending)?;
                // A cohort may lend what is below it too.
                if let (Some(Written(text)), true) = (&quota.lending, lends_own && lending > Some(nominal)) {
                    let problem = "is more than the nominalQuota, of which it lends";
                    return Err(manifest.refused(&place(".lendingLimit"), text, problem));
                }
                let same = |other: &Amount| other.flavor == *name && other.resource == quota.name;
                if amounts.iter().any(same) {
                    return Err(manifest.refused(&place(""), "", "has a quota already"));
                }
                let (flavor, resource) = (name.clone(), quota.name.clone());
                amounts.push(Amount { group, flavor, resource, nominal, borrowing, lending });
            }
        }
    }
    Ok(amounts)
}
