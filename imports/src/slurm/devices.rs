//! Devices of nodes: each GPU is one, and so are the shards of a GPU together, of which a job takes some of one.
//!
//! Source: Slurm's documentation, "Generic Resource (GRES) Scheduling", section "Sharding": shards are spread evenly over the GPUs of a node.

use super::SlurmOptions;
use super::nodes::Node;
use crate::report::ImportReport;
use fairplan_instances::{Decimal, ResourceId};

const GPU: &str = "gpu";
const SHARD: &str = "shard";

/// The resources that come in devices, each with the size of one; none where rules are not asked for.
pub(super) fn of(
    options: &SlurmOptions,
    nodes: &[Node],
    resources: &[String],
    report: &mut ImportReport,
) -> Vec<(ResourceId, Decimal)> {
    let mut sizes = Vec::new();
    for (r, name) in resources.iter().enumerate().filter(|_| options.rules) {
        let size = match name.as_str() {
            GPU => Some(Decimal::ONE),
            SHARD => shards_of_a_gpu(nodes, report),
            _ => None,
        };
        sizes.extend(size.map(|size| (ResourceId(r), size)));
    }
    let has = |name: &str| resources.iter().any(|resource| resource == name);
    if options.rules && has(GPU) && has(SHARD) {
        let both = nodes.iter().filter(|node| amount(node, SHARD) > 0).count() as u64;
        let what = "nodes have GPUs and shards of them, which count apart: a GPU may be taken whole and in shards at once here";
        report.add(both, what);
    }
    sizes
}

/// How many shards each GPU is, where all nodes with shards say the same.
fn shards_of_a_gpu(nodes: &[Node], report: &mut ImportReport) -> Option<Decimal> {
    let with: Vec<&Node> = nodes.iter().filter(|node| amount(node, SHARD) > 0).collect();
    let of_one = |node: &&Node| {
        let (shards, gpus) = (amount(node, SHARD), amount(node, GPU));
        shards.checked_div(gpus).filter(|each| each * gpus == shards)
    };
    let sizes: Vec<Option<u64>> = with.iter().map(of_one).collect();
    let first =
        sizes.first().copied().flatten().filter(|first| sizes.iter().all(|size| *size == Some(*first)));
    if first.is_none() {
        let what = "nodes have other numbers of shards a GPU, or no whole one: shards count as one amount";
        report.add(with.len() as u64, what);
    }
    first.and_then(|shards| u32::try_from(shards).ok()).map(Decimal::from)
}

/// How much of a generic resource a node has, in whole numbers.
fn amount(node: &Node, name: &str) -> u64 {
    let amount = node.capacity.get(name).and_then(|amount| amount.scaled(0));
    amount.and_then(|amount| u64::try_from(amount).ok()).unwrap_or(0)
}
