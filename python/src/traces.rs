//! Traces: of a file, or in memory, as generators and importers make them.

use crate::call::Call;
use crate::count::{counted, within};
use crate::failure::answered;
use crate::imported::{GivenServers, equal};
use fairplan::generate::{RandomTraceOptions, drfh_fig4_trace, random_trace};
use fairplan::imports::{self, AzureV1Options, DrawnServers, EqualServers, Google2011TraceOptions};
use fairplan::instances::trace::{SortedTrace, Trace as Memory};
use fairplan::report::output::{Destination, FileFormat};
use fairplan::{Decimal, Error, TraceInput, files, write};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// Jobs and servers over time.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Trace(pub Arc<TraceInput>);

impl Trace {
    fn memory(trace: Memory) -> Self {
        Self(Arc::new(TraceInput::Memory(Box::new(trace))))
    }

    /// What `read` gives, whole, while Python goes on.
    fn imported<E: Into<Error>>(
        py: Python<'_>,
        call: &Call,
        read: impl FnOnce() -> Result<SortedTrace, E> + Send + 'static,
    ) -> PyResult<Self> {
        let read = call.run(py, move |control| {
            control.stage("reading the trace");
            Ok(Memory::read(&mut read().map_err(Into::into)?)?)
        })?;
        answered(py, read).map(Self::memory)
    }
}

#[pymethods]
impl Trace {
    /// That of a file, which is streamed each time that it is read.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path = path.display().to_string();
        let read = Call::silent().run(py, move |_| {
            let trace = TraceInput::new(path, false)?;
            // Its header at least can be read.
            trace.open()?;
            Ok(trace)
        })?;
        answered(py, read).map(|trace| Self(Arc::new(trace)))
    }

    /// From the JSON Lines of a `fairplan.trace.v1`; errors call them `name`.
    #[staticmethod]
    fn from_json_lines(py: Python<'_>, lines: Vec<u8>, name: &str) -> PyResult<Self> {
        let name = name.to_owned();
        let read = Call::silent().run(py, move |_| {
            let mut source = files::read_trace_in_memory(&name, lines)?;
            Ok(Memory::read(source.as_mut())?)
        })?;
        answered(py, read).map(Self::memory)
    }

    /// The canonical JSON Lines.
    fn to_json_lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let trace = Arc::clone(&self.0);
        let written = Call::silent().run(py, move |_| {
            let mut lines = Vec::new();
            files::write_trace(trace.open()?.as_mut(), "trace.jsonl", &mut lines)?;
            Ok(lines)
        })?;
        Ok(PyBytes::new(py, &answered(py, written)?))
    }

    /// Writes it as the ending of the file says: whole or not at all.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let offered = [Some(FileFormat::JsonLines), Some(FileFormat::Parquet)];
        if !offered.contains(&FileFormat::of(&path)) {
            let problem = format!("{}: a trace is written as .jsonl, .jsonl.gz or .parquet", path.display());
            return answered(py, Err(Error::Setting(problem)));
        }
        let trace = Arc::clone(&self.0);
        let written = Call::silent().run(py, move |_| {
            let destination = Destination::new(Some(&path))?;
            write::trace(trace.open()?.as_mut(), &destination)
        })?;
        answered(py, written)
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        let opened = self.0.open().map_err(Error::from);
        answered(py, opened.map(|trace| trace.register().header().name.clone()))
    }

    #[getter]
    fn resources(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let opened = answered(py, self.0.open().map_err(Error::from))?;
        Ok(opened.register().header().resources.iter().map(|resource| resource.name.clone()).collect())
    }
}

/// The trace of the DRFH paper, Fig. 4.
#[pyfunction]
pub fn trace_drfh_fig4(py: Python<'_>) -> PyResult<Trace> {
    answered(py, drfh_fig4_trace().map_err(Error::from)).map(Trace::memory)
}

/// A trace of random jobs.
#[pyfunction]
pub fn trace_random(
    py: Python<'_>,
    #[pyo3(from_py_with = counted)] servers: u64,
    #[pyo3(from_py_with = counted)] users: u64,
    #[pyo3(from_py_with = counted)] jobs: u64,
    #[pyo3(from_py_with = counted)] seconds: u64,
    #[pyo3(from_py_with = counted)] outages: u64,
    #[pyo3(from_py_with = counted)] seed: u64,
) -> PyResult<Trace> {
    let options = RandomTraceOptions { servers, users, jobs, seconds, outages, seed };
    Trace::imported(py, &Call::silent(), move || random_trace(&options))
}

/// Google's trace of 2011.
#[pyfunction]
pub fn import_google_2011_trace(
    py: Python<'_>,
    task_events: Vec<String>,
    job_events: Vec<String>,
    machine_events: Vec<String>,
    #[pyo3(from_py_with = counted)] servers: Option<u64>,
    #[pyo3(from_py_with = counted)] seed: u64,
    call: Call,
) -> PyResult<Trace> {
    let servers = servers.map(|count| DrawnServers { count, seed });
    let options = Google2011TraceOptions { task_events, job_events, machine_events, servers };
    Trace::imported(py, &call, move || imports::google_2011_trace(&options))
}

/// Alibaba's GPU cluster of 2023.
#[pyfunction]
pub fn import_alibaba_gpu2023_trace(
    py: Python<'_>,
    nodes: String,
    pods: String,
    devices: bool,
    call: Call,
) -> PyResult<Trace> {
    Trace::imported(py, &call, move || imports::alibaba_gpu2023(&nodes, &pods, devices))
}

/// The files of Azure's arrivals.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AzureFiles {
    arrivals: String,
    durations: String,
    sizes: String,
    intervals: String,
}

/// Azure's batches of virtual machines.
#[pyfunction]
pub fn import_azure_v1_trace(
    py: Python<'_>,
    files: AzureFiles,
    #[pyo3(from_py_with = counted)] users: Option<u64>,
    servers: GivenServers,
    call: Call,
) -> PyResult<Trace> {
    let AzureFiles { arrivals, durations, sizes, intervals } = files;
    answered(py, within("users", users, 1, u64::MAX))?;
    let options = AzureV1Options { arrivals, durations, sizes, intervals, users, servers: equal(servers) };
    Trace::imported(py, &call, move || imports::azure_v1(&options))
}

/// Philly's jobs.
#[pyfunction]
pub fn import_philly_trace(
    py: Python<'_>,
    jobs: String,
    #[pyo3(from_py_with = counted)] servers: u64,
    #[pyo3(from_py_with = counted)] gpus: u32,
    gangs: bool,
    call: Call,
) -> PyResult<Trace> {
    answered(py, within("gpus", Some(gpus.into()), 1, u64::MAX))?;
    Trace::imported(py, &call, move || imports::philly(&jobs, servers, gpus, gangs))
}

/// A log in the Standard Workload Format.
#[pyfunction]
pub fn import_swf_trace(
    py: Python<'_>,
    log: String,
    #[pyo3(from_py_with = counted)] servers: Option<u64>,
    #[pyo3(from_py_with = counted)] processors: u32,
    gangs: bool,
    call: Call,
) -> PyResult<Trace> {
    answered(py, within("processors", Some(processors.into()), 1, u64::MAX))?;
    let each = vec![Decimal::from(processors)];
    let servers = servers.map(|count| EqualServers { count, capacity: each });
    Trace::imported(py, &call, move || imports::swf(&log, servers, gangs))
}
