//! The fewest moves from a placement to one in which every user has as many tasks as required: where tasks go (`program.rs`,
//! `whole.rs`), with a proved lower bound on what that costs.
//!
//! A task that runs and does not run where it did has left its server: it moved, or stopped. So steps to a placement cost at least
//! what has left. The least that can leave is a program over exchanges on single servers (`search.rs`), of which column generation
//! finds those that matter; any prices bound it. In which order steps can be made is another question ([`crate::steps`]).

mod cluster;
mod pool;
mod program;
mod search;
mod whole;

use super::bound;
use super::breakpoints::Breakpoints;
use super::first_bound;
use super::packing::Packing;
use crate::steps::steps_between;
use cluster::Cluster;
use fairplan_instances::{
    Breakpoint, Deadline, Instance, MovePlan, MoveRules, MovesProof, Placement, SolverError, UserId,
};
use program::{CLOSE, Priced, Question, UNIT};
use whole::Making;

/// The part of the time for the program, and then the part of what is left for making whole exchanges; the rest is for the bound
/// where less than all was reached.
const PRICING: f64 = 0.6;
const MAKING_WHOLE: f64 = 0.7;

/// Finds steps after which every user has as many tasks as `required`, or as near to that as was found. Users may lose tasks that
/// they have beyond that.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a placement that breaks a rule; a backend that broke.
pub fn fewest_moves(
    instance: &Instance,
    before: &Placement,
    required: &[u64],
    rules: &MoveRules,
    limit: &Deadline,
) -> Result<MovePlan, SolverError> {
    let packing = Packing::new(instance)?;
    let cluster = Cluster::new(instance, &packing, before, rules)?;
    let groups = cluster.groups();
    let question =
        Question { packing: &packing, cluster: &cluster, groups: &groups, rules, required, close: CLOSE };
    let mut known = Vec::new();
    let priced = question.solve(&mut known, &limit.after_part(PRICING))?;
    let mut making = Making::new(&question);
    making.follow(&priced);
    making.take_back();
    let making_whole = limit.after_part(MAKING_WHOLE);
    let size = |user: &u32| instance.user(UserId(*user as usize)).task_share();
    let mut smallest_first: Vec<u32> = (0..instance.user_count() as u32).collect();
    smallest_first.sort_by(|a, b| size(a).total_cmp(&size(b)));
    making.complete(&priced, &smallest_first, &making_whole);
    making.take_back();
    making.spread(&making_whole);
    making.start_free(&smallest_first);
    let after = making.cluster.placement();
    let reached: Vec<u64> =
        required.iter().zip(&after.tasks).map(|(required, has)| *required.min(has)).collect();
    let priced = if reached == required {
        priced
    } else {
        // The bound is about what was reached.
        Question { required: &reached, ..question }.solve(&mut known, limit)?
    };
    let steps = steps_between(instance, before, &after, rules);
    Ok(with_bound(&groups, reached, after, steps, priced, instance))
}

fn with_bound(
    groups: &[Vec<usize>],
    required: Vec<u64>,
    after: Placement,
    (steps, cost): (Vec<fairplan_instances::Step>, u64),
    priced: Priced,
    instance: &Instance,
) -> MovePlan {
    let mut server_gains = vec![0; instance.server_count() as usize];
    for (group, gain) in groups.iter().zip(&priced.gains) {
        group.iter().for_each(|server| server_gains[*server] = *gain);
    }
    let lower_bound = u64::try_from(priced.least.div_ceil(u128::from(UNIT))).unwrap_or(0);
    let proof = MovesProof::Values { unit: UNIT, task_values: priced.values, server_gains };
    MovePlan { steps, after, required, cost, lower_bound, proof }
}

/// A level of at least a part of the highest that whole tasks are not proved to be unable to have; none where no user can have tasks.
pub struct LevelTarget {
    /// No placement has a higher level.
    pub bound: Breakpoint,
    /// The level to reach.
    pub target: Breakpoint,
    /// Tasks of each user for it.
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
) -> Result<Option<LevelTarget>, SolverError> {
    let packing = Packing::new(instance)?;
    let breakpoints = Breakpoints::new(instance, &packing)?;
    let Some((upper, proof)) = first_bound(instance, &packing, &breakpoints) else { return Ok(None) };
    let bound = bound::bound(&packing, &breakpoints, upper, proof, limit)?.upper;
    let level = part * breakpoints.nearly(bound);
    // The lowest level of all users' that is no lower: of the user with the smallest steps nearest to it.
    let users = (0..instance.user_count()).filter(|user| packing.shape_of[*user].is_some());
    let at = |user: usize| {
        let one = breakpoints.nearly(Breakpoint { user: UserId(user), tasks: 1 });
        let tasks = (level / one).ceil().max(0.0) as u64;
        Breakpoint {
            user: UserId(user),
            tasks: tasks.min(instance.user(UserId(user)).tasks().unwrap_or(u64::MAX)),
        }
    };
    let reaching = users.map(at).filter(|at| breakpoints.nearly(*at) >= level);
    let lowest = reaching.min_by(|a, b| breakpoints.compare(*a, *b));
    let target = lowest.filter(|lowest| breakpoints.compare(*lowest, bound).is_lt()).unwrap_or(bound);
    let required = breakpoints.required(target, false);
    Ok(Some(LevelTarget { bound, target, required }))
}
