//! The offline optimum over server classes re-proved: tasks that fit, and prices that no allocation gets past.
//!
//! For any multipliers `y >= 0` of the users and prices `p >= 0` of the capacities, whatever runs:
//! `Σ_i y_i G_i <= Σ_tlr C_lr p_tlr + Σ_it d_it max(0, max_l (y_i g_il − Σ_r D_ir p_tlr))`, by adding up what each task
//! gives and takes; `d_it` tasks, but never more than the cluster holds alone. `g_il` is `δ_i ρ_il / w_i` where standings are
//! weighted dominant shares, and `ρ_il` over the work of all the user's tasks where they are welfare. With what the users
//! of lower levels and those who run everything have taken off, the others' multipliers divide what is left:
//! a bound on the smallest of their shares; and with the others at that, on each of them. Doubles are rounded outward.

use crate::exact::{Dyadic, Tally, excess};
use crate::fractions::tasks;
use crate::rounding::{Sum, at_least_nothing, down, largest, up};
use crate::task_levels::{is_there, level_of};
use crate::tolerance::{ROUNDINGS, TASK_FREEZING, TASK_TOLERANCE};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, ExactTasks, Instance, ResourceId, TaskDemands, TaskLevel, TaskOptimum};
use rayon::prelude::*;

/// Tasks over all quanta and the levels, as claimed.
#[derive(Clone, Copy, Debug)]
pub struct TaskClaim<'a> {
    /// Tasks of each demand above zero on each class, row-major `demands × classes`, in the order of the series.
    pub tasks: &'a [f64],
    /// The levels, lowest first.
    pub levels: &'a [TaskLevel],
    /// The same as fractions, where they are stated: then they are what is proved, without tolerance.
    pub exact: Option<&'a ExactTasks>,
}

impl<'a> From<&'a TaskOptimum> for TaskClaim<'a> {
    fn from(optimum: &'a TaskOptimum) -> Self {
        Self { tasks: &optimum.tasks, levels: &optimum.levels, exact: optimum.exact.as_ref() }
    }
}

/// What was found of a claim.
#[derive(Clone, Debug)]
pub struct TaskProof {
    /// Every property.
    pub verdicts: Vec<Verdict>,
    /// The largest part of its bound that a level lacks.
    pub relative_gap: f64,
}

impl TaskProof {
    /// Whether every property holds.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }
}

/// Checks everything that a claim states.
pub fn verify_task_optimum(demands: &TaskDemands<'_>, claim: TaskClaim<'_>) -> TaskProof {
    let expected = demands.series().entry_count() * demands.instance().classes().len();
    if claim.tasks.len() != expected {
        let mut entries = Worst::of("allocation", 0.0);
        entries.fail(|| format!("{} numbers of tasks are stated, {expected} are needed", claim.tasks.len()));
        return TaskProof { verdicts: vec![entries.verdict()], relative_gap: f64::INFINITY };
    }
    let mut verdicts = fits(demands, claim.tasks);
    if let Some(exact) = claim.exact {
        verdicts.extend(tasks::prove(demands, claim.tasks, claim.levels, exact));
        let holds = verdicts.iter().all(|verdict| verdict.holds);
        return TaskProof { verdicts, relative_gap: if holds { 0.0 } else { f64::INFINITY } };
    }
    let mut relative_gap = f64::INFINITY;
    if verdicts.iter().all(|verdict| verdict.holds) {
        let standings = demands.standings(claim.tasks);
        let (members, level_of) = members(demands, claim.levels, &standings);
        verdicts.push(members);
        if verdicts.iter().all(|verdict| verdict.holds) {
            let (gaps, freezing) = gaps(demands, claim.levels, &standings, &level_of);
            relative_gap = gaps.residual;
            verdicts.extend([gaps, freezing]);
        }
    }
    TaskProof { verdicts, relative_gap }
}

