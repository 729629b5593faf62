//! One function a command, with the options of its struct.

use crate::call::{Call, look_at};
use crate::count::{counted, within};
use crate::document::{Document, json};
use crate::failure::{answered, raised};
use crate::instance::Instance;
use crate::policy::{Policy, Raised, asking};
use crate::solution::Solution;
use fairplan::{
    AllocateOptions, AuditOptions, Audited, BoundOptions, BuyOptions, CompareOptions, Control, Error,
    FlowsOptions, GrowthOptions, LoseOptions, MechanismOptions, Objective, OfflineOptions, PlaceOptions,
    ResultFile, SimulateOptions, SolveOptions, WholeTaskObjective, WorthOptions, group_named, user_named,
    what_there_is,
};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::sync::Arc;

/// The version, and that of HiGHS.
#[pyfunction]
pub fn version() -> (&'static str, Option<String>) {
    (fairplan::instances::FAIRPLAN_VERSION, fairplan::highs_version().map(|version| version.to_string()))
}

/// The process as the command, with these arguments; its exit status.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| fairplan_cli::process(std::iter::once("fairplan".into()).chain(words)))
}

/// The defaults of the options, by function and name.
#[pyfunction]
pub fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    let of = |command: &str, entries: Bound<'_, PyDict>| all.set_item(command, entries);
    macro_rules! entries {
        ($($name:literal: $value:expr),* $(,)?) => {{
            let entries = PyDict::new(py);
            $(entries.set_item($name, $value)?;)*
            entries
        }};
    }
    let SolveOptions { objective, backend, exact, sparse, .. } = SolveOptions::default();
    let solve = entries! { "objective": objective.to_string(), "backend": &backend, "exact": exact, "sparse": sparse };
    of("solve", solve)?;
    of("explain", entries! { "objective": objective.to_string(), "backend": &backend })?;
    let PlaceOptions { policy, seed, .. } = PlaceOptions::default();
    of("place", entries! { "policy": policy, "seed": seed })?;
    let CompareOptions { policies, seed, backend, per_user, timing, .. } = CompareOptions::default();
    let compare = entries! { "policies": policies, "seed": seed, "backend": backend, "per_user": per_user, "timing": timing };
    of("compare", compare)?;
    let BoundOptions { backend } = BoundOptions::default();
    of("bound", entries! { "backend": backend })?;
    let AuditOptions { objectives, users, seed, backend, .. } = AuditOptions::default();
    let objectives: Vec<String> = objectives.iter().map(Objective::to_string).collect();
    of(
        "audit",
        entries! { "objective": &objectives[0], "users_searched": users, "seed": seed, "backend": backend },
    )?;
    let WorthOptions { ranges, backend } = WorthOptions::default();
    of("plan.worth", entries! { "ranges": ranges, "backend": backend })?;
    let LoseOptions { servers, together, whole, backend, .. } = LoseOptions::default();
    let PlaceOptions { policy, seed, .. } = PlaceOptions::default();
    let lose = entries! {
        "servers": servers,
        "together": together,
        "whole": whole.is_some(),
        "policy": policy,
        "seed": seed,
        "backend": backend,
    };
    of("plan.lose", lose)?;
    let BuyOptions { whole, under_drfh, budget, frontier, backend, .. } = BuyOptions::default();
    let buy = entries! { "whole": whole, "under_drfh": under_drfh, "budget": budget, "frontier": frontier, "backend": backend };
    of("plan.buy", buy)?;
    let GrowthOptions { by, base, backend, .. } = GrowthOptions::default();
    of("plan.growth", entries! { "by": by, "base": base, "backend": backend })?;
    let AllocateOptions { mechanism, per_quantum, settings, .. } = AllocateOptions::default();
    let MechanismOptions { alpha, initial_credits, ties, oversubscription, term, seed } = settings;
    let mechanisms = entries! {
        "alpha": alpha.to_f64(),
        "initial_credits": initial_credits,
        "ties": ties.name(),
        "oversubscription": oversubscription,
        "term": term,
        "seed": seed,
    };
    let allocate = mechanisms.copy()?;
    allocate.set_item("mechanism", mechanism)?;
    allocate.set_item("per_quantum", per_quantum)?;
    of("allocate", allocate)?;
    let OfflineOptions { whole_slices, guaranteed, exact, .. } = OfflineOptions::default();
    mechanisms.set_item("whole_slices", whole_slices)?;
    mechanisms.set_item("guaranteed", guaranteed)?;
    mechanisms.set_item("exact", exact)?;
    of("offline", mechanisms)?;
    let SimulateOptions { policies, dedicated, seed, .. } = SimulateOptions::default();
    of("simulate", entries! { "policies": policies, "dedicated": dedicated, "seed": seed })?;
    let FlowsOptions { objectives, level, .. } = FlowsOptions::default();
    let objectives: Vec<String> = objectives.iter().map(Objective::to_string).collect();
    of("flows", entries! { "objectives": objectives, "level": level.name() })?;
    Ok(all)
}

