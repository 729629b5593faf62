//! Clusters and traffic over time: traces that are run, transactions that come at random.

use crate::call::Call;
use crate::commands::{because, document, objective};
use crate::count::counted;
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::{answered, raised};
use crate::instance::Instance;
use crate::policy::{Policy, Raised, asking};
use crate::table::Table;
use crate::traces::Trace;
use fairplan::files::read_traffic_in_memory;
use fairplan::report::table::{jobs_of, series_of};
use fairplan::{
    ClusterSettings, Error, FlowsOptions, LevelOptions, ResultFile, SimulateOptions, SimulationStart,
    TraceInput, read, what_there_is, with_series,
};
use pyo3::prelude::*;
use std::sync::Arc;

/// What decides a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Run {
    over_commit: Exact,
    lose_evicted: bool,
    /// Microseconds.
    #[pyo3(from_py_with = counted)]
    horizon: Option<u64>,
    /// Microseconds.
    #[pyo3(from_py_with = counted)]
    resolve_every: u64,
    dedicated: bool,
    #[pyo3(from_py_with = counted)]
    seed: u64,
    /// What runs when the trace begins.
    start: Option<Start>,
    /// The instance whose groups users are in.
    tenants: Option<Py<Instance>>,
    /// Whether how things stand over time is told, and how often that and the optimum, in microseconds.
    series: bool,
    #[pyo3(from_py_with = counted)]
    sample: Option<u64>,
    #[pyo3(from_py_with = counted)]
    optimum: Option<u64>,
    /// Whether completed jobs are told.
    jobs: bool,
}

/// What runs when a trace begins.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Start {
    instance: Py<Instance>,
    /// Name and bytes of a placement of it.
    placement: (String, Vec<u8>),
    /// Microseconds.
    #[pyo3(from_py_with = counted)]
    remaining: Option<u64>,
}

impl Start {
    fn read(self) -> Result<Box<SimulationStart>, Error> {
        let (name, bytes) = self.placement;
        let instance = fairplan::Instance::clone(&self.instance.get().0);
        let placement = ResultFile::new(name, bytes)?;
        Ok(Box::new(SimulationStart { instance, placement, remaining: self.remaining }))
    }
}

/// What a simulation gives: its document, how things stood over time, and the completed jobs.
type Told = (Document, Option<Table>, Option<Table>);

/// A trace run on its cluster.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    trace: &Trace,
    policies: Vec<Policy>,
    run: Run,
    call: Call,
) -> PyResult<Told> {
    let Run { over_commit, lose_evicted, horizon, resolve_every, dedicated, seed, .. } = run;
    let settings = ClusterSettings {
        over_commit: over_commit.0,
        resubmit: !lose_evicted,
        horizon,
        resolve_every,
        ..ClusterSettings::default()
    };
    let settings = if run.series { with_series(settings, run.sample, run.optimum) } else { settings };
    let start = answered(py, run.start.map(Start::read).transpose())?;
    let tenants = run.tenants.map(|instance| Box::new(fairplan::Instance::clone(&instance.get().0)));
    let (trace, kept) = (Arc::clone(&trace.0), Raised::default());
    let has_own = policies.iter().any(Policy::is_own);
    let policies = policies.into_iter().map(|policy| policy.simulated(&kept)).collect::<Result<_, _>>();
    let policies: Vec<_> = answered(py, policies)?;
    let options = SimulateOptions {
        policies: Vec::new(),
        settings,
        dedicated,
        seed,
        start,
        tenants,
        ..SimulateOptions::default()
    };
    let simulated = call.run(py, move |control| {
        let in_memory = match &*trace {
            // Clouds are dealt from a trace that is known whole.
            TraceInput::File(path) if dedicated => Some(TraceInput::new(path.clone(), true)?),
            _ => None,
        };
        let trace = in_memory.as_ref().unwrap_or(&trace);
        let simulate = || fairplan::simulate_by(trace, policies, &options, control);
        let outcome = if has_own { asking(simulate) } else { simulate() };
        let (simulated, failure) = what_there_is(outcome)?;
        let outcomes = simulated.outcomes();
        let series = run.series.then(|| Table::new(&series_of(&simulated.header, &outcomes)));
        let jobs = run.jobs.then(|| Table::new(&jobs_of(&outcomes)));
        let document = Document::of("simulate", json(&simulated.document())?)?;
        Ok(((document, series.transpose()?, jobs.transpose()?), failure))
    })?;
    let told = match answered(py, simulated) {
        Ok((told, None)) => Ok(told),
        Ok((told, Some(error))) => Err(raised(py, error, Some(told.into_pyobject(py)?.into_any().unbind()))),
        Err(error) => Err(error),
    };
    told.map_err(|error| because(py, error, &kept))
}

/// The settings of a level.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Level {
    border_mass: Option<f64>,
    memory: Option<f64>,
    #[pyo3(from_py_with = counted)]
    replications: Option<u64>,
    #[pyo3(from_py_with = counted)]
    arrivals: Option<u64>,
    #[pyo3(from_py_with = counted)]
    seed: Option<u64>,
    tasks_per_job: Option<f64>,
    task_share: Option<f64>,
    packets_per_flow: Option<f64>,
    #[pyo3(from_py_with = counted)]
    window: Option<u32>,
}

/// How fast transactions are served that come at random. The specification is that of a file, or JSON that messages call so.
#[pyfunction]
pub fn flows(
    py: Python<'_>,
    spec: (String, Option<Vec<u8>>),
    objectives: Vec<String>,
    level: &str,
    settings: Level,
    loads: Vec<f64>,
    call: Call,
) -> PyResult<Document> {
    let Level {
        border_mass,
        memory,
        replications,
        arrivals,
        seed,
        tasks_per_job,
        task_share,
        packets_per_flow,
        window,
    } = settings;
    let settings = LevelOptions {
        border_mass,
        memory,
        replications,
        arrivals,
        seed,
        tasks_per_job,
        task_share,
        packets_per_flow,
        window,
    };
    let objectives = objectives.iter().map(|name| objective(name)).collect::<Result<_, Error>>();
    let options = FlowsOptions {
        objectives: answered(py, objectives)?,
        level: answered(py, settings.level(level))?,
        loads,
    };
    document(py, "flows", &call, move |control| {
        options.check()?;
        let (name, content) = spec;
        let traffic = match content {
            Some(content) => read_traffic_in_memory(&name, &content)?,
            None => read::traffic(&name)?,
        };
        options.mixes(&traffic).map_err(|violation| violation.in_file(&name))?;
        Ok((json(&fairplan::Document::new(fairplan::flows(&traffic, &options, control)?))?, None))
    })
}
