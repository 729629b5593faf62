//! The memory progressive second price auction: the highest bids win, and who wins pays what its winning costs the
//! others.
//!
//! Fair Shares Alg. 2 and Sec. 5, after Ginseng. In every quantum each user bids a price for each slice it demands,
//! and the host bids half the valuation for all slices. A winner of `a` slices pays for each `1/a` of what the
//! others would have bid for the slices that they would get were it not there (the exclusion compensation). Users
//! value a slice alike; who is strategic bids up to a tenth more or less than that, drawn anew every quantum.

use crate::{Account, Mechanism, MechanismError, Ties};
use fairplan_instances::{Entitlement, Random};

/// What a slice is worth to every user, in units of a bid.
const VALUATION: u64 = 1_000_000;

/// What the host bids for every slice.
const RESERVE: u64 = VALUATION / 2;

/// How far a strategic user's bid is from the valuation, at most.
const DEVIATION: u64 = VALUATION / 10;

/// The stream of the seed that bids are drawn from.
const STREAM: u64 = 1;

/// What decides an outcome of the auction, beside the fair shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpspSettings {
    /// Who comes first among equal bids.
    pub ties: Ties,
    /// Who does not bid the valuation, by user.
    pub strategic: Vec<bool>,
    /// Seed of their bids.
    pub seed: u64,
}

/// The auction and the prices of its last round.
#[derive(Clone, Debug)]
pub struct Mpsp {
    settings: MpspSettings,
    random: Random,
    capacity: u64,
    members: Vec<u32>,
    /// What each user pays for all its slices.
    payments: Vec<u128>,
    won: Vec<u64>,
    bids: Vec<Bid>,
}

/// A bid of `price` for each of `slices`, of which `won` are won.
#[derive(Clone, Copy, Debug)]
struct Bid {
    user: u32,
    price: u64,
    slices: u64,
    won: u64,
}

impl Mpsp {
    /// No round has been held yet.
    pub fn new(settings: MpspSettings) -> Self {
        let users = settings.strategic.len();
        Self {
            random: Random::new(settings.seed, STREAM),
            settings,
            capacity: 0,
            members: Vec::new(),
            payments: vec![0; users],
            won: vec![0; users],
            bids: Vec::new(),
        }
    }

    /// What the others bid for `slices` that are freed: the highest bids that lost, `winner`'s own aside, then the
    /// host, who bids for all.
    fn damage(losing: &[Bid], winner: u32, mut slices: u64) -> u128 {
        let mut damage = 0;
        for bid in losing.iter().filter(|bid| bid.user != winner) {
            let taken = slices.min(bid.slices - bid.won);
            damage += u128::from(taken) * u128::from(bid.price);
            slices -= taken;
            if slices == 0 {
                break;
            }
        }
        damage + u128::from(slices) * u128::from(RESERVE)
    }
}

impl Mechanism for Mpsp {
    fn name(&self) -> &'static str {
        "mpsp"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.capacity = due.capacity();
        self.members = due.members().to_vec();
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        self.bids.clear();
        for &user in &self.members {
            allocated[user as usize] = 0;
            self.won[user as usize] = 0;
            let price = if self.settings.strategic[user as usize] {
                VALUATION - DEVIATION + self.random.below(2 * DEVIATION + 1)
            } else {
                VALUATION
            };
            let slices = demands[user as usize];
            if slices > 0 {
                self.bids.push(Bid { user, price, slices, won: 0 });
            }
        }
        let ties = self.settings.ties;
        self.bids.sort_by(|a, b| b.price.cmp(&a.price).then_with(|| ties.order(a.user, b.user, demands)));
        // Nobody bids less than the host.
        let mut free = self.capacity;
        let mut winners = 0;
        let mut fully = 0;
        for bid in &mut self.bids {
            bid.won = bid.slices.min(free);
            free -= bid.won;
            winners += usize::from(bid.won > 0);
            fully += usize::from(bid.won == bid.slices);
        }
        let losing = &self.bids[fully..];
        for bid in &self.bids[..winners] {
            allocated[bid.user as usize] = bid.won;
            self.won[bid.user as usize] = bid.won;
            self.payments[bid.user as usize] = Self::damage(losing, bid.user, bid.won);
        }
    }

    fn account(&self) -> Account {
        Account::UnitPrice
    }

    fn balance(&self, user: usize) -> f64 {
        match self.won[user] {
            0 => 0.0,
            won => self.payments[user] as f64 / (won as f64 * VALUATION as f64),
        }
    }
}
