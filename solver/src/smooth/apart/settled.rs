//! Who is settled by a sum: everybody that has what it would take at the prices of what is used up, where that costs least.

use super::Part;
use crate::level::LevelProblem;
use crate::repair::feasible_splits;
use crate::smooth::bundles::{Found, User};
use crate::smooth::consumer::{Consumer, Support};
use crate::tolerance::allocation::ALL_TASKS;
use crate::tolerance::level::KEPT;
use crate::tolerance::sum::{ENOUGH, EXACT, FAR, LITTLE, MORE, MOST, NOBODY_NEEDS, OWN, PAYS, SHOWS};

/// What a unit of a user's share costs where that is least, what each of its tasks costs besides, and the share that it would take.
struct Offer {
    cost: f64,
    each: f64,
    demand: f64,
}

/// By how much a user counts in a sum: by its weight, or less while it has all its tasks.
#[derive(Clone, Copy)]
pub(super) struct Counting {
    pub weight: f64,
    /// Whether that is less than its own, and whether it has once been too little.
    is_lowered: bool,
    is_raised: bool,
}

impl Counting {
    pub fn fully(weight: f64) -> Self {
        Self { weight, is_lowered: false, is_raised: false }
    }
}

/// A sum over some users, and what they have of it by their own measure.
pub(super) struct Sum<'a> {
    pub part: &'a Part,
    pub problem: LevelProblem<'a>,
    pub found: Found,
    /// Splits that fit, and what users have by them.
    pub splits: Vec<f64>,
    shares: Vec<f64>,
    /// Prices of what is used up.
    prices: Vec<f64>,
    /// What a split of one costs on each pair: at these prices, but where all there is would be next to nothing of what its user has at
    /// those that are found.
    costs: Vec<f64>,
    /// What it costs besides, of what others have paid for.
    besides: Vec<f64>,
    offers: Vec<Offer>,
    /// What each user pays, those aside who keep what they have, and by what part it misses what it would take at the prices of what is used up, or pays more than it must.
    paid: Vec<f64>,
    misses: Vec<f64>,
}

impl<'a> Sum<'a> {
    pub fn new(part: &'a Part, problem: LevelProblem<'a>, found: Found) -> Self {
        let splits = feasible_splits(&problem, &found.splits);
        let used = problem.usage(&splits);
        let is_used_up = |row: usize| used[row] >= problem.capacities[row] * (1.0 - OWN);
        let price = |(row, price): (usize, &f64)| if is_used_up(row) { *price } else { 0.0 };
        let prices: Vec<f64> = found.prices.iter().enumerate().map(price).collect();
        let share = |user: &User| {
            let of_lines = user.lines.clone().zip(&user.parts);
            of_lines.map(|(line, part)| problem.work(&splits, line) / part).fold(user.cap, f64::min)
        };
        let shares: Vec<f64> = part.users.iter().map(share).collect();
        let nothing = || vec![0.0; part.groups.pair_count()];
        let besides = part.paid.as_ref().map_or_else(nothing, |paid| paid.in_unit_of(found.utility));
        let with_all = |prices: &[f64]| -> Vec<f64> {
            problem.costs(prices).iter().zip(&besides).map(|(cost, more)| cost + more).collect()
        };
        let (mut costs, at_found) = (with_all(&prices), with_all(&found.prices));
        for (user, share) in part.users.iter().zip(&shares) {
            for (line, of_line) in user.lines.clone().zip(&user.parts) {
                for pair in part.groups.pairs(line) {
                    let room = problem.needs(line, pair).map(|(row, d)| problem.capacities[row] / d);
                    let most = part.groups.rate[pair] * room.fold(f64::INFINITY, f64::min);
                    if most <= OWN * of_line * share {
                        costs[pair] = at_found[pair];
                    }
                }
            }
        }
        let (offers, paid, misses) = (Vec::new(), Vec::new(), Vec::new());
        let mut sum =
            Self { part, problem, found, splits, shares, prices, costs, besides, offers, paid, misses };
        let users = 0..part.own_weights.len();
        sum.offers = users.clone().map(|user| sum.offer(user)).collect();
        sum.paid = users.clone().map(|user| sum.paid_by(user)).collect();
        sum.misses = users.map(|user| sum.miss(user)).collect();
        sum
    }

