//! What a run comes to, tallied quantum by quantum: Fair Shares Sec. 3.1 and 3.2, Karma Sec. 5.

use crate::{Account, Mechanism};
use fairplan_instances::{CacheModel, Disparity, LeastAndMost, Metrics, UserTotals};

/// The sums behind the metrics.
pub(crate) struct Tally {
    users: Vec<UserTotals>,
    some_conformant: bool,
    account: Account,
    /// Satisfied demand by user: useful slices or, in an auction, what they are worth at their price.
    satisfied: Vec<f64>,
    /// Sums of the account while the run goes on, by user, and of how many terms.
    accounts: Vec<(f64, u64)>,
    cache: Option<CacheModel>,
    /// Requests answered by user.
    answered: Vec<f64>,
    slices: u64,
    quanta: u64,
    /// Quanta in which somebody demanded something, and the sum of the fairness within each.
    busy: u64,
    fairness: f64,
    before: Vec<u64>,
    handoffs: u128,
}

impl Tally {
    pub(crate) fn new(account: Account, non_conformant: &[bool], cache: Option<CacheModel>) -> Self {
        let users = non_conformant.len();
        let fresh = |greedy: &bool| UserTotals { conformant: !greedy, ..UserTotals::default() };
        Self {
            users: non_conformant.iter().map(fresh).collect(),
            some_conformant: non_conformant.contains(&false),
            account,
            satisfied: vec![0.0; users],
            accounts: vec![(0.0, 0); users],
            cache,
            answered: vec![0.0; users],
            slices: 0,
            quanta: 0,
            busy: 0,
            fairness: 0.0,
            before: vec![0; users],
            handoffs: 0,
        }
    }

    /// Takes note of a quantum of so many slices: true demands, and what was allocated.
    pub(crate) fn quantum(
        &mut self,
        capacity: u64,
        demands: &[u64],
        allocated: &[u64],
        mechanism: &dyn Mechanism,
    ) {
        let mut conformant = LeastAndMost::default();
        let mut everyone = LeastAndMost::default();
        for (u, (&demand, &slices)) in demands.iter().zip(allocated).enumerate() {
            if self.quanta > 0 {
                self.handoffs += u128::from(slices.saturating_sub(self.before[u]));
            }
            self.before[u] = slices;
            if demand == 0 && slices == 0 && self.account != Account::Tickets {
                continue;
            }
            let useful = slices.min(demand);
            let user = &mut self.users[u];
            user.demand += demand;
            user.allocated += slices;
            user.useful += useful;
            match self.account {
                Account::Nothing | Account::Credits => {}
                Account::UnitPrice if slices == 0 => {}
                Account::UnitPrice | Account::Tickets => {
                    self.accounts[u].0 += mechanism.balance(u);
                    self.accounts[u].1 += 1;
                }
            }
            if demand > 0 {
                let satisfied = match self.account {
                    Account::UnitPrice if useful > 0 => {
                        (useful as f64 / mechanism.balance(u)).min(demand as f64)
                    }
                    _ => useful as f64,
                };
                let part = satisfied / demand as f64;
                self.satisfied[u] += satisfied;
                user.busy += 1;
                user.satisfied += part;
                everyone.see(part);
                if user.conformant {
                    conformant.see(part);
                }
                if let Some(cache) = self.cache {
                    self.answered[u] += cache.answered(useful, demand);
                }
            }
        }
        let among = if self.some_conformant { conformant } else { everyone };
        if let Some(fairness) = among.ratio() {
            self.fairness += fairness;
            self.busy += 1;
        }
        self.slices += capacity;
        self.quanta += 1;
    }

    /// The totals and the metrics.
    pub(crate) fn finish(mut self, mechanism: &dyn Mechanism) -> (Vec<UserTotals>, Metrics) {
        for (u, user) in self.users.iter_mut().enumerate() {
            if user.demand > 0 {
                user.welfare = Some(self.satisfied[u] / user.demand as f64);
                user.throughput = self.cache.map(|_| self.answered[u] / user.demand as f64);
            }
            if self.account == Account::Credits {
                user.credits = Some(mechanism.balance(u));
                self.accounts[u] = (mechanism.balance(u), 1);
            }
        }
        let metrics = self.metrics();
        (self.users, metrics)
    }

    fn metrics(&self) -> Metrics {
        let demanding = || self.users.iter().filter_map(|user| Some((user, user.welfare?)));
        let all = LeastAndMost::of(demanding().map(|(_, welfare)| welfare));
        let is_honest = |(user, _): &(&UserTotals, f64)| user.conformant;
        let honest = LeastAndMost::of(demanding().filter(is_honest).map(|(_, welfare)| welfare));
        let totals = LeastAndMost::of(demanding().map(|(user, _)| user.useful as f64));
        let mean = |conformant: bool| {
            let kind = || demanding().filter(|(user, _)| user.conformant == conformant);
            let count = kind().count();
            (count > 0).then(|| kind().map(|(_, welfare)| welfare).sum::<f64>() / count as f64)
        };
        let useful: u64 = self.users.iter().map(|user| user.useful).sum();
        Metrics {
            utilization: useful as f64 / self.slices as f64,
            fairness: honest.ratio().or(all.ratio()).unwrap_or(1.0),
            welfare_min: all.least().unwrap_or(1.0),
            welfare_mean: match demanding().count() {
                0 => 1.0,
                count => demanding().map(|(_, welfare)| welfare).sum::<f64>() / count as f64,
            },
            allocation_min_over_max: totals.ratio().unwrap_or(1.0),
            short_term_fairness: if self.busy == 0 { 1.0 } else { self.fairness / self.busy as f64 },
            incentive: mean(true).zip(mean(false)).map(|(honest, other)| honest - other),
            handoffs_per_quantum: self.handoffs as f64 / self.quanta.saturating_sub(1).max(1) as f64,
            disparity: self.disparity(),
        }
    }

    fn disparity(&self) -> Option<Disparity> {
        let quantity = match self.account {
            Account::Nothing => return None,
            Account::Credits => "credits",
            Account::UnitPrice => "unit_price",
            Account::Tickets => "tickets",
        };
        let mean = |conformant: bool| {
            let kind =
                self.users.iter().zip(&self.accounts).filter(|(user, _)| user.conformant == conformant);
            let (sum, count) = kind.fold((0.0, 0), |(sum, count), (_, of)| (sum + of.0, count + of.1));
            (count > 0).then(|| sum / count as f64)
        };
        Some(Disparity { quantity: quantity.into(), conformant: mean(true)?, non_conformant: mean(false)? })
    }
}
