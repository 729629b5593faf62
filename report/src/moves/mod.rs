//! `fairplan.moves.v1`: the steps from the placement that is to a better one, and why fewer do not lead as far.

mod claim;

pub use claim::StatedMoves;

use crate::placement::{ServerResult, UserTasks};
use crate::solution::{AloneResult, divisions_of_groups};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, ClassId, Instance, InstanceStamp, MovePlan, MoveRules, MovesProof, Placement, ServerNames,
    ServerTasks, Solution, Step, StepCounts, User, UserId, stated,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps from the present placement to a better one, in an order in which each can be made, with a lower bound on what any steps cost
/// that lead as far. The same instance, placement and options give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovesBody {
    /// The instance whose tasks move.
    pub instance: InstanceStamp,
    /// What the steps lead to.
    pub target: MovesTarget,
    /// Users whose running tasks stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_users: Vec<String>,
    /// Servers whose running tasks stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_servers: Vec<String>,
    /// What the steps cost: each task, or piece of a task, that moves or stops, at the cost of its user. Starting one costs nothing.
    pub cost: u64,
    /// No steps after which every user has at least `users[].required` tasks cost less.
    pub lower_bound: u64,
    /// Tasks that move to another server, each as often as it does; of users with kinds pieces, here and below.
    pub moves: u64,
    /// Tasks that start.
    pub starts: u64,
    /// Tasks that stop.
    pub stops: u64,
    /// Tasks among those that stop which start again: nothing else made room in time.
    pub interrupted: u64,
    /// The smallest weighted dominant share of those that still want more, before. Absent if nobody does.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub level_before: Option<f64>,
    /// The same after all steps.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub level_after: Option<f64>,
    /// How the members of groups would divide what these are guaranteed, alone in the cluster: the levels and `target` count the whole tasks of that as
    /// guaranteed to them. Absent where no group is guaranteed more than its members are, or nothing of that is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guaranteed_groups: Vec<AloneResult>,
    /// Tasks that wait before, of users who have a number of them.
    pub unplaced_before: u64,
    /// The same after all steps.
    pub unplaced_after: u64,
    /// Every user, in the instance's order.
    pub users: Vec<MovedUser>,
    /// The steps, in their order.
    pub steps: Vec<StepResult>,
    /// What proves the lower bound.
    pub proof: StatedMovesProof,
    /// The tasks on each server before the first step, as in a placement; servers without tasks are left
    /// out.
    pub servers: Vec<ServerResult>,
}

impl Body for MovesBody {
    const FORMAT: &'static str = "fairplan.moves.v1";
}

/// What the steps lead to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovesTarget {
    /// `level` (a part of the highest level that whole tasks can have), `unplaced` (as many of the tasks that wait as can be) or
    /// `placement` (a given one).
    pub kind: TargetKind,
    /// The part of the bound that was asked for.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
    /// No placement of whole tasks has a higher level, as `fairplan bound` proves; this file does not.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The level that was aimed at: that of one user with so many tasks.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub level: Option<TargetLevel>,
    /// Whether the steps lead there; to all waiting tasks that fit any server, for `unplaced`.
    pub reached: bool,
}

/// The kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A part of the highest level.
    Level,
    /// What waits.
    Unplaced,
    /// A given placement.
    Placement,
}

/// A level, as that of one user with so many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetLevel {
    /// The user's id.
    pub user: String,
    /// Its tasks.
    pub tasks: u64,
    /// What the level comes to.
    pub value: f64,
}

/// What becomes of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedUser {
    /// The user's id.
    pub id: String,
    /// Tasks that run before.
    pub tasks_before: u64,
    /// Tasks that run after all steps.
    pub tasks_after: u64,
    /// Tasks that wait after all steps; absent where the user always has more.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// The tasks that the lower bound is about.
    pub required: u64,
    /// Tasks that move, each as often as it does; of a user with kinds pieces, here and in the next two.
    pub moved: u64,
    /// Tasks that start.
    pub started: u64,
    /// Tasks that stop.
    pub stopped: u64,
    /// What moving or stopping one of its tasks or pieces costs.
    pub cost: u64,
    /// What another of its tasks is worth in the proof of the lower bound, in parts of `proof.unit`; absent where it has kinds.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub task_value: Option<u64>,
    /// The same of a piece of each of its kinds, in the instance's order, where it has kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub piece_values: Vec<u64>,
}

