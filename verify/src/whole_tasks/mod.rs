//! A bracket of what whole tasks can reach, re-proved in whole numbers: the placement counted, the upper bound from what
//! tasks are claimed to be worth, and what one server can hold by a search of its own.

mod knapsack;
mod logarithm;
mod proportional;
mod shares;

use crate::claim::PlacementClaim;
use crate::placement::verify_placement;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    Breakpoint, ClassId, Instance, Placement, ResourceId, User, UserId, WholeTaskBracket, WholeTaskProof,
};
use knapsack::{Outcome, Server, Task};
pub use proportional::{ProportionalClaim, verify_proportional};
use rayon::prelude::*;
use shares::Share;
use std::collections::HashMap;

/// A bracket, as claimed.
#[derive(Clone, Debug)]
pub struct WholeTaskClaim<'a> {
    /// The bracket itself.
    pub bracket: &'a WholeTaskBracket,
    /// What a result file says beside it.
    pub stated: Option<StatedBounds>,
}

/// What a result file states in doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedBounds {
    /// The largest value of whole tasks that is not excluded, over all users.
    pub upper: f64,
    /// The value of the placement, over all users.
    pub lower: f64,
    /// The same over the users that can have tasks.
    pub upper_of_others: f64,
    /// The same over the users that can have tasks.
    pub lower_of_others: f64,
    /// Whether the two are the same.
    pub proved_optimal: bool,
}

