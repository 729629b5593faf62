//! Counts from Python: what is none is refused as a `TypeError`, which then names the argument.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

/// A whole number of this size, or `None` where that may be.
pub fn counted<'py, T>(given: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    given.extract::<T>().map_err(|problem: PyErr| {
        if !problem.is_instance_of::<PyOverflowError>(given.py()) {
            return problem;
        }
        PyTypeError::new_err(format!("{given} is out of range; give a whole number, 0 or more"))
    })
}