    /// Who has what it would take at the prices of what is used up, where that costs least. Of those who pay next to nothing beside others
    /// only who is held by what these pay for: what the rest have is told by the next sum.
    pub fn settled(&self) -> Vec<bool> {
        let users = 0..self.misses.len();
        let mut settled: Vec<bool> = self.misses.iter().map(|miss| *miss <= OWN).collect();
        let most =
            users.clone().filter(|user| settled[*user]).map(|user| self.paid[user]).fold(0.0, f64::max);
        let counts = |user: &usize| settled[*user] && self.paid[*user] >= SHOWS * most;
        let counting: Vec<usize> = users.clone().filter(counts).collect();
        let holds = self.rows_that_hold(&counting);
        let is_beside = |user: usize| self.held_by(user, true).any(|row| holds[row]);
        for user in users {
            settled[user] = settled[user] && (counting.binary_search(&user).is_ok() || is_beside(user));
        }
        settled
    }

    pub fn share(&self, user: usize) -> f64 {
        self.shares[user]
    }

    /// Whether all have exactly what they would take who pay most, and how many have about that; where those who keep what they have do.
    pub fn told(&self) -> (bool, usize) {
        let kept = self.part.users.iter().zip(&self.shares).skip(self.misses.len());
        if kept.into_iter().any(|(user, share)| *share < user.floor * (1.0 - KEPT)) {
            return (false, 0);
        }
        let most = self.paid.iter().copied().fold(0.0, f64::max);
        let is_exact = |(miss, paid): (&f64, &f64)| *miss <= EXACT || *paid * miss.min(1.0) < LITTLE * most;
        let count = self.misses.iter().filter(|miss| **miss <= OWN).count();
        (most > 0.0 && self.misses.iter().zip(&self.paid).all(is_exact), count)
    }

    /// Lets who has all its tasks, and would have them at a price many times as high, count by less, so that the others show; and who would
    /// not have them then count by more again, and never by less. Whether anything has changed.
    pub fn temper(&self, users: &[usize], counting: &mut [Counting]) -> bool {
        if self.misses.iter().all(|miss| *miss <= EXACT) {
            // Nobody is left to show.
            return false;
        }
        let most = self.paid.iter().copied().fold(0.0, f64::max);
        // Where nobody pays anything others show beside what they are worth.
        let untold = (0..users.len()).filter(|user| most == 0.0 && self.misses[*user] > EXACT);
        let least = untold.map(|user| self.worth(user)).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let mut has_changed = false;
        for (user, at) in users.iter().enumerate() {
            let weight = self.part.users[user].weight;
            let is_told = self.misses[user] <= EXACT;
            let enough = (ENOUGH * self.paid[user]).max(MOST * most).max(least);
            let worth = self.worth(user);
            let less = weight * (enough / worth);
            let Counting { is_lowered, is_raised, .. } = counting[*at];
            if is_told
                && !is_raised
                && self.has_all_tasks(user)
                && worth > FAR * enough
                && less > f64::MIN_POSITIVE
            {
                counting[*at] = Counting { weight: less, is_lowered: true, is_raised };
                has_changed = true;
            } else if !is_told && is_lowered {
                let own = self.part.own_weights[user];
                let more = (weight * MORE).min(own);
                counting[*at] = Counting { weight: more, is_lowered: more < own, is_raised: true };
                has_changed = true;
            }
        }
        has_changed
    }

    /// What a unit of work of a kind costs where that is least.
    pub fn cheapest(&self, line: usize) -> f64 {
        self.problem.cheapest(&self.costs, 0.0, line)
    }

    /// Whether a user has all its tasks, and exactly what it would take.
    pub fn is_told_of_all_tasks(&self, user: usize) -> bool {
        self.misses[user] <= EXACT && self.has_all_tasks(user)
    }

    fn has_all_tasks(&self, user: usize) -> bool {
        let all = 1.0 - ALL_TASKS;
        let User { cap, .. } = self.part.users[user];
        self.shares[user] >= cap * all || self.tasks(user) >= self.part.limit_of(user) * all
    }

    fn tasks(&self, user: usize) -> f64 {
        self.part.pairs_of(user).map(|pair| self.splits[pair]).sum()
    }

    fn paid_by(&self, user: usize) -> f64 {
        self.part.pairs_of(user).map(|pair| self.splits[pair] * self.costs[pair]).sum()
    }

    /// What its share is worth at the margin.
    fn worth(&self, user: usize) -> f64 {
        let share = self.shares[user];
        if share > 0.0 {
            self.found.utility.marginal(self.part.users[user].weight, share) * share
        } else {
            0.0
        }
    }