/// One step: tasks of a user, or pieces of one of its kinds, move, start (without `from`) or stop (without `to`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepResult {
    /// The user's id.
    pub user: String,
    /// Which of its kinds of tasks, where it has kinds.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The server that they leave; absent where they start.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The server that they go to; absent where they stop.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many tasks, at least one, of a user without kinds.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tasks: Option<u64>,
    /// How many pieces of the kind, at least one.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pieces: Option<u64>,
}

/// What proves the lower bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatedMovesProof {
    /// `departures`: what does not run in the end where it did has to leave, whatever the steps. `values`: what is missing is worth
    /// more than servers can gain by exchanges.
    pub kind: ProofKind,
    /// Of `values`: so much counts for a cost of one.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub unit: Option<u64>,
    /// Of `values`: servers on which some exchange gains, and what none gains more than; on all others none gains anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<ServerGain>,
}

/// The kinds of proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProofKind {
    /// By what leaves its server.
    Departures,
    /// By what tasks are worth.
    Values,
}

/// What exchanges on a server gain at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerGain {
    /// What the server is called.
    pub server: String,
    /// In parts of the unit.
    pub gain: u64,
}

/// What was asked, for the document.
#[derive(Clone, Copy, Debug)]
pub struct MovesAsked<'a> {
    /// What the steps lead to.
    pub target: &'a MovesTarget,
    /// What may move, and at which cost.
    pub rules: &'a MoveRules,
    /// What runs where before.
    pub before: &'a Placement,
}

/// Level and waiting tasks, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovesFigures<'a> {
    /// The levels; `None` where nobody wants more.
    pub levels: [Option<f64>; 2],
    /// Tasks that wait.
    pub unplaced: [u64; 2],
    /// The divisions of what groups are guaranteed, where the levels count that.
    pub divisions: &'a [Solution],
}

