//! Instances, traffic and files of other systems that need no file.

use crate::count::counted;
use crate::failure::answered;
use crate::instance::Instance;
use fairplan::generate::{self, GoogleOptions, PopulationOptions};
use fairplan::imports::{KUBERNETES_NODES, KUBERNETES_PODS};
use fairplan::instances::Violation;
use fairplan::{Error, Traffic, files, instances};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

fn made<E: Into<Error>>(py: Python<'_>, made: Result<instances::Instance, E>) -> PyResult<Instance> {
    answered(py, made.map_err(Into::into)).map(|instance| Instance(Arc::new(instance)))
}

/// Google's cluster of 2011.
#[pyfunction]
pub fn google(
    py: Python<'_>,
    #[pyo3(from_py_with = counted)] servers: Option<u64>,
    #[pyo3(from_py_with = counted)] users: Option<u64>,
    rounded: bool,
    finite: bool,
    #[pyo3(from_py_with = counted)] seed: u64,
) -> PyResult<Instance> {
    let options = GoogleOptions { servers, users, rounded, finite, seed };
    made(py, py.detach(|| generate::google(&options)))
}

/// The example of the DRFH paper.
#[pyfunction]
pub fn drfh_fig1(py: Python<'_>) -> PyResult<Instance> {
    made(py, generate::drfh_fig1())
}

/// The users of the DRFH paper who join and leave.
#[pyfunction]
pub fn drfh_fig4(py: Python<'_>, users: Vec<usize>) -> PyResult<Instance> {
    made(py, generate::drfh_fig4(&users))
}

/// A synthetic population of any size.
#[pyfunction]
pub fn population(
    py: Python<'_>,
    kind: &str,
    #[pyo3(from_py_with = counted)] users: u64,
    cluster: &str,
    #[pyo3(from_py_with = counted)] seed: u64,
) -> PyResult<Instance> {
    let parsed = || -> Result<_, Violation> { Ok((kind.parse()?, cluster.parse()?)) };
    let (kind, cluster) = answered(py, parsed().map_err(Error::from))?;
    let options = PopulationOptions { kind, users, cluster, seed };
    made(py, py.detach(|| generate::population(&options)))
}

/// A `fairplan.traffic.v1`.
fn told<'py, E: Into<Error>>(py: Python<'py>, made: Result<Traffic, E>) -> PyResult<Bound<'py, PyBytes>> {
    let traffic = answered(py, made.map_err(Into::into))?;
    let mut json = Vec::new();
    answered(py, files::write_traffic(&traffic, &mut json).map_err(Error::backend))?;
    Ok(PyBytes::new(py, &json))
}

/// The transactions of the multi-resource fairness paper, Fig. 1.
#[pyfunction]
pub fn mrf_fig1(py: Python<'_>, load: f64) -> PyResult<Bound<'_, PyBytes>> {
    told(py, generate::mrf_fig1(load))
}

/// Those of Fig. 2 and 3.
#[pyfunction]
pub fn mrf_fig2(py: Python<'_>, load: f64) -> PyResult<Bound<'_, PyBytes>> {
    told(py, generate::mrf_fig2(load))
}

/// The nodes of a real cluster as kubectl prints them.
#[pyfunction]
pub fn kubernetes_nodes() -> &'static str {
    KUBERNETES_NODES
}

/// Its pods.
#[pyfunction]
pub fn kubernetes_pods() -> &'static str {
    KUBERNETES_PODS
}
