//! KAI's queues.
//!
//! What they carry: `parentQueue`; of each resource `overQuotaWeight` as weight, `quota` as guarantee, `limit` as limit.

use super::super::manifests::nullable;
use super::super::misspelt::{self, Known};
use super::super::report::ImportReport;
use super::found::{Found, Object, PRIORITY_LEFT_OUT, Reading, Weight, refused, weight};
use fairplan_instances::InstanceError;
use fairplan_instances::quantity::Quantity;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The fields that queues of KAI have, and what they have of a resource.
const FIELDS: [&str; 6] =
    ["displayName", "parentQueue", "preemptMinRuntime", "priority", "reclaimMinRuntime", "resources"];
const OF_RESOURCES: [&str; 3] = ["limit", "overQuotaWeight", "quota"];

/// Counts fields of a queue that none has. Which resources KAI counts is told where they are read.
pub(super) fn tell_of_unknown(place: &str, spec: &Value, report: &mut ImportReport) {
    misspelt::fields(place, spec, Known { fields: &FIELDS, own: &["resources"] }, report);
    for (name, resource) in spec.get("resources").and_then(Value::as_object).into_iter().flatten() {
        let place = format!("{place}.resources.{name}");
        misspelt::fields(&place, resource, Known { fields: &OF_RESOURCES, own: &[] }, report);
    }
}

#[derive(Deserialize)]
pub(super) struct KaiSpec {
    #[serde(rename = "parentQueue", default, deserialize_with = "nullable")]
    parent: String,
    #[serde(default)]
    priority: Option<f64>,
    #[serde(rename = "preemptMinRuntime", default)]
    preempt: Option<Value>,
    #[serde(rename = "reclaimMinRuntime", default)]
    reclaim: Option<Value>,
    #[serde(default, deserialize_with = "nullable")]
    resources: BTreeMap<String, KaiResource>,
}

#[derive(Deserialize)]
pub(super) struct KaiResource {
    #[serde(default)]
    quota: Option<f64>,
    #[serde(default)]
    limit: Option<f64>,
    #[serde(rename = "overQuotaWeight", default)]
    weight: Option<f64>,
}

/// The label of a queue that may use the nodes of one pool only.
const NODE_POOL: &str = "kai.scheduler/node-pool";

/// The priority of a queue that states none.
const KAIS_PRIORITY: f64 = 100.0;

impl Reading {
    /// KAI counts cpu in thousandths and memory in millions of bytes; -1 is no limit, and nothing else below 0 means anything.
    pub(super) fn kai(
        &mut self,
        file: &str,
        place: &str,
        Object { metadata, spec, .. }: Object<KaiSpec>,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        for (name, resource) in &spec.resources {
            let field = |field: &str| format!("spec.resources.{name}.{field}");
            for (what, amount) in [("quota", resource.quota), ("limit", resource.limit)] {
                if let Some(below) = amount.filter(|amount| *amount < 0.0 && *amount != -1.0) {
                    let problem = "must be a number of 0 or more, or -1 for no end";
                    let place = format!("{place}: {}", field(what));
                    return Err(refused(file, &place, &below.to_string(), problem));
                }
            }
            weight(file, place, &field("overQuotaWeight"), resource.weight.unwrap_or_default())?;
        }
        let (mut limit, mut guarantee) = (BTreeMap::new(), BTreeMap::new());
        let mut unweighted = 0;
        let mut weights: Vec<f64> = Vec::new();
        for (name, resource) in spec.resources {
            let (name, suffix) = match name.as_str() {
                "cpu" => ("cpu", "m"),
                "memory" => ("memory", "M"),
                "gpu" => (self.gpu.as_str(), ""),
                other => {
                    report.one(format!("amounts of {other} left out, which KAI does not count"));
                    continue;
                }
            };
            if resource.limit.is_none() {
                report.one(
                    "limits not stated, taken as none (KAI takes them as 0, so that nothing runs: state -1)",
                );
            }
            let most = resource.limit.filter(|limit| *limit >= 0.0);
            let mut sure = resource.quota.filter(|quota| *quota >= 0.0);
            if let (Some(above), Some(most)) = (sure, most)
                && most < above
            {
                report.one(format!(
                    "queue whose quota is above its limit, which counts: {}, {name} {above} > {most}",
                    metadata.name
                ));
                sure = Some(most);
            }
            if resource.quota.is_some_and(|quota| quota < 0.0) {
                report.one("quotas without an end left out, which guarantee nothing in particular");
            }
            for (amounts, stated) in [(&mut guarantee, sure), (&mut limit, most)] {
                let Some(stated) = stated else { continue };
                // By its digits: a product of doubles may have more of them than a number can have.
                match Quantity::parse(&format!("{stated}{suffix}")) {
                    Ok(amount) => drop(amounts.insert(name.to_owned(), amount)),
                    Err(_) => report.one(format!(
                        "amounts of too many digits left out: {stated}{suffix} of {name}, {}",
                        metadata.name
                    )),
                }
            }
            weights.extend(resource.weight);
            unweighted += u64::from(resource.weight.is_none());
        }
        let largest = weights.iter().copied().reduce(f64::max);
        if weights.iter().any(|one| Some(*one) != largest) {
            report.one("queues weigh resources differently: the largest weight counts");
        }
        let taken = match largest {
            None => "weights not stated, taken as 1 (KAI takes them as 0: nothing beyond the quota)",
            Some(_) => {
                "weights not stated, taken as the queue's others (KAI takes them as 0: nothing beyond the quota)"
            }
        };
        report.add(unweighted, taken);
        if spec.priority.is_some_and(|priority| priority != KAIS_PRIORITY) {
            report.named(PRIORITY_LEFT_OUT, &metadata.name);
        }
        if spec.preempt.is_some() || spec.reclaim.is_some() {
            report.named(
                "queues whose pods run for a while before any is preempted (preemptMinRuntime, reclaimMinRuntime), which is \
                 not kept",
                &metadata.name,
            );
        }
        if metadata.labels.contains_key(NODE_POOL) {
            report.named(
                "queues of a node pool (kai.scheduler/node-pool), which here may use all nodes",
                &metadata.name,
            );
        }
        let parent = Some(spec.parent).filter(|parent| !parent.is_empty());
        self.found.push(Found {
            name: metadata.name,
            parent,
            weight: Weight::Stated(largest.unwrap_or(1.0)),
            guarantee,
            limit,
            ..Found::default()
        });
        Ok(())
    }
}
