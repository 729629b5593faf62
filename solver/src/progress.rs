//! What is known of the users while the levels rise: who still rises, and what the others were settled at.

use crate::aggregation::Solved;
use crate::bins::{Amounts, Bins, NO_BIN};
use crate::level::dot;
use crate::population::{CHUNK, NO_PATTERN};
use crate::reduction::Reduction;
use crate::sums::column;
use crate::tolerance::level::{AT_THE_LEVEL, CLEARLY_PRICED};
use fairplan_instances::LimitedBy;
use rayon::prelude::*;

/// The users' state.
#[derive(Clone)]
pub(crate) struct Progress {
    /// Weights of rising users, shares of settled ones.
    pub amounts: Amounts,
    /// Levels of settled users.
    pub level_of: Vec<u32>,
    /// What limits settled users.
    pub limited_by: Vec<LimitedBy>,
    /// The work that a task does at most, for each pattern: where there are task rows, on classes still open to its
    /// rising users.
    fastest: Vec<f64>,
}

/// The work that a task does at most, for each pattern.
pub(crate) fn fastest_rates(reduction: &Reduction) -> Vec<f64> {
    let fastest = |rates: &Vec<f64>| rates.iter().copied().fold(0.0, f64::max);
    reduction.patterns.iter().map(fastest).collect()
}

/// Largest dominant share that a user has tasks for, done on the fastest classes of its pattern; infinite when unlimited.
pub(crate) fn cap(reduction: &Reduction, fastest: &[f64], user: usize) -> f64 {
    match reduction.users.pattern[user] {
        NO_PATTERN => 0.0,
        pattern => reduction.users.tasks(user) * fastest[pattern as usize],
    }
}

impl Progress {
    /// Everybody rises, except those that can run nowhere or have no tasks.
    pub fn start(reduction: &Reduction, bins: &mut Bins) -> Self {
        let users = &reduction.users;
        let n = users.len();
        let mut progress = Self {
            amounts: Amounts::new(column(n, |i| users.weight(i)), column(n, |_| true)),
            level_of: vec![0; n],
            limited_by: vec![LimitedBy::Capacity; n],
            fastest: fastest_rates(reduction),
        };
        // Mostly there are none of these, and that is seen at once.
        let some_settle = users.tasks.is_some()
            || users.pattern.par_chunks(CHUNK).any(|patterns| patterns.contains(&NO_PATTERN));
        for i in 0..if some_settle { n } else { 0 } {
            if users.pattern[i] == NO_PATTERN {
                progress.settle(i, 0.0, 0, LimitedBy::NoUsableClass);
            } else if users.tasks(i) == 0.0 {
                progress.settle(i, 0.0, 0, LimitedBy::Tasks);
            } else {
                continue;
            }
            bins.of[i] = NO_BIN;
        }
        if users.lines.is_some() && some_settle {
            progress.hold_all_kinds(reduction);
            (0..n).filter(|i| !progress.amounts.rising[*i]).for_each(|i| bins.of[i] = NO_BIN);
        }
        progress
    }

    /// Settles all kinds of a user of which one is settled: a task needs all of them, so none can rise alone.
    pub fn hold_kinds_together(&mut self, reduction: &Reduction) {
        // Where all rise or none does, nothing is left to do.
        let rising = &self.amounts.rising;
        let some = |wanted: bool| rising.par_chunks(CHUNK).any(|part| part.contains(&wanted));
        if reduction.users.lines.is_some() && some(true) && some(false) {
            self.hold_all_kinds(reduction);
        }
    }

    /// The same, whoever is settled. A kind that cannot run anywhere counts before one that has no tasks.
    fn hold_all_kinds(&mut self, reduction: &Reduction) {
        let users = &reduction.users;
        for user in 0..users.users() {
            let is_settled = |line: &usize| !self.amounts.rising[*line];
            let rank = |line: &usize| self.limited_by[*line] == LimitedBy::NoUsableClass;
            let Some(held) = users.lines_of(user).filter(is_settled).max_by_key(rank) else { continue };
            let (level, limited_by) = (self.level_of[held], self.limited_by[held]);
            let share = self.amounts.amount[held] / users.part(held);
            for line in users.lines_of(user) {
                if self.amounts.rising[line] || self.limited_by[line] != limited_by {
                    self.settle(line, share * users.part(line), level, limited_by);
                }
            }
        }
    }