/// Whether tasks run only where they can, no more of them than are demanded, and every quantum holds them: exactly.
fn fits(demands: &TaskDemands<'_>, tasks: &[f64]) -> Vec<Verdict> {
    let (series, instance) = (demands.series(), demands.instance());
    let (classes, resources) = (instance.classes().len(), instance.resources().len());
    let mut within = Worst::of("allocation", 0.0);
    let mut capacity = Worst::of("capacity", 0.0);
    let mut rows = tasks.chunks_exact(classes);
    for quantum in 0..series.quantum_count() {
        let (users, wanted) = series.demands(quantum);
        let rows: Vec<&[f64]> = rows.by_ref().take(users.len()).collect();
        for ((user, wanted), row) in users.iter().zip(wanted).zip(&rows) {
            let of = demands.users()[*user as usize];
            let place = || {
                let (id, label) = (series.user_id(*user as usize).escape_debug(), series.label(quantum));
                format!("user {id} in quantum {label}")
            };
            let possible = |class: usize, tasks: f64| {
                tasks == 0.0 || tasks > 0.0 && tasks.is_finite() && instance.user(of).can_use(ClassId(class))
            };
            if let Some((class, tasks)) =
                row.iter().enumerate().find(|(class, tasks)| !possible(*class, **tasks))
            {
                within.fail(|| format!("{} has {tasks} tasks on class {class}", place()));
                continue;
            }
            let limit = u128::from(*wanted);
            let mut all = Tally::against(limit);
            row.iter().for_each(|tasks| all.add(Dyadic::of(*tasks), Dyadic::at_least(1)));
            if !all.fits() {
                let over = excess(row.iter().map(|tasks| (*tasks, 1)), limit);
                within.see(over, || format!("{} runs more than the {wanted} tasks it demands", place()));
            }
        }
        if !within.passes() {
            break;
        }
        for (class, r) in (0..classes * resources).map(|row| (row / resources, ResourceId(row % resources))) {
            let limit =
                instance.capacity_units(ClassId(class), r) * u128::from(instance.classes()[class].count);
            let terms = || {
                let rows = users.iter().zip(&rows);
                rows.map(|(user, row)| {
                    (row[class], instance.user(demands.users()[*user as usize]).demand_units(r))
                })
            };
            let mut used = Tally::against(limit);
            terms().for_each(|(tasks, units)| used.add(Dyadic::of(tasks), Dyadic::at_least(units)));
            if !used.fits() {
                capacity.see(excess(terms(), limit), || {
                    let (id, resource) = (&instance.classes()[class].id, &instance.resources()[r.0]);
                    let (id, resource) = (id.escape_debug(), resource.escape_debug());
                    format!("class {id} has not enough {resource} in quantum {}", series.label(quantum))
                });
            }
        }
    }
    vec![within.verdict(), capacity.verdict()]
}

/// The level of each user that has one; the others must have everything they demand, or no use for any class.
fn members(
    demands: &TaskDemands<'_>,
    levels: &[TaskLevel],
    standings: &[f64],
) -> (Verdict, Vec<Option<usize>>) {
    let mut worst = Worst::of("levels", TASK_TOLERANCE);
    let level_of = level_of(levels, standings.len(), &mut worst);
    for (user, most) in demands.most().into_iter().enumerate() {
        if level_of[user].is_some() && most == 0.0 {
            worst.fail(|| {
                let id = demands.series().user_id(user).escape_debug();
                format!("user {id} is on a level and can have nothing")
            });
        }
        if level_of[user].is_none() && most > 0.0 {
            worst.see(1.0 - standings[user] / most, || {
                let id = demands.series().user_id(user).escape_debug();
                format!("user {id} is on no level and has {} of the {most} it could", standings[user])
            });
        }
    }
    (worst.verdict(), level_of)
}

/// What each level's prices prove, held against what its users have and what is stated.
fn gaps(
    demands: &TaskDemands<'_>,
    levels: &[TaskLevel],
    standings: &[f64],
    level_of: &[Option<usize>],
) -> (Verdict, Verdict) {
    let mut worst = Worst::of("level-gaps", TASK_TOLERANCE);
    let mut freezing = Worst::of("freezing", TASK_FREEZING);
    let most = demands.most();
    let mut before = 0.0;
    for (k, level) in levels.iter().enumerate() {
        let usable = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite() && *x >= 0.0);
        let rows = demands.series().quantum_count()
            * demands.instance().classes().len()
            * demands.instance().resources().len();
        if level.multipliers.len() != standings.len()
            || level.prices.len() != rows
            || !usable(&level.multipliers)
            || !usable(&level.prices)
        {
            worst.fail(|| format!("levels[{k}]: {rows} prices and a multiplier a user are needed, all >= 0"));
            continue;
        }
        if !prices_only_what_there_is(demands.instance(), &level.prices) {
            worst.fail(|| format!("levels[{k}]: a price of what a class has none of"));
        }
        let keeps = |user: usize| match level_of[user] {
            Some(of) => of < k,
            None => standings[user] < level.value,
        };
        let (mut kept, mut scale) = (Sum::new(), Sum::new());
        let mut lowest = f64::INFINITY;
        for (user, y) in level.multipliers.iter().enumerate().filter(|(user, _)| most[*user] > 0.0) {
            if keeps(user) {
                kept.add(down(y * standings[user] * (1.0 - ROUNDINGS)));
            } else {
                scale.add(*y);
                lowest = lowest.min(standings[user]);
            }
        }
        let left = up(bound(demands, level) - kept.below());
        let bound = up(left / scale.below());
        let of_level = level.users.iter().map(|user| standings[*user as usize]);
        worst.compare(level.value, of_level.fold(f64::INFINITY, f64::min), || format!("levels[{k}].value"));
        worst.see((before - level.value) / before.max(f64::MIN_POSITIVE), || {
            format!("a level of {} follows one of {before}", level.value)
        });
        worst.see(1.0 - lowest / bound, || {
            format!("levels[{k}]: the smallest share is {lowest}, and {bound} is not excluded")
        });
        let open = at_least_nothing(up(left - down(lowest * scale.below())));
        for user in level.users.iter().map(|user| *user as usize) {
            let gain = open / level.multipliers[user] + (lowest - standings[user]);
            freezing.see(gain / standings[user].max(f64::MIN_POSITIVE), || {
                let id = demands.series().user_id(user).escape_debug();
                format!("levels[{k}]: user {id} has {} and could have {gain} more", standings[user])
            });
        }
        before = level.value;
    }
    (worst.verdict(), freezing.verdict())
}

