//! Queues of Volcano, KAI and YuniKorn over the nodes of a Kubernetes cluster: the tree becomes groups, its leaves users.

mod found;
mod kai;
mod measured;
mod taints;
mod volcano;
mod yunikorn;

pub(super) use yunikorn::partitions as yunikorn_partitions;

use super::kubernetes::{Node, nodes_that_count};
use super::manifests::{self, documents};
use super::misspelt;
use super::queues::{self, Cluster, NOBODY, Part, Queue, STOPPED};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, Instance, InstanceError, ResourceKind, Violation, wording};
use found::{Amounts, Found, Reading, Scheduler, Weight, read, stated};
use hashbrown::HashMap;
use measured::Measure;
use serde_json::Value;
use std::collections::BTreeSet;

/// What [`kubernetes_queues`] reads.
#[derive(Clone, Debug, Default)]
pub struct KubernetesQueuesOptions {
    /// Files of nodes: JSON or YAML, gzipped or not.
    pub nodes: Vec<String>,
    /// Files of queues: objects of kind Queue of Volcano or KAI, or YuniKorn's partitions.
    pub queues: Vec<String>,
}

/// What prints files of queues.
const COMMAND: &str =
    "kubectl get queues -o json` or, of YuniKorn, `kubectl get configmap yunikorn-configs -o yaml";

/// The name under which nodes mostly have GPUs.
const GPU: &str = "nvidia.com/gpu";

/// The cluster with its queues, over cpu (cores), memory (bytes), GPUs where nodes have any, and what else nodes have that a
/// queue is given amounts of.
///
/// Nodes whose taints keep all tasks away are left out. The queues above the leaves are groups, the leaves users, each with its own weight: Volcano's `weight` (or its hierarchy's
/// weights), KAI's `overQuotaWeight`, and in YuniKorn the part of the cluster that it measures a queue against.
/// Guarantees are what Volcano's queues deserve, KAI's `quota` and YuniKorn's `guaranteed`; limits are `capability`, `limit`
/// and `max`; what Volcano's queues have guaranteed is reserved for them too. A task is one GPU, or one core, with its part of
/// the rest, or less, so that every node holds one that has what it asks for: cpu and memory, and GPUs if nearly all nodes have
/// some or its queue is given some. What a queue is given 0 of, beside more of others, its tasks do not ask for: so much is it sure of.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, queue, field and value are named), a queue whose parent is
/// not there, queues of several schedulers, files without a node or a queue.
pub fn kubernetes_queues(
    options: &KubernetesQueuesOptions,
) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read_all(options, report))
}

fn read_all(options: &KubernetesQueuesOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let nodes = nodes_that_count(&options.nodes, taints::is_open, report)?;
    let offered: BTreeSet<&str> =
        nodes.iter().flat_map(|node| node.allocatable.keys()).map(String::as_str).collect();
    let gpu = offered.iter().find(|name| ResourceKind::of(name) == ResourceKind::Gpu).copied().unwrap_or(GPU);
    let mut reading =
        Reading { found: Vec::new(), volcano: HashMap::new(), gpu: gpu.to_owned(), scheduler: None };
    // What else stands in the files of queues is told apart from what stands in those of nodes.
    let mut of_queues = ImportReport::default();
    for file in &options.queues {
        for document in documents(file, COMMAND)? {
            reading.document(file, &document, &mut of_queues)?;
        }
    }
    reading.leave_out_stopped(&mut of_queues);
    let others = manifests::instead(&of_queues);
    report.join(of_queues);
    let failed = |violation| InstanceError::Invalid { file: options.queues.join(", "), violation };
    if reading.found.is_empty() && report.count(STOPPED) > 0 {
        return Err(Stopped::Building(failed(Violation::new("", "", NOBODY))));
    }
    if reading.found.is_empty() {
        let problem = format!(
            "there is no queue of Volcano, KAI or YuniKorn here{others}; `{COMMAND}` makes such a file"
        );
        return Err(Stopped::Reading(failed(Violation::new("", "", problem))));
    }
    let resources = reading.resources(&offered, report);
    nodes.iter().for_each(|node| node.tell_of_unasked(&resources, "queue", report));
    let exact = |amount: Quantity| amount.decimal().unwrap_or(Decimal::ZERO);
    let server = |node: &Node| Server {
        name: node.name.clone(),
        kind: node.gpu_model().to_owned(),
        capacity: resources
            .iter()
            .map(|name| exact(node.allocatable.get(*name).copied().unwrap_or_default()))
            .collect(),
        meets: vec![taints::is_for_some(node, &resources)],
        needs: taints::needs(node, &resources),
        ..Server::default()
    };
    taints::tell_of_devices(&nodes, &resources, report);
    let servers: Vec<Server> = nodes.iter().map(server).collect();
    let queues = reading.tree(&resources, &servers).map_err(failed)?;
    let name = format!("Kubernetes, {}", wording::counted(servers.len() as u64, "node", "nodes"));
    let resources = resources.iter().map(|name| (*name).to_owned()).collect();
    let root = reading.has_root().then_some("root");
    let places = queues::one_place();
    let cluster = Cluster {
        name,
        resources,
        memory: Memory::Bytes,
        servers: &servers,
        places,
        root,
        are_limits_parts: true,
    };
    let instance = queues::instance(cluster, &queues, report)
        .map_err(|violation| Stopped::Building(failed(violation)))?;
    reading.tell_of_idle_gpus(&instance, report);
    Ok(instance)
}

