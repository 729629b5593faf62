//! What amounts and percentages in a queue's fields are of: the nodes without a label, and those of each label.

use super::amounts::{self, Amount, percent_of};
use crate::amounts::{Stated, added};
use crate::report::ImportReport;
use crate::servers::Server;
use crate::tolerance::PARTS;
use fairplan_instances::{Decimal, InstanceError, Violation};

/// The resources of YARN that count, memory in MiB.
pub(super) const RESOURCES: [&str; 2] = ["memory", "vcores"];

/// What is wrong with a dot in the name of one queue.
pub(super) const DOTTED: &str =
    "has a dot, which stands between a queue and those below it; name it otherwise";

/// What the nodes of a place have together.
pub(super) fn totals(nodes: &[Server], place: usize) -> Vec<Decimal> {
    let there = || nodes.iter().filter(|node| node.meets[place]);
    let sum = |r: usize| there().try_fold(Decimal::ZERO, |sum, node| added(sum, node.capacity[r]));
    (0..RESOURCES.len()).map(|r| sum(r).unwrap_or(Decimal::ZERO)).collect()
}

/// The percentage of all memory and vcores of a place that tasks in the proportions of its nodes can hold there; `None` where that is all.
///
/// A queue that is due p% is given p% of each resource until its tasks hold p% of one. All tasks of queues have the proportions of their
/// nodes, and where nodes are not all of one shape something is left over on each: of so much no queue can be sure.
pub(super) fn part_held(nodes: &[Server], place: usize) -> Option<Decimal> {
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
    let hundredths = (part * 1e4 + PARTS).floor();
    (part < 1.0 - PARTS && hundredths >= 1.0).then(|| Decimal::new(hundredths as u64, -2).ok()).flatten()
}

/// What is said of amounts in percent.
pub const IN_PERCENT: &str = "amounts in percent, taken of these nodes: Hadoop takes them of whatever nodes there are, so after a change of \
     servers import the files again (plan diff compares the two)";

/// Names what a problem is in, and what percentages are of.
pub(super) struct Partitions<'a> {
    pub file: &'a str,
    /// What the nodes without a label have of each of [`RESOURCES`], then those of each label.
    pub places: Vec<Vec<Decimal>>,
    /// Of each of them, [`part_held`].
    pub held: Vec<Option<Decimal>>,
    pub labels: &'a [String],
}

impl Partitions<'_> {
    pub fn refused(&self, place: &str, value: &str, problem: &str) -> InstanceError {
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// Amounts in `text` of a field of a queue; percentages are of `whole`.
    pub fn amounts_of(
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
            report.named(
                "amounts of other resources than memory and vcores left out",
                &format!("{queue} ({field})"),
            );
        }
        let absolute = |(amount, total): (&Option<Amount>, &Decimal)| match amount {
            Some(amount) => amount.of(*total).map(Some).ok_or_else(|| refused("is too large")),
            None => Ok(None),
        };
        amounts.of.iter().zip(whole).map(absolute).collect()
    }

    /// As much of what a queue is sure of in percent as all queues can be sure of together.
    pub fn lowered(&self, place: usize, guarantee: &mut Stated, report: &mut ImportReport) {
        let Some(percent) = self.held[place] else { return };
        if guarantee.iter().flatten().all(|amount| amount.is_zero()) {
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
    pub fn amounts(
        &self,
        queue: &str,
        field: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<Stated, InstanceError> {
        if text.contains('%') {
            report.one(IN_PERCENT);
        }
        self.amounts_of(&self.places[0], queue, field, text, report)
    }

    /// A weight: a number >= 0.
    pub fn weight(&self, queue: &str, field: &str, text: &str, problem: &str) -> Result<f64, InstanceError> {
        let number = Decimal::parse(text.trim().as_bytes());
        number
            .map(Decimal::to_f64)
            .map_err(|_| self.refused(&format!("queue {queue}: {field}"), text, problem))
    }
}
