//! The library's errors as Python's exceptions, which know place and value.

use fairplan::Error;
use fairplan::instances::{InstanceError, Violation, wording::printable};
use fairplan::report::MalformedResult;
use pyo3::prelude::*;
use std::any::Any;

/// What can be said of an error beside its text.
#[derive(Default)]
struct Where {
    file: Option<String>,
    path: Option<String>,
    value: Option<String>,
}

impl Where {
    fn of(error: &Error) -> Self {
        let Error::Input(cause) = error else { return Self::default() };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let at = |violation: &Violation| (some(&violation.place), some(&violation.value));
        if let Some(violation) = cause.downcast_ref::<Violation>() {
            let (path, value) = at(violation);
            return Self { file: None, path, value };
        }
        if let Some(malformed) = cause.downcast_ref::<MalformedResult>() {
            return Self { file: some(&malformed.file), path: some(&malformed.place), value: None };
        }
        match cause.downcast_ref::<InstanceError>() {
            Some(InstanceError::Io { file, .. }) => Self { file: some(file), ..Self::default() },
            Some(InstanceError::Malformed { file, place, .. }) => {
                Self { file: some(file), path: some(place), value: None }
            }
            Some(InstanceError::Invalid { file, violation }) => {
                let (path, value) = at(violation);
                Self { file: some(file), path, value }
            }
            _ => Self::default(),
        }
    }
}

/// The exception for an error, with what was found all the same.
pub fn raised(py: Python<'_>, error: Error, found: Option<Py<PyAny>>) -> PyErr {
    let name = match &error {
        Error::Input(_) | Error::Setting(_) => "InputError",
        Error::Guarantees(_) => "Infeasible",
        Error::Uncertified { .. } | Error::TimeLimit { .. } => "NotProved",
        _ => "FairplanError",
    };
    exception(py, name, error.to_string(), Where::of(&error), found)
}

/// That the answer is no, with that answer.
pub fn infeasible(py: Python<'_>, why: String, found: Py<PyAny>) -> PyErr {
    exception(py, "Infeasible", why, Where::default(), Some(found))
}

fn exception(py: Python<'_>, name: &str, text: String, at: Where, found: Option<Py<PyAny>>) -> PyErr {
    let made = || {
        let class = py.import("fairplan.errors")?.getattr(name)?;
        class.call1((text, at.file, at.path, at.value, found))
    };
    made().map_or_else(|problem| problem, PyErr::from_value)
}

/// Options that Python hands over together: what one of them cannot be is told by its name and value.
pub fn options<'py, T>(given: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    given.extract::<T>().map_err(|problem: PyErr| {
        let (py, around) = (given.py(), problem.to_string());
        let Some((_, option)) = around.rsplit_once('.').filter(|_| around.contains("extract field")) else {
            return problem;
        };
        let mut cause = problem;
        while let Some(inner) = cause.cause(py) {
            cause = inner;
        }
        let reason = cause.value(py).to_string();
        let value = given.get_item(option).map(|value| value.to_string()).unwrap_or_default();
        let value = printable(&value, 100).to_string();
        let told = match reason.starts_with(&value) {
            true => format!("{option} = {reason}"),
            false => format!("{option} = {value}: {reason}"),
        };
        let at = Where { file: None, path: Some(option.to_owned()), value: Some(value) };
        exception(py, "InputError", told, at, None)
    })
}

/// A panic, which is a defect of ours.
pub fn defect(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let reason = printable(text.unwrap_or("no reason given"), 400);
    Error::backend(format!("defect in fairplan: {reason}; please report it"))
}

/// The answer, or the exception without anything that was found.
pub fn answered<T>(py: Python<'_>, outcome: Result<T, Error>) -> PyResult<T> {
    outcome.map_err(|error| raised(py, error, None))
}
