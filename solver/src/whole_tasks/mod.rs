//! The best any placement of whole tasks can do: how large the smallest weighted dominant share of those that still want more
//! can be, from both sides.
//!
//! Whoever can have no task is left out (`packing.rs`).
//! `bound.rs` excludes shares: the configuration program over what one server can hold (`master.rs`, `patterns.rs`), its
//! patterns found by a knapsack search (`knapsack.rs`, `table.rs`; `devices_alone.rs` says where there are none), at first at values near those of divisible tasks (`near.rs`), its values turned into the largest breakpoint that they
//! leave (`breakpoints.rs`), in whole gangs (`between.rs`), and then once more with limits and reserves as rows of the program
//! (`packing/limit_rows.rs`). `dive.rs` makes whole servers of the fractions, `repair.rs` moves tasks to make room for what
//! is left, `rebuild.rs` fills some servers anew for the last of it (`refill.rs` those that shall take most of a resource) or, where tasks are small, `gather.rs` gathers what all
//! servers lose, and `fill.rs` adds tasks until nothing fits. For a sum servers exchange what they hold (`exchange.rs`). Where shapes are very many, those that are alike share rows (`alike.rs`),
//! and servers are filled part by part (`large.rs`: `parts.rs`, `displace.rs`), or one by one where there is no time for that (`assemble.rs`, `least.rs`).

mod alike;
mod allocated;
mod assemble;
mod between;
mod bound;
mod breakpoints;
mod choices;
mod cuts;
mod devices_alone;
mod displace;
mod dive;
mod divisible;
mod exchange;
mod fill;
mod gather;
mod inside;
mod knapsack;
mod large;
mod least;
mod logarithms;
mod master;
mod moves;
mod near;
mod on_devices;
mod packing;
mod parts;
mod patterns;
mod proportional;
mod quantities;
mod rebuild;
mod refill;
mod repair;
mod rounds;
mod servers;
mod table;
mod worth;

#[cfg(test)]
mod tests;

pub use allocated::{allocated_bracket, allocated_by_prices, allocated_placement};
use bound::{Bound, Proof};
use breakpoints::{Breakpoints, Reached};
use dive::Dive;
use fairplan_instances::{
    Breakpoint, Deadline, Instance, InstanceError, Placement, WholeTaskBracket, WholeTaskProof,
    keeps_guarantees_of_users,
};
use gather::gather;
use master::Want;
pub use moves::{LevelTarget, Mend, fewest_moves, level_target};
pub(crate) use on_devices::OnDevices;
use packing::Packing;
pub use proportional::{proportional_bracket, proportional_joined, proportional_with_best_of};
use rebuild::{Values, rebuild};
use repair::Repair;

/// The paces of dives that are tried for the first target, and the targets below it that are tried while placements fall
/// short of them.
const PACES: [f64; 4] = [0.1, 0.03, 0.3, 0.01];
const LOWER_TARGETS: usize = 3;

/// The part of the time after which bounding ends, and before which it does without limits where there are any.
const BOUNDING: f64 = 0.8;
const WITHOUT_LIMITS: f64 = 0.45;

/// Where servers hold more tasks than this each, tasks are small enough to fill them almost fully.
const MANY: u64 = 10;

/// Brackets the highest level of whole tasks: the largest smallest weighted dominant share of those that still want more. Within a time limit bounding ends after a part
/// of it, placing after all of it, and the best bracket so far is returned. Bounds are valid at any time. Whom a limit holds does not
/// count, and what limits and reserves leave is counted; but the placement need not keep them: [`with_best_of`] takes others.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a backend that broke.
pub fn whole_task_bracket(instance: &Instance, limit: &Deadline) -> Result<WholeTaskBracket, InstanceError> {
    let packing = Packing::new(instance)?;
    let breakpoints = Breakpoints::new(instance, &packing)?;
    let without_tasks = packing.without_tasks();
    let Some((upper, proof)) = first_bound(&packing, &breakpoints) else {
        let servers = instance.server_count() as usize;
        let placement =
            Placement { tasks: vec![0; instance.user_count()], servers: vec![Vec::new(); servers] };
        return Ok(WholeTaskBracket {
            without_tasks,
            upper: None,
            proof: None,
            lower: None,
            placement,
            is_closed: true,
            is_tight: true,
            truncated_searches: 0,
            rounds: 0,
        });
    };
    let alone = fill::filled_alone(instance, &packing, &breakpoints, limit);
    let under_limits = packing.under_limits(instance);
    let part = if under_limits.is_some() { WITHOUT_LIMITS } else { BOUNDING };
    let bound = bound::bound(&packing, &breakpoints, upper, proof, &limit.after_part(part))?;
    let proved = match under_limits {
        Some(under) => Proved::under_limits(instance, &under, &bound, &limit.after_part(BOUNDING))?,
        None => None,
    };
    let (placement, lower) = place(instance, &packing, &breakpoints, &bound, alone, limit)?;
    let Proved { upper, proof, is_tight, truncated_searches, rounds } =
        proved.unwrap_or_else(|| Proved::of(&packing, bound));
    let is_closed = breakpoints.reaches(lower, upper);
    Ok(WholeTaskBracket {
        without_tasks,
        upper: Some(upper),
        proof: Some(proof),
        lower: Some(lower),
        placement,
        is_closed,
        is_tight: is_tight || is_closed,
        truncated_searches,
        rounds,
    })
}

