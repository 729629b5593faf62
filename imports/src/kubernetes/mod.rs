//! A Kubernetes cluster: nodes become server classes, pods become tasks of users.

mod device_sizes;
mod gpu_sharing;
mod names;
mod nodes;
mod offered_gpus;
mod options;
mod placement;
mod pods;
mod requirements;
mod resource_quotas;
#[cfg(test)]
mod ruled;
mod rules;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unusual;

use super::census::{Census, PresentCluster, TaskGrouping};
use super::manifests::{self, Manifest, of_kinds};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use super::tasks::Tasks;
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, Instance, InstanceError, Violation, wording};
use hashbrown::HashMap;
pub(super) use nodes::Node;
use options::PODS;
pub use options::{Daemons, KubernetesOptions, PodOwner, ZONE};
pub(super) use placement::{Conditions, Site, Taint, Toleration};
use pods::Pod;
pub(super) use pods::{Amounts as PodAmounts, Spec as PodSpec, requests};
use std::collections::{BTreeMap, BTreeSet};

/// The cluster and its users as the files tell.
///
/// *Nodes*: those with the same allocatable amounts that the same pods may run on are a class. Nodes that are cordoned
/// or not ready are left out. *Pods*: those that are pending or running (without a status: pending), with what the scheduler reserves for them: the
/// sum over their containers, or what their init containers need if that is more, and their overhead; a container that
/// states only a limit requests it, one that states nothing requests nothing. Amounts are exact; memory and storage are
/// in bytes, cpu in cores. A pod may run where its node selector, its required node affinity and its tolerations allow,
/// and on the node where it runs; affinity among pods and topology spread that are required are counted, and kept as far as `rules.rs`
/// says where that is asked for, as are ports of nodes; priorities, other schedulers and deletions are counted; devices of resource
/// claims are not looked at, and claimed volumes, which may be of one node or zone, are counted. Pods that gates hold are left out, but
/// for those of Kueue, which wait for room.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, object, field and value are named), files without a node
/// or without a pod that asks for something.
pub fn kubernetes(options: &KubernetesOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report, Census::instance))
}

/// The same cluster with the names of its nodes, and where its pods run: those that have a node, whatever has room there.
///
/// # Errors
/// Those of [`kubernetes`].
pub fn kubernetes_present(
    options: &KubernetesOptions,
) -> Result<(PresentCluster, ImportReport), ImportFailure> {
    counted(|report| read(options, report, Census::present))
}

