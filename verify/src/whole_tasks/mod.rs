//! A bracket of what whole tasks can reach, re-proved in whole numbers: the placement counted, the upper bound from what
//! tasks are claimed to be worth, and what one server can hold by a search of its own.

mod allocated;
mod alone;
mod between;
mod costs;
mod devices_alone;
mod exchanges;
mod inside;
mod knapsack;
mod levels;
mod limit_values;
mod logarithm;
mod mixes;
mod moves;
mod proportional;
mod replay;
mod shares;
mod task;
mod units;

use crate::claim::PlacementClaim;
use crate::placement::verify_placement;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
pub use allocated::{AllocatedClaim, verify_allocated};
use alone::{holds_one_of_few_pieces, tasks_of};
use between::{held_by_all, tasks_under_rules};
use fairplan_instances::{
    Breakpoint, ClassId, Deadline, Instance, Kind, KindId, Placement, ResourceId, StatedBounds, User, UserId,
    WholeTaskBracket, WholeTaskProof,
};
use inside::Sizes;
use knapsack::{Outcome, Server};
use levels::{Levels, check_levels, check_user};
pub use moves::{MovesClaim, PrintedMoves, verify_moves};
use num_bigint::BigUint;
pub use proportional::{ProportionalClaim, is_best_sum, verify_proportional};
use rayon::prelude::*;
use std::collections::HashMap;
use task::Task;
use units::Units;

/// What a piece of each kind, a server of each class and all of each limit (none of these where they are not counted) is said to be worth.
#[derive(Clone, Copy)]
struct Worth<'a> {
    tasks: &'a [u64],
    servers: &'a [u64],
    limits: &'a [u64],
}

/// A bracket, as claimed.
#[derive(Clone, Debug)]
pub struct WholeTaskClaim<'a> {
    /// The bracket itself.
    pub bracket: &'a WholeTaskBracket,
    /// What a result file says beside it.
    pub stated: Option<StatedBounds>,
}

/// Re-proves a bracket from the instance alone: the properties of its placement, `users-without-tasks`, `lower-bound`,
/// `server-values`, `upper-bound` and, where a result states them, `bounds`. What there was no time for does not hold. Never panics on
/// a claim.
pub fn verify_whole_tasks(
    instance: &Instance,
    claim: &WholeTaskClaim<'_>,
    deadline: &Deadline,
) -> Vec<Verdict> {
    let bracket = claim.bracket;
    let (mut verdicts, is_sound) = begin(instance, &bracket.placement, || check_form(instance, bracket));
    if !is_sound {
        return verdicts;
    }
    let has_tasks = has_tasks(instance, &bracket.without_tasks);
    let levels = Levels::of(instance, &has_tasks);
    verdicts.push(users_without_tasks(instance, &has_tasks));
    verdicts.push(lower_bound(instance, bracket, &levels));
    if let (Some(upper), Some(proof)) = (bracket.upper, &bracket.proof) {
        verdicts.extend(upper_bound(instance, upper, proof, &levels, &has_tasks, deadline));
    }
    if let Some(stated) = claim.stated {
        verdicts.push(bounds(instance, bracket, &levels, stated));
    }
    verdicts
}

/// The properties of a bracket's placement and, if they hold, of the bracket's `form`; and whether all hold, without which
/// the rest means nothing.
fn begin(
    instance: &Instance,
    placement: &Placement,
    form: impl FnOnce() -> Result<(), String>,
) -> (Vec<Verdict>, bool) {
    let mut verdicts = verify_placement(instance, &PlacementClaim::from(placement));
    if verdicts.iter().all(|verdict| verdict.holds) {
        let mut formed = Worst::of("well-formed-bracket", 0.0);
        if let Err(problem) = form() {
            formed.fail(|| problem);
        }
        verdicts.push(formed.verdict());
    }
    let is_sound = verdicts.iter().all(|verdict| verdict.holds);
    (verdicts, is_sound)
}

