//! Steps from one placement to another, made one after the other in whole numbers; and what no steps can cost less than.

use super::exchanges::server_gains_hold;
use super::{Levels, check_counted, who_can_have_tasks};
use crate::domains::rules_between_servers;
use crate::placement::level_and_waiting;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    Breakpoint, ClassId, Instance, MoveRules, MovesProof, Placement, ResourceId, ServerNames, Step, User,
    UserId,
};

/// Steps and their lower bound, as claimed; nothing in it is believed.
#[derive(Clone, Copy, Debug)]
pub struct MovesClaim<'a> {
    /// What runs where before.
    pub before: &'a Placement,
    /// The steps, in their order.
    pub steps: &'a [Step],
    /// What may move, at which cost.
    pub rules: &'a MoveRules,
    /// The tasks of each user that the lower bound is about, which run in the end.
    pub required: &'a [u64],
    /// The level that was aimed at, and whether it is said to be reached.
    pub level: Option<(Breakpoint, bool)>,
    /// What the steps cost.
    pub cost: u64,
    /// What no steps to as many tasks cost less than.
    pub lower_bound: u64,
    /// What proves that.
    pub proof: &'a MovesProof,
    /// What a result file says beside it.
    pub printed: Option<PrintedMoves>,
}

/// What a result file states in doubles, and of what waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedMoves {
    /// The smallest weighted share of those that still want more, before and after; `None` if nobody does.
    pub levels: [Option<f64>; 2],
    /// Tasks that wait, before and after.
    pub unplaced: [u64; 2],
    /// What the level that was aimed at comes to.
    pub level: Option<f64>,
}

/// Values and gains are counted up to this, and costs up to this many units.
pub(super) const MOST: u64 = 1 << 40;

/// Makes the steps anew and re-proves their lower bound, from the instance alone: `well-formed`, `steps`, `kept`, `required`,
/// `cost`, `server-gains` and `lower-bound`, with `gangs`, `gangs-in-domains` and `spread` of what runs in the end where there are rules
/// between servers; and what runs where in the end, unless a step cannot be made. Never panics on a claim.
pub fn verify_moves(instance: &Instance, claim: &MovesClaim<'_>) -> (Vec<Verdict>, Option<Placement>) {
    let mut form = Worst::of("well-formed", 0.0);
    if let Err(problem) = check(instance, claim) {
        form.fail(|| problem);
    }
    let form = form.verdict();
    if !form.holds {
        return (vec![form], None);
    }
    let mut steps = Worst::of("steps", 0.0);
    let mut replay = Replay::new(instance, claim.before);
    for (k, step) in claim.steps.iter().enumerate() {
        if let Err(problem) = replay.make(*step) {
            steps.fail(|| format!("step {k}: {problem}"));
            return (vec![form, steps.verdict()], None);
        }
    }
    let after = replay.placement(instance);
    let mut verdicts =
        vec![form, steps.verdict(), kept(instance, claim), required(instance, claim, &after), cost(claim)];
    if instance.has_rules_between_servers() {
        verdicts.extend(rules_between_servers(instance, &after.servers));
    }
    verdicts.extend(lower_bound(instance, claim, &after));
    verdicts.extend(claim.printed.map(|printed| levels(instance, claim, &after, printed)));
    (verdicts, Some(after))
}

