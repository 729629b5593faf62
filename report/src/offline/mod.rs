//! `fairplan.offline.v1`: the best that could have been done with all demands known, as `offline` writes it.

mod claim;
mod task_claim;
mod tasks;

pub use claim::StatedOffline;
pub use task_claim::StatedTaskOffline;
pub(crate) use tasks::task_quanta;
pub use tasks::{
    ExactTaskLevelResult, ExactTaskResult, TaskLevelResult, TaskOfflineBody, TaskOfflineDocument,
    TaskQuantum, TaskUser, stated_measure, task_offline_document,
};

use crate::allocation::AllocationSettings;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Against, Body, DemandSeries, DemandsStamp, Document, Label, Metrics, OfflineMeasure, OfflineOptimum,
    OfflineProblem,
};
use fairplan_verify::OfflineProof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most even allocation over all quanta, with what proves it. The same series and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Offline")]
pub struct OfflineBody {
    /// The demands that were served.
    pub demands: DemandsStamp,
    /// What is evened out: `totals` of slices by weight, or `welfare`, the part of the demand that is satisfied.
    pub measure: String,
    /// Whether slices are whole; otherwise they are divided at will.
    pub whole_slices: bool,
    /// Whether everybody has its guaranteed share (`settings.alpha`) in every quantum.
    pub guaranteed: bool,
    /// What is due to whom, and the settings of the mechanisms it is held against.
    pub settings: AllocationSettings,
    /// `optimal` if the certificate proves it, otherwise `uncertified`.
    pub status: String,
    /// The smallest measure of all users who demand anything.
    pub value: f64,
    /// What each user gets.
    pub users: Vec<OfflineUser>,
    /// Measures of the whole. Users without any demand do not count in any of them.
    pub metrics: Metrics,
    /// Users at one level, lowest first: once the lower levels have theirs, the users of a level cannot all get more.
    pub levels: Vec<OfflineLevelResult>,
    /// What proves the levels.
    pub certificate: OfflineCertificate,
    /// The value and the levels as fractions, with `--exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactOfflineResult>,
    /// Mechanisms that do not know the future, held against this.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub against: Vec<Against>,
    /// What serving whoever has least so far comes to, with `against`: in every quantum, nobody who does not know the
    /// future can do better by the user with least (Karma Thm. 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online_bound: Option<Against>,
    /// Every quantum, with `--per-quantum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<OfflineQuantum>>,
}

impl Body for OfflineBody {
    const FORMAT: &'static str = "fairplan.offline.v1";
}

/// The whole file.
pub type OfflineDocument = Document<OfflineBody>;

/// A result of `offline`: of slices, or of tasks over the servers of an instance.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AnyOffline")]
pub enum AnyOffline {
    /// Slices of one resource.
    Slices(OfflineDocument),
    /// Tasks over server classes.
    Tasks(TaskOfflineDocument),
}

/// What one user gets over all quanta, in slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfflineUser {
    /// The user's id.
    pub id: String,
    /// Its demand.
    pub demand: u64,
    /// What it is allocated.
    pub allocated: f64,
    /// What it is allocated and demands: all of it.
    pub useful: f64,
    /// The part of its demand that is satisfied. Absent when it demands nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welfare: Option<f64>,
    /// Its level, by position in `levels`. Absent when it demands nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// `allocated` as a fraction, with `--exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
}

/// Fractions in lowest terms, `5/7` or `3`, of which the doubles beside them are roundings; `verify` proves them without tolerance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactOfflineResult {
    /// The smallest measure of all users who demand anything.
    pub value: String,
    /// The value of each level.
    pub levels: Vec<String>,
}

/// Users at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfflineLevelResult {
    /// The measure of each of them (of whole slices: the smallest).
    pub value: f64,
    /// Their ids.
    pub users: Vec<String>,
}

/// The proof: the users of the first levels together cannot get more than they do, however slices are divided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfflineCertificate {
    /// The largest part of its level that a user lacks; 0 for whole slices, which are counted, and for fractions.
    pub relative_gap: f64,
    /// The largest such part that is accepted; 0 for fractions.
    pub tolerance: f64,
}

/// One quantum; users in the order of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfflineQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// Slices allocated to each user.
    pub allocated: Vec<f64>,
    /// The same as fractions, with `--exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<Vec<String>>,
}

/// What is held against the optimum.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Mechanisms.
    pub against: Vec<Against>,
    /// See [`OfflineBody::online_bound`]; there is one where there are mechanisms.
    pub online_bound: Option<Against>,
}

/// The level of each of so many users, by position in `levels`, of which each states its users.
fn level_of<'a>(users: usize, levels: impl Iterator<Item = &'a [u32]>) -> Vec<Option<u32>> {
    let mut level_of = vec![None; users];
    for (position, level) in levels.enumerate() {
        level.iter().for_each(|user| level_of[*user as usize] = Some(position as u32));
    }
    level_of
}

/// How a result has what `verify` checks.
const WITH_QUANTA: &str = "write the result with `fairplan offline --per-quantum`";