impl Reading {
    /// Says which queues ask for no GPUs though nodes have some: a `quota` of 0 lets a queue of KAI have GPUs that are free, but does not
    /// say that its tasks want any. A limit of 0 lets it have none.
    fn tell_of_idle_gpus(&self, instance: &Instance, report: &mut ImportReport) {
        let gpu = &self.gpu;
        let Some(r) = instance.resources().iter().position(|name| name == gpu) else { return };
        if instance.classes().iter().all(|class| class.capacity[r].is_zero()) {
            return;
        }
        let asks = |user: &fairplan_instances::User<'_>| !user.demand()[r].is_zero();
        // A queue with tasks of both kinds is a group, whose first user asks for GPUs.
        let without = instance.users().filter(|user| !asks(user) && !user.is_part_of_queue());
        let idle = if instance.users().any(|user| asks(&user)) { "" } else { ": all of it stays idle" };
        let advice = match self.scheduler {
            Some(Scheduler::Kai) => {
                " (in KAI a queue may go over a quota of 0; a quota of 1 says that its tasks want GPUs)"
            }
            _ => "",
        };
        let barred = self.barred_from(gpu);
        for user in without {
            report.one(match barred.contains(user.id()) {
                true => format!("queues have a limit of 0 {gpu}, so their tasks ask for none{idle}"),
                false => format!("queues are given no {gpu}, so their tasks ask for none{idle}{advice}"),
            });
        }
    }

    /// The queues of which the limit of a resource is 0, their own or that of one above.
    fn barred_from(&self, resource: &str) -> BTreeSet<&str> {
        let by_name: HashMap<&str, &Found> =
            self.found.iter().map(|queue| (queue.name.as_str(), queue)).collect();
        let has_root = self.has_root();
        let above = |queue: &&Found| queue.above(has_root).and_then(|name| by_name.get(name)).copied();
        let is_barred = |queue: &Found| queue.limit.get(resource).is_some_and(|most| most.is_zero());
        let barred =
            self.found.iter().filter(|queue| std::iter::successors(Some(*queue), above).any(is_barred));
        barred.map(|queue| queue.name.as_str()).collect()
    }

    fn document(
        &mut self,
        file: &str,
        document: &Value,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        if let Some(Value::Array(items)) = document.get("items") {
            return items.iter().try_for_each(|item| self.document(file, item, report));
        }
        let partitions = yunikorn_partitions(file, document)?;
        if !partitions.is_empty() {
            self.is_of(Scheduler::YuniKorn, file, "partitions")?;
            return self.partitions(file, &partitions, report);
        }
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = document.get("metadata").and_then(|data| data.get("name")).and_then(Value::as_str);
        let place = format!("Queue {}", name.unwrap_or("without a name"));
        let spec = document.get("spec").unwrap_or(&Value::Null);
        match (text("kind"), text("apiVersion").split('/').next().unwrap_or_default()) {
            ("Queue", "scheduling.volcano.sh") => {
                self.is_of(Scheduler::Volcano, file, &place)?;
                misspelt::fields(&place, spec, volcano::KNOWN, report);
                self.volcano(file, &place, read(file, &place, document)?, report)
            }
            ("Queue", "scheduling.run.ai") => {
                self.is_of(Scheduler::Kai, file, &place)?;
                kai::tell_of_unknown(&place, spec, report);
                self.kai(file, &place, read(file, &place, document)?, report)
            }
            (kind, _) => {
                report.one(match kind {
                    "" => "objects without a kind left out".to_owned(),
                    kind => format!("objects of kind {kind} left out"),
                });
                Ok(())
            }
        }
    }

