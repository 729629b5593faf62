//! An instance from files, frames and dictionaries.

use crate::call::Call;
use crate::failure::answered;
use crate::table::Table;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::FromPyArrow;
use fairplan::instances::files::rows::Rows;
use fairplan::instances::files::{self, Frame, open_table, source};
use fairplan::instances::{QuotaPart, lint};
use fairplan::report::instance_tables;
use fairplan::report::output::{Destination, FileFormat};
use fairplan::{Error, read, write};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// A cluster, its users and groups: checked, exact, and not to be changed.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Instance(pub Arc<fairplan::Instance>);

/// A table as it is handed over: a file's path, or a frame.
pub enum Given {
    /// A file.
    Path(String),
    /// A frame, with what messages call it.
    Frame(&'static str, Box<dyn RecordBatchReader + Send>),
}

impl Given {
    /// What was handed over as `name`.
    pub fn new(name: &'static str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(path) = given.extract::<PathBuf>() {
            return Ok(Self::Path(path.display().to_string()));
        }
        if given.hasattr("__arrow_c_stream__")? {
            let refused = |error: PyErr| refused(name, given, error).unwrap_or_else(|problem| problem);
            let stream = RecordBatchStreamReader::from_pyarrow_bound(given).map_err(refused)?;
            return Ok(Self::Frame(name, Box::new(stream)));
        }
        let kind = given.get_type().name()?;
        let lazy = if given.hasattr("collect")? { "; a lazy frame becomes one by its collect()" } else { "" };
        Err(PyTypeError::new_err(format!(
            "{name}: {kind} is no table; give a frame (pandas with pyarrow, polars, pyarrow: anything with \
             __arrow_c_stream__) or the path of a file{lazy}"
        )))
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Path(path) => path,
            Self::Frame(name, _) => name,
        }
    }

    /// The table, open, in which an empty cell has a meaning.
    pub fn open_with_gaps(self) -> Result<Box<dyn Rows>, Error> {
        Ok(match self {
            Self::Path(path) => open_table(&path)?,
            Self::Frame(name, batches) => Box::new(Frame::new(name, batches)?.with_gaps()),
        })
    }

    fn open(self) -> Result<Box<dyn Rows>, Error> {
        Ok(match self {
            Self::Path(path) => open_table(&path)?,
            Self::Frame(name, batches) => Box::new(Frame::new(name, batches)?),
        })
    }
}

/// That what was handed over becomes a stream; what hinders it is raised.
#[pyfunction]
pub fn hand_over(frame: &Bound<'_, PyAny>) -> PyResult<()> {
    RecordBatchStreamReader::from_pyarrow_bound(frame).map(drop)
}

/// What is raised for a frame that does not become a stream; an interruption stays one.
fn refused(name: &str, given: &Bound<'_, PyAny>, error: PyErr) -> PyResult<PyErr> {
    let py = given.py();
    if !error.is_instance_of::<PyException>(py) {
        return Ok(error);
    }
    let helper = py.import("fairplan.frames")?;
    let raised = PyErr::from_value(helper.call_method1("_refused", (name, given, error.value(py)))?);
    if !raised.value(py).is(error.value(py)) {
        raised.set_cause(py, Some(error));
    }
    Ok(raised)
}

#[pymethods]
impl Instance {
    #[new]
    #[pyo3(signature = (servers, users, groups=None))]
    fn new(
        py: Python<'_>,
        servers: &Bound<'_, PyAny>,
        users: &Bound<'_, PyAny>,
        groups: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let [servers, users] = [Given::new("servers", servers)?, Given::new("users", users)?];
        let groups = groups.map(|groups| Given::new("groups", groups)).transpose()?;
        let read = Call::silent().run(py, move |_| {
            let mut servers = servers.open()?;
            let mut groups = groups.map(Given::open).transpose()?;
            let mut users = users.open()?;
            Ok(files::read_opened(servers.as_mut(), users.as_mut(), groups.as_deref_mut())?)
        })?;
        Ok(Self(Arc::new(answered(py, read)?)))
    }

