//! `fairplan.simulation.v1`: what policies did to the jobs of a trace, as `simulate` writes it. Times are seconds.

use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::trace::{TraceHeader, seconds};
use fairplan_instances::{
    Body, ClusterOutcome, CompletionTimes, Document, InstanceStamp, ResourceMap, TaskCounts, UserRun,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A trace run on its cluster by one or more policies. The same trace and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Simulation")]
pub struct SimulationBody {
    /// The trace that was run.
    pub trace: TraceStamp,
    /// Everything else that decided the outcome.
    pub settings: SimulationSettings,
    /// What ran when the trace began, if anything did: it counts as submitted and started then, a job of each user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_placement: Option<StartingPlacement>,
    /// The instance whose groups users were in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<InstanceStamp>,
    /// Whether a policy was stopped before its end: its numbers tell how things stood then.
    pub partial: bool,
    /// What came of each policy.
    pub policies: Vec<PolicyRun>,
}

impl Body for SimulationBody {
    const FORMAT: &'static str = "fairplan.simulation.v1";
}

/// The whole file.
pub type SimulationDocument = Document<SimulationBody>;

/// The trace that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceStamp {
    /// Its name.
    pub name: String,
    /// SHA-256 (64 hexadecimal digits) of the trace as fairplan writes it in JSON Lines.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// What was counted when the trace was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<TraceCount>,
}

/// Something that was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceCount {
    /// What.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// A placement that a simulation began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartingPlacement {
    /// What says what its tasks hold.
    pub instance: InstanceStamp,
    /// Who placed them, where its file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// How many tasks ran.
    pub tasks: u64,
    /// How long each of them went on; to the end of the run, if this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<f64>,
}

/// What decides an outcome beside the trace and the policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationSettings {
    /// So many times its capacity a server gives to tasks.
    pub over_commit: f64,
    /// Whether tasks that lose their server are submitted again.
    pub resubmit: bool,
    /// Nothing later is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<f64>,
    /// How often the series has a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_every: Option<f64>,
    /// How often the series has the optimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimum_every: Option<f64>,
    /// `exact`, `pf`: seconds for which an ideal allocation is followed before it is computed anew.
    pub resolve_every: f64,
    /// Seed of what policies and the dealing of dedicated clouds draw.
    pub seed: u64,
}

/// What came of a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRun {
    /// The policy.
    pub policy: String,
    /// Whether it was stopped before its end.
    pub partial: bool,
    /// The first event.
    pub start: f64,
    /// The last event, or the horizon.
    pub end: f64,
    /// Of each resource the part of the capacity that tasks held, on average over the time.
    pub utilization: ResourceMap,
    /// What became of tasks.
    pub tasks: TaskCounts,
    /// Tasks that ended, over those submitted.
    pub completion_ratio: f64,
    /// Jobs submitted.
    pub jobs: u64,
    /// Jobs whose tasks are all done.
    pub jobs_completed: u64,
    /// How long these took, from the submission of their first task to the end of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<CompletionTimes>,
    /// Divisible allocations computed (`exact`, `pf`, `bmf`, the optimum).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub solves: u64,
    /// Of these, not certified.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncertified: u64,
    /// Users with a smaller completion ratio than on their dedicated clouds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worse_by_sharing: Option<u64>,
    /// The users of the trace, in its order.
    pub users: Vec<UserResult>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What became of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserResult {
    /// The user's id.
    pub id: String,
    /// Tasks submitted.
    pub submitted: u64,
    /// Tasks completed.
    pub completed: u64,
    /// Tasks completed over those submitted; 1 if there were none.
    pub completion_ratio: f64,
    /// Jobs submitted.
    pub jobs: u64,
    /// Jobs whose tasks are all done.
    pub jobs_completed: u64,
    /// The mean time that these took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_completion_time: Option<f64>,
    /// The completion ratio on its dedicated cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedicated_completion_ratio: Option<f64>,
}

