//! Who is frozen at the point where a level ended, what of it runs, and the prices that prove it.

use super::super::interior_point::{Point, Role};
use super::super::running::running;
use super::{Search, State};
use crate::tolerance::over_time::{LIGHT, MISSED, ROUNDINGS};
use fairplan_instances::TaskLevel;

/// What a level froze.
pub(super) struct Frozen {
    /// `None` when only users froze that run all their tasks.
    pub level: Option<TaskLevel>,
    pub frozen: Vec<(usize, f64)>,
    pub tasks: Vec<Vec<f64>>,
    /// The bound on the level by its own prices, and the largest part of what it has that a user may have left beyond.
    pub bound: f64,
    pub left: f64,
    /// Whether somebody rises on who takes next to nothing.
    pub is_light: bool,
}

impl Search<'_> {
    /// Who is frozen at the point's level, and its proof.
    pub(super) fn finish(&self, point: &Point<'_>, upper: f64) -> Frozen {
        let scale = self.scale(upper);
        let is_open = |user: &usize| self.state[*user] == State::Open;
        let open: Vec<usize> = (0..self.state.len()).filter(is_open).collect();
        let is_full = |user: usize| {
            let most = self.asked.most[user];
            matches!(point.role(user), Role::Full(_))
                || point.work[user] >= most * (1.0 - MISSED)
                    && upper - self.asked.base[user] >= most * (1.0 - MISSED)
        };
        let (full, rising): (Vec<usize>, Vec<usize>) = open.into_iter().partition(|user| is_full(*user));
        let mut settled: Vec<f64> = self.state.iter().map(|state| state.share()).collect();
        full.iter().for_each(|user| settled[*user] = self.asked.most[*user]);
        let tasks = running(self.problem, point, &settled);
        let work = self.problem.work(&tasks);
        let stuck = self.stuck(point, scale);
        let is_held = |user: &usize| point.y[*user] * scale > point.over[*user] || stuck[*user];
        let mut held: Vec<usize> = rising.iter().copied().filter(is_held).collect();
        if held.is_empty() && full.is_empty() {
            // No multiplier stands out: the largest of them decides.
            held.extend(rising.iter().copied().max_by(|a, b| point.y[*a].total_cmp(&point.y[*b])));
        }
        let standing = |user: usize| self.asked.base[user] + work[user];
        let lowest = held.iter().map(|user| standing(*user)).fold(f64::INFINITY, f64::min);
        let (multipliers, bound) = self.proof(point, &rising, &held);
        let all: f64 = rising.iter().map(|user| multipliers[*user]).sum();
        let more = |user: &usize| (bound - lowest) * all / multipliers[*user] / standing(*user);
        let left = held.iter().map(more).fold(0.0, f64::max);
        let part = |user: usize| {
            let member = &self.problem.users[user];
            let least =
                member.gain.iter().zip(&member.alone).map(|(gain, alone)| work[user] / (gain * alone));
            least.fold(f64::INFINITY, f64::min)
        };
        let is_light = rising.iter().any(|user| !held.contains(user) && part(*user) < LIGHT);
        let level = (!held.is_empty()).then(|| TaskLevel {
            value: lowest,
            users: held.iter().map(|user| *user as u32).collect(),
            multipliers,
            prices: point.blocks.iter().flat_map(|block| block.p.iter().copied()).collect(),
        });
        let bound = if held.is_empty() { upper } else { bound };
        let of_full = full.into_iter().map(|user| (user, self.asked.most[user]));
        let of_held = held.into_iter().map(|user| (user, work[user].max(self.asked.least[user])));
        Frozen { level, frozen: of_full.chain(of_held).collect(), tasks, bound, left, is_light }
    }

    /// The multipliers of a point, with or without those of users who rise on, and the lower of the two bounds.
    fn proof(&self, point: &Point<'_>, rising: &[usize], held: &[usize]) -> (Vec<f64>, f64) {
        let all = point.multipliers();
        let mut of_held = all.clone();
        rising.iter().filter(|user| !held.contains(user)).for_each(|user| of_held[*user] = 0.0);
        let bounded = |y: Vec<f64>| {
            let bound = self.bounded(&y, point.bound(&y) * (1.0 + ROUNDINGS), f64::MAX);
            (y, bound)
        };
        let (all, of_held) = (bounded(all), bounded(of_held));
        if of_held.1 <= all.1 { of_held } else { all }
    }

    /// Users who have nothing from here and rise nowhere, because every class that they can use is too dear at any level: only
    /// where others have something from elsewhere, or nobody's level were above nothing.
    fn stuck(&self, point: &Point<'_>, scale: f64) -> Vec<bool> {
        let mut stuck: Vec<bool> = (0..self.state.len())
            .map(|user| {
                self.state[user] == State::Open && self.asked.least[user] <= 0.0 && !self.asked.proved
            })
            .collect();
        for (block, quantum) in point.blocks.iter().zip(&self.problem.quanta) {
            block.for_each_pair(|entry, user, slot, x, z| {
                let most = self.problem.users[user].alone[slot].min(quantum.limit[entry]);
                stuck[user] &= x / most < z * most / scale;
            });
        }
        stuck
    }
}
