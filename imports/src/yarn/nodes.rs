//! Nodes as the ResourceManager's REST service lists them, or as the load simulator's files do.

use crate::manifests::{documents, in_field, plain};
use crate::report::ImportReport;
use fairplan_instances::{Decimal, InstanceError, Violation};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashSet;

/// What the load simulator gives a node of which its file states no size (`yarn.sls.nm.memory.mb`, `…vcores`).
const DEFAULT: [u64; 2] = [10_240, 10];

/// What prints such a file.
const COMMAND: &str = "curl http://RESOURCE-MANAGER:8088/ws/v1/cluster/nodes";

/// A node that runs.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) capacity: Vec<Decimal>,
    /// The label that keeps tasks away which do not name it.
    pub(super) label: Option<String>,
}

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    id: String,
    #[serde(rename = "nodeHostName", default)]
    host: String,
    #[serde(default)]
    state: String,
    #[serde(rename = "usedMemoryMB", default)]
    used_memory: i64,
    /// Below zero where a node became smaller than what runs on it.
    #[serde(rename = "availMemoryMB")]
    free_memory: Option<i64>,
    #[serde(rename = "usedVirtualCores", default)]
    used_cores: i64,
    #[serde(rename = "availableVirtualCores")]
    free_cores: Option<i64>,
    #[serde(rename = "totalResource")]
    total: Option<Size>,
    #[serde(rename = "nodeLabels", default)]
    labels: Value,
}

#[derive(Deserialize)]
struct Size {
    memory: u64,
    #[serde(rename = "vCores")]
    cores: u64,
    #[serde(rename = "resourceInformations", default)]
    all: Value,
}

impl Size {
    /// What there is beside memory and vcores.
    fn others(&self) -> impl Iterator<Item = &str> {
        let listed = self.all.get("resourceInformation").and_then(Value::as_array).into_iter().flatten();
        let has_some =
            |one: &&Value| one.get("value").and_then(Value::as_f64).is_some_and(|value| value > 0.0);
        let names = listed.filter(has_some).filter_map(|one| one.get("name")?.as_str());
        names.filter(|name| !["memory-mb", "memory", "vcores"].contains(name))
    }
}

#[derive(Deserialize)]
struct Simulated {
    node: String,
    #[serde(rename = "memory-mb")]
    memory: Option<u64>,
    vcores: Option<u64>,
    #[serde(default)]
    labels: Value,
}

/// The nodes of all files.
pub(super) fn read(files: &[String], report: &mut ImportReport) -> Result<Vec<Listed>, InstanceError> {
    let (mut servers, mut ids) = (Vec::new(), HashSet::new());
    for file in files {
        for document in documents(file, COMMAND)? {
            match document.get("nodes") {
                Some(Value::Array(nodes)) => {
                    for node in nodes {
                        servers.push(simulated(file, &place(node, "node", servers.len()), node, report)?);
                    }
                }
                Some(Value::Object(listed)) => {
                    // A single one may stand without a list, as where XML was made JSON.
                    let nodes = match listed.get("node") {
                        Some(Value::Array(nodes)) => nodes.as_slice(),
                        None | Some(Value::Null) => &[],
                        Some(node) => std::slice::from_ref(node),
                    };
                    for node in nodes {
                        let id = node.get("id").and_then(Value::as_str).unwrap_or_default();
                        if !id.is_empty() && !ids.insert(id.to_owned()) {
                            report.named("nodes left out: named a second time", id);
                            continue;
                        }
                        servers.extend(self::listed(file, &place(node, "id", servers.len()), node, report)?);
                    }
                }
                Some(Value::Null) => {
                    let problem = format!(
                        "is null: the resource manager knew no node when it was asked; `{COMMAND}` lists those that have joined it"
                    );
                    return Err(refused(file, "nodes", &problem));
                }
                _ => {
                    let problem = format!("there are no nodes here; `{COMMAND}` lists them");
                    return Err(refused(file, "nodes", &problem));
                }
            }
        }
    }
    let without = servers.iter().filter(|server| server.capacity[1].is_zero()).count();
    if without > 0 && without == servers.len() {
        let problem = "no node states vcores, of which every task takes some; add availableVirtualCores and usedVirtualCores, or \
                       totalResource with memory and vCores, to each node";
        return Err(refused(&crate::files::together(files), "nodes", problem));
    }
    report.add(without as u64, "nodes state no vcores: no task fits there");
    report.add(servers.len() as u64, "nodes");
    Ok(servers)
}

