//! Demands over time: divided by mechanisms, and at best.

use crate::call::Call;
use crate::commands::{because, document};
use crate::count::{counted, within};
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::{answered, options, raised};
use crate::instance::{Given, Instance};
use crate::mechanism::{Dividing, Mechanism, only_slices};
use crate::policy::{Raised, asking};
use crate::table::Table;
use fairplan::files::{self, Rounding};
use fairplan::instances::Violation;
use fairplan::report::allocation::quanta_of_users;
use fairplan::report::offline::allocated_demands;
use fairplan::report::task_allocation::tasks_by_class;
use fairplan::{
    AllocateOptions, DemandSeries, Error, FairShares, GuaranteedFraction, MechanismOptions, OfflineMeasure,
    OfflineOptions, TaskDemands, read, what_there_is,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Demands over time, in slices or in tasks.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Demands {
    series: Arc<DemandSeries>,
    name: String,
    /// The file of the instance of whose servers these are tasks, where their own file names one.
    instance: Option<String>,
}

impl Demands {
    /// These demands, which messages call `name`.
    pub fn of(series: DemandSeries, name: &str) -> Self {
        Self { series: Arc::new(series), name: name.into(), instance: None }
    }
}

fn rounding(round: Option<&str>) -> Result<Rounding, Error> {
    match round {
        None => Ok(Rounding::Refused),
        Some("down") => Ok(Rounding::Down),
        Some("nearest") => Ok(Rounding::Nearest),
        Some("up") => Ok(Rounding::Up),
        Some(other) => Err(Error::Setting(format!("round = {other}: use down, nearest or up"))),
    }
}

#[pymethods]
impl Demands {
    /// From a file's path, or a frame.
    #[new]
    fn new(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        members: Option<String>,
        round: Option<&str>,
    ) -> PyResult<Self> {
        let (given, rounding) = (Given::new("demands", given)?, answered(py, rounding(round))?);
        let name = given.name().to_owned();
        let read = Call::silent().run(py, move |_| {
            let (series, instance) = match given {
                Given::Path(path) => files::read_demands_and_instance(&path, rounding)?,
                Given::Frame(..) => {
                    (files::read_demands_opened(given.open_with_gaps()?.as_mut(), rounding)?, None)
                }
            };
            let series = match members {
                Some(path) => files::read_members(&path, series)?,
                None => series,
            };
            Ok((series, instance))
        })?;
        let (series, instance) = answered(py, read)?;
        Ok(Self { series: Arc::new(series), name, instance })
    }

    /// From a `fairplan.demands.v1`, with the quanta, first and last, in which users are members where they join or leave.
    #[staticmethod]
    fn from_json(
        py: Python<'_>,
        json: Vec<u8>,
        name: String,
        round: Option<&str>,
        members: Option<Vec<(usize, usize)>>,
    ) -> PyResult<Self> {
        let rounding = answered(py, rounding(round))?;
        let named = name.clone();
        let read = Call::silent().run(py, move |_| {
            let (series, instance) = files::read_demands_in_memory(&named, json, rounding)?;
            let series = match members {
                Some(members) => {
                    series.with_members(members.into_iter().map(|(first, end)| first..end).collect())?
                }
                None => series,
            };
            Ok((series, instance))
        })?;
        let (series, instance) = answered(py, read)?;
        Ok(Self { series: Arc::new(series), name, instance })
    }

    /// The canonical JSON, with the instance that its file named.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = || -> Result<Vec<u8>, Error> {
            let mut json = Vec::new();
            files::write_demands(&self.series, &mut json).map_err(Error::backend)?;
            if let (Some(instance), Some(first)) =
                (&self.instance, json.iter().position(|byte| *byte == b','))
            {
                let named = serde_json::to_string(instance).map_err(Error::backend)?;
                json.splice(first..first, format!(",\n  \"instance\": {named}").into_bytes());
            }
            Ok(json)
        };
        answered(py, written()).map(|json| PyBytes::new(py, &json))
    }

    /// The quanta, first and end, in which users are members; `None` where all always are.
    #[getter]
    fn members(&self) -> Option<Vec<(usize, usize)>> {
        let member = |user| {
            let quanta = self.series.membership(user);
            (quanta.start, quanta.end)
        };
        self.series.has_churn().then(|| (0..self.series.user_count()).map(member).collect())
    }

    /// What messages call them.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn users(&self) -> Vec<String> {
        (0..self.series.user_count()).map(|user| self.series.user_id(user).to_owned()).collect()
    }

    #[getter]
    fn quantum_count(&self) -> usize {
        self.series.quantum_count()
    }
}

