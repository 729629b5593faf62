//! KAI's queues: `overQuotaWeight` and `limit` of each resource.

use super::super::manifests::nullable;
use super::super::report::ImportReport;
use super::{Found, Object, Reading, Weight};
use fairplan_instances::quantity::Quantity;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(super) struct KaiSpec {
    #[serde(rename = "parentQueue", default, deserialize_with = "nullable")]
    parent: String,
    #[serde(default, deserialize_with = "nullable")]
    resources: BTreeMap<String, KaiResource>,
}

#[derive(Deserialize)]
pub(super) struct KaiResource {
    #[serde(default)]
    quota: f64,
    #[serde(default)]
    limit: Option<f64>,
    #[serde(rename = "overQuotaWeight", default)]
    weight: Option<f64>,
}

impl Reading {
    /// KAI counts cpu in thousandths and memory in millions of bytes; -1 is no limit.
    pub(super) fn kai(&mut self, Object { metadata, spec }: Object<KaiSpec>, report: &mut ImportReport) {
        let (mut limit, mut given) = (BTreeMap::new(), BTreeMap::new());
        let mut weight: Option<f64> = None;
        for (name, resource) in spec.resources {
            let (name, factor) = match name.as_str() {
                "cpu" => ("cpu", 1e-3),
                "memory" => ("memory", 1e6),
                "gpu" => (self.gpu.as_str(), 1.0),
                _ => continue,
            };
            let amount = |stated: f64| Quantity::parse(&format!("{:.9}", stated * factor)).ok();
            if resource.quota > 0.0 {
                report.one("quotas are guaranteed, which an instance cannot state");
                given.extend(amount(resource.quota).map(|quota| (name.to_owned(), quota)));
            }
            let most = resource.limit.filter(|limit| *limit >= 0.0);
            limit.extend(most.and_then(amount).map(|most| (name.to_owned(), most)));
            let own = resource.weight.unwrap_or(1.0);
            if weight.is_some_and(|weight| weight != own) {
                report.one("queues weigh resources differently: the largest weight counts");
            }
            weight = Some(weight.map_or(own, |weight| weight.max(own)));
        }
        let parent = Some(spec.parent).filter(|parent| !parent.is_empty());
        self.found.push(Found {
            name: metadata.name,
            parent,
            weight: Weight::Stated(weight.unwrap_or(1.0)),
            limit,
            given,
        });
    }
}