    /// Leaves out what is stopped, and all below it.
    fn leave_out_stopped(&mut self, report: &mut ImportReport) {
        let mut out: BTreeSet<String> = BTreeSet::new();
        let has_root = self.has_root();
        loop {
            let is_out =
                |queue: &Found| queue.is_stopped || queue.above(has_root).is_some_and(|up| out.contains(up));
            let (left, stopped): (Vec<Found>, Vec<Found>) =
                std::mem::take(&mut self.found).into_iter().partition(|queue| !is_out(queue));
            self.found = left;
            if stopped.is_empty() {
                return;
            }
            stopped.iter().for_each(|queue| report.named(STOPPED, &queue.name));
            let above: BTreeSet<&str> = stopped.iter().filter_map(|queue| queue.above(has_root)).collect();
            for queue in self.found.iter_mut().filter(|queue| above.contains(queue.name.as_str())) {
                queue.is_above = true;
            }
            out.extend(stopped.into_iter().map(|queue| queue.name));
        }
    }

    /// The resources of the instance: cpu, memory, GPUs, and what else nodes offer and a queue is given amounts of.
    fn resources<'a>(&'a self, offered: &BTreeSet<&'a str>, report: &mut ImportReport) -> Vec<&'a str> {
        let mut resources = vec!["cpu", "memory"];
        if offered.contains(self.gpu.as_str()) {
            resources.push(&self.gpu);
        }
        let stated = |queue: &'a Found| queue.limit.iter().chain(&queue.guarantee).chain(&queue.reserve);
        // YuniKorn counts cpu as vcore.
        let is_yunikorn = self.scheduler == Some(Scheduler::YuniKorn);
        let own = |name: &&'a str| if is_yunikorn && *name == "cpu" { "vcore" } else { *name };
        let mut known: Vec<&str> = offered.iter().map(own).collect();
        known.extend(["memory", "pods"].into_iter().filter(|name| !offered.contains(name)));
        for (name, amount) in self.found.iter().flat_map(stated) {
            // How many cpus a pod stands for is not known.
            if name == "pods" || !offered.contains(name.as_str()) {
                if !amount.is_zero() && !resources.contains(&name.as_str()) {
                    let meant = misspelt::resource(name, &known);
                    let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
                    report.one(format!("amounts of {name} left out, which no task is measured in{meant}"));
                }
            } else if !resources.contains(&name.as_str()) {
                resources.push(name);
            }
        }
        resources
    }

    /// The queues in the order of their files.
    fn tree(&self, resources: &[&str], servers: &[Server]) -> Result<Vec<Queue>, Violation> {
        let mut position: HashMap<&str, usize> = HashMap::new();
        for (at, queue) in self.found.iter().enumerate() {
            if position.insert(&queue.name, at).is_some() {
                return Err(Violation::new("queue", &queue.name, "is named twice"));
            }
        }
        let lost = |queue: &Found, problem: &str| {
            let parent = queue.parent.as_deref().unwrap_or_default();
            Violation::new(format!("queue {}: parent", queue.name), parent, problem)
        };
        let has_root = self.has_root();
        let parent = |queue: &Found| match queue.above(has_root).map(|name| (name, position.get(name))) {
            None => Ok(None),
            Some((_, Some(above))) => Ok(Some(*above)),
            Some((name, None)) if has_root && name == "root" => Ok(None),
            Some(_) => Err(lost(queue, "is not among the queues; import that one too")),
        };
        let parents: Vec<Option<usize>> = self.found.iter().map(parent).collect::<Result<_, _>>()?;
        // Each way up ends at the top, or at a queue from which an earlier one did.
        let mut ends = vec![false; parents.len()];
        for start in 0..parents.len() {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(queue) = at.filter(|queue| !ends[*queue]) {
                if way.len() == parents.len() {
                    return Err(lost(&self.found[start], "is below the queue itself"));
                }
                way.push(queue);
                at = parents[queue];
            }
            way.into_iter().for_each(|queue| ends[queue] = true);
        }
        let stated = |amounts: &Amounts| stated(amounts, resources);
        let yunikorn = Measure { found: &self.found, parents: &parents, resources, servers };
        let queue = |(position, (found, parent)): (usize, (&Found, &Option<usize>))| {
            let guarantee = stated(&found.guarantee);
            let own = Part {
                none_of: Part::stated_none(&guarantee),
                guarantee,
                limit: stated(&found.limit),
                reserve: stated(&found.reserve),
                ..Part::default()
            };
            let weight = match found.weight {
                Weight::Stated(weight) => weight,
                Weight::Measured => yunikorn.weight(position),
            };
            let (name, parts, is_above) = (found.name.clone(), vec![own], found.is_above);
            Queue { name, parent: *parent, weight, parts, is_above, ..Queue::default() }
        };
        Ok(self.found.iter().zip(&parents).enumerate().map(queue).collect())
    }
}

#[cfg(test)]
mod tests;
