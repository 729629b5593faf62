//! Nodes: one by one as Slurm 21.08 has them and `scontrol` still does, or by partition and state as `sinfo` has them now.

use super::partitions::Partitions;
use super::printed::array;
use super::values::{Amounts, Number, Record, Stated, Words, gres, number};
use fairplan_instances::{Decimal, InstanceError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A node as far as it concerns an instance.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) partitions: BTreeSet<String>,
    pub(super) capacity: Amounts,
    /// The types of its generic resources: `gpu:a100`.
    pub(super) types: BTreeSet<String>,
    /// Whether it has cores or memory for the system only, which are no part of its capacity.
    pub(super) keeps_some: bool,
    /// Whether it is listed together with larger ones, so that it may have more than its capacity.
    pub(super) may_be_larger: bool,
    /// The state that keeps it from taking jobs, if one does.
    pub(super) closed: Option<String>,
    /// What is to be told of its other states.
    pub(super) told: Vec<String>,
}

impl Node {
    /// Whether it has several types of one generic resource.
    pub(super) fn has_several_types_of_one(&self) -> bool {
        let kind = |name: &String| name.split(':').next().map(str::to_owned);
        let kinds: BTreeSet<Option<String>> = self.types.iter().map(kind).collect();
        kinds.len() < self.types.len()
    }

    /// Takes what another list says of the same node: its partitions, and its size where that is known better.
    pub(super) fn learn(&mut self, other: Self) {
        self.partitions.extend(other.partitions);
        if self.may_be_larger && !other.may_be_larger {
            (self.capacity, self.types) = (other.capacity, other.types);
            (self.keeps_some, self.may_be_larger) = (other.keeps_some, false);
        }
    }
}

#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    name: String,
    cpus: Option<Number>,
    /// The cpus that jobs may have, where some are kept for the system (CoreSpecCount, CpuSpecList).
    effective_cpus: Option<Number>,
    real_memory: Option<Number>,
    /// What is kept for the system (MemSpecLimit), in MiB.
    specialized_memory: Option<Number>,
    #[serde(default)]
    gres: Option<String>,
    #[serde(default)]
    partitions: Words,
    #[serde(default)]
    state: Words,
    #[serde(default)]
    state_flags: Words,
}

#[derive(Deserialize)]
struct GroupFields {
    nodes: GroupNodes,
    cpus: Range,
    memory: Range,
    #[serde(default)]
    gres: GroupGres,
    #[serde(default)]
    partition: GroupPartition,
    #[serde(default)]
    node: GroupState,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with a list \"nodes\" of names, as `sinfo --json` prints it")]
struct GroupNodes {
    #[serde(default)]
    nodes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with \"minimum\" and \"maximum\", as `sinfo --json` prints it")]
struct Range {
    minimum: Option<Number>,
    maximum: Option<Number>,
}

#[derive(Deserialize, Default)]
#[serde(expecting = "an object with \"total\", as `sinfo --json` prints it")]
struct GroupGres {
    #[serde(default)]
    total: String,
}

#[derive(Deserialize, Default)]
#[serde(expecting = "an object with \"name\", as `sinfo --json` prints it")]
struct GroupPartition {
    #[serde(default)]
    name: String,
    #[serde(default)]
    maximums: Value,
    /// In which its state is.
    #[serde(default)]
    partition: Value,
}

#[derive(Deserialize, Default)]
#[serde(expecting = "an object with \"state\", as `sinfo --json` prints it")]
struct GroupState {
    #[serde(default)]
    state: Words,
}

/// States in which a node takes no jobs. A node that sleeps in the cloud (`powered_down`) is woken for a job.
///
/// Source: Slurm's documentation, `sinfo`, "Node state codes", and the names that its data parsers give them.
const CLOSED: [&str; 16] = [
    "down",
    "drain",
    "drained",
    "draining",
    "fail",
    "failing",
    "maint",
    "maintenance",
    "power_drain",
    "error",
    "unknown",
    "not_responding",
    "future",
    "dynamic_future",
    "invalid",
    "invalid_reg",
];

/// The others: states in which it does, or will soon, and flags beside them.
const OPEN: [&str; 21] = [
    "idle",
    "allocated",
    "alloc",
    "mixed",
    "mix",
    "completing",
    "comp",
    "planned",
    "blocked",
    "cloud",
    "dynamic_norm",
    "external",
    "perfctrs",
    "power_down",
    "powering_down",
    "powered_down",
    "power_up",
    "powering_up",
    "reboot_requested",
    "reboot_issued",
    "resume",
];

