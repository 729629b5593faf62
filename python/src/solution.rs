//! A solution: kept as it was computed, since a million users are written only when somebody asks.

use crate::call::Call;
use crate::document::json;
use crate::failure::answered;
use crate::instance::Instance;
use crate::table::Table;
use fairplan::files;
use fairplan::instances::groups_table;
use fairplan::instances::table::Tabular;
use fairplan::report::read_json;
use fairplan::report::solution::{SolutionDocument, classes_with_capacity, placements_of, stated_users_of};
use fairplan::report::table::TextForm;
use fairplan::{Error, Solved};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// What `solve` found, with the instance that it was asked about.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Solution {
    pub instance: Arc<fairplan::Instance>,
    held: Arc<Held>,
}

/// Where a solution comes from.
enum Held {
    /// It was computed here.
    Solved(Box<Solved>),
    /// It was read.
    Read { bytes: Vec<u8>, document: Box<SolutionDocument> },
}

/// Does something with the document of a solution, whatever its users are held as.
macro_rules! with_document {
    ($solution:expr, $document:ident => $value:expr) => {
        match &*$solution.held {
            Held::Solved(solved) => {
                let $document = &solved.document(&$solution.instance, true);
                $value
            }
            Held::Read { document: $document, .. } => $value,
        }
    };
}

impl Solution {
    /// One that was computed.
    pub fn new(instance: Arc<fairplan::Instance>, solved: Solved) -> Self {
        Self { instance, held: Arc::new(Held::Solved(Box::new(solved))) }
    }

    /// The JSON that the command writes; with `timing` it says how long solving took.
    pub fn json(&self, timing: bool) -> Result<Vec<u8>, Error> {
        match &*self.held {
            Held::Solved(solved) => json(&solved.document(&self.instance, timing)),
            Held::Read { bytes, .. } => Ok(bytes.clone()),
        }
    }

    fn again(&self) -> Self {
        Self { instance: Arc::clone(&self.instance), held: Arc::clone(&self.held) }
    }

    /// A table, made while Python goes on.
    fn table(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&Self) -> Result<Table, Error> + Send + 'static,
    ) -> PyResult<Table> {
        let held = self.again();
        answered(py, Call::silent().run(py, move |_| make(&held))?)
    }
}

#[pymethods]
impl Solution {
    /// A solution of an instance in JSON; errors call it `name`.
    #[new]
    fn read(py: Python<'_>, instance: &Instance, json: Vec<u8>, name: String) -> PyResult<Self> {
        let of = Arc::clone(&instance.0);
        let read = Call::silent().run(py, move |_| {
            let document: SolutionDocument = read_json(&name, &json)?;
            if document.instance.sha256 != files::sha256_hex(&of) {
                let problem = "is of another instance; read it with the one that it is of";
                return Err(Error::input(format!(
                    "{name}: instance.sha256 = {}: {problem}",
                    document.instance.sha256
                )));
            }
            Ok(Held::Read { document: Box::new(document), bytes: json })
        })?;
        Ok(Self { instance: Arc::clone(&instance.0), held: Arc::new(answered(py, read)?) })
    }

    #[getter]
    fn instance(&self) -> Instance {
        Instance(Arc::clone(&self.instance))
    }

    #[getter]
    fn value(&self) -> f64 {
        match &*self.held {
            Held::Solved(solved) => solved.numbers.headline().value,
            Held::Read { document, .. } => document.value,
        }
    }

    #[getter]
    fn level(&self) -> Option<f64> {
        match &*self.held {
            Held::Solved(solved) => solved.numbers.headline().level,
            Held::Read { document, .. } => document.level,
        }
    }

    /// Everything but the users, as JSON.
    fn head(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        answered(
            py,
            with_document!(self, document => json(&Head {
                objective: &document.objective,
                backend: &document.backend,
                method: &document.method,
                status: &document.status,
                utilization: &document.utilization,
                certificate: &document.certificate,
                stats: &document.stats,
            })),
        )
    }

    /// The users; with `views` their texts are as polars holds them.
    fn users(&self, py: Python<'_>, views: bool) -> PyResult<Table> {
        let form = if views { TextForm::Views } else { TextForm::Plain };
        self.table(py, move |held| match &*held.held {
            Held::Solved(solved) => {
                Table::with(&stated_users_of(&held.instance, &solved.solution, &solved.numbers), form)
            }
            Held::Read { document, .. } => Table::new(&document.body.table()),
        })
    }

    fn classes(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |held| {
            with_document!(held, document => Table::new(&classes_with_capacity(&held.instance, &document.server_classes)))
        })
    }

    fn groups(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |held| with_document!(held, document => Table::new(&groups_table(&document.groups))))
    }

    fn placement(&self, py: Python<'_>) -> PyResult<Table> {
        self.table(py, |held| match &*held.held {
            Held::Solved(solved) => Table::new(&placements_of(&held.instance, &solved.solution)),
            Held::Read { document, .. } => Table::new(&document.body.placements()),
        })
    }

    fn to_json<'py>(&self, py: Python<'py>, timing: bool) -> PyResult<Bound<'py, PyBytes>> {
        let held = self.again();
        let written = Call::silent().run(py, move |_| held.json(timing))?;
        Ok(PyBytes::new(py, &answered(py, written)?))
    }
}

/// What a solution says beside its users.
#[derive(serde::Serialize)]
struct Head<'a> {
    objective: &'a fairplan::Objective,
    backend: &'a str,
    method: &'a str,
    status: &'a fairplan::instances::Status,
    utilization: &'a fairplan::instances::ResourceMap,
    certificate: &'a fairplan::report::solution::CertificateResult,
    stats: &'a fairplan::report::solution::SolutionStats,
}
