//! Queues of Volcano, KAI and YuniKorn over the nodes of a Kubernetes cluster: their leaves become users.

use super::kubernetes::open_nodes;
use super::manifests::{Metadata, documents, nullable};
use super::quantity::{Quantity, Written};
use super::queues::{self, Queue};
use super::report::ImportReport;
use fairplan_instances::{Decimal, Instance, InstanceError, Violation};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// What [`kubernetes_queues`] reads.
#[derive(Clone, Debug, Default)]
pub struct KubernetesQueuesOptions {
    /// Files of nodes: JSON or YAML, gzipped or not.
    pub nodes: Vec<String>,
    /// Files of queues: objects of kind Queue of Volcano or KAI, or YuniKorn's partitions.
    pub queues: Vec<String>,
}

/// The name under which nodes have GPUs.
const GPU: &str = "nvidia.com/gpu";

/// The cluster with the leaf queues as users, over cpu (cores), memory (bytes) and, where nodes have any, GPUs.
///
/// Weights are Volcano's `weight` (or its hierarchy's weights), KAI's `overQuotaWeight`, and in YuniKorn, which weighs by
/// what is guaranteed, the part of the cluster that is. Limits are `capability`, `limit` and `max`. What is guaranteed
/// or deserved is no limit and counted as left out, except where it weighs.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, queue, field and value are named), a queue whose parent is
/// not there, files without a node or a queue.
pub fn kubernetes_queues(
    options: &KubernetesQueuesOptions,
) -> Result<(Instance, ImportReport), InstanceError> {
    let mut report = ImportReport::default();
    let nodes = open_nodes(&options.nodes, &mut report)?;
    let mut reading = Reading::default();
    for file in &options.queues {
        for document in documents(file)? {
            reading.document(file, &document, &mut report)?;
        }
    }
    let failed = |violation| InstanceError::Invalid { file: options.queues.join(", "), violation };
    if reading.found.is_empty() {
        let problem = "there is no queue of Volcano, KAI or YuniKorn here; `kubectl get queues -o json` makes such a file";
        return Err(failed(Violation::new("", "", problem)));
    }
    let mut resources = vec!["cpu", "memory"];
    if nodes.iter().any(|node| node.1.contains_key(GPU)) {
        resources.push(GPU);
    }
    let exact = |amount: Quantity| amount.decimal().unwrap_or(Decimal::ZERO);
    let servers: Vec<super::census::Server> = nodes
        .into_iter()
        .map(|(name, has)| super::census::Server {
            name,
            capacity: resources
                .iter()
                .map(|name| exact(has.get(*name).copied().unwrap_or_default()))
                .collect(),
            meets: Vec::new(),
        })
        .collect();
    let totals: Vec<f64> = (0..resources.len())
        .map(|r| servers.iter().map(|server| server.capacity[r].to_f64()).sum())
        .collect();
    let queues = reading.tree(&resources, &totals).map_err(failed)?;
    let name = format!("Kubernetes, {} nodes", servers.len());
    let names = resources.iter().map(|name| (*name).to_owned()).collect();
    Ok((queues::instance(name, names, &servers, &queues, &mut report).map_err(failed)?, report))
}

/// A queue as a file has it.
struct Found {
    name: String,
    parent: Option<String>,
    weight: Weight,
    limit: BTreeMap<String, Quantity>,
}

enum Weight {
    Stated(f64),
    /// Its part of the cluster.
    Guaranteed(BTreeMap<String, Quantity>),
}

#[derive(Default)]
struct Reading {
    found: Vec<Found>,
}

#[derive(Deserialize)]
struct Object<S> {
    metadata: Metadata,
    spec: S,
}

#[derive(Deserialize)]
struct VolcanoSpec {
    #[serde(default)]
    weight: Option<f64>,
    #[serde(default, deserialize_with = "nullable")]
    parent: String,
    #[serde(default, deserialize_with = "nullable")]
    capability: BTreeMap<String, Written>,
    #[serde(default, deserialize_with = "nullable")]
    guarantee: Value,
    #[serde(default, deserialize_with = "nullable")]
    deserved: Value,
}

#[derive(Deserialize)]
struct KaiSpec {
    #[serde(rename = "parentQueue", default, deserialize_with = "nullable")]
    parent: String,
    #[serde(default, deserialize_with = "nullable")]
    resources: BTreeMap<String, KaiResource>,
}