/// What a bracket says of its bound.
struct Proved {
    upper: Breakpoint,
    proof: WholeTaskProof,
    is_tight: bool,
    truncated_searches: u64,
    rounds: u64,
}

impl Proved {
    fn of(packing: &Packing, bound: Bound) -> Self {
        Self {
            upper: bound.upper,
            proof: in_instance_order(packing, bound.proof),
            is_tight: bound.is_tight,
            truncated_searches: bound.truncated_searches,
            rounds: bound.rounds,
        }
    }

    /// The bound with limits and reserves as rows; `None` where they exclude no more than `without` them.
    fn under_limits(
        instance: &Instance,
        packing: &Packing,
        without: &Bound,
        stop: &Deadline,
    ) -> Result<Option<Self>, InstanceError> {
        let breakpoints = Breakpoints::new(instance, packing)?;
        let known = Proof::AllTasks(without.upper.user);
        let bound = bound::bound(packing, &breakpoints, without.upper, known, stop)?;
        if breakpoints.compare(bound.upper, without.upper).is_ge() {
            return Ok(None);
        }
        let rounds = bound.rounds + without.rounds;
        Ok(Some(Self { rounds, ..Self::of(packing, bound) }))
    }
}

/// The same bracket with the best of some placements, which keep all rules, instead of its own, which may break rules that bounds know
/// nothing of, limits among them; of those of one level the one in which fewest tasks wait. Those that keep what users are guaranteed come before all
/// others, for which bounds do not hold. Without placements it is left as it is.
///
/// # Errors
/// As [`whole_task_bracket`].
pub fn with_best_of(
    instance: &Instance,
    bracket: WholeTaskBracket,
    placements: Vec<Placement>,
) -> Result<WholeTaskBracket, InstanceError> {
    let (Some(upper), Some(proof)) = (bracket.upper, &bracket.proof) else { return Ok(bracket) };
    if placements.is_empty() {
        return Ok(bracket);
    }
    let breakpoints = Breakpoints::new(instance, &Packing::new(instance)?)?;
    let valued = placements.into_iter().map(|placement| {
        let nothing = Reached { all: false, at: Breakpoint { tasks: 0, ..upper } };
        let level = breakpoints.reached(instance, &placement).unwrap_or(nothing);
        let keeps = keeps_guarantees_of_users(instance, &placement.tasks);
        Valued { keeps, level, waiting: placement.all_waiting(instance), placement }
    });
    let is_better = |next: &Valued, best: &Valued| {
        let order = next.keeps.cmp(&best.keeps).then_with(|| next.level.all.cmp(&best.level.all));
        let order = order.then_with(|| breakpoints.compare(next.level.at, best.level.at));
        order.then_with(|| best.waiting.cmp(&next.waiting)).is_gt()
    };
    let better = |best: Valued, next: Valued| if is_better(&next, &best) { next } else { best };
    let Some(best) = valued.reduce(better) else { return Ok(bracket) };
    let (lower, placement) = (best.level, best.placement);
    let is_closed = best.keeps
        && match proof {
            // That all have all they may have closes it, and under limits nothing else does.
            WholeTaskProof::TaskLimit(_) if instance.has_limits() => lower.all,
            _ => breakpoints.reaches(lower.at, upper),
        };
    Ok(WholeTaskBracket { lower: Some(lower.at), placement, is_closed, ..bracket })
}

/// A placement, what it comes to, and whether it keeps what users are guaranteed.
struct Valued {
    keeps: bool,
    level: Reached,
    waiting: u64,
    placement: Placement,
}

/// The lower bound of two and the better placement; `None` where the second has neither.
///
/// # Errors
/// As [`whole_task_bracket`].
pub fn joined(
    instance: &Instance,
    best: &WholeTaskBracket,
    other: WholeTaskBracket,
) -> Result<Option<WholeTaskBracket>, InstanceError> {
    let (Some(upper), Some(lower)) = (best.upper, other.upper) else { return Ok(None) };
    let breakpoints = Breakpoints::new(instance, &Packing::new(instance)?)?;
    let is_lower = breakpoints.compare(lower, upper).is_lt();
    let placements = vec![best.placement.clone(), other.placement.clone()];
    let joined = with_best_of(instance, if is_lower { other } else { best.clone() }, placements)?;
    Ok((is_lower || joined.placement != best.placement).then_some(joined))
}

