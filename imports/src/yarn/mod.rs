//! A YARN cluster: its nodes become server classes, the leaf queues of its scheduler users.

mod amounts;
mod capacity_scheduler;
mod fair_scheduler;
mod nodes;
#[cfg(test)]
mod tests;

use super::census::Memory;
use super::queues::{self, Cluster};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::xml;
use super::{some, together};
use amounts::Amount;
use fairplan_instances::{Decimal, Instance, InstanceError, Violation, wording};

/// What [`yarn`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct YarnOptions {
    /// The nodes: what the ResourceManager's `/ws/v1/cluster/nodes` answers, or a node list of the load simulator.
    pub nodes: Vec<String>,
    /// `fair-scheduler.xml` or `capacity-scheduler.xml`.
    pub queues: String,
    /// Whether the queues above the leaves become groups; else weights are multiplied down the tree.
    pub tree: bool,
}

/// The resources of YARN that count, memory in MiB.
const RESOURCES: [&str; 2] = ["memory", "vcores"];

/// The cluster and its users as the files tell.
///
/// Weights are multiplied down the tree of queues, each over the sum of its siblings, unless the tree is kept; the most that a queue may have
/// is its tightest maximum or that of a queue above it. A task is a thousandth of the cluster or less, such that nine of ten
/// nodes hold ten tasks and a maximum a hundred. A minimum, which an
/// instance cannot state, is counted in the report, and so is a minimum above its maximum.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, queue, field and value are named), files without a node
/// or a queue.
pub fn yarn(options: &YarnOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

fn read(options: &YarnOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let nodes = nodes::read(&options.nodes, report)?;
    some(&together(&options.nodes), "nodes that run", nodes.len())?;
    let place = Place { file: &options.queues, totals: totals(&nodes) };
    let root = xml::read(&options.queues)?;
    let queues = match root.name.as_str() {
        "allocations" => fair_scheduler::read(&place, &root, report)?,
        "configuration" => capacity_scheduler::read(&place, &root, report)?,
        other => {
            let problem =
                "expected <allocations> (fair-scheduler.xml) or <configuration> (capacity-scheduler.xml)";
            return Err(place.refused("", other, problem).into());
        }
    };
    let name = format!("YARN, {}", wording::counted(nodes.len() as u64, "node", "nodes"));
    let resources = RESOURCES.map(str::to_owned).to_vec();
    let cluster = Cluster { name, resources, memory: Memory::Mebibytes, servers: &nodes };
    queues::instance(cluster, &queues, options.tree, report).map_err(|violation| {
        let file = together(options.nodes.iter().chain([&options.queues]));
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}

fn totals(nodes: &[super::census::Server]) -> Vec<f64> {
    (0..RESOURCES.len()).map(|r| nodes.iter().map(|node| node.capacity[r].to_f64()).sum()).collect()
}

/// Names what a problem is in, and what percentages are of.
struct Place<'a> {
    file: &'a str,
    /// What the cluster has of each of [`RESOURCES`].
    totals: Vec<f64>,
}

impl Place<'_> {
    fn refused(&self, place: &str, value: &str, problem: &str) -> InstanceError {
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// Amounts in `text` of a field of a queue, in figures of this cluster.
    fn amounts(
        &self,
        queue: &str,
        field: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<Vec<Option<Decimal>>, InstanceError> {
        let refused = |problem: &str| self.refused(&format!("queue {queue}: {field}"), text, problem);
        let amounts = amounts::read(text).map_err(|problem| {
            refused(&format!(
                "{problem}; write `1024 mb, 1 vcores`, `50.0%`, `memory-mb=1024, vcores=10` or, in \
                 capacity-scheduler.xml, `[memory=4Gi,vcores=2]`"
            ))
        })?;
        if amounts.others {
            report.one("limits of other resources than memory and vcores left out");
        }
        let absolute = |(amount, total): (&Option<Amount>, &f64)| match amount {
            Some(amount) => amount.of(*total).map(Some).ok_or_else(|| refused("is too large")),
            None => Ok(None),
        };
        amounts.of.iter().zip(&self.totals).map(absolute).collect()
    }

    /// A weight: a number >= 0.
    fn weight(&self, queue: &str, field: &str, text: &str, problem: &str) -> Result<f64, InstanceError> {
        let number = Decimal::parse(text.trim().as_bytes());
        number
            .map(Decimal::to_f64)
            .map_err(|_| self.refused(&format!("queue {queue}: {field}"), text, problem))
    }
}