/// What each user is due in a quantum: the path of a table, or numbers by users.
enum Shares {
    File(String),
    Each(HashMap<String, u64>),
}

impl<'py> FromPyObject<'_, 'py> for Shares {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(path) = given.extract::<String>() {
            return Ok(Self::File(path));
        }
        let share = |(user, share): (String, Bound<'py, PyAny>)| {
            let told =
                || Error::Setting(format!("{share} of {user}: is no whole number of slices, 0 or more"));
            share
                .extract::<u64>()
                .map(|slices| (user.clone(), slices))
                .map_err(|_| raised(given.py(), told(), None))
        };
        let all = given.extract::<HashMap<String, Bound<'py, PyAny>>>()?;
        all.into_iter().map(share).collect::<PyResult<_>>().map(Self::Each)
    }
}

/// What users are due.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Due {
    #[pyo3(from_py_with = counted)]
    fair_share: Option<u64>,
    #[pyo3(from_py_with = counted)]
    capacity: Option<u64>,
    fair_shares: Option<Shares>,
    instance: Option<Py<Instance>>,
}

enum Asked {
    Slices(FairShares),
    Tasks(Arc<fairplan::Instance>),
}

impl Due {
    fn of(self, demands: &Demands) -> Result<Asked, Error> {
        let series = &demands.series;
        let shares = match (self.fair_share, self.fair_shares, self.capacity, self.instance) {
            (None, None, None, Some(instance)) => return Ok(Asked::Tasks(Arc::clone(&instance.get().0))),
            (fair_share, fair_shares, capacity, None) if demands.instance.is_some() => {
                let path = demands.instance.as_deref().unwrap_or_default();
                if fair_share.is_some() || fair_shares.is_some() || capacity.is_some() {
                    let problem = "names an instance, so that its demands are tasks: state no slices";
                    return Err(Error::input(format!("{}: {problem}", demands.name)));
                }
                return Ok(Asked::Tasks(Arc::new(read::instance(path)?)));
            }
            (_, _, _, Some(_)) => {
                return Err(Error::input("demands over an instance are tasks: state no slices"));
            }
            (Some(_), Some(_), ..) => return Err(Error::input("state fair_share or fair_shares, not both")),
            (Some(share), None, ..) => FairShares::PerUser(share),
            (None, Some(Shares::File(path)), ..) => FairShares::Each(files::read_fair_shares(&path, series)?),
            (None, Some(Shares::Each(shares)), ..) => {
                let due = |user: usize| {
                    let id = series.user_id(user);
                    let missing = || Violation::new("fair_shares", id, "this user has no fair share");
                    shares.get(id).copied().ok_or_else(missing)
                };
                let each = (0..series.user_count()).map(due).collect::<Result<_, _>>()?;
                let known: HashSet<&str> =
                    (0..series.user_count()).map(|user| series.user_id(user)).collect();
                let unknown = shares.keys().filter(|id| !known.contains(id.as_str())).min();
                if let Some(id) = unknown {
                    return Err(
                        Violation::new("fair_shares", id, "the series has no user with this id").into()
                    );
                }
                FairShares::Each(each)
            }
            (None, None, Some(capacity), None) => FairShares::Capacity(capacity),
            (None, None, None, None) => {
                let problem = "say how many slices there are (fair_share, capacity or fair_shares), or give an instance";
                return Err(Error::input(problem));
            }
        };
        shares.check(series, self.capacity)?;
        Ok(Asked::Slices(shares))
    }
}

