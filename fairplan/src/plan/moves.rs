//! The steps from the placement that is to a better one.

use crate::counted::CountedInstance;
use crate::error::all_hold;
use crate::{Control, Error, ResultFile, user_named};
use fairplan_heuristics::{PlacementError, place_along};
use fairplan_instances::wording::unknown;
use fairplan_instances::{
    Breakpoint, Deadline, Instance, InstanceError, KindId, MovePlan, MoveRules, MovesProof, Placement,
    ServerNames, ServerTasks, breakpoint_value, files,
};
use fairplan_report::given_placement::GivenPlacement;
use fairplan_report::moves::{MovesAsked, MovesBody, MovesFigures, MovesTarget, TargetKind, TargetLevel};
use fairplan_solver::{Mend, fewest_moves, level_target, steps_between};
use fairplan_verify::{
    MovesClaim, PlacementClaim, Verdict, guarantees_stay, has_level, verify_moves, verify_placement,
};

/// What steps lead to.
#[derive(Clone, Debug, Default)]
pub enum MoveTarget {
    /// As many of the tasks that wait as can be placed, all that run staying on.
    #[default]
    Unplaced,
    /// A part, above 0 and at most 1, of the highest level that whole tasks are not proved to be unable to have. Users with more may
    /// have to stop tasks.
    Level(f64),
    /// This placement, a `fairplan.placement.v1` with its servers.
    Placement(ResultFile),
}

/// From where to where, and what may move.
#[derive(Clone, Debug)]
pub struct MovesOptions {
    /// What runs where now: a `fairplan.placement.v1` with its servers, of which nothing else is believed.
    pub from: ResultFile,
    /// What the steps lead to. Default: what waits is placed.
    pub target: MoveTarget,
    /// Users, by id, whose running tasks stay where they are. Default: none.
    pub keep_users: Vec<String>,
    /// Servers, by name, whose running tasks stay where they are; others may come. Default: none.
    pub keep_servers: Vec<String>,
    /// What moving or stopping a task of a user costs, 1 to 65536. Default: 1 for all.
    pub costs: Vec<(String, u64)>,
}

impl MovesOptions {
    /// From a placement; what waits is placed, everything may move.
    pub fn new(from: ResultFile) -> Self {
        Self {
            from,
            target: MoveTarget::default(),
            keep_users: Vec::new(),
            keep_servers: Vec::new(),
            costs: Vec::new(),
        }
    }

    fn rules(&self, instance: &Instance) -> Result<MoveRules, Error> {
        let mut rules = MoveRules::new(instance);
        for id in &self.keep_users {
            rules.kept_users[user_named(instance, "keep", id)?.0] = true;
        }
        let names = ServerNames::new(instance);
        for name in &self.keep_servers {
            let Some(server) = names.position(name) else {
                let some =
                    (0..instance.server_count().min(SUGGESTED)).map(|server| names.name(server).into_owned());
                let some: Vec<String> = some.collect();
                let problem = unknown("server", name, some.iter().map(String::as_str));
                return Err(Error::Setting(format!("keep-server: {problem}")));
            };
            rules.kept_servers[server as usize] = true;
        }
        for (position, (id, cost)) in self.costs.iter().enumerate() {
            if self.costs[..position].iter().any(|(other, _)| other == id) {
                return Err(Error::Setting(format!("cost {id}={cost}: the user is named twice")));
            }
            if !(1..=MOST_COST).contains(cost) {
                return Err(Error::Setting(format!("cost {id}={cost}: a task costs 1 to {MOST_COST}")));
            }
            rules.costs[user_named(instance, "cost", id)?.0] = *cost;
        }
        Ok(rules)
    }
}

/// What a task costs at most.
const MOST_COST: u64 = 1 << 16;

/// Servers that are looked at for a name that was meant.
const SUGGESTED: u64 = 1_000;

/// Parts of the time for the bound on the level, and then for finding steps; the rest is for checking them.
const BOUNDING: f64 = 0.3;
/// The part that is for dividing what groups are guaranteed, before all that.
const DIVIDING: f64 = 0.2;
const FINDING: f64 = 0.7;

