//! A node: what it can give to pods, and whether it takes any.

use super::gpu_sharing;
use super::placement::{Site, Taint};
use crate::manifests::{Manifest, Metadata, nullable};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::{Quantity, Written};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields {
    metadata: Metadata,
    #[serde(deserialize_with = "nullable")]
    spec: Spec,
    #[serde(deserialize_with = "nullable")]
    status: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "nullable")]
    unschedulable: bool,
    #[serde(deserialize_with = "nullable")]
    taints: Vec<Taint>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    #[serde(deserialize_with = "nullable")]
    allocatable: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    capacity: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

/// A node as far as it concerns an instance.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    /// What pods may request of it.
    pub(crate) allocatable: BTreeMap<String, Quantity>,
    /// Why it takes no pods, if it takes none.
    pub(crate) closed: Option<&'static str>,
}

impl Node {
    pub(crate) fn read(manifest: &Manifest, report: &mut ImportReport) -> Result<Self, InstanceError> {
        let Fields { metadata, spec, status } = manifest.read()?;
        let (field, written) = if status.allocatable.is_empty() {
            if !status.capacity.is_empty() {
                report.one("nodes that state no status.allocatable: their status.capacity is taken");
            }
            ("status.capacity", &status.capacity)
        } else {
            ("status.allocatable", &status.allocatable)
        };
        if written.is_empty() {
            return Err(manifest.refused("status.allocatable", "", "is missing; a node says what it has"));
        }
        let allocatable = quantities(written, manifest, field)?;
        let ready = status.conditions.iter().find(|condition| condition.kind == "Ready");
        let closed = if spec.unschedulable {
            Some("nodes left out: cordoned (unschedulable)")
        } else if ready.is_some_and(|ready| ready.status != "True") {
            Some("nodes left out: not ready")
        } else {
            None
        };
        if !metadata.deleted.is_null() {
            report.named(
                "nodes that are being deleted (deletionTimestamp), counted like the others",
                &manifest.name,
            );
        }
        if metadata.name.is_empty() {
            report.one("nodes without a name (metadata.name): no pod says that it runs there");
        }
        if allocatable.get("cpu").is_none_or(|cpu| cpu.is_zero()) {
            report.named(format!("nodes without cpu in {field}"), &manifest.name);
        }
        let name = if metadata.name.is_empty() { manifest.name.clone() } else { metadata.name };
        Ok(Self { name, labels: metadata.labels, taints: spec.taints, allocatable, closed })
    }

    /// The model of its GPUs, where a label says it.
    pub(crate) fn gpu_model(&self) -> &str {
        const LABELS: [&str; 5] = [
            "nvidia.com/gpu.product",
            "amd.com/gpu.product-name",
            "cloud.google.com/gke-accelerator",
            "karpenter.k8s.aws/instance-gpu-name",
            gpu_sharing::MODEL,
        ];
        LABELS.iter().find_map(|label| self.labels.get(*label)).map_or("", String::as_str)
    }

    /// Counts devices and other extended resources that are none of `resources`.
    pub(crate) fn tell_of_unasked(&self, resources: &[&str], who: &str, report: &mut ImportReport) {
        for name in self.devices().filter(|name| !resources.contains(name)) {
            report.one(format!("nodes have {name}, which no {who} asks for: it is left out"));
        }
    }

    /// The devices and other extended resources that it has.
    ///
    /// Every node has some of the rest, such as storage and huge pages, and its number of pods is no matter of the cluster's size.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &str> {
        let is_extended = |name: &str| name.contains('/') && !name.starts_with("attachable-volumes");
        let has = self.allocatable.iter().filter(|(_, amount)| !amount.is_zero());
        has.map(|(name, _)| name.as_str()).filter(move |name| is_extended(name))
    }

    pub(crate) fn site(&self) -> Site<'_> {
        Site { name: &self.name, labels: &self.labels, taints: &self.taints }
    }
}

/// What `written` in `field` of an object says, resource by resource.
pub(crate) fn quantities(
    written: &BTreeMap<String, Written>,
    manifest: &Manifest,
    field: &str,
) -> Result<BTreeMap<String, Quantity>, InstanceError> {
    let read = |(resource, Written(text)): (&String, &Written)| {
        let amount = Quantity::parse(text)
            .map_err(|problem| manifest.refused(&format!("{field}.{resource}"), text, problem))?;
        Ok((resource.clone(), amount))
    };
    written.iter().map(read).collect()
}
