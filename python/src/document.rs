//! A result as the JSON that the command writes: its table, its section of a page, its charts.

use crate::count::counted;
use crate::failure::answered;
use crate::table::Table;
use fairplan::instances::Body;
use fairplan::instances::files::Columnar;
use fairplan::instances::table::Tabular;
use fairplan::report::output::{Destination, FileFormat};
use fairplan::report::page::{Section, fragment, is_over_instance, write_page};
use fairplan::report::plot::Ground;
use fairplan::report::table::{TableFormat, write_table};
use fairplan::report::{self as reports, read_json, write_json};
use fairplan::{Audit, Comparison, Document as Whole, Error};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// A result that was written.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Document {
    /// Its JSON.
    pub bytes: Arc<Vec<u8>>,
    /// What it says that it is.
    #[pyo3(get)]
    format: String,
    /// What errors and pages call it.
    pub name: String,
}

/// The JSON of a document, as the command writes it.
pub fn json(document: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut json = Vec::new();
    write_json(&mut json, document).map_err(Error::backend)?;
    Ok(json)
}

impl Document {
    /// A result that has been computed.
    pub fn of(name: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let format = reports::format_of(name, &bytes)?;
        Ok(Self { bytes: Arc::new(bytes), format, name: name.to_owned() })
    }

    fn section(&self) -> Result<Section, Error> {
        Ok(Section::read(&self.name, &self.bytes)?)
    }

    /// Does something with the main table.
    fn with_table<T>(
        &self,
        take: impl FnOnce(&fairplan::instances::table::Table<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (name, bytes) = (&*self.name, &*self.bytes);
        match &*self.format {
            "fairplan.solution.v1" => of::<reports::solution::SolutionBody, T>(name, bytes, take),
            "fairplan.placement.v1" => of::<reports::placement::PlacementBody, T>(name, bytes, take),
            "fairplan.comparison.v1" => of::<Comparison, T>(name, bytes, take),
            "fairplan.audit.v1" => of::<Audit, T>(name, bytes, take),
            "fairplan.moves.v1" => of::<reports::moves::MovesBody, T>(name, bytes, take),
            "fairplan.worth.v1" => of::<fairplan::Worth, T>(name, bytes, take),
            "fairplan.loss.v1" => of::<fairplan::Losses, T>(name, bytes, take),
            "fairplan.difference.v1" => of::<fairplan::Difference, T>(name, bytes, take),
            "fairplan.growth.v1" => of::<fairplan::Growth, T>(name, bytes, take),
            "fairplan.plan.v1" => of::<reports::planning::PlanBody, T>(name, bytes, take),
            "fairplan.flows.v1" => of::<fairplan::Flows, T>(name, bytes, take),
            "fairplan.simulation.v1" => of::<reports::simulation::SimulationBody, T>(name, bytes, take),
            "fairplan.allocation.v1" if is_over_instance(bytes) => {
                of::<reports::task_allocation::TaskAllocationBody, T>(name, bytes, take)
            }
            "fairplan.offline.v1" if is_over_instance(bytes) => {
                of::<reports::offline::TaskOfflineBody, T>(name, bytes, take)
            }
            "fairplan.allocation.v1" => of::<reports::allocation::AllocationBody, T>(name, bytes, take),
            "fairplan.offline.v1" => of::<reports::offline::OfflineBody, T>(name, bytes, take),
            "fairplan.verification.v1" => of::<fairplan::Verification, T>(name, bytes, take),
            "fairplan.bound.v1" => of::<reports::bound::BoundBody, T>(name, bytes, take),
            "fairplan.allocated-bound.v1" => {
                of::<reports::allocated_bound::AllocatedBoundBody, T>(name, bytes, take)
            }
            "fairplan.proportional-bound.v1" => {
                of::<reports::proportional_bound::ProportionalBoundBody, T>(name, bytes, take)
            }
            "fairplan.explanation.v1" => of::<fairplan::Explanation, T>(name, bytes, take),
            "fairplan.group-explanation.v1" => of::<fairplan::GroupExplanation, T>(name, bytes, take),
            "fairplan.entitlements.v1" => of::<fairplan::Entitlements, T>(name, bytes, take),
            "fairplan.export.v1" => of::<fairplan::exports::ExportBody, T>(name, bytes, take),
            "fairplan.reproduction.v1" => of::<reports::reproduction::ReproductionBody, T>(name, bytes, take),
            other => Err(Error::input(format!("{name}: a {other} has no table"))),
        }
    }
}

fn of<B: Body + Tabular, T>(
    name: &str,
    bytes: &[u8],
    take: impl FnOnce(&fairplan::instances::table::Table<'_>) -> Result<T, Error>,
) -> Result<T, Error>
where
    Whole<B>: DeserializeOwned,
{
    let document: Whole<B> = read_json(name, bytes)?;
    take(&document.body.table())
}

#[pymethods]
impl Document {
    /// A result in JSON; errors call it `name`.
    #[new]
    fn new(py: Python<'_>, json: Vec<u8>, name: &str) -> PyResult<Self> {
        answered(py, Self::of(name, json))
    }

    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// Its main table.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        answered(py, self.with_table(Table::new))
    }

    /// What users have, of a comparison that says so.
    fn users(&self, py: Python<'_>) -> PyResult<Table> {
        let read = || {
            let comparison: Whole<Comparison> = read_json(&self.name, &self.bytes)?;
            Table::new(&reports::comparison::users_of_policies(&comparison.body))
        };
        answered(py, read())
    }

    /// Its section of a page, to stand in another page.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        answered(py, self.section().map(|section| fragment(&section)))
    }