/// Whether a placement that keeps all rules has a level that no placement exceeds, by a bracket that holds: every user who wants more has
/// tasks for it; under limits that all can have all they may is no level, and then nobody wants more. Compared exactly; in groups as
/// nearly as bounds are told apart.
pub fn is_best(instance: &Instance, placement: &Placement, bracket: &WholeTaskBracket) -> bool {
    let Some(upper) = bracket.upper else { return true };
    let has_tasks = has_tasks(instance, &bracket.without_tasks);
    let levels = Levels::of(instance, &has_tasks);
    match is_unbounded(instance, bracket) {
        true => !levels.wanting(placement).contains(&true),
        false => levels.is_reached(placement, upper) && levels.keep_guarantees(&placement.tasks),
    }
}

/// Whether a placement that keeps all rules has a level: every user who wants more has tasks for it. Compared as by [`is_best`].
pub fn has_level(instance: &Instance, placement: &Placement, level: Breakpoint) -> bool {
    Levels::of(instance, &who_can_have_tasks(instance)).is_reached(placement, level)
}

/// Whether a bracket says of levels under limits only that all may have all they can.
fn is_unbounded(instance: &Instance, bracket: &WholeTaskBracket) -> bool {
    instance.has_limits() && matches!(bracket.proof, Some(WholeTaskProof::TaskLimit(_)))
}

/// Whether whole tasks of an instance can be counted.
fn check_counted(instance: &Instance) -> Result<(), String> {
    if let Some(user) = instance.users().find(|user| !user.rule().rates().is_empty()) {
        return Err(format!("user {} has rates, and whole tasks are bounded without", user.id()));
    }
    Units::of(instance).check(instance)
}

/// The kinds of all users; users where none has kinds.
fn kinds(instance: &Instance) -> impl Iterator<Item = Kind<'_>> {
    (0..instance.kind_count()).map(|k| instance.kind(KindId(k)))
}

/// Whether there is a value of each user, or of each kind where there are kinds, and of each class, 0 where there are no tasks or no
/// servers.
fn check_values(instance: &Instance, without_tasks: &[UserId], worth: Worth<'_>) -> Result<(), String> {
    let Worth { tasks: task_values, servers: server_values, limits } = worth;
    limit_values::check(instance, limits)?;
    let counts =
        [(task_values.len(), instance.kind_count()), (server_values.len(), instance.classes().len())];
    if let Some((stated, expected)) = counts.iter().find(|(stated, expected)| stated != expected) {
        return Err(format!("{stated} values are stated, {expected} are needed"));
    }
    for user in without_tasks.iter().map(|user| instance.user(*user)) {
        if let Some(value) = task_values[user.kind_range()].iter().find(|value| **value > 0) {
            return Err(format!("a task of user {}, who can have none, is worth {value}", user.id()));
        }
    }
    let mut classes = instance.classes().iter().zip(server_values);
    match classes.find(|(class, value)| class.count == 0 && **value > 0) {
        Some((class, value)) => Err(format!("class {} has no servers, and one holds {value}", class.id)),
        None => Ok(()),
    }
}

/// Whether the users that can have no task are users of the instance, each named once, in its order.
fn check_without_tasks(instance: &Instance, without_tasks: &[UserId]) -> Result<(), String> {
    let users = instance.user_count();
    if let Some(user) = without_tasks.iter().find(|user| user.0 >= users) {
        return Err(format!("there is no user {} of {users}", user.0));
    }
    match without_tasks.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            let id = instance.user(pair[1]).id();
            Err(format!("users_without_tasks: user {id} is named twice, or not in the instance's order"))
        }
        None => Ok(()),
    }
}

