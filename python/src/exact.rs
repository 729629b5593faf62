//! Decimals from Python: an int, a float (the shortest decimal that reads back as it), a `Decimal` or text.

use fairplan::Decimal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A decimal.
#[derive(Clone, Copy)]
pub struct Exact(pub Decimal);

impl<'py> FromPyObject<'_, 'py> for Exact {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = given.str()?.to_string();
        let refused = |problem| PyValueError::new_err(format!("{text}: {problem}"));
        Decimal::parse(text.as_bytes()).map(Self).map_err(refused)
    }
}