fn simulated(
    file: &str,
    place: &str,
    node: &Value,
    report: &mut ImportReport,
) -> Result<Listed, InstanceError> {
    if !node.get("node").is_some_and(Value::is_string) {
        let problem = match node.get("real_memory") {
            Some(_) => "has no \"node\": this is what Slurm prints, which `import slurm` reads".to_owned(),
            None => format!(
                "has no \"node\", its name in a node list of the load simulator; `{COMMAND}` lists the nodes of a cluster"
            ),
        };
        return Err(refused(file, place, &problem));
    }
    let Simulated { node, memory, vcores, labels } = understood(file, place, node)?;
    if memory.is_none() || vcores.is_none() {
        report.one("nodes without a size: taken as the load simulator's default, 10240 MiB and 10 vcores");
    }
    let label = label(&labels, report);
    server(file, node, memory.unwrap_or(DEFAULT[0]), vcores.unwrap_or(DEFAULT[1]), label)
}

fn listed(
    file: &str,
    place: &str,
    node: &Value,
    report: &mut ImportReport,
) -> Result<Option<Listed>, InstanceError> {
    let node: Report = understood(file, place, node)?;
    if !node.state.is_empty() && node.state != "RUNNING" {
        report.one(format!("nodes left out: {}", node.state.to_lowercase()));
        return Ok(None);
    }
    let label = label(&node.labels, report);
    let name = if node.host.is_empty() { node.id } else { node.host };
    let sum = |used: i64, free: i64| u64::try_from(used.saturating_add(free)).unwrap_or(0);
    let (memory, cores) = match &node.total {
        Some(size) => {
            for other in size.others() {
                report.one(format!(
                    "nodes have {other}, which is left out: tasks of queues are counted in memory and vcores"
                ));
            }
            (size.memory, size.cores)
        }
        None => {
            if node.free_cores.is_none() && node.used_cores > 0 {
                report.one("nodes state no availableVirtualCores: only the vcores in use count");
            }
            if node.free_memory.is_none() {
                report.one("nodes state no availMemoryMB: only the memory in use counts");
            }
            let memory = sum(node.used_memory, node.free_memory.unwrap_or(0));
            if memory == 0 {
                report.one("nodes whose memory, in use and free, comes to nothing: no task fits there");
            }
            (memory, sum(node.used_cores, node.free_cores.unwrap_or(0)))
        }
    };
    server(file, name, memory, cores, label).map(Some)
}

/// A node as what it should be; what is wrong is told by field and value.
fn understood<T: DeserializeOwned>(file: &str, place: &str, node: &Value) -> Result<T, InstanceError> {
    serde_path_to_error::deserialize(node).map_err(|error| {
        refused(file, &in_field(place, &error.path().to_string()), &plain(&error.inner().to_string()))
    })
}

/// The first of a node's labels; a node of YARN belongs to one partition. They are a list of names or of objects that have one, or one
/// text, as in the load simulator's own files: `label1, label2(exclusive=false)`.
fn label(labels: &Value, report: &mut ImportReport) -> Option<String> {
    let name = |label: &Value| label.as_str().or_else(|| label.get("name")?.as_str()).map(str::to_owned);
    let bare = |label: String| label.split('(').next().unwrap_or_default().trim().to_owned();
    let stated: Vec<String> = match labels {
        Value::String(all) => all.split(',').map(str::to_owned).collect(),
        _ => labels.as_array().into_iter().flatten().filter_map(name).collect(),
    };
    let labels: Vec<String> = stated.into_iter().map(bare).filter(|name| !name.is_empty()).collect();
    report.add(u64::from(labels.len() > 1), "nodes with several labels, of which the first counts");
    labels.into_iter().next()
}

fn server(
    file: &str,
    name: String,
    memory: u64,
    cores: u64,
    label: Option<String>,
) -> Result<Listed, InstanceError> {
    let exact =
        |amount: u64| Decimal::new(amount, 0).map_err(|error| refused(file, &name, &error.to_string()));
    let capacity = vec![exact(memory)?, exact(cores)?];
    Ok(Listed { name, capacity, label })
}

fn place(node: &Value, key: &str, position: usize) -> String {
    node.get(key)
        .and_then(Value::as_str)
        .map_or(format!("node {}", position + 1), |name| format!("node {name}"))
}

fn refused(file: &str, place: &str, problem: &str) -> InstanceError {
    InstanceError::Invalid { file: file.into(), violation: Violation::new(place, "", problem) }
}