fn check_form(instance: &Instance, bracket: &WholeTaskBracket) -> Result<(), String> {
    check_counted(instance)?;
    check_without_tasks(instance, &bracket.without_tasks)?;
    let users = instance.user_count();
    check_levels(instance, [bracket.upper, bracket.lower])?;
    match &bracket.proof {
        Some(WholeTaskProof::TaskLimit(user) | WholeTaskProof::Alone(user)) => check_user(instance, *user)?,
        Some(WholeTaskProof::Values { task_values, server_values, limit_values }) => {
            let worth = Worth { tasks: task_values, servers: server_values, limits: limit_values };
            check_values(instance, &bracket.without_tasks, worth)?;
        }
        None => {}
    }
    let others = bracket.without_tasks.len() < users;
    if [bracket.upper.is_some(), bracket.lower.is_some(), bracket.proof.is_some()] != [others; 3] {
        return Err("bounds and their proof are stated exactly if some user can have tasks".into());
    }
    Ok(())
}

/// Whether one piece of `kind` fits on a server of `class`, which it may use.
fn fits(instance: &Instance, kind: Kind<'_>, class: ClassId) -> bool {
    let mut resources = (0..instance.resources().len()).map(ResourceId);
    kind.rule().allows(class)
        && instance.classes()[class.0].count > 0
        && resources.all(|r| kind.piece_units(r) <= instance.capacity_units(class, r))
}

fn has_tasks(instance: &Instance, without_tasks: &[UserId]) -> Vec<bool> {
    let mut has_tasks = vec![true; instance.user_count()];
    without_tasks.iter().for_each(|user| has_tasks[user.0] = false);
    has_tasks
}

/// For each user whether it has tasks and, for each kind of its pieces, all servers hold as many as a task needs; where that is a few, all of them
/// together.
fn who_can_have_tasks(instance: &Instance) -> Vec<bool> {
    let fits_on_any =
        |kind: Kind<'_>| (0..instance.classes().len()).any(|l| fits(instance, kind, ClassId(l)));
    let can = |user: User<'_>| match user.has_kinds() {
        false => user.tasks() != Some(0) && user.kinds().all(fits_on_any),
        true => tasks_of(instance, user) > 0 && holds_one_of_few_pieces(instance, user),
    };
    instance.users().map(can).collect()
}

fn users_without_tasks(instance: &Instance, has_tasks: &[bool]) -> Verdict {
    let mut verdict = Worst::of("users-without-tasks", 0.0);
    for (user, (stated, can)) in instance.users().zip(has_tasks.iter().zip(who_can_have_tasks(instance))) {
        if can != *stated {
            let truth = if can { "can have tasks" } else { "can have no task" };
            verdict.fail(|| format!("user {} {truth}, and the opposite is stated", user.id()));
        }
    }
    verdict.verdict()
}

fn lower_bound(instance: &Instance, bracket: &WholeTaskBracket, levels: &Levels<'_>) -> Verdict {
    let tasks = &bracket.placement.tasks;
    let Some(lower) = bracket.lower else { return Worst::of("lower-bound", 0.0).verdict() };
    if !levels.wanting(&bracket.placement).contains(&true) {
        return lower_bound_of_all(instance, (tasks, lower), levels);
    }
    if instance.has_groups() {
        let mut verdict = Worst::of("lower-bound", tolerance::STATED);
        let (stated, level) = (levels.value(lower), levels.of_placement(&bracket.placement));
        let what = || "level of the placement".into();
        if level < f64::INFINITY && instance.has_limits() {
            // Whom limits of groups hold have what they have, which no breakpoint need say: it is no more than the level.
            verdict.see((stated / level - 1.0).max(0.0), what);
            // What is stated is the last that one of those who want more comes to, up to the level.
            if let Some(Breakpoint { user, tasks }) = levels.between((stated, level), &bracket.placement) {
                let id = instance.user(user).id();
                verdict.fail(|| format!("the level reaches {tasks} tasks of user {id}, more than is stated"));
            }
        } else if level < f64::INFINITY {
            verdict.compare(stated, level, what);
        }
        return verdict.verdict();
    }
    let mut verdict = Worst::of("lower-bound", 0.0);
    let mut is_reached = false;
    let wanting = levels.wanting(&bracket.placement);
    for user in instance.users() {
        let own = Breakpoint { user: user.index(), tasks: tasks[user.index().0] };
        let reaches = levels.reaches(own, lower);
        is_reached |= reaches && levels.reaches(lower, own);
        if !reaches && wanting[user.index().0] {
            verdict
                .fail(|| format!("user {} has {} tasks placed, less than is stated", user.id(), own.tasks));
        }
    }
    if !is_reached {
        verdict.fail(|| "every user has more than is stated".into());
    }
    verdict.verdict()
}

