//! Clusters and traffic over time: traces that are run, transactions that come at random.

use crate::call::Call;
use crate::commands::{because, document, objective, what_there_is};
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::answered;
use crate::policy::{Policy, Raised, asking};
use fairplan::{
    ClusterSettings, Error, FlowsOptions, Found, LevelOptions, SimulateOptions, TraceInput, read,
};
use pyo3::prelude::*;

/// What decides a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Run {
    over_commit: Exact,
    lose_evicted: bool,
    /// Microseconds.
    horizon: Option<u64>,
    /// Microseconds.
    resolve_every: u64,
    dedicated: bool,
    seed: u64,
}

/// A trace run on its cluster.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    trace: String,
    policies: Vec<Policy>,
    run: Run,
    call: Call,
) -> PyResult<Document> {
    let Run { over_commit, lose_evicted, horizon, resolve_every, dedicated, seed } = run;
    let settings = ClusterSettings {
        over_commit: over_commit.0,
        resubmit: !lose_evicted,
        horizon,
        resolve_every,
        ..ClusterSettings::default()
    };
    let kept = Raised::default();
    let has_own = policies.iter().any(Policy::is_own);
    let policies: Vec<_> = policies.into_iter().map(|policy| policy.simulated(&kept)).collect();
    let options =
        SimulateOptions { policies: Vec::new(), settings, dedicated, seed, ..SimulateOptions::default() };
    let simulated = document(py, "simulate", &call, move |control| {
        let trace = TraceInput::new(trace, dedicated)?;
        let simulate = || fairplan::simulate_by(&trace, policies, &options, control);
        let outcome = if has_own { asking(simulate) } else { simulate() };
        let (simulated, failure) = what_there_is(outcome, Found::simulation)?;
        Ok((json(&simulated.document())?, failure))
    });
    simulated.map_err(|error| because(py, error, &kept))
}

/// The settings of a level.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Level {
    border_mass: Option<f64>,
    memory: Option<f64>,
    replications: Option<u64>,
    arrivals: Option<u64>,
    seed: Option<u64>,
    tasks_per_job: Option<f64>,
    task_share: Option<f64>,
    packets_per_flow: Option<f64>,
    window: Option<u32>,
}

/// How fast transactions are served that come at random.
#[pyfunction]
pub fn flows(
    py: Python<'_>,
    spec: String,
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
        let traffic = read::traffic(&spec)?;
        options.mixes(&traffic).map_err(|violation| violation.in_file(&spec))?;
        Ok((json(&fairplan::Document::new(fairplan::flows(&traffic, &options, control)?))?, None))
    })
}