fn read<T>(
    options: &KubernetesOptions,
    report: &mut ImportReport,
    made: impl FnOnce(Census, TaskGrouping, &mut ImportReport) -> Result<T, Violation>,
) -> Result<T, Stopped> {
    if options.rules && options.grouping == TaskGrouping::User {
        let problem = "a mean of requests is neither a part of a GPU nor whole ones; tell requests apart with --group shape or tree";
        let (file, violation) = (super::files::together(&options.pods), Violation::new("rules", "", problem));
        return Err(Stopped::Building(InstanceError::Invalid { file, violation }));
    }
    let mut nodes = read_nodes(options, |_, _| true, report)?;
    let mut pods = read_pods(options, report)?;
    offered_gpus::apply(options, &mut nodes, &mut pods, report);
    if options.rules {
        rules::keep(options, &nodes, &mut pods, report)?;
    }
    pods.iter().flat_map(|pod| &pod.unread).for_each(|what| report.one(*what));
    let known: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let elsewhere =
        pods.iter().filter(|pod| !pod.node.is_empty() && !known.contains(pod.node.as_str())).count();
    report.add(
        elsewhere as u64,
        "pods run on nodes that are not among those that count: they have no place here yet",
    );

    let (bound, mut free): (Vec<Pod>, Vec<Pod>) = pods.into_iter().partition(|pod| pod.bound);
    tell_of_priorities(&free, report);
    match options.daemons {
        Daemons::Reserve => reserve(&mut nodes, &bound, report),
        Daemons::Count => {
            report.add(
                bound.len() as u64,
                "pods belong to their node (DaemonSet or static) and count as movable",
            );
            free.extend(bound);
        }
    }

    let resources = resources(options, &free);
    known_resources(options, &nodes, &free)?;
    tell_of_few_pods(&nodes, &free, &resources, report);
    if options.resources.is_none() {
        let counted: Vec<&str> = resources.iter().map(String::as_str).collect();
        nodes.iter().for_each(|node| node.tell_of_unasked(&counted, "pod", report));
    }
    let holders = resource_quotas::read(options, &resources, report)?;
    let decimals =
        |amount: &dyn Fn(&str) -> Quantity, files: &[String]| -> Result<Vec<Decimal>, InstanceError> {
            let exact = |resource: &String| {
                amount(resource).decimal().ok_or_else(|| InstanceError::Invalid {
                    file: super::files::together(files),
                    violation: Violation::new(resource, "", "has more than 19 significant digits; round it"),
                })
            };
            resources.iter().map(exact).collect()
        };
    let by_name: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(position, node)| (node.name.as_str(), position)).collect();
    let mut places: Vec<Eligibility> = Vec::new();
    let mut position: HashMap<Eligibility, usize> = HashMap::new();
    let mut tasks = Vec::with_capacity(free.len());
    for pod in &free {
        // Labels and taints may have changed since it was put there.
        let on = by_name.get(pod.node.as_str()).copied();
        let here = on.map(|node| &nodes[node]).filter(|node| !pod.conditions.allow(&node.site()));
        if here.is_some() {
            report.one("pods run on a node that would not take them now (it counts for them)");
        }
        let may_run = Eligibility { conditions: &pod.conditions, here: here.map(|node| node.name.as_str()) };
        let condition = *position.entry(may_run).or_insert_with(|| {
            places.push(may_run);
            places.len() - 1
        });
        let amount = |resource: &str| match resource {
            PODS => Quantity::ONE,
            _ => pod.requests.get(resource).copied().unwrap_or_default(),
        };
        tasks.push(Tasks {
            owner: owner(options, pod, report),
            demand: decimals(&amount, &options.pods)?,
            count: 1,
            condition,
            on: on.map(|node| (node, 1)).into_iter().collect(),
            rules: pod.rules.clone(),
        });
    }
    let domains = rules::domains(options, &nodes);
    let servers = nodes.iter().zip(domains).map(|(node, domain)| {
        let amount = |resource: &str| node.allocatable.get(resource).copied().unwrap_or_default();
        let meets = places.iter().map(|places| places.include(node)).collect();
        let (name, kind, label) = (node.name.clone(), node.gpu_model().to_owned(), String::new());
        let capacity = decimals(&amount, &options.nodes)?;
        Ok(Server { name, kind, label, capacity, domain, meets, needs: Vec::new() })
    });
    let taints: Vec<&Taint> = nodes.iter().flat_map(|node| &node.taints).collect();
    let census = Census {
        name: format!(
            "Kubernetes, {}, {}",
            wording::counted(nodes.len() as u64, "node", "nodes"),
            wording::counted(free.len() as u64, "pod", "pods")
        ),
        resources: resources.clone(),
        memory: Memory::Bytes,
        conditions: places.iter().map(|places| places.name(&taints)).collect(),
        servers: servers.collect::<Result<_, InstanceError>>()?,
        tasks,
        devices: device_sizes::of(options, &nodes, &resources, report),
        holders,
    };
    made(census, options.grouping, report).map_err(|violation| {
        let file = super::files::together(options.nodes.iter().chain(&options.pods));
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}

/// Where a pod may run: where its conditions allow, and where it runs though they do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Eligibility<'a> {
    conditions: &'a Conditions,
    here: Option<&'a str>,
}

impl Eligibility<'_> {
    fn include(&self, node: &Node) -> bool {
        self.here == Some(&node.name) || self.conditions.allow(&node.site())
    }

    fn name(&self, taints: &[&Taint]) -> String {
        let conditions = names::name(self.conditions, taints);
        let here = self.here.map(|node| format!("on:{node}"));
        let parts = Some(conditions).filter(|name| !name.is_empty()).into_iter().chain(here);
        parts.collect::<Vec<_>>().join("+")
    }
}

/// The nodes of files that take pods, and that are kept.
pub(super) fn nodes_that_count(
    files: &[String],
    is_kept: impl Fn(&Node, &mut ImportReport) -> bool,
    report: &mut ImportReport,
) -> Result<Vec<Node>, InstanceError> {
    let options = KubernetesOptions { nodes: files.to_vec(), ..KubernetesOptions::default() };
    read_nodes(&options, is_kept, report)
}

/// A node's name and its labels.
pub type NodeLabels = (String, BTreeMap<String, String>);

