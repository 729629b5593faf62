//! `fairplan.moves.v1`: the steps from the placement that is to a better one, and why fewer do not lead as far.

use crate::foreign::{Foreign, check_stamp, list};
use crate::placement::{ServerResult, UserTasks, tasks_on_servers};
use crate::tolerance::SAME;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, Breakpoint, ClassId, Instance, InstanceStamp, MovePlan, MoveRules, MovesProof, Placement,
    ServerNames, ServerTasks, Step, User, UserId, stated,
};
use fairplan_verify::{MovesClaim, PrintedMoves, Verdict, verify_moves};
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
pub struct MovesFigures {
    /// The levels; `None` where nobody wants more.
    pub levels: [Option<f64>; 2],
    /// Tasks that wait.
    pub unplaced: [u64; 2],
}

/// Moved, started and stopped tasks of each user, or pieces of each kind.
fn tallies(instance: &Instance, steps: &[Step]) -> Vec<[u64; 3]> {
    let mut tallies = vec![[0u64; 3]; instance.kind_count()];
    for step in steps {
        let what = match (step.from, step.to) {
            (Some(_), Some(_)) => 0,
            (None, _) => 1,
            (Some(_), None) => 2,
        };
        let tally = &mut tallies[step.kind.0][what];
        *tally = tally.saturating_add(step.count);
    }
    tallies
}

/// The same of all kinds of a user.
fn of_user(tallies: &[[u64; 3]], user: User<'_>) -> [u64; 3] {
    let of_kinds = &tallies[user.kind_range()];
    [0, 1, 2].map(|what| sum(of_kinds, |tally| tally[what]))
}

fn sum(tallies: &[[u64; 3]], of: impl Fn(&[u64; 3]) -> u64) -> u64 {
    tallies.iter().map(of).fold(0, u64::saturating_add)
}

