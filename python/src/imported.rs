//! Instances from the files of other systems.

use crate::call::Call;
use crate::count::counted;
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::answered;
use crate::instance::Instance;
use fairplan::imports::{
    self, AlibabaGpu2023Options, AzureV1InstanceOptions, EqualServers, Google2011Options, Google2011Report,
    ImportFailure, ImportReport, KubernetesOptions, KubernetesQueuesOptions, KueueOptions, PresentCluster,
    SlurmOptions, YarnOptions,
};
use fairplan::instances::Violation;
use fairplan::{Control, Error, Placed, Progress};
use pyo3::prelude::*;
use std::str::FromStr;
use std::sync::Arc;

/// Imports, and tells what was read and what was left out.
fn imported<R>(
    py: Python<'_>,
    call: &Call,
    import: impl FnOnce() -> Result<(fairplan::Instance, R), ImportFailure<R>> + Send + 'static,
) -> PyResult<Instance>
where
    ImportReport: for<'a> From<&'a R>,
{
    let outcome = call.run(py, move |control| told(control, import()))?;
    answered(py, outcome).map(|instance| Instance(Arc::new(instance)))
}

/// A cluster, and where it was asked for what runs where now.
type Present = (Instance, Option<Document>);

/// The same with what runs where now, which `system` has placed.
fn imported_with_placement<R>(
    py: Python<'_>,
    call: &Call,
    system: &'static str,
    import: impl FnOnce() -> Result<(PresentCluster, R), ImportFailure<R>> + Send + 'static,
) -> PyResult<Present>
where
    ImportReport: for<'a> From<&'a R>,
{
    let outcome = call.run(py, move |control| {
        let PresentCluster { instance, placement } = told(control, import())?;
        let present = Placed::present(&instance, placement, system);
        let bytes = json(&present.document(&instance, true))?;
        Ok((instance, Document::of("placement", bytes)?))
    })?;
    answered(py, outcome).map(|(instance, placement)| (Instance(Arc::new(instance)), Some(placement)))
}

/// What was imported. All counts are told as progress, also where they make no instance, and what is left out is noted.
fn told<T, R>(control: &Control<'_>, outcome: Result<(T, R), ImportFailure<R>>) -> Result<T, Error>
where
    ImportReport: for<'a> From<&'a R>,
{
    let tell = |report: &R| {
        let report = ImportReport::from(report);
        let text = report.to_string();
        if !text.is_empty() {
            (control.progress)(Progress::Step(text.trim_end()));
        }
        report.left_out().for_each(|line| control.note(&line));
    };
    let (imported, report) = outcome.inspect_err(|failure| tell(&failure.report))?;
    tell(&report);
    Ok(imported)
}

fn chosen<T: FromStr<Err = Violation>>(py: Python<'_>, text: &str) -> PyResult<T> {
    answered(py, text.parse().map_err(Error::from))
}

/// What is read of a Kubernetes cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Kubernetes {
    nodes: Vec<String>,
    pods: Vec<String>,
    quotas: Vec<String>,
    group_by: String,
    group: String,
    resources: Option<Vec<String>>,
    daemons: String,
    all_nodes: bool,
    rules: bool,
    gangs: Vec<String>,
    domain: String,
}

/// A Kubernetes cluster.
#[pyfunction]
pub fn import_kubernetes(
    py: Python<'_>,
    options: Kubernetes,
    placement_out: bool,
    call: Call,
) -> PyResult<Present> {
    let options = KubernetesOptions {
        nodes: options.nodes,
        pods: options.pods,
        quotas: options.quotas,
        owner: chosen(py, &options.group_by)?,
        grouping: chosen(py, &options.group)?,
        resources: options.resources,
        daemons: chosen(py, &options.daemons)?,
        all_nodes: options.all_nodes,
        rules: options.rules,
        gangs: options.gangs,
        domain: options.domain,
    };
    if placement_out {
        return imported_with_placement(py, &call, "kubernetes", move || {
            imports::kubernetes_present(&options)
        });
    }
    Ok((imported(py, &call, move || imports::kubernetes(&options))?, None))
}