#[derive(Deserialize)]
struct KaiResource {
    #[serde(default)]
    quota: f64,
    #[serde(default)]
    limit: Option<f64>,
    #[serde(rename = "overQuotaWeight", default)]
    weight: Option<f64>,
}

#[derive(Deserialize)]
struct Partition {
    #[serde(default)]
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
}

#[derive(Deserialize)]
struct YuniKornQueue {
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    resources: YuniKornResources,
    #[serde(default, deserialize_with = "nullable")]
    queues: Vec<YuniKornQueue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct YuniKornResources {
    #[serde(deserialize_with = "nullable")]
    guaranteed: BTreeMap<String, Written>,
    #[serde(deserialize_with = "nullable")]
    max: BTreeMap<String, Written>,
}

impl Reading {
    fn document(
        &mut self,
        file: &str,
        document: &Value,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        if let Some(Value::Array(partitions)) = document.get("partitions") {
            for (position, partition) in partitions.iter().enumerate() {
                let Partition { name, queues } = read(file, &format!("partitions[{position}]"), partition)?;
                if position > 0 {
                    report.one("partitions left out: they have nodes of their own");
                    continue;
                }
                queues.iter().try_for_each(|queue| self.yunikorn(file, &name, None, queue))?;
            }
            return Ok(());
        }
        if let Some(Value::Array(items)) = document.get("items") {
            return items.iter().try_for_each(|item| self.document(file, item, report));
        }
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = document.get("metadata").and_then(|data| data.get("name")).and_then(Value::as_str);
        let place = format!("Queue {}", name.unwrap_or("without a name"));
        match (text("kind"), text("apiVersion").split('/').next().unwrap_or_default()) {
            ("Queue", "scheduling.volcano.sh") => {
                self.volcano(file, &place, read(file, &place, document)?, report)
            }
            ("Queue", "scheduling.run.ai") => {
                self.kai(read(file, &place, document)?, report);
                Ok(())
            }
            (kind, _) => {
                report.one(format!("objects of kind {kind} left out"));
                Ok(())
            }
        }
    }

    fn volcano(
        &mut self,
        file: &str,
        place: &str,
        Object { metadata, spec }: Object<VolcanoSpec>,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        if !spec.guarantee.is_null() || !spec.deserved.is_null() {
            report.one("queues guarantee or deserve something, which an instance cannot state");
        }
        let limit = quantities(file, place, "spec.capability", &spec.capability)?;
        let annotation = |key: &str| metadata.annotations.get(key).map(String::as_str);
        let (mut parent, mut weight) =
            (Some(spec.parent).filter(|parent| !parent.is_empty()), spec.weight.unwrap_or(1.0));
        if let (Some(path), Some(weights)) =
            (annotation("volcano.sh/hierarchy"), annotation("volcano.sh/hierarchy-weights"))
        {
            let refused = || {
                self::refused(
                    file,
                    &format!("{place}: hierarchy-weights"),
                    weights,
                    "must have a number for each part of the hierarchy",
                )
            };
            let numbers: Option<Vec<f64>> = weights.split('/').map(|weight| weight.parse().ok()).collect();
            let parts: Vec<&str> = path.split('/').collect();
            let numbers = numbers.filter(|numbers| numbers.len() == parts.len()).ok_or_else(refused)?;
            // The queue itself is the last part; those above it have no object of their own.
            for depth in 1..parts.len() {
                let above = (depth > 1).then(|| parts[..depth - 1].join("/"));
                let name = parts[..depth].join("/");
                if !self.found.iter().any(|queue| queue.name == name) {
                    let weight = Weight::Stated(numbers[depth - 1]);
                    self.found.push(Found { name, parent: above, weight, limit: BTreeMap::new() });
                }
            }
            parent = (parts.len() > 1).then(|| parts[..parts.len() - 1].join("/"));
            weight = numbers[numbers.len() - 1];
        }
        self.found.push(Found { name: metadata.name, parent, weight: Weight::Stated(weight), limit });
        Ok(())
    }