/// The nodes of a document, and what it says of their partitions.
pub(super) fn read(
    file: &str,
    document: &Value,
    partitions: &mut Partitions,
) -> Result<Vec<Node>, InstanceError> {
    let (form, elements) = array(file, document, &["nodes", "sinfo"], "scontrol show nodes --json")?;
    let mut nodes = Vec::new();
    for (position, element) in elements.iter().enumerate() {
        if form == 0 {
            nodes.push(node(file, position, element)?);
        } else {
            group(file, position, element, &mut nodes, partitions)?;
        }
    }
    Ok(nodes)
}

fn node(file: &str, position: usize, element: &Value) -> Result<Node, InstanceError> {
    let name = element
        .get("name")
        .and_then(Value::as_str)
        .map_or_else(|| format!("{}", position + 1), str::to_owned);
    let place = Record { file, object: format!("node {name}") };
    let fields: Fields = place.read(element)?;
    let all_cpus = place.whole("cpus", &fields.cpus)?;
    let all_memory = place.whole("real_memory", &fields.real_memory)?;
    // Slurm states 0 where it does not know.
    let effective = place.whole_if_stated("effective_cpus", &fields.effective_cpus)?;
    let cpus = effective.filter(|cpus| *cpus > 0).unwrap_or(all_cpus);
    let kept = place.whole_if_stated("specialized_memory", &fields.specialized_memory)?;
    let memory = all_memory.saturating_sub(kept.unwrap_or(0));
    let (capacity, types) = has(&place, cpus, memory, fields.gres.as_deref().unwrap_or_default())?;
    let mut states = fields.state.states();
    states.extend(fields.state_flags.states());
    let name = if fields.name.is_empty() { name } else { fields.name };
    Ok(Node {
        name,
        partitions: fields.partitions.list().into_iter().collect(),
        capacity,
        types,
        keeps_some: cpus < all_cpus || memory < all_memory,
        may_be_larger: false,
        closed: closed(&states),
        told: told(&states),
    })
}

/// Nodes that `sinfo` lists together; their sizes are those of the smallest where they differ.
fn group(
    file: &str,
    position: usize,
    element: &Value,
    nodes: &mut Vec<Node>,
    partitions: &mut Partitions,
) -> Result<(), InstanceError> {
    let place = Record { file, object: format!("sinfo[{position}]") };
    let fields: GroupFields = place.read(element)?;
    let GroupPartition { name: partition, maximums, partition: state } = fields.partition;
    partitions.learn(&partition, &maximums, &state);
    if fields.nodes.nodes.is_empty() {
        return Ok(());
    }
    let cpus = place.whole("cpus.minimum", &fields.cpus.minimum)?;
    let memory = place.whole("memory.minimum", &fields.memory.minimum)?;
    let largest = (number(&fields.cpus.maximum), number(&fields.memory.maximum));
    let may_be_larger = largest != (Some(cpus as f64), Some(memory as f64));
    let (capacity, types) = has(&place, cpus, memory, &fields.gres.total)?;
    for name in fields.nodes.nodes {
        nodes.push(Node {
            name,
            partitions: BTreeSet::from([partition.clone()]),
            capacity: capacity.clone(),
            types: types.clone(),
            keeps_some: false,
            may_be_larger,
            closed: closed(&fields.node.state.states()),
            told: told(&fields.node.state.states()),
        });
    }
    Ok(())
}

/// What a node has, and the types of it.
fn has(
    place: &Record,
    cpus: u64,
    memory: u64,
    generic: &str,
) -> Result<(Amounts, BTreeSet<String>), InstanceError> {
    let Stated { amounts: mut capacity, types, .. } =
        gres(generic).map_err(|(value, problem)| place.refused("gres", value, problem))?;
    for (name, amount) in [("cpu", cpus), ("memory", memory)] {
        let amount = Decimal::new(amount, 0)
            .map_err(|error| place.refused(name, &amount.to_string(), &error.to_string()))?;
        capacity.insert(name.into(), amount);
    }
    Ok((capacity, types))
}

/// Older versions append marks to the state, such as * where the node does not respond.
const MARKS: [char; 9] = ['*', '~', '#', '!', '%', '$', '@', '^', '-'];

fn closed(states: &BTreeSet<String>) -> Option<String> {
    let of = |state: &String| match state.trim_end_matches(MARKS) {
        bare if CLOSED.contains(&bare) => Some(bare.to_owned()),
        _ if state.ends_with('*') => Some("not_responding".to_owned()),
        _ if state.ends_with('$') => Some("maintenance".to_owned()),
        _ => None,
    };
    states.iter().find_map(of)
}

/// What is to be told of states in which a node takes jobs.
fn told(states: &BTreeSet<String>) -> Vec<String> {
    let of = |state: &String| match state.trim_end_matches(MARKS) {
        "reserved" | "resv" => Some("nodes reserved for some jobs, which count for everybody".to_owned()),
        bare if CLOSED.contains(&bare) || OPEN.contains(&bare) => None,
        other => Some(format!("nodes in state {other}, which is not known: they count")),
    };
    states.iter().filter_map(of).collect()
}
