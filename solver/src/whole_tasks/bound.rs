//! The upper bound: patterns are added to the master program while its values find better ones, and every set of values
//! seen excludes some breakpoints.
//!
//! For any worth `z` of the tasks, a share needs tasks worth `Σ_i z_i k_i`, and the servers hold at most
//! `Σ_l N_l V_l(z)`, where `V_l` is any upper bound on what one server of class `l` can hold: so every bound is valid,
//! whether searches were cut short or not. The tasks that the largest share not yet excluded takes are put back into the
//! program, until servers filled with fractions of patterns can hold them.

use super::breakpoints::Breakpoints;
use super::divisible::divisible_values;
use super::knapsack::{Found, Search};
use super::master::{Master, Mix};
use super::packing::Packing;
use super::patterns::Pattern;
use super::table::Table;
use fairplan_instances::{Breakpoint, SolverError, UserId};
use hashbrown::HashSet;
use rayon::prelude::*;

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
    /// What a server of each class is worth.
    pub server_values: Vec<f64>,
}

/// What excludes a larger share, as [`fairplan_instances::WholeTaskProof`] but by shape and merged class.
pub(super) enum Proof {
    TaskLimit(UserId),
    Values { shapes: Vec<u64>, classes: Vec<u64> },
}

/// What the requirements are worth in whole numbers: values of single patterns stay far below 2^53.
const SCALE: f64 = (1u64 << 46) as f64;

/// Nodes of a search, at first and at most: longer ones are tried only where shorter ones find nothing.
const BUDGETS: (u64, u64) = (10_000, 1_000_000);

/// Where searches are cut short and so many rounds raise the mix by less than this part, searches get `LONG` nodes; where
/// that is slow again, searches of `LAST` nodes at the mean of the last values end it.
const SLOW: (usize, f64) = (20, 1e-5);
const LONG: u64 = 50_000;
const LAST: u64 = 20_000;

/// Where searches are cut short, a bound this close to what the patterns reach is good enough.
const CLOSE: f64 = 1e-6;

/// First contents that are looked for may be worth this part less than divisible tasks.
const SEED: f64 = 2e-3;
const SEED_BUDGET: u64 = 100_000;

/// Parts by which contents may be worth more that are not looked for: at first, and where nothing else is found.
const PARTS: (f64, f64) = (1e-3, 1e-8);

/// Values of a program are known to about this part.
const NOISE: f64 = 1e-9;

const MAX_ROUNDS: u64 = 20_000;

pub(super) fn bound(
    packing: &Packing,
    breakpoints: &Breakpoints,
    start: (Breakpoint, Proof),
    stop: &dyn Fn() -> bool,
) -> Result<Bound, SolverError> {
    let servers: Vec<u64> = packing.classes.iter().map(|class| class.servers).collect();
    let mut patterns: Vec<Pattern> = Vec::new();
    for (s, shape) in packing.shapes.iter().enumerate().filter(|(_, shape)| !shape.users.is_empty()) {
        let classes = (0..servers.len()).filter(|&l| shape.copies[l] > 0);
        patterns.extend(classes.map(|l| Pattern::of_one_shape(packing, l, s)));
    }
    let (upper, proof) = start;
    let mut bound = Bound {
        upper,
        proof,
        is_tight: false,
        truncated_searches: 0,
        rounds: 0,
        reached: Breakpoint { tasks: 0, ..upper },
        patterns,
        servers: Vec::new(),
        server_values: vec![1.0; servers.len()],
    };
    seed(packing, breakpoints, &mut bound);
    loop {
        let target = bound.upper;
        let need = need(packing, &breakpoints.required(target, false));
        // Nothing is needed for a share of 0.
        let is_reached = need.iter().all(|tasks| *tasks == 0)
            || raise(packing, breakpoints, &mut bound, &need, &servers, stop)?;
        if is_reached && breakpoints.compare(bound.upper, target).is_eq() {
            bound.is_tight = true;
            bound.reached = target;
            return Ok(bound);
        }
        if breakpoints.compare(bound.upper, target).is_eq() || stop() || bound.rounds >= MAX_ROUNDS {
            return Ok(bound);
        }
    }
}