/// The lower bound of a placement in which nobody wants more, which has more than any level: the last that anybody comes to with all its
/// tasks; under limits the least that anybody has who can have any.
fn lower_bound_of_all(
    instance: &Instance,
    (tasks, lower): (&[u64], Breakpoint),
    levels: &Levels<'_>,
) -> Verdict {
    let mut verdict = Worst::of("lower-bound", 0.0);
    let (mut is_reached, is_least) = (false, instance.has_limits());
    for user in instance.users().filter(|user| levels.can_have_tasks(*user)) {
        let own = Breakpoint { user: user.index(), tasks: tasks[user.index().0] };
        let (above, below) = (levels.reaches(own, lower), levels.reaches(lower, own));
        is_reached |= above && below;
        if !(if is_least { above } else { below }) {
            let (than, id) = (if is_least { "less" } else { "more" }, user.id());
            verdict.fail(|| format!("user {id} has {} tasks placed, {than} than is stated", own.tasks));
        }
    }
    if !is_reached {
        verdict.fail(|| "nobody has what is stated".into());
    }
    verdict.verdict()
}

/// Proves that no placement has a higher level than `upper`; or, where tasks run out, that there are none for a larger smallest
/// share.
fn upper_bound(
    instance: &Instance,
    upper: Breakpoint,
    proof: &WholeTaskProof,
    levels: &Levels<'_>,
    has_tasks: &[bool],
    deadline: &Deadline,
) -> Vec<Verdict> {
    let mut excluded = Worst::of("upper-bound", 0.0);
    match proof {
        WholeTaskProof::TaskLimit(user) => {
            let user = instance.user(*user);
            if !levels.ends_at(user, upper) || !has_tasks[user.index().0] {
                excluded.fail(|| format!("user {} has tasks enough for more", user.id()));
            }
            // In groups, and where limits hold others, one user decides nothing: all must have all that they may.
            let is_asked_of_all = instance.has_groups() || instance.has_limits();
            if let Some(user) = instance.users().find(|user| is_asked_of_all && !levels.ends_at(*user, upper))
            {
                excluded.fail(|| format!("user {} has tasks enough for more", user.id()));
            }
            vec![excluded.verdict()]
        }
        WholeTaskProof::Alone(user) => {
            let needed = levels.needed_for_more(upper)[user.0];
            let user = instance.user(*user);
            let most = tasks_under_rules(instance, user);
            if !has_tasks[user.index().0] || needed <= most {
                excluded.fail(|| {
                    format!(
                        "user {} can have {most} tasks alone, and more than that takes {needed}",
                        user.id()
                    )
                });
            }
            vec![excluded.verdict()]
        }
        WholeTaskProof::Values { task_values, server_values, limit_values } => {
            let worth = Worth { tasks: task_values, servers: server_values, limits: limit_values };
            let needed = levels.needed_for_more(upper);
            let part = |kind: Kind<'_>| {
                let pieces = u128::from(needed[kind.user().index().0]) * u128::from(kind.each());
                pieces.saturating_mul(u128::from(task_values[kind.index().0]))
            };
            let parts = kinds(instance).map(part);
            let taken = parts.fold(0u128, u128::saturating_add);
            let held = held_by_all(instance, worth, has_tasks);
            if BigUint::from(taken) <= held {
                excluded.fail(|| {
                    format!("more than that takes tasks worth {taken}, and the servers may hold {held}")
                });
            }
            let held = server_values_hold(instance, worth, has_tasks, deadline);
            vec![held, excluded.verdict()]
        }
    }
}

