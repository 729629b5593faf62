//! The fewest moves from a placement to one in which every user has as many tasks as required: where tasks go (`program.rs`,
//! `whole.rs`), with a proved lower bound on what that costs.
//!
//! Of users with kinds pieces move, and each kind is to the search a user of its own whose tasks its pieces are.
//!
//! A task that runs and does not run where it did has left its server: it moved, or stopped. So steps to a placement cost at least
//! what has left. The least that can leave is a program over exchanges on single servers (`search.rs`), of which column generation
//! finds those that matter; any prices bound it. Its fractions are made whole by solving it again and again for what is left
//! (`dive.rs`). Where much is missing it begins with exchanges towards a placement from nothing (`nearest.rs`). In which order steps can be made is another question ([`crate::steps`]).

mod cluster;
mod dive;
mod nearest;
mod pool;
mod program;
mod search;
mod whole;

use super::bound;
use super::breakpoints::Breakpoints;
use super::packing::Packing;
use super::{first_bound, whole_task_bracket};
use crate::steps::steps_between;
use cluster::{Cluster, Exchange};
use dive::dive;
use fairplan_instances::{
    Breakpoint, Deadline, Instance, InstanceError, KindId, MovePlan, MoveRules, MovesProof, Placement, UserId,
};
use nearest::nearest;
use program::{CLOSE, OfKinds, Priced, Question, UNIT, WORTH};
use whole::Making;

/// The part of the time for the program, and then the part of what is left for making whole exchanges; the rest is for the bound
/// where less than all was reached.
const PRICING: f64 = 0.6;
const MAKING_WHOLE: f64 = 0.7;

/// The part of what is left in which the program is solved again and again while its exchanges are made whole.
const DIVING: f64 = 0.4;

/// While no more groups differ the fractions are made whole so. Of more the program takes too long to be solved again and again.
const DIVED: usize = 4_000;

/// Where more than one task is missing for so many servers, and there are not too few of these, a placement from nothing is asked for
/// in this part of the time. No task is worth more than that placement costs, which is not known before: so many times more than
/// elsewhere are enough.
const MISSING_ONE_IN: u64 = 20;
const FEWEST: u64 = 100;
const PLACING: f64 = 0.15;
const FAR: f64 = 64.0;

/// There the program has this part of the time, and this part of what is left once more, unless what was found costs less than so many
/// times its bound. A few tasks that are missing afterwards are placed in this part of what is left.
const PRICING_FAR: f64 = 0.45;
const FILLING: f64 = 0.3;
const AGAIN: f64 = 0.6;
const OPEN: f64 = 1.1;

/// Makes of a placement that knows too few rules one that keeps them all.
pub type Mend<'a> = dyn Fn(Placement) -> Result<Placement, InstanceError> + 'a;

