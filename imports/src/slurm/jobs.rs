//! Jobs: what each of their nodes has to give them, and how many such tasks there are.

use super::asked::Asked;
use super::partitions::Partitions;
use super::printed::array;
use super::shares::{Share, generic, held, shares};
use super::values::{Number, Record, Words, number, tres};
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
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
    /// The types of generic resources that it asks for: `gpu:a100`.
    pub(super) types: BTreeSet<String>,
    /// How many nodes it runs on at once; of an array each of its elements.
    pub(super) nodes: u64,
    /// Below so many switches it is to run; 0 for any number.
    pub(super) switches: u64,
    /// Whether it takes its nodes whole, whatever it asks for.
    pub(super) is_exclusive: bool,
    /// Whether it asks for so much memory for each cpu.
    pub(super) memory_is_by_cpu: bool,
    /// Its tasks, one a node.
    pub(super) shares: Vec<Share>,
}

impl Job {
    /// The nodes where it runs; none while it waits.
    pub(super) fn runs_on(&self) -> impl Iterator<Item = &String> {
        self.shares.iter().flat_map(|share| &share.on)
    }
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
    /// What it is in other versions is not looked at.
    #[serde(default)]
    required_switches: Value,
    #[serde(default)]
    cpus: Option<Number>,
    #[serde(default)]
    tres_req_str: Option<String>,
    #[serde(default)]
    tres_alloc_str: Option<String>,
    #[serde(default)]
    array_task_string: Option<String>,
    /// What is said of sharing nodes, in words that changed from version to version.
    #[serde(default)]
    shared: Value,
    #[serde(default)]
    exclusive: Value,
    /// A text in every version; what else it may be is not looked at.
    #[serde(default)]
    nodes: Value,
    /// Of a running job one text a node, such as `gpu:h100:4(IDX:0-3)`.
    #[serde(default)]
    gres_detail: Words,
    /// What a running job has on each node, as far as it is understood.
    #[serde(default)]
    job_resources: Value,
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
    /// The cluster of the job, empty where the file names none.
    pub(super) fn cluster(&self) -> &str {
        &self.cluster
    }

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
    partitions: &Partitions,
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
        let place = Record { file, object: format!("job {id}") };
        let fields: Fields = place.read(element)?;
        let asked: Asked = place.read(element)?;
        if Identity::of(element).is_some_and(|identity| !met.insert(identity)) {
            report.one("jobs left out: named a second time");
            continue;
        }
        if element.get("job_state").is_none() && element.pointer("/state/current").is_some() {
            let problem = "is not there, but state.current is, as in what `sacct --json` prints; write what `squeue --json` prints";
            return Err(place.refused("job_state", "", problem));
        }
        let states = fields.job_state.states();
        if states.contains("running") || states.contains("pending") {
            let runs = states.contains("running");
            let named = fields.partition.clone().unwrap_or_default();
            // What runs in a partition goes on, whatever its state is.
            let may_use = match runs {
                true => named.split(',').map(str::to_owned).collect(),
                false => partitions.open(&named),
            };
            if may_use.is_empty() {
                report.named("jobs left out: they wait for a partition that starts none", &named);
                continue;
            }
            report.one(if runs { "jobs running" } else { "jobs pending" });
            unkept(element, states.contains("pending"), report);
            jobs.push(job(&place, (fields, asked), runs, may_use, report)?);
        } else {
            let state = states.into_iter().next().unwrap_or_else(|| "no state".into());
            report.one(format!("jobs left out: {state}"));
        }
    }
    Ok(jobs)
}

/// From here on a 16-bit number of cores or threads says that there is none.
const NOT_SET: f64 = 32_766.0;

/// Counts what a job asks for that is not kept.
fn unkept(job: &Value, is_pending: bool, report: &mut ImportReport) {
    let states = |key: &&str| job.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if ["features", "required_nodes", "excluded_nodes"].iter().any(states) {
        report.one("jobs with features, required or excluded nodes, which are not kept: here they may run on the others too");
    }
    // `resv_name` is what squeue calls it; others say `reservation`.
    if ["licenses", "resv_name", "reservation"].iter().any(states) {
        report.one("jobs with licenses or a reservation, which are not looked at");
    }
    let is_held = job.get("hold").and_then(Value::as_bool).unwrap_or_default();
    let reason = job.get("state_reason").and_then(Value::as_str).unwrap_or_default();
    let is_early = ["BeginTime", "JobHeldAdmin", "JobHeldUser"].contains(&reason);
    if is_pending && (is_held || is_early || states(&"dependency")) {
        report.one("jobs held, or waiting for other jobs or their begin time, counted like the others");
    }
    let whole = |key: &str| {
        let number = Number::deserialize(job.get(key)?).ok()?.value()?;
        // Where nothing is set older versions write one of the largest numbers.
        (number > 0.0 && number < NOT_SET).then_some(number)
    };
    let each = whole("cpus").unwrap_or(1.0) / whole("node_count").unwrap_or(1.0);
    for (applies, option) in [
        (whole("minimum_cpus_per_node").is_some_and(|least| is_pending && least > each), "--mincpus"),
        (whole("threads_per_core").is_some(), "--threads-per-core"),
        (whole("core_spec").is_some(), "--core-spec"),
        (whole("thread_spec").is_some(), "--thread-spec"),
    ] {
        if applies {
            report
                .one(format!("jobs with {option}, which is not kept: here the cpus that they ask for count"));
        }
    }
    let of_several = job.get("het_job_id").and_then(|id| Number::deserialize(id).ok()?.value());
    if of_several.is_some_and(|id| id > 0.0) {
        report.one("jobs in heterogeneous jobs, whose parts start together: here each starts for itself");
    }
}