/// What makes servers of two classes hold the same: capacity, devices, which rules let tasks run there, and the limits over them.
type AlikeBy<'a> = (Vec<u128>, &'a [(ResourceId, u64)], Vec<bool>, Vec<bool>);

/// What tells pieces apart on a server: where they may run, what they take, by which profile, the kind where a server takes only so many, and
/// the limits in which they count.
type Piece = (usize, Vec<u128>, Option<(usize, usize)>, Option<KindId>, Vec<usize>);

/// Proves that no server can hold tasks worth more than is claimed for its class.
fn server_values_hold(
    instance: &Instance,
    worth: Worth<'_>,
    has_tasks: &[bool],
    deadline: &Deadline,
) -> Verdict {
    let Worth { tasks: task_values, servers: server_values, .. } = worth;
    let units = Units::of(instance);
    let sizes = Sizes::of(instance, &units);
    // Of kinds with the same piece only the one that is worth most matters, unless a server takes only so many of each.
    let mut distinct: HashMap<Piece, (KindId, u64)> = HashMap::new();
    for kind in kinds(instance).filter(|kind| has_tasks[kind.user().index().0]) {
        let value = task_values[kind.index().0];
        let profile = sizes.profile(kind);
        let demand = sizes.counted(units.of_piece(kind), profile);
        let own = kind.user().per_server().map(|_| kind.index());
        let counted_in = limit_values::counted_in(instance, worth, kind);
        let piece = (kind.rule_id().0, demand, profile, own, counted_in);
        let known = distinct.entry(piece).or_insert((kind.index(), value));
        if value > known.1 {
            *known = (kind.index(), value);
        }
    }
    let mut distinct: Vec<(Vec<u128>, Vec<usize>, KindId, u64)> = distinct
        .into_iter()
        .map(|((_, demand, .., counted_in), (kind, value))| (demand, counted_in, kind, value))
        .collect();
    distinct.retain(|(.., value)| *value > 0);
    distinct.sort_by_key(|(_, _, kind, _)| *kind);
    // Classes alike need one proof, of the smallest claim. A class of no servers holds nothing, and speaks for no other.
    let mut classes: HashMap<AlikeBy<'_>, usize> = HashMap::new();
    for l in (0..instance.classes().len()).filter(|l| instance.classes()[*l].count > 0) {
        let capacity = units.of_server(instance, ClassId(l));
        let treatment = instance.rules().iter().map(|rule| rule.allows(ClassId(l))).collect();
        let devices = &instance.classes()[l].devices[..];
        let over = limit_values::over_class(instance, worth, ClassId(l));
        let least = classes.entry((capacity, devices, treatment, over)).or_insert(l);
        if server_values[l] < server_values[*least] {
            *least = l;
        }
    }
    let mut classes: Vec<(Vec<u128>, usize)> = classes.into_iter().map(|((c, ..), l)| (c, l)).collect();
    classes.sort_by_key(|(_, l)| *l);
    let prove = |(capacity, l): &(Vec<u128>, usize)| {
        let task = |(demand, counted_in, kind, value): &(Vec<u128>, Vec<usize>, KindId, u64)| {
            let (kind, class) = (instance.kind(*kind), ClassId(*l));
            let value = limit_values::left(instance, worth, (kind, *value), counted_in, class);
            let (most, profile) = (kind.user().per_server(), sizes.profile(kind));
            let task = Task { value, demand: demand.clone(), most, profile };
            (value > 0 && fits(instance, kind, class)).then_some(task)
        };
        let tasks = distinct.iter().filter_map(task).collect();
        let (capacity, inside) = sizes.inside(instance, ClassId(*l), capacity.clone());
        (*l, knapsack::prove(&Server { capacity: &capacity, inside, tasks }, server_values[*l], deadline))
    };
    let outcomes: Vec<(usize, Outcome)> = classes.par_iter().map(prove).collect();
    let mut verdict = Worst::of("server-values", 0.0);
    for (l, outcome) in outcomes {
        let (class, value) = (&instance.classes()[l].id, server_values[l]);
        match outcome {
            Outcome::Proved => {}
            Outcome::Exceeded => {
                verdict.fail(|| format!("a server of class {class} holds more than {value}"))
            }
            Outcome::TooLong => verdict.fail(|| {
                format!("whether a server of class {class} holds more than {value} takes too long to tell")
            }),
        }
    }
    verdict.verdict()
}