/// The labels of nodes, by their names.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, object, field and value are named), files without a node.
pub fn node_labels(files: &[String]) -> Result<Vec<NodeLabels>, InstanceError> {
    let mut report = ImportReport::default();
    let options =
        KubernetesOptions { nodes: files.to_vec(), all_nodes: true, ..KubernetesOptions::default() };
    let nodes = read_nodes(&options, |_, _| true, &mut report)?;
    Ok(nodes.into_iter().map(|node| (node.name, node.labels)).collect())
}

fn read_nodes(
    options: &KubernetesOptions,
    is_kept: impl Fn(&Node, &mut ImportReport) -> bool,
    report: &mut ImportReport,
) -> Result<Vec<Node>, InstanceError> {
    let found = objects(&options.nodes, "Node", "kubectl get nodes -o json", report)?;
    let mut nodes = Vec::with_capacity(found.len());
    let mut names = BTreeSet::new();
    for manifest in &found {
        let mut node = Node::read(manifest, report)?;
        if !names.insert(node.name.clone()) {
            report.named("nodes left out: named a second time", &node.name);
            continue;
        }
        match node.closed {
            Some(reason) if !options.all_nodes => report.one(reason),
            closed => {
                report.add(u64::from(closed.is_some()), "nodes taken as open, though cordoned or not ready");
                if options.all_nodes {
                    let all = node.taints.len();
                    node.taints.retain(|taint| !taint.is_state());
                    let lifted = closed.is_none() && node.taints.len() < all;
                    report.add(
                        u64::from(lifted),
                        "nodes whose taints of a state, such as memory pressure, are lifted",
                    );
                }
                nodes.push(node);
            }
        }
    }
    nodes.retain(|node| is_kept(node, report));
    let has_memory = |node: &Node| node.allocatable.get("memory").is_some_and(|memory| !memory.is_zero());
    if nodes.iter().any(has_memory) {
        for node in nodes.iter().filter(|node| !has_memory(node)) {
            report.named("nodes without memory, beside others that have some", &node.name);
        }
    }
    report.add(nodes.len() as u64, "nodes");
    Ok(nodes)
}

fn read_pods(options: &KubernetesOptions, report: &mut ImportReport) -> Result<Vec<Pod>, InstanceError> {
    let found = objects(&options.pods, "Pod", "kubectl get pods -A -o json", report)?;
    let mut pods = Vec::with_capacity(found.len());
    let mut names = BTreeSet::new();
    let mut silent = 0;
    for manifest in &found {
        let mut pod = Pod::read(manifest, report)?;
        if !names.insert(manifest.name.clone()) {
            report.one("pods left out: named a second time");
            continue;
        }
        if pod.phase.is_empty() {
            // Manifests that no cluster has taken yet.
            report.one("pods without a status (taken as pending)");
            pod.phase = "Pending".into();
        }
        if pod.phase == "Pending" && pod.is_gated {
            report.one("pods left out: held by scheduling gates, so not waiting for room");
        } else if pod.phase == "Pending" || pod.phase == "Running" {
            report.one(format!("pods {}", pod.phase.to_lowercase()));
            silent += pod.silent;
            pods.push(pod);
        } else {
            report.one(format!("pods left out: {}", pod.phase));
        }
    }
    report.add(silent, "containers of these without requests (taken as 0)");
    Ok(pods)
}

/// The objects of one kind in `files`, of which there must be some.
fn objects(
    files: &[String],
    kind: &str,
    command: &str,
    report: &mut ImportReport,
) -> Result<Vec<Manifest>, InstanceError> {
    let all = manifests::read_as(files, Some(kind), command)?;
    let others: BTreeSet<String> = all.iter().map(|manifest| manifest.kind.clone()).collect();
    let found = of_kinds(all, &[kind], report);
    if found.is_empty() {
        let others = others.into_iter().collect::<Vec<_>>().join(", ");
        let problem = format!("there is no {kind} here; `{command}` makes such a file");
        let violation = Violation::new(if others.is_empty() { "" } else { "kind" }, others, problem);
        return Err(InstanceError::Invalid { file: files.join(", "), violation });
    }
    found.iter().try_for_each(|manifest| manifest.is_of_kubernetes(command))?;
    Ok(found)
}