/// Finds steps after which every user has as many tasks as `required`, or as near to that as was found. Users may lose tasks that
/// they have beyond that. The search knows what devices hold in sum and no other rule of whole tasks, but by `mend`, which what is found
/// has to pass; the bound knows none.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a placement that breaks a rule; a backend that broke.
pub fn fewest_moves(
    instance: &Instance,
    before: &Placement,
    required: &[u64],
    rules: &MoveRules,
    mend: Option<&Mend<'_>>,
    limit: &Deadline,
) -> Result<MovePlan, InstanceError> {
    let packing = Packing::new(instance)?;
    let cluster = Cluster::new(instance, &packing, before, rules)?;
    let groups = cluster.groups();
    let of_kinds = OfKinds::new(instance, rules);
    let pieces = pieces_of(instance, required);
    let question = Question {
        packing: &packing,
        cluster: &cluster,
        groups: &groups,
        rules: &of_kinds,
        required: &pieces,
        close: CLOSE,
        worth: WORTH.0,
    };
    let near = match is_far(&cluster, &pieces) {
        true => placed_anew(instance, required, &limit.after_part(PLACING))?,
        false => None,
    };
    let near = near.and_then(|target| nearest(&question, &target));
    let mut known = near.as_ref().map_or_else(Vec::new, |near| near.columns.clone());
    let question = Question { worth: if near.is_some() { WORTH.0 * FAR } else { WORTH.0 }, ..question };
    let size = |kind: &u32| instance.kind(KindId(*kind as usize)).user().task_share();
    let mut smallest_first: Vec<u32> = (0..instance.kind_count() as u32).collect();
    smallest_first.sort_by(|a, b| size(a).total_cmp(&size(b)));
    // Where all can be reached, what misses a few tasks is not worse for that: these are found places first.
    let filled = |priced: &Priced, known: &[(usize, Exchange)]| -> Result<Making<'_>, InstanceError> {
        let mut making = made(&question, priced, known, limit)?;
        let missing = making.all_missing();
        if near.is_some() && missing > 0 && !is_much(&cluster, missing) {
            making.complete(priced, &smallest_first, &limit.after_part(FILLING));
            making.take_back();
        }
        Ok(making)
    };
    let pricing = if near.is_some() { PRICING_FAR } else { PRICING };
    let mut priced = question.solve(&mut known, &limit.after_part(pricing))?;
    let mut making = filled(&priced, &known)?;
    if let Some(near) = &near {
        let mut other = Making::new(&question);
        other.become_like(&near.chosen);
        making = better(making, other);
    }
    // What time is left makes both sides better.
    let is_open = making.cost() as f64 > OPEN * priced.least as f64 / UNIT as f64;
    if is_open && near.is_some() && limit.time_left().is_some() {
        let again = question.solve(&mut known, &limit.after_part(AGAIN))?;
        making = better(making, filled(&again, &known)?);
        priced = priced.or(again);
    }
    let making_whole = limit.after_part(MAKING_WHOLE);
    making.complete(&priced, &smallest_first, &making_whole);
    making.take_back();
    making.spread(&making_whole);
    making.start_free(&smallest_first);
    let found = making.cluster.placement(instance);
    let after = match mend {
        Some(mend) => mend(found)?,
        None => found,
    };
    let reached: Vec<u64> =
        required.iter().zip(&after.tasks).map(|(required, has)| *required.min(has)).collect();
    let (least, proof) = if instance.has_devices() {
        // What is proved is proved of tasks that know no devices.
        proved_without_devices(instance, before, &reached, rules, limit)?
    } else if reached == required {
        proof_of(&groups, priced, instance)
    } else {
        // The bound is about what was reached.
        let pieces = pieces_of(instance, &reached);
        let question = Question { required: &pieces, ..question };
        let least = question.least(&priced.values, &priced.gains);
        let priced = Priced { least, ..priced }.or(question.solve(&mut known, limit)?);
        proof_of(&groups, priced, instance)
    };
    let (steps, cost) = steps_between(instance, before, &after, rules)?;
    Ok(MovePlan { steps, after, required: reached, cost, lower_bound: least, proof })
}

/// The pieces of each kind that so many tasks of each user have.
fn pieces_of(instance: &Instance, tasks: &[u64]) -> Vec<u64> {
    let of = |k: usize| {
        let kind = instance.kind(KindId(k));
        tasks[kind.user().index().0].saturating_mul(kind.each())
    };
    (0..instance.kind_count()).map(of).collect()
}

/// The same bound where tasks are measured in amounts alone, which the checker proves again.
fn proved_without_devices(
    instance: &Instance,
    before: &Placement,
    required: &[u64],
    rules: &MoveRules,
    limit: &Deadline,
) -> Result<(u64, MovesProof), InstanceError> {
    let divided = instance.divided()?;
    let packing = Packing::new(&divided)?;
    let cluster = Cluster::new(&divided, &packing, before, rules)?;
    let (groups, required) = (cluster.groups(), pieces_of(&divided, required));
    let question = Question {
        packing: &packing,
        cluster: &cluster,
        groups: &groups,
        rules: &OfKinds::new(&divided, rules),
        required: &required,
        close: CLOSE,
        worth: WORTH.0,
    };
    let priced = question.solve(&mut Vec::new(), limit)?;
    Ok(proof_of(&groups, priced, instance))
}

