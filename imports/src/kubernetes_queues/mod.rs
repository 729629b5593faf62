//! Queues of Volcano, KAI and YuniKorn over the nodes of a Kubernetes cluster: their leaves become users.

mod kai;
mod volcano;
mod yunikorn;

use super::census::Memory;
use super::kubernetes::open_nodes;
use super::manifests::{Metadata, documents};
use super::queues::{self, Cluster, Queue};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use fairplan_instances::quantity::{Quantity, Written};
use fairplan_instances::{Decimal, Instance, InstanceError, Violation, wording};
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What [`kubernetes_queues`] reads.
#[derive(Clone, Debug, Default)]
pub struct KubernetesQueuesOptions {
    /// Files of nodes: JSON or YAML, gzipped or not.
    pub nodes: Vec<String>,
    /// Files of queues: objects of kind Queue of Volcano or KAI, or YuniKorn's partitions.
    pub queues: Vec<String>,
    /// Whether the queues above the leaves become groups; else weights are multiplied down the tree.
    pub tree: bool,
}

/// The name under which nodes mostly have GPUs.
const GPU: &str = "nvidia.com/gpu";

/// The cluster with the leaf queues as users, over cpu (cores), memory (bytes), GPUs where nodes have any, and what else
/// nodes have that a queue is given amounts of.
///
/// Weights are Volcano's `weight` (or its hierarchy's weights), KAI's `overQuotaWeight`, and in YuniKorn, which weighs by
/// what is guaranteed, the part of the cluster that is. Limits are `capability`, `limit` and `max`. What is guaranteed
/// or deserved is no limit and counted as left out, except where it weighs. A task is a part of the servers that have what
/// it asks for: cpu and memory, and GPUs if nearly all servers have some or its queue is given some. The part is a
/// thousandth or less, such that nine of ten servers hold ten tasks and a limit a hundred.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, queue, field and value are named), a queue whose parent is
/// not there, files without a node or a queue.
pub fn kubernetes_queues(
    options: &KubernetesQueuesOptions,
) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read_all(options, report))
}

fn read_all(options: &KubernetesQueuesOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let nodes = open_nodes(&options.nodes, report)?;
    let offered: BTreeSet<&str> = nodes.iter().flat_map(|node| node.1.keys()).map(String::as_str).collect();
    let gpu = offered.iter().find(|name| name.ends_with("/gpu")).copied().unwrap_or(GPU);
    let mut reading = Reading { found: Vec::new(), gpu: gpu.to_owned() };
    for file in &options.queues {
        for document in documents(file)? {
            reading.document(file, &document, report)?;
        }
    }
    let failed = |violation| InstanceError::Invalid { file: options.queues.join(", "), violation };
    if reading.found.is_empty() {
        let problem = "there is no queue of Volcano, KAI or YuniKorn here; `kubectl get queues -o json` makes such a file";
        return Err(failed(Violation::new("", "", problem)).into());
    }
    let resources = reading.resources(&offered, report);
    let exact = |amount: Quantity| amount.decimal().unwrap_or(Decimal::ZERO);
    let server = |(name, has): &(String, BTreeMap<String, Quantity>)| super::census::Server {
        name: name.clone(),
        capacity: resources.iter().map(|name| exact(has.get(*name).copied().unwrap_or_default())).collect(),
        ..Default::default()
    };
    let servers: Vec<super::census::Server> = nodes.iter().map(server).collect();
    let totals: Vec<f64> = (0..resources.len())
        .map(|r| servers.iter().map(|server| server.capacity[r].to_f64()).sum())
        .collect();
    let queues = reading.tree(&resources, &totals).map_err(failed)?;
    let name = format!("Kubernetes, {}", wording::counted(servers.len() as u64, "node", "nodes"));
    let resources = resources.iter().map(|name| (*name).to_owned()).collect();
    let cluster = Cluster { name, resources, memory: Memory::Bytes, servers: &servers };
    queues::instance(cluster, &queues, options.tree, report)
        .map_err(|violation| Stopped::Building(failed(violation)))
}