/// Takes what daemons request off the nodes they run on.
fn reserve(nodes: &mut [Node], daemons: &[Pod], report: &mut ImportReport) {
    let position: HashMap<String, usize> =
        nodes.iter().enumerate().map(|(position, node)| (node.name.clone(), position)).collect();
    for pod in daemons {
        let Some(&node) = position.get(&pod.node) else {
            report.one("pods of DaemonSets left out: they run on no node that counts");
            continue;
        };
        report.one("pods belong to their node (DaemonSet or static) and are taken off it");
        for (resource, left) in &mut nodes[node].allocatable {
            let taken = match resource.as_str() {
                PODS => Quantity::ONE,
                _ => pod.requests.get(resource).copied().unwrap_or_default(),
            };
            *left = left.minus(taken);
        }
    }
}

/// Refuses resources asked for that no node has and no pod requests: a misspelt one would be lost.
fn known_resources(options: &KubernetesOptions, nodes: &[Node], pods: &[Pod]) -> Result<(), Stopped> {
    let of_nodes = nodes.iter().flat_map(|node| node.allocatable.keys());
    let of_pods = pods.iter().flat_map(|pod| pod.requests.keys());
    let known: BTreeSet<&str> =
        of_nodes.chain(of_pods).map(String::as_str).chain(["cpu", "memory", PODS]).collect();
    let unknown = options.resources.iter().flatten().find(|name| !known.contains(name.as_str()));
    let Some(unknown) = unknown else { return Ok(()) };
    let problem = format!(
        "no node has it and no pod requests it{}",
        wording::did_you_mean(unknown, known.iter().copied())
    );
    let (file, violation) =
        (super::files::together(&options.nodes), Violation::new("resources", unknown, problem));
    Err(Stopped::Building(InstanceError::Invalid { file, violation }))
}

/// Says that a node takes only so many pods, which is left out unless it is asked for, where it may bind: more than half of what the node
/// takes run there, or more than half of all that the nodes take are there.
fn tell_of_few_pods(nodes: &[Node], pods: &[Pod], resources: &[String], report: &mut ImportReport) {
    if resources.iter().any(|name| name == PODS) {
        return;
    }
    let most = |node: &Node| {
        let most = node.allocatable.get(PODS);
        most.map_or(f64::INFINITY, |most| most.part_of(Quantity::ONE))
    };
    let mut running: HashMap<&str, u64> = HashMap::new();
    pods.iter().for_each(|pod| *running.entry(&pod.node).or_default() += 1);
    let runs = |node: &Node| running.get(node.name.as_str()).copied().unwrap_or_default();
    let may_bind = |pods: u64, most: f64| pods as f64 > most / 2.0;
    let all_may = may_bind(pods.len() as u64, nodes.iter().map(most).sum());
    let binding = nodes.iter().filter(|node| all_may || may_bind(runs(node), most(node))).count();
    let what = "nodes whose limit of pods is left out, though more than half as many are there: name pods in --resources";
    report.add(binding as u64, what);
}

/// Counts pods that come before others.
fn tell_of_priorities(pods: &[Pod], report: &mut ImportReport) {
    let lowest = pods.iter().map(|pod| pod.priority).min().unwrap_or_default();
    let before = pods.iter().filter(|pod| pod.priority > lowest).count();
    report.add(
        before as u64,
        "pods of a higher priority than others, which is not kept: here shares alone decide",
    );
}

/// The resources of the instance: cpu and memory first.
fn resources(options: &KubernetesOptions, pods: &[Pod]) -> Vec<String> {
    if let Some(chosen) = &options.resources {
        return chosen.clone();
    }
    let mut requested: BTreeSet<&str> = BTreeSet::new();
    for pod in pods {
        requested.extend(
            pod.requests.iter().filter(|(_, amount)| !amount.is_zero()).map(|(name, _)| name.as_str()),
        );
    }
    let usual = ["cpu", "memory"];
    let rest = requested.iter().filter(|name| !usual.contains(name));
    usual.iter().chain(rest).map(|name| (*name).to_owned()).collect()
}

fn owner(options: &KubernetesOptions, pod: &Pod, report: &mut ImportReport) -> String {
    let namespace = match pod.metadata.namespace.as_str() {
        "" => "default",
        named => named,
    };
    match &options.owner {
        PodOwner::Namespace => namespace.to_owned(),
        PodOwner::Label(key) => pod.metadata.labels.get(key).cloned().unwrap_or_else(|| {
            report.one(format!("pods without the label {key} are their namespace's"));
            format!("namespace/{namespace}")
        }),
    }
}