/// The fewest steps from one placement to a better one that were found, each of which can be made when it comes, with a proved lower
/// bound on what any steps cost that lead as far. Checked step by step by code that shares nothing with what found them.
///
/// By a deadline the steps lead as far as was found, and the bound is what was proved.
///
/// No step breaks a rule inside a server, a limit or a reserve: after each the tasks on every server fit its devices, in some way to share
/// these out (a placement does not say which of them a task has), and no server has more tasks of a user than it may. Gangs, spread and
/// whole tasks of several kinds are kept by what the steps lead to, and who had before what it is guaranteed has it in the end. The
/// search knows devices in sum and no other rule: where they take from what it found, tasks that wait start as far as the rules let them, those first
/// who are below what they are guaranteed. The bound, which knows no rules, holds all the same. Of users with kinds pieces move one by
/// one.
///
/// ```
/// use fairplan::{Control, MoveTarget, MovesOptions, PlaceOptions, ResultFile, generate, moves, place, report};
///
/// let instance = generate::drfh_fig1()?;
/// let options = PlaceOptions { policy: "first-fit".into(), ..PlaceOptions::default() };
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &place(&instance, &options, &Control::none())?.document(&instance, true)).unwrap();
/// let from = ResultFile::new("now".into(), bytes)?;
/// let options = MovesOptions { target: MoveTarget::Level(0.9), ..MovesOptions::new(from) };
/// let moves = moves(&instance, &options, &Control::none())?;
/// assert!(moves.lower_bound <= moves.cost);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn moves(instance: &Instance, options: &MovesOptions, control: &Control<'_>) -> Result<MovesBody, Error> {
    let sha256 = files::sha256_hex(instance);
    let rules = options.rules(instance)?;
    let read = |file: &ResultFile| GivenPlacement::read(&file.name, &file.bytes, instance, &sha256);
    let before = read(&options.from)?.placement;
    if !matches!(options.target, MoveTarget::Placement(_)) {
        let why = "fewest moves are found from a placement that breaks no rule (mend it by the steps to one of your own: --to)";
        unbroken(instance, &before, &options.from.name, why)?;
    }
    let limit = control.until(control.deadline.after_part(FINDING));
    let counted = CountedInstance::of(instance, &control.until(control.deadline.after_part(DIVIDING)));
    let (plan, target, level) = match &options.target {
        MoveTarget::Unplaced => unplaced(instance, &before, &rules, &limit)?,
        MoveTarget::Level(part) => to_level(instance, &counted.instance, &before, &rules, *part, &limit)?,
        MoveTarget::Placement(file) => {
            let after = read(file)?.placement;
            unbroken(instance, &after, &file.name, "no steps lead to a placement that breaks a rule")?;
            let stay = guarantees_stay(instance, &before.tasks, &after.tasks);
            if !stay.holds {
                return Err(Error::Input(format!("{}: {}", file.name, stay.witness).into()));
            }
            let plan = to_placement(instance, &before, after, &rules, &file.name)?;
            (plan, target_of(TargetKind::Placement, true), None)
        }
    };
    control.stage("checking the steps");
    let level = level.map(|level| (level, target.reached));
    let (plan, left_out) = checked(instance, &counted, &before, &rules, plan, level)?;
    left_out.iter().for_each(|left_out| control.note(left_out));
    let [now, then] = [&before, &plan.after].map(|placement| counted.figures(placement));
    let figures = MovesFigures {
        levels: [now.level, then.level],
        unplaced: [now.unplaced, then.unplaced],
        divisions: &counted.divisions,
    };
    let asked = MovesAsked { target: &target, rules: &rules, before: &before };
    Ok(MovesBody::new(instance, &sha256, asked, &plan, figures))
}

/// That a placement of a file breaks no rule.
fn unbroken(instance: &Instance, placement: &Placement, file: &str, why: &str) -> Result<(), Error> {
    let verdicts = verify_placement(instance, &PlacementClaim::from(placement));
    match verdicts.iter().find(|verdict| !verdict.holds) {
        Some(broken) => Err(Error::Input(format!("{file}: {why}: {}", broken.witness).into())),
        None => Ok(()),
    }
}

type Planned = (MovePlan, MovesTarget, Option<Breakpoint>);

fn target_of(kind: TargetKind, reached: bool) -> MovesTarget {
    MovesTarget { kind, part: None, bound: None, level: None, reached }
}

