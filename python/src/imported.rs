//! Instances from the files of other systems.

use crate::call::Call;
use crate::failure::answered;
use crate::instance::Instance;
use fairplan::imports::{
    self, ImportFailure, ImportReport, KubernetesOptions, KueueOptions, SlurmOptions, YarnOptions,
};
use fairplan::instances::Violation;
use fairplan::{Control, Error, Progress};
use pyo3::prelude::*;
use std::str::FromStr;
use std::sync::Arc;

/// Imports, and tells what was read and what was left out.
fn imported(
    py: Python<'_>,
    call: &Call,
    import: impl FnOnce() -> Result<(fairplan::Instance, ImportReport), ImportFailure> + Send + 'static,
) -> PyResult<Instance> {
    let outcome = call.run(py, move |control: &Control<'_>| {
        control.stage("reading the files");
        let (instance, report) = import()?;
        (control.progress)(Progress::Step(report.to_string().trim_end()));
        Ok(instance)
    })?;
    answered(py, outcome).map(|instance| Instance(Arc::new(instance)))
}

fn chosen<T: FromStr<Err = Violation>>(py: Python<'_>, text: &str) -> PyResult<T> {
    answered(py, text.parse().map_err(Error::from))
}

/// A Kubernetes cluster.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn import_kubernetes(
    py: Python<'_>,
    nodes: Vec<String>,
    pods: Vec<String>,
    quotas: Vec<String>,
    user: &str,
    group: &str,
    resources: Option<Vec<String>>,
    daemons: &str,
    all_nodes: bool,
    call: Call,
) -> PyResult<Instance> {
    let (owner, grouping, daemons) = (chosen(py, user)?, chosen(py, group)?, chosen(py, daemons)?);
    let options = KubernetesOptions { nodes, pods, quotas, owner, grouping, resources, daemons, all_nodes };
    imported(py, &call, move || imports::kubernetes(&options))
}

/// A Slurm cluster.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn import_slurm(
    py: Python<'_>,
    nodes: Vec<String>,
    jobs: Vec<String>,
    accounts: Vec<String>,
    user: &str,
    group: &str,
    all_nodes: bool,
    call: Call,
) -> PyResult<Instance> {
    let options = SlurmOptions {
        nodes,
        jobs,
        accounts,
        owner: chosen(py, user)?,
        grouping: chosen(py, group)?,
        all_nodes,
    };
    imported(py, &call, move || imports::slurm(&options))
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
