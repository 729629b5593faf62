//! Queues of Volcano, KAI and YuniKorn over the nodes of a Kubernetes cluster: their leaves become users.

use super::census::Memory;
use super::kubernetes::open_nodes;
use super::manifests::{Metadata, documents, nullable};
use super::queues::{self, Queue};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use fairplan_instances::quantity::{Quantity, Written};
use fairplan_instances::{Decimal, Instance, InstanceError, Violation};
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
    let name = format!("Kubernetes, {} nodes", servers.len());
    let names = resources.iter().map(|name| (*name).to_owned()).collect();
    queues::instance(name, names, Memory::Bytes, &servers, &queues, report)
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

#[derive(Deserialize)]
struct VolcanoSpec {
    #[serde(default)]
    weight: Option<f64>,
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
struct VolcanoGuarantee {
    #[serde(default, deserialize_with = "nullable")]
    resource: BTreeMap<String, Written>,
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
        let mut given = quantities(file, place, "spec.deserved", &spec.deserved)?;
        given.extend(quantities(file, place, "spec.guarantee.resource", &spec.guarantee.resource)?);
        if !given.is_empty() {
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
                    let (limit, given) = (BTreeMap::new(), BTreeMap::new());
                    self.found.push(Found { name, parent: above, weight, limit, given });
                }
            }
            parent = (parts.len() > 1).then(|| parts[..parts.len() - 1].join("/"));
            weight = numbers[numbers.len() - 1];
        }
        let weight = Weight::Stated(weight);
        self.found.push(Found { name: metadata.name, parent, weight, limit, given });
        Ok(())
    }

    /// KAI counts cpu in thousandths and memory in millions of bytes; -1 is no limit.
    fn kai(&mut self, Object { metadata, spec }: Object<KaiSpec>, report: &mut ImportReport) {
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
        let given = guaranteed.clone();
        let weight = if guaranteed.is_empty() { Weight::Stated(1.0) } else { Weight::Guaranteed(guaranteed) };
        self.found.push(Found {
            name: name.clone(),
            parent: parent.map(str::to_owned),
            weight,
            limit,
            given,
        });
        queue.queues.iter().try_for_each(|child| self.yunikorn(file, partition, Some(&name), child))
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

    /// A cluster of 400 servers of 64 cores and 256 GiB, of which 40 have 8 GPUs.
    fn large_cluster(folder: &std::path::Path) -> String {
        let node = |at: usize| {
            let gpus = if at < 40 { ", nvidia.com/gpu: 8" } else { "" };
            format!(
                "kind: Node\nmetadata: {{name: n{at}}}\nstatus: {{allocatable: {{cpu: 64, memory: 256Gi, pods: 110{gpus}}}}}\n---\n"
            )
        };
        let path = folder.join("large.yaml");
        std::fs::write(&path, (0..400).map(node).collect::<String>()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn tasks_fit_the_servers_and_small_limits_do_not_vanish() {
        let folder = tempfile::tempdir().unwrap();
        let queue = |name: &str, spec: &str| {
            format!(
                "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
            )
        };
        let text = queue("root", "weight: 1")
            + &queue("any", "weight: 1")
            + &queue("small", "capability: {cpu: 10, pods: 20}")
            + &queue("training", "parent: root, capability: {nvidia.com/gpu: 4, example.com/fpga: 1}");
        let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        let options =
            KubernetesQueuesOptions { nodes: vec![large_cluster(folder.path())], queues: vec![path] };
        let (instance, report) = kubernetes_queues(&options).unwrap();
        assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
        let users: Vec<String> = instance
            .users()
            .map(|user| {
                format!("{} {} {} x{:?}", user.id(), user.demand()[0], user.demand()[2], user.tasks())
            })
            .collect();
        // 25,600 cores in 5,000 parts, in 500,000; 320 GPUs in 10,000.
        assert_eq!(
            users,
            ["any 5.12 0 xNone", "small 0.0512 0 xSome(195)", "training 0.256 0.032 xSome(125)"]
        );
        for user in instance.users() {
            let holds = instance.classes().iter().filter(|class| {
                class
                    .capacity
                    .iter()
                    .zip(user.demand())
                    .all(|(has, asks)| has.to_f64() >= 10.0 * asks.to_f64())
            });
            let servers: u64 = holds.map(|class| class.count).sum();
            assert_eq!(servers, if user.id() == "training" { 40 } else { 400 }, "{}", user.id());
        }
        for (count, what) in [
            (1, "amounts of pods left out, which no task is measured in"),
            (1, "amounts of example.com/fpga left out, which no task is measured in"),
            (3, "queues at the leaves"),
        ] {
            assert_eq!(report.count(what), count, "{what}\n{report}");
        }
    }

    #[test]
    fn a_tree_of_many_queues_is_read_quickly_and_a_circle_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let queue = |name: &str, parent: &str| {
            format!(
                "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{parent: {parent}}}\n---\n"
            )
        };
        let write = |text: String| {
            let path = folder.path().join("many.yaml").to_str().unwrap().to_owned();
            std::fs::write(&path, text).unwrap();
            vec![path]
        };
        // Children before their parents.
        let many: String = (0..3000)
            .rev()
            .map(|at| {
                queue(&format!("q{at}"), &if at == 0 { "root".into() } else { format!("q{}", (at - 1) / 50) })
            })
            .collect();
        let (found, _) = users(write(many)).unwrap();
        assert_eq!(found.len(), 3000 - 3000 / 50);
        let error = users(write(queue("a", "b") + &queue("b", "a"))).unwrap_err();
        assert!(
            error.contains("queue a: parent = b: is not among the queues, or is below itself"),
            "{error}"
        );
        let error = users(write(queue("a", "root") + &queue("a", "root"))).unwrap_err();
        assert!(error.contains("queue = a: is named twice"), "{error}");
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
