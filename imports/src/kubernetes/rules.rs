//! Rules of pods among themselves, as far as an instance can keep them: one on a node, spread over zones, gangs.
//!
//! *One on a node* is a required podAntiAffinity on `kubernetes.io/hostname` of a pod with pods like itself, or a port of the node that
//! all of them and no others take; *spread* a
//! topologySpreadConstraint with `DoNotSchedule` over the label that zones are taken from; a *gang* a group of pods that starts as a
//! whole (Kueue's pod groups, PodGroups of Volcano, of KAI and of the scheduler plugins, Jobs). A rule is kept where all pods that it
//! is about are alike, so that they are tasks of one user, and nobody else's; all others are counted. A gang of unlike pods without
//! other rules, such as a launcher and its workers, is one task whose kinds they are.
//!
//! Source: the Kubernetes documentation, "Inter-pod affinity and anti-affinity" and "Pod Topology Spread Constraints"; Kueue, "Run a
//! group of plain pods"; Volcano, KAI and scheduler-plugins, "PodGroup".

use super::nodes::Node;
use super::options::{KubernetesOptions, PodOwner};
use super::placement::{Selector, Spread, Term};
use super::pods::{APART, PORTS, Pod, SPREAD};
use super::requirements::{Operator, Requirement};
use crate::manifests::{self, Metadata, nullable, of_kinds};
use crate::report::ImportReport;
use fairplan_instances::{Gang, InstanceError};
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

const POD_GROUP: &str = "PodGroup";
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Where pods say which group they belong to: of Kueue, which also says how many they are; of the scheduler plugins; of Volcano and, last,
/// of KAI.
const KUEUE_GROUP: &str = "kueue.x-k8s.io/pod-group-name";
const KUEUE_COUNT: &str = "kueue.x-k8s.io/pod-group-total-count";
const GROUP_LABELS: [&str; 2] = ["scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io"];
const GROUP_ANNOTATIONS: [&str; 3] =
    ["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "pod-group-name"];
const JOB_LABELS: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];

/// The topology within which Kueue is to place all pods of a set.
const REQUIRED_TOPOLOGY: &str = "kueue.x-k8s.io/podset-required-topology";

pub(super) const BROKEN_GANG: &str =
    "pods are in gangs of which not all pods are here: here each runs for itself";
pub(super) const LARGER_GANG: &str =
    "pods are in groups of more pods than must start together: here each runs for itself";
pub(super) const MIXED_GANG: &str = "pods are in gangs of unlike pods with rules of their own or of several owners: here each runs for itself";
pub(super) const SCATTERED_SET: &str =
    "pods are in gangs of unlike pods that require one topology: they start together, and may run across";

/// Gives pods the rules that can be kept, and takes them off what is counted as unread.
pub(super) fn keep(
    options: &KubernetesOptions,
    nodes: &[Node],
    pods: &mut [Pod],
    report: &mut ImportReport,
) -> Result<(), InstanceError> {
    let sizes = gang_sizes(&options.gangs, report)?;
    keep_gangs(options, &sizes, pods, report);
    let everywhere = nodes.iter().all(|node| node.labels.contains_key(&options.domain));
    let somewhere = nodes.iter().any(|node| node.labels.contains_key(&options.domain));
    let mut outcome: HashMap<(String, Selector), bool> = HashMap::new();
    let mut alone_at: HashMap<BTreeSet<String>, bool> = HashMap::new();
    let mut kept = Vec::with_capacity(pods.len());
    for pod in &*pods {
        let mut alone = |selector: &Selector| {
            let key = (pod.metadata.namespace.clone(), selector.clone());
            *outcome.entry(key).or_insert_with(|| concerns_only_alike(options, pod, selector, pods))
        };
        let apart: Vec<Option<Selector>> = (pod.apart.iter())
            .map(|term| term.of_itself(&pod.metadata, HOSTNAME).filter(|selector| alone(selector)))
            .collect();
        let over = |rule: &Spread| rule.over(&pod.metadata, &options.domain).filter(|_| somewhere);
        let spread: Vec<Option<(Selector, u64)>> =
            pod.spread.iter().map(|rule| over(rule).filter(|(selector, _)| alone(selector))).collect();
        // Being alike is mutual, so that what holds of one pod with these ports holds of all.
        let ports = !pod.ports.is_empty()
            && *alone_at.entry(pod.ports.clone()).or_insert_with(|| has_ports_alone(options, pod, pods));
        kept.push(Kept {
            all_apart: apart.iter().all(Option::is_some),
            all_spread: spread.iter().all(Option::is_some),
            ports,
            per_server: (ports || apart.iter().any(Option::is_some)).then_some(1),
            spread: spread.iter().flatten().map(|(_, skew)| *skew).min(),
            of: of(
                options,
                pod,
                apart.iter().flatten().chain(spread.iter().flatten().map(|(selector, _)| selector)),
                ports,
            ),
        });
    }
    for (pod, kept) in pods.iter_mut().zip(kept) {
        pod.rules.per_server = kept.per_server;
        pod.rules.spread = kept.spread;
        pod.rules.of = kept.of;
        for (is_kept, told) in [(kept.all_apart, APART), (kept.all_spread, SPREAD), (kept.ports, PORTS)] {
            pod.unread.retain(|what| !(is_kept && *what == told));
        }
        if kept.spread.is_some() && !everywhere {
            // Nodes without the label take no pod that is spread over it.
            let wanted =
                Requirement { key: options.domain.clone(), operator: Operator::Exists, values: Vec::new() };
            for term in pod.conditions.terms.get_or_insert_with(|| vec![Term::default()]) {
                term.expressions.push(wanted.clone());
            }
        }
    }
    Ok(())
}

