//! The upper bound: patterns are added to the master program while its values find better ones, and every set of values
//! seen excludes some breakpoints.
//!
//! For any worth `z` of the tasks, a share needs tasks worth `Σ_i z_i k_i`, and the servers hold at most
//! `Σ_l N_l V_l(z)`, where `V_l` is any upper bound on what one server of class `l` can hold: so every bound is valid,
//! whether searches were cut short or not. The tasks that the largest share not yet excluded takes are put back into the
//! program, until servers filled with fractions of patterns can hold them.

use super::breakpoints::Breakpoints;
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

/// Where searches are cut short, a bound this close to what the patterns reach is good enough.
const CLOSE: f64 = 1e-6;

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
    let mut budget = BUDGETS.0;
    let is_met = loop {
        let mix = master.solve()?;
        bound.rounds += 1;
        bound.servers.clone_from(&mix.servers);
        if mix.part >= 1.0 - NOISE {
            break true;
        }
        let found = price(packing, &mix, budget, None);
        let values: Vec<u64> = scaled(&mix.values).iter().map(|value| *value as u64).collect();
        let server_values: Vec<u64> = found.iter().map(|found| found.bound as u64).collect();
        let budget_of_all: u128 =
            servers.iter().zip(&server_values).map(|(n, v)| u128::from(*n) * u128::from(*v)).sum();
        let largest = breakpoints.largest(bound.upper, &values, budget_of_all);
        let beyond = breakpoints.required(largest, true);
        if breakpoints.compare(largest, bound.upper).is_lt()
            && breakpoints.beyond_limit(&beyond).is_none()
            && breakpoints.worth(&beyond, &values) > budget_of_all
        {
            bound.upper = largest;
            bound.server_values = server_values.iter().map(|value| *value as f64 / SCALE).collect();
            bound.proof = Proof::Values { shapes: values.clone(), classes: server_values };
        }
        let found_truncated = found.iter().filter(|found| found.is_truncated).count() as u64;
        let is_truncated = found_truncated > 0;
        let mut added = false;
        for pattern in found.into_iter().flat_map(|found| found.patterns) {
            if known.insert(pattern.clone()) {
                master.add(pattern)?;
                added = true;
            }
        }
        // Once this program cannot exclude more, the next breakpoint's requirements say more.
        let worth: u128 = need.iter().zip(&values).map(|(n, v)| u128::from(*n) * u128::from(*v)).sum();
        let is_within = |part: f64| budget_of_all as f64 <= mix.part * (1.0 + part) * worth as f64;
        let is_last = is_within(NOISE) || stop() || bound.rounds >= MAX_ROUNDS;
        if !is_last && added {
            budget = BUDGETS.0.max(budget / 10);
        } else if !is_last && is_truncated && budget < BUDGETS.1 && !is_within(CLOSE) {
            budget *= 10;
        } else {
            bound.truncated_searches += found_truncated;
            let met = (mix.part * worth as f64) as u128;
            bound.reached = breakpoints.largest(bound.upper, &values, met);
            break false;
        }
    };
    bound.patterns = std::mem::take(&mut master.patterns);
    Ok(is_met)
}

/// Values as whole numbers.
pub(super) fn scaled(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value * SCALE).round()).collect()
}

/// Searches every class for contents worth more than a server of it.
pub(super) fn price(packing: &Packing, mix: &Mix, budget: u64, limits: Option<&[u64]>) -> Vec<Found> {
    let values = scaled(&mix.values);
    let table = Table::new(packing, &values);
    let search = |class: usize| {
        let threshold = (mix.server_values[class] * SCALE * (1.0 + NOISE)).ceil() + 1.0;
        let search = Search { packing, class, values: &values, limits, table: &table, threshold, budget };
        search.run()
    };
    (0..packing.classes.len()).into_par_iter().map(search).collect()
}
