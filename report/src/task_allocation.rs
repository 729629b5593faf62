//! `fairplan.allocation.v1` of demands in tasks over the servers of an instance: the same document, with dominant shares
//! and tasks that are divided at will.

use crate::allocation::AllocationBody;
use crate::offline::{TaskQuantum, task_quanta};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, Metrics, TaskAllocation, TaskDemands};
use fairplan_instances::{DemandsStamp, InstanceStamp, Label};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tasks over server classes, divided by a rule quantum by quantum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TaskAllocation")]
pub struct TaskAllocationBody {
    /// The tasks that were demanded.
    pub demands: DemandsStamp,
    /// The servers, and what a task of each user needs.
    pub instance: InstanceStamp,
    /// The rule that divided the servers.
    pub mechanism: String,
    /// Everything else that decided the outcome.
    pub settings: TaskAllocationSettings,
    /// What each user demanded and got over all quanta, users in the order of the demands.
    pub users: Vec<TaskAllocatedUser>,
    /// Measures of the whole, of useful tasks; utilization is that of the resource used most.
    pub metrics: Metrics,
    /// How far a share may be from what the rule asks for, in parts of what was decided in its quantum: the widest gap
    /// to the prices' bound of all quanta.
    #[schemars(range(min = 0))]
    pub widest_gap: f64,
    /// Every quantum, with `--per-quantum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<TaskQuantum>>,
    /// Everybody's credits after each quantum, with `--per-quantum`; 0 for who is no member. Absent for rules without
    /// credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits: Option<Vec<Vec<f64>>>,
}

impl Body for TaskAllocationBody {
    const FORMAT: &'static str = AllocationBody::FORMAT;
}

/// The whole file.
pub type TaskAllocationDocument = Document<TaskAllocationBody>;

/// What decides an outcome beside the demands and the instance; settings of other rules are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskAllocationSettings {
    /// Karma: the guaranteed fraction of a user's part of every class, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub alpha: Option<f64>,
    /// Karma: credits of every user at the start, in weighted dominant shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_credits: Option<f64>,
    /// SHA-256 of the series that was reported instead of the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub reported_sha256: Option<String>,
}

/// What one user demanded and got over all quanta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskAllocatedUser {
    /// The user's id.
    pub id: String,
    /// The tasks that it truly demands.
    pub demand: u64,
    /// The tasks that it was allocated.
    pub allocated: f64,
    /// Those of them that it truly demanded.
    pub useful: f64,
    /// The part of its demand that was satisfied. Absent when it demanded nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welfare: Option<f64>,
    /// The dominant share of its useful tasks, summed over the quanta.
    pub dominant_share: f64,
    /// Credits left after the last quantum; 0 for who has left. Absent for rules without credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// The first quantum in which it was a member. Absent when nobody joins or leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Label>,
    /// The last quantum in which it was a member. Absent when nobody joins or leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Label>,
}

/// A result of `allocate`: of slices, or of tasks over the servers of an instance.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AnyAllocation")]
pub enum AnyAllocation {
    /// Slices of one resource.
    Slices(crate::allocation::AllocationDocument),
    /// Tasks over server classes.
    Tasks(TaskAllocationDocument),
}

/// The document of an allocation to what was reported, ready to be written.
pub fn task_allocation_document(
    truth: &TaskDemands<'_>,
    reported: &TaskDemands<'_>,
    [demands_sha256, instance_sha256]: [&str; 2],
    mechanism: &str,
    settings: TaskAllocationSettings,
    allocation: &TaskAllocation,
    per_quantum: bool,
) -> TaskAllocationDocument {
    let (series, instance) = (truth.series(), truth.instance());
    let useful = truth.useful(reported, &allocation.tasks);
    let (totals, wanted) = (truth.totals(&useful), series.totals());
    let allocated = reported.totals(&allocation.tasks);
    let shares = truth.dominant_shares(&useful);
    let users = series.user_count();
    let kept = allocation.credits.as_ref().map(|credits| &credits[credits.len() - users..]);
    let label = |quantum| series.has_churn().then(|| series.label(quantum).into());
    let user = |user: usize| TaskAllocatedUser {
        id: series.user_id(user).into(),
        demand: wanted[user],
        allocated: allocated[user],
        useful: totals[user],
        welfare: (wanted[user] > 0).then(|| totals[user] / wanted[user] as f64),
        dominant_share: shares[user],
        credits: kept.map(|credits| credits[user]),
        first: label(series.membership(user).start),
        last: label(series.membership(user).end - 1),
    };
    let credits = || allocation.credits.as_ref().map(|all| all.chunks(users).map(<[f64]>::to_vec).collect());
    Document::new(TaskAllocationBody {
        demands: DemandsStamp::new(series, demands_sha256),
        instance: InstanceStamp::new(instance, instance_sha256),
        mechanism: mechanism.into(),
        settings,
        users: (0..users).map(user).collect(),
        metrics: truth.metrics(&useful),
        widest_gap: allocation.widest_gap(),
        quanta: per_quantum.then(|| task_quanta(reported, &allocation.tasks)),
        credits: if per_quantum { credits() } else { None },
    })
}

impl Tabular for TaskAllocationBody {
    /// A row a user, in the order of the demands.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("demand", "demand", Kind::Count, |user| user.demand)
            .column("allocated", "allocated", Kind::Number, |user| user.allocated)
            .column("useful", "useful", Kind::Number, |user| user.useful)
            .column("welfare", "welfare", Kind::Part, |user| user.welfare)
            .column("dominant_share", "dominant share", Kind::Number, |user| user.dominant_share)
            .column("credits", "credits", Kind::Number, |user| user.credits)
            .done()
    }
}

/// Where tasks run: a row for every quantum, user and class with some.
pub fn tasks_by_class<'a>(demands: &'a TaskDemands<'_>, tasks: &[f64]) -> Table<'a> {
    let mut placed = Vec::new();
    demands.for_each_demand(tasks, |quantum, user, _, row| {
        let some = row.iter().enumerate().filter(|(_, tasks)| **tasks > 0.0);
        placed.extend(some.map(|(class, tasks)| (quantum, user, class, *tasks)));
    });
    let (series, instance) = (demands.series(), demands.instance());
    Table::over(placed.len(), move |row| placed[row])
        .column("quantum", "quantum", Kind::Id, |row| series.label(row.0).to_string())
        .column("user", "user", Kind::Id, |row| series.user_id(row.1))
        .column("class", "server class", Kind::Id, |row| &instance.classes()[row.2].id)
        .column("tasks", "tasks", Kind::Number, |row| row.3)
        .done()
}
