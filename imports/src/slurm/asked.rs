//! What a job asks for by the job, the node, the socket, the task or the cpu: all that is said of it where no sum over its nodes is
//! stated, as of generic resources that Slurm does not account for (`AccountingStorageTRES` without `gres/gpu`).
//!
//! Source: Slurm's documentation, `sbatch`, `--gpus`, `--gpus-per-node`, `--gpus-per-socket`, `--gpus-per-task`, `--gres`,
//! `--tres-per-task`, `--mem`, `--mem-per-cpu`.

use super::values::{Amounts, Number, Record, Stated, gres, number};
use crate::report::ImportReport;
use fairplan_instances::{Decimal, InstanceError};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The fields of a job that say it: texts such as `gres/gpu:h100:4`, and memory in MiB.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    memory_per_node: Option<Number>,
    #[serde(default)]
    memory_per_cpu: Option<Number>,
    #[serde(default)]
    tres_per_job: Option<String>,
    #[serde(default)]
    tres_per_node: Option<String>,
    #[serde(default)]
    tres_per_socket: Option<String>,
    #[serde(default)]
    tres_per_task: Option<String>,
    #[serde(default)]
    tasks: Option<Number>,
    #[serde(default)]
    sockets_per_node: Option<Number>,
}

/// What is no generic resource in these texts.
const OTHERS: [&str; 7] = ["cpu", "mem", "node", "billing", "license", "bb", "vmem"];

impl Asked {
    /// The generic resources that the job asks for on all its nodes together, and of which types.
    fn generic(
        &self,
        place: &Record,
        nodes: u64,
        report: &mut ImportReport,
    ) -> Result<(Amounts, BTreeSet<String>), InstanceError> {
        let whole = |count: &Option<Number>| {
            number(count).filter(|count| *count >= 1.0 && *count < 1e9).map(|count| count as u64)
        };
        let sockets = whole(&self.sockets_per_node).map(|sockets| sockets.saturating_mul(nodes));
        let fields = [
            ("tres_per_node", &self.tres_per_node, Some(nodes)),
            ("tres_per_job", &self.tres_per_job, Some(1)),
            ("tres_per_task", &self.tres_per_task, whole(&self.tasks)),
            ("tres_per_socket", &self.tres_per_socket, sockets),
        ];
        let (mut amounts, mut types) = (Amounts::new(), BTreeSet::new());
        for (field, text, times) in fields {
            let text = generic_only(text.as_deref().unwrap_or_default());
            let stated = gres(&text).map_err(|(value, problem)| place.refused(field, value, problem))?;
            types.extend(stated.types);
            for (name, amount) in stated.amounts {
                if times.is_none() {
                    let (per, of) = match field {
                        "tres_per_task" => ("task", "tasks"),
                        _ => ("socket", "sockets"),
                    };
                    report.one(format!(
                        "jobs ask for {name} by the {per} and state no number of {of}: one a node is counted"
                    ));
                }
                let all = product(amount, times.unwrap_or(nodes))
                    .ok_or_else(|| place.refused(field, &text, "is too much"))?;
                amounts.entry(name).or_insert(all);
            }
        }
        Ok((amounts, types))
    }

    /// Adds it to what a job is said to have together, of what that does not name, and the types.
    pub(super) fn complete(
        &self,
        place: &Record,
        nodes: u64,
        stated: &mut Stated,
        report: &mut ImportReport,
    ) -> Result<(), InstanceError> {
        let (mut amounts, types) = self.generic(place, nodes, report)?;
        stated.types.extend(types);
        let cpus = stated.amounts.get("cpu").copied().unwrap_or(Decimal::ZERO);
        if let Some(memory) = self.memory(place, nodes, cpus)? {
            amounts.insert("memory".into(), memory);
        }
        amounts.into_iter().for_each(|(name, amount)| {
            stated.amounts.entry(name).or_insert(amount);
        });
        if !stated.amounts.contains_key("memory") {
            report.one("jobs state no memory: none is counted for them");
        }
        Ok(())
    }

    /// Whether its memory is so much for each cpu, and not for each node.
    pub(super) fn asks_for_memory_by_cpu(&self) -> bool {
        let asks = |amount: &Option<Number>| number(amount).is_some_and(|amount| amount > 0.0);
        asks(&self.memory_per_cpu) && !asks(&self.memory_per_node)
    }

    /// The memory that the job asks for on all its nodes together; 0 of a node is all that it has, and is not counted.
    fn memory(&self, place: &Record, nodes: u64, cpus: Decimal) -> Result<Option<Decimal>, InstanceError> {
        let each = |field, value| -> Result<_, InstanceError> {
            Ok(place.whole_if_stated(field, value)?.filter(|each| *each > 0))
        };
        let (field, each, all) = match each("memory_per_node", &self.memory_per_node)? {
            Some(each) => {
                let on_one = Decimal::new(each, 0).ok();
                ("memory_per_node", each, on_one.and_then(|one| product(one, nodes)))
            }
            None => match each("memory_per_cpu", &self.memory_per_cpu)? {
                Some(each) => ("memory_per_cpu", each, product(cpus, each)),
                None => return Ok(None),
            },
        };
        all.map(Some).ok_or_else(|| place.refused(field, &each.to_string(), "is too much"))
    }
}

/// `gres/gpu:a100:2` and `gres:gpu:a100:2` as `gpu:a100:2`; without cpus, memory and licences.
fn generic_only(text: &str) -> String {
    let entries = text.split(',').map(str::trim).filter_map(|entry| {
        let marked = entry.strip_prefix("gres/").or_else(|| entry.strip_prefix("gres:"));
        let bare = marked.unwrap_or(entry).replace('=', ":");
        let kind = entry.split(['/', ':', '=']).next().unwrap_or_default();
        (marked.is_some() || !OTHERS.contains(&kind)).then_some(bare)
    });
    entries.collect::<Vec<_>>().join(",")
}

fn product(amount: Decimal, times: u64) -> Option<Decimal> {
    let units = amount.scaled(amount.exponent())?.checked_mul(u128::from(times))?;
    Decimal::from_units(units, amount.exponent().into()).ok()
}
