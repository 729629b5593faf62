//! What production schedulers' rules promise, beside exact DRFH.

mod tree;

use crate::solve::{AUTO, Solved, hashed, solver};
use crate::{Control, Error};
use fairplan_analysis::Entitlements;
use fairplan_exports::Measure;
use fairplan_instances::Headline;
use fairplan_instances::{Decimal, Draft, Entry, Instance, Objective, Owner, Quota, Solver, UserId};
use fairplan_solver::{PooledQuota, SCHEDULER_RULES, SchedulerRule};
use std::collections::HashMap;

/// Nominal quotas for Kueue: what each user of an instance has of each of its resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Quotas(Vec<Vec<f64>>);

impl Quotas {
    /// Those that an instance of `queues` states: the guarantee of the user or group of the same name; whoever is not there or
    /// is guaranteed nothing has none.
    ///
    /// ```
    /// use fairplan::{Quotas, generate};
    ///
    /// let instance = generate::drfh_fig1()?;
    /// assert!(Quotas::new(&instance, &instance).is_err(), "nobody is guaranteed anything");
    /// # Ok::<(), fairplan::Error>(())
    /// ```
    pub fn new(instance: &Instance, queues: &Instance) -> Result<Self, Error> {
        let column = |name: &String| queues.resources().iter().position(|other| other == name);
        let columns: Vec<Option<usize>> = instance.resources().iter().map(column).collect();
        if columns.iter().all(Option::is_none) {
            let (known, wanted) = (queues.resources().join(", "), instance.resources().join(", "));
            return Err(Error::input(format!("has quotas of {known}, but the resources are {wanted}")));
        }
        let name = |owner: &Owner| match owner {
            Owner::Group(group) => queues.groups()[group.0].id.as_str(),
            Owner::User(user) => queues.user(*user).id(),
        };
        let stated: HashMap<&str, &Quota> =
            queues.quotas().iter().map(|(owner, quota)| (name(owner), quota)).collect();
        let quota = |id: &str| -> Vec<f64> {
            let of = |column: &Option<usize>| {
                let of = stated.get(id)?.guaranteed().filter(|sure| Some(sure.resource.0) == *column);
                Some(of.map(|sure| sure.amount.to_f64()).sum())
            };
            columns.iter().map(|column| of(column).unwrap_or(0.0)).collect()
        };
        let quotas: Vec<Vec<f64>> = instance.users().map(|user| quota(user.id())).collect();
        if quotas.iter().flatten().all(|quota| *quota == 0.0) {
            let problem = "guarantees nothing to any of the users; queues and users must have the same ids";
            return Err(Error::input(problem));
        }
        Ok(Self(quotas))
    }
}

/// Computes what the rules of YARN, Kueue and Volcano and hierarchical DRF entitle users to, which see all servers as one pool, and the largest part
/// of their promises that the servers can keep. In groups, and with guarantees and limits, the tree is filled from the top down by each
/// rule, right to about a thousandth; users with kinds of tasks count with what a task needs of all kinds.
///
/// ```
/// use fairplan::{Control, entitlements, generate};
///
/// let entitlements = entitlements(&generate::drfh_fig1()?, None, &Control::none())?;
/// assert_eq!(entitlements.rules[0].name, "yarn-drf");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn entitlements(
    instance: &Instance,
    quotas: Option<&Quotas>,
    control: &Control<'_>,
) -> Result<Entitlements, Error> {
    let solver = solver(AUTO, &control.deadline)?;
    let quotas = quotas.map(|quotas| quotas.0.as_slice());
    let (found, sha256) = hashed(instance, || {
        let solved = Solved::new(instance, &*solver, Objective::Drfh, control)?.certified()?;
        let outcome = |rule: &Entry<SchedulerRule>| {
            let tasks = match measure(rule.make).filter(|_| is_tree(instance)) {
                Some(measure) => {
                    let allocation = &solved.solution.allocation;
                    let near: Vec<f64> =
                        (0..instance.user_count()).map(|user| allocation.tasks(UserId(user))).collect();
                    let quotas = quotas.filter(|_| measure == Measure::Borrowed);
                    tree::entitled(instance, measure, &near, quotas)
                }
                None => fairplan_solver::entitlements(instance, rule.make, quotas),
            };
            let kept = kept(instance, &tasks, &*solver, control)?;
            Ok((rule.name, tasks, kept))
        };
        let rules = SCHEDULER_RULES.entries().iter().map(outcome).collect::<Result<Vec<_>, Error>>()?;
        Ok((solved, rules))
    })?;
    let (solved, rules) = found;
    tell_of_uncounted(instance, control);
    Ok(Entitlements::new(instance, &sha256, &solved.solution, &rules))
}

/// Says whose limits over some classes no rule counts: those who may run on others too may have more there.
fn tell_of_uncounted(instance: &Instance, control: &Control<'_>) {
    let is_uncounted = |(owner, quota): &&(Owner, Quota)| {
        let of_some = quota.limited().filter(|most| most.classes.is_some());
        let resources: Vec<usize> = of_some.map(|most| most.resource.0).collect();
        !resources.is_empty() && {
            let counted = PooledQuota::of(instance, *owner).limit;
            resources.into_iter().any(|resource| counted[resource].is_none())
        }
    };
    let mut owners = instance.quotas().iter().filter(is_uncounted).map(|(owner, _)| instance.name_of(*owner));
    let Some(first) = owners.next() else { return };
    let others = match owners.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    control.note(&format!(
        "these rules know no classes: limits over some of those that its tasks may run on are not counted for {first}{others}, so that more may be \
         promised than it may have"
    ));
}

/// Whether users do not just stand side by side.
fn is_tree(instance: &Instance) -> bool {
    instance.has_groups() || !instance.quotas().is_empty()
}

/// By what a rule decides who is next, where that is all there is to it.
fn measure(rule: SchedulerRule) -> Option<Measure> {
    match rule {
        SchedulerRule::YarnDrf => Some(Measure::Dominant),
        SchedulerRule::HierarchicalDrf => Some(Measure::Scaled),
        SchedulerRule::KueueDominantShare => Some(Measure::Borrowed),
        SchedulerRule::VolcanoProportion => None,
    }
}

/// The largest part of `tasks` that the servers can give to all users at once: the smallest weighted share where what is
/// promised is the weight.
fn kept(
    instance: &Instance,
    tasks: &[f64],
    solver: &dyn Solver,
    control: &Control<'_>,
) -> Result<f64, Error> {
    let mut draft = Draft::from(instance);
    // Rules keep guarantees and limits themselves; the servers know only whose tasks run where.
    draft.groups.clear();
    draft.quotas.clear();
    draft.users.iter_mut().for_each(|user| user.group = None);
    let mut promised = instance.users().zip(tasks).map(|(user, tasks)| tasks * user.task_share());
    draft.users.retain_mut(|user| {
        let promise = promised.next().unwrap_or(0.0);
        match Decimal::from_f64(promise) {
            Ok(weight) if !weight.is_zero() => {
                user.weight = weight;
                true
            }
            // Nothing is promised, and that can be kept.
            _ => false,
        }
    });
    if draft.users.is_empty() {
        return Ok(1.0);
    }
    let promises = draft.build()?;
    let solved = Solved::new(&promises, solver, Objective::Drfh, control)?.certified()?;
    Ok(Headline::new(&promises, &solved.solution).value.min(1.0))
}