/// Holds the stated doubles against what they stand for.
fn bounds(
    instance: &Instance,
    bracket: &WholeTaskBracket,
    levels: &Levels<'_>,
    stated: StatedBounds,
) -> Verdict {
    let mut verdict = Worst::of("bounds", tolerance::STATED);
    let (caps, children) = (levels.caps(), levels.divided(&bracket.placement.tasks));
    let upper = bracket.upper.map_or(0.0, |upper| levels.value(upper));
    let can_have = levels.can_have();
    let least = |values: &mut dyn Iterator<Item = f64>| {
        can_have
            .iter()
            .zip(values)
            .filter(|(can, _)| **can)
            .map(|(_, value)| value)
            .fold(f64::INFINITY, f64::min)
    };
    let anybody = |value: f64| if bracket.upper.is_some() { value } else { 0.0 };
    // Whole tasks can be divided, too; but the bound of that is one of all users.
    let divisible = stated.divisible.unwrap_or(f64::INFINITY);
    let of_all = upper.min(levels.cap_of_all()).min(divisible);
    let are_all = bracket.without_tasks.is_empty();
    let of_others = if are_all { upper.min(divisible) } else { upper };
    for (name, stated, computed) in [
        ("integral_upper", stated.upper, of_all),
        ("integral_lower", stated.lower, levels.value_of_placement(&bracket.placement.tasks)),
        (
            "integral_upper of the others",
            stated.upper_of_others,
            anybody(of_others.min(least(&mut caps.iter().copied()))),
        ),
        (
            "integral_lower of the others",
            stated.lower_of_others,
            anybody(least(&mut children.iter().map(|child| child.has))),
        ),
    ] {
        verdict.compare(stated, computed, || name.into());
    }
    let by_proof = !matches!(bracket.proof, None | Some(WholeTaskProof::TaskLimit(_)));
    // Levels are stated where tasks, limits or groups tell them from the smallest share.
    let tells_apart = instance.has_task_limits() || instance.has_groups() || instance.has_limits();
    let level = |is_stated: bool, level: f64| if tells_apart && is_stated { level } else { f64::INFINITY };
    for (name, stated, computed) in [
        ("integral_level_upper", stated.level_upper, level(by_proof, upper)),
        ("integral_level_lower", stated.level_lower, level(true, levels.of_placement(&bracket.placement))),
    ] {
        verdict.compare_if_any(stated, computed, || name.into());
    }
    let waiting = instance.has_task_limits().then(|| levels.waiting(&bracket.placement.tasks));
    if stated.unplaced != waiting {
        let said = |tasks: Option<u64>| tasks.map_or("no number of".into(), |tasks| tasks.to_string());
        verdict.fail(|| format!("{} tasks are said to wait, {} do", said(stated.unplaced), said(waiting)));
    }
    let is_closed = match (bracket.upper, bracket.lower) {
        _ if is_unbounded(instance, bracket) => is_best(instance, &bracket.placement, bracket),
        (Some(upper), Some(lower)) => {
            levels.reaches(lower, upper) && levels.keep_guarantees(&bracket.placement.tasks)
        }
        _ => true,
    };
    if stated.proved_optimal != is_closed {
        verdict.fail(|| format!("proved_optimal is {}, and the opposite is so", stated.proved_optimal));
    }
    verdict.verdict()
}
