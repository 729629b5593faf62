//! A policy that is a function of Python's: asked for the server of each task, with a view of what is free.

use fairplan::instances::{ClassId, KindId, ResourceId};
use fairplan::{Asked, Chooser, Cluster, ClusterNames, Error, OutsidePolicy, Placer, SimulatePolicy};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A policy by its name, or a function with what results call it.
#[derive(FromPyObject)]
pub enum Policy {
    /// One of ours.
    Named(String),
    /// One in another process: its command line, and how many seconds it may take for an answer.
    Outside(String, f64),
    /// One of the caller's.
    Own(String, Py<PyAny>),
}

/// What a function of Python's raised, which is raised again when the work has ended.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps what was raised; its text.
    pub fn keep(&self, error: PyErr) -> String {
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
        match self {
            Self::Named(name) => Placer::named(&name, seed),
            Self::Outside(command, timeout) => Ok(Placer::Outside(outside(&command, timeout)?)),
            Self::Own(name, function) => Ok(Placer::Policy(Box::new(asked(name, function, raised)))),
        }
    }

    /// The same where tasks come and go.
    pub fn simulated(self, raised: &Raised) -> Result<SimulatePolicy, Error> {
        Ok(match self {
            Self::Named(name) => SimulatePolicy::Named(name),
            Self::Outside(command, timeout) => SimulatePolicy::Outside(outside(&command, timeout)?),
            Self::Own(name, function) => SimulatePolicy::Own(asked(name, function, raised)),
        })
    }
}

/// The policy of a command line.
fn outside(command: &str, timeout: f64) -> Result<OutsidePolicy, Error> {
    let refused = |problem: String| Error::Setting(format!("policy command {command:?}: {problem}"));
    let limit = Some(timeout).filter(|seconds| *seconds > 0.0);
    let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let limit = limit.ok_or_else(|| refused(format!("timeout = {timeout}: state seconds, more than 0")))?;
    OutsidePolicy::new(command, limit).map_err(refused)
}

fn asked(name: String, function: Py<PyAny>, raised: &Raised) -> Asked {
    let function = Arc::new(function);
    let (asked, live) = (Asking::new(&function, raised), Asking::new(&function, raised));
    let begin = move |cluster: &Cluster<'_>| -> Result<Box<dyn Chooser>, String> {
        let mut asking = asked.again();
        let begun = Python::attach(|py| asking.begin(py, cluster));
        begun.map_err(|error| asking.raised.keep(error))?;
        Ok(Box::new(asking))
    };
    let begin_live = move |names: &ClusterNames| -> Result<Box<dyn Chooser>, String> {
        let mut asking = live.again();
        asking.units = names.resources.iter().map(|(_, exponent)| 10f64.powi((*exponent).into())).collect();
        Ok(Box::new(asking))
    };
    Asked { name, begin: Box::new(begin), begin_live: Box::new(begin_live) }
}

/// Does work that asks functions of Python's. This thread stays one of Python's from beginning to end, so that to ask costs a
/// lock and not a new state of a thread.
pub fn asking<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    Python::attach(|py| py.detach(work))
}

/// A function at work.
struct Asking {
    function: Arc<Py<PyAny>>,
    raised: Raised,
    units: Vec<f64>,
    /// What each server has free, row by row.
    free: Vec<f64>,
    /// What the function sees of it, and the memory behind that; made when it is asked, and anew when there are more servers.
    seen: Option<(Py<PyAny>, PyBuffer<f64>)>,
    /// Servers that have changed since the function was last asked.
    changed: Vec<usize>,
    /// What `task` is to the function, of each kind; a user without kinds has one.
    tasks: Vec<Py<PyAny>>,
    /// What tasks need of users for whom there is no `task` yet.
    demands: Vec<Vec<f64>>,
}

impl Asking {
    fn new(function: &Arc<Py<PyAny>>, raised: &Raised) -> Self {
        Self {
            function: Arc::clone(function),
            raised: raised.clone(),
            units: Vec::new(),
            free: Vec::new(),
            seen: None,
            changed: Vec::new(),
            tasks: Vec::new(),
            demands: Vec::new(),
        }
    }

    /// The same function before it is told of anything.
    fn again(&self) -> Self {
        Self::new(&self.function, &self.raised)
    }

