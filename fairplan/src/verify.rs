//! A result held against its instance or its demands, from what the two say alone.

use crate::{Control, Error};
use fairplan_analysis::Growth;
use fairplan_exports::ExportBody;
use fairplan_instances::wording::printable;
use fairplan_instances::{
    Body, DemandSeries, DemandsStamp, Document, Instance, InstanceStamp, TaskDemands, files,
};
use fairplan_report::allocated_bound::{AllocatedBoundBody, AllocatedBoundDocument, StatedAllocatedBracket};
use fairplan_report::bound::{BoundBody, BoundDocument, StatedBracket};
use fairplan_report::export::StatedExport;
use fairplan_report::moves::{MovesBody, StatedMoves};
use fairplan_report::offline::{
    OfflineBody, OfflineDocument, StatedOffline, StatedTaskOffline, TaskOfflineDocument, stated_measure,
};
use fairplan_report::placement::{PlacementBody, PlacementDocument, StatedPlacement};
use fairplan_report::planning::{PlanBody, PlanDocument, StatedCosts};
use fairplan_report::proportional_bound::{
    ProportionalBoundBody, ProportionalBoundDocument, StatedProportionalBracket,
};
use fairplan_report::solution::{SolutionBody, SolutionDocument, StatedSolution};
use fairplan_report::verification::Verification;
use fairplan_report::{
    Foreign, format_of, read_json, unchecked_of_moves, unchecked_of_proof, unchecked_of_solution,
    unchecked_of_sum, unchecked_of_whole_tasks,
};
use fairplan_verify::Verdict;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A result as it was written.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// What errors call it.
    pub name: String,
    /// Its JSON.
    pub bytes: Vec<u8>,
    /// The format that it says it has.
    pub format: String,
}

impl ResultFile {
    /// A result with these bytes.
    pub fn new(name: String, bytes: Vec<u8>) -> Result<Self, Error> {
        Ok(Self { format: format_of(&name, &bytes)?, name, bytes })
    }

    /// Whether it is held against demands over time, by [`verify_offline`] or [`verify_offline_tasks`].
    pub fn is_offline(&self) -> bool {
        self.format == OfflineBody::FORMAT
    }
}

/// The formats that are held against an instance alone.
const VERIFIED: [&str; 9] = [
    <SolutionBody as Body>::FORMAT,
    <PlacementBody as Body>::FORMAT,
    <BoundBody as Body>::FORMAT,
    <ProportionalBoundBody as Body>::FORMAT,
    <AllocatedBoundBody as Body>::FORMAT,
    <MovesBody as Body>::FORMAT,
    <ExportBody as Body>::FORMAT,
    <PlanBody as Body>::FORMAT,
    <Growth as Body>::FORMAT,
];