/// The objective of this name.
pub fn objective(name: &str) -> Result<Objective, Error> {
    name.parse().map_err(|unknown| Error::Setting(format!("objective: {unknown}")))
}

/// The exact fair allocation.
#[pyfunction]
pub fn solve(
    py: Python<'_>,
    instance: &Instance,
    name: &str,
    backend: String,
    form: (bool, bool),
    call: Call,
) -> PyResult<Solution> {
    let (exact, sparse) = form;
    let objective = answered(py, objective(name))?;
    let options = SolveOptions { objective, backend, exact, sparse, ..SolveOptions::default() };
    let instance = Arc::clone(&instance.0);
    let solving = Arc::clone(&instance);
    let solve = move |control: &Control<'_>| {
        // What is looked at takes a tenth of the time, and nobody waits for it.
        let solve = || fairplan::solve(&solving, &options, control);
        rayon::join(solve, || look_at(&solving, control)).0
    };
    match call.run(py, solve)? {
        Ok(solved) => Ok(Solution::new(instance, solved)),
        Err(mut error) => {
            let found = error.take_found().map(|solved| Solution::new(instance, solved));
            let found = found.map(|solution| Py::new(py, solution)).transpose()?;
            Err(raised(py, error, found.map(Py::into_any)))
        }
    }
}

/// Runs what gives a document.
pub fn document(
    py: Python<'_>,
    name: &'static str,
    call: &Call,
    work: impl FnOnce(&Control<'_>) -> Result<(Vec<u8>, Option<Error>), Error> + Send + 'static,
) -> PyResult<Document> {
    let (bytes, failure) = answered(py, call.run(py, work)?)?;
    let document = answered(py, Document::of(name, bytes))?;
    match failure {
        None => Ok(document),
        Some(error) => Err(raised(py, error, Some(Py::new(py, document)?.into_any()))),
    }
}

/// The same of an instance, of which what deserves a second look is noted.
pub fn document_of(
    py: Python<'_>,
    name: &'static str,
    instance: &Instance,
    call: &Call,
    work: impl FnOnce(&fairplan::Instance, &Control<'_>) -> Result<(Vec<u8>, Option<Error>), Error>
    + Send
    + 'static,
) -> PyResult<Document> {
    let instance = Arc::clone(&instance.0);
    document(py, name, call, move |control| {
        look_at(&instance, control);
        work(&instance, control)
    })
}

/// Whole tasks on servers.
#[pyfunction]
pub fn place(
    py: Python<'_>,
    instance: &Instance,
    policy: Policy,
    #[pyo3(from_py_with = counted)] seed: u64,
    servers_out: bool,
    call: Call,
) -> PyResult<Document> {
    let kept = Raised::default();
    let is_own = policy.is_own();
    let placer = answered(py, policy.placer(seed, &kept))?;
    let options = PlaceOptions { seed, ..PlaceOptions::default() };
    let placed = document_of(py, "place", instance, &call, move |instance, control| {
        let place = || fairplan::place_by(instance, &placer, &options, control);
        let placed = if is_own { asking(place)? } else { place()? };
        Ok((json(&placed.document(instance, servers_out))?, None))
    });
    placed.map_err(|error| because(py, error, &kept))
}

/// What is compared with what, beside policies.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Comparing {
    #[pyo3(from_py_with = counted)]
    seed: u64,
    objective: String,
    backend: String,
    timing: bool,
    per_user: bool,
    /// Names and bytes of placements made elsewhere.
    placements: Vec<(String, Vec<u8>)>,
}

/// Policies side by side.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    instance: &Instance,
    policies: Vec<Policy>,
    comparing: Comparing,
    call: Call,
) -> PyResult<Document> {
    let Comparing { seed, objective, backend, timing, per_user, placements } = comparing;
    let objective = objective
        .parse::<WholeTaskObjective>()
        .map_err(|problem| Error::Setting(format!("objective: {problem}")));
    let objective = answered(py, objective)?;
    let kept = Raised::default();
    let has_own = policies.iter().any(Policy::is_own);
    let placers =
        policies.into_iter().map(|policy| policy.placer(seed, &kept)).collect::<Result<Vec<_>, _>>();
    let placers = answered(py, placers)?;
    let placements = placements.into_iter().map(|(name, bytes)| ResultFile::new(name, bytes));
    let placements = answered(py, placements.collect::<Result<Vec<_>, Error>>())?;
    let options = CompareOptions {
        seed,
        objective,
        backend,
        timing,
        per_user,
        placements,
        ..CompareOptions::default()
    };
    let compared = document_of(py, "compare", instance, &call, move |instance, control| {
        let compare = || fairplan::compare_by(instance, &placers, &options, control);
        let comparison = if has_own { asking(compare)? } else { compare()? };
        Ok((json(&fairplan::Document::new(comparison))?, None))
    });
    compared.map_err(|error| because(py, error, &kept))
}