/// Whether no class has a price of what it has none of.
fn prices_only_what_there_is(instance: &Instance, prices: &[f64]) -> bool {
    prices.iter().enumerate().all(|(row, price)| *price == 0.0 || is_there(instance, row))
}

/// The most that the weighted shares, each times its multiplier, can come to at a level's prices, rounded up.
fn bound(demands: &TaskDemands<'_>, level: &TaskLevel) -> f64 {
    let (series, instance) = (demands.series(), demands.instance());
    let (classes, resources) = (instance.classes().len(), instance.resources().len());
    let capacity: Vec<f64> = instance
        .classes()
        .iter()
        .flat_map(|class| class.capacity.iter().map(|capacity| class.count as f64 * capacity.to_f64()))
        .collect();
    let users: Vec<Reachable> =
        (0..series.user_count()).map(|user| Reachable::of(demands, user, &capacity)).collect();
    let rows = classes * resources;
    let of_quantum = |quantum: usize| {
        let prices = &level.prices[quantum * rows..][..rows];
        let mut sum = Sum::new();
        prices.iter().zip(&capacity).for_each(|(price, capacity)| {
            sum.add(price * capacity * (1.0 + ROUNDINGS));
        });
        let (demanders, wanted) = series.demands(quantum);
        for (user, wanted) in demanders.iter().zip(wanted) {
            let (reachable, y) = (&users[*user as usize], level.multipliers[*user as usize]);
            let demand = instance.user(demands.users()[*user as usize]).demand_doubles();
            let worth = largest(reachable.classes.iter().map(|(class, gain)| {
                let cost: f64 =
                    demand.iter().zip(&prices[class * resources..]).map(|(need, price)| need * price).sum();
                // What overflows proves nothing.
                if cost.is_infinite() {
                    f64::INFINITY
                } else {
                    y * gain * (1.0 + ROUNDINGS) - cost * (1.0 - ROUNDINGS)
                }
            }));
            let tasks = (*wanted as f64).min(reachable.alone);
            sum.add(if worth == 0.0 { 0.0 } else { worth * tasks * (1.0 + ROUNDINGS) });
        }
        sum
    };
    let parts: Vec<Sum> = (0..series.quantum_count()).into_par_iter().map(of_quantum).collect();
    let mut all = Sum::new();
    parts.iter().for_each(|part| all.merge(part));
    all.above()
}

/// Where a user's tasks can run and what one gives there; and, rounded up, how many run when nobody else's do.
struct Reachable {
    classes: Vec<(usize, f64)>,
    alone: f64,
}

impl Reachable {
    fn of(demands: &TaskDemands<'_>, user: usize, capacity: &[f64]) -> Self {
        let instance = demands.instance();
        let worth = demands.worth()[user];
        let user = instance.user(demands.users()[user]);
        let usable = (0..instance.classes().len()).filter(|class| user.can_use(ClassId(*class)));
        let classes: Vec<(usize, f64)> =
            usable.map(|class| (class, worth * user.rule().rate(ClassId(class)).to_f64())).collect();
        let demand = user.demand_doubles();
        let fits = |class: usize| {
            let parts = demand.iter().zip(&capacity[class * demand.len()..]).filter(|(need, _)| **need > 0.0);
            parts.map(|(need, capacity)| capacity / need).fold(f64::INFINITY, f64::min)
        };
        let alone: f64 = classes.iter().map(|(class, _)| fits(*class)).sum();
        let roundings = classes.len() as f64 * f64::EPSILON + ROUNDINGS;
        Self { classes, alone: alone * (1.0 + roundings) }
    }
}
