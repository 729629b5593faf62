//! A YARN cluster: its nodes become server classes, the leaf queues of its scheduler users.

mod amounts;
mod capacity_scheduler;
mod fair_scheduler;
mod nodes;
#[cfg(test)]
mod tests;

use super::census::Memory;
use super::queues;
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::xml;
use crate::{Decimal, Instance, InstanceError, Violation};
use amounts::Amounts;

/// What [`yarn`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct YarnOptions {
    /// The nodes: what the ResourceManager's `/ws/v1/cluster/nodes` answers, or a node list of the load simulator.
    pub nodes: Vec<String>,
    /// `fair-scheduler.xml` or `capacity-scheduler.xml`.
    pub queues: String,
}

/// The resources of YARN that count, memory in MiB.
const RESOURCES: [&str; 2] = ["memory", "vcores"];

/// The cluster and its users as the files tell.
///
/// Weights are multiplied down the tree of queues, each over the sum of its siblings; the most that a queue may have
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
    let name = format!("YARN, {} nodes", nodes.len());
    let resources = RESOURCES.map(str::to_owned).to_vec();
    queues::instance(name, resources, Memory::Mebibytes, &nodes, &queues, report).map_err(|violation| {
        Stopped::Building(InstanceError::Invalid { file: options.queues.clone(), violation })
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

    /// Amounts in `text` of a field of a queue.
    fn amounts(&self, queue: &str, field: &str, text: &str) -> Result<Amounts, InstanceError> {
        amounts::read(text).ok_or_else(|| {
            let problem =
                "must be amounts such as `1024 mb, 1 vcores`, `50.0%` or `memory-mb=1024, vcores=10%`";
            self.refused(&format!("queue {queue}: {field}"), text, problem)
        })
    }

    /// What percentages and amounts come to on this cluster.
    fn absolute(&self, amounts: &Amounts) -> Vec<Option<Decimal>> {
        amounts
            .iter()
            .zip(&self.totals)
            .map(|(amount, total)| amount.and_then(|amount| amount.of(*total)))
            .collect()
    }
}
