//! Whole exchanges of the fractions that the program makes: those that help are made, then what is still missing is placed by
//! further exchanges, and what turned out needless is taken back.

use super::cluster::{Cluster, Exchange};
use super::program::{Priced, Question, UNIT};
use super::search::Prices;
use fairplan_instances::Deadline;
use rayon::prelude::*;

/// Rounds of exchanges for what is missing, and what a task that stays missing is worth more in each.
const ROUNDS: usize = 60;
const RAISED: f64 = 1.6;

/// Sets of tasks that are looked at on one server; and while there are more servers than this, only some are looked at in a round.
const NODES: u64 = 500;
const ENOUGH: usize = 1_500;

/// What a task is worth at least, on many servers, where its user has none to spare.
const NOT_SPARE: f64 = (3 * UNIT) as f64;

/// Servers with exchanges up to which one after the other is tried without.
const MOST_SPREAD: usize = 1_000;

/// What a needed task is worth at least.
const LEAST: u64 = UNIT / 4;

/// The cluster while whole exchanges are made.
pub(super) struct Making<'a> {
    question: &'a Question<'a>,
    pub cluster: Cluster<'a>,
}

impl<'a> Making<'a> {
    pub fn new(question: &'a Question<'a>) -> Self {
        Self { question, cluster: question.cluster.clone() }
    }

    fn missing(&self, user: u32) -> u64 {
        self.question.required[user as usize].saturating_sub(self.cluster.totals[user as usize])
    }

    fn spare(&self, user: u32) -> u64 {
        self.cluster.totals[user as usize].saturating_sub(self.question.required[user as usize])
    }

    /// Tasks that are missing, over all users.
    pub fn all_missing(&self) -> u64 {
        (0..self.question.required.len()).map(|user| self.missing(user as u32)).sum()
    }

    /// Tasks that users have fewer than before, of those required.
    fn harmed(&self) -> u64 {
        let before = self.question.cluster.totals.iter().zip(self.question.required);
        let kept = before.map(|(had, required)| *had.min(required));
        kept.zip(&self.cluster.totals).map(|(kept, has)| kept.saturating_sub(*has)).sum()
    }

    /// The less the better: nobody shall lose what is required of it for the sake of others.
    pub fn state(&self) -> (u64, u64, u64) {
        (self.harmed(), self.all_missing(), self.cost())
    }

    /// What has left servers, at its cost.
    pub fn cost(&self) -> u64 {
        let costs = &self.question.rules.costs;
        let mut cost = 0u64;
        for (s, before) in self.question.cluster.servers.iter().enumerate() {
            for (user, count) in &before.tasks {
                let left = count.saturating_sub(self.cluster.count(s, *user));
                cost = cost.saturating_add(left.saturating_mul(costs[*user as usize]));
            }
        }
        cost
    }

    /// How many tasks of a user are on a server that were not there before, or fewer.
    fn change(&self, server: usize, user: u32) -> (u64, u64) {
        let (before, now) = (self.question.cluster.count(server, user), self.cluster.count(server, user));
        (now.saturating_sub(before), before.saturating_sub(now))
    }

    /// What an exchange is worth as things stand: what comes counts as far as it is missing, what leaves as far as it is not spare.
    fn benefit(&self, exchange: &Exchange, values: &[u64]) -> i128 {
        let value = |user: u32| i128::from(values[user as usize]);
        let mut benefit = 0i128;
        for (user, count) in &exchange.added {
            benefit += value(*user) * i128::from((*count).min(self.missing(*user)));
        }
        for (user, count) in &exchange.removed {
            let needed = count.saturating_sub(self.spare(*user));
            benefit -= i128::from(self.question.rules.costs[*user as usize] * UNIT) * i128::from(*count);
            benefit -= value(*user) * i128::from(needed);
        }
        benefit
    }