/// All that run stay on, and all that wait shall run, of users that fit some server.
fn unplaced(
    instance: &Instance,
    before: &Placement,
    rules: &MoveRules,
    control: &Control<'_>,
) -> Result<Planned, Error> {
    if !instance.has_task_limits() {
        let problem = "nobody has a number of tasks, so that nothing waits; say what to reach: --level PART or --to PLACEMENT";
        return Err(Error::input(problem));
    }
    let required: Vec<u64> = instance
        .users()
        .map(|user| match user.tasks().filter(|_| user.fits_somewhere()) {
            // What makes no whole gang never runs.
            Some(all) => user.gang().map_or(all, |gang| all - all % gang.tasks),
            None => before.tasks[user.index().0],
        })
        .collect();
    control.stage("looking for moves");
    let plan = found(instance, before, &required, rules, control)?;
    let reached = plan.required == required;
    Ok((plan, target_of(TargetKind::Unplaced, reached), None))
}

/// The fewest moves that were found to a placement that keeps all rules.
fn found(
    instance: &Instance,
    before: &Placement,
    required: &[u64],
    rules: &MoveRules,
    control: &Control<'_>,
) -> Result<MovePlan, Error> {
    let failed = |error: PlacementError| match error {
        PlacementError::OutOfTime { .. } => InstanceError::OutOfTime,
        _ => InstanceError::Unsupported(error.to_string()),
    };
    let stays = |placement: &Placement| {
        before.servers.iter().zip(&placement.servers).all(|(had, has)| has_all(has, had))
    };
    // What runs stays, and as much as has room beside it under the rules starts. Tasks that find devices only by trying all ways to share
    // them out may not find them here: then nothing starts.
    let begun = |most: &[u64]| {
        let begun = place_along(instance, before, Some(most), &Deadline::never()).map_err(failed)?;
        Ok::<_, InstanceError>(if stays(&begun) { begun } else { before.clone() })
    };
    let mend = |after: Placement| {
        let beyond = |(required, has): (&u64, &u64)| *required.max(has);
        let most: Vec<u64> = required.iter().zip(&after.tasks).map(beyond).collect();
        let moved = place_along(instance, &after, Some(&most), &control.deadline);
        let most: Vec<u64> = required.iter().zip(&before.tasks).map(beyond).collect();
        let stayed = begun(&most)?;
        let reached = |placement: &Placement| -> u64 {
            required.iter().zip(&placement.tasks).map(|(required, has)| *required.min(has)).sum()
        };
        // Rules may cost what patterns gained: nobody loses by that, and what is kept stays.
        let is_better = |moved: &Placement| {
            let had = required.iter().zip(&before.tasks).map(|(required, had)| required.min(had));
            reached(moved) > reached(&stayed)
                && had.zip(&moved.tasks).all(|(had, has)| has >= had)
                && keeps(instance, before, moved, rules)
        };
        Ok(moved.ok().filter(is_better).unwrap_or(stayed))
    };
    let is_ruled = instance.has_server_rules() || instance.has_kinds() || !instance.quotas().is_empty();
    let mend: Option<&Mend<'_>> = if is_ruled { Some(&mend) } else { None };
    Ok(fewest_moves(instance, before, required, rules, mend, &control.deadline)?)
}

/// Whether a server has all pieces that it had.
fn has_all(has: &ServerTasks, had: &ServerTasks) -> bool {
    had.iter().all(|(kind, count)| {
        has.binary_search_by_key(kind, |(kind, _)| *kind).is_ok_and(|at| has[at].1 >= *count)
    })
}

/// Whether what may not leave its server is there.
fn keeps(instance: &Instance, before: &Placement, after: &Placement, rules: &MoveRules) -> bool {
    before.servers.iter().zip(&after.servers).enumerate().all(|(server, (before, after))| {
        let user = |kind: u32| instance.kind(KindId(kind as usize)).user().index().0;
        let stay = before.iter().filter(|(kind, _)| !rules.may_leave(user(*kind), server));
        has_all(after, &stay.copied().collect())
    })
}