/// The values of divisible tasks exclude much, and where servers hold many tasks they are nearly right for whole ones: the
/// first patterns are those that fill servers almost fully at these values.
fn seed(packing: &Packing, breakpoints: &Breakpoints, bound: &mut Bound) {
    let need = need(packing, &breakpoints.required(bound.upper, false));
    if need.iter().all(|tasks| *tasks == 0) {
        return;
    }
    // Only a start: without it the search takes longer, and what breaks the backend for good shows there.
    let Ok((values, server_values)) = divisible_values(packing, &need) else { return };
    let below: Vec<f64> = server_values.iter().map(|value| value * (1.0 - SEED)).collect();
    let effort = Effort { budget: SEED_BUDGET, part: 0.5 * SEED, kept: packing.shapes.len() };
    let found = price(packing, (&values, &below), effort, None);
    exclude(packing, breakpoints, bound, &values, &found);
    bound.patterns.extend(found.into_iter().flat_map(|found| found.patterns));
}

/// The tasks needed of each shape.
pub(super) fn need(packing: &Packing, required: &[u64]) -> Vec<u64> {
    packing.shapes.iter().map(|shape| shape.users.iter().map(|user| required[user.0]).sum()).collect()
}

/// Adds patterns until the requirements are met, or no pattern is missing. Returns whether they are met.
fn raise(
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &mut Bound,
    need: &[u64],
    servers: &[u64],
    stop: &dyn Fn() -> bool,
) -> Result<bool, SolverError> {
    let mut master = Master::new(need, servers, &vec![0.0; servers.len()], f64::INFINITY)?;
    let mut known: HashSet<Pattern> = HashSet::new();
    for pattern in bound.patterns.drain(..) {
        if known.insert(pattern.clone()) {
            master.add(pattern)?;
        }
    }
    let mut mixes: Vec<Mix> = Vec::new();
    let mut least = BUDGETS.0;
    let mut effort = Effort { budget: BUDGETS.0, part: PARTS.0, kept: 12 };
    let is_met = loop {
        let mix = master.solve()?;
        bound.rounds += 1;
        bound.servers.clone_from(&mix.servers);
        if mix.part >= 1.0 - NOISE {
            break true;
        }
        let found = price(packing, (&mix.values, &mix.server_values), effort, None);
        let (values, held) = exclude(packing, breakpoints, bound, &mix.values, &found);
        let truncated = found.iter().filter(|found| found.is_truncated).count() as u64;
        let mut added = false;
        for pattern in found.into_iter().flat_map(|found| found.patterns) {
            if known.insert(pattern.clone()) {
                master.add(pattern)?;
                added = true;
            }
        }
        // Once this program cannot exclude more, the next breakpoint's requirements say more.
        let worth: u128 = need.iter().zip(&values).map(|(n, v)| u128::from(*n) * u128::from(*v)).sum();
        let is_within = |part: f64| held as f64 <= mix.part * (1.0 + part) * worth as f64;
        let mut is_last = is_within(NOISE) || stop() || bound.rounds >= MAX_ROUNDS;
        let is_close = is_within(CLOSE);
        let before = mixes.len().checked_sub(SLOW.0).map(|before| mixes[before].part);
        let is_slow = before.is_some_and(|before| mix.part < before * (1.0 + SLOW.1));
        let is_stuck = is_slow && truncated > 0 && effort.part < PARTS.0;
        if is_stuck && least < LONG {
            least = LONG;
            effort.budget = LONG;
            mixes.clear();
        } else {
            is_last |= is_stuck;
        }
        if !is_last && added {
            effort.budget = least.max(effort.budget / 10);
        } else if !is_last && effort.part > PARTS.1 {
            effort.part = PARTS.1.max(effort.part / 10.0);
        } else if !is_last && truncated > 0 && effort.budget < BUDGETS.1 && !is_close {
            effort.budget *= 10;
        } else {
            bound.truncated_searches += truncated;
            if truncated > 0 && !is_close && !stop() {
                let (values, server_values) = mean(&mixes[mixes.len().saturating_sub(SLOW.0)..], &mix);
                let effort = Effort { budget: LAST, part: PARTS.1, kept: 12 };
                let found = price(packing, (&values, &server_values), effort, None);
                exclude(packing, breakpoints, bound, &values, &found);
            }
            let met = (mix.part * worth as f64) as u128;
            bound.reached = breakpoints.largest(bound.upper, &values, met);
            break false;
        }
        mixes.push(mix);
    };
    bound.patterns = std::mem::take(&mut master.patterns);
    Ok(is_met)
}