    /// The part of an exchange that is missing now.
    fn trimmed(&self, exchange: &Exchange) -> Exchange {
        let mut trimmed = exchange.clone();
        trimmed.added.iter_mut().for_each(|(user, count)| *count = (*count).min(self.missing(*user)));
        trimmed.added.retain(|(_, count)| *count > 0);
        trimmed
    }

    /// Makes the exchanges of the program that help, the most used first.
    pub fn follow(&mut self, priced: &Priced) {
        let mut is_used = vec![false; self.cluster.servers.len()];
        for (group, exchange, servers) in &priced.used {
            let mut left = servers.ceil() as u64;
            for s in &self.question.groups[*group] {
                if left == 0 || self.benefit(exchange, &priced.last_values) < -i128::from(UNIT / 100) {
                    break;
                }
                if !is_used[*s] {
                    is_used[*s] = true;
                    let trimmed = self.trimmed(exchange);
                    self.cluster.exchange(*s, &trimmed);
                    left -= 1;
                }
            }
        }
    }

    /// Starts what is missing wherever there is room and nothing has to leave, users in this order.
    pub fn start_free(&mut self, smallest_first: &[u32]) {
        for user in smallest_first {
            for s in 0..self.cluster.servers.len() {
                let missing = self.missing(*user);
                if missing == 0 {
                    break;
                }
                let tasks = self.cluster.room(s, *user).min(missing);
                if tasks > 0 {
                    self.cluster.add(s, *user, tasks);
                }
            }
        }
    }