/// Everybody shall have what a level takes, which is one of the instance that `counted` is.
fn to_level(
    instance: &Instance,
    counted: &Instance,
    before: &Placement,
    rules: &MoveRules,
    part: f64,
    control: &Control<'_>,
) -> Result<Planned, Error> {
    if !(part > 0.0 && part <= 1.0) {
        return Err(Error::Setting(format!("level {part}: a part of the bound is above 0 and at most 1")));
    }
    control.stage("bounding whole tasks");
    let target = level_target(counted, part, &control.deadline.after_part(BOUNDING))?;
    let Some(mut target) = target else {
        return Err(Error::input("no user can have tasks: none fits on any server that its user may use"));
    };
    // What somebody is guaranteed nobody need give up.
    let keep = |required: &mut Vec<u64>, guaranteed: &Instance| {
        for user in guaranteed.users().filter(|user| guaranteed.is_guaranteed(*user)) {
            let required = &mut required[user.index().0];
            *required = before.tasks[user.index().0].max(*required);
        }
    };
    keep(&mut target.required, counted);
    control.stage("looking for moves");
    let mut plan = found(instance, before, &target.required, rules, control)?;
    // A group can be short with as many whole tasks as its members are counted for: then all of them keep what they have.
    if !guarantees_stay(instance, &before.tasks, &plan.after.tasks).holds {
        keep(&mut target.required, instance);
        plan = found(instance, before, &target.required, rules, control)?;
    }
    let level = target.target;
    let stated = MovesTarget {
        part: Some(part),
        bound: Some(breakpoint_value(counted, Some(target.bound))),
        level: Some(TargetLevel {
            user: instance.user(level.user).id().into(),
            tasks: level.tasks,
            value: breakpoint_value(counted, Some(level)),
        }),
        ..target_of(TargetKind::Level, has_level(counted, &plan.after, level))
    };
    Ok((plan, stated, Some(level)))
}

/// What leaves its server between the two placements has to, whatever the steps.
fn to_placement(
    instance: &Instance,
    before: &Placement,
    after: Placement,
    rules: &MoveRules,
    file: &str,
) -> Result<MovePlan, Error> {
    let names = ServerNames::new(instance);
    let mut lower_bound = 0u64;
    for (server, (now, then)) in before.servers.iter().zip(&after.servers).enumerate() {
        for (kind, count) in now {
            let at = then.binary_search_by_key(kind, |(kind, _)| *kind);
            let left = count.saturating_sub(at.map_or(0, |at| then[at].1));
            let user = instance.kind(KindId(*kind as usize)).user();
            if left > 0 && !rules.may_leave(user.index().0, server) {
                let server = names.name(server as u64);
                return Err(Error::Input(
                    format!(
                        "{file}: {left} tasks of user {} leave server {server}, and are to stay there",
                        user.id()
                    )
                    .into(),
                ));
            }
            lower_bound = lower_bound.saturating_add(left.saturating_mul(rules.costs[user.index().0]));
        }
    }
    let (steps, cost) = steps_between(instance, before, &after, rules).map_err(InstanceError::from)?;
    let required = after.tasks.clone();
    Ok(MovePlan { steps, after, required, cost, lower_bound, proof: MovesProof::Departures })
}

/// The plan, if its steps can be made and its bound is proved; without a bound, where proving that takes too long, which is to be told.
fn checked(
    instance: &Instance,
    counted: &CountedInstance<'_>,
    before: &Placement,
    rules: &MoveRules,
    plan: MovePlan,
    level: Option<(Breakpoint, bool)>,
) -> Result<(MovePlan, Option<String>), Error> {
    let sure = counted.tasks();
    let claim = MovesClaim {
        before,
        steps: &plan.steps,
        rules,
        required: &plan.required,
        level,
        cost: plan.cost,
        lower_bound: plan.lower_bound,
        proof: &plan.proof,
        whole_guarantees: sure.as_deref(),
        printed: None,
    };
    let (verdicts, after) = verify_moves(instance, &claim);
    let of_bound =
        |verdict: &&Verdict| verdict.property == "server-gains" || verdict.property == "lower-bound";
    let (bound, others): (Vec<&Verdict>, Vec<&Verdict>) = verdicts.iter().partition(of_bound);
    let others: Vec<Verdict> = others.into_iter().cloned().collect();
    all_hold("the steps fail their check", &others)?;
    if after.as_ref() != Some(&plan.after) {
        return Err(Error::uncertified("the steps do not lead to the placement that they are for"));
    }
    let Some(open) = bound.into_iter().find(|verdict| !verdict.holds) else { return Ok((plan, None)) };
    let left_out = format!("The lower bound is left out: {}", open.witness);
    let proof = MovesProof::Values {
        unit: 1,
        task_values: vec![0; instance.kind_count()],
        server_gains: vec![0; before.servers.len()],
    };
    Ok((MovePlan { lower_bound: 0, proof, ..plan }, Some(left_out)))
}