/// How mechanisms are set.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    alpha: Exact,
    #[pyo3(from_py_with = counted)]
    initial_credits: Option<u64>,
    ties: String,
    #[pyo3(from_py_with = counted)]
    oversubscription: u64,
    #[pyo3(from_py_with = counted)]
    term: u64,
    #[pyo3(from_py_with = counted)]
    seed: u64,
}

impl Settings {
    fn options(self) -> Result<MechanismOptions, Error> {
        let Self { alpha, initial_credits, ties, oversubscription, term, seed } = self;
        let refused = |problem| Error::Setting(format!("ties = {ties}: {problem}"));
        within("oversubscription", Some(oversubscription), 1, 1_000_000)?;
        within("term", Some(term), 1, 1_000_000)?;
        Ok(MechanismOptions {
            alpha: GuaranteedFraction::new(alpha.0)?,
            initial_credits,
            ties: ties.parse().map_err(refused)?,
            oversubscription,
            term,
            seed,
        })
    }
}

/// The table of every quantum, which is made while Python goes on and taken afterwards.
#[derive(Clone)]
struct Quanta {
    asked_for: bool,
    table: Arc<Mutex<Option<Table>>>,
}

impl Quanta {
    fn new(asked_for: bool) -> Self {
        Self { asked_for, table: Arc::default() }
    }

    fn keep(&self, table: &fairplan::instances::table::Table<'_>) -> Result<(), Error> {
        if self.asked_for {
            *self.table.lock().unwrap_or_else(PoisonError::into_inner) = Some(Table::new(table)?);
        }
        Ok(())
    }

    fn take(&self) -> Option<Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Demands divided by a mechanism.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn allocate(
    py: Python<'_>,
    demands: &Demands,
    #[pyo3(from_py_with = options)] due: Due,
    mechanism: Mechanism,
    #[pyo3(from_py_with = options)] settings: Settings,
    non_conformant: Option<Exact>,
    reported: Option<&Demands>,
    cache_slowdown: Option<Exact>,
    per_quantum: bool,
    call: Call,
) -> PyResult<(Document, Option<Table>)> {
    let series = Arc::clone(&demands.series);
    let asked = answered(py, due.of(demands))?;
    let quanta = Quanta::new(per_quantum);
    let every = quanta.clone();
    let (mechanism, function) = mechanism.apart();
    let kept = Raised::default();
    let mut own = function.map(|function| Dividing::new(py, function, &series, &kept)).transpose()?;
    let options = AllocateOptions {
        mechanism,
        settings: answered(py, settings.options())?,
        non_conformant: non_conformant.map(|part| part.0),
        cache_slowdown: cache_slowdown.map(|times| times.0),
        per_quantum,
    };
    let reported = reported.map(|reported| (Arc::clone(&reported.series), reported.name.clone()));
    let allocated = document(py, "allocate", &call, move |control| {
        options.check()?;
        let told = reported.as_ref().map(|(series, _)| &**series);
        if let Some((told, name)) = &reported {
            read::alike(name, told, &series)?;
        }
        let bytes = match &asked {
            Asked::Slices(shares) => {
                let allocated = match &mut own {
                    Some(own) => {
                        asking(|| fairplan::allocate_by(&series, shares, told, own, &options, control))
                    }
                    None => fairplan::allocate(&series, shares, told, &options, control),
                };
                let allocated = allocated?;
                every.keep(&quanta_of_users(&series, &allocated.outcome))?;
                json(&allocated.document(&series))?
            }
            Asked::Tasks(_) if own.is_some() => return Err(only_slices(&options.mechanism)),
            Asked::Tasks(instance) => {
                let truth = TaskDemands::new(instance, &series)?;
                let told = told.map(|told| TaskDemands::new(instance, told)).transpose()?;
                let allocated = fairplan::allocate_tasks(&truth, told.as_ref(), &options, control)?;
                every.keep(&tasks_by_class(told.as_ref().unwrap_or(&truth), &allocated.allocation.tasks))?;
                json(&allocated.document(&truth, told.as_ref()))?
            }
        };
        Ok((bytes, None))
    });
    let document = allocated.map_err(|error| because(py, error, &kept))?;
    Ok((document, quanta.take()))
}

/// The optimum when all demands are known.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn offline(
    py: Python<'_>,
    demands: &Demands,
    #[pyo3(from_py_with = options)] due: Due,
    measure: &str,
    whole_slices: bool,
    guaranteed: bool,
    exact: bool,
    against: Vec<String>,
    #[pyo3(from_py_with = options)] settings: Settings,
    per_quantum: bool,
    call: Call,
) -> PyResult<(Document, Option<Table>)> {
    let series = Arc::clone(&demands.series);
    let quanta = Quanta::new(per_quantum);
    let every = quanta.clone();
    let asked = answered(py, due.of(demands))?;
    let measure = match measure {
        "totals" => OfflineMeasure::Totals,
        "welfare" => OfflineMeasure::Welfare,
        other => {
            return answered(py, Err(Error::Setting(format!("measure = {other}: use totals or welfare"))));
        }
    };
    let settings = answered(py, settings.options())?;
    let options = OfflineOptions { measure, whole_slices, guaranteed, exact, against, settings };
    let found = document(py, "offline", &call, move |control| match &asked {
        Asked::Slices(shares) => {
            let outcome = fairplan::offline(&series, shares, &options, control);
            let (offline, failure) = what_there_is(outcome)?;
            every.keep(&allocated_demands(&series, &offline.optimum))?;
            Ok((json(&offline.document(&series, shares, per_quantum))?, failure))
        }
        Asked::Tasks(instance) => {
            let demands = TaskDemands::new(instance, &series)?;
            let outcome = fairplan::offline_tasks(&demands, &options, control);
            let (offline, failure) = what_there_is(outcome)?;
            every.keep(&tasks_by_class(&demands, &offline.optimum.tasks))?;
            Ok((json(&offline.document(&demands, per_quantum))?, failure))
        }
    })?;
    Ok((found, quanta.take()))
}

