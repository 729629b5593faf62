//! Rounds of column generation: the master program says what tasks are worth, searches find what a server could hold that is
//! worth more than it, and both go on until nothing is missing, or hardly anything.

use super::devices_alone;
use super::knapsack::{Found, Search};
use super::master::{Master, Mix};
use super::near::{self, Near};
use super::packing::Packing;
use super::patterns::Pattern;
use super::table::Table;
use super::worth::{SCALE, Worth, scaled, scaled_up};
use crate::tolerance::whole_tasks::{CLOSE, NOISE, SLOW};
use fairplan_instances::{Deadline, InstanceError};
use hashbrown::HashSet;
use rayon::prelude::*;

/// What a master program aims at.
pub(super) trait Goal {
    /// Whether a mix is all that is wanted.
    fn is_met(&self, mix: &Mix) -> bool;
    /// What a mix reaches, as the logarithm of a share.
    fn reach(&self, mix: &Mix) -> f64;
    /// How long searches may be.
    fn lengths(&self) -> Lengths {
        LENGTHS
    }
    /// Learns the most that servers can hold at these values. Returns how far that is above what the mix reaches.
    fn exclude(&mut self, mix: &Mix, worth: Worth<'_>, found: &[Found]) -> f64;
}

/// Nodes of searches, and how close they look.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    /// At first and at most: longer ones are tried only where shorter ones find nothing.
    pub first: u64,
    pub most: u64,
    /// Where searches are cut short and the mix hardly rises ([`SLOW`]), searches get `long`; where that is slow again, searches of
    /// `last` nodes, at the mean of the last values, end it.
    pub long: u64,
    pub last: u64,
    /// Parts by which contents may be worth more that are not looked for: at first, and where nothing else is found.
    pub parts: (f64, f64),
    /// Contents of a class that are kept in a round.
    pub kept: usize,
}

/// How long searches are unless a goal says otherwise.
pub(super) const LENGTHS: Lengths =
    Lengths { first: 10_000, most: 1_000_000, long: 50_000, last: 20_000, parts: (1e-3, 1e-8), kept: 12 };

/// Where the rounds ended.
pub(super) struct Ended {
    pub mix: Mix,
    pub is_met: bool,
    /// Searches of the last round that were cut short.
    pub truncated_searches: u64,
    pub rounds: u64,
}

/// Rounds after which a program is left as it is.
pub(super) const MAX_ROUNDS: u64 = 20_000;

/// The patterns of a program, none of them twice.
pub(super) struct KnownPatterns {
    patterns: HashSet<Pattern>,
    /// Those that it begins with, until they are added.
    first: Vec<Pattern>,
}

impl KnownPatterns {
    /// Adds those that a program begins with, once.
    pub fn add_first(&mut self, packing: &Packing, master: &mut Master) {
        for pattern in std::mem::take(&mut self.first) {
            self.add(packing, master, &pattern);
        }
    }

    /// Whether a pattern is new.
    pub fn add(&mut self, packing: &Packing, master: &mut Master, pattern: &Pattern) -> bool {
        let is_new = self.patterns.insert(pattern.clone());
        if is_new {
            master.add(packing, pattern.clone());
        }
        is_new
    }
}