/// Checks a `fairplan.solution.v1`, `fairplan.placement.v1`, `fairplan.bound.v1`, `fairplan.proportional-bound.v1`,
/// `fairplan.moves.v1` or `fairplan.export.v1` in exact arithmetic, by code that shares nothing with what made it; of a `fairplan.plan.v1` and
/// a `fairplan.growth.v1` what they say of costs. That a property fails is an answer.
///
/// ```
/// use fairplan::{Control, PlaceOptions, ResultFile, generate, place, report, verify};
///
/// let instance = generate::drfh_fig1()?;
/// let placed = place(&instance, &PlaceOptions::default(), &Control::none())?;
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &placed.document(&instance, true)).unwrap();
/// let verified = verify(&instance, ResultFile::new("it".into(), bytes)?, &Control::none())?;
/// assert!(verified.holds);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn verify(instance: &Instance, result: ResultFile, control: &Control<'_>) -> Result<Verification, Error> {
    let sha256 = files::sha256_hex(instance);
    control.stage("verifying");
    let ResultFile { name, bytes, format } = result;
    let mut besides = Vec::new();
    let found = match format.as_str() {
        <SolutionBody as Body>::FORMAT => {
            let document: SolutionDocument = read_json(&name, &bytes)?;
            let stated = StatedSolution::new(&document, instance, &sha256);
            besides = if stated.is_ok() { unchecked_of_solution(&document, instance) } else { Vec::new() };
            drop(document);
            drop(bytes); // Large results need the room.
            stated.map(|stated| {
                let proof = stated.proof(instance);
                besides.extend(unchecked_of_proof(&proof));
                proof.verdicts
            })
        }
        <PlacementBody as Body>::FORMAT => {
            let document: PlacementDocument = read_json(&name, &bytes)?;
            besides = unchecked_of_whole_tasks(instance);
            let stated = StatedPlacement::new(&document, instance, &sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        <BoundBody as Body>::FORMAT => {
            let document: BoundDocument = read_json(&name, &bytes)?;
            besides = unchecked_of_whole_tasks(instance);
            let stated = StatedBracket::new(&document, instance, &sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        <ProportionalBoundBody as Body>::FORMAT => {
            let document: ProportionalBoundDocument = read_json(&name, &bytes)?;
            besides = unchecked_of_sum(&document);
            let stated = StatedProportionalBracket::new(&document, instance, &sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        <AllocatedBoundBody as Body>::FORMAT => {
            let document: AllocatedBoundDocument = read_json(&name, &bytes)?;
            let stated = StatedAllocatedBracket::new(&document, instance, &sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        MovesBody::FORMAT => {
            let document: Document<MovesBody> = read_json(&name, &bytes)?;
            besides = unchecked_of_moves(instance);
            let stated = StatedMoves::new(&document, instance, &sha256);
            stated.map(|stated| stated.verdicts(&document, instance))
        }
        ExportBody::FORMAT => {
            let document: Document<ExportBody> = read_json(&name, &bytes)?;
            StatedExport::new(&document, instance, &sha256).map(|stated| stated.verdicts(instance))
        }
        PlanBody::FORMAT => {
            let document: PlanDocument = read_json(&name, &bytes)?;
            StatedCosts::of_plan(&document, instance, &sha256).map(|stated| stated.verdicts())
        }
        Growth::FORMAT => {
            let document: Document<Growth> = read_json(&name, &bytes)?;
            StatedCosts::of_growth(&document, instance, &sha256).map(|stated| stated.verdicts())
        }
        other => {
            return Err(Error::input(format!(
                "{name}: format = {}: verify reads {} and {}",
                printable(other, 60),
                VERIFIED.join(", "),
                OfflineBody::FORMAT
            )));
        }
    };
    let stamp = InstanceStamp::new(instance, &sha256);
    Ok(Verification::of_instance(stamp, &format, &with_belonging(&name, found)?).besides(besides))
}

/// The same for a `fairplan.offline.v1` of demands in slices.
///
/// ```
/// use fairplan::{Control, FairShares, OfflineOptions, ResultFile, generate, offline, report};
/// use fairplan::verify_offline;
///
/// let (series, shares) = (generate::karma_fig2()?, FairShares::PerUser(2));
/// let offline = offline(&series, &shares, &OfflineOptions::default(), &Control::none())?;
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &offline.document(&series, &shares, true)).unwrap();
/// let result = ResultFile::new("it".into(), bytes)?;
/// assert!(verify_offline(&series, &result, &Control::none())?.holds);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn verify_offline(
    series: &DemandSeries,
    result: &ResultFile,
    control: &Control<'_>,
) -> Result<Verification, Error> {
    let sha256 = files::demands_sha256_hex(series);
    control.stage("verifying");
    let read = read_json(&result.name, &result.bytes);
    let document: OfflineDocument = read.map_err(|error| of_tasks(result).unwrap_or(error.into()))?;
    let stated = StatedOffline::new(&document, series, &sha256);
    let found = stated.map(|stated| stated.verdicts(&document, series, &sha256));
    let stamp = DemandsStamp::new(series, &sha256);
    Ok(Verification::of_demands(stamp, &result.format, &with_belonging(&result.name, found)?))
}

/// What is wrong with a result that could not be read as one of demands in slices, if it names an instance.
fn of_tasks(result: &ResultFile) -> Option<Error> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(&result.bytes).ok()?;
    let problem =
        "is of demands in tasks, and held against their instance too: name it (`verify --instance FILE`)";
    fields.contains_key("instance").then(|| Error::input(format!("{}: {problem}", result.name)))
}

/// The same for a `fairplan.offline.v1` of demands in tasks.
///
/// ```
/// use fairplan::{Control, DemandSeriesBuilder, OfflineOptions, QuantumLabel, ResultFile, TaskDemands};
/// use fairplan::{generate, offline_tasks, report, verify_offline_tasks};
///
/// let mut series = DemandSeriesBuilder::default();
/// series.user("user-1")?;
/// series.quantum(QuantumLabel::Number(1))?;
/// series.demand(0, 3)?;
/// let (instance, series) = (generate::drfh_fig1()?, series.build()?);
/// let demands = TaskDemands::new(&instance, &series)?;
/// let offline = offline_tasks(&demands, &OfflineOptions::default(), &Control::none())?;
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &offline.document(&demands, true)).unwrap();
/// let result = ResultFile::new("it".into(), bytes)?;
/// assert!(verify_offline_tasks(&demands, &result, &Control::none())?.holds);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn verify_offline_tasks(
    demands: &TaskDemands<'_>,
    result: &ResultFile,
    control: &Control<'_>,
) -> Result<Verification, Error> {
    control.stage("verifying");
    let document: TaskOfflineDocument = read_json(&result.name, &result.bytes)?;
    let (series, instance) =
        (files::demands_sha256_hex(demands.series()), files::sha256_hex(demands.instance()));
    let found = stated_measure(&document).and_then(|measure| {
        let (demands, sha256) = (demands.clone().measured_by(measure), [series.as_str(), &instance]);
        let stated = StatedTaskOffline::new(&document, &demands, sha256)?;
        Ok(stated.verdicts(&document, &demands, sha256))
    });
    let stamp = DemandsStamp::new(demands.series(), &series);
    Ok(Verification::of_demands(stamp, &result.format, &with_belonging(&result.name, found)?))
}

/// The hash of a file.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the result `file` belongs to what it is held against (same hash, same users and classes in the same order), and what
/// was found of it if it does. One that was written without what is checked is bad input: nothing is known of it.
fn with_belonging(file: &str, found: Result<Vec<Verdict>, Foreign>) -> Result<Vec<Verdict>, Error> {
    let belonging = |problem| Verdict::without_size("belongs-to-instance", problem);
    match found {
        Ok(found) => Ok([vec![belonging(None)], found].concat()),
        Err(foreign) if foreign.is_incomplete() => Err(Error::input(format!("{file}: {foreign}"))),
        Err(foreign) => Ok(vec![belonging(Some(foreign.to_string()))]),
    }
}
