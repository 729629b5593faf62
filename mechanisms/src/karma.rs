//! Karma: who lends slices earns credits, who borrows spends them; the poorest lend first, the richest borrow first.
//!
//! Karma Alg. 1, and Alg. 2 for fair shares that differ. Every quantum each member is guaranteed the whole slices of
//! `α` times its fair share; what rounding down leaves of the capacity is shared slices, so that none is lost, and
//! the members are minted one credit for every shared slice, in equal parts. Slices are lent one at a time, first
//! the donated ones, by the donor with the fewest credits, then the shared ones, to the borrower with the most
//! credits, who pays for a slice `1/(n w)`: one credit where fair shares are equal. Here they are lent all at once,
//! with the same outcome to the last slice.

use crate::ladders::{Ladder, take_highest};
use crate::{Account, Mechanism, MechanismError, Ties};
use fairplan_instances::{Entitlement, GuaranteedFraction, greatest_common_divisor};

/// Balances and prices stay below this.
const MAX_UNITS: u128 = 1 << 62;

/// The mechanism and everybody's credits.
#[derive(Clone, Debug)]
pub struct Karma {
    settings: KarmaSettings,
    /// Quanta that are still to come, for the largest balance that can arise.
    quanta: u64,
    members: Vec<u32>,
    weights: Vec<u32>,
    guaranteed: Vec<u64>,
    shared: u64,
    units: Units,
    /// Balances in units: user `u` has `balances[u] / (credit · weights[u])` credits.
    balances: Vec<i64>,
    donors: Vec<Ladder>,
    borrowers: Vec<Ladder>,
}

/// What decides an outcome of Karma, beside the fair shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KarmaSettings {
    /// The guaranteed fraction `α` of the fair share.
    pub alpha: GuaranteedFraction,
    /// Credits of every user at the start.
    pub initial_credits: u64,
    /// Who comes first among users with equal credits.
    pub ties: Ties,
}

/// Credits in whole numbers. With `n` members whose weights sum to `W`, and `s` shared slices, a balance is kept as
/// `n · weight` times the credits, over the greatest common divisor of all that is ever added: then the mint, the
/// gain from a lent slice and the price of a borrowed one are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Units {
    /// Minted each quantum, times the weight: `s / n` credits.
    mint: i64,
    /// One credit, times the weight.
    credit: i64,
    /// The price of a slice, whatever the weight: `W / (n · weight)` credits.
    price: i64,
}

impl Karma {
    /// Nobody is a member yet. `quanta` is how many there will be: the balances that can arise must fit.
    pub fn new(settings: KarmaSettings, users: usize, quanta: usize) -> Self {
        Self {
            settings,
            quanta: quanta as u64,
            members: Vec::new(),
            weights: vec![0; users],
            guaranteed: vec![0; users],
            shared: 0,
            units: Units::default(),
            balances: vec![0; users],
            donors: Vec::new(),
            borrowers: Vec::new(),
        }
    }

    /// The slices that each user is guaranteed, and how many are shared.
    fn shares(&self, due: &Entitlement) -> (Vec<u64>, u64) {
        let mut guaranteed = vec![0; self.guaranteed.len()];
        for user in due.members().iter().map(|user| *user as usize) {
            guaranteed[user] = due.guaranteed_share(user, self.settings.alpha);
        }
        let shared = due.capacity() - guaranteed.iter().sum::<u64>();
        (guaranteed, shared)
    }

    /// The balances of the members in other units, rounded down to them; who is new gets the mean of the others
    /// (Karma Sec. 3.4), rounded down likewise, or the initial credits when nobody was there before.
    fn convert(&self, due: &Entitlement, units: Units) -> Vec<i128> {
        let was_member = |user: &&u32| self.weights[**user as usize] > 0;
        let stayed: Vec<u32> = due.members().iter().filter(was_member).copied().collect();
        // Credits in parts of 2^32: exact but for what the division by a weight leaves.
        let parts = |user: u32| {
            let (balance, weight) = (self.balances[user as usize], self.weights[user as usize]);
            (i128::from(balance) << 32).div_euclid(i128::from(weight))
        };
        let everyone: i128 = self.members.iter().map(|user| parts(*user)).sum();
        let initial = i128::from(self.settings.initial_credits) * i128::from(units.credit);
        let mut balances = vec![0; self.balances.len()];
        for user in due.members() {
            let weight = due.weight(*user as usize) as i128;
            balances[*user as usize] = if self.members.is_empty() {
                initial * weight
            } else if stayed.binary_search(user).is_ok() {
                let balance = i128::from(self.balances[*user as usize]) * weight * i128::from(units.credit);
                let unit = i128::from(self.weights[*user as usize]) * i128::from(self.units.credit);
                balance.div_euclid(unit)
            } else {
                let mean = everyone.div_euclid(self.members.len() as i128);
                (mean * i128::from(units.credit) * weight).div_euclid(i128::from(self.units.credit)) >> 32
            };
        }
        balances
    }

