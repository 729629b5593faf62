//! Queues that are objects of Kubernetes: those of Kueue, Volcano and KAI.

use super::fields::{amounts, list, number};
use super::queue::{ConfigurationKind, Deployed, DeployedQueue, Reading, Spec, without};
use super::yunikorn;
use crate::manifests::documents_of;
use fairplan_instances::InstanceError;
use fairplan_instances::files::source::Source;
use serde_json::Value;
use std::collections::BTreeSet;

/// The command that prints such files.
const SHOWN_BY: &str = "kubectl get … -o yaml";

pub(super) fn read(
    mut reading: Reading<'_>,
    kind: ConfigurationKind,
    source: Source,
) -> Result<(), InstanceError> {
    let documents = documents_of(source, SHOWN_BY)?;
    match kind {
        ConfigurationKind::YuniKorn => yunikorn::read(&mut reading, &documents),
        _ => documents.iter().try_for_each(|document| object(&mut reading, kind, document)),
    }
}

/// What is read of the objects' specs.
const READ_OF_KUEUE: [&str; 6] =
    ["resourceGroups", "cohort", "cohortName", "parent", "parentName", "fairSharing"];
const READ_OF_VOLCANO: [&str; 6] = ["parent", "weight", "deserved", "guarantee", "priority", "capability"];
const READ_OF_KAI: [&str; 3] = ["parentQueue", "priority", "resources"];

/// What the objects state beside that.
pub(super) fn specs(
    kind: ConfigurationKind,
    source: Source,
    found: &mut Vec<Spec>,
) -> Result<(), InstanceError> {
    let file = source.name().to_owned();
    let documents = documents_of(source, SHOWN_BY)?;
    match kind {
        ConfigurationKind::YuniKorn => yunikorn::specs(&file, &documents, found)?,
        ConfigurationKind::Volcano => {
            of_objects(&documents, ("scheduling.volcano.sh", &READ_OF_VOLCANO), found)
        }
        ConfigurationKind::Kai => of_objects(&documents, ("scheduling.run.ai", &READ_OF_KAI), found),
        _ => of_objects(&documents, ("kueue.x-k8s.io", &READ_OF_KUEUE), found),
    }
    Ok(())
}

/// The objects that queues and their quotas are made of, of which lists may be nested.
fn of_objects(documents: &[Value], (api, read): (&str, &[&str]), found: &mut Vec<Spec>) {
    for document in documents {
        if let Some(items) = document.get("items").and_then(Value::as_array) {
            of_objects(items, (api, read), found);
            continue;
        }
        let stated = document.get("apiVersion").and_then(Value::as_str).unwrap_or(api);
        if !stated.starts_with(api) {
            continue;
        }
        let kind = document.get("kind").and_then(Value::as_str).unwrap_or_default();
        let name = document.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
        if let (Some(name), "ResourceFlavor" | "ClusterQueue" | "Cohort" | "Queue") = (name, kind) {
            let spec = document.get("spec").unwrap_or(&Value::Null);
            found.push(without(kind, name.to_owned(), spec, read));
        }
    }
}

/// A cohort that is only named, without an object of its own, is one that states nothing.
pub(super) fn add_named_cohorts(found: &mut Deployed) {
    let named: BTreeSet<String> = found.values().map(|queue| queue.parent.clone()).collect();
    for name in named.into_iter().filter(|name| !name.is_empty()) {
        found.entry(format!("cohort {name}")).or_default();
    }
}

