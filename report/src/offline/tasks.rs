//! `fairplan.offline.v1` of demands in tasks over the servers of an instance: the same document, with dominant shares
//! where there were slices, and the prices that prove its levels.

use super::{
    Against, Held, OfflineCertificate, OfflineMetrics, beside_optimum, level_of, min_over_max, regret,
};
use crate::foreign::{Foreign, check_stamp, list};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, OfflineMeasure, TaskDemands, TaskLevel, TaskOptimum};
use fairplan_instances::{DemandsStamp, InstanceStamp, Label};
use fairplan_verify::{TASK_TOLERANCE, TaskClaim, TaskProof, Verdict, verify_task_optimum};
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
    pub metrics: OfflineMetrics,
    /// The levels that capacity sets, lowest first. Users on none of them run everything they demand.
    pub levels: Vec<TaskLevelResult>,
    /// How far the levels may be from what the prices allow.
    pub certificate: OfflineCertificate,
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
    const FORMAT: &'static str = "fairplan.offline.v1";
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
}

/// What tasks come to beside the optimum: the smallest standing over all quanta, of who demands anything.
pub fn smallest_standing(demands: &TaskDemands<'_>, standings: &[f64]) -> f64 {
    let counting = standings.iter().zip(demands.most()).filter(|(_, most)| *most > 0.0);
    counting.map(|(standing, _)| *standing).reduce(f64::min).unwrap_or(0.0)
}

/// The smallest measure that a rule comes to, beside the optimum.
pub fn task_against(demands: &TaskDemands<'_>, optimum: f64, mechanism: &str, standings: &[f64]) -> Against {
    let value = smallest_standing(demands, standings);
    let regret = regret(optimum, value);
    let regret_per_quantum = (optimum - value) / demands.series().quantum_count() as f64;
    Against { mechanism: mechanism.into(), value, regret, regret_per_quantum }
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
    let standings = demands.standings(&optimum.tasks);
    let shares = demands.weighted_shares(&optimum.tasks);
    let wanted = series.totals();
    let tasks = task_totals(demands, &optimum.tasks);
    let level_of = level_of(series.user_count(), optimum.levels.iter().map(|level| &*level.users));
    let user = |user: usize| TaskUser {
        id: series.user_id(user).into(),
        demand: wanted[user],
        allocated: tasks[user],
        useful: tasks[user],
        welfare: (wanted[user] > 0).then(|| tasks[user] / wanted[user] as f64),
        dominant_share: shares[user] * instance.user(demands.users()[user]).weight().to_f64(),
        level: level_of[user],
    };
    let (classes, resources) = (instance.classes().len(), instance.resources().len());
    let prices = |prices: &[f64]| {
        let of_quantum = |prices: &[f64]| prices.chunks(resources).map(<[f64]>::to_vec).collect();
        prices.chunks(classes * resources).map(of_quantum).collect()
    };
    let level = |level: &TaskLevel| TaskLevelResult {
        value: level.value,
        users: level.users.iter().map(|user| series.user_id(*user as usize).into()).collect(),
        multipliers: level.multipliers.clone(),
        prices: prices(&level.prices),
    };
    Document::new(TaskOfflineBody {
        demands: DemandsStamp::new(series, demands_sha256),
        instance: InstanceStamp::new(instance, instance_sha256),
        measure: measure_name(demands.measure()).into(),
        status: if proof.holds() { "optimal".into() } else { "uncertified".into() },
        value: smallest_standing(demands, &standings),
        users: (0..series.user_count()).map(user).collect(),
        metrics: task_metrics(demands, &optimum.tasks),
        levels: optimum.levels.iter().map(level).collect(),
        certificate: OfflineCertificate { relative_gap: proof.relative_gap, tolerance: TASK_TOLERANCE },
        against: held.against,
        online_bound: held.online_bound,
        quanta: per_quantum.then(|| task_quanta(demands, &optimum.tasks)),
    })
}

/// Each user's tasks over all quanta.
pub(crate) fn task_totals(demands: &TaskDemands<'_>, tasks: &[f64]) -> Vec<f64> {
    let mut totals = vec![0.0; demands.users().len()];
    for_each_entry(demands, tasks, |_, user, _, row| totals[user] += row.iter().sum::<f64>());
    totals
}