/// The document of an optimum, ready to be written.
pub fn offline_document(
    problem: &OfflineProblem<'_>,
    sha256: &str,
    settings: AllocationSettings,
    optimum: &OfflineOptimum,
    proof: &OfflineProof,
    held: Held,
    per_quantum: bool,
) -> OfflineDocument {
    let series = problem.series;
    let totals = optimum.totals(series);
    let demands = series.totals();
    let level_of = level_of(series.user_count(), optimum.levels.iter().map(|level| &*level.users));
    let user = |user: usize| OfflineUser {
        id: series.user_id(user).into(),
        demand: demands[user],
        allocated: totals[user],
        useful: totals[user],
        welfare: (demands[user] > 0).then(|| totals[user] / demands[user] as f64),
        level: level_of[user],
        exact: optimum.exact.as_ref().map(|exact| exact.totals[user].clone()),
    };
    let level = |level: &fairplan_instances::OfflineLevel| OfflineLevelResult {
        value: level.value,
        users: level.users.iter().map(|user| series.user_id(*user as usize).into()).collect(),
    };
    Document::new(OfflineBody {
        demands: DemandsStamp::new(series, sha256),
        measure: match problem.measure {
            OfflineMeasure::Totals => "totals".into(),
            OfflineMeasure::Welfare => "welfare".into(),
        },
        whole_slices: problem.whole_slices,
        guaranteed: problem.guaranteed.is_some(),
        settings,
        status: if proof.holds() { "optimal".into() } else { "uncertified".into() },
        value: problem.smallest(&totals),
        users: (0..series.user_count()).map(user).collect(),
        metrics: problem.metrics(optimum),
        levels: optimum.levels.iter().map(level).collect(),
        certificate: OfflineCertificate {
            relative_gap: proof.relative_gap,
            tolerance: if optimum.exact.is_some() { 0.0 } else { fairplan_verify::OFFLINE_TOLERANCE },
        },
        exact: optimum
            .exact
            .as_ref()
            .map(|exact| ExactOfflineResult { value: exact.value.clone(), levels: exact.levels.clone() }),
        against: held.against,
        online_bound: held.online_bound,
        quanta: per_quantum.then(|| quanta(problem, optimum)),
    })
}

fn quanta(problem: &OfflineProblem<'_>, optimum: &OfflineOptimum) -> Vec<OfflineQuantum> {
    let series = problem.series;
    let mut amounts = optimum.allocated.iter();
    let mut fractions = optimum.exact.as_ref().map(|exact| exact.allocated.iter());
    let quantum = |quantum: usize| {
        let demanders = series.demands(quantum).0;
        let mut allocated = vec![0.0; series.user_count()];
        for (user, amount) in demanders.iter().zip(amounts.by_ref()) {
            allocated[*user as usize] = *amount;
        }
        let exact = fractions.as_mut().map(|fractions| {
            let mut exact = vec!["0".to_owned(); series.user_count()];
            for (user, amount) in demanders.iter().zip(fractions) {
                exact[*user as usize].clone_from(amount);
            }
            exact
        });
        OfflineQuantum { quantum: series.label(quantum).into(), allocated, exact }
    };
    (0..series.quantum_count()).map(quantum).collect()
}

impl Tabular for OfflineBody {
    /// A row a user, in the order of the series.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("demand", "demand", Kind::Count, |user| user.demand)
            .column("allocated", "allocated", Kind::Number, |user| user.allocated)
            .column("welfare", "welfare", Kind::Part, |user| user.welfare)
            .column("level", "level", Kind::Position, |user| user.level)
            .done()
    }
}

/// A row for every demand above zero: what it is, and what it is allocated.
pub fn allocated_demands<'a>(series: &'a DemandSeries, optimum: &'a OfflineOptimum) -> Table<'a> {
    let entries: Vec<(usize, u32, u64)> = (0..series.quantum_count())
        .flat_map(|quantum| {
            let (users, slices) = series.demands(quantum);
            users.iter().zip(slices).map(move |(user, slices)| (quantum, *user, *slices))
        })
        .collect();
    Table::over(entries.len(), move |row| (entries[row], optimum.allocated[row]))
        .column("quantum", "quantum", Kind::Id, |row| series.label(row.0.0).to_string())
        .column("user", "user", Kind::Id, |row| series.user_id(row.0.1 as usize))
        .column("demand", "demand", Kind::Count, |row| row.0.2)
        .column("allocated", "allocated", Kind::Number, |row| row.1)
        .done()
}

/// Mechanisms beside an optimum in this measure.
pub fn held_against<'a>(measure: &str, against: &'a [Against]) -> Table<'a> {
    let kind = if measure == "welfare" { Kind::Part } else { Kind::Number };
    Table::of(against)
        .column("mechanism", "mechanism", Kind::Words, |one| &one.mechanism)
        .column("value", "smallest", kind, |one| one.value)
        .column("regret", "regret", Kind::Part, |one| one.regret)
        .column("regret_per_quantum", "regret per quantum", Kind::Number, |one| one.regret_per_quantum)
        .done()
}