    /// One of its charts, counted from 1.
    fn svg(&self, py: Python<'_>, #[pyo3(from_py_with = counted)] chart: usize) -> PyResult<String> {
        let drawn = self.section().and_then(|section| section.chart(chart).map_err(Error::input));
        answered(py, drawn.map(|drawing| drawing.svg(Ground::Paper)))
    }

    /// Writes it, or its table, as the ending of the file says: whole or not at all.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        answered(py, self.written(&path))
    }
}

impl Document {
    fn written(&self, path: &std::path::Path) -> Result<(), Error> {
        let destination = Destination::new(Some(path))?;
        let table =
            |format| self.with_table(|table| Ok(destination.write(|out| write_table(out, format, table))?));
        if let Some((_, ending)) = FileFormat::foreign(path) {
            let known = "name a .json, .csv, .parquet, .arrow or .html";
            return Err(Error::input(format!(
                "{}: nothing is written as .{ending}; {known}",
                path.display()
            )));
        }
        match FileFormat::of(path) {
            None | Some(FileFormat::Json) => Ok(destination.write(|out| out.write_all(&self.bytes))?),
            Some(FileFormat::Csv) => table(TableFormat::Csv),
            Some(FileFormat::Parquet) => table(TableFormat::Columns(Columnar::Parquet)),
            Some(FileFormat::Arrow) => table(TableFormat::Columns(Columnar::Arrow)),
            Some(FileFormat::Html) => {
                let section = self.section()?;
                Ok(destination
                    .write(|out| write_page(out, &section.title, std::slice::from_ref(&section)))?)
            }
            Some(other) => {
                let ending = other.ending();
                let problem = format!(
                    "a result is not written as .{ending}; name a .json, .csv, .parquet, .arrow or .html"
                );
                Err(Error::input(format!("{}: {problem}", path.display())))
            }
        }
    }
}

/// Writes a page of several results.
#[pyfunction]
pub fn report(py: Python<'_>, results: Vec<PyRef<'_, Document>>, path: PathBuf, title: &str) -> PyResult<()> {
    let written = || {
        let sections = results.iter().map(|result| result.section()).collect::<Result<Vec<_>, Error>>()?;
        Ok(Destination::new(Some(&path))?.write(|out| write_page(out, title, &sections))?)
    };
    answered(py, written())
}
