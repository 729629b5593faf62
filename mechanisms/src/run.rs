//! A series through a mechanism, quantum by quantum: what users report, who joins and leaves, what comes of it.

use crate::MechanismError;
use crate::asked::{Asked, Divider};
use crate::mechanism::{Account, Mechanism};
use crate::metrics::Tally;
use crate::registry::{Settings, mechanism};
use fairplan_instances::{
    CacheModel, DemandSeries, DynamicOutcome, Entitlement, FairShares, QuantumOutcome, Random,
};

/// The stream of the seed that non-conformant users are drawn from.
const STREAM: u64 = 3;

/// What to run, and what to keep of it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What is due to whom.
    pub shares: &'a FairShares,
    /// What users report.
    pub conduct: Conduct<'a>,
    /// Whether slices are a cache, and how much slower the store behind it.
    pub cache: Option<CacheModel>,
    /// Whether to keep every quantum.
    pub per_quantum: bool,
}

/// How users behave.
#[derive(Clone, Copy, Debug)]
pub struct Conduct<'a> {
    /// Who is not conformant, by user.
    pub non_conformant: &'a [bool],
    /// What those users report.
    pub reports: Reports<'a>,
}

/// What users who are not conformant report to demand.
#[derive(Clone, Copy)]
pub enum Reports<'a> {
    /// The truth.
    Truthful,
    /// At least their fair share (Karma Sec. 5.2, Fair Shares Sec. 4).
    Hoarding,
    /// What a series of the same users and quanta says.
    Series(&'a DemandSeries),
}

impl std::fmt::Debug for Reports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Truthful => "truthful",
            Self::Hoarding => "hoarding",
            Self::Series(_) => "series",
        })
    }
}

/// `count` of `users` users, drawn from the seed: all sets are equally likely.
pub fn non_conformant(users: usize, count: usize, seed: u64) -> Vec<bool> {
    let mut random = Random::new(seed, STREAM);
    let mut order: Vec<usize> = (0..users).collect();
    let mut chosen = vec![false; users];
    for position in 0..count.min(users) {
        let other = position + random.below((users - position) as u64) as usize;
        order.swap(position, other);
        chosen[order[position]] = true;
    }
    chosen
}

impl Run<'_> {
    /// Runs the mechanism called `name` over all quanta of `series`.
    pub fn named(
        &self,
        name: &str,
        settings: &Settings,
        series: &DemandSeries,
    ) -> Result<DynamicOutcome, MechanismError> {
        let mut mechanism = mechanism(name, settings, self.conduct.non_conformant, series.quantum_count())?;
        self.outcome(mechanism.as_mut(), series)
    }

    /// Runs a mechanism of somebody else's, which is called `name`, over all quanta of `series`.
    pub fn asked(
        &self,
        name: &str,
        divider: &mut dyn Divider,
        series: &DemandSeries,
    ) -> Result<DynamicOutcome, MechanismError> {
        let mut asked = Asked::new(divider, series);
        let outcome = self.outcome(&mut asked, series)?;
        asked.failure(name).map(|()| outcome)
    }

    /// Runs `mechanism` over all quanta of `series`.
    pub fn outcome(
        &self,
        mechanism: &mut dyn Mechanism,
        series: &DemandSeries,
    ) -> Result<DynamicOutcome, MechanismError> {
        let users = series.user_count();
        let mut tally = Tally::new(mechanism.account(), self.conduct.non_conformant, self.cache);
        let mut kept = Vec::new();
        let mut demands = vec![0; users];
        let mut reported = vec![0; users];
        let mut allocated = vec![0; users];
        let mut due = self.shares.entitlement(series, 0);
        let mut changes = series.member_changes().into_iter().peekable();
        for quantum in 0..series.quantum_count() {
            if changes.next_if_eq(&quantum).is_some() {
                due = self.shares.entitlement(series, quantum);
                mechanism.admit(&due)?;
                allocated.fill(0);
            }
            fill(series, quantum, &mut demands);
            self.report(quantum, &due, &demands, &mut reported);
            mechanism.allocate(&reported, &mut allocated);
            tally.quantum(due.capacity(), &demands, &allocated, mechanism);
            if self.per_quantum {
                let credits = match mechanism.account() {
                    Account::Credits => (0..users).map(|user| mechanism.balance(user)).collect(),
                    _ => Vec::new(),
                };
                kept.push(QuantumOutcome { allocated: allocated.clone(), credits });
            }
        }
        let (users, metrics) = tally.finish(mechanism);
        Ok(DynamicOutcome { users, metrics, quanta: self.per_quantum.then_some(kept) })
    }

    fn report(&self, quantum: usize, due: &Entitlement, demands: &[u64], reported: &mut [u64]) {
        match self.conduct.reports {
            Reports::Truthful => reported.copy_from_slice(demands),
            Reports::Series(other) => fill(other, quantum, reported),
            Reports::Hoarding => {
                reported.copy_from_slice(demands);
                for user in due.members().iter().map(|user| *user as usize) {
                    if self.conduct.non_conformant[user] {
                        reported[user] = demands[user].max(due.fair_share(user).0);
                    }
                }
            }
        }
    }
}

/// The demands of a quantum, one number a user.
fn fill(series: &DemandSeries, quantum: usize, demands: &mut [u64]) {
    demands.fill(0);
    let (users, slices) = series.demands(quantum);
    for (user, slices) in users.iter().zip(slices) {
        demands[*user as usize] = *slices;
    }
}