/// What of a pod's rules is kept.
struct Kept {
    all_apart: bool,
    all_spread: bool,
    /// Whether its ports are.
    ports: bool,
    per_server: Option<u64>,
    spread: Option<u64>,
    of: String,
}

/// What tells pods of these selectors from others: `app=web`, with the namespace where users are not of one.
fn of<'a>(
    options: &KubernetesOptions,
    pod: &Pod,
    selectors: impl Iterator<Item = &'a Selector>,
    ports: bool,
) -> String {
    let mut texts: Vec<String> = selectors.map(Selector::text).collect();
    texts.sort_unstable();
    texts.dedup();
    // The ports are of the nodes, whatever namespace a pod is in.
    if ports {
        texts.push(format!("port{}", pod.ports.iter().cloned().collect::<Vec<_>>().join("+")));
    }
    match &options.owner {
        PodOwner::Label(_) if !texts.is_empty() => format!("{}/{}", pod.metadata.namespace, texts.join("+")),
        _ => texts.join("+"),
    }
}

/// Whether all pods of the namespace that a selector selects are like this one.
fn concerns_only_alike(options: &KubernetesOptions, pod: &Pod, selector: &Selector, pods: &[Pod]) -> bool {
    let here = pods.iter().filter(|other| other.metadata.namespace == pod.metadata.namespace);
    here.filter(|other| selector.selects(&other.metadata.labels)).all(|other| alike(options, pod, other))
}

/// Whether all pods that take any of the ports of a pod, in whatever namespace, are like it.
fn has_ports_alone(options: &KubernetesOptions, pod: &Pod, pods: &[Pod]) -> bool {
    // An address may stand for another's, or be all of them: then the same port of different addresses may meet.
    let number = |port: &str| port.rsplit(':').next().map(str::to_owned);
    let meet =
        |other: &&Pod| other.ports.iter().any(|port| pod.ports.iter().any(|own| number(own) == number(port)));
    pods.iter().filter(meet).all(|other| alike(options, pod, other))
}

fn same_owner(options: &KubernetesOptions, a: &Pod, b: &Pod) -> bool {
    match &options.owner {
        PodOwner::Namespace => a.metadata.namespace == b.metadata.namespace,
        PodOwner::Label(key) => a.metadata.labels.get(key) == b.metadata.labels.get(key),
    }
}

/// Whether pods are tasks of one user whatever rules are kept.
fn alike(options: &KubernetesOptions, a: &Pod, b: &Pod) -> bool {
    same_owner(options, a, b)
        && (a.bound, a.rules.gang) == (b.bound, b.rules.gang)
        && a.rules.set == b.rules.set
        && a.requests == b.requests
        && a.conditions == b.conditions
        && a.apart == b.apart
        && a.spread == b.spread
        && a.ports == b.ports
}