    /// Takes note of a cluster whose users and servers are known.
    fn begin(&mut self, py: Python<'_>, cluster: &Cluster<'_>) -> PyResult<()> {
        let Cluster { instance, servers, units } = cluster;
        self.units.clone_from(units);
        let count = servers.last().map_or(0, |last| last.end);
        let helper = py.import("fairplan.policies")?;
        for kind in (0..instance.kind_count()).map(|k| instance.kind(KindId(k))) {
            let demand: Vec<f64> = kind.piece().iter().map(|need| need.to_f64()).collect();
            let allowed = kind.rule().eligible().map(|_| {
                let ranges =
                    servers.iter().enumerate().filter(|(class, _)| kind.rule().allows(ClassId(*class)));
                ranges.map(|(_, range)| (range.start, range.end)).collect::<Vec<_>>()
            });
            let task = helper.call_method1("Task", (kind.user().id(), demand, allowed, count, kind.id()))?;
            self.tasks.push(task.unbind());
        }
        for (class, range) in servers.iter().enumerate() {
            let capacity = (0..units.len()).map(|r| instance.capacity_units(ClassId(class), ResourceId(r)));
            let capacity: Vec<u128> = capacity.collect();
            range.clone().for_each(|server| self.left(server, &capacity));
        }
        Ok(())
    }

    /// Shows the function what has changed.
    fn show(&mut self, py: Python<'_>) -> PyResult<&Py<PyAny>> {
        let width = self.units.len().max(1);
        let helper = || py.import("fairplan.policies");
        for demand in self.demands.drain(..) {
            let name = format!("shape-{}", self.tasks.len() + 1);
            let task = helper()?.call_method1("Task", (name, demand, None::<Vec<(usize, usize)>>, 0))?;
            self.tasks.push(task.unbind());
        }
        let has_room = self.seen.as_ref().is_some_and(|(_, memory)| memory.item_count() == self.free.len());
        if !has_room {
            let made = helper()?.call_method1("free_capacities", (self.free.len() / width, width))?;
            let (memory, seen) = made.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let memory = PyBuffer::<f64>::get(&memory)?;
            self.changed = (0..self.free.len() / width).collect();
            self.seen = Some((seen.unbind(), memory));
        }
        let Some((seen, memory)) = &self.seen else { return Err(PyTypeError::new_err("nothing to show")) };
        if let Some(cells) = memory.as_mut_slice(py) {
            for server in self.changed.drain(..) {
                let row = server * width..(server + 1) * width;
                cells[row.clone()].iter().zip(&self.free[row]).for_each(|(cell, free)| cell.set(*free));
            }
        }
        Ok(seen)
    }
}

/// The servers in an answer: one, several, or none.
fn servers_of(answer: &Bound<'_, PyAny>, servers: &mut VecDeque<usize>) -> PyResult<()> {
    let mut add = |server: &Bound<'_, PyAny>| {
        if server.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a truth value is no server; say None if none will do"));
        }
        let server = server.extract::<i64>()?;
        let below = |_| PyValueError::new_err("there is no server below 0; say None if none will do");
        servers.push_back(usize::try_from(server).map_err(below)?);
        Ok(())
    };
    if answer.is_none() {
        return Ok(());
    }
    // Arrays without dimensions are numbers.
    let is_list = !answer.is_instance_of::<PyString>() && answer.hasattr("__iter__")? && answer.len().is_ok();
    if is_list {
        return answer.try_iter()?.try_for_each(|server| add(&server?));
    }
    add(answer)
}

impl Chooser for Asking {
    fn choose(&mut self, kind: KindId, servers: &mut VecDeque<usize>) -> Result<(), String> {
        let asked = Python::attach(|py| {
            let seen = self.show(py)?.clone_ref(py);
            let answer = self.function.call1(py, (&self.tasks[kind.0], seen))?;
            servers_of(answer.bind(py), servers)
        });
        asked.map_err(|error: PyErr| {
            let text = self.raised.keep(error);
            let user = self.tasks.get(kind.0).and_then(|task| {
                Python::attach(|py| task.getattr(py, "user").ok()?.extract::<String>(py).ok())
            });
            user.map_or_else(|| text.clone(), |user| format!("a task of {user}: {text}"))
        })
    }

    fn left(&mut self, server: usize, free: &[u128]) {
        let width = self.units.len().max(1);
        if self.free.len() < (server + 1) * width {
            self.free.resize((server + 1) * width, 0.0);
        }
        let row = &mut self.free[server * width..(server + 1) * width];
        for ((cell, units), unit) in row.iter_mut().zip(free).zip(&self.units) {
            *cell = *units as f64 * unit;
        }
        self.changed.push(server);
    }

    fn user(&mut self, demand: &[u128]) {
        self.demands.push(demand.iter().zip(&self.units).map(|(need, unit)| *need as f64 * unit).collect());
    }
}
