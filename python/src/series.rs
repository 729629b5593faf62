//! Demands over time from the files of other systems.

use crate::call::Call;
use crate::count::{counted, within};
use crate::demands::Demands;
use crate::failure::answered;
use fairplan::Error;
use fairplan::imports::{self, HeliosOptions, SnowsetDemand, SnowsetOptions};
use pyo3::prelude::*;

fn imported<T: Send + 'static>(
    py: Python<'_>,
    call: &Call,
    read: impl FnOnce(&fairplan::Control<'_>) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let read = call.run(py, move |control| {
        control.stage("reading the trace");
        read(control)
    })?;
    answered(py, read)
}

/// Snowflake's queries.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn import_snowset(
    py: Python<'_>,
    queries: String,
    #[pyo3(from_py_with = counted)] quantum: u64,
    #[pyo3(from_py_with = counted)] memory_slice: Option<u64>,
    #[pyo3(from_py_with = counted)] per_query: Option<u64>,
    start: Option<String>,
    until: Option<String>,
    call: Call,
) -> PyResult<Demands> {
    let stated = || {
        within("quantum", Some(quantum), 1, 31_536_000)?;
        within("memory_slice", memory_slice, 1, u64::MAX)?;
        within("per_query", per_query, 1, 1_000_000)
    };
    answered(py, stated())?;
    let demand = match (memory_slice, per_query) {
        (Some(_), Some(_)) => {
            let problem = "memory_slice and per_query are not stated together";
            return answered(py, Err(Error::Setting(problem.into())));
        }
        (Some(slice), None) => SnowsetDemand::Memory { slice },
        (None, Some(slices)) => SnowsetDemand::Queries { slices },
        (None, None) => SnowsetDemand::Servers,
    };
    let options = SnowsetOptions { queries, demand, quantum, from: start, until, sample: None };
    let series = imported(py, &call, move |control| {
        let (series, report) = imports::snowset(&options)?;
        if report.incomplete > 0 {
            control.note(&format!("{} of {} queries left out: incomplete", report.incomplete, report.rows));
        }
        Ok(series)
    })?;
    Ok(Demands::of(series, "snowset"))
}

/// Helios' virtual clusters, and the quota of each.
#[pyfunction]
pub fn import_helios(
    py: Python<'_>,
    sequences: Vec<String>,
    #[pyo3(from_py_with = counted)] every: u64,
    call: Call,
) -> PyResult<(Demands, Vec<u64>)> {
    answered(py, within("every", Some(every), 1, u64::MAX))?;
    let options = HeliosOptions { sequences, every };
    let (series, quotas) = imported(py, &call, move |control| {
        let read = imports::helios(&options)?;
        if let Some(note) = read.note() {
            control.note(&note);
        }
        Ok((read.series, read.quotas))
    })?;
    Ok((Demands::of(series, "helios"), quotas))
}

/// Snowflake's hourly demand for virtual machines.
#[pyfunction]
pub fn import_shaved_ice(py: Python<'_>, table: String, call: Call) -> PyResult<Demands> {
    let series = imported(py, &call, move |_| Ok(imports::shaved_ice(&table)?))?;
    Ok(Demands::of(series, "shaved-ice"))
}
