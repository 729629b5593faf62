//! What a document of moves states, matched with the instance that it says it belongs to.

use super::{MovedUser, MovesBody, ProofKind, TargetKind};
use crate::foreign::{Foreign, check_stamp, list};
use crate::placement::{UserTasks, tasks_on_servers};
use crate::solution::CountedOfGroups;
use crate::tolerance::SAME;
use fairplan_instances::{
    Breakpoint, Instance, MovePlan, MoveRules, MovesProof, Placement, ServerNames, Step, StepCounts, User,
};
use fairplan_verify::{MovesClaim, PrintedMoves, Verdict, verify_moves};

/// Everything a document of moves states, in the instance's order.
#[derive(Clone, Debug)]
pub struct StatedMoves {
    before: Placement,
    rules: MoveRules,
    plan: MovePlan,
    level: Option<(Breakpoint, bool)>,
    of_groups: CountedOfGroups,
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
        let of_groups = CountedOfGroups::new(&body.guaranteed_groups, instance)?;
        Ok(Self { before, rules, plan, level, of_groups })
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
            whole_guarantees: self.of_groups.tasks(),
            printed: Some(printed),
        };
        let (mut verdicts, after) = verify_moves(instance, &claim);
        verdicts.extend(self.of_groups.verdict());
        if let Some(after) = after {
            verdicts.push(Verdict::without_size("stated-numbers", self.wrong_number(body, instance, &after)));
        }
        verdicts
    }

    /// A number of the document that the steps do not come to.
    fn wrong_number(&self, body: &MovesBody, instance: &Instance, after: &Placement) -> Option<String> {
        let counts = self.plan.step_counts(instance);
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
            let StepCounts { moved, started, stopped } = StepCounts::sum(&counts[user.kind_range()]);
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
            // All that run stay on.
            let least = if body.target.reached { all } else { all.min(self.before.tasks[user.index().0]) };
            required > all || required < least
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
        let all = StepCounts::sum(&counts);
        let stated = [
            ("moves", body.moves, all.moved),
            ("starts", body.starts, all.started),
            ("stops", body.stops, all.stopped),
            ("interrupted", body.interrupted, StepCounts::interrupted(&counts)),
        ];
        stated.into_iter().find_map(|(what, stated, counted)| differs(what.into(), stated, counted))
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