/// Adds patterns to the program, which has `first` ones, until the goal is met or no pattern is missing; at first such as are worth most near
/// what tasks are known to be worth, if anything is.
pub(super) fn run(
    packing: &Packing,
    master: &mut Master,
    first: Vec<Pattern>,
    goal: &mut dyn Goal,
    near: Option<&Near>,
    stop: &Deadline,
) -> Result<Ended, InstanceError> {
    let mut known = KnownPatterns { patterns: HashSet::new(), first };
    let (mut rounds, nearest) = match near {
        Some(near) => near::run(packing, master, &mut known, goal, near, stop)?,
        None => (0, None),
    };
    known.add_first(packing, master);
    let mut mixes: Vec<Mix> = Vec::new();
    let lengths = goal.lengths();
    let mut least = lengths.first;
    let mut effort = Effort { budget: lengths.first, part: lengths.parts.0, kept: lengths.kept };
    loop {
        let Some(mix) = master.solve(stop)? else {
            let mix = mixes.pop().or(nearest).unwrap_or_else(|| master.nothing());
            return Ok(Ended { mix, is_met: false, truncated_searches: 0, rounds });
        };
        rounds += 1;
        if goal.is_met(&mix) {
            return Ok(Ended { mix, is_met: true, truncated_searches: 0, rounds });
        }
        let found = price(packing, mix.worth(), effort, None, stop);
        let excess = goal.exclude(&mix, mix.worth(), &found);
        let truncated = found.iter().filter(|found| found.is_truncated).count() as u64;
        let mut added = false;
        for pattern in found.into_iter().flat_map(|found| found.patterns) {
            added |= known.add(packing, master, &pattern);
        }
        // Once this program cannot exclude more, another one may.
        let mut is_last = excess <= NOISE || stop.is_over() || rounds >= MAX_ROUNDS;
        let is_close = excess <= CLOSE;
        let before = mixes.len().checked_sub(SLOW.0).map(|before| goal.reach(&mixes[before]));
        let is_slow = before.is_some_and(|before| goal.reach(&mix) < before + SLOW.1);
        let is_stuck = is_slow && truncated > 0 && effort.part < lengths.parts.0;
        if is_stuck && least < lengths.long {
            least = lengths.long;
            effort.budget = lengths.long;
            mixes.clear();
        } else {
            is_last |= is_stuck;
        }
        if !is_last && added {
            effort.budget = least.max(effort.budget / 10);
        } else if !is_last && effort.part > lengths.parts.1 {
            effort.part = lengths.parts.1.max(effort.part / 10.0);
        } else if !is_last && truncated > 0 && effort.budget < lengths.most && !is_close {
            effort.budget = lengths.most.min(effort.budget * 10);
        } else {
            if truncated > 0 && !is_close && !stop.is_over() {
                let [tasks, servers, limits] = mean(&mixes[mixes.len().saturating_sub(SLOW.0)..], &mix);
                let worth = Worth { tasks: &tasks, servers: &servers, limits: &limits };
                let effort = Effort { budget: lengths.last, part: lengths.parts.1, kept: lengths.kept };
                let found = price(packing, worth, effort, None, stop);
                goal.exclude(&mix, worth, &found);
            }
            return Ok(Ended { mix, is_met: false, truncated_searches: truncated, rounds });
        }
        mixes.push(mix);
    }
}

/// The mean of the values of some programs: the servers' worth is convex in the tasks', so bounds hold on between them,
/// and where the values swing the mean is closer to the best.
fn mean(before: &[Mix], last: &Mix) -> [Vec<f64>; 3] {
    let of = |values: fn(&Mix) -> &[f64]| -> Vec<f64> {
        let sum = |at: usize| before.iter().chain([last]).map(|mix| values(mix)[at]).sum::<f64>();
        (0..values(last).len()).map(|at| sum(at) / (before.len() + 1) as f64).collect()
    };
    [of(|mix| &mix.values), of(|mix| &mix.server_values), of(|mix| &mix.limit_values)]
}

/// What was found of the classes' servers as whole numbers, and of all servers together at these values of shapes. A little more is
/// proved with less effort.
pub(super) fn held(packing: &Packing, values: &[u64], found: &[Found]) -> (Vec<u64>, u128) {
    let more = |found: &Found| (found.bound as u64).saturating_add(((found.bound as u64) >> 28) + 1);
    let server_values: Vec<u64> = found.iter().map(more).collect();
    let held = packing.between.held(&packing.servers(), values, &server_values);
    (server_values, held)
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

/// Searches every class for contents worth more than a server of it. What is not searched for any more when time is over
/// still bounds the value.
pub(super) fn price(
    packing: &Packing,
    worth: Worth<'_>,
    effort: Effort,
    limits: Option<&[u64]>,
    stop: &Deadline,
) -> Vec<Found> {
    let (values, limit_values) = (scaled(worth.tasks), scaled_up(worth.limits));
    let table = |values: &[f64]| if stop.is_over() { None } else { Some(Table::new(packing, values)) };
    // Where limits are worth something, what is left of a task's worth is not the same on all classes.
    let is_same = limit_values.iter().all(|worth| *worth == 0);
    let same = if is_same { table(&values) } else { None };
    let search = |class: usize| {
        let left = (!is_same).then(|| packing.limits.left(class, &values, &limit_values));
        let values = left.as_deref().unwrap_or(&values);
        let threshold = (worth.servers[class] * SCALE * (1.0 + NOISE)).ceil() + 1.0;
        let slack = threshold * effort.part;
        let Effort { budget, kept, .. } = effort;
        // What devices alone do not let be worth more needs no search.
        let most = devices_alone::bound(packing, class, values);
        if most <= threshold + slack {
            return Found { patterns: Vec::new(), bound: most, is_truncated: false };
        }
        let own = left.as_deref().and_then(table);
        let search = Search { packing, class, values, limits, threshold, slack, budget, kept, stop };
        let found = match own.as_ref().or(same.as_ref()) {
            Some(table) if !stop.is_over() => search.run(table),
            _ => search.unsearched(),
        };
        Found { bound: found.bound.min(most), ..found }
    };
    (0..packing.classes.len()).into_par_iter().map(search).collect()
}