impl TraceStamp {
    /// The stamp of a trace.
    pub fn new(header: &TraceHeader, sha256: &str) -> Self {
        let counts =
            header.counts.iter().map(|(what, count)| TraceCount { what: what.clone(), count: *count });
        Self { name: header.name.clone(), sha256: sha256.into(), counts: counts.collect() }
    }
}

impl SimulationBody {
    /// What came of these runs, which began with nothing and knew no groups.
    pub fn new(trace: TraceStamp, settings: SimulationSettings, policies: Vec<PolicyRun>) -> Self {
        let partial = policies.iter().any(|run| run.partial);
        Self { trace, settings, starting_placement: None, tenants: None, partial, policies }
    }
}

impl PolicyRun {
    /// What a policy came to, and on dedicated clouds if these were run.
    pub fn new(
        policy: &str,
        header: &TraceHeader,
        outcome: &ClusterOutcome,
        dedicated: Option<&ClusterOutcome>,
    ) -> Self {
        let alone = |user: usize| dedicated.map(|dedicated| dedicated.users[user].completion_ratio());
        let users = outcome.users.iter().enumerate();
        let users: Vec<UserResult> = users.map(|(user, run)| UserResult::new(run, alone(user))).collect();
        let names = header.resources.iter().map(|resource| resource.name.clone());
        Self {
            policy: policy.into(),
            partial: outcome.partial || dedicated.is_some_and(|dedicated| dedicated.partial),
            start: seconds(outcome.start),
            end: seconds(outcome.end),
            utilization: ResourceMap(names.zip(outcome.utilization.iter().copied()).collect()),
            tasks: outcome.tasks,
            completion_ratio: outcome.completion_ratio(),
            jobs: outcome.users.iter().map(|user| user.jobs).sum(),
            jobs_completed: outcome.jobs.len() as u64,
            completion_time: outcome.completion_times(),
            solves: outcome.solves,
            uncertified: outcome.uncertified,
            worse_by_sharing: dedicated.map(|dedicated| outcome.users_worse_than_in(dedicated)),
            users,
        }
    }
}

impl UserResult {
    fn new(run: &UserRun, dedicated_completion_ratio: Option<f64>) -> Self {
        Self {
            id: run.id.as_str().into(),
            submitted: run.submitted,
            completed: run.completed,
            completion_ratio: run.completion_ratio(),
            jobs: run.jobs,
            jobs_completed: run.jobs_completed,
            mean_completion_time: run.mean_completion_time(),
            dedicated_completion_ratio,
        }
    }
}

impl Tabular for SimulationBody {
    /// A row a policy; the utilization of each resource is a column of its own.
    fn table(&self) -> Table<'_> {
        let times =
            |of: fn(&CompletionTimes) -> f64| move |run: &PolicyRun| run.completion_time.as_ref().map(of);
        let mut columns = Table::of(&self.policies).column("policy", "policy", Kind::Id, |run| &run.policy);
        let resources = self.policies.first().map_or(&[][..], |run| &run.utilization.0);
        for (name, _) in resources {
            let used = move |run: &PolicyRun| run.utilization.get(name);
            columns = columns.column(format!("utilization_{name}"), format!("{name} used"), Kind::Part, used);
        }
        columns
            .column("completion_ratio", "tasks done", Kind::Part, |run| run.completion_ratio)
            .column("submitted", "tasks submitted", Kind::Count, |run| run.tasks.submitted)
            .column("completed", "completed", Kind::Count, |run| run.tasks.completed)
            .column("running", "running", Kind::Count, |run| run.tasks.running)
            .column("waiting", "waiting", Kind::Count, |run| run.tasks.waiting)
            .column("evicted", "evicted", Kind::Count, |run| run.tasks.evicted)
            .column("jobs_completed", "jobs done", Kind::Count, |run| run.jobs_completed)
            .column("mean", "mean job time (s)", Kind::Number, times(|times| times.mean))
            .column("median", "median", Kind::Number, times(|times| times.median))
            .column("p90", "90%", Kind::Number, times(|times| times.p90))
            .column("worse_by_sharing", "users worse off than alone", Kind::Count, |run| run.worse_by_sharing)
            .done()
    }
}
