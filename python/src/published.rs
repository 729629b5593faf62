//! What schedulers' rules promise, what papers say, and what formats are.

use crate::call::Call;
use crate::commands::{document, document_of};
use crate::count::within;
use crate::document::{Document, json};
use crate::failure::answered;
use crate::instance::Instance;
use fairplan::{Error, Quotas};
use fairplan_studies::{ReproduceOptions, reproduce as reproduced};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// What the rules of YARN, Kueue and Volcano entitle users to.
#[pyfunction]
pub fn entitlements(
    py: Python<'_>,
    instance: &Instance,
    quotas: Option<Py<Instance>>,
    call: Call,
) -> PyResult<Document> {
    let quotas = quotas.map(|quotas| Arc::clone(&quotas.get().0));
    document_of(py, "entitlements", instance, &call, move |instance, control| {
        let of = |queues: Arc<fairplan::Instance>| Quotas::new(instance, &queues);
        let quotas = quotas.map(of).transpose()?;
        let entitled = fairplan::entitlements(instance, quotas.as_ref(), control)?;
        Ok((json(&fairplan::Document::new(entitled))?, None))
    })
}

/// Files of others, for tables and figures that are computed from them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PublishedFiles {
    google2011: Option<PathBuf>,
    alibaba_gpu2023: Option<PathBuf>,
    snowset: Option<PathBuf>,
}

/// Published tables and figures, recomputed.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    ids: Vec<String>,
    summary: bool,
    files: PublishedFiles,
    #[pyo3(from_py_with = crate::count::counted)] servers: u64,
    call: Call,
) -> PyResult<Document> {
    let PublishedFiles { google2011, alibaba_gpu2023, snowset } = files;
    let options = ReproduceOptions { ids, summary, google2011, alibaba_gpu2023, snowset, servers };
    document(py, "reproduce", &call, move |control| {
        within("servers", Some(options.servers), 1, u64::MAX)?;
        options.check()?;
        Ok((json(&reproduced(&options, control)?)?, None))
    })
}

/// The JSON Schema of a format, or of all of them in one object.
#[pyfunction]
pub fn schema<'py>(py: Python<'py>, name: Option<String>) -> PyResult<Bound<'py, PyBytes>> {
    let words: Vec<String> = std::iter::once("schema".to_owned()).chain(name).collect();
    let called = fairplan_cli::called(&words, None);
    let schema = if called.status == 0 { Ok(called.output) } else { Err(Error::input(called.message)) };
    Ok(PyBytes::new(py, &answered(py, schema)?))
}
