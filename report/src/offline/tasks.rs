//! `fairplan.offline.v1` of demands in tasks over the servers of an instance: the same document, with dominant shares
//! where there were slices, and the prices that prove its levels.

use super::{Held, OfflineBody, OfflineCertificate, level_of};
use crate::foreign::Foreign;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Against, Body, Document, ExactTasks, Instance, Metrics, OfflineMeasure, TaskDemands, TaskLevel,
    TaskOptimum,
};
use fairplan_instances::{DemandsStamp, InstanceStamp, Label};
use fairplan_verify::{TASK_TOLERANCE, TaskProof};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most even allocation over all quanta of tasks over server classes, with what proves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TaskOffline")]
pub struct TaskOfflineBody {
    /// The tasks that were demanded.
    pub demands: DemandsStamp,
    /// The servers, and what a task of each user needs.
    pub instance: InstanceStamp,
    /// What is evened out, summed over the quanta: `dominant-shares`, by weight; or `welfare`, the part of the work that all of
    /// a user's tasks would do where they do most.
    pub measure: String,
    /// `optimal` if the certificate proves it, otherwise `uncertified`.
    pub status: String,
    /// The smallest measure of all users who demand anything and can use some class.
    pub value: f64,
    /// What each user gets, users in the order of the demands.
    pub users: Vec<TaskUser>,
    /// Measures of the whole, in tasks where others have slices; utilization is that of the resource used most.
    pub metrics: Metrics,
    /// The levels that capacity sets, lowest first. Users on none of them run everything they demand.
    pub levels: Vec<TaskLevelResult>,
    /// How far the levels may be from what the prices allow.
    pub certificate: OfflineCertificate,
    /// The value and the levels as fractions, with `--exact` and where doubles alone are not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactTaskResult>,
    /// Rules that do not know the future, held against this.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub against: Vec<Against>,
    /// What serving whoever has least so far comes to, with `against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online_bound: Option<Against>,
    /// Every quantum, with `--per-quantum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<TaskQuantum>>,
}

impl Body for TaskOfflineBody {
    const FORMAT: &'static str = OfflineBody::FORMAT;
}

/// The whole file.
pub type TaskOfflineDocument = Document<TaskOfflineBody>;

/// What one user gets over all quanta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUser {
    /// The user's id.
    pub id: String,
    /// The tasks that it demands.
    pub demand: u64,
    /// The tasks that it is allocated.
    pub allocated: f64,
    /// The tasks that it is allocated and demands: all of them.
    pub useful: f64,
    /// The part of its demand that is satisfied. Absent when it demands nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welfare: Option<f64>,
    /// Its dominant share, summed over the quanta.
    pub dominant_share: f64,
    /// Its level, by position in `levels`. Absent when it runs everything it demands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// `dominant_share` as a fraction, with `--exact` and where doubles alone are not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
}

/// Fractions in lowest terms, `5/7` or `3`, of which the doubles beside them are roundings; `verify` proves them without tolerance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExactTaskOffline")]
pub struct ExactTaskResult {
    /// The smallest measure of all users who demand anything and can use some class.
    pub value: String,
    /// The levels, each with the multipliers and prices that prove it.
    pub levels: Vec<ExactTaskLevelResult>,
}

/// A level in fractions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExactTaskLevel")]
pub struct ExactTaskLevelResult {
    /// The measure of its users, summed over the quanta.
    pub value: String,
    /// A multiplier for each user of the document: whole numbers in proportion to the prices.
    pub multipliers: Vec<String>,
    /// For each quantum, in order, the prices of each class's resources: whole numbers that count in their proportions.
    pub prices: Vec<Vec<Vec<String>>>,
}

/// Users at one level, and what proves that they cannot have more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskLevelResult {
    /// The smallest measure of its users, summed over the quanta.
    pub value: f64,
    /// Their ids.
    pub users: Vec<String>,
    /// A multiplier for each user of the document.
    pub multipliers: Vec<f64>,
    /// For each quantum, in order, the prices of each class's resources: of the value for one more unit.
    pub prices: Vec<Vec<Vec<f64>>>,
}

/// One quantum; users in the order of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// For each user its tasks on each class of the instance; empty for who demands nothing.
    pub tasks: Vec<Vec<f64>>,
    /// The same as fractions, with `--exact` and where doubles alone are not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<Vec<Vec<String>>>,
}

impl TaskOfflineBody {
    /// What is evened out, for readers.
    pub fn measure_in_words(&self) -> &'static str {
        match &*self.measure {
            "welfare" => "welfare",
            _ => "dominant share",
        }
    }
}

/// What a measure is called where dominant shares are totals.
fn measure_name(measure: OfflineMeasure) -> &'static str {
    match measure {
        OfflineMeasure::Totals => "dominant-shares",
        OfflineMeasure::Welfare => "welfare",
    }
}

