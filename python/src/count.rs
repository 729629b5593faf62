//! Counts from Python: what is none is refused as a `TypeError`, which then names the argument.

use fairplan::Error;
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

/// That the option of this name, if it is stated, is in this range.
pub fn within(name: &str, count: Option<u64>, least: u64, most: u64) -> Result<(), Error> {
    match count.filter(|count| !(least..=most).contains(count)) {
        None => Ok(()),
        Some(count) if most == u64::MAX => {
            Err(Error::Setting(format!("{name} = {count}: must be at least {least}")))
        }
        Some(count) => Err(Error::Setting(format!("{name} = {count}: must be from {least} to {most}"))),
    }
}