fn check(instance: &Instance, claim: &MovesClaim<'_>) -> Result<(), String> {
    let (users, servers) = (instance.user_count(), instance.server_count());
    let length = |what: &str, actual: usize, expected: u64| {
        if actual as u64 == expected {
            Ok(())
        } else {
            Err(format!("{what}: {actual} instead of {expected}"))
        }
    };
    let MoveRules { costs, kept_users, kept_servers } = claim.rules;
    length("tasks", claim.before.tasks.len(), users as u64)?;
    length("servers", claim.before.servers.len(), servers)?;
    length("required tasks", claim.required.len(), users as u64)?;
    length("costs", costs.len(), users as u64)?;
    length("kept users", kept_users.len(), users as u64)?;
    length("kept servers", kept_servers.len(), servers)?;
    if let Some(cost) = costs.iter().find(|cost| **cost == 0 || **cost > 1 << 16) {
        return Err(format!("a cost of {cost}: it is 1 to 65536"));
    }
    let mut counted = vec![0u64; users];
    for (server, tasks) in claim.before.servers.iter().enumerate() {
        if tasks.iter().any(|(user, count)| *user as usize >= users || *count == 0) {
            return Err(format!(
                "server {server} has tasks of a user that is not there, or none of one that is named"
            ));
        }
        if !tasks.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err(format!("server {server} does not name each user once, in the instance's order"));
        }
        for (user, count) in tasks {
            let sum = &mut counted[*user as usize];
            *sum = sum.checked_add(*count).ok_or("tasks beyond what can be counted")?;
        }
    }
    if counted != claim.before.tasks {
        return Err("the tasks of a user are not those on the servers".into());
    }
    for user in instance.users() {
        let i = user.index().0;
        if let Some(all) = user.tasks().filter(|all| *all < counted[i].max(claim.required[i])) {
            return Err(format!("user {} has {all} tasks, and more run or are required", user.id()));
        }
    }
    if let Some((level, _)) = claim.level.filter(|(level, _)| level.user.0 >= users) {
        return Err(format!("there is no user {} of {users}", level.user.0));
    }
    if let MovesProof::Values { unit, task_values, server_gains } = claim.proof {
        check_counted(instance)?;
        length("task values", task_values.len(), users as u64)?;
        length("server gains", server_gains.len(), servers)?;
        if *unit == 0 || *unit > 1 << 24 || task_values.iter().chain(server_gains).any(|value| *value > MOST)
        {
            return Err("a unit that is not from 1 to 2^24, or a value above 2^40".into());
        }
    }
    Ok(())
}

/// The servers while steps are made.
struct Replay<'a> {
    instance: &'a Instance,
    classes: Vec<ClassId>,
    names: ServerNames<'a>,
    demands: Vec<Vec<u128>>,
    capacities: Vec<Vec<u128>>,
    loads: Vec<Vec<u128>>,
    servers: Vec<Vec<(u32, u64)>>,
    tasks: Vec<u64>,
}