    fn overflow(&self, units: u128) -> MechanismError {
        MechanismError::CreditsOverflow { initial_credits: self.settings.initial_credits, units }
    }
}

impl Mechanism for Karma {
    fn name(&self) -> &'static str {
        "karma"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        let (guaranteed, shared) = self.shares(due);
        let (n, total) = (due.members().len() as u64, due.total_weight());
        let common = greatest_common_divisor(greatest_common_divisor(shared, n), total);
        // All three are at most the capacity or the number of users.
        let units = Units {
            mint: (shared / common) as i64,
            credit: (n / common) as i64,
            price: (total / common) as i64,
        };
        let start = self.convert(due, units);
        for user in due.members().iter().map(|user| *user as usize) {
            let weight = u128::from(due.weight(user));
            let a_quantum = weight * (units.mint.unsigned_abs() as u128)
                + weight * units.credit.unsigned_abs() as u128 * u128::from(guaranteed[user]);
            let most = a_quantum
                .saturating_mul(u128::from(self.quanta))
                .saturating_add(start[user].unsigned_abs())
                .saturating_add(units.price.unsigned_abs() as u128);
            if most > MAX_UNITS {
                return Err(self.overflow(most));
            }
        }
        self.balances = start.into_iter().map(|balance| balance as i64).collect();
        self.members = due.members().to_vec();
        // Weights are below 2^31.
        self.weights = (0..self.weights.len()).map(|user| due.weight(user) as u32).collect();
        (self.guaranteed, self.shared, self.units) = (guaranteed, shared, units);
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        let Units { mint, credit, price } = self.units;
        self.quanta = self.quanta.saturating_sub(1);
        self.donors.clear();
        self.borrowers.clear();
        let (mut donated, mut wanted) = (0, 0);
        for &user in &self.members {
            let u = user as usize;
            let weight = self.weights[u];
            let balance = &mut self.balances[u];
            *balance += mint * i64::from(weight);
            let (demand, guaranteed) = (demands[u], self.guaranteed[u]);
            allocated[u] = demand.min(guaranteed);
            if demand < guaranteed {
                let (step, rungs) = (credit * i64::from(weight), guaranteed - demand);
                // The poorest donor first: the highest of the negated balances.
                self.donors.push(Ladder { user, weight, top: -*balance, step, rungs });
                donated += rungs;
            } else if demand > guaranteed && *balance > 0 {
                // A borrower takes slices as long as it has credits left, if only part of the price.
                let affordable = (*balance as u64).div_ceil(price as u64);
                let rungs = affordable.min(demand - guaranteed);
                self.borrowers.push(Ladder { user, weight, top: *balance, step: price, rungs });
                wanted += rungs;
            }
        }
        let lent = wanted.min(donated + self.shared);
        let balances = &mut self.balances;
        take_highest(&self.borrowers, lent, self.settings.ties, demands, |user, slices| {
            allocated[user] += slices;
            balances[user] -= price * slices as i64;
        });
        take_highest(&self.donors, lent.min(donated), self.settings.ties, demands, |user, slices| {
            balances[user] += credit * i64::from(self.weights[user]) * slices as i64;
        });
    }

    fn account(&self) -> Account {
        Account::Credits
    }

    fn balance(&self, user: usize) -> f64 {
        match self.weights[user] {
            0 => 0.0,
            weight => self.balances[user] as f64 / (self.units.credit * i64::from(weight)) as f64,
        }
    }
}
