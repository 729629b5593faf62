//! GPUs that pods ask for in annotations, where nodes offer them: thousandths of GPUs, or GPUs of a size that labels say.

use super::gpu_sharing::{MILLI, MODEL, SharedGpus};
use super::nodes::Node;
use super::options::KubernetesOptions;
use super::placement::Term;
use super::pods::Pod;
use super::requirements::{Operator, Requirement};
use crate::report::ImportReport;
use fairplan_instances::quantity::Quantity;

/// GPUs as NVIDIA's device plugin counts them, and the label of nodes with the memory of each, in MiB.
const GPU: &str = "nvidia.com/gpu";
const GPU_MIB: &str = "nvidia.com/gpu.memory";

/// Makes requests and conditions of what annotations say, where nodes have such GPUs. Where rules are asked for, GPUs that nodes state twice
/// count once.
pub(super) fn apply(
    options: &KubernetesOptions,
    nodes: &mut [Node],
    pods: &mut [Pod],
    report: &mut ImportReport,
) {
    let mib = memory_of_each(nodes);
    for pod in &mut *pods {
        match pod.shared_gpus.take() {
            Some(SharedGpus::Milli(milli, models)) => ask_for_milli(nodes, pod, (milli, models), report),
            Some(SharedGpus::Part(part)) => ask_for_part(nodes, pod, Some(part), report),
            Some(SharedGpus::Mib(asked)) => {
                ask_for_part(nodes, pod, mib.map(|mib| asked.thousandths_rounded_up(mib)), report);
            }
            None => {}
        }
    }
    let is_chosen = options.resources.iter().flatten().any(|resource| resource == GPU);
    if options.rules && !is_chosen && are_stated_twice(nodes) {
        count_once(nodes, pods, report);
    }
}

fn ask_for_milli(
    nodes: &[Node],
    pod: &mut Pod,
    (milli, models): (Quantity, Vec<String>),
    report: &mut ImportReport,
) {
    if !nodes.iter().any(|node| node.allocatable.contains_key(MILLI)) {
        report.one(format!("pods ask for GPUs in annotations, which are not read: no node has {MILLI}"));
        return;
    }
    report.one(format!("pods ask for {MILLI} in annotations"));
    pod.requests.entry(MILLI.into()).or_insert(milli);
    if nodes.iter().any(|node| node.labels.contains_key(MODEL)) && !models.is_empty() {
        let wanted = Requirement { key: MODEL.into(), operator: Operator::In, values: models };
        for term in pod.conditions.terms.get_or_insert_with(|| vec![Term::default()]) {
            term.expressions.push(wanted.clone());
        }
    }
}

/// Asks for a part of a GPU, if it is known which.
fn ask_for_part(nodes: &[Node], pod: &mut Pod, part: Option<Quantity>, report: &mut ImportReport) {
    let has_gpus = nodes.iter().any(|node| node.allocatable.contains_key(GPU));
    let Some(part) = part.filter(|_| has_gpus) else {
        let why = match has_gpus {
            true => format!("nodes do not all say the same {GPU_MIB}"),
            false => format!("no node has {GPU}"),
        };
        report.one(format!("pods ask for a part of a GPU in annotations, which are not read: {why}"));
        return;
    };
    report.one(format!("pods ask for a part of {GPU} in annotations"));
    pod.requests.entry(GPU.into()).or_insert(part);
}

/// The memory of each GPU, in MiB, where all nodes with GPUs say the same.
fn memory_of_each(nodes: &[Node]) -> Option<Quantity> {
    let with = nodes.iter().filter(|node| node.allocatable.get(GPU).is_some_and(|gpus| !gpus.is_zero()));
    let mut said = with.map(|node| Quantity::parse(node.labels.get(GPU_MIB)?).ok());
    let first = said.next().flatten().filter(|first| !first.is_zero())?;
    said.all(|mib| mib == Some(first)).then_some(first)
}

/// Whether all nodes with GPUs state them as GPUs and as thousandths.
fn are_stated_twice(nodes: &[Node]) -> bool {
    let amount = |node: &Node, resource: &str| node.allocatable.get(resource).copied().unwrap_or_default();
    let are_alike = |node: &Node| amount(node, GPU).times(Quantity::thousand()) == amount(node, MILLI);
    nodes.iter().all(are_alike) && nodes.iter().any(|node| !amount(node, GPU).is_zero())
}

/// Lets nodes have, and pods ask for, thousandths only.
fn count_once(nodes: &mut [Node], pods: &mut [Pod], report: &mut ImportReport) {
    report.add(
        nodes.len() as u64,
        format!("nodes state GPUs as {GPU} and as {MILLI}: here they count as the latter"),
    );
    for node in nodes {
        node.allocatable.remove(GPU);
    }
    for pod in pods {
        let Some(gpus) = pod.requests.remove(GPU) else { continue };
        pod.requests.entry(MILLI.into()).or_insert(gpus.times(Quantity::thousand()));
    }
}
