//! DRF inside each server in fractions: the progressive filling of [`crate::per_server`] with nothing rounded.

use super::METHOD_OF_FILLING;
use super::number::Rational;
use super::program::{Program, task_share};
use super::result::{Held, allocation, text};
use super::sums::{LONGEST, RowSums};
use super::too_long;
use super::vertex::Stuck;
use fairplan_instances::{
    Certificate, ClassId, ExactPart, ExactSolution, ExactUser, Instance, InstanceError, LimitedBy, Objective,
    ResourceId, Solution, Statistics, Status, UserId,
};
use rayon::prelude::*;

/// The exact solution.
pub(super) fn solve(
    instance: &Instance,
    backend: &'static str,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Solution, InstanceError> {
    let classes = (0..instance.classes().len()).into_par_iter();
    let filled = classes.map(|l| fill(instance, ClassId(l), is_over)).collect::<Result<Vec<_>, Stuck>>();
    let filled = filled.map_err(|stuck| match stuck {
        Stuck::OutOfTime => InstanceError::OutOfTime,
        Stuck::TooLong | Stuck::Contradiction(_) => too_long(LONGEST),
    })?;
    let mut held: Vec<Held> =
        (0..instance.user_count()).map(|_| Held::nothing(LimitedBy::NoUsableClass)).collect();
    for (l, filled) in filled.iter().enumerate() {
        for (user, tasks) in &filled.tasks {
            let of = &mut held[*user];
            let rate = Rational::decimal(instance.user(UserId(*user)).rule().rate(ClassId(l)));
            of.work = &of.work + &(tasks * &rate);
            of.tasks = &of.tasks + tasks;
            of.limited_by = LimitedBy::Capacity;
            of.parts.push((0, l as u32, tasks.clone()));
        }
    }
    // Of every kind there is as much on a class, as whole tasks have.
    for (user, held) in instance.users().zip(&mut held) {
        let whole = std::mem::take(&mut held.parts);
        let of_kind = |kind: usize| whole.iter().map(move |(_, l, tasks)| (kind as u32, *l, tasks.clone()));
        held.parts = user.kind_range().flat_map(of_kind).collect();
    }
    let shares: Vec<Rational> =
        instance.users().zip(&held).map(|(user, held)| &held.work * &task_share(user)).collect();
    let value = shares.iter().min().cloned().unwrap_or_else(Rational::zero);
    if value.bits() > 2 * LONGEST {
        return Err(too_long(value.bits()));
    }
    let parts = held.iter().flat_map(|held| &held.parts);
    let exact = ExactSolution {
        value: value.in_lowest_terms().to_string(),
        levels: Vec::new(),
        users: (shares.iter().zip(&held))
            .map(|(share, held)| ExactUser {
                dominant_share: text(share, false),
                tasks: text(&held.tasks, false),
            })
            .collect(),
        parts: parts
            .map(|(kind, class, tasks)| ExactPart { kind: *kind, class: *class, tasks: text(tasks, true) })
            .collect(),
        // Nobody is in any: the objective knows none.
        groups: vec![text(&Rational::zero(), false); instance.groups().len()],
    };
    Ok(Solution {
        objective: Objective::DrfPerServer,
        backend,
        method: METHOD_OF_FILLING,
        status: Status::Optimal,
        limited_by: held.iter().map(|held| held.limited_by).collect(),
        allocation: allocation(&Program::new(instance, Objective::DrfPerServer), &held),
        exact: Some(Box::new(exact)),
        certificate: Certificate::Bottlenecks,
        guaranteed: Vec::new(),
        statistics: Statistics {
            iterations: filled.iter().map(|filled| filled.rounds).sum(),
            users_merged: instance.user_count(),
            classes_merged: instance.classes().len(),
            ..Statistics::default()
        },
    })
}

/// The servers of a class, filled.
struct Filled {
    /// The users that can run whole tasks there, with their tasks on all of its servers.
    tasks: Vec<(usize, Rational)>,
    /// How often a resource was used up.
    rounds: u64,
}

/// Fills the servers of a class, which are alike.
fn fill(instance: &Instance, class: ClassId, is_over: &dyn Fn() -> bool) -> Result<Filled, Stuck> {
    let m = instance.resources().len();
    let resources = || (0..m).map(ResourceId);
    let capacity: Vec<Rational> =
        resources().map(|r| Rational::whole(instance.capacity_units(class, r))).collect();
    let user = |i: usize| instance.user(UserId(i));
    let demand = |i: usize, r: ResourceId| Rational::whole(user(i).demand_units(r));
    // A user's tasks per unit of level: its weight over the dominant share of one task.
    let pace = |i: usize| {
        let needed = resources().filter(|r| user(i).demand_units(*r) > 0);
        let largest = needed.map(|r| &demand(i, r) / &capacity[r.0]).max().unwrap_or_else(Rational::one);
        &Rational::decimal(user(i).weight()) / &largest
    };
    let mut rising: Vec<(usize, Rational)> = (0..instance.user_count())
        .filter(|i| user(*i).can_run_whole_on(class))
        .map(|i| (i, pace(i)))
        .collect();
    let servers = Rational::whole(instance.classes()[class.0].count);
    let (mut tasks, mut left) = (Vec::with_capacity(rising.len()), capacity.clone());
    let (mut level, mut rounds) = (Rational::zero(), 0);
    while !rising.is_empty() {
        if is_over() {
            return Err(Stuck::OutOfTime);
        }
        let mut speed = RowSums::new(m);
        for (i, pace) in &rising {
            resources().for_each(|r| speed.add(r.0, &(pace * &demand(*i, r))));
        }
        let speed = speed.finish().ok_or(Stuck::TooLong)?;
        let going = || (0..m).filter(|r| speed[*r].is_positive());
        let rise = going().map(|r| &left[r] / &speed[r]).min();
        let rise = rise.ok_or(Stuck::Contradiction("users need nothing"))?.in_lowest_terms();
        level = &level + &rise;
        left.iter_mut().zip(&speed).for_each(|(left, speed)| *left = &*left - &(speed * &rise));
        let used_up: Vec<ResourceId> = going().filter(|r| left[*r].is_zero()).map(ResourceId).collect();
        let each = (&level * &servers).in_lowest_terms();
        let (stops, rises): (Vec<_>, Vec<_>) =
            rising.into_iter().partition(|(i, _)| used_up.iter().any(|r| user(*i).demand_units(*r) > 0));
        tasks.extend(stops.into_iter().map(|(i, pace)| (i, &pace * &each)));
        rising = rises;
        rounds += 1;
    }
    tasks.sort_by_key(|(i, _)| *i);
    Ok(Filled { tasks, rounds })
}