/// The measure that a document states; fails where it is none.
pub fn stated_measure(document: &TaskOfflineDocument) -> Result<OfflineMeasure, Foreign> {
    let all = [OfflineMeasure::Totals, OfflineMeasure::Welfare];
    let stated = all.into_iter().find(|measure| measure_name(*measure) == document.measure);
    stated.ok_or_else(|| Foreign::new("measure", &document.measure, "is neither dominant-shares nor welfare"))
}

/// The document of an optimum, ready to be written.
pub fn task_offline_document(
    demands: &TaskDemands<'_>,
    [demands_sha256, instance_sha256]: [&str; 2],
    optimum: &TaskOptimum,
    proof: &TaskProof,
    held: Held,
    per_quantum: bool,
) -> TaskOfflineDocument {
    let (series, instance) = (demands.series(), demands.instance());
    let shares = demands.dominant_shares(&optimum.tasks);
    let wanted = series.totals();
    let tasks = demands.totals(&optimum.tasks);
    let level_of = level_of(series.user_count(), optimum.levels.iter().map(|level| &*level.users));
    let user = |user: usize| TaskUser {
        id: series.user_id(user).into(),
        demand: wanted[user],
        allocated: tasks[user],
        useful: tasks[user],
        welfare: (wanted[user] > 0).then(|| tasks[user] / wanted[user] as f64),
        dominant_share: shares[user],
        level: level_of[user],
        exact: optimum.exact.as_ref().map(|exact| exact.shares[user].clone()),
    };
    let level = |level: &TaskLevel| TaskLevelResult {
        value: level.value,
        users: level.users.iter().map(|user| series.user_id(*user as usize).into()).collect(),
        multipliers: level.multipliers.clone(),
        prices: by_quantum_and_class(instance, &level.prices),
    };
    let exact = |exact: &ExactTasks| ExactTaskResult {
        value: exact.value.clone(),
        levels: (exact.levels.iter())
            .map(|level| ExactTaskLevelResult {
                value: level.value.clone(),
                multipliers: level.multipliers.clone(),
                prices: by_quantum_and_class(instance, &level.prices),
            })
            .collect(),
    };
    let tolerance = if optimum.exact.is_some() { 0.0 } else { TASK_TOLERANCE };
    Document::new(TaskOfflineBody {
        demands: DemandsStamp::new(series, demands_sha256),
        instance: InstanceStamp::new(instance, instance_sha256),
        measure: measure_name(demands.measure()).into(),
        status: if proof.holds() { "optimal".into() } else { "uncertified".into() },
        value: demands.smallest(&optimum.tasks),
        users: (0..series.user_count()).map(user).collect(),
        metrics: demands.metrics(&optimum.tasks),
        levels: optimum.levels.iter().map(level).collect(),
        certificate: OfflineCertificate { relative_gap: proof.relative_gap, tolerance },
        exact: optimum.exact.as_ref().map(exact),
        against: held.against,
        online_bound: held.online_bound,
        quanta: per_quantum.then(|| quanta(demands, optimum)),
    })
}

/// Prices by quantum, class and resource.
fn by_quantum_and_class<T: Clone>(instance: &Instance, prices: &[T]) -> Vec<Vec<Vec<T>>> {
    let (classes, resources) = (instance.classes().len(), instance.resources().len());
    let of_quantum = |prices: &[T]| prices.chunks(resources).map(<[T]>::to_vec).collect();
    prices.chunks(classes * resources).map(of_quantum).collect()
}

/// Every quantum of an optimum, with its fractions where it has any.
fn quanta(demands: &TaskDemands<'_>, optimum: &TaskOptimum) -> Vec<TaskQuantum> {
    let mut quanta = task_quanta(demands, &optimum.tasks);
    if let Some(exact) = &optimum.exact {
        let none = || Some(vec![Vec::new(); demands.users().len()]);
        quanta.iter_mut().for_each(|quantum| quantum.exact = none());
        demands.for_each_demand(&exact.tasks, |quantum, user, _, row| {
            if let Some(exact) = &mut quanta[quantum].exact {
                exact[user] = row.to_vec();
            }
        });
    }
    quanta
}

/// Every quantum with the tasks of each user on each class.
pub(crate) fn task_quanta(demands: &TaskDemands<'_>, tasks: &[f64]) -> Vec<TaskQuantum> {
    let series = demands.series();
    let empty = |quantum: usize| TaskQuantum {
        quantum: series.label(quantum).into(),
        tasks: vec![Vec::new(); series.user_count()],
        exact: None,
    };
    let mut quanta: Vec<TaskQuantum> = (0..series.quantum_count()).map(empty).collect();
    demands.for_each_demand(tasks, |quantum, user, _, row| quanta[quantum].tasks[user] = row.to_vec());
    quanta
}

impl Tabular for TaskOfflineBody {
    /// A row a user, in the order of the demands.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("demand", "demand", Kind::Count, |user| user.demand)
            .column("allocated", "allocated", Kind::Number, |user| user.allocated)
            .column("welfare", "welfare", Kind::Part, |user| user.welfare)
            .column("dominant_share", "dominant share", Kind::Number, |user| user.dominant_share)
            .column("level", "level", Kind::Position, |user| user.level)
            .done()
    }
}