    /// Makes the exchanges towards another placement, and undoes as many as what is required can spare, the dearest first.
    pub fn become_like(&mut self, chosen: &[(usize, Exchange, u64)]) {
        let mut made: Vec<(u64, usize)> = Vec::new();
        for (group, exchange, count) in chosen {
            let cost = exchange
                .removed
                .iter()
                .map(|(user, count)| self.question.rules.costs[*user as usize] * count);
            let cost: u64 = cost.sum();
            let fresh = self.question.groups[*group]
                .iter()
                .filter(|s| self.cluster.servers[**s].tasks == self.question.cluster.servers[**s].tasks);
            let servers: Vec<usize> = fresh.take(*count as usize).copied().collect();
            for server in servers {
                self.cluster.exchange(server, exchange);
                made.push((cost, server));
            }
        }
        self.take_back();
        made.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, server) in made {
            let now = &self.cluster.servers[server].tasks;
            let is_spared = now.iter().all(|(user, _)| self.change(server, *user).0 <= self.spare(*user));
            if is_spared {
                self.undo(server);
            }
        }
        self.take_back();
    }

    /// Undoes exchanges until nobody has lost what is required of it: those first that give back the most of that for what is then
    /// missing.
    pub fn unharm(&mut self) {
        let users = self.question.required.len();
        let kept: Vec<u64> = (0..users)
            .map(|user| self.question.cluster.totals[user].min(self.question.required[user]))
            .collect();
        let mut changed: Vec<usize> = (0..self.cluster.servers.len())
            .filter(|s| self.cluster.servers[*s] != self.question.cluster.servers[*s])
            .collect();
        loop {
            let totals = &self.cluster.totals;
            let lost = |user: u32, has: u64| kept[user as usize].saturating_sub(has);
            if (0..users).all(|user| lost(user as u32, totals[user]) == 0) {
                return;
            }
            // What undoing gives back and takes, of what users lost.
            let judge = |s: &usize| -> Option<(i128, u64)> {
                let (mut gain, mut harms, mut helps) = (0i128, 0u64, false);
                for (user, _) in &self.question.cluster.servers[*s].tasks {
                    let (_, left) = self.change(*s, *user);
                    let has = totals[*user as usize];
                    let back = lost(*user, has) - lost(*user, has + left);
                    helps |= back > 0;
                    gain += i128::from(back);
                }
                for (user, _) in &self.cluster.servers[*s].tasks {
                    let (came, _) = self.change(*s, *user);
                    let has = totals[*user as usize];
                    gain -= i128::from(lost(*user, has - came) - lost(*user, has));
                    harms += came;
                }
                helps.then_some((gain, harms))
            };
            let judged = changed.iter().enumerate().filter_map(|(at, s)| Some((judge(s)?, at)));
            let best = judged.max_by(|((a, of_a), at_a), ((b, of_b), at_b)| {
                a.cmp(b).then(of_b.cmp(of_a)).then(at_b.cmp(at_a))
            });
            let Some((_, at)) = best else { return };
            self.undo(changed.swap_remove(at));
        }
    }

    /// Gives a server what it had.
    fn undo(&mut self, server: usize) {
        let now = self.cluster.servers[server].tasks.clone();
        now.iter().for_each(|(user, count)| self.cluster.remove(server, *user, *count));
        let had = self.question.cluster.servers[server].tasks.clone();
        had.iter().for_each(|(user, count)| self.cluster.add(server, *user, *count));
    }

    /// Places what is missing by further exchanges, the most useful first, while that helps; in the end the state with the least
    /// missing stands, at the least cost.
    pub fn complete(&mut self, priced: &Priced, smallest_first: &[u32], stop: &Deadline) {
        let users = self.question.required.len();
        // Of thousands of servers enough will do.
        let one_in = (self.cluster.servers.len() / ENOUGH).max(1);
        // There the program hardly tells what tasks are worth that nobody misses: to miss one would cost more than to spare one.
        let least = if one_in > 1 { NOT_SPARE } else { 0.0 };
        let mut values: Vec<f64> =
            priced.last_values.iter().map(|value| (*value as f64).max(least)).collect();
        // What starts where there is room harms nobody.
        let mut unmoved = Self::new(self.question);
        unmoved.start_free(smallest_first);
        self.start_free(smallest_first);
        let mut unharmed = Self { question: self.question, cluster: self.cluster.clone() };
        unharmed.unharm();
        unharmed.take_back();
        unharmed.start_free(smallest_first);
        let firsts = [unharmed.state(), unmoved.state(), self.state()];
        let mut best = match firsts {
            [a, b, c] if a <= b && a <= c => (a, unharmed.cluster),
            [_, b, c] if b <= c => (b, unmoved.cluster),
            [.., c] => (c, self.cluster.clone()),
        };
        let mut since = 0;
        for round in 0..ROUNDS * one_in {
            if self.all_missing() == 0 || stop.is_over() || since > 12 * one_in {
                break;
            }
            let missing: Vec<u64> = (0..users).map(|user| self.missing(user as u32)).collect();
            for (value, missing) in values.iter_mut().zip(&missing) {
                if *missing > 0 {
                    *value = value.max(LEAST as f64);
                }
            }
            let whole: Vec<u64> = values.iter().map(|value| *value as u64).collect();
            let of_needed = |(value, missing): (&u64, &u64)| if *missing > 0 { *value } else { 0 };
            let wanted: Vec<u64> = whole.iter().zip(&missing).map(of_needed).collect();
            let mut leaving = self.question.leaving(&whole);
            for (user, leaving) in leaving.iter_mut().enumerate() {
                if self.spare(user as u32) > 0 {
                    *leaving = leaving.map(|_| self.question.rules.costs[user] * UNIT);
                }
            }
            let packing = self.question.packing;
            let prices = Prices::new(packing, &wanted, &leaving, Some(&missing));
            let search = |(s, server)| {
                if s % one_in != round % one_in {
                    return None;
                }
                prices.search(server, 0, NODES).best.map(|(gain, exchange)| (gain, s, exchange))
            };
            let found: Vec<_> = self.cluster.servers.par_iter().enumerate().filter_map(search).collect();
            let mut found: Vec<(u64, usize, Exchange)> = found;
            // What gains the most for its cost comes first.
            let cost = |exchange: &Exchange| -> u64 { exchange.removed.iter().map(|(_, count)| count).sum() };
            found.sort_by(|a, b| {
                let (left, right) = (cost(&a.2) + 1, cost(&b.2) + 1);
                (u128::from(b.0) * u128::from(left))
                    .cmp(&(u128::from(a.0) * u128::from(right)))
                    .then(a.1.cmp(&b.1))
            });
            for (_, s, exchange) in found {
                if self.benefit(&exchange, &whole) > 0 {
                    let trimmed = self.trimmed(&exchange);
                    self.cluster.exchange(s, &trimmed);
                }
            }
            self.take_back();
            self.start_free(smallest_first);
            let state = self.state();
            if state < best.0 {
                best = (state, self.cluster.clone());
                since = 0;
            } else {
                since += 1;
            }
            for (user, value) in values.iter_mut().enumerate() {
                if self.missing(user as u32) > 0 {
                    *value = value.max(LEAST as f64) * RAISED;
                }
            }
        }
        self.unharm();
        self.take_back();
        self.start_free(smallest_first);
        if best.0 < self.state() {
            self.cluster = best.1;
        }
    }

    /// Takes back what turned out needless: tasks that came and are not missed, tasks that left and still have their room.
    pub fn take_back(&mut self) {
        loop {
            let mut is_changed = false;
            for s in 0..self.cluster.servers.len() {
                if self.cluster.servers[s] == self.question.cluster.servers[s] {
                    continue;
                }
                for (user, _) in self.cluster.servers[s].tasks.clone() {
                    let needless = self.change(s, user).0.min(self.spare(user));
                    if needless > 0 {
                        self.cluster.remove(s, user, needless);
                        is_changed = true;
                    }
                }
                let mut left: Vec<(u64, u32)> = (self.question.cluster.servers[s].tasks.iter())
                    .map(|(user, _)| (self.question.rules.costs[*user as usize], *user))
                    .filter(|(_, user)| self.change(s, *user).1 > 0)
                    .collect();
                left.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                for (_, user) in left {
                    while self.change(s, user).1 > 0 && self.cluster.has_room(s, user) {
                        self.cluster.add(s, user, 1);
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                return;
            }
        }
    }

    /// Undoes the exchange of one server after the other where what came there has room elsewhere without any task leaving.
    pub fn spread(&mut self, stop: &Deadline) {
        let changed =
            |making: &Self, s: usize| making.cluster.servers[s] != making.question.cluster.servers[s];
        if (0..self.cluster.servers.len()).filter(|s| changed(self, *s)).count() > MOST_SPREAD {
            return;
        }
        for s in 0..self.cluster.servers.len() {
            if stop.is_over() {
                return;
            }
            let before = &self.question.cluster.servers[s];
            let has_left = before.tasks.iter().any(|(user, _)| self.change(s, *user).1 > 0);
            if !changed(self, s) || !has_left {
                continue;
            }
            let (state, saved) = (self.state(), self.cluster.clone());
            let now = self.cluster.servers[s].tasks.clone();
            let came: Vec<(u32, u64)> = now
                .iter()
                .map(|(user, _)| (*user, self.change(s, *user).0))
                .filter(|(_, n)| *n > 0)
                .collect();
            came.iter().for_each(|(user, count)| self.cluster.remove(s, *user, *count));
            for (user, _) in &before.tasks {
                let left = self.change(s, *user).1;
                if left > 0 {
                    self.cluster.add(s, *user, left);
                }
            }
            for (user, _) in came {
                while self.missing(user) > 0 {
                    let Some(room) =
                        (0..self.cluster.servers.len()).find(|s| self.cluster.has_room(*s, user))
                    else {
                        break;
                    };
                    self.cluster.add(room, user, 1);
                }
            }
            self.take_back();
            if self.state() >= state {
                self.cluster = saved;
            }
        }
    }
}
