//! The upper bound: patterns are added to the master program while its values find better ones, and every set of values
//! seen excludes some breakpoints.
//!
//! For any worth `z` of the pieces (a task without kinds is one), a share needs tasks worth `Σ_i n_i Σ_k each_ik z_ik`, and the servers hold at most
//! `Σ_l N_l V_l(z)`, where `V_l` is any upper bound on what one server of class `l` can hold: so every bound is valid,
//! whether searches were cut short or not. Where gangs are within a domain, the servers of one hold no more than whole gangs of that. Limits are
//! worth something beside servers, and a piece so much less where it counts in them (`packing/limit_rows.rs`). The tasks that the largest share not yet excluded takes are put back into the
//! program, until servers filled with fractions of patterns can hold them.

use super::alike::Alike;
use super::breakpoints::Breakpoints;
use super::divisible::{divisible_values, is_large, of_all_needed};
use super::knapsack::Found;
use super::large::{MANY_SHAPES, ROWS};
use super::master::{Master, Mix, Want};
use super::near::Near;
use super::packing::Packing;
use super::patterns::Pattern;
use super::rounds::{self, Effort, Goal, LENGTHS, Lengths, MAX_ROUNDS, held, price};
use super::worth::{SCALE, Worth, scaled, scaled_up};
use crate::tolerance::whole_tasks::NOISE;
use fairplan_instances::{Breakpoint, Deadline, InstanceError, UserId};

/// The bound, and what placing starts from.
pub(super) struct Bound {
    pub upper: Breakpoint,
    pub proof: Proof,
    /// Whether fractions of patterns reach it.
    pub is_tight: bool,
    pub truncated_searches: u64,
    pub rounds: u64,
    /// The largest share that fractions of the patterns known reach.
    pub reached: Breakpoint,
    /// The patterns known, and how many servers hold each in the last program.
    pub patterns: Vec<Pattern>,
    pub servers: Vec<f64>,
    /// What a task of each shape and a server of each class is worth.
    pub task_values: Vec<f64>,
    pub server_values: Vec<f64>,
}

/// What excludes a higher level, as [`fairplan_instances::WholeTaskProof`] but by shape and merged class.
pub(super) enum Proof {
    AllTasks(UserId),
    Alone(UserId),
    Values { shapes: Vec<u64>, classes: Vec<u64>, limits: Vec<u64> },
}

/// First contents that are looked for may be worth this part less than divisible tasks.
const SEED: f64 = 2e-3;
const SEED_BUDGET: u64 = 100_000;

/// Programs of more shapes begin near known values, with the patterns that are worth this part of a server at these.
const LARGE: usize = 200;
const WORTHWHILE: f64 = 0.98;

/// Shared rows make the bound looser, by more than longer searches would find.
const SHARED: Lengths = Lengths { most: 10_000, long: 10_000, parts: (1e-3, 1e-3), ..LENGTHS };

/// Whether shapes are so many that those which are alike share a row.
fn shares_rows(packing: &Packing) -> bool {
    packing.shapes.len() > MANY_SHAPES
}

pub(super) fn bound(
    packing: &Packing,
    breakpoints: &Breakpoints,
    upper: Breakpoint,
    proof: Proof,
    stop: &Deadline,
) -> Result<Bound, InstanceError> {
    let servers = packing.servers();
    // With one of every class programs of a thousand shapes take longer.
    let is_of_users = |s: &usize| !packing.shapes[*s].kinds.is_empty();
    let shapes = (0..packing.shapes.len()).filter(is_of_users);
    let patterns = shapes.filter_map(|s| Pattern::where_most_fit(packing, s)).collect();
    let mut bound = Bound {
        upper,
        proof,
        is_tight: false,
        truncated_searches: 0,
        rounds: 0,
        reached: Breakpoint { tasks: 0, ..upper },
        patterns,
        servers: Vec::new(),
        task_values: vec![0.0; packing.shapes.len()],
        server_values: vec![1.0; servers.len()],
    };
    seed(packing, breakpoints, &mut bound, stop);
    loop {
        let target = bound.upper;
        let need = packing.need(&breakpoints.required(target, false));
        // Nothing is needed for a share of 0.
        let is_reached = need.iter().all(|tasks| *tasks == 0)
            || raise(packing, breakpoints, &mut bound, &need, &servers, stop)?;
        if is_reached && breakpoints.compare(bound.upper, target).is_eq() {
            // What a mix of shared rows has is not yet what is needed of each shape.
            bound.is_tight = !shares_rows(packing);
            bound.reached = target;
            return Ok(bound);
        }
        if breakpoints.compare(bound.upper, target).is_eq() || stop.is_over() || bound.rounds >= MAX_ROUNDS {
            return Ok(bound);
        }
    }
}

/// The values of divisible tasks exclude much, and where servers hold many tasks they are nearly right for whole ones: the
/// first patterns are those that fill servers almost fully at these values.
fn seed(packing: &Packing, breakpoints: &Breakpoints, bound: &mut Bound, stop: &Deadline) {
    let need = packing.need(&breakpoints.required(bound.upper, false));
    if need.iter().all(|tasks| *tasks == 0) {
        return;
    }
    // Only a start: without it the search takes longer, and what breaks the backend for good shows there.
    let (values, server_values, limit_values) = if is_large(packing) {
        let Some(divisible) = of_all_needed(packing, &need, stop) else { return };
        (divisible.values, divisible.server_values, vec![0.0; packing.limits.len()])
    } else {
        match divisible_values(packing, &[Want::all(&need, f64::INFINITY)], stop) {
            Ok(Mix { values, server_values, limit_values, .. }) => (values, server_values, limit_values),
            Err(_) => return,
        }
    };
    let below: Vec<f64> = server_values.iter().map(|value| value * (1.0 - SEED)).collect();
    let worth = Worth { tasks: &values, servers: &below, limits: &limit_values };
    let effort = Effort { budget: SEED_BUDGET, part: 0.5 * SEED, kept: packing.shapes.len() };
    let found = price(packing, worth, effort, None, stop);
    exclude(packing, breakpoints, bound, worth, &found);
    bound.patterns.extend(found.into_iter().flat_map(|found| found.patterns));
}