/// A queue as a file has it.
struct Found {
    name: String,
    parent: Option<String>,
    weight: Weight,
    limit: BTreeMap<String, Quantity>,
    /// What it is given beside limits: quotas, guarantees, what it deserves.
    given: BTreeMap<String, Quantity>,
}

enum Weight {
    Stated(f64),
    /// Its part of the cluster.
    Guaranteed(BTreeMap<String, Quantity>),
}

struct Reading {
    found: Vec<Found>,
    /// The name under which these nodes have GPUs.
    gpu: String,
}

#[derive(Deserialize)]
struct Object<S> {
    metadata: Metadata,
    spec: S,
}

impl Reading {
    fn document(
        &mut self,
        file: &str,
        document: &Value,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        if let Some(Value::Array(partitions)) = document.get("partitions") {
            return self.partitions(file, partitions, report);
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

    /// The resources of the instance: cpu, memory, GPUs, and what else nodes offer and a queue is given amounts of.
    fn resources<'a>(&'a self, offered: &BTreeSet<&'a str>, report: &mut ImportReport) -> Vec<&'a str> {
        let mut resources = vec!["cpu", "memory"];
        if offered.contains(self.gpu.as_str()) {
            resources.push(&self.gpu);
        }
        let stated = |queue: &'a Found| queue.limit.iter().chain(&queue.given);
        for (name, amount) in self.found.iter().flat_map(stated) {
            // How many cpus a pod stands for is not known.
            if name == "pods" || !offered.contains(name.as_str()) {
                if !amount.is_zero() && !resources.contains(&name.as_str()) {
                    report.one(format!("amounts of {name} left out, which no task is measured in"));
                }
            } else if !resources.contains(&name.as_str()) {
                resources.push(name);
            }
        }
        resources
    }

    /// The queues in the order of their files.
    fn tree(&self, resources: &[&str], totals: &[f64]) -> Result<Vec<Queue>, Violation> {
        let mut position: HashMap<&str, usize> = HashMap::new();
        for (at, queue) in self.found.iter().enumerate() {
            if position.insert(&queue.name, at).is_some() {
                return Err(Violation::new("queue", &queue.name, "is named twice"));
            }
        }
        let lost = |queue: &Found| {
            let parent = queue.parent.as_deref().unwrap_or_default();
            let problem = "is not among the queues, or is below itself";
            Violation::new(format!("queue {}: parent", queue.name), parent, problem)
        };
        // Volcano and YuniKorn have all queues below root, which the file need not list.
        let parent = |queue: &Found| match queue.parent.as_deref() {
            None if queue.name == "root" => Ok(None),
            None => Ok(position.get("root").copied()),
            Some("root") => Ok(position.get("root").copied()),
            Some(name) => position.get(name).copied().map(Some).ok_or_else(|| lost(queue)),
        };
        let parents: Vec<Option<usize>> = self.found.iter().map(parent).collect::<Result<_, _>>()?;
        // Each way up ends at the top, or at a queue from which an earlier one did.
        let mut ends = vec![false; parents.len()];
        for start in 0..parents.len() {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(queue) = at.filter(|queue| !ends[*queue]) {
                if way.len() == parents.len() {
                    return Err(lost(&self.found[start]));
                }
                way.push(queue);
                at = parents[queue];
            }
            way.into_iter().for_each(|queue| ends[queue] = true);
        }
        let part = |(r, total): (usize, &f64), amounts: &BTreeMap<String, Quantity>| {
            amounts
                .get(resources[r])
                .and_then(|amount| amount.decimal())
                .map_or(0.0, |amount| amount.to_f64() / total)
        };
        let queue = |(found, parent): (&Found, &Option<usize>)| Queue {
            name: found.name.clone(),
            parent: *parent,
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
            given: (0..resources.len())
                .filter(|&r| {
                    let of = [&found.limit, &found.given].map(|amounts| amounts.get(resources[r]));
                    of.into_iter().flatten().any(|amount| !amount.is_zero())
                })
                .collect(),
        };
        Ok(self.found.iter().zip(&parents).map(queue).collect())
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
mod tests;