    /// Largest dominant share that the user has tasks for; infinite when unlimited.
    pub fn cap(&self, reduction: &Reduction, user: usize) -> f64 {
        cap(reduction, &self.fastest, user)
    }

    /// The user has this share and rises no more.
    pub fn settle(&mut self, user: usize, share: f64, level: u32, limited_by: LimitedBy) {
        self.amounts.amount[user] = share;
        self.amounts.rising[user] = false;
        self.level_of[user] = level;
        self.limited_by[user] = limited_by;
    }

    /// Settles the users that have tasks for less than the level. True when there were any.
    pub fn settle_users_out_of_tasks(&mut self, reduction: &Reduction, level: f64, position: u32) -> bool {
        let users = &reduction.users;
        if users.tasks.is_none() {
            return false;
        }
        let mut any = false;
        for i in 0..users.len() {
            if !self.amounts.rising[i] {
                continue;
            }
            let (cap, reached) = (self.cap(reduction, i), users.weight(i) * level);
            // Where servers and tasks end together, rounding decides which is first: who has all its tasks wants no more.
            if cap <= reached * (1.0 + AT_THE_LEVEL) {
                self.settle(i, cap.min(reached), position, LimitedBy::Tasks);
                any = true;
            }
        }
        any
    }

    /// Settles the rising users that cannot rise further. Whether one can is the same for all users of a pattern (it
    /// depends on which prices are zero), so the groups of a pattern vote by size; with task rows each user's own row
    /// decides too.
    pub fn freeze(&mut self, reduction: &Reduction, bins: &Bins, solved: &Solved, position: u32) {
        let groups = &solved.grouping.groups;
        let m = reduction.resources;
        let has_row = |pattern: u32| reduction.has_task_rows[pattern as usize];
        let mut votes = vec![0.0; reduction.patterns.len()];
        for g in (0..groups.len()).filter(|&g| groups.rising[g] && !has_row(groups.pattern[g])) {
            let size: f64 = groups.loads[g * m..(g + 1) * m].iter().sum();
            votes[groups.pattern[g] as usize] += if solved.solution.frozen[g] { size } else { -size };
        }
        let is_frozen = |bin: u32| {
            let pattern = bins.pattern[bin as usize];
            if has_row(pattern) {
                // A bin without rising users has no group of them.
                solved.solution.frozen.get(solved.grouping.group(bin, true)).is_some_and(|frozen| *frozen)
            } else {
                votes[pattern as usize] > 0.0
            }
        };
        let frozen: Vec<bool> = (0..bins.pattern.len() as u32).map(is_frozen).collect();
        let users = || (self.amounts.rising.par_iter().zip(&bins.of)).with_min_len(CHUNK);
        // Some user always freezes: when rounding hides which, all do, and the certificate tells.
        let all = !users().any(|(rising, bin)| *rising && frozen[*bin as usize]);
        let Self { amounts, level_of, limited_by, .. } = self;
        (amounts.amount.par_iter_mut().zip(&mut amounts.rising))
            .zip(level_of.par_iter_mut().zip(limited_by))
            .zip(&bins.of)
            .with_min_len(CHUNK)
            .filter(|(((_, rising), _), bin)| **rising && (all || frozen[**bin as usize]))
            .for_each(|(((amount, rising), (level, limited_by)), _)| {
                (*amount, *rising) = (*amount * solved.solution.level, false);
                (*level, *limited_by) = (position, LimitedBy::Capacity);
            });
        self.close_classes(reduction, solved);
    }

    /// What has a price is used up by the users frozen so far, for good: to those that rise on, classes where they
    /// would need any of it are closed. So a task row may let them rise less far than their tasks would.
    fn close_classes(&mut self, reduction: &Reduction, solved: &Solved) {
        let (groups, m) = (&solved.grouping.groups, reduction.resources);
        let prices = &solved.solution.prices;
        let dear = CLEARLY_PRICED * dot(prices, &reduction.capacities);
        for g in (0..groups.len()).filter(|&g| groups.has_task_row(g) && !solved.solution.frozen[g]) {
            let load = &groups.loads[g * m..(g + 1) * m];
            let largest = load.iter().copied().fold(0.0, f64::max);
            let rates = reduction.patterns[groups.pattern[g] as usize].iter().zip(prices.chunks(m));
            let open = rates.filter(|(_, prices)| dot(load, prices) < dear * largest).map(|(rate, _)| *rate);
            let fastest = &mut self.fastest[groups.pattern[g] as usize];
            *fastest = fastest.min(open.fold(0.0, f64::max));
        }
    }
}