/// A result of `offline` held against its demands.
#[pyfunction]
pub fn verify_offline(
    py: Python<'_>,
    demands: &Demands,
    instance: Option<Py<Instance>>,
    result: Vec<u8>,
    name: String,
    call: Call,
) -> PyResult<Document> {
    let series = Arc::clone(&demands.series);
    let instance = instance.map(|instance| Arc::clone(&instance.get().0));
    document(py, "verify", &call, move |control| {
        let result = fairplan::ResultFile::new(name, result)?;
        let verified = match &instance {
            None => fairplan::verify_offline(&series, &result, control)?,
            Some(instance) => {
                fairplan::verify_offline_tasks(&TaskDemands::new(instance, &series)?, &result, control)?
            }
        };
        Ok((json(&fairplan::Document::new(verified))?, None))
    })
}

/// The demands of the Karma paper's example.
#[pyfunction]
pub fn karma_fig2(py: Python<'_>) -> PyResult<Demands> {
    let series = answered(py, fairplan::generate::karma_fig2().map_err(Error::from))?;
    Ok(Demands::of(series, "karma-fig2"))
}

/// Demands over time like those that were measured.
#[pyfunction]
pub fn workload(
    py: Python<'_>,
    kind: &str,
    #[pyo3(from_py_with = counted)] users: u64,
    #[pyo3(from_py_with = counted)] quanta: u64,
    mean: Exact,
    together: Exact,
    #[pyo3(from_py_with = counted)] seed: u64,
) -> PyResult<Demands> {
    let workload = kind.parse().map_err(|unknown| Error::Setting(format!("kind: {unknown}")));
    let workload = answered(py, workload)?;
    let options = fairplan::generate::WorkloadOptions {
        workload,
        users,
        quanta,
        mean: mean.0,
        together: together.0,
        seed,
    };
    let made = py.detach(|| fairplan::generate::demands(&options));
    Ok(Demands::of(answered(py, made.map_err(Error::from))?, kind))
}