/// The error, caused by what a function of Python's raised, if one did.
pub fn because(py: Python<'_>, error: PyErr, kept: &Raised) -> PyErr {
    let Some(cause) = kept.take() else { return error };
    // Ctrl-C and the end of the interpreter are no errors of the function's.
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    error.set_cause(py, Some(cause));
    error
}

/// The best that whole tasks can do, from both sides.
#[pyfunction]
pub fn bound(
    py: Python<'_>,
    instance: &Instance,
    name: &str,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    let options = BoundOptions { backend };
    let objective =
        name.parse::<WholeTaskObjective>().map_err(|problem| Error::Setting(format!("objective: {problem}")));
    let objective = answered(py, objective)?;
    document_of(py, "bound", instance, &call, move |instance, control| {
        let bytes = match &objective {
            WholeTaskObjective::SmallestShare => {
                json(&fairplan::bound(instance, &options, control)?.document(instance))?
            }
            WholeTaskObjective::ProportionalFairness => {
                json(&fairplan::bound_proportional(instance, &options, control)?.document(instance))?
            }
            WholeTaskObjective::Allocated(resource) => {
                json(&fairplan::bound_allocated(instance, resource, control)?.document(instance))?
            }
        };
        Ok((bytes, None))
    })
}

/// Why a user has its share.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    instance: &Instance,
    user: Option<String>,
    group: Option<String>,
    name: &str,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    let options =
        SolveOptions { objective: answered(py, objective(name))?, backend, ..SolveOptions::default() };
    document_of(py, "explain", instance, &call, move |instance, control| match group {
        Some(group) => {
            let group = group_named(instance, "group", &group)?;
            let outcome = fairplan::explain_group(instance, group, &options, control);
            let (explanation, failure) = what_there_is(outcome)?;
            Ok((json(&fairplan::Document::new(explanation))?, failure))
        }
        None => {
            let user = user_named(instance, "user", &user.unwrap_or_default())?;
            let outcome = fairplan::explain(instance, user, &options, control);
            let (explanation, failure) = what_there_is(outcome)?;
            Ok((json(&fairplan::Document::new(explanation))?, failure))
        }
    })
}

/// The fairness properties of an objective.
#[pyfunction]
pub fn audit(
    py: Python<'_>,
    instance: &Instance,
    name: &str,
    #[pyo3(from_py_with = counted)] users_searched: usize,
    #[pyo3(from_py_with = counted)] seed: u64,
    backend: String,
    call: Call,
) -> PyResult<Document> {
    let objectives = vec![answered(py, objective(name))?];
    answered(py, within("users_searched", Some(users_searched as u64), 1, u64::MAX))?;
    let options = AuditOptions { objectives, leave_out: false, users: users_searched, seed, backend };
    document_of(py, "audit", instance, &call, move |instance, control| {
        let (Audited { audits, .. }, failure) = what_there_is(fairplan::audit(instance, &options, control))?;
        let audit = audits.into_iter().next().ok_or_else(|| Error::backend("nothing was audited"))?;
        Ok((json(&fairplan::Document::new(audit))?, failure))
    })
}

/// A result held against its instance.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    instance: &Instance,
    result: Vec<u8>,
    name: String,
    exported: Option<String>,
    call: Call,
) -> PyResult<Document> {
    let instance = Arc::clone(&instance.0);
    document(py, "verify", &call, move |control| {
        let result = ResultFile::new(name, result)?;
        let exported =
            exported.map(|file| fairplan::exported_from(Some(&instance), &result, &file)).transpose()?;
        let verified = fairplan::verify(&instance, result, control)?;
        let verified = match exported {
            Some(found) => found.added_to(verified),
            None => verified,
        };
        Ok((json(&fairplan::Document::new(verified))?, None))
    })
}