/// Calls `each` with every demand above zero: its quantum, user, tasks demanded and the row of tasks over the classes.
pub(crate) fn for_each_entry(
    demands: &TaskDemands<'_>,
    tasks: &[f64],
    mut each: impl FnMut(usize, usize, u64, &[f64]),
) {
    let mut rows = tasks.chunks_exact(demands.instance().classes().len());
    for quantum in 0..demands.series().quantum_count() {
        let (users, wanted) = demands.series().demands(quantum);
        for ((user, wanted), row) in users.iter().zip(wanted).zip(&mut rows) {
            each(quantum, *user as usize, *wanted, row);
        }
    }
}

/// The measures of the whole.
pub(crate) fn task_metrics(demands: &TaskDemands<'_>, tasks: &[f64]) -> OfflineMetrics {
    let (series, instance) = (demands.series(), demands.instance());
    let (quanta, resources) = (series.quantum_count(), instance.resources().len());
    let (totals, wanted) = (task_totals(demands, tasks), series.totals());
    let mut used = vec![0.0; resources];
    let mut within: Vec<Option<(f64, f64)>> = vec![None; quanta];
    let mut before = vec![(0, 0.0); totals.len()];
    let mut gained = 0.0;
    for_each_entry(demands, tasks, |quantum, user, wanted, row| {
        let amount: f64 = row.iter().sum();
        let need = instance.user(demands.users()[user]).demand_doubles();
        used.iter_mut().zip(need).for_each(|(used, need)| *used += need * amount);
        let welfare = amount / wanted as f64;
        let (least, most) = within[quantum].unwrap_or((welfare, welfare));
        within[quantum] = Some((least.min(welfare), most.max(welfare)));
        let (last, had) = before[user];
        let had = if last + 1 == quantum { had } else { 0.0 };
        gained += if quantum > 0 { f64::max(amount - had, 0.0) } else { 0.0 };
        before[user] = (quantum, amount);
    });
    let part = |(r, used): (usize, &f64)| {
        let total = instance.total(fairplan_instances::ResourceId(r)) * quanta as f64;
        if total > 0.0 { used / total } else { 0.0 }
    };
    let welfare = || totals.iter().zip(&wanted).filter(|(_, w)| **w > 0).map(|(total, w)| total / *w as f64);
    let count = welfare().count();
    let fairness: Vec<f64> =
        within.iter().flatten().map(|(least, most)| if *most == 0.0 { 1.0 } else { least / most }).collect();
    let standings = demands.weighted_shares(tasks);
    let standings = standings.into_iter().zip(&wanted).filter(|(_, wanted)| **wanted > 0);
    OfflineMetrics {
        utilization: used.iter().enumerate().map(part).fold(0.0, f64::max),
        fairness: min_over_max(welfare()).unwrap_or(1.0),
        welfare_min: welfare().reduce(f64::min).unwrap_or(1.0),
        welfare_mean: if count == 0 { 1.0 } else { welfare().sum::<f64>() / count as f64 },
        allocation_min_over_max: min_over_max(standings.map(|(standing, _)| standing)).unwrap_or(1.0),
        short_term_fairness: if fairness.is_empty() {
            1.0
        } else {
            fairness.iter().sum::<f64>() / fairness.len() as f64
        },
        handoffs_per_quantum: gained / quanta.saturating_sub(1).max(1) as f64,
    }
}

/// Every quantum with the tasks of each user on each class.
pub(crate) fn task_quanta(demands: &TaskDemands<'_>, tasks: &[f64]) -> Vec<TaskQuantum> {
    let series = demands.series();
    let empty = |quantum: usize| TaskQuantum {
        quantum: series.label(quantum).into(),
        tasks: vec![Vec::new(); series.user_count()],
    };
    let mut quanta: Vec<TaskQuantum> = (0..series.quantum_count()).map(empty).collect();
    for_each_entry(demands, tasks, |quantum, user, _, row| quanta[quantum].tasks[user] = row.to_vec());
    quanta
}

/// A result's own statement of the tasks and what proves them; nothing in it is believed.
pub struct StatedTaskOffline {
    optimum: TaskOptimum,
}

