//! A solution as the configuration of a scheduler, and what it changes where one is deployed.

use crate::call::{Call, look_at};
use crate::count::counted;
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::answered;
use crate::instance::Instance;
use crate::table::Table;
use fairplan::exports::ExportOptions;
use fairplan::instances::Violation;
use fairplan::instances::table::{Kind, Table as Columns};
use fairplan::{Error, ExportChanges, ResultFile};
use pyo3::prelude::*;
use std::sync::Arc;

/// How a solution is written.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Exporting {
    headroom: Exact,
    units: Vec<String>,
    memory_in: Option<String>,
    #[pyo3(from_py_with = counted)]
    levels: Option<usize>,
    hard: bool,
}

impl Exporting {
    fn options(self) -> Result<ExportOptions, Violation> {
        let units = self.units.iter().map(|unit| unit.parse()).collect::<Result<_, _>>()?;
        let memory_in = self.memory_in.as_deref().map(str::parse).transpose()?;
        Ok(ExportOptions {
            headroom: self.headroom.0,
            units,
            memory_in,
            levels: self.levels,
            hard: self.hard,
        })
    }
}

/// What each tenant gets, the scheduler's own file, and where files are deployed what that changes and takes away.
type Exported = (Document, String, Option<(Table, Table)>);

/// The configuration of a scheduler. The solution is a name and bytes.
#[pyfunction]
pub fn export(
    py: Python<'_>,
    instance: &Instance,
    solution: (String, Vec<u8>),
    target: &str,
    exporting: Exporting,
    current: Option<Vec<String>>,
    call: Call,
) -> PyResult<Exported> {
    let parsed = || -> Result<_, Violation> { Ok((target.parse()?, exporting.options()?)) };
    let (target, options) = answered(py, parsed().map_err(Error::from))?;
    let instance = Arc::clone(&instance.0);
    let exported = call.run(py, move |control| {
        look_at(&instance, control);
        let solution = ResultFile::new(solution.0, solution.1)?;
        let exported = fairplan::export(&instance, &solution, target, &options, control)?;
        let changes = current.map(|files| fairplan::export_changes(&exported, &files)).transpose()?;
        let changes = changes.as_ref().map(tables).transpose()?;
        let document = Document::of("export", json(&fairplan::Document::new(exported.body()))?)?;
        Ok((document, exported.text(), changes))
    })?;
    answered(py, exported)
}

/// What changes, a row a queue and field; and what applying the configuration would take away.
fn tables(found: &ExportChanges) -> Result<(Table, Table), Error> {
    let changes = Columns::of(&found.changes)
        .column("queue", "queue", Kind::Id, |change| change.queue.as_str())
        .column("what", "what", Kind::Words, |change| change.what.as_str())
        .column("before", "before", Kind::Words, |change| change.before.as_deref())
        .column("after", "after", Kind::Words, |change| change.after.as_deref())
        .column("more", "more", Kind::Words, |change| change.more.as_deref())
        .done();
    let lost = Columns::of(&found.lost)
        .column("object", "object", Kind::Id, |lost| lost.object.as_str())
        .column("field", "field", Kind::Words, |lost| lost.field.as_str())
        .column("before", "before", Kind::Words, |lost| lost.before.as_str())
        .column("after", "after", Kind::Words, |lost| lost.after.as_deref())
        .done();
    Ok((Table::new(&changes)?, Table::new(&lost)?))
}