/// How many pods of which group start together, by kind, namespace and name.
type Sizes = HashMap<(&'static str, String), u64>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields {
    metadata: Metadata,
    #[serde(deserialize_with = "nullable")]
    spec: GangSpec,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GangSpec {
    #[serde(rename = "minMember")]
    min_member: Option<u64>,
    parallelism: Option<u64>,
    /// Of KAI: parts of the group, each with its own number of pods.
    #[serde(rename = "subGroups", deserialize_with = "nullable")]
    parts: Vec<IgnoredAny>,
}

fn gang_sizes(files: &[String], report: &mut ImportReport) -> Result<Sizes, InstanceError> {
    let mut sizes = Sizes::new();
    if files.is_empty() {
        return Ok(sizes);
    }
    let all = manifests::read_as(files, None, "kubectl get podgroups,jobs -A -o json")?;
    for manifest in of_kinds(all, &["PodGroup", "Job"], report) {
        let Fields { metadata, spec } = manifest.read()?;
        let (kind, size) = match manifest.kind.as_str() {
            // Kubernetes takes both as 1 where nothing is said.
            "Job" => ("Job", spec.parallelism.unwrap_or(1)),
            _ => (POD_GROUP, spec.min_member.unwrap_or(1)),
        };
        let name = format!("{}/{}", metadata.namespace, metadata.name);
        if !spec.parts.is_empty() {
            report.named(
                "PodGroups with parts that start together (subGroups), which are not kept: of these each pod runs for itself",
                &name,
            );
        }
        if sizes.insert((kind, name), size).is_some() {
            report
                .one(format!("{} named a second time, of which the last counts", kind.to_lowercase() + "s"));
        }
    }
    Ok(sizes)
}

/// The group that a pod belongs to, and how many of it start together.
fn gang_of(pod: &Pod, sizes: &Sizes, report: &mut ImportReport) -> Option<(String, u64)> {
    let Metadata { labels, annotations, namespace, .. } = &pod.metadata;
    if let Some(name) = labels.get(KUEUE_GROUP) {
        let count = annotations.get(KUEUE_COUNT).and_then(|count| count.trim().parse().ok());
        if count.is_none() {
            report.one(format!("pods in a group of Kueue do not say in {KUEUE_COUNT} how many they are"));
        }
        return Some((format!("kueue {namespace}/{name}"), count?));
    }
    let of_label = GROUP_LABELS.iter().find_map(|key| labels.get(*key));
    if let Some(name) = of_label.or_else(|| GROUP_ANNOTATIONS.iter().find_map(|key| annotations.get(*key))) {
        let name = format!("{namespace}/{name}");
        let size = sizes.get(&(POD_GROUP, name.clone())).copied();
        if size.is_none() {
            report.one("pods are in a PodGroup that is not here (--gangs): each runs for itself");
        }
        return Some((name, size?));
    }
    let name = format!("{namespace}/{}", JOB_LABELS.iter().find_map(|key| labels.get(*key))?);
    let size = *sizes.get(&("Job", name.clone()))?;
    Some((format!("job {name}"), size))
}

/// Gives pods the gang that they are in, where all of it is here: tasks of one user where they are alike, a set where they are not.
fn keep_gangs(options: &KubernetesOptions, sizes: &Sizes, pods: &mut [Pod], report: &mut ImportReport) {
    let mut groups: Vec<(String, u64, Vec<usize>)> = Vec::new();
    let mut position: HashMap<String, usize> = HashMap::new();
    let mut unnamed: BTreeSet<&str> =
        sizes.keys().filter(|(kind, _)| *kind == POD_GROUP).map(|(_, name)| name.as_str()).collect();
    for (at, pod) in pods.iter().enumerate() {
        let group = gang_of(pod, sizes, report);
        group.iter().for_each(|(name, _)| _ = unnamed.remove(name.as_str()));
        let Some((name, tasks)) = group.filter(|(_, tasks)| *tasks > 1) else {
            continue;
        };
        let group = *position.entry(name.clone()).or_insert_with(|| {
            groups.push((name, tasks, Vec::new()));
            groups.len() - 1
        });
        groups[group].2.push(at);
    }
    for group in unnamed {
        report.named("PodGroups left out: no pod that counts says that it is in them", group);
    }
    for (name, tasks, members) in groups {
        let first = &pods[members[0]];
        if members.len() as u64 != tasks {
            let is_larger = members.len() as u64 > tasks;
            report.add(members.len() as u64, if is_larger { LARGER_GANG } else { BROKEN_GANG });
            continue;
        }
        let of_members = || members.iter().map(|member| &pods[*member]);
        let topology = first.metadata.annotations.get(REQUIRED_TOPOLOGY);
        if !of_members().all(|pod| alike(options, first, pod)) {
            let may_be_set = |pod: &Pod| {
                pod.apart.is_empty() && pod.spread.is_empty() && !pod.bound && same_owner(options, first, pod)
            };
            if !of_members().all(may_be_set) {
                report.add(members.len() as u64, MIXED_GANG);
                continue;
            }
            let near = of_members().filter(|pod| pod.metadata.annotations.contains_key(REQUIRED_TOPOLOGY));
            report.add(near.count() as u64, SCATTERED_SET);
            members.iter().for_each(|member| pods[*member].rules.set = Some(name.clone()));
            continue;
        }
        if topology.is_some_and(|label| *label != options.domain) {
            report.add(
                members.len() as u64,
                "pods require one topology that is not --domain: their gangs may run across",
            );
        }
        let gang = Gang { tasks, in_one_domain: topology.is_some_and(|label| *label == options.domain) };
        members.iter().for_each(|member| pods[*member].rules.gang = Some(gang));
    }
}

/// The domain of each node: the value of the label, where any node has it.
pub(super) fn domains(options: &KubernetesOptions, nodes: &[Node]) -> Vec<Option<String>> {
    let labelled = |node: &Node| node.labels.get(&options.domain).cloned().filter(|value| !value.is_empty());
    let somewhere = options.rules && nodes.iter().any(|node| labelled(node).is_some());
    let named = |node: &Node| labelled(node).unwrap_or_else(|| format!("no {}", options.domain));
    nodes.iter().map(|node| somewhere.then(|| named(node))).collect()
}