impl StatedTaskOffline {
    /// Matches a document with its demands and its instance. Fails where they cannot be matched.
    pub fn new(
        document: &TaskOfflineDocument,
        demands: &TaskDemands<'_>,
        [demands_sha256, instance_sha256]: [&str; 2],
    ) -> Result<Self, Foreign> {
        let series = demands.series();
        if document.demands.sha256 != demands_sha256 {
            let problem = format!("is another hash; that of the file is {demands_sha256}");
            return Err(Foreign::new("demands.sha256", &document.demands.sha256, problem));
        }
        check_stamp(&document.instance, demands.instance(), instance_sha256)?;
        let users = (0..series.user_count()).map(|user| series.user_id(user));
        list("users", document.users.iter().map(|user| &*user.id), users)?;
        let tasks = stated_tasks(document, demands)?;
        let level = |(position, level): (usize, &TaskLevelResult)| {
            let named = |id: &String| {
                let place = || format!("levels[{position}].users");
                let user = series.user_named(id).ok_or_else(|| Foreign::new(place(), id, "no such user"))?;
                Ok(user as u32)
            };
            let resources = demands.instance().resources().len();
            let is_whole = |quantum: &Vec<Vec<f64>>| {
                quantum.len() == demands.instance().classes().len()
                    && quantum.iter().all(|prices| prices.len() == resources)
            };
            if level.prices.len() != series.quantum_count() || !level.prices.iter().all(is_whole) {
                let problem = "state the prices of every quantum, class and resource";
                return Err(Foreign::new(format!("levels[{position}].prices"), "", problem));
            }
            Ok(TaskLevel {
                value: level.value,
                users: level.users.iter().map(named).collect::<Result<_, Foreign>>()?,
                multipliers: level.multipliers.clone(),
                prices: level.prices.iter().flatten().flatten().copied().collect(),
            })
        };
        let levels = document.levels.iter().enumerate().map(level).collect::<Result<_, Foreign>>()?;
        Ok(Self { optimum: TaskOptimum { tasks, levels, iterations: 0 } })
    }

    /// What is found of it: tasks and levels by `verify`, the numbers beside them by recomputing. What is held against
    /// the optimum is not run again, but its regret must be what its value leaves.
    pub fn verdicts(
        &self,
        document: &TaskOfflineDocument,
        demands: &TaskDemands<'_>,
        sha256: [&str; 2],
    ) -> Vec<Verdict> {
        let claim = TaskClaim { tasks: &self.optimum.tasks, levels: &self.optimum.levels };
        let proof = verify_task_optimum(demands, claim);
        let again = task_offline_document(demands, sha256, &self.optimum, &proof, Held::default(), false);
        let quanta = demands.series().quantum_count();
        let different: Vec<&str> = [
            ("demands", again.demands == document.demands),
            ("measure", again.measure == document.measure),
            ("status", again.status == document.status),
            ("value", again.value == document.value),
            ("users", again.users == document.users),
            ("metrics", again.metrics == document.metrics),
            ("certificate", again.certificate == document.certificate),
            ("against", beside_optimum(again.value, quanta, &document.against)),
            ("online_bound", beside_optimum(again.value, quanta, document.online_bound.as_slice())),
        ]
        .into_iter()
        .filter(|(_, same)| !same)
        .map(|(field, _)| field)
        .collect();
        let mut verdicts = proof.verdicts;
        let told = || format!("{} not what the tasks come to", different.join(", "));
        verdicts.push(Verdict::without_size("stated-numbers", (!different.is_empty()).then(told)));
        verdicts
    }
}

/// The tasks of each demand above zero, in the order of the series.
fn stated_tasks(document: &TaskOfflineDocument, demands: &TaskDemands<'_>) -> Result<Vec<f64>, Foreign> {
    let (series, classes) = (demands.series(), demands.instance().classes().len());
    let Some(quanta) = &document.quanta else {
        return Err(Foreign::without("quanta", super::WITH_QUANTA));
    };
    if quanta.len() != series.quantum_count() {
        let problem = format!("the series has {}", series.quantum_count());
        return Err(Foreign::new("quanta", &format!("{} entries", quanta.len()), problem));
    }
    let mut tasks = Vec::with_capacity(series.entry_count() * classes);
    for (position, quantum) in quanta.iter().enumerate() {
        let label = series.label(position);
        if quantum.quantum != Label::from(label) || quantum.tasks.len() != series.user_count() {
            let problem = format!("the series has quantum {label} here, with {} users", series.user_count());
            return Err(Foreign::new(format!("quanta[{position}]"), "", problem));
        }
        let mut demanders = series.demands(position).0.iter().map(|user| *user as usize).peekable();
        for (user, row) in quantum.tasks.iter().enumerate() {
            let place = || format!("quanta[{position}].tasks[{user}]");
            let stated = || format!("{} numbers", row.len());
            if demanders.next_if_eq(&user).is_none() {
                if !row.is_empty() {
                    return Err(Foreign::new(place(), &stated(), "the user demands nothing here"));
                }
            } else if row.len() == classes {
                tasks.extend(row);
            } else {
                return Err(Foreign::new(place(), &stated(), format!("there are {classes} classes")));
            }
        }
    }
    Ok(tasks)
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