    /// See [`Self::misses`].
    fn miss(&self, user: usize) -> f64 {
        let User { cap, floor, .. } = self.part.users[user];
        let weight = self.part.own_weights[user];
        let (share, alpha) = (self.shares[user], self.found.utility.alpha);
        let Offer { cost, each, demand } = self.offers[user];
        let want = if alpha == 0.0 {
            let cheap = self.found.utility.marginal(weight, 1.0) / cost - 1.0;
            if cheap.abs() <= OWN {
                share
            } else if cheap > 0.0 {
                f64::INFINITY
            } else {
                0.0
            }
        } else {
            demand
        };
        let want = want.min(cap).max(floor);
        if !want.is_finite() {
            return f64::INFINITY;
        }
        let part = |off: f64, of: f64| if off > 0.0 { off / of } else { 0.0 };
        let (tasks, paid, worth) = (self.tasks(user), self.paid[user], self.worth(user));
        let off = (share - want).abs();
        let off = if alpha < 1.0 && off <= NOBODY_NEEDS { 0.0 } else { part(off, want.max(share)) };
        // Tasks that have a price all run.
        let all = each * self.part.limit_of(user);
        let idle = if each > 0.0 { part(all - each * tasks, worth.max(all)) } else { 0.0 };
        let dear = part(paid + each * tasks - cost * share, (paid + each * tasks).max(worth));
        off.max(idle).max(dear)
    }

    /// What a user sees of the prices of what is used up.
    fn offer(&self, user: usize) -> Offer {
        let User { lines, parts, .. } = &self.part.users[user];
        let weight = self.part.own_weights[user];
        let utility = self.found.utility;
        let least = |each: f64, line: usize| self.problem.cheapest(&self.costs, each, line);
        let limit = self.part.limit_of(user);
        if limit < f64::INFINITY {
            let pairs = self.part.groups.pairs(lines.start);
            let (rates, costs) = (&self.part.groups.rate[pairs.clone()], &self.costs[pairs]);
            let consumer = Consumer { utility, weight, tasks: limit, rates, costs };
            if let Some((support, each)) = consumer.support() {
                let cost = least(each, lines.start);
                let demand = match support {
                    Support::Fully(class) => limit * rates[class],
                    Support::Partly(_) | Support::Between(..) => utility.demand(weight, cost),
                };
                return Offer { cost, each, demand };
            }
        }
        let cost = lines.clone().zip(parts).map(|(line, part)| part * least(0.0, line)).sum();
        Offer { cost, each: 0.0, demand: utility.demand(weight, cost) }
    }

    /// The rows whose prices keep these users from more: those without which a class would be cheaper than what they have, whether they run
    /// there or not.
    pub fn rows_that_hold(&self, users: &[usize]) -> Vec<bool> {
        let mut holds = vec![false; self.prices.len()];
        users.iter().flat_map(|user| self.held_by(*user, false)).for_each(|row| holds[row] = true);
        holds
    }

    /// The same of one, on all classes or only where a part of its tasks runs; who could have what it has for nothing is held by none.
    fn held_by(&self, user: usize, where_it_runs: bool) -> impl Iterator<Item = usize> {
        let Offer { cost, each, .. } = self.offers[user];
        let lines = if cost > 0.0 { self.part.users[user].lines.clone() } else { 0..0 };
        lines.flat_map(move |line| {
            let least = self.problem.cheapest(&self.costs, each, line) * (1.0 - PAYS);
            let pairs = self.part.groups.pairs(line);
            let tasks: f64 = self.splits[pairs.clone()].iter().sum();
            let runs = move |pair: &usize| !where_it_runs || self.splits[*pair] > PAYS * tasks;
            pairs.filter(runs).flat_map(move |pair| {
                let priced = move || {
                    let needs = self.problem.needs(line, pair);
                    needs.map(|(row, d)| (row, d * self.found.prices[row])).filter(|(_, price)| *price > 0.0)
                };
                let base = each + self.besides[pair];
                let total: f64 = base + priced().map(|(_, price)| price).sum::<f64>();
                let enough = least * self.part.groups.rate[pair];
                let most = priced().map(|(_, price)| price).fold(0.0, f64::max);
                let is_needed = move |price: f64| {
                    base < enough && (price == most || (price > PAYS * enough && total - price < enough))
                };
                priced().filter(move |(_, price)| is_needed(*price)).map(|(row, _)| row)
            })
        })
    }
}
