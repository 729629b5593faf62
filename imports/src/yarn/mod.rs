//! A YARN cluster: its nodes become server classes, the queues of its scheduler groups and users.

mod amounts;
mod capacity_scheduler;
mod fair_scheduler;
mod nodes;
#[cfg(test)]
mod tests;

use super::amounts::{Stated, added};
use super::files::{some, together};
use super::queues::{self, Cluster};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use super::xml;
use amounts::{Amount, percent_of};
use fairplan_instances::{Decimal, Instance, InstanceError, Violation, wording};
use nodes::Listed;
use std::collections::BTreeSet;

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
    let place = Place { file: &options.queues, places, held, labels: &labels };
    let queues = match root.name.as_str() {
        "allocations" => fair_scheduler::read(&place, &root, report)?,
        "configuration" => capacity_scheduler::read(&place, &root, report)?,
        other => {
            let problem =
                "expected <allocations> (fair-scheduler.xml) or <configuration> (capacity-scheduler.xml)";
            return Err(place.refused("root element", other, problem).into());
        }
    };
    let name = format!("YARN, {}", wording::counted(nodes.len() as u64, "node", "nodes"));
    let resources = RESOURCES.map(str::to_owned).to_vec();
    let unlabelled = if labels.is_empty() { String::new() } else { "no-label".to_owned() };
    let places = std::iter::once(unlabelled).chain(labels.iter().cloned()).collect();
    let root = Some("root");
    let cluster = Cluster { name, resources, memory: Memory::Mebibytes, servers: &nodes, places, root };
    queues::instance(cluster, &queues, report).map_err(|violation| {
        let file = together(options.nodes.iter().chain([&options.queues]));
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}

/// What the nodes of a place have together.
fn totals(nodes: &[Server], place: usize) -> Vec<Decimal> {
    let there = || nodes.iter().filter(|node| node.meets[place]);
    let sum = |r: usize| there().try_fold(Decimal::ZERO, |sum, node| added(sum, node.capacity[r]));
    (0..RESOURCES.len()).map(|r| sum(r).unwrap_or(Decimal::ZERO)).collect()
}

/// The percentage of all memory and vcores of a place that tasks in the proportions of its nodes can hold there; `None` where that is all.
///
/// A queue that is due p% is given p% of each resource until its tasks hold p% of one. All tasks of queues have the proportions of their
/// nodes, and where nodes are not all of one shape something is left over on each: of so much no queue can be sure.
fn part_held(nodes: &[Server], place: usize) -> Option<Decimal> {
    let there = || nodes.iter().filter(|node| node.meets[place]);
    let of = |node: &Server, r: usize| node.capacity[r].to_f64();
    let is_usable = |node: &&Server| (0..RESOURCES.len()).all(|r| of(node, r) > 0.0);
    let all: Vec<f64> = (0..RESOURCES.len()).map(|r| there().map(|node| of(node, r)).sum()).collect();
    let task: Vec<f64> =
        (0..RESOURCES.len()).map(|r| there().filter(is_usable).map(|node| of(node, r)).sum()).collect();
    let tasks =
        |amount: &dyn Fn(usize) -> f64| (0..RESOURCES.len()).map(|r| amount(r) / task[r]).collect::<Vec<_>>();
    let least = |tasks: Vec<f64>| tasks.into_iter().fold(f64::INFINITY, f64::min);
    let held: f64 = there().filter(is_usable).map(|node| least(tasks(&|r| of(node, r)))).sum();
    let part = held / tasks(&|r| all[r]).into_iter().fold(0.0, f64::max);
    // Cut to hundredths of a percent, so that what is stated can be kept.
    let hundredths = (part * 1e4 + 1e-9).floor();
    (part < 1.0 - 1e-9 && hundredths >= 1.0).then(|| Decimal::new(hundredths as u64, -2).ok()).flatten()
}

/// Names what a problem is in, and what percentages are of.
struct Place<'a> {
    file: &'a str,
    /// What the nodes without a label have of each of [`RESOURCES`], then those of each label.
    places: Vec<Vec<Decimal>>,
    /// Of each of them, [`part_held`].
    held: Vec<Option<Decimal>>,
    labels: &'a [String],
}

impl Place<'_> {
    fn refused(&self, place: &str, value: &str, problem: &str) -> InstanceError {
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// Amounts in `text` of a field of a queue; percentages are of `whole`.
    fn amounts_of(
        &self,
        whole: &[Decimal],
        queue: &str,
        field: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<Stated, InstanceError> {
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
        let absolute = |(amount, total): (&Option<Amount>, &Decimal)| match amount {
            Some(amount) => amount.of(*total).map(Some).ok_or_else(|| refused("is too large")),
            None => Ok(None),
        };
        amounts.of.iter().zip(whole).map(absolute).collect()
    }

    /// As much of what a queue is sure of in percent as all queues can be sure of together.
    fn lowered(&self, place: usize, guarantee: &mut Stated, report: &mut ImportReport) {
        let Some(percent) = self.held[place] else { return };
        if guarantee.iter().all(Option::is_none) {
            return;
        }
        for amount in guarantee.iter_mut() {
            *amount = amount.and_then(|amount| percent_of(amount, percent));
        }
        let on = match place.checked_sub(1) {
            Some(label) => format!("nodes with the label {}", self.labels[label]),
            None if self.labels.is_empty() => "these nodes".to_owned(),
            None => "nodes without a label".to_owned(),
        };
        report.one(format!(
            "queues whose guarantees in percent are lowered to {percent}% of them: tasks with as much memory a vcore as {on} have \
             together fill no more of them"
        ));
    }

    /// The same of the whole cluster.
    fn amounts(
        &self,
        queue: &str,
        field: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<Stated, InstanceError> {
        self.amounts_of(&self.places[0], queue, field, text, report)
    }

    /// A weight: a number >= 0.
    fn weight(&self, queue: &str, field: &str, text: &str, problem: &str) -> Result<f64, InstanceError> {
        let number = Decimal::parse(text.trim().as_bytes());
        number
            .map(Decimal::to_f64)
            .map_err(|_| self.refused(&format!("queue {queue}: {field}"), text, problem))
    }
}