impl<'a> Replay<'a> {
    fn new(instance: &'a Instance, before: &Placement) -> Self {
        let m = instance.resources().len();
        let counts = instance.classes().iter().map(|class| class.count as usize).enumerate();
        let classes: Vec<ClassId> =
            counts.flat_map(|(l, count)| std::iter::repeat_n(ClassId(l), count)).collect();
        let demand = |user: User<'_>| (0..m).map(|r| user.demand_units(ResourceId(r))).collect();
        let capacity =
            |l: usize| (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let mut replay = Self {
            instance,
            names: ServerNames::new(instance),
            demands: instance.users().map(demand).collect(),
            capacities: (0..instance.classes().len()).map(capacity).collect(),
            loads: vec![vec![0; m]; classes.len()],
            classes,
            servers: before.servers.clone(),
            tasks: before.tasks.clone(),
        };
        for (server, tasks) in before.servers.iter().enumerate() {
            tasks.iter().for_each(|(user, count)| replay.put(server, *user as usize, *count));
        }
        replay
    }

    fn put(&mut self, server: usize, user: usize, count: u64) {
        for (load, demand) in self.loads[server].iter_mut().zip(&self.demands[user]) {
            *load = load.saturating_add(demand.saturating_mul(u128::from(count)));
        }
    }

    fn make(&mut self, step: Step) -> Result<(), String> {
        let count = self.servers.len() as u64;
        let user = self.demands.get(step.user.0).map(|_| self.instance.user(step.user));
        let Some(user) = user else { return Err(format!("there is no user {}", step.user.0)) };
        if [step.from, step.to].into_iter().flatten().any(|server| server >= count) {
            return Err(format!("there is no such server among {count}"));
        }
        if step.tasks == 0 || step.from == step.to {
            return Err(format!("no task of user {} goes anywhere", user.id()));
        }
        let own = step.user.0 as u32;
        if let Some(from) = step.from.map(|from| from as usize) {
            let name = self.names.name(from as u64);
            let there = self.servers[from].iter().position(|(user, _)| *user == own);
            let there = there.filter(|at| self.servers[from][*at].1 >= step.tasks);
            let Some(at) = there else {
                return Err(format!("server {name} has no {} tasks of user {}", step.tasks, user.id()));
            };
            self.servers[from][at].1 -= step.tasks;
            if self.servers[from][at].1 == 0 {
                self.servers[from].remove(at);
            }
            for (load, demand) in self.loads[from].iter_mut().zip(&self.demands[step.user.0]) {
                *load = load.saturating_sub(demand.saturating_mul(u128::from(step.tasks)));
            }
        } else {
            let tasks = self.tasks[step.user.0].checked_add(step.tasks);
            let Some(tasks) = tasks.filter(|tasks| user.tasks().is_none_or(|all| *tasks <= all)) else {
                return Err(format!("user {} has no {} tasks that wait", user.id(), step.tasks));
            };
            self.tasks[step.user.0] = tasks;
        }
        let Some(to) = step.to.map(|to| to as usize) else {
            self.tasks[step.user.0] -= step.tasks;
            return Ok(());
        };
        let (name, class) = (self.names.name(to as u64), self.classes[to]);
        if !user.rule().allows(class) {
            return Err(format!("user {} may not run on server {name}", user.id()));
        }
        self.put(to, step.user.0, step.tasks);
        for (r, (load, capacity)) in self.loads[to].iter().zip(&self.capacities[class.0]).enumerate() {
            if self.demands[step.user.0][r] > 0 && load > capacity {
                let resource = &self.instance.resources()[r];
                return Err(format!(
                    "server {name} has no room for {} tasks of user {}: {load} units of {resource} with them, it has {capacity}",
                    step.tasks,
                    user.id()
                ));
            }
        }
        let there = match self.servers[to].iter_mut().find(|(user, _)| *user == own) {
            Some((_, there)) => {
                *there = there.saturating_add(step.tasks);
                *there
            }
            None => {
                self.servers[to].push((own, step.tasks));
                step.tasks
            }
        };
        match user.per_server().filter(|most| there > *most) {
            Some(most) => Err(format!(
                "user {} has {there} tasks on server {name} then, and may have {most} on one server",
                user.id()
            )),
            None => Ok(()),
        }
    }

    fn placement(mut self, instance: &Instance) -> Placement {
        self.servers.iter_mut().for_each(|server| server.sort_unstable());
        debug_assert_eq!(self.tasks.len(), instance.user_count());
        Placement { tasks: self.tasks, servers: self.servers }
    }
}

/// What is kept does not leave: neither tasks of kept users, nor those that ran on kept servers.
fn kept(instance: &Instance, claim: &MovesClaim<'_>) -> Verdict {
    let mut verdict = Worst::of("kept", 0.0);
    let names = ServerNames::new(instance);
    // What came to a kept server by a step may leave it again, and nothing tells it from what was there.
    for (k, step) in claim.steps.iter().enumerate() {
        let Some(from) = step.from.filter(|from| !claim.rules.may_leave(step.user.0, *from as usize)) else {
            continue;
        };
        let (user, server) = (instance.user(step.user).id(), names.name(from));
        verdict.fail(|| {
            format!("step {k}: tasks of user {user} leave server {server}, and stay there by the rules")
        });
    }
    verdict.verdict()
}

/// Whether what is required runs in the end, and is what the level takes that was aimed at; no more, where that is not reached.
fn required(instance: &Instance, claim: &MovesClaim<'_>, after: &Placement) -> Verdict {
    let mut verdict = Worst::of("required", 0.0);
    for (user, (required, has)) in instance.users().zip(claim.required.iter().zip(&after.tasks)) {
        if has < required {
            verdict
                .fail(|| format!("user {} has {has} tasks in the end, {required} are required", user.id()));
        }
    }
    let Some((level, is_reached)) = claim.level else { return verdict.verdict() };
    let has_tasks = who_can_have_tasks(instance);
    let levels = Levels::of(instance, &has_tasks);
    if is_reached != levels.is_reached(&after.tasks, level) {
        verdict
            .fail(|| format!("that the level is reached is said to be {is_reached}, and the opposite is so"));
    }
    if is_reached && !levels.is_reached(claim.required, level) {
        verdict.fail(|| "what is required of users does not come to the level".into());
    }
    for (user, required) in instance.users().zip(claim.required).filter(|(_, required)| **required > 0) {
        let fewer = Breakpoint { user: user.index(), tasks: required - 1 };
        if levels.reaches(fewer, level) {
            verdict.fail(|| {
                format!("{required} tasks are required of user {}, more than the level takes", user.id())
            });
        }
    }
    verdict.verdict()
}

fn cost(claim: &MovesClaim<'_>) -> Verdict {
    let mut verdict = Worst::of("cost", 0.0);
    let leaving = claim.steps.iter().filter(|step| step.from.is_some());
    let cost =
        leaving.map(|step| u128::from(step.tasks) * u128::from(claim.rules.costs[step.user.0])).sum::<u128>();
    if cost != u128::from(claim.cost) {
        verdict.fail(|| format!("a cost of {} is stated, the steps cost {cost}", claim.cost));
    }
    verdict.verdict()
}

/// Holds the stated levels and waiting tasks against the placements.
fn levels(instance: &Instance, claim: &MovesClaim<'_>, after: &Placement, printed: PrintedMoves) -> Verdict {
    let mut verdict = Worst::of("levels", tolerance::STATED);
    let stated = printed.levels.iter().zip(printed.unplaced);
    for ((level, unplaced), placement) in stated.zip([claim.before, after]) {
        let (computed, waiting) = level_and_waiting(instance, placement);
        verdict.compare(
            level.unwrap_or(f64::MAX),
            if computed.is_finite() { computed } else { f64::MAX },
            || "level of those that want more".into(),
        );
        if unplaced != waiting {
            verdict.fail(|| format!("{unplaced} tasks are said to wait, {waiting} do"));
        }
    }
    if let (Some(stated), Some((level, _))) = (printed.level, claim.level) {
        let has_tasks = who_can_have_tasks(instance);
        verdict.compare(stated, Levels::of(instance, &has_tasks).value(level), || "level aimed at".into());
    }
    verdict.verdict()
}

/// What all steps cost at least, by the proof.
fn lower_bound(instance: &Instance, claim: &MovesClaim<'_>, after: &Placement) -> Vec<Verdict> {
    let mut verdict = Worst::of("lower-bound", 0.0);
    let (proved, gains) = match claim.proof {
        MovesProof::Departures => (departures(claim, after), None),
        MovesProof::Values { unit, task_values, server_gains } => {
            let (mut missing, mut spare) = (0u128, 0u128);
            for (value, (required, has)) in
                task_values.iter().zip(claim.required.iter().zip(&claim.before.tasks))
            {
                let worth = u128::from(*value) * u128::from(required.abs_diff(*has));
                let side = if required > has { &mut missing } else { &mut spare };
                *side += worth;
            }
            let gained: u128 = server_gains.iter().map(|gain| u128::from(*gain)).sum();
            let least = missing.saturating_sub(spare).saturating_sub(gained);
            let gains =
                server_gains_hold(instance, claim.before, claim.rules, *unit, task_values, server_gains);
            (least.div_ceil(u128::from(*unit)), Some(gains))
        }
    };
    if u128::from(claim.lower_bound) > proved {
        verdict.fail(|| format!("a lower bound of {} is stated, {proved} is proved", claim.lower_bound));
    }
    gains.into_iter().chain([verdict.verdict()]).collect()
}

/// What has left its server in the end, at its cost.
fn departures(claim: &MovesClaim<'_>, after: &Placement) -> u128 {
    let mut cost = 0u128;
    for (before, after) in claim.before.servers.iter().zip(&after.servers) {
        for (user, had) in before {
            let at = after.binary_search_by_key(user, |(user, _)| *user);
            let has = at.map_or(0, |at| after[at].1);
            cost +=
                u128::from(had.saturating_sub(has)) * u128::from(claim.rules.costs[UserId(*user as usize).0]);
        }
    }
    cost
}