impl MovesBody {
    /// The document of a plan.
    pub fn new(
        instance: &Instance,
        sha256: &str,
        asked: MovesAsked<'_>,
        plan: &MovePlan,
        figures: MovesFigures,
    ) -> Self {
        let names = ServerNames::new(instance);
        let name = |server: u64| names.name(server).into_owned();
        let tallies = tallies(instance, &plan.steps);
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
            let [moved, started, stopped] = of_user(&tallies, user);
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
            moves: sum(&tallies, |[moved, ..]| *moved),
            starts: sum(&tallies, |[_, started, _]| *started),
            stops: sum(&tallies, |[.., stopped]| *stopped),
            interrupted: sum(&tallies, |[_, started, stopped]| *started.min(stopped)),
            level_before: figures.levels[0],
            level_after: figures.levels[1],
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

/// Everything a document of moves states, in the instance's order.
#[derive(Clone, Debug)]
pub struct StatedMoves {
    before: Placement,
    rules: MoveRules,
    plan: MovePlan,
    level: Option<(Breakpoint, bool)>,
}

impl StatedMoves {
    /// Matches a document with the instance it says it belongs to.
    ///
    /// # Errors
    /// Where the two cannot be matched: another hash, a user or server that is missing, added or in another place.
    pub fn new(body: &MovesBody, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&body.instance, instance, sha256)?;
        list("users", body.users.iter().map(|user| &*user.id), instance.users().map(|user| user.id()))?;
        let names = ServerNames::new(instance);
        let server = |place: String, name: &str| {
            let position = names.position(name);
            position.ok_or_else(|| Foreign::new(place, name, "there is no server of this name"))
        };
        let user = |place: String, id: &str| {
            let user = instance.user_named(id);
            user.ok_or_else(|| Foreign::new(place, id, "there is no user with this id"))
        };
        let servers = match body.servers.is_empty() {
            true => vec![Vec::new(); instance.server_count() as usize],
            false => tasks_on_servers(&body.servers, instance, "servers")?,
        };
        let mut rules = MoveRules::new(instance);
        rules.costs = body.users.iter().map(|user| user.cost).collect();
        for (k, id) in body.kept_users.iter().enumerate() {
            rules.kept_users[user(format!("kept_users[{k}]"), id)?.0] = true;
        }
        for (k, name) in body.kept_servers.iter().enumerate() {
            rules.kept_servers[server(format!("kept_servers[{k}]"), name)? as usize] = true;
        }
        let mut steps = Vec::with_capacity(body.steps.len());
        for (k, step) in body.steps.iter().enumerate() {
            let at = |field: &str, name: &Option<String>| {
                name.as_ref().map(|name| server(format!("steps[{k}].{field}"), name)).transpose()
            };
            let (from, to) = (at("from", &step.from)?, at("to", &step.to)?);
            let what = UserTasks {
                user: step.user.clone(),
                kind: step.kind.clone(),
                tasks: step.tasks,
                pieces: step.pieces,
            };
            let (kind, count) = what.found(instance, &format!("steps[{k}]"))?;
            steps.push(Step { kind, from, to, count });
        }
        let mut server_gains = vec![0; instance.server_count() as usize];
        for (k, gain) in body.proof.gains.iter().enumerate() {
            let place = format!("proof.gains[{k}].server");
            let at = server(place.clone(), &gain.server)? as usize;
            if server_gains[at] > 0 {
                return Err(Foreign::new(place, &gain.server, "is named twice"));
            }
            server_gains[at] = gain.gain;
        }
        let proof = match (body.proof.kind, body.proof.unit) {
            (ProofKind::Departures, _) => MovesProof::Departures,
            (ProofKind::Values, unit) => MovesProof::Values {
                unit: unit.unwrap_or(0),
                task_values: task_values(body, instance)?,
                server_gains,
            },
        };
        let level = match &body.target.level {
            Some(level) => {
                let at = user("target.level.user".into(), &level.user)?;
                Some((Breakpoint { user: at, tasks: level.tasks }, body.target.reached))
            }
            None => None,
        };
        let before = Placement { tasks: body.users.iter().map(|user| user.tasks_before).collect(), servers };
        let after = Placement {
            tasks: body.users.iter().map(|user| user.tasks_after).collect(),
            servers: Vec::new(),
        };
        let required = body.users.iter().map(|user| user.required).collect();
        let plan = MovePlan { steps, after, required, cost: body.cost, lower_bound: body.lower_bound, proof };
        Ok(Self { before, rules, plan, level })
    }

    /// The properties that `verify` checks.
    pub fn verdicts(&self, body: &MovesBody, instance: &Instance) -> Vec<Verdict> {
        let printed = PrintedMoves {
            levels: [body.level_before, body.level_after],
            unplaced: [body.unplaced_before, body.unplaced_after],
            level: body.target.level.as_ref().map(|level| level.value),
        };
        let claim = MovesClaim {
            before: &self.before,
            steps: &self.plan.steps,
            rules: &self.rules,
            required: &self.plan.required,
            level: self.level,
            cost: self.plan.cost,
            lower_bound: self.plan.lower_bound,
            proof: &self.plan.proof,
            printed: Some(printed),
        };
        let (mut verdicts, after) = verify_moves(instance, &claim);
        if let Some(after) = after {
            verdicts.push(Verdict::without_size("stated-numbers", self.wrong_number(body, instance, &after)));
        }
        verdicts
    }

    /// A number of the document that the steps do not come to.
    fn wrong_number(&self, body: &MovesBody, instance: &Instance, after: &Placement) -> Option<String> {
        let tallies = tallies(instance, &self.plan.steps);
        let differs = |what: String, stated: u64, counted: u64| {
            (stated != counted).then(|| format!("{what} = {stated}, and the steps come to {counted}"))
        };
        for user in instance.users() {
            let (i, id) = (user.index().0, user.id());
            let stated = &body.users[i];
            let waiting = after.waiting(user);
            if stated.waiting != waiting {
                return Some(format!("the waiting tasks of user {id} are {waiting:?} in the end"));
            }
            let has_value = stated.task_value.is_some() || !stated.piece_values.is_empty();
            if has_value != (body.proof.kind == ProofKind::Values) {
                return Some(format!("user {id}: values are there for a proof by values, and only then"));
            }
            let [moved, started, stopped] = of_user(&tallies, user);
            for (what, stated, counted) in [
                ("tasks_after", stated.tasks_after, after.tasks[i]),
                ("moved", stated.moved, moved),
                ("started", stated.started, started),
                ("stopped", stated.stopped, stopped),
            ] {
                if let Some(wrong) = differs(format!("{what} of user {id}"), stated, counted) {
                    return Some(wrong);
                }
            }
        }
        let is_level = body.target.kind == TargetKind::Level;
        let has_level =
            [body.target.level.is_some(), body.target.part.is_some(), body.target.bound.is_some()];
        if has_level != [is_level; 3] {
            return Some("target: part, bound and level are there for a level, and only then".into());
        }
        if let (Some(part), Some(bound), Some(level)) =
            (body.target.part, body.target.bound, &body.target.level)
        {
            let is_part = part > 0.0 && part <= 1.0;
            let is_between =
                level.value >= part * bound * (1.0 - SAME) && level.value <= bound * (1.0 + SAME);
            if !is_part || !is_between {
                let value = level.value;
                return Some(format!(
                    "target: a level of {value} is not from {part} of {bound} to all of it"
                ));
            }
        }
        let by_departures = body.proof.kind == ProofKind::Departures;
        let runs = |(user, has): (&MovedUser, &u64)| user.required == *has;
        if by_departures && !body.users.iter().zip(&after.tasks).all(runs) {
            return Some("users: what is required for a placement are the tasks that run in the end".into());
        }
        if by_departures && (body.proof.unit.is_some() || !body.proof.gains.is_empty()) {
            return Some("proof: departures need neither a unit nor gains".into());
        }
        let fits_some = |user: &User<'_>| user.fits_somewhere();
        let waits = |user: User<'_>| whole_gangs(user).is_some_and(|all| all > after.tasks[user.index().0]);
        let all_placed = !instance.users().filter(fits_some).any(waits);
        if body.target.kind == TargetKind::Unplaced && body.target.reached != all_placed {
            return Some(format!("target.reached = {}, and the opposite is so", body.target.reached));
        }
        let all_that_can_run = |user: &User<'_>| match whole_gangs(*user).filter(|_| fits_some(user)) {
            Some(all) => all,
            None => self.before.tasks[user.index().0],
        };
        let asked_otherwise = |user: &User<'_>| {
            let (required, all) = (body.users[user.index().0].required, all_that_can_run(user));
            required > all || body.target.reached && required < all
        };
        if body.target.kind == TargetKind::Unplaced
            && let Some(user) = instance.users().find(asked_otherwise)
        {
            return Some(format!(
                "{} tasks are required of user {}, and all that can run and that wait are {}",
                body.users[user.index().0].required,
                user.id(),
                all_that_can_run(&user)
            ));
        }
        if by_departures && !body.target.reached {
            return Some("target.reached = false, and the steps lead to the placement".into());
        }
        if by_departures != (body.target.kind == TargetKind::Placement) {
            return Some("proof.kind: departures are for steps to a placement, and only for those".into());
        }
        let counts = [
            ("moves", body.moves, sum(&tallies, |[moved, ..]| *moved)),
            ("starts", body.starts, sum(&tallies, |[_, started, _]| *started)),
            ("stops", body.stops, sum(&tallies, |[.., stopped]| *stopped)),
            ("interrupted", body.interrupted, sum(&tallies, |[_, started, stopped]| *started.min(stopped))),
        ];
        counts.into_iter().find_map(|(what, stated, counted)| differs(what.into(), stated, counted))
    }
}

/// What another task of each user is worth by a document, or a piece of each kind.
fn task_values(body: &MovesBody, instance: &Instance) -> Result<Vec<u64>, Foreign> {
    let mut values = Vec::with_capacity(instance.kind_count());
    for (k, (user, stated)) in instance.users().zip(&body.users).enumerate() {
        let kinds = if user.has_kinds() { user.kind_range().len() } else { 0 };
        if stated.piece_values.len() != kinds {
            let problem =
                format!("{} values are stated, and the user has {kinds} kinds", stated.piece_values.len());
            return Err(Foreign::new(format!("users[{k}].piece_values"), &stated.id, problem));
        }
        match kinds {
            0 => values.push(stated.task_value.unwrap_or(0)),
            _ => values.extend(&stated.piece_values),
        }
    }
    Ok(values)
}

/// All tasks of a user that can run: what makes no whole gang never does.
fn whole_gangs(user: User<'_>) -> Option<u64> {
    user.tasks().map(|all| user.gang().map_or(all, |gang| all - all % gang.tasks))
}