impl MovesBody {
    /// The document of a plan.
    pub fn new(
        instance: &Instance,
        sha256: &str,
        asked: MovesAsked<'_>,
        plan: &MovePlan,
        figures: MovesFigures<'_>,
    ) -> Self {
        let names = ServerNames::new(instance);
        let name = |server: u64| names.name(server).into_owned();
        let counts = plan.step_counts(instance);
        let all = StepCounts::sum(&counts);
        let (values, proof) = match &plan.proof {
            MovesProof::Departures => {
                (None, StatedMovesProof { kind: ProofKind::Departures, unit: None, gains: Vec::new() })
            }
            MovesProof::Values { unit, task_values, server_gains } => {
                let gains = (0u64..).zip(server_gains).filter(|(_, gain)| **gain > 0);
                let gains = gains.map(|(server, gain)| ServerGain { server: name(server), gain: *gain });
                let proof =
                    StatedMovesProof { kind: ProofKind::Values, unit: Some(*unit), gains: gains.collect() };
                (Some(task_values), proof)
            }
        };
        let user = |user: User<'_>| {
            let i = user.index().0;
            let StepCounts { moved, started, stopped } = StepCounts::sum(&counts[user.kind_range()]);
            let values = values.map_or(&[][..], |values| &values[user.kind_range()]);
            MovedUser {
                id: user.id().into(),
                tasks_before: asked.before.tasks[i],
                tasks_after: plan.after.tasks[i],
                waiting: plan.after.waiting(user),
                required: plan.required[i],
                moved,
                started,
                stopped,
                cost: asked.rules.costs[i],
                task_value: values.first().copied().filter(|_| !user.has_kinds()),
                piece_values: if user.has_kinds() { values.to_vec() } else { Vec::new() },
            }
        };
        let step = |step: &Step| {
            let UserTasks { user, kind, tasks, pieces } =
                UserTasks::of(instance, step.kind.0 as u32, step.count);
            StepResult { user, kind, from: step.from.map(name), to: step.to.map(name), tasks, pieces }
        };
        let listed = |(server, (class, tasks)): (u64, (ClassId, &ServerTasks))| ServerResult {
            server: Some(name(server)),
            class: Some(instance.classes()[class.0].id.clone()),
            tasks: tasks.iter().map(|(kind, count)| UserTasks::of(instance, *kind, *count)).collect(),
        };
        let servers = (0u64..).zip(instance.classes_of_servers().zip(&asked.before.servers));
        let kept = |flags: &[bool], name: &dyn Fn(usize) -> String| -> Vec<String> {
            flags.iter().enumerate().filter(|(_, kept)| **kept).map(|(at, _)| name(at)).collect()
        };
        Self {
            instance: InstanceStamp::new(instance, sha256),
            target: asked.target.clone(),
            kept_users: kept(&asked.rules.kept_users, &|user| instance.user(UserId(user)).id().into()),
            kept_servers: kept(&asked.rules.kept_servers, &|server| name(server as u64)),
            cost: plan.cost,
            lower_bound: plan.lower_bound,
            moves: all.moved,
            starts: all.started,
            stops: all.stopped,
            interrupted: StepCounts::interrupted(&counts),
            level_before: figures.levels[0],
            level_after: figures.levels[1],
            guaranteed_groups: divisions_of_groups(instance, figures.divisions),
            unplaced_before: figures.unplaced[0],
            unplaced_after: figures.unplaced[1],
            users: instance.users().map(user).collect(),
            steps: plan.steps.iter().map(step).collect(),
            proof,
            servers: servers.filter(|(_, (_, tasks))| !tasks.is_empty()).map(listed).collect(),
        }
    }

    /// Whether no steps that lead as far cost less.
    pub fn is_proved_fewest(&self) -> bool {
        self.cost == self.lower_bound
    }

    /// A row a user that moves, starts or stops a task, or has tasks that wait.
    pub fn changed_users(&self) -> Table<'_> {
        let is_changed = |user: &&MovedUser| {
            user.moved + user.started + user.stopped > 0 || user.waiting.is_some_and(|waiting| waiting > 0)
        };
        let users: Vec<&MovedUser> = self.users.iter().filter(is_changed).collect();
        let count = users.len();
        Table::over(count, move |row| users[row])
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("tasks_before", "tasks before", Kind::Count, |user| user.tasks_before)
            .column("tasks_after", "after", Kind::Count, |user| user.tasks_after)
            .column("waiting", "waiting", Kind::Count, |user| user.waiting)
            .column("moved", "moved", Kind::Count, |user| user.moved)
            .column("started", "started", Kind::Count, |user| user.started)
            .column("stopped", "stopped", Kind::Count, |user| user.stopped)
            .done()
    }
}

impl Tabular for MovesBody {
    /// A row a step, in their order; the kind and its pieces where a step is about any.
    fn table(&self) -> Table<'_> {
        let has_kinds = self.steps.iter().any(|step| step.kind.is_some());
        let table = Table::over(self.steps.len(), |row| (row as u64 + 1, &self.steps[row]))
            .column("step", "step", Kind::Count, |(number, _)| number)
            .column("user", "user", Kind::Id, |(_, step)| &step.user)
            .column("kind", "kind", Kind::Name, |(_, step)| step.kind.as_deref().unwrap_or(""))
            .column("from", "from", Kind::Name, |(_, step)| step.from.as_deref().unwrap_or(""))
            .column("to", "to", Kind::Name, |(_, step)| step.to.as_deref().unwrap_or(""))
            .column("tasks", "tasks", Kind::Count, |(_, step)| step.tasks)
            .column("pieces", "pieces", Kind::Count, |(_, step)| step.pieces)
            .done();
        if has_kinds { table } else { table.without(&["kind", "pieces"]) }
    }
}
