//! A result as the JSON that the command writes: its table, its section of a page, its charts.

use crate::count::counted;
use crate::failure::answered;
use crate::table::Table;
use fairplan::instances::files::Columnar;
use fairplan::instances::table::Tabular;
use fairplan::report::output::{Destination, FileFormat};
use fairplan::report::page::{Section, fragment, write_page};
use fairplan::report::plot::Ground;
use fairplan::report::table::{TableFormat, write_table};
use fairplan::report::{self as reports, read_json, read_tabular, write_json};
use fairplan::{Comparison, Document as Whole, Error};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
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

    /// What has its main table.
    fn tabular(&self) -> Result<Box<dyn Tabular>, Error> {
        Ok(read_tabular(&self.name, &self.bytes)?)
    }
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
        answered(py, self.tabular().and_then(|of| Table::new(&of.table())))
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
        let table = |format| {
            let of = self.tabular()?;
            Ok(destination.write(|out| write_table(out, format, &of.table()))?)
        };
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
