//! What deployed objects state that is not exported: labels, taints and tolerations of Kueue's flavors, checks, preemption and selectors of
//! its queues; placement rules, access lists and limits of users in the one file of YARN or YuniKorn, how YARN measures and divides, and other
//! partitions. Applying the export would take it away.

use crate::Error;
use fairplan_imports::{ConfigurationKind, Spec, specs, specs_in};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The field of a flavor of Kueue that says which nodes are of it; none says that all are.
const LABELS: &str = "nodeLabels";

/// The field of a queue of Kueue that says which namespaces may submit to it; none says that none may, and an empty one that all may.
const NAMESPACES: &str = "namespaceSelector";

/// A field of a deployed object that is not exported as it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostField {
    /// The object: `ResourceFlavor a100`, `partition gpu`, `configuration` of all that is no queue's.
    pub object: String,
    /// The field of it, of objects of Kubernetes of their `spec`.
    pub field: String,
    /// What it says there, as JSON.
    pub before: String,
    /// What the exported object says instead; `None` where it says nothing.
    pub after: Option<String>,
}

impl LostField {
    /// Whether it says by which resources YARN compares queues, where the export says another thing or goes by what holds for all.
    pub fn is_of_comparing(&self) -> bool {
        let of_all = ["resource-calculator", "defaultQueueSchedulingPolicy"].contains(&self.field.as_str());
        of_all || (self.field == "schedulingPolicy" && self.before == "\"fair\"")
    }
}

/// The fields that the files of the deployed configuration state and the exported text does not, or otherwise.
pub(super) fn fields(
    configuration: ConfigurationKind,
    current: &[String],
    exported: &str,
) -> Result<Vec<LostField>, Error> {
    let exported = specs_in(configuration, exported)?;
    let exported: BTreeMap<(String, String), Value> =
        exported.into_iter().map(|Spec { kind, name, spec }| ((kind, name), spec)).collect();
    let mut lost = Vec::new();
    for Spec { kind, name, spec } in specs(configuration, current)? {
        let after = match exported.get(&(kind.clone(), name.clone())) {
            Some(after) => after,
            // A file without a partition takes it away.
            None if kind == "partition" => &Value::Null,
            // What is not exported is not touched, and a queue that goes is told as such.
            None => continue,
        };
        let labels = |spec: &Value| spec.get(LABELS).is_some_and(|labels| !is_default(LABELS, labels));
        if kind == "ResourceFlavor" && !labels(&spec) && labels(after) {
            // Of all nodes it would be only those with a label.
            lost.push(LostField {
                object: format!("{kind} {name}"),
                field: LABELS.into(),
                before: "{}".into(),
                after: after.get(LABELS).map(Value::to_string),
            });
        }
        let namespaces = |spec: &Value| spec.get(NAMESPACES).is_some_and(|selector| !selector.is_null());
        if kind == "ClusterQueue" && !namespaces(&spec) && namespaces(after) {
            lost.push(LostField {
                object: format!("{kind} {name}"),
                field: NAMESPACES.into(),
                before: Value::Null.to_string(),
                after: after.get(NAMESPACES).map(Value::to_string),
            });
        }
        for (field, before) in spec.as_object().into_iter().flatten() {
            if is_default(field, before) {
                continue;
            }
            let after = after.get(field);
            if after != Some(before) {
                lost.push(LostField {
                    object: format!("{kind} {name}").trim_end().to_owned(),
                    field: field.clone(),
                    before: before.to_string(),
                    after: after.map(Value::to_string),
                });
            }
        }
    }
    Ok(lost)
}

/// Whether a field says no more than Kueue has it where nothing is said.
fn is_default(field: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty() && field != NAMESPACES,
        _ => false,
    };
    let says = |defaults: Value| {
        let (Value::Object(stated), Value::Object(defaults)) = (value, &defaults) else {
            return *value == defaults;
        };
        stated.iter().all(|(name, value)| defaults.get(name) == Some(value))
    };
    is_empty
        || match field {
            "queueingStrategy" => says(json!("BestEffortFIFO")),
            "stopPolicy" => says(json!("None")),
            "flavorFungibility" => {
                says(json!({"whenCanBorrow": "Borrow", "whenCanPreempt": "TryNextFlavor"}))
            }
            "maxapplications" => says(json!(0)),
            "reclaimable" => says(json!(true)),
            "dequeueStrategy" => says(json!("traverse")),
            // Of YARN.
            "state" => says(json!("RUNNING")),
            "acl_submit_applications" | "acl_administer_queue" | "aclSubmitApps" | "aclAdministerApps" => {
                says(json!("*"))
            }
            "user-limit-factor" => says(json!("1")),
            "minimum-user-limit-percent" => says(json!("100")),
            "maximum-applications" => says(json!("10000")),
            "maximum-am-resource-percent" => says(json!("0.1")),
            "node-locality-delay" => says(json!("40")),
            "queue-mappings" => says(json!("")),
            "queue-mappings-override.enable" | "disable_preemption" => says(json!("false")),
            "preemption" => says(json!({"reclaimWithinCohort": "Never", "withinClusterQueue": "Never",
                                        "borrowWithinCohort": {"policy": "Never"}})),
            _ => false,
        }
}