    /// Reads a `fairplan.instance.v1`.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path = path.display().to_string();
        let read = Call::silent().run(py, move |_| read::instance(&path))?;
        Ok(Self(Arc::new(answered(py, read)?)))
    }

    /// The instance in this JSON; errors call it `name`.
    #[staticmethod]
    fn from_json(py: Python<'_>, json: Vec<u8>, name: String) -> PyResult<Self> {
        let read = Call::silent().run(py, move |_| Ok(files::read_json(source::in_memory(&name, json)?)?))?;
        Ok(Self(Arc::new(answered(py, read)?)))
    }

    /// The canonical JSON.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let instance = Arc::clone(&self.0);
        let written = Call::silent().run(py, move |_| {
            let mut json = Vec::new();
            files::write_json(&instance, &mut json).map_err(Error::backend)?;
            Ok(json)
        })?;
        Ok(PyBytes::new(py, &answered(py, written)?))
    }

    /// Writes the canonical JSON: whole or not at all.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        if FileFormat::of(&path).is_some_and(|format| format != FileFormat::Json)
            || FileFormat::foreign(&path).is_some()
        {
            let problem = format!("{}: an instance is written as .json or .json.gz", path.display());
            return answered(py, Err(Error::Setting(problem)));
        }
        let instance = Arc::clone(&self.0);
        let written = Call::silent().run(py, move |_| {
            let destination = Destination::new(Some(&path))?;
            Ok(destination.write(|out| files::write_json(&instance, out))?)
        })?;
        answered(py, written)
    }

    /// Writes tables of its servers, users and groups, as the endings of the files say: all, or none.
    fn write_tables(
        &self,
        py: Python<'_>,
        servers: PathBuf,
        users: PathBuf,
        groups: Option<PathBuf>,
    ) -> PyResult<()> {
        let offered = [FileFormat::Csv, FileFormat::Parquet, FileFormat::Arrow];
        let paths = [Some(&servers), Some(&users), groups.as_ref()];
        for path in paths.into_iter().flatten() {
            if !FileFormat::of(path).is_some_and(|format| offered.contains(&format)) {
                let problem =
                    format!("{}: a table is written as .csv, .csv.gz, .parquet or .arrow", path.display());
                return answered(py, Err(Error::Setting(problem)));
            }
        }
        let instance = Arc::clone(&self.0);
        let written = Call::silent().run(py, move |_| {
            let at = |path: &PathBuf| Destination::new(Some(path));
            let groups = groups.as_ref().map(at).transpose()?;
            write::tables(&instance, &at(&servers)?, &at(&users)?, groups.as_ref())
        })?;
        answered(py, written)
    }

    /// A row a server class.
    fn servers(&self, py: Python<'_>) -> PyResult<Table> {
        answered(py, Table::new(&instance_tables::servers(&self.0)))
    }

    /// A row a user.
    fn users(&self, py: Python<'_>) -> PyResult<Table> {
        let table = || Table::new(&instance_tables::users(&self.0)?);
        answered(py, table())
    }

    /// What users have that their table has no column for.
    fn beyond_tables(&self) -> Option<&'static str> {
        if !self.0.quotas().is_empty() {
            return Some("guarantees, limits and reserves");
        }
        self.0.without_server_rules("a table").is_err().then_some("what they may have on one server")
    }

    /// A row a group.
    fn groups(&self, py: Python<'_>) -> PyResult<Table> {
        answered(py, Table::new(&instance_tables::groups(&self.0)))
    }

    /// The same without what users and groups are given: guarantees, limits, reserves.
    fn without(&self, py: Python<'_>, parts: Vec<String>) -> PyResult<Self> {
        let without = || {
            let parts = parts.iter().map(|part| part.parse()).collect::<Result<Vec<QuotaPart>, _>>()?;
            let refused = |violation| Error::input(format!("without these: {violation}"));
            self.0.without_parts(&parts).map_err(refused)
        };
        answered(py, without()).map(|instance| Self(Arc::new(instance)))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn resources(&self) -> Vec<String> {
        self.0.resources().to_vec()
    }

    #[getter]
    fn user_count(&self) -> usize {
        self.0.user_count()
    }

    #[getter]
    fn server_count(&self) -> u64 {
        self.0.server_count()
    }

    #[getter]
    fn class_count(&self) -> usize {
        self.0.classes().len()
    }

    #[getter]
    fn group_count(&self) -> usize {
        self.0.groups().len()
    }

    /// What its author may want to look at.
    fn warnings(&self) -> Vec<String> {
        lint(&self.0).into_iter().map(|warning| warning.message).collect()
    }

    /// Its SHA-256, by which results name it.
    fn sha256(&self, py: Python<'_>) -> PyResult<String> {
        let instance = Arc::clone(&self.0);
        answered(py, Call::silent().run(py, move |_| Ok(files::sha256_hex(&instance)))?)
    }
}
