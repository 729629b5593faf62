//! A mechanism that is a function of Python's: asked for the slices of each quantum, with what was before.

use crate::policy::Raised;
use fairplan::{DemandSeries, Divider, Error, Quantum, QuantumLabel};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};
use std::sync::Arc;

/// A mechanism by its name, or a function with what results call it.
#[derive(FromPyObject)]
pub enum Mechanism {
    /// One of ours.
    Named(String),
    /// One of the caller's.
    Own(String, Py<PyAny>),
}

impl Mechanism {
    /// Its name in results, and the function if it is one.
    pub fn apart(self) -> (String, Option<Py<PyAny>>) {
        match self {
            Self::Named(name) => (name, None),
            Self::Own(name, function) => (name, Some(function)),
        }
    }
}

/// A function at work.
pub struct Dividing {
    function: Py<PyAny>,
    is_beyond_demand: bool,
    series: Arc<DemandSeries>,
    /// What `history` is to the function.
    history: Option<Py<PyAny>>,
    /// Who took part when the function was last asked.
    members: Vec<u32>,
    raised: Raised,
}

impl Dividing {
    pub fn new(
        py: Python<'_>,
        function: Py<PyAny>,
        series: &Arc<DemandSeries>,
        raised: &Raised,
    ) -> PyResult<Self> {
        let says_so = function.bind(py).getattr_opt("beyond_demand")?;
        let is_beyond_demand = says_so.map_or(Ok(false), |says_so| says_so.is_truthy())?;
        let (series, raised) = (Arc::clone(series), raised.clone());
        Ok(Self { function, is_beyond_demand, series, history: None, members: Vec::new(), raised })
    }

    fn ask(&mut self, py: Python<'_>, quantum: Quantum<'_>) -> PyResult<Vec<i64>> {
        let series = &self.series;
        let history = match &self.history {
            Some(history) => history.bind(py).clone(),
            None => {
                let ids: Vec<&str> = (0..series.user_count()).map(|user| series.user_id(user)).collect();
                let made = py.import("fairplan.mechanisms")?.getattr("History")?;
                let made = made.call1((ids, series.quantum_count()))?;
                self.history = Some(made.clone().unbind());
                made
            }
        };
        let due = quantum.due;
        if self.members != due.members() {
            self.members = due.members().to_vec();
            let total = due.total_weight() as f64;
            let share = |user: usize| due.capacity() as f64 * due.weight(user) as f64 / total;
            let shares: Vec<f64> = (0..series.user_count()).map(share).collect();
            let mut takes_part = vec![false; series.user_count()];
            due.members().iter().for_each(|user| takes_part[*user as usize] = true);
            history.call_method1("_admit", (due.capacity(), shares, takes_part))?;
        }
        let label = match series.label(quantum.position) {
            QuantumLabel::Number(number) => number.into_pyobject(py)?.into_any(),
            QuantumLabel::Text(text) => text.into_pyobject(py)?.into_any(),
        };
        let asked = (&self.function, quantum.position, label, quantum.demands.to_vec());
        let answer = history.call_method1("_ask", asked)?;
        answer.try_iter()?.enumerate().map(|(user, slices)| self.slices_of(user, &slices?)).collect()
    }

    /// A number of slices: a whole one, of whatever type.
    fn slices_of(&self, user: usize, slices: &Bound<'_, PyAny>) -> PyResult<i64> {
        if !slices.is_instance_of::<PyBool>() {
            if let Ok(slices) = slices.extract::<i64>() {
                return Ok(slices);
            }
            if let Ok(slices) = slices.cast::<PyFloat>() {
                let (slices, most) = (slices.extract::<f64>()?, (1_u64 << 53) as f64);
                if slices.fract() == 0.0 && slices.abs() <= most {
                    return Ok(slices as i64);
                }
            }
        }
        let id = if user < self.series.user_count() { self.series.user_id(user) } else { "nobody" };
        Err(PyTypeError::new_err(format!("{id} gets {}: is no whole number of slices", slices.repr()?)))
    }
}

impl Divider for Dividing {
    fn divide(&mut self, quantum: Quantum<'_>) -> Result<Vec<i64>, String> {
        Python::attach(|py| self.ask(py, quantum)).map_err(|error: PyErr| self.raised.keep(error))
    }

    fn is_beyond_demand(&self) -> bool {
        self.is_beyond_demand
    }
}

/// That tasks over an instance have no mechanism of the caller's.
pub fn only_slices(name: &str) -> Error {
    Error::Setting(format!(
        "mechanism {name}: a function divides slices; tasks over an instance are divided by mechanisms of ours"
    ))
}
