//! Steps from one placement to another, made one after the other in whole numbers; and what no steps can cost less than.

use super::exchanges::server_gains_hold;
use super::levels::check_levels;
use super::replay::Replay;
use super::{Levels, check_counted, who_can_have_tasks};
use crate::claim::PlacementClaim;
use crate::kept::guarantees_stay;
use crate::placement::{level_and_waiting, verify_placement, whole_tasks};
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use crate::whole_guarantees::counted;
use fairplan_instances::{
    Breakpoint, Instance, Kind, KindId, MoveRules, MovesProof, Placement, ServerNames, Step,
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
    /// The whole tasks that levels count as guaranteed to each user, where that is more than what users are guaranteed themselves.
    pub whole_guarantees: Option<&'a [u64]>,
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
/// `cost`, `server-gains` and `lower-bound`; of what runs in the end what is checked of a placement, with `guarantees` where there are
/// any: those that were kept before are. Where a step breaks a rule, this alone fails, by the name of the rule: `eligibility`,
/// `capacity`, `devices`, `per-server`, `limits`; `steps` are those that cannot be made. Returns with them what runs where in the end,
/// unless a step cannot be made. Never panics on a claim.
pub fn verify_moves(instance: &Instance, claim: &MovesClaim<'_>) -> (Vec<Verdict>, Option<Placement>) {
    let mut form = Worst::of("well-formed", 0.0);
    let checked = check(instance, claim).and_then(|()| counted(instance, claim.whole_guarantees));
    let of_levels = match checked {
        Ok(of_levels) => of_levels,
        Err(problem) => {
            form.fail(|| problem);
            return (vec![form.verdict()], None);
        }
    };
    let form = form.verdict();
    let mut replay = Replay::new(instance, claim.before);
    for (k, step) in claim.steps.iter().enumerate() {
        if let Err((rule, problem)) = replay.make(*step) {
            let mut broken = Worst::of(rule, 0.0);
            broken.fail(|| format!("step {k}: {problem}"));
            return (vec![form, broken.verdict()], None);
        }
    }
    let after = replay.placement();
    let steps = Worst::of("steps", 0.0).verdict();
    let mut verdicts = vec![
        form,
        steps,
        kept(instance, claim),
        required(instance, &of_levels, claim, &after),
        cost(instance, claim),
    ];
    let of_end = verify_placement(instance, &PlacementClaim::from(&after));
    verdicts.extend(of_end.into_iter().filter(|verdict| verdict.property != "well-formed"));
    if instance.has_guarantees() {
        verdicts.push(guarantees_stay(instance, &claim.before.tasks, &after.tasks));
    }
    verdicts.extend(lower_bound(instance, claim, &after));
    verdicts.extend(claim.printed.map(|printed| levels(&of_levels, claim, &after, printed)));
    (verdicts, Some(after))
}

fn check(instance: &Instance, claim: &MovesClaim<'_>) -> Result<(), String> {
    let (users, kinds, servers) = (instance.user_count(), instance.kind_count(), instance.server_count());
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
    let mut pieces = vec![0u64; kinds];
    for (server, tasks) in claim.before.servers.iter().enumerate() {
        if tasks.iter().any(|(kind, count)| *kind as usize >= kinds || *count == 0) {
            return Err(format!(
                "server {server} has tasks of a user that is not there, or none of one that is named"
            ));
        }
        if !tasks.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err(format!("server {server} does not name each user once, in the instance's order"));
        }
        for (kind, count) in tasks {
            let sum = &mut pieces[*kind as usize];
            *sum = sum.checked_add(*count).ok_or("tasks beyond what can be counted")?;
        }
    }
    if whole_tasks(instance, &pieces) != claim.before.tasks {
        return Err("the tasks of a user are not those on the servers".into());
    }
    for user in instance.users() {
        let i = user.index().0;
        let Some(all) = user.tasks() else { continue };
        let has_more = |kind: Kind<'_>| pieces[kind.index().0] > all.saturating_mul(kind.each());
        if claim.required[i] > all || user.kinds().any(has_more) {
            return Err(format!("user {} has {all} tasks, and more run or are required", user.id()));
        }
    }
    check_levels(instance, [claim.level.map(|(level, _)| level), None])?;
    if let MovesProof::Values { unit, task_values, server_gains } = claim.proof {
        check_counted(instance)?;
        length("task values", task_values.len(), kinds as u64)?;
        length("server gains", server_gains.len(), servers)?;
        if *unit == 0 || *unit > 1 << 24 || task_values.iter().chain(server_gains).any(|value| *value > MOST)
        {
            return Err("a unit that is not from 1 to 2^24, or a value above 2^40".into());
        }
    }
    Ok(())
}

/// What is kept does not leave: neither tasks of kept users, nor those that ran on kept servers.
fn kept(instance: &Instance, claim: &MovesClaim<'_>) -> Verdict {
    let mut verdict = Worst::of("kept", 0.0);
    let names = ServerNames::new(instance);
    // What came to a kept server by a step may leave it again, and nothing tells it from what was there.
    for (k, step) in claim.steps.iter().enumerate() {
        let user = instance.kind(step.kind).user();
        let Some(from) = step.from.filter(|from| !claim.rules.may_leave(user.index().0, *from as usize))
        else {
            continue;
        };
        let (user, server) = (user.id(), names.name(from));
        verdict.fail(|| {
            format!("step {k}: tasks of user {user} leave server {server}, and stay there by the rules")
        });
    }
    verdict.verdict()
}