/// What every user could have at most if it were alone: a first valid bound. `None` if no user can have tasks.
fn first_bound(packing: &Packing, breakpoints: &Breakpoints) -> Option<(Breakpoint, Proof)> {
    let Reached { all, at: upper } = breakpoints.alone(|user| packing.most(user))?;
    let (alone, shape) = packing.alone(upper.user)?;
    let proof = if all {
        Proof::AllTasks(upper.user)
    } else if upper.tasks < alone {
        Proof::Alone(upper.user)
    } else {
        let shapes = (0..packing.shapes.len()).map(|other| u64::from(other == shape)).collect();
        Proof::Values { shapes, classes: packing.shapes[shape].copies.clone(), limits: Vec::new() }
    };
    Some((upper, proof))
}

/// The best of the one there is and a few more: the first aimed at what fractions of patterns reach, later ones a little lower.
fn place(
    instance: &Instance,
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &Bound,
    alone: Option<Placement>,
    stop: &Deadline,
) -> Result<(Placement, Breakpoint), InstanceError> {
    let value = |placement: &Placement| {
        breakpoints.value(&placement.tasks).unwrap_or(Breakpoint { tasks: 0, ..bound.upper })
    };
    let mut best = alone.map(|placement| {
        let value = value(&placement);
        (placement, value)
    });
    let most = packing.need(&breakpoints.required(bound.upper, false));
    let most = most.iter().fold(0, |sum: u64, tasks| sum.saturating_add(*tasks));
    let is_fine = most > MANY * instance.server_count();
    // Programs of so many shapes take too long, and exchanges of many small tasks are another matter.
    if packing.shapes.len() > large::MANY_SHAPES && !packing.has_rules && !is_fine {
        let servers = large::filled(packing, breakpoints, bound, stop)?;
        let placement = fill::fill(instance, packing, breakpoints, servers, stop);
        let value = value(&placement);
        let filled = (placement, value);
        let is_better = |other: &(Placement, Breakpoint)| breakpoints.compare(other.1, value).is_gt();
        return Ok(best.filter(is_better).unwrap_or(filled));
    }
    // Small tasks fill servers better than the patterns known.
    let mut target = if is_fine { bound.upper } else { bound.reached };
    let (servers, patterns) = (packing.servers(), dive::mixed(&bound.patterns, &bound.servers));
    let values = Values { patterns: &patterns, tasks: &bound.task_values, servers: &bound.server_values };
    for attempt in 0..PACES.len() + LOWER_TARGETS {
        let pace = PACES.get(attempt).copied().unwrap_or(PACES[0]);
        let mut needed = packing.need(&breakpoints.required(target, false));
        let start = Dive {
            servers: &servers,
            patterns: &patterns,
            server_values: &bound.server_values,
            cost: dive::COST,
            pace,
            wants: &|needed| vec![Want::all(needed, 1.0)],
        };
        let filled = dive::dive(packing, &mut needed, &start, stop)?;
        let mut repair = Repair::new(packing, filled, needed);
        // Exchanges of many small tasks do not look into devices.
        if !is_fine || packing.has_rules {
            rebuild(packing, &mut repair, &values, stop)?;
        } else if pace == PACES[0] {
            gather(packing, &mut repair, &values, stop)?;
        }
        repair.run(breakpoints, target, stop);
        let placement = fill::fill(instance, packing, breakpoints, repair.servers, stop);
        let value = value(&placement);
        if best.as_ref().is_none_or(|(_, best)| breakpoints.compare(value, *best).is_gt()) {
            best = Some((placement, value));
        }
        if attempt + 1 >= PACES.len() {
            let Some(next) = breakpoints.below(target) else { break };
            target = next;
        }
        // What was reached need not be aimed at.
        let best = best.as_ref().map_or(value, |(_, best)| *best);
        let reached = breakpoints.compare(target, best).is_le();
        // Nor what would hardly make the bracket narrower.
        let [upper, aim, value] = [bound.upper, bound.reached, best].map(|at| breakpoints.nearly(at));
        if reached || aim - value < upper - aim || stop.is_over() {
            break;
        }
    }
    best.ok_or_else(|| InstanceError::Unsupported("no user can have tasks".into()))
}

fn in_instance_order(packing: &Packing, proof: Proof) -> WholeTaskProof {
    match proof {
        Proof::AllTasks(user) => WholeTaskProof::TaskLimit(user),
        Proof::Alone(user) => WholeTaskProof::Alone(user),
        Proof::Values { shapes, classes, limits } => {
            let (task_values, server_values) = packing.in_instance_order(&shapes, &classes);
            let limit_values = packing.limits.in_instance_order(&limits);
            WholeTaskProof::Values { task_values, server_values, limit_values }
        }
    }
}
