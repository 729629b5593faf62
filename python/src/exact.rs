//! Decimals from Python: an int, a float (the shortest decimal that reads back as it), a `Decimal` or text.

use crate::failure::raised;
use fairplan::{Decimal, Error};
use pyo3::prelude::*;

/// A decimal.
#[derive(Clone, Copy)]
pub struct Exact(pub Decimal);

impl<'py> FromPyObject<'_, 'py> for Exact {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = given.str()?.to_string();
        let refused = |problem| raised(given.py(), Error::Setting(format!("{text}: {problem}")), None);
        Decimal::parse(text.as_bytes()).map(Self).map_err(refused)
    }
}