/// Queues over the nodes of a Kubernetes cluster.
#[pyfunction]
pub fn import_kubernetes_queues(
    py: Python<'_>,
    nodes: Vec<String>,
    queues: Vec<String>,
    call: Call,
) -> PyResult<Instance> {
    let options = KubernetesQueuesOptions { nodes, queues };
    imported(py, &call, move || imports::kubernetes_queues(&options))
}

/// What is read of a Slurm cluster.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Slurm {
    nodes: Vec<String>,
    jobs: Vec<String>,
    accounts: Vec<String>,
    user: String,
    group: String,
    all_nodes: bool,
    rules: bool,
    topology: Vec<String>,
}

/// A Slurm cluster.
#[pyfunction]
pub fn import_slurm(py: Python<'_>, options: Slurm, placement_out: bool, call: Call) -> PyResult<Present> {
    let options = SlurmOptions {
        nodes: options.nodes,
        jobs: options.jobs,
        accounts: options.accounts,
        owner: chosen(py, &options.user)?,
        grouping: chosen(py, &options.group)?,
        all_nodes: options.all_nodes,
        rules: options.rules,
        topology: options.topology,
    };
    if placement_out {
        return imported_with_placement(py, &call, "slurm", move || imports::slurm_present(&options));
    }
    Ok((imported(py, &call, move || imports::slurm(&options))?, None))
}

/// A YARN cluster.
#[pyfunction]
pub fn import_yarn(py: Python<'_>, nodes: Vec<String>, queues: String, call: Call) -> PyResult<Instance> {
    let options = YarnOptions { nodes, queues };
    imported(py, &call, move || imports::yarn(&options))
}

/// Kueue's queues.
#[pyfunction]
pub fn import_kueue(
    py: Python<'_>,
    files: Vec<String>,
    nodes: Vec<String>,
    user: &str,
    weights: &str,
    call: Call,
) -> PyResult<Instance> {
    let options = KueueOptions { files, nodes, users: chosen(py, user)?, weights: chosen(py, weights)? };
    imported(py, &call, move || imports::kueue(&options))
}

/// What is read of Google's cluster of 2011.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Google2011 {
    machine_events: Vec<String>,
    task_events: Vec<String>,
    #[pyo3(from_py_with = counted)]
    at: u64,
    last_shapes: bool,
    group: String,
}

/// Google's cluster of 2011 at a moment.
#[pyfunction]
pub fn import_google_2011(
    py: Python<'_>,
    options: Google2011,
    placement_out: bool,
    call: Call,
) -> PyResult<Present> {
    let Google2011 { machine_events, task_events, at, last_shapes, group } = options;
    let grouping = chosen(py, &group)?;
    let options = Google2011Options { machine_events, task_events, at, last_shapes, grouping };
    if placement_out {
        return imported_with_placement(py, &call, "google", move || imports::google_2011_present(&options));
    }
    Ok((imported::<Google2011Report>(py, &call, move || imports::google_2011(&options))?, None))
}

/// Alibaba's GPU cluster of 2023.
#[pyfunction]
pub fn import_alibaba_gpu2023(
    py: Python<'_>,
    nodes: String,
    pods: String,
    #[pyo3(from_py_with = counted)] at: Option<u64>,
    group: &str,
    devices: bool,
    call: Call,
) -> PyResult<Instance> {
    let options = AlibabaGpu2023Options { nodes, pods, at, grouping: chosen(py, group)?, devices };
    imported(py, &call, move || imports::alibaba_gpu2023_instance(&options))
}

/// Equal servers that no file tells of: how many, and the cores and memory of each.
pub type GivenServers = (u64, Exact, Exact);

/// These servers.
pub fn equal((count, cores, memory): GivenServers) -> EqualServers {
    EqualServers { count, capacity: vec![cores.0, memory.0] }
}

/// What arrived at Azure, over servers that are chosen.
#[pyfunction]
pub fn import_azure_v1(
    py: Python<'_>,
    arrivals: Vec<String>,
    sizes: String,
    #[pyo3(from_py_with = counted)] start: u64,
    #[pyo3(from_py_with = counted)] until: Option<u64>,
    servers: GivenServers,
    call: Call,
) -> PyResult<Instance> {
    let seconds = start..until.unwrap_or(u64::MAX);
    let options = AzureV1InstanceOptions { arrivals, sizes, seconds, servers: equal(servers) };
    imported(py, &call, move || imports::azure_v1_instance(&options))
}
