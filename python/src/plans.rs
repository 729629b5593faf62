//! What to buy, what servers are worth, what failures cost, what made a difference, how long a cluster lasts, what to move.

use crate::call::{Call, look_at};
use crate::commands::{document, document_of};
use crate::count::counted;
use crate::document::{Document, json};
use crate::exact::Exact;
use crate::failure::{answered, infeasible};
use crate::instance::{Given, Instance};
use fairplan::files;
use fairplan::instances::Catalog;
use fairplan::report::read_json;
use fairplan::report::solution::{SolutionDocument, UserResult, difference_of_results};
use fairplan::{
    BuyOptions, Error, FEW_QUANTA, GrowthOptions, LoseOptions, MoveTarget, MovesOptions, PlaceOptions,
    ResultFile, StagesOptions, TargetOptions, WorthOptions, read,
};
use pyo3::prelude::*;
use std::sync::Arc;

/// What every user shall reach.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Target {
    share: Option<Exact>,
    share_of: Vec<(String, Exact)>,
    tasks: Option<Exact>,
    tasks_of: Vec<(String, Exact)>,
    as_today: bool,
    scale: Option<Exact>,
    scale_of: Vec<(String, Exact)>,
    more_users: Vec<(Option<String>, u64)>,
}

impl From<Target> for TargetOptions {
    fn from(target: Target) -> Self {
        Self {
            share: target.share.map(|share| share.0),
            share_of: target.share_of.into_iter().map(|(id, share)| (id, share.0)).collect(),
            tasks: target.tasks.map(|tasks| tasks.0),
            tasks_of: target.tasks_of.into_iter().map(|(id, tasks)| (id, tasks.0)).collect(),
            as_today: target.as_today,
            scale: target.scale.map(|factor| factor.0),
            scale_of: target.scale_of.into_iter().map(|(id, factor)| (id, factor.0)).collect(),
            more_users: target.more_users,
        }
    }
}

/// What can be bought: the path of a file, or a frame.
pub struct CatalogGiven(Given);

impl<'py> FromPyObject<'_, 'py> for CatalogGiven {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Given::new("catalog", &given).map(Self)
    }
}

impl CatalogGiven {
    /// The catalog for `instance`, without the overhead of each server.
    fn less(self, instance: &fairplan::Instance, overhead: &[(String, String)]) -> Result<Catalog, Error> {
        let name = self.0.name().to_owned();
        let catalog = match self.0 {
            Given::Path(path) => read::catalog(&path, instance)?,
            frame @ Given::Frame(..) => files::catalog_in(frame.open_with_gaps()?.as_mut(), instance)?,
        };
        read::less_overhead(catalog, &name, instance, overhead)
    }
}

/// The cheapest servers with which every user reaches its target.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn buy(
    py: Python<'_>,
    instance: &Instance,
    catalog: CatalogGiven,
    overhead: Vec<(String, String)>,
    target: Target,
    whole: bool,
    under_drfh: bool,
    budget: Option<f64>,
    #[pyo3(from_py_with = counted)] frontier: Option<u32>,
    backend: String,
    call: Call,
) -> PyResult<(Document, Option<Instance>, Option<Document>)> {
    let instance = Arc::clone(&instance.0);
    if whole && (under_drfh || frontier.is_some()) || under_drfh && frontier.is_some() {
        let problem = "whole, under_drfh and frontier are not stated together";
        return answered(py, Err(Error::Setting(problem.into())));
    }
    let options = BuyOptions { target: target.into(), whole, under_drfh, budget, frontier, backend };
    let bought = call.run(py, move |control| {
        look_at(&instance, control);
        let catalog = catalog.less(&instance, &overhead)?;
        let plan = fairplan::buy(&instance, &catalog, &options, control)?;
        let document = plan.document(&instance, &catalog);
        let placed = plan.placed().map(|(cluster, placed)| json(&placed.document(cluster, true)));
        Ok((json(&document)?, document.reachable, placed.transpose()?, plan.cluster))
    })?;
    let (plan, reachable, placed, cluster) = answered(py, bought)?;
    let plan = answered(py, Document::of("plan.buy", plan))?;
    if !reachable {
        let why = "nothing that may be bought is enough; found says what stands against it".into();
        return Err(infeasible(py, why, Py::new(py, plan)?.into_any()));
    }
    let placed = placed.map(|placed| Document::of("plan.buy", placed)).transpose();
    Ok((plan, cluster.map(|cluster| Instance(Arc::new(cluster))), answered(py, placed)?))
}

/// What one more server of each class is worth.
#[pyfunction]
pub fn worth(
    py: Python<'_>,
    instance: &Instance,
    ranges: bool,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    document_of(py, "plan.worth", instance, &call, move |instance, control| {
        let worth = fairplan::worth_of_servers(instance, &WorthOptions { ranges, backend }, control)?;
        Ok((json(&fairplan::Document::new(worth))?, None))
    })
}

