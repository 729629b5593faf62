//! Volcano's queues.
//!
//! What they carry: `parent`; `weight` (1 where it is 0 or missing), or the weights of a hierarchy in annotations; `deserved` as
//! guarantee, `guarantee` as that and as reserve, since no other queue may use it; `capability` as limit. Queues that are closed (`status.state`) are left out.

use super::super::manifests::nullable;
use super::super::misspelt::Known;
use super::super::report::ImportReport;
use super::found::{Found, Object, PRIORITY_LEFT_OUT, Reading, Weight, quantities, refused, weight, within};
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::Written;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields that queues of Volcano have.
pub(super) const KNOWN: Known<'static> = Known { fields: &FIELDS, own: &OWN };
const FIELDS: [&str; 12] = [
    "affinity",
    "capability",
    "dequeueStrategy",
    "deserved",
    "extendClusters",
    "guarantee",
    "parent",
    "priority",
    "reclaimable",
    "resource",
    "type",
    "weight",
];
/// Those whose own fields are called as users like, or told of as a whole.
const OWN: [&str; 5] = ["affinity", "capability", "deserved", "extendClusters", "resource"];

#[derive(Deserialize)]
pub(super) struct VolcanoSpec {
    #[serde(default)]
    weight: Option<f64>,
    #[serde(default)]
    priority: Option<f64>,
    /// Which groups of nodes its tasks run on, where that plugin is on.
    #[serde(default)]
    affinity: Value,
    #[serde(default)]
    reclaimable: Option<bool>,
    /// Other clusters whose servers its tasks run on as well, as a list.
    #[serde(default, rename = "extendClusters")]
    extend_clusters: Value,
    #[serde(default, rename = "dequeueStrategy", deserialize_with = "nullable")]
    dequeue_strategy: String,
    #[serde(default, deserialize_with = "nullable")]
    parent: String,
    #[serde(default, deserialize_with = "nullable")]
    capability: BTreeMap<String, Written>,
    #[serde(default, deserialize_with = "nullable")]
    guarantee: VolcanoGuarantee,
    #[serde(default, deserialize_with = "nullable")]
    deserved: BTreeMap<String, Written>,
}

#[derive(Deserialize, Default)]
pub(super) struct VolcanoGuarantee {
    #[serde(default, deserialize_with = "nullable")]
    resource: BTreeMap<String, Written>,
}

impl Reading {
    /// A queue, and those of its hierarchy that have no object of their own.
    pub(super) fn volcano(
        &mut self,
        file: &str,
        place: &str,
        Object { metadata, spec, status }: Object<VolcanoSpec>,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        if spec.priority.is_some_and(|priority| priority != 0.0) {
            report.named(PRIORITY_LEFT_OUT, &metadata.name);
        }
        if spec.affinity.as_object().is_some_and(|affinity| !affinity.is_empty()) {
            report.named(
                "affinities of queues to groups of nodes left out: here all nodes take tasks of every queue",
                &metadata.name,
            );
        }
        if spec.extend_clusters.as_array().is_some_and(|clusters| !clusters.is_empty()) {
            report.named(
                "queues with other clusters to run on (extendClusters), of which nothing is here",
                &metadata.name,
            );
        }
        if spec.dequeue_strategy.eq_ignore_ascii_case("fifo") {
            report.named(
                "queues whose first job holds up the others (dequeueStrategy: fifo), which is not kept",
                &metadata.name,
            );
        }
        if spec.reclaimable == Some(false) {
            report.named(
                "queues not to be reclaimed from (reclaimable: false), which is not kept",
                &metadata.name,
            );
        }
        let mut guarantee = quantities(file, place, "spec.deserved", &spec.deserved, report)?;
        let sure = &spec.guarantee.resource;
        let reserve = quantities(file, place, "spec.guarantee.resource", sure, report)?;
        let limit = quantities(file, place, "spec.capability", &spec.capability, report)?;
        for given in [("spec.deserved", &guarantee), ("spec.guarantee.resource", &reserve)] {
            within(file, place, given, ("spec.capability", &limit))?;
        }
        for (resource, amount) in &reserve {
            let sure = guarantee.entry(resource.clone()).or_default();
            *sure = (*sure).max(*amount);
        }
        let annotation = |key: &str| metadata.annotations.get(key).map(String::as_str);
        let mut parent = Some(spec.parent).filter(|parent| !parent.is_empty());
        let mut weight = weight(file, place, "spec.weight", spec.weight.unwrap_or_default())?;
        // As Volcano's own admission sets it.
        if weight == 0.0 {
            weight = 1.0;
        }
        if let (Some(path), Some(weights)) =
            (annotation("volcano.sh/hierarchy"), annotation("volcano.sh/hierarchy-weights"))
        {
            let malformed = || {
                refused(
                    file,
                    &format!("{place}: hierarchy-weights"),
                    weights,
                    "must have a number of 0 or more for each part of the hierarchy",
                )
            };
            let number = |weight: &str| weight.parse().ok().filter(|number: &f64| *number >= 0.0);
            let numbers: Option<Vec<f64>> = weights.split('/').map(number).collect();
            let parts: Vec<&str> = path.split('/').collect();
            let numbers = numbers.filter(|numbers| numbers.len() == parts.len()).ok_or_else(malformed)?;
            // The queue itself is the last part; those above it have no object of their own.
            for depth in 1..parts.len() {
                let above = (depth > 1).then(|| parts[..depth - 1].join("/"));
                let name = parts[..depth].join("/");
                let weight = numbers[depth - 1];
                match self.volcano.get(&name) {
                    Some(known) if *known != weight => {
                        report.named(
                            "weights of hierarchies left out: another queue stated another one before",
                            &name,
                        );
                    }
                    Some(_) => {}
                    None => {
                        self.volcano.insert(name.clone(), weight);
                        let weight = Weight::Stated(weight);
                        self.found.push(Found { name, parent: above, weight, ..Found::default() });
                    }
                }
            }
            parent = (parts.len() > 1).then(|| parts[..parts.len() - 1].join("/"));
            weight = numbers[numbers.len() - 1];
        }
        self.volcano.insert(metadata.name.clone(), weight);
        let weight = Weight::Stated(weight);
        let is_stopped = ["Closed", "Closing"].contains(&status.state.as_str());
        self.found.push(Found {
            name: metadata.name,
            parent,
            weight,
            guarantee,
            limit,
            reserve,
            is_stopped,
            is_above: false,
        });
        Ok(())
    }
}