    /// KAI counts cpu in thousandths and memory in millions of bytes; -1 is no limit.
    fn kai(&mut self, Object { metadata, spec }: Object<KaiSpec>, report: &mut ImportReport) {
        let mut limit = BTreeMap::new();
        let mut weight: Option<f64> = None;
        for (name, resource) in spec.resources {
            let (name, factor) = match name.as_str() {
                "cpu" => ("cpu", 1e-3),
                "memory" => ("memory", 1e6),
                "gpu" => (GPU, 1.0),
                _ => continue,
            };
            if resource.quota > 0.0 {
                report.one("quotas are guaranteed, which an instance cannot state");
            }
            if let Some(most) = resource.limit.filter(|limit| *limit >= 0.0)
                && let Ok(most) = Quantity::parse(&format!("{:.9}", most * factor))
            {
                limit.insert(name.to_owned(), most);
            }
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
        });
    }

    fn yunikorn(
        &mut self,
        file: &str,
        partition: &str,
        parent: Option<&str>,
        queue: &YuniKornQueue,
    ) -> Result<(), InstanceError> {
        let name = parent.map_or_else(|| queue.name.clone(), |parent| format!("{parent}.{}", queue.name));
        let place = format!("partition {partition}, queue {name}");
        let renamed = |amounts: BTreeMap<String, Quantity>| -> BTreeMap<String, Quantity> {
            amounts
                .into_iter()
                .map(|(name, amount)| (if name == "vcore" { "cpu".into() } else { name }, amount))
                .collect()
        };
        let guaranteed =
            renamed(quantities(file, &place, "resources.guaranteed", &queue.resources.guaranteed)?);
        let limit = renamed(quantities(file, &place, "resources.max", &queue.resources.max)?);
        let weight = if guaranteed.is_empty() { Weight::Stated(1.0) } else { Weight::Guaranteed(guaranteed) };
        self.found.push(Found { name: name.clone(), parent: parent.map(str::to_owned), weight, limit });
        queue.queues.iter().try_for_each(|child| self.yunikorn(file, partition, Some(&name), child))
    }

    /// The queues with parents before their children.
    fn tree(&self, resources: &[&str], totals: &[f64]) -> Result<Vec<Queue>, Violation> {
        let mut order: Vec<&Found> = Vec::new();
        while order.len() < self.found.len() {
            let placed = |name: &str| order.iter().any(|queue| queue.name == name);
            let next = self
                .found
                .iter()
                .filter(|queue| !placed(&queue.name))
                .find(|queue| queue.parent.as_deref().is_none_or(placed));
            match next {
                Some(next) => order.push(next),
                None => {
                    let lost = self.found.iter().find(|queue| !placed(&queue.name));
                    let (name, parent) = lost
                        .map_or(("", ""), |queue| (&queue.name, queue.parent.as_deref().unwrap_or_default()));
                    let problem = if lost.is_some() {
                        "is not among the queues, or is below itself"
                    } else {
                        "a queue is named twice"
                    };
                    return Err(Violation::new(format!("queue {name}: parent"), parent, problem));
                }
            }
        }
        let position = |name: &str| order.iter().position(|queue| queue.name == name);
        let part = |(r, total): (usize, &f64), amounts: &BTreeMap<String, Quantity>| {
            amounts
                .get(resources[r])
                .and_then(|amount| amount.decimal())
                .map_or(0.0, |amount| amount.to_f64() / total)
        };
        let queue = |found: &&Found| Queue {
            name: found.name.clone(),
            parent: found.parent.as_deref().and_then(position),
            weight: match &found.weight {
                Weight::Stated(weight) => *weight,
                Weight::Guaranteed(amounts) => {
                    totals.iter().enumerate().map(|total| part(total, amounts)).fold(0.0, f64::max)
                }
            },
            limit: resources
                .iter()
                .map(|name| found.limit.get(*name).and_then(|amount| amount.decimal()))
                .collect(),
        };
        Ok(order.iter().map(queue).collect())
    }
}

fn read<T: DeserializeOwned>(file: &str, place: &str, value: &Value) -> Result<T, InstanceError> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| refused(file, &format!("{place}: {}", error.path()), "", &error.inner().to_string()))
}

fn quantities(
    file: &str,
    place: &str,
    field: &str,
    written: &BTreeMap<String, Written>,
) -> Result<BTreeMap<String, Quantity>, InstanceError> {
    let read = |(name, Written(text)): (&String, &Written)| {
        let amount = Quantity::parse(text)
            .map_err(|problem| refused(file, &format!("{place}: {field}.{name}"), text, problem))?;
        Ok((name.clone(), amount))
    };
    written.iter().map(read).collect()
}

