//! A YARN cluster: its nodes become server classes, the queues of its scheduler groups and users.

mod amounts;
pub(crate) mod capacity_scheduler;
pub(crate) mod fair_scheduler;
mod nodes;
mod partitions;
#[cfg(test)]
mod tests;
mod unkept;

use super::files::{some, together};
use super::queues::{self, Cluster, Part};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use super::xml;
use fairplan_instances::{Decimal, Instance, InstanceError, wording};
use nodes::Listed;
use partitions::{Partitions, RESOURCES, part_held, totals};
use std::collections::BTreeSet;

/// What [`yarn`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct YarnOptions {
    /// The nodes: what the ResourceManager's `/ws/v1/cluster/nodes` answers, or a node list of the load simulator.
    pub nodes: Vec<String>,
    /// `fair-scheduler.xml` or `capacity-scheduler.xml`.
    pub queues: String,
}

/// The cluster and its queues as the files tell.
///
/// The queues above the leaves are groups, the leaves users, each with its own weight. What a queue is sure of (`minResources`, a
/// `capacity` in amounts or in percent) is its guarantee, the most it may have its limit. Nodes with a label take only tasks of
/// queues that may use the label: a leaf that may is a group with a user for each label and one for the nodes without. A task is
/// one core with its part of the memory, or less, so that every node holds one.
///
/// # Errors
/// A file that cannot be read or is not of the format (file, queue, field and value are named), files without a node
/// or a queue.
pub fn yarn(options: &YarnOptions) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

fn read(options: &YarnOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
    let listed = nodes::read(&options.nodes, report)?;
    some(&together(&options.nodes), "nodes that run", listed.len())?;
    let root = xml::read(&options.queues)?;
    // Only the capacity scheduler knows labels.
    let labels: BTreeSet<String> = match root.name.as_str() {
        "configuration" => listed.iter().filter_map(|node| node.label.clone()).collect(),
        _ => BTreeSet::new(),
    };
    let labels: Vec<String> = labels.into_iter().collect();
    let is_at = |node: &Listed, place: usize| match place {
        0 => labels.is_empty() || node.label.is_none(),
        label => node.label.as_ref() == labels.get(label - 1),
    };
    let server = |node: &Listed| Server {
        meets: (0..=labels.len()).map(|place| is_at(node, place)).collect(),
        name: node.name.clone(),
        label: node.label.clone().unwrap_or_default(),
        capacity: node.capacity.clone(),
        ..Server::default()
    };
    let nodes: Vec<Server> = listed.iter().map(server).collect();
    let places: Vec<Vec<Decimal>> = (0..=labels.len()).map(|place| totals(&nodes, place)).collect();
    let held = (0..=labels.len()).map(|place| part_held(&nodes, place)).collect();
    let place = Partitions { file: &options.queues, places, held, labels: &labels };
    let mut queues = match root.name.as_str() {
        "allocations" => fair_scheduler::read(&place, &root, report)?,
        "configuration" => capacity_scheduler::read(&place, &root, report)?,
        other => {
            let problem =
                "expected <allocations> (fair-scheduler.xml) or <configuration> (capacity-scheduler.xml)";
            return Err(place.refused("root element", other, problem).into());
        }
    };
    // Files write 0 vcores beside memory where they state no vcores: by default Hadoop counts memory alone.
    for part in queues.iter_mut().flat_map(|queue| &mut queue.parts) {
        Part::stated_none(&part.guarantee).into_iter().for_each(|r| part.guarantee[r] = None);
    }
    let name = format!("YARN, {}", wording::counted(nodes.len() as u64, "node", "nodes"));
    let resources = RESOURCES.map(str::to_owned).to_vec();
    let unlabelled = if labels.is_empty() { String::new() } else { "no-label".to_owned() };
    let places = std::iter::once(unlabelled).chain(labels.iter().cloned()).collect();
    let root = Some("root");
    let cluster = Cluster {
        name,
        resources,
        memory: Memory::Mebibytes,
        servers: &nodes,
        places,
        root,
        are_limits_parts: true,
    };
    queues::instance(cluster, &queues, report).map_err(|violation| {
        let file = together(options.nodes.iter().chain([&options.queues]));
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}