/// What may move, and at which cost.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Moving {
    keep: Vec<String>,
    keep_servers: Vec<String>,
    costs: Vec<(String, u64)>,
}

/// The fewest moves to a better placement. Placements are names and bytes.
#[pyfunction]
pub fn moves(
    py: Python<'_>,
    instance: &Instance,
    start: (String, Vec<u8>),
    to: Option<(String, Vec<u8>)>,
    level: Option<f64>,
    moving: Moving,
    call: Call,
) -> PyResult<Document> {
    document_of(py, "plan.move", instance, &call, move |instance, control| {
        let file = |(name, bytes): (String, Vec<u8>)| ResultFile::new(name, bytes);
        let target = match (to, level) {
            (Some(to), _) => MoveTarget::Placement(file(to)?),
            (None, Some(part)) => MoveTarget::Level(part),
            (None, None) => MoveTarget::Unplaced,
        };
        let Moving { keep: keep_users, keep_servers, costs } = moving;
        let options =
            MovesOptions { target, keep_users, keep_servers, costs, ..MovesOptions::new(file(start)?) };
        Ok((json(&fairplan::Document::new(fairplan::moves(instance, &options, control)?))?, None))
    })
}

/// How what servers have is shared, before and after some fail.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LoseSharing {
    backend: String,
    whole: bool,
    policy: String,
    #[pyo3(from_py_with = counted)]
    seed: u64,
}

/// Who loses how much when servers fail.
#[pyfunction]
pub fn lose(
    py: Python<'_>,
    instance: &Instance,
    #[pyo3(from_py_with = counted)] servers: Option<u64>,
    together: Vec<String>,
    labelled: (Vec<String>, Vec<String>),
    sharing: LoseSharing,
    call: Call,
) -> PyResult<Document> {
    document_of(py, "plan.lose", instance, &call, move |instance, control| {
        let named = read::nodes_with_labels(&labelled.0, &labelled.1)?.together;
        let LoseSharing { backend, whole, policy, seed } = sharing;
        let whole = whole.then_some(PlaceOptions { policy, seed, command: None });
        let options = LoseOptions { servers, together, named, whole, backend };
        let losses = fairplan::losses(instance, &options, control)?;
        Ok((json(&fairplan::Document::new(losses))?, None))
    })
}

/// What differs between two instances.
#[pyfunction]
pub fn diff(
    py: Python<'_>,
    before: &Instance,
    after: &Instance,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    let (before, after) = (Arc::clone(&before.0), Arc::clone(&after.0));
    document(py, "plan.diff", &call, move |control| {
        let difference = fairplan::compare_instances(&before, &after, &backend, control)?;
        Ok((json(&fairplan::Document::new(difference))?, None))
    })
}

/// What differs between two solutions, which are names and bytes.
#[pyfunction]
pub fn diff_of_results(
    py: Python<'_>,
    before: (String, Vec<u8>),
    after: (String, Vec<u8>),
    call: Call,
) -> PyResult<Document> {
    document(py, "plan.diff", &call, move |_| {
        let before: SolutionDocument<Vec<UserResult<'_>>> = read_json(&before.0, &before.1)?;
        let after: SolutionDocument<Vec<UserResult<'_>>> = read_json(&after.0, &after.1)?;
        Ok((json(&fairplan::Document::new(difference_of_results([&before, &after])))?, None))
    })
}

/// What is bought by when.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Purchases {
    catalog: CatalogGiven,
    overhead: Vec<(String, String)>,
    #[pyo3(from_py_with = counted)]
    stages: u32,
    periods_per_quantum: Exact,
}

/// When a cluster first misses what is asked of it.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option")]
pub fn growth(
    py: Python<'_>,
    instance: &Instance,
    series: String,
    target: Target,
    quantum: String,
    by: Option<String>,
    #[pyo3(from_py_with = counted)] base: u64,
    per_quantum: bool,
    purchases: Option<Purchases>,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    let options = GrowthOptions { target: target.into(), by, base, series, backend };
    document_of(py, "plan.growth", instance, &call, move |instance, control| {
        let series = files::read_proportions(&options.series, &quantum)?;
        let mut growth = match purchases {
            Some(Purchases { catalog, overhead, stages, periods_per_quantum: periods }) => {
                let catalog = catalog.less(instance, &overhead)?;
                let stages = StagesOptions { stages, periods_per_quantum: periods.0.to_f64() };
                fairplan::growth_with_purchases(instance, &series, &catalog, &stages, &options, control)?
            }
            None => fairplan::growth(instance, &series, &options, control)?,
        };
        if !per_quantum && series.quantum_count() > FEW_QUANTA {
            growth.without_quanta();
        }
        Ok((json(&fairplan::Document::new(growth))?, None))
    })
}