/// Adds patterns until the requirements are met, or no pattern is missing. Returns whether they are met.
fn raise(
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &mut Bound,
    need: &[u64],
    servers: &[u64],
    stop: &Deadline,
) -> Result<bool, InstanceError> {
    let wants = [Want::all(need, f64::INFINITY)];
    let alike = match shares_rows(packing) {
        true => Alike::sharing(packing, need, &bound.task_values, ROWS),
        false => Alike::alone(packing),
    };
    let mut master = Master::of_alike(packing, alike, &wants, servers, &vec![0.0; servers.len()]);
    let before = std::mem::take(&mut bound.patterns);
    let near = near(need, bound);
    // What is far from being worth its server hardly ever becomes part of a mix.
    let is_worth = |p: &&Pattern| {
        let least = WORTHWHILE * bound.server_values[p.class];
        near.is_none() || p.tasks.len() == 1 || p.worth(&bound.task_values) >= least
    };
    let first = before.iter().filter(is_worth).cloned().collect();
    let mut smallest = SmallestShare { packing, breakpoints, need, bound };
    let ended = rounds::run(packing, &mut master, first, &mut smallest, near.as_ref(), stop)?;
    bound.rounds += ended.rounds;
    bound.truncated_searches += ended.truncated_searches;
    let mix = ended.mix;
    if !ended.is_met && mix.wanted[0] > 0.0 {
        let values = whole(&mix.values);
        let met = (mix.wanted[0] * worth(need, &values) as f64) as u128;
        bound.reached = breakpoints.largest(bound.upper, &values, met);
    }
    // What hardly leaves room for others is worth more than divisible, which placing has to know even where no level is excluded by it.
    if shares_rows(packing) && mix.wanted[0] > 0.0 && mix.traded.is_empty() {
        bound.task_values.clone_from(&mix.values);
        bound.server_values.clone_from(&mix.server_values);
    }
    // Where time was over before there was a mix of servers alone, the last program's is what placing starts from.
    let is_open = mix.wanted[0] == 0.0 || !mix.traded.is_empty();
    (bound.patterns, bound.servers) = match is_open && !bound.servers.is_empty() {
        true => (before, std::mem::take(&mut bound.servers)),
        false => (std::mem::take(&mut master.patterns), mix.servers),
    };
    Ok(ended.is_met)
}

/// What tasks are worth as far as it is known, where the program is large enough to need it.
fn near(need: &[u64], bound: &Bound) -> Option<Near> {
    let all = worth(need, &whole(&bound.task_values)) as f64 / SCALE;
    (all > 0.0 && need.len() > LARGE).then(|| Near::of(need, &bound.task_values, all))
}

/// The goal of the program: the largest part of what is needed.
struct SmallestShare<'a> {
    packing: &'a Packing,
    breakpoints: &'a Breakpoints,
    need: &'a [u64],
    bound: &'a mut Bound,
}

impl Goal for SmallestShare<'_> {
    fn is_met(&self, mix: &Mix) -> bool {
        mix.wanted[0] >= 1.0 - NOISE
    }

    fn reach(&self, mix: &Mix) -> f64 {
        mix.wanted[0].ln()
    }

    fn lengths(&self) -> Lengths {
        if shares_rows(self.packing) { SHARED } else { LENGTHS }
    }

    fn exclude(&mut self, mix: &Mix, values: Worth<'_>, found: &[Found]) -> f64 {
        exclude(self.packing, self.breakpoints, self.bound, values, found);
        excess(self.packing, self.need, mix, values, found)
    }
}

/// How far what servers and limits are worth is above what a mix has of all that is needed.
pub(super) fn excess(packing: &Packing, need: &[u64], mix: &Mix, values: Worth<'_>, found: &[Found]) -> f64 {
    let classes = packing.classes.iter().zip(found);
    let held: f64 = classes.map(|(class, found)| class.servers as f64 * found.bound).sum();
    let of_limits: f64 = scaled_up(values.limits).iter().map(|worth| *worth as f64).sum();
    (held + of_limits) / (mix.wanted[0] * worth(need, &whole(values.tasks)) as f64) - 1.0
}

fn worth(need: &[u64], values: &[u64]) -> u128 {
    need.iter().zip(values).map(|(n, v)| u128::from(*n) * u128::from(*v)).sum()
}

fn whole(values: &[f64]) -> Vec<u64> {
    scaled(values).iter().map(|value| *value as u64).collect()
}

/// Lowers the bound to what tasks of these values leave.
fn exclude(
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &mut Bound,
    worth: Worth<'_>,
    found: &[Found],
) {
    let (values, limits) = (whole(worth.tasks), scaled_up(worth.limits));
    let (server_values, held) = held(packing, &values, found);
    let held = held + limits.iter().map(|worth| u128::from(*worth)).sum::<u128>();
    let largest = breakpoints.largest(bound.upper, &values, held);
    let beyond = breakpoints.required(largest, true);
    if breakpoints.compare(largest, bound.upper).is_lt() && breakpoints.worth(&beyond, &values) > held {
        bound.upper = largest;
        let unscaled = |values: &[u64]| values.iter().map(|value| *value as f64 / SCALE).collect();
        (bound.task_values, bound.server_values) = (unscaled(&values), unscaled(&server_values));
        bound.proof = Proof::Values { shapes: values, classes: server_values, limits };
    }
}
