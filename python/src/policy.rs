//! A policy that is a function of Python's: asked for the server of each task, with a view of what is free.

use fairplan::instances::{ClassId, ResourceId, UserId};
use fairplan::{Asked, Chooser, Cluster, Error, Placer};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::{Arc, Mutex, PoisonError};

/// A policy by its name, or a function with what results call it.
#[derive(FromPyObject)]
pub enum Policy {
    /// One of ours.
    Named(String),
    /// One of the caller's.
    Own(String, Py<PyAny>),
}

/// What a function of Python's raised, which is raised again when the work has ended.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, error: PyErr) -> String {
        let text = error.to_string();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        text
    }

    /// What was raised, if anything.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Policy {
    /// Whether it is a function.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own(..))
    }

    /// What places by it.
    pub fn placer(self, seed: u64, raised: &Raised) -> Result<Placer, Error> {
        let (name, function) = match self {
            Self::Named(name) => return Placer::named(&name, seed),
            Self::Own(name, function) => (name, Arc::new(function)),
        };
        let raised = raised.clone();
        let begin = move |cluster: &Cluster<'_>| -> Result<Box<dyn Chooser>, String> {
            let asked = Python::attach(|py| Asking::begin(py, cluster, &function, raised.clone()));
            asked.map(|asking| Box::new(asking) as Box<dyn Chooser>).map_err(|error| raised.keep(error))
        };
        Ok(Placer::Policy(Box::new(Asked { name, begin: Box::new(begin) })))
    }
}

/// Does work that asks functions of Python's. This thread stays one of Python's from beginning to end, so that to ask costs a
/// lock and not a new state of a thread.
pub fn asking<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    Python::attach(|py| py.detach(work))
}

/// A function at work.
struct Asking {
    function: Arc<Py<PyAny>>,
    /// What `free` is to the function, and the memory behind it.
    free: Py<PyAny>,
    memory: PyBuffer<f64>,
    units: Vec<f64>,
    /// What `task` is to the function, of each user.
    tasks: Vec<Py<PyAny>>,
    /// What has changed since the function was last asked.
    changed: Vec<(usize, Vec<u128>)>,
    raised: Raised,
}

impl Asking {
    fn begin(
        py: Python<'_>,
        cluster: &Cluster<'_>,
        function: &Arc<Py<PyAny>>,
        raised: Raised,
    ) -> PyResult<Self> {
        let Cluster { instance, servers, units } = cluster;
        let helper = py.import("fairplan.policies")?;
        let count = servers.last().map_or(0, |last| last.end);
        let given = helper.call_method1("free_capacities", (count, units.len()))?;
        let (memory, free) = given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let memory = PyBuffer::<f64>::get(&memory)?;
        let tasks = instance.users().map(|user| {
            let demand: Vec<f64> = user.demand_doubles().to_vec();
            let allowed = user.rule().eligible().map(|_| {
                let ranges =
                    servers.iter().enumerate().filter(|(class, _)| user.rule().allows(ClassId(*class)));
                ranges.map(|(_, range)| (range.start, range.end)).collect::<Vec<_>>()
            });
            Ok(helper.call_method1("Task", (user.id(), demand, allowed, count))?.unbind())
        });
        let tasks = tasks.collect::<PyResult<Vec<_>>>()?;
        let asking = Self {
            function: Arc::clone(function),
            free: free.unbind(),
            memory,
            units: units.clone(),
            tasks,
            changed: Vec::new(),
            raised,
        };
        for (class, range) in servers.iter().enumerate() {
            let capacity = (0..units.len()).map(|r| instance.capacity_units(ClassId(class), ResourceId(r)));
            let capacity: Vec<u128> = capacity.collect();
            range.clone().for_each(|server| asking.fill(py, server, &capacity));
        }
        Ok(asking)
    }

    /// States what a server has free.
    fn fill(&self, py: Python<'_>, server: usize, free: &[u128]) {
        let Some(cells) = self.memory.as_mut_slice(py) else { return };
        let row = &cells[server * self.units.len()..];
        for ((cell, units), unit) in row.iter().zip(free).zip(&self.units) {
            cell.set(*units as f64 * unit);
        }
    }
}

impl Chooser for Asking {
    fn choose(&mut self, user: UserId) -> Result<Option<usize>, String> {
        Python::attach(|py| {
            for (server, free) in self.changed.drain(..).collect::<Vec<_>>() {
                self.fill(py, server, &free);
            }
            let answer = self.function.call1(py, (&self.tasks[user.0], &self.free))?;
            if answer.bind(py).is_instance_of::<PyBool>() {
                return Err(PyTypeError::new_err("a truth value is no server; say None if none will do"));
            }
            answer.extract::<Option<i64>>(py)
        })
        .map_err(|error: PyErr| self.raised.keep(error))
        .and_then(|server| match server.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(server)) => Ok(Some(server)),
            Some(Err(_)) => Err("there is no server below 0; say None if none will do".into()),
        })
    }

    fn left(&mut self, server: usize, free: &[u128]) {
        self.changed.push((server, free.to_vec()));
    }
}