fn object(reading: &mut Reading<'_>, kind: ConfigurationKind, object: &Value) -> Result<(), InstanceError> {
    if let Some(items) = object.get("items").and_then(Value::as_array) {
        return items.iter().try_for_each(|item| self::object(reading, kind, item));
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = text(object.get("metadata").and_then(|metadata| metadata.get("name")));
    let (stated, api) = (text(object.get("kind")), text(object.get("apiVersion")));
    let place = format!("{stated} {name}");
    let nothing = Value::Null;
    let spec = object.get("spec").unwrap_or(&nothing);
    let mut queue = DeployedQueue::default();
    let known: &[&str] = match (kind, stated.as_str()) {
        (ConfigurationKind::Kueue, "ClusterQueue") => &["kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"],
        (ConfigurationKind::Kueue, "Cohort") => {
            &["kueue.x-k8s.io/v1alpha1", "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"]
        }
        (ConfigurationKind::Volcano, "Queue") if api.starts_with("scheduling.volcano.sh") => {
            &["scheduling.volcano.sh/v1beta1"]
        }
        (ConfigurationKind::Kai, "Queue") if api.starts_with("scheduling.run.ai") => {
            &["scheduling.run.ai/v2"]
        }
        _ => &[],
    };
    if !known.is_empty() && !api.is_empty() && !known.contains(&api.as_str()) {
        let problem = format!("is a version that is not read; get it as {}", known.join(" or "));
        return Err(reading.refused(&format!("{place}: apiVersion"), &api, &problem));
    }
    match (kind, stated.as_str()) {
        (ConfigurationKind::Kueue, "ClusterQueue" | "Cohort") => {
            let policy = spec.get("stopPolicy").and_then(Value::as_str);
            queue.is_stopped = stated == "ClusterQueue" && policy.is_some_and(|policy| policy != "None");
            let above = ["cohortName", "cohort", "parentName", "parent"];
            queue.parent = text(above.iter().find_map(|key| spec.get(*key)));
            let weight = spec.get("fairSharing").and_then(|sharing| sharing.get("weight"));
            queue.weight = number(reading, &format!("{place}: spec.fairSharing.weight"), weight)?;
            for flavor in list(spec, "resourceGroups").iter().flat_map(|group| list(group, "flavors")) {
                // What a cohort lends has no order.
                if stated == "ClusterQueue" {
                    queue.order.push(text(flavor.get("name")));
                }
                for resource in list(flavor, "resources") {
                    let key = (text(flavor.get("name")), text(resource.get("name")));
                    let amount = |field: &str| {
                        number(
                            reading,
                            &format!("{place}: flavor {}, {}.{field}", key.0, key.1),
                            resource.get(field),
                        )
                    };
                    let nominal = amount("nominalQuota")?.unwrap_or(0.0);
                    // What may be borrowed comes on top.
                    let limit = amount("borrowingLimit")?.map(|borrowing| nominal + borrowing);
                    if queue.amounts.contains_key(&key) || queue.limits.contains_key(&key) {
                        let place = format!("{place}: flavor {}", key.0);
                        return Err(reading.refused(&place, &key.1, "is stated twice"));
                    }
                    if nominal > 0.0 || stated == "ClusterQueue" {
                        queue.amounts.insert(key.clone(), nominal);
                    }
                    // Who lends all it has is not limited; a cohort lends what those in it have too.
                    let lends =
                        amount("lendingLimit")?.filter(|lends| *lends < nominal || stated == "Cohort");
                    queue.lends.extend(lends.map(|lends| (key.clone(), lends)));
                    queue.limits.extend(limit.map(|limit| (key, limit)));
                }
            }
            reading.add(&if stated == "Cohort" { format!("cohort {name}") } else { name }, queue)
        }
        (ConfigurationKind::Volcano, "Queue") if is_closed(object) => Ok(()),
        (ConfigurationKind::Volcano, "Queue") if api.starts_with("scheduling.volcano.sh") => {
            queue.parent = text(spec.get("parent"));
            queue.weight = number(reading, &format!("{place}: spec.weight"), spec.get("weight"))?;
            hierarchy(reading, &place, object, &mut queue)?;
            amounts(reading, &place, spec.get("deserved"), &mut queue.amounts)?;
            // What is guaranteed is deserved too, if more than is said to be.
            let guarantee = spec.get("guarantee").and_then(|guarantee| guarantee.get("resource"));
            amounts(reading, &format!("{place}: guarantee"), guarantee, &mut queue.reserves)?;
            for (key, amount) in &queue.reserves {
                let deserved = queue.amounts.entry(key.clone()).or_insert(*amount);
                *deserved = deserved.max(*amount);
            }
            queue.priority = number(reading, &format!("{place}: spec.priority"), spec.get("priority"))?;
            amounts(reading, &place, spec.get("capability"), &mut queue.limits)?;
            reading.add(&name, queue)
        }
        (ConfigurationKind::Kai, "Queue") if api.starts_with("scheduling.run.ai") => {
            queue.parent = text(spec.get("parentQueue"));
            queue.priority = number(reading, &format!("{place}: spec.priority"), spec.get("priority"))?;
            for (resource, stated) in spec.get("resources").and_then(Value::as_object).into_iter().flatten() {
                let of = |field: &str| match stated.get(field) {
                    None | Some(Value::Null) => Ok(None),
                    Some(value) => value.as_f64().map(Some).ok_or_else(|| {
                        let place = format!("{place}: {resource}.{field}");
                        reading.refused(&place, &value.to_string(), "must be a number")
                    }),
                };
                let factor = match resource.as_str() {
                    "cpu" => 1e-3,
                    "memory" => 1e6,
                    _ => 1.0,
                };
                let key = || (String::new(), resource.clone());
                // Below zero there is no end.
                let quota =
                    of("quota")?.map(|quota| if quota < 0.0 { f64::INFINITY } else { quota * factor });
                queue.amounts.extend(quota.map(|quota| (key(), quota)));
                let limit = of("limit")?.filter(|limit| *limit >= 0.0);
                queue.limits.extend(limit.map(|limit| (key(), limit * factor)));
                let weight = of("overQuotaWeight")?;
                queue.weights.extend(weight.map(|weight| (key(), weight)));
                queue.weight = weight.into_iter().chain(queue.weight).reduce(f64::max);
            }
            reading.add(&name, queue)
        }
        _ => Ok(()),
    }
}

/// Whether a queue of Volcano gives nothing out any more.
fn is_closed(object: &Value) -> bool {
    let state = object.get("status").and_then(|status| status.get("state")).and_then(Value::as_str);
    state.is_some_and(|state| ["Closed", "Closing"].contains(&state))
}

/// Where a queue of Volcano is in the hierarchy of its annotations, `root/eng/dev` with the weights `1/2/8`. Those above it have no
/// objects of their own, and are called as an export calls them, `root-eng`.
fn hierarchy(
    reading: &mut Reading<'_>,
    place: &str,
    object: &Value,
    queue: &mut DeployedQueue,
) -> Result<(), InstanceError> {
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let of = |key: &str| annotations.and_then(|annotations| annotations.get(key)).and_then(Value::as_str);
    let (Some(path), Some(stated)) = (of("volcano.sh/hierarchy"), of("volcano.sh/hierarchy-weights")) else {
        return Ok(());
    };
    let parts: Vec<&str> = path.split('/').collect();
    let weights: Vec<f64> = stated.split('/').filter_map(|weight| weight.parse().ok()).collect();
    if weights.len() != parts.len() {
        let problem = "must have a number for each part of the hierarchy";
        return Err(reading.refused(&format!("{place}: hierarchy-weights"), stated, problem));
    }
    let name = |depth: usize| if depth > 1 { parts[..depth].join("-") } else { String::new() };
    for depth in 2..parts.len() {
        let weight = Some(weights[depth - 1]);
        let above = || DeployedQueue { parent: name(depth - 1), weight, ..DeployedQueue::default() };
        reading.found.entry(name(depth)).or_insert_with(above);
    }
    queue.parent = name(parts.len() - 1);
    queue.weight = weights.last().copied();
    Ok(())
}
