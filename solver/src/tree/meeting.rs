//! From one limit that several users share to the next, as far as the servers hold what all have there.
//!
//! Where the next limits are met is told without the servers, for as many of them as are asked for. Whether the servers hold what
//! all have at the last of them is one level problem; if they do, they hold it at all before. So twice as many are asked for each
//! time, until the servers do not hold it; then halving tells how far they do.

use super::stages::Stages;
use crate::tolerance::level::{NOTHING_LEFT, PIECE};
use fairplan_instances::InstanceError;

/// So many shares are kept at once.
const SHARES: usize = 4_000_000;

/// A level at which limits stop users.
struct Stop {
    level: f64,
    limits: Vec<usize>,
    users: Vec<usize>,
    shares: Vec<f64>,
}

impl Stages<'_> {
    /// Tells the levels at which limits are met that several users share, as far as the servers hold what all have.
    pub fn meet_shared_limits(&mut self) -> Result<(), InstanceError> {
        if !self.told.has_shared() {
            return Ok(());
        }
        let most = (SHARES / self.shares.len().max(1)).max(1);
        let mut count = 1;
        loop {
            let stops = self.next_stops(count)?;
            if stops.is_empty() {
                return Ok(());
            }
            let held = self.held(&stops)?;
            let is_all = held == stops.len();
            for Stop { level, limits, mut users, shares } in stops.into_iter().take(held) {
                self.meet_ceilings(level);
                limits.iter().for_each(|place| self.is_met[*place] = true);
                // Ceilings that are met with it may stop all its users.
                users.retain(|i| self.open[*i]);
                if !users.is_empty() {
                    self.stop(level, limits, &users, &shares);
                }
            }
            if !is_all || self.is_over() {
                return Ok(());
            }
            count = (2 * count).min(most);
        }
    }

    /// The next levels at which limits would be met, so many at most, if the servers held everything.
    fn next_stops(&mut self, count: usize) -> Result<Vec<Stop>, InstanceError> {
        let (mut ceilings, mut open) = (self.ceilings.clone(), self.open.clone());
        let mut last = self.last_level();
        let mut stops = Vec::new();
        let mut is_met = self.is_met.clone();
        while stops.len() < count {
            let sides = self.tree.sides(&ceilings);
            let Some(met) = self.told.next(&self.tree, &sides, last, &is_met)? else { break };
            let rising: f64 = self.in_dominant_shares(&met.piece.slope).iter().sum();
            // What is left beside floors may be nothing, but for rounding.
            let is_nothing = self.tree.has_floors() && met.level * rising <= NOTHING_LEFT;
            let level = if is_nothing { last } else { met.level.max(last) };
            let mut shares = self.shares_at(&met.piece, level);
            // Who has all its tasks but for rounding is held by these.
            for (share, all) in shares.iter_mut().zip(&self.of_tasks) {
                *share = if *share >= all * (1.0 - PIECE) { *all } else { *share };
            }
            met.limits.iter().for_each(|place| is_met[*place] = true);
            let mut users = Vec::new();
            for (i, _) in met.limits.iter().flat_map(|place| self.told.takes(*place)) {
                if std::mem::replace(&mut open[i], false) {
                    ceilings[i] = shares[i];
                    if shares[i] < self.of_tasks[i] {
                        users.push(i);
                    }
                }
            }
            if !users.is_empty() {
                stops.push(Stop { level, limits: met.limits, users, shares });
            }
            last = level;
        }
        Ok(stops)
    }

    /// How many of these levels the servers hold, from the first on.
    fn held(&mut self, stops: &[Stop]) -> Result<usize, InstanceError> {
        let mut costs = vec![0.0; self.reduction.users.len()];
        let (mut low, mut high) = (0, stops.len());
        // The last first: mostly all are held.
        let mut next = high;
        while low < high {
            match self.holds(&stops[next - 1].shares, &mut costs)?.0 {
                true => low = next,
                false => high = next - 1,
            }
            next = (low + high).div_ceil(2);
        }
        Ok(low)
    }
}