/// Whether what is required runs in the end, and is what the level takes that was aimed at; no more, where that is not reached.
/// Levels are of the second of the instances, whose users are guaranteed whole tasks.
fn required(stated: &Instance, instance: &Instance, claim: &MovesClaim<'_>, after: &Placement) -> Verdict {
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
    if is_reached != levels.is_reached(after, level) {
        verdict
            .fail(|| format!("that the level is reached is said to be {is_reached}, and the opposite is so"));
    }
    // Whom a limit holds in the end need not have what is required, and in groups leaves more or less of it to others. Who has all its
    // tasks in the end needs it as others do: what is required says what no steps cost less than.
    let is_told = !(instance.has_groups() && instance.has_limits());
    if is_reached && is_told && !levels.have(claim.required, &levels.not_held(after), level) {
        verdict.fail(|| "what is required of users does not come to the level".into());
    }
    for (user, required) in instance.users().zip(claim.required).filter(|(_, required)| **required > 0) {
        // What somebody is guaranteed nobody need give up, nor members of a group that is, and a level comes on top of it.
        let has_it = stated.is_guaranteed(stated.user(user.index()))
            && *required <= claim.before.tasks[user.index().0];
        if has_it || *required <= levels.sure(user) {
            continue;
        }
        // A gang less.
        let tasks = (required - 1) / user.at_once() * user.at_once();
        let fewer = Breakpoint { user: user.index(), tasks };
        if levels.reaches(fewer, level) {
            verdict.fail(|| {
                format!("{required} tasks are required of user {}, more than the level takes", user.id())
            });
        }
    }
    verdict.verdict()
}

/// What it costs that a piece of a kind leaves.
fn cost_of(instance: &Instance, rules: &MoveRules, kind: KindId) -> u128 {
    rules.costs[instance.kind(kind).user().index().0].into()
}

fn cost(instance: &Instance, claim: &MovesClaim<'_>) -> Verdict {
    let mut verdict = Worst::of("cost", 0.0);
    let leaving = claim.steps.iter().filter(|step| step.from.is_some());
    let of_step = |step: &Step| u128::from(step.count) * cost_of(instance, claim.rules, step.kind);
    let cost = leaving.map(of_step).sum::<u128>();
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
        MovesProof::Departures => (departures(instance, claim, after), None),
        MovesProof::Values { unit, task_values, server_gains } => {
            let (mut missing, mut spare) = (0u128, 0u128);
            for (k, (value, has)) in task_values.iter().zip(claim.before.pieces(instance)).enumerate() {
                let kind = instance.kind(KindId(k));
                let required = claim.required[kind.user().index().0].saturating_mul(kind.each());
                let worth = u128::from(*value) * u128::from(required.abs_diff(has));
                let side = if required > has { &mut missing } else { &mut spare };
                *side = side.saturating_add(worth);
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
fn departures(instance: &Instance, claim: &MovesClaim<'_>, after: &Placement) -> u128 {
    let mut cost = 0u128;
    for (before, after) in claim.before.servers.iter().zip(&after.servers) {
        for (kind, had) in before {
            let at = after.binary_search_by_key(kind, |(kind, _)| *kind);
            let has = at.map_or(0, |at| after[at].1);
            let left = u128::from(had.saturating_sub(has));
            cost += left * cost_of(instance, claim.rules, KindId(*kind as usize));
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{UserId, files};

    /// What is refused of a plan that starts the three tasks of user `u`, all that it has, for this level, and requires so many of them.
    fn refused(level: Breakpoint, required: u64) -> Vec<Verdict> {
        let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{"id": "c", "count": 1, "capacity": {"cpu": 10}}],
            "groups": [{"id": "g"}], "users": [{"id": "u", "group": "g", "demand": {"cpu": 1}, "tasks": 3},
            {"id": "too large", "group": "g", "demand": {"cpu": 11}}]}"#;
        let source = files::source::in_memory("it", text.as_bytes().to_vec()).unwrap();
        let instance = files::read_json(source).unwrap();
        let claim = MovesClaim {
            before: &Placement { tasks: vec![0, 0], servers: vec![Vec::new()] },
            steps: &[Step { kind: KindId(0), from: None, to: Some(0), count: 3 }],
            rules: &MoveRules::new(&instance),
            required: &[required, 0],
            level: Some((level, true)),
            cost: 0,
            lower_bound: 0,
            proof: &MovesProof::Departures,
            whole_guarantees: None,
            printed: Some(PrintedMoves { levels: [Some(0.0), None], unplaced: [3, 0], level: Some(0.3) }),
        };
        let (verdicts, _) = verify_moves(&instance, &claim);
        verdicts.into_iter().filter(|verdict| !verdict.holds).collect()
    }

    #[test]
    fn in_groups_a_level_is_not_of_more_tasks_than_its_user_can_have() {
        let at = |user: usize, tasks: u64| refused(Breakpoint { user: UserId(user), tasks }, 3);
        assert!(at(0, 3).is_empty(), "{:?}", at(0, 3));
        for (user, name, most) in [(0, "u", 3), (1, "too large", 0)] {
            let told = at(user, 103);
            assert_eq!(told.len(), 1);
            assert_eq!(told[0].property, "well-formed");
            let problem =
                format!("a level of 103 tasks of user {name} is stated, who can have {most} at most");
            assert_eq!(told[0].witness, problem);
        }
    }

    #[test]
    fn what_is_required_comes_to_the_level_also_of_who_has_all_its_tasks_in_the_end() {
        for fewer in [0, 2] {
            let told = refused(Breakpoint { user: UserId(0), tasks: 3 }, fewer);
            let told: Vec<&str> = told.iter().map(|verdict| verdict.property).collect();
            assert_eq!(told, ["required"]);
        }
    }
}