/// The exchanges of the program, made whole.
fn made<'a>(
    question: &'a Question<'a>,
    priced: &Priced,
    known: &[(usize, Exchange)],
    limit: &Deadline,
) -> Result<Making<'a>, InstanceError> {
    let mut making = Making::new(question);
    if question.groups.len() <= DIVED {
        dive(&mut making, question, priced, known, &limit.after_part(DIVING))?;
    } else {
        making.follow(priced);
    }
    making.take_back();
    Ok(making)
}

fn better<'a>(one: Making<'a>, other: Making<'a>) -> Making<'a> {
    if other.state() < one.state() { other } else { one }
}

/// Whether so many tasks are missing that a placement made anew tells more than the present one.
fn is_far(cluster: &Cluster<'_>, required: &[u64]) -> bool {
    let missing = required.iter().zip(&cluster.totals).map(|(required, has)| required.saturating_sub(*has));
    cluster.servers.len() as u64 >= FEWEST && is_much(cluster, missing.fold(0, u64::saturating_add))
}

fn is_much(cluster: &Cluster<'_>, missing: u64) -> bool {
    missing.saturating_mul(MISSING_ONE_IN) > cluster.servers.len() as u64
}

/// A placement from nothing that reaches what is required, if the best level does.
fn placed_anew(
    instance: &Instance,
    required: &[u64],
    limit: &Deadline,
) -> Result<Option<Placement>, InstanceError> {
    let placement = match whole_task_bracket(instance, limit) {
        Ok(bracket) => bracket.placement,
        Err(InstanceError::OutOfTime) => return Ok(None),
        Err(error) => return Err(error),
    };
    let reaches = placement.tasks.iter().zip(required).all(|(has, required)| has >= required);
    Ok(reaches.then_some(placement))
}

/// What all steps cost at least, and why.
fn proof_of(groups: &[Vec<usize>], priced: Priced, instance: &Instance) -> (u64, MovesProof) {
    let mut server_gains = vec![0; instance.server_count() as usize];
    for (group, gain) in groups.iter().zip(&priced.gains) {
        group.iter().for_each(|server| server_gains[*server] = *gain);
    }
    let lower_bound = u64::try_from(priced.least.div_ceil(u128::from(UNIT))).unwrap_or(0);
    (lower_bound, MovesProof::Values { unit: UNIT, task_values: priced.values, server_gains })
}

/// A level of at least a part of the highest that whole tasks are not proved to be unable to have; none where no user can have tasks.
pub struct LevelTarget {
    /// No placement has a higher level.
    pub bound: Breakpoint,
    /// The level to reach.
    pub target: Breakpoint,
    /// Tasks of each user with which a placement has it: no more than all that it has and its limits let it have.
    pub required: Vec<u64>,
}

/// Bounds the level of whole tasks, and says what a part of it takes.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a backend that broke.
pub fn level_target(
    instance: &Instance,
    part: f64,
    limit: &Deadline,
) -> Result<Option<LevelTarget>, InstanceError> {
    let packing = Packing::new(instance)?;
    let breakpoints = Breakpoints::new(instance, &packing)?;
    let Some((upper, proof)) = first_bound(&packing, &breakpoints) else { return Ok(None) };
    let bound = bound::bound(&packing, &breakpoints, upper, proof, limit)?.upper;
    let level = part * breakpoints.nearly(bound);
    // The lowest level of all users' that is no lower: of the user with the smallest steps nearest to it.
    let users = (0..instance.user_count()).filter(|user| !packing.pieces(UserId(*user)).is_empty());
    let at = |user: usize| {
        let one = breakpoints.nearly(Breakpoint { user: UserId(user), tasks: 1 });
        let tasks = (level / one).ceil().max(0.0) as u64;
        Breakpoint { user: UserId(user), tasks: tasks.min(breakpoints.most(UserId(user))) }
    };
    let reaching = users.map(at).filter(|at| breakpoints.nearly(*at) >= level);
    let lowest = reaching.min_by(|a, b| breakpoints.compare(*a, *b));
    let target = lowest.filter(|lowest| breakpoints.compare(*lowest, bound).is_lt()).unwrap_or(bound);
    let required = breakpoints.enough(target);
    Ok(Some(LevelTarget { bound, target, required }))
}