/// How a job takes its nodes, by its `shared` and `exclusive`: words, lists of words, or yes and no.
///
/// Source: Slurm's documentation, `sbatch`, `--exclusive`; data parsers v0.0.36 to v0.0.44.
fn sharing(fields: &Fields) -> Sharing {
    let says = |value: &Value, word: &str| match value {
        Value::Bool(is_so) => *is_so && word == "true",
        Value::String(text) => text.eq_ignore_ascii_case(word),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).any(|other| other.eq_ignore_ascii_case(word))
        }
        _ => false,
    };
    let one_of =
        |words: &[&str]| words.iter().any(|word| says(&fields.shared, word) || says(&fields.exclusive, word));
    if says(&fields.shared, "none") || says(&fields.exclusive, "true") {
        Sharing::Nobody
    } else if one_of(&["user", "mcs", "topo"]) {
        Sharing::Some
    } else {
        Sharing::Anybody
    }
}

/// Beside whom a job runs.
enum Sharing {
    Anybody,
    /// Its own user's jobs, or others that it chooses.
    Some,
    Nobody,
}

fn job(
    place: &Record,
    (fields, asked): (Fields, Asked),
    runs: bool,
    partitions: BTreeSet<String>,
    report: &mut ImportReport,
) -> Result<Job, InstanceError> {
    let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (field, text) = match (said(&fields.tres_alloc_str), said(&fields.tres_req_str)) {
        (Some(text), _) => ("tres_alloc_str", text),
        (None, Some(text)) => ("tres_req_str", text),
        // Where these are left out the cpus are stated at least.
        (None, None) => ("cpus", format!("cpu={}", place.whole("cpus", &fields.cpus)?)),
    };
    let mut stated = tres(&text).map_err(|(value, problem)| place.refused(field, value, problem))?;
    let nodes = stated.nodes.max(number(&fields.node_count).map_or(0, |count| count as u64)).max(1);
    let there = match (runs, fields.nodes.as_str()) {
        (true, Some(list)) => held(place, list, &fields.job_resources, fields.gres_detail.texts())?,
        _ => Vec::new(),
    };
    for (name, amount) in generic(&there) {
        stated.amounts.entry(name).or_insert(amount);
    }
    asked.complete(place, nodes, &mut stated, report)?;
    let memory_is_by_cpu = asked.asks_for_memory_by_cpu();
    let mut shares = shares(place, field, (&stated.amounts, nodes), &there, report)?;
    let elements = match said(&fields.array_task_string) {
        Some(indices) => {
            if indices.contains("...") {
                report.one(CUT_OFF);
            }
            if indices.contains('%') {
                report.one("arrays that run only so many elements at once, which is left out");
            }
            array_elements(&indices).ok_or_else(|| {
                place.refused("array_task_string", &indices, "must be indices such as 1-10:2,15%4")
            })?
        }
        None => 1,
    };
    shares.iter_mut().for_each(|share| share.count = share.count.saturating_mul(elements));
    let sharing = sharing(&fields);
    if matches!(sharing, Sharing::Some) {
        report.one(
            "jobs with nodes for their own user alone (--exclusive=user, mcs or topo), which is not kept",
        );
    }
    let switches = Number::deserialize(&fields.required_switches).ok().and_then(|number| number.value());
    let partition = fields.partition.unwrap_or_default();
    let user = said(&fields.user_name)
        .or_else(|| number(&fields.user_id).map(|id| format!("{id}")))
        .unwrap_or_else(|| "unknown".into());
    Ok(Job {
        user,
        account: said(&fields.account).unwrap_or_else(|| "no account".into()),
        partitions,
        partition,
        types: stated.types,
        nodes,
        switches: switches.map_or(0, |switches| switches as u64),
        is_exclusive: matches!(sharing, Sharing::Nobody),
        memory_is_by_cpu: memory_is_by_cpu && !runs,
        shares,
    })
}

/// Said of a list that is longer than Slurm writes.
const CUT_OFF: &str = "arrays whose list of elements Slurm cut off: those listed count (SLURM_BITSTR_LEN=0 squeue --json lists all)";

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
}
