//! ResourceQuotas: the most that the pods of a namespace may request together.
//!
//! What they carry: `spec.hard` of what pods request (`cpu`, `requests.cpu`, `requests.nvidia.com/gpu`, `pods`) as limit of the
//! namespace. Of extended resources Kubernetes knows the name with `requests.` alone. Quotas of some pods only (scopes), on limits, and on counts of objects are left out and counted.

use super::nodes::quantities;
use super::options::{KubernetesOptions, PODS, PodOwner};
use crate::amounts::{Stated, tighter};
use crate::census::TaskGrouping;
use crate::files::together;
use crate::holders::Holder;
use crate::manifests::{self, instead, nullable, of_kinds};
use crate::report::ImportReport;
use fairplan_instances::quantity::Written;
use fairplan_instances::{Decimal, InstanceError, Violation};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What prints such a file.
const COMMAND: &str = "kubectl get resourcequotas -A -o json";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields {
    metadata: manifests::Metadata,
    #[serde(deserialize_with = "nullable")]
    spec: Spec,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spec {
    #[serde(deserialize_with = "nullable")]
    hard: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    scopes: Vec<String>,
    #[serde(rename = "scopeSelector")]
    selector: Value,
}

/// Whether a quota of this name binds no pod: of extended resources Kubernetes counts what is requested, under that name alone.
fn is_ignored(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native && !name.starts_with("requests.")
}

/// The namespaces with a quota as groups with a limit.
///
/// # Errors
/// Where users are not below their namespaces, and files with other objects only.
pub(super) fn read(
    options: &KubernetesOptions,
    resources: &[String],
    report: &mut ImportReport,
) -> Result<Vec<Holder>, InstanceError> {
    if options.quotas.is_empty() {
        return Ok(Vec::new());
    }
    if options.grouping != TaskGrouping::Tree || options.owner != PodOwner::Namespace {
        let problem = "quotas limit namespaces, so namespaces must be the groups; choose --group tree and --group-by namespace";
        let violation = Violation::new("quotas", "", problem);
        return Err(InstanceError::Invalid { file: together(&options.quotas), violation });
    }
    let all = manifests::read(&options.quotas, COMMAND)?;
    let others = all.len();
    let mut own = ImportReport::default();
    let quotas = of_kinds(all, &["ResourceQuota"], &mut own);
    // A cluster may have none: then its list is empty.
    if quotas.is_empty() && others > 0 {
        let problem =
            format!("there is no ResourceQuota here{}; `{COMMAND}` makes such a file", instead(&own));
        let violation = Violation::new("", "", problem);
        return Err(InstanceError::Invalid { file: together(&options.quotas), violation });
    }
    report.join(own);
    let mut limits: BTreeMap<String, Stated> = BTreeMap::new();
    for manifest in quotas {
        let Fields { metadata, spec } = manifest.read()?;
        if !spec.scopes.is_empty() || !spec.selector.is_null() {
            report.one("quotas left out: they cover only some pods (scopes)");
            continue;
        }
        report.one("quotas");
        let namespace = if metadata.namespace.is_empty() { "default".to_owned() } else { metadata.namespace };
        let limit = limits.entry(namespace).or_insert_with(|| vec![None; resources.len()]);
        for (name, amount) in quantities(&spec.hard, &manifest, "spec.hard")? {
            if is_ignored(&name) && resources.contains(&name) {
                report.one(format!(
                    "limits of {name} left out, which Kubernetes does not enforce: it knows requests.{name} only"
                ));
                continue;
            }
            let resource = name.strip_prefix("requests.").unwrap_or(&name);
            let known = resources.iter().position(|known| known == resource);
            let Some(r) = known.filter(|_| !name.starts_with("limits.")) else {
                report.one(match name.as_str() {
                    PODS => format!(
                        "limits of pods left out: --resources {},pods counts pods too",
                        resources.join(",")
                    ),
                    _ => format!("limits of {name} left out, which no task is measured in"),
                });
                continue;
            };
            let amount = amount
                .decimal()
                .ok_or_else(|| manifest.refused(&format!("spec.hard.{name}"), "", "has too many digits"))?;
            limit[r] = tighter(limit[r], Some(amount));
        }
    }
    let holder = |(id, limit)| Holder { id, parent: None, weight: Decimal::ONE, limit, limits: Vec::new() };
    Ok(limits.into_iter().map(holder).collect())
}