/// Re-proves a bracket from the instance alone: the properties of its placement, `users-without-tasks`, `lower-bound`,
/// `server-values`, `upper-bound` and, where a result states them, `bounds`. Never panics on a claim.
pub fn verify_whole_tasks(instance: &Instance, claim: &WholeTaskClaim<'_>) -> Vec<Verdict> {
    let bracket = claim.bracket;
    let (mut verdicts, is_sound) = begin(instance, &bracket.placement, || check_form(instance, bracket));
    if !is_sound {
        return verdicts;
    }
    let has_tasks = has_tasks(instance, &bracket.without_tasks);
    verdicts.push(users_without_tasks(instance, &has_tasks));
    verdicts.push(lower_bound(instance, bracket, &has_tasks));
    if let (Some(upper), Some(proof)) = (bracket.upper, &bracket.proof) {
        verdicts.extend(upper_bound(instance, upper, proof, &has_tasks));
    }
    if let Some(stated) = claim.stated {
        verdicts.push(bounds(instance, bracket, stated));
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

/// Whether every user but those `without` has tasks for a share of at least `breakpoint`, of `tasks` in the instance's
/// order. Compared exactly.
pub fn reaches(instance: &Instance, tasks: &[u64], breakpoint: Breakpoint, without: &[UserId]) -> bool {
    let share = Share::at(instance, breakpoint);
    let mut users = instance.users().filter(|user| without.binary_search(&user.index()).is_err());
    users.all(|user| {
        let own = Breakpoint { user: user.index(), tasks: tasks[user.index().0] };
        Share::at(instance, own).compare(&share).is_ge()
    })
}

/// Numbers longer than this are not counted with.
const BITS: u32 = 62;

/// Whether whole tasks of an instance can be counted.
fn check_counted(instance: &Instance) -> Result<(), String> {
    if let Some(user) = instance.users().find(|user| !user.rule().rates().is_empty()) {
        return Err(format!("user {} has rates, and whole tasks are bounded without", user.id()));
    }
    for r in (0..instance.resources().len()).map(ResourceId) {
        let amounts = (0..instance.classes().len()).map(|l| instance.capacity_units(ClassId(l), r));
        if amounts.chain(instance.users().map(|user| user.demand_units(r))).any(|amount| amount >> BITS > 0) {
            return Err(format!("{} has amounts of more than {BITS} bits", instance.resources()[r.0]));
        }
    }
    Ok(())
}

/// Whether there is a value of each user and of each class, 0 where there are no tasks or no servers.
fn check_values(
    instance: &Instance,
    without_tasks: &[UserId],
    task_values: &[u64],
    server_values: &[u64],
) -> Result<(), String> {
    let counts =
        [(task_values.len(), instance.user_count()), (server_values.len(), instance.classes().len())];
    if let Some((stated, expected)) = counts.iter().find(|(stated, expected)| stated != expected) {
        return Err(format!("{stated} values are stated, {expected} are needed"));
    }
    if let Some(user) = without_tasks.iter().find(|user| task_values[user.0] > 0) {
        let (id, value) = (instance.user(*user).id(), task_values[user.0]);
        return Err(format!("a task of user {id}, who can have none, is worth {value}"));
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
    let mut named: Vec<usize> = [bracket.upper, bracket.lower].iter().flatten().map(|at| at.user.0).collect();
    match &bracket.proof {
        Some(WholeTaskProof::TaskLimit(user)) => named.push(user.0),
        Some(WholeTaskProof::Values { task_values, server_values }) => {
            check_values(instance, &bracket.without_tasks, task_values, server_values)?;
        }
        None => {}
    }
    if let Some(user) = named.iter().find(|user| **user >= users) {
        return Err(format!("there is no user {user} of {users}"));
    }
    let others = bracket.without_tasks.len() < users;
    if [bracket.upper.is_some(), bracket.lower.is_some(), bracket.proof.is_some()] != [others; 3] {
        return Err("bounds and their proof are stated exactly if some user can have tasks".into());
    }
    Ok(())
}

/// Whether one task of `user` fits on a server of `class`, which it may use.
fn fits(instance: &Instance, user: User<'_>, class: ClassId) -> bool {
    let mut resources = (0..instance.resources().len()).map(ResourceId);
    user.rule().allows(class)
        && instance.classes()[class.0].count > 0
        && resources.all(|r| user.demand_units(r) <= instance.capacity_units(class, r))
}

fn has_tasks(instance: &Instance, without_tasks: &[UserId]) -> Vec<bool> {
    let mut has_tasks = vec![true; instance.user_count()];
    without_tasks.iter().for_each(|user| has_tasks[user.0] = false);
    has_tasks
}

fn users_without_tasks(instance: &Instance, has_tasks: &[bool]) -> Verdict {
    let mut verdict = Worst::of("users-without-tasks", 0.0);
    for (user, stated) in instance.users().zip(has_tasks) {
        let fits = (0..instance.classes().len()).any(|l| fits(instance, user, ClassId(l)));
        let can = fits && user.tasks() != Some(0);
        if can != *stated {
            let truth = if can { "can have tasks" } else { "can have no task" };
            verdict.fail(|| format!("user {} {truth}, and the opposite is stated", user.id()));
        }
    }
    verdict.verdict()
}

fn lower_bound(instance: &Instance, bracket: &WholeTaskBracket, has_tasks: &[bool]) -> Verdict {
    let mut verdict = Worst::of("lower-bound", 0.0);
    let Some(lower) = bracket.lower else { return verdict.verdict() };
    let stated = Share::at(instance, lower);
    let mut is_reached = false;
    for user in instance.users().filter(|user| has_tasks[user.index().0]) {
        let tasks = bracket.placement.tasks[user.index().0];
        let share = Share::at(instance, Breakpoint { user: user.index(), tasks });
        match share.compare(&stated) {
            std::cmp::Ordering::Less => {
                verdict.fail(|| format!("user {} has {tasks} tasks placed, less than is stated", user.id()));
            }
            std::cmp::Ordering::Equal => is_reached = true,
            std::cmp::Ordering::Greater => {}
        }
    }
    if !is_reached {
        verdict.fail(|| "every user has more than is stated".into());
    }
    verdict.verdict()
}

/// Proves that no placement gives all users that can have tasks more than `upper`.
fn upper_bound(
    instance: &Instance,
    upper: Breakpoint,
    proof: &WholeTaskProof,
    has_tasks: &[bool],
) -> Vec<Verdict> {
    let share = Share::at(instance, upper);
    let needs = |user: User<'_>| Share::of_one_task(instance, user).tasks_for_more_than(&share);
    let mut excluded = Worst::of("upper-bound", 0.0);
    match proof {
        WholeTaskProof::TaskLimit(user) => {
            let user = instance.user(*user);
            let is_short = match (user.tasks(), needs(user)) {
                (Some(limit), Some(needed)) => limit < needed,
                (limit, None) => limit.is_some(),
                (None, _) => false,
            };
            if !is_short || !has_tasks[user.index().0] {
                excluded.fail(|| format!("user {} has tasks enough for more", user.id()));
            }
            vec![excluded.verdict()]
        }
        WholeTaskProof::Values { task_values, server_values } => {
            let mut worth = 0u128;
            for user in instance.users().filter(|user| has_tasks[user.index().0]) {
                let needed = u128::from(needs(user).unwrap_or(u64::MAX));
                let part = needed.saturating_mul(u128::from(task_values[user.index().0]));
                worth = worth.saturating_add(part);
            }
            let held = |(class, value): (&fairplan_instances::ServerClass, &u64)| {
                u128::from(class.count) * u128::from(*value)
            };
            let held = instance.classes().iter().zip(server_values).map(held);
            let held = held.fold(0u128, u128::saturating_add);
            if worth <= held {
                excluded.fail(|| {
                    format!("more than that takes tasks worth {worth}, and the servers may hold {held}")
                });
            }
            vec![server_values_hold(instance, task_values, server_values, has_tasks), excluded.verdict()]
        }
    }
}

/// Proves that no server can hold tasks worth more than is claimed for its class.
fn server_values_hold(
    instance: &Instance,
    task_values: &[u64],
    server_values: &[u64],
    has_tasks: &[bool],
) -> Verdict {
    let m = instance.resources().len();
    // Of users with the same task only the one that is worth most matters.
    let mut kinds: HashMap<(usize, Vec<u128>), (UserId, u64)> = HashMap::new();
    for user in instance.users().filter(|user| has_tasks[user.index().0]) {
        let value = task_values[user.index().0];
        let demand = (0..m).map(|r| user.demand_units(ResourceId(r))).collect();
        let kind = kinds.entry((user.rule_id().0, demand)).or_insert((user.index(), value));
        if value > kind.1 {
            *kind = (user.index(), value);
        }
    }
    let mut kinds: Vec<(Vec<u128>, UserId, u64)> =
        kinds.into_iter().map(|((_, demand), (user, value))| (demand, user, value)).collect();
    kinds.retain(|(_, _, value)| *value > 0);
    kinds.sort_by_key(|(_, user, _)| *user);
    // Classes alike need one proof, of the smallest claim. A class of no servers holds nothing, and speaks for no other.
    let mut classes: HashMap<(Vec<u128>, Vec<bool>), usize> = HashMap::new();
    for l in (0..instance.classes().len()).filter(|l| instance.classes()[*l].count > 0) {
        let capacity = (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let treatment = instance.rules().iter().map(|rule| rule.allows(ClassId(l))).collect();
        let least = classes.entry((capacity, treatment)).or_insert(l);
        if server_values[l] < server_values[*least] {
            *least = l;
        }
    }
    let mut classes: Vec<(Vec<u128>, usize)> = classes.into_iter().map(|((c, _), l)| (c, l)).collect();
    classes.sort_by_key(|(_, l)| *l);
    let prove = |(capacity, l): &(Vec<u128>, usize)| {
        let may_run =
            |(_, user, _): &&(Vec<u128>, UserId, u64)| fits(instance, instance.user(*user), ClassId(*l));
        let task =
            |(demand, _, value): &(Vec<u128>, UserId, u64)| Task { value: *value, demand: demand.clone() };
        let tasks = kinds.iter().filter(may_run).map(task).collect();
        (*l, knapsack::prove(&Server { capacity, tasks }, server_values[*l]))
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
fn bounds(instance: &Instance, bracket: &WholeTaskBracket, stated: StatedBounds) -> Verdict {
    let mut verdict = Worst::of("bounds", tolerance::STATED);
    let share = |at: Option<Breakpoint>| {
        let at = at?;
        let user = instance.user(at.user);
        Some(at.tasks as f64 * user.task_share() / user.weight().to_f64())
    };
    let of_others = |at| share(at).unwrap_or(0.0);
    let of_all = |at| if bracket.without_tasks.is_empty() { of_others(at) } else { 0.0 };
    for (name, stated, computed) in [
        ("integral_upper", stated.upper, of_all(bracket.upper)),
        ("integral_lower", stated.lower, of_all(bracket.lower)),
        ("integral_upper of the others", stated.upper_of_others, of_others(bracket.upper)),
        ("integral_lower of the others", stated.lower_of_others, of_others(bracket.lower)),
    ] {
        verdict.compare(stated, computed, || name.into());
    }
    let is_closed = match (bracket.upper, bracket.lower) {
        (Some(upper), Some(lower)) => Share::at(instance, upper).compare(&Share::at(instance, lower)).is_eq(),
        _ => true,
    };
    if stated.proved_optimal != is_closed {
        verdict.fail(|| format!("proved_optimal is {}, and the opposite is so", stated.proved_optimal));
    }
    verdict.verdict()
}