fn refused(file: &str, place: &str, value: &str, problem: &str) -> InstanceError {
    InstanceError::Invalid { file: file.into(), violation: Violation::new(place, value, problem) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_files::real_file;

    fn shipped(name: &str) -> String {
        format!("{}/data/kubernetes/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    fn users(queues: Vec<String>) -> Result<(Vec<String>, ImportReport), String> {
        let options = KubernetesQueuesOptions { nodes: vec![shipped("nodes.json")], queues };
        let (instance, report) = kubernetes_queues(&options).map_err(|error| error.to_string())?;
        let most = |tasks: Option<u64>| tasks.map_or("any".to_owned(), |tasks| tasks.to_string());
        let user = |user: fairplan_instances::User<'_>| {
            format!("{} weight {} x{}", user.id(), user.weight(), most(user.tasks()))
        };
        Ok((instance.users().map(user).collect(), report))
    }

    /// The cluster has 75.76 cores, of which 37.88 are half, and 8 GPUs.
    #[test]
    fn each_schedulers_weights_and_limits_are_read() {
        let (found, report) = users(vec![shipped("volcano.yaml")]).unwrap();
        assert_eq!(
            found,
            [
                "engineering-production weight 0.2 xany",
                "engineering-development weight 0.05 xany",
                "science weight 0.75 x500"
            ]
        );
        assert_eq!(report.count("queues guarantee or deserve something, which an instance cannot state"), 1);
        let (found, report) = users(vec![shipped("kai.yaml")]).unwrap();
        assert_eq!(found, ["team-a weight 0.75 x250", "team-b weight 0.25 x500"]);
        assert_eq!(report.count("quotas are guaranteed, which an instance cannot state"), 1);
        let (found, report) = users(vec![shipped("yunikorn.yaml")]).unwrap();
        assert_eq!(found, ["root.search weight 0.666666666667 x500", "root.ads weight 0.333333333333 xany"]);
        assert_eq!(report.count("partitions left out: they have nodes of their own"), 1);
    }

    #[test]
    fn each_defect_is_named_with_file_queue_field_and_value() {
        let folder = tempfile::tempdir().unwrap();
        for (file, from, to, told) in [
            ("volcano.yaml", "\"37.88\"", "lots", "Queue science: spec.capability.cpu = lots"),
            ("volcano.yaml", "1/2/8", "1/8", "Queue engineering-production: hierarchy-weights = 1/8"),
            (
                "volcano.yaml",
                "spec: {weight: 1}",
                "spec: {weight: one}",
                "Queue engineering-production: spec.weight",
            ),
            ("kai.yaml", "parentQueue: training}", "parentQueue: nobody}", "queue team-b: parent = nobody"),
            ("kai.yaml", "limit: 2}", "limit: two}", "Queue team-a: spec.resources.gpu.limit"),
            (
                "yunikorn.yaml",
                "vcore: 18.94",
                "vcore: x",
                "partition default, queue root.ads: resources.guaranteed.vcore = x",
            ),
            ("yunikorn.yaml", "partitions:", "parts:", "there is no queue of Volcano, KAI or YuniKorn here"),
        ] {
            let text = std::fs::read_to_string(shipped(file)).unwrap();
            assert!(text.contains(from), "{from}");
            let path = folder.path().join(file).to_str().unwrap().to_owned();
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = users(vec![path]).unwrap_err();
            assert!(error.contains(file) && error.contains(told), "{to}: {error}");
        }
    }

    #[test]
    fn real_queues_are_read() {
        for (path, leaves) in [
            ("queues/volcano/example_hierarchical-jobs_queues.yaml", 4),
            ("queues/volcano/benchmark_testcases_gang_config_queue.yaml", 1),
            ("queues/volcano/example_deployment_queue.yaml", 1),
            ("queues/kai/queues.yaml", 2),
            ("queues/kai/default-queues.yaml", 1),
            ("queues/yunikorn/queues.yaml", 3),
            ("queues/yunikorn/limit.yaml", 2),
        ] {
            let Some(file) = real_file(path) else { return };
            assert_eq!(users(vec![file]).unwrap().0.len(), leaves, "{path}");
        }
    }
}
