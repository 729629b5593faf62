//! Jobs: what each of their nodes has to give them, and how many such tasks there are.

use super::array;
use super::values::{Amounts, Number, Place, Stated, Words, number, tres};
use crate::report::ImportReport;
use fairplan_instances::{Decimal, InstanceError};
use hashbrown::HashSet;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A job as far as it concerns an instance.
pub(super) struct Job {
    pub(super) user: String,
    pub(super) account: String,
    /// As the job states it: where it waits for several, they are separated by commas.
    pub(super) partition: String,
    pub(super) partitions: BTreeSet<String>,
    /// Of one task, that is of one of the job's nodes.
    pub(super) demand: Amounts,
    /// The types of generic resources that it asks for: `gpu:a100`.
    pub(super) types: BTreeSet<String>,
    pub(super) tasks: u64,
    /// The list of nodes where it runs; empty while it waits.
    pub(super) runs_on: String,
}

#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    user_name: Option<String>,
    #[serde(default)]
    user_id: Option<Number>,
    #[serde(default)]
    account: Option<String>,
    #[serde(default)]
    partition: Option<String>,
    #[serde(default)]
    job_state: Words,
    #[serde(default)]
    node_count: Option<Number>,
    #[serde(default)]
    cpus: Option<Number>,
    #[serde(default)]
    tres_req_str: Option<String>,
    #[serde(default)]
    tres_alloc_str: Option<String>,
    #[serde(default)]
    array_task_string: Option<String>,
    /// A text in every version; what else it may be is not looked at.
    #[serde(default)]
    nodes: Value,
}

/// Tells a job from all others: its number, with what has parts of arrays and of heterogeneous jobs apart should they be listed
/// under one, and clusters where several were asked.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Identity {
    cluster: String,
    id: u64,
    array_task: Option<u64>,
    het_offset: Option<u64>,
}

impl Identity {
    /// What the fields of a job say; nothing of one without a number.
    fn of(job: &Value) -> Option<Self> {
        // Numbers are plain, or wrapped to say whether they are set; a plain null is none.
        let whole = |key: &str| {
            let number = Number::deserialize(job.get(key)?).ok()?.value()?;
            (number >= 0.0).then_some(number as u64)
        };
        let cluster = job.get("cluster").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (array_task, het_offset) = (whole("array_task_id"), whole("het_job_offset"));
        Some(Self { cluster, id: whole("job_id")?, array_task, het_offset })
    }
}

/// The jobs of a document that run or wait; `met` are those that were read, which are left out where they are named again.
pub(super) fn read(
    file: &str,
    document: &Value,
    met: &mut HashSet<Identity>,
    report: &mut ImportReport,
) -> Result<Vec<Job>, InstanceError> {
    let (_, elements) = array(file, document, &["jobs"], "squeue --json")?;
    let mut jobs = Vec::new();
    for (position, element) in elements.iter().enumerate() {
        let id = element
            .get("job_id")
            .and_then(Value::as_u64)
            .map_or(format!("number {}", position + 1), |id| id.to_string());
        let place = Place { file, object: format!("job {id}") };
        let fields: Fields = place.read(element)?;
        if Identity::of(element).is_some_and(|identity| !met.insert(identity)) {
            report.one("jobs left out: named a second time");
            continue;
        }
        let states = fields.job_state.states();
        if states.contains("running") || states.contains("pending") {
            report.one(if states.contains("running") { "jobs running" } else { "jobs pending" });
            jobs.push(job(&place, fields, report)?);
        } else {
            let state = states.into_iter().next().unwrap_or_else(|| "no state".into());
            report.one(format!("jobs left out: {state}"));
        }
    }
    Ok(jobs)
}

fn job(place: &Place, fields: Fields, report: &mut ImportReport) -> Result<Job, InstanceError> {
    let stated = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (field, text) = match (stated(&fields.tres_alloc_str), stated(&fields.tres_req_str)) {
        (Some(text), _) => ("tres_alloc_str", text),
        (None, Some(text)) => ("tres_req_str", text),
        // Versions without these strings state the cpus at least.
        (None, None) => {
            report.one("jobs state no memory (only cpus count)");
            ("cpus", format!("cpu={}", place.whole("cpus", &fields.cpus)?))
        }
    };
    let Stated { amounts: whole, types, nodes } =
        tres(&text).map_err(|(value, problem)| place.refused(field, value, problem))?;
    let nodes = nodes.max(number(&fields.node_count).map_or(0, |count| count as u64)).max(1);
    let demand = whole.into_iter().map(|(name, amount)| {
        let part = divided(amount, nodes)
            .ok_or_else(|| place.refused(field, &text, "cannot be divided among the job's nodes"))?;
        Ok((name, part))
    });
    let elements = match stated(&fields.array_task_string) {
        Some(indices) => array_elements(&indices).ok_or_else(|| {
            place.refused("array_task_string", &indices, "must be indices such as 1-10:2,15%4")
        })?,
        None => 1,
    };
    let partition = fields.partition.unwrap_or_default();
    let user = stated(&fields.user_name)
        .or_else(|| number(&fields.user_id).map(|id| format!("{id}")))
        .unwrap_or_else(|| "unknown".into());
    Ok(Job {
        user,
        account: stated(&fields.account).unwrap_or_else(|| "no account".into()),
        partitions: partition.split(',').map(str::to_owned).collect(),
        partition,
        demand: demand.collect::<Result<_, InstanceError>>()?,
        types,
        tasks: elements.saturating_mul(nodes),
        runs_on: fields.nodes.as_str().unwrap_or_default().to_owned(),
    })
}

/// An `n`th of an amount, to nine decimals and rounded up, so that no node is asked for too little.
fn divided(amount: Decimal, n: u64) -> Option<Decimal> {
    if n == 1 {
        return Some(amount);
    }
    let exponent = amount.exponent().min(-9);
    Decimal::from_units(amount.scaled(exponent)?.div_ceil(u128::from(n)), exponent.into()).ok()
}

/// How many elements of an array `1-10:2,15%4` names.
fn array_elements(text: &str) -> Option<u64> {
    let indices = text.split('%').next()?;
    // Slurm cuts off long lists.
    let parts = indices.split(',').filter(|part| !part.is_empty() && *part != "...");
    parts
        .map(|part| {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last, step): (u64, u64, u64) =
                (first.parse().ok()?, last.parse().ok()?, step.parse().ok()?);
            last.checked_sub(first)?.checked_div(step)?.checked_add(1)
        })
        .try_fold(0u64, |sum, count| sum.checked_add(count?))
        .filter(|count| (1..=1_000_000_000).contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_arrays_count_their_elements() {
        for (text, count) in [("1-10", Some(10)), ("1-10:3", Some(4)), ("5", Some(1)), ("1,3,7-8%2", Some(4))]
        {
            assert_eq!(array_elements(text), count, "{text}");
        }
        for text in ["a", "10-1", "1-10:0", "", "0-18446744073709551615"] {
            assert_eq!(array_elements(text), None, "{text}");
        }
    }

    #[test]
    fn a_request_is_divided_among_nodes_and_rounded_up() {
        let divided = |text: &str, n| super::divided(text.parse().unwrap(), n).unwrap().to_string();
        assert_eq!(divided("64", 4), "16");
        assert_eq!(divided("1", 3), "0.333333334");
    }
}
