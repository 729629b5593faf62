//! How large one device is of each resource that comes in devices: a pod that asks for less takes it of one.
//!
//! GPUs count one each, thousandths of them a thousand. GPUs that pods share by memory are as large as nodes say, which state all of it and
//! how many GPUs it is of; those that several pods take in turn are as many as a label of the node says.
//!
//! Source: the documentation of Alibaba's gpushare-scheduler-extender, of Volcano's GPU sharing, and of NVIDIA's GPU operator, "Time-slicing
//! GPUs" (`renameByDefault`).

use super::gpu_sharing::MILLI;
use super::nodes::Node;
use super::options::KubernetesOptions;
use crate::report::ImportReport;
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Decimal, ResourceId};

/// Memory of all GPUs of a node, and the resource that says how many they are.
const MEMORY: [(&str, &str); 2] =
    [("aliyun.com/gpu-mem", "aliyun.com/gpu-count"), ("volcano.sh/gpu-memory", "volcano.sh/gpu-number")];

/// GPUs taken in turn, and the label of nodes that says by how many each.
const SHARED: &str = "nvidia.com/gpu.shared";
const REPLICAS: &str = "nvidia.com/gpu.replicas";

/// The resources of which nodes have devices, each with the size of one; none where rules are not asked for.
pub(super) fn of(
    options: &KubernetesOptions,
    nodes: &[Node],
    resources: &[String],
    report: &mut ImportReport,
) -> Vec<(ResourceId, Decimal)> {
    let mut sizes = Vec::new();
    for (r, name) in resources.iter().enumerate().filter(|_| options.rules) {
        let size = match name.as_str() {
            MILLI => Some(Decimal::from(1000u32)),
            name if name.ends_with("/gpu") => Some(Decimal::ONE),
            name if is_shared(name) => {
                let size = said_by_nodes(nodes, name);
                let unknown = || {
                    let those = nodes.iter().filter(|node| !amount(node, name).is_zero()).count() as u64;
                    report.add(those, format!("nodes do not say how large a device of {name} is, or not all the same: it counts as one amount"));
                };
                size.is_none().then(unknown);
                size
            }
            _ => None,
        };
        sizes.extend(size.map(|size| (ResourceId(r), size)));
    }
    sizes
}

/// Whether pods share GPUs by this resource, of which nodes say how much a GPU has.
fn is_shared(resource: &str) -> bool {
    resource == SHARED || MEMORY.iter().any(|(memory, _)| *memory == resource)
}

fn amount(node: &Node, resource: &str) -> Quantity {
    node.allocatable.get(resource).copied().unwrap_or_default()
}

/// The size of a device that all nodes with a resource say, if all say the same.
fn said_by_nodes(nodes: &[Node], resource: &str) -> Option<Decimal> {
    let with = nodes.iter().filter(|node| !amount(node, resource).is_zero());
    let mut sizes = with.map(|node| size_on(node, resource));
    let first = sizes.next().flatten()?;
    sizes.all(|size| size == Some(first)).then(|| first.decimal()).flatten()
}

/// The size of each device of a node, whose devices make up all that it has.
fn size_on(node: &Node, resource: &str) -> Option<Quantity> {
    let all = amount(node, resource);
    match MEMORY.iter().find(|(memory, _)| *memory == resource) {
        Some((_, count)) => all.in_parts(amount(node, count)),
        None => {
            let size = Quantity::parse(node.labels.get(REPLICAS)?).ok()?;
            all.in_parts(size).map(|_| size)
        }
    }
}