/// The mean of the values of some programs: the servers' worth is convex in the tasks', so bounds hold on between them,
/// and where the values swing the mean is closer to the best.
fn mean(before: &[Mix], last: &Mix) -> (Vec<f64>, Vec<f64>) {
    let mean = |of: &dyn Fn(&Mix) -> f64| {
        before.iter().chain([last]).map(of).sum::<f64>() / (before.len() + 1) as f64
    };
    let values = (0..last.values.len()).map(|s| mean(&|mix| mix.values[s])).collect();
    (values, (0..last.server_values.len()).map(|l| mean(&|mix| mix.server_values[l])).collect())
}

/// Lowers the bound to what tasks of these values leave. Returns the values as whole numbers and what servers hold.
fn exclude(
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &mut Bound,
    values: &[f64],
    found: &[Found],
) -> (Vec<u64>, u128) {
    let values: Vec<u64> = scaled(values).iter().map(|value| *value as u64).collect();
    let server_values: Vec<u64> = found.iter().map(|found| found.bound as u64).collect();
    let held = |server_values: &[u64]| -> u128 {
        let classes = packing.classes.iter().zip(server_values);
        classes.map(|(class, v)| u128::from(class.servers) * u128::from(*v)).sum()
    };
    let exactly = held(&server_values);
    // A little more is proved with less effort.
    let server_values: Vec<u64> = server_values.iter().map(|value| value + (value >> 28) + 1).collect();
    let held = held(&server_values);
    let largest = breakpoints.largest(bound.upper, &values, held);
    let beyond = breakpoints.required(largest, true);
    if breakpoints.compare(largest, bound.upper).is_lt()
        && breakpoints.beyond_limit(&beyond).is_none()
        && breakpoints.worth(&beyond, &values) > held
    {
        bound.upper = largest;
        bound.server_values = server_values.iter().map(|value| *value as f64 / SCALE).collect();
        bound.proof = Proof::Values { shapes: values.clone(), classes: server_values };
    }
    (values, exactly)
}

/// Values as whole numbers.
pub(super) fn scaled(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value * SCALE).round()).collect()
}

/// How hard contents are searched for.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Nodes of each search.
    pub budget: u64,
    /// Contents worth less than this part more are not looked for.
    pub part: f64,
    /// Contents of a class that are kept.
    pub kept: usize,
}

/// Searches every class for contents worth more than a server of it.
pub(super) fn price(
    packing: &Packing,
    (values, server_values): (&[f64], &[f64]),
    effort: Effort,
    limits: Option<&[u64]>,
) -> Vec<Found> {
    let values = scaled(values);
    let table = Table::new(packing, &values);
    let search = |class: usize| {
        let threshold = (server_values[class] * SCALE * (1.0 + NOISE)).ceil() + 1.0;
        let slack = threshold * effort.part;
        let Effort { budget, kept, .. } = effort;
        Search { packing, class, values: &values, limits, table: &table, threshold, slack, budget, kept }
            .run()
    };
    (0..packing.classes.len()).into_par_iter().map(search).collect()
}
