//! Tickets and claims: tickets are granted by max-min fairness, and slices are drawn among those who hold tickets.
//!
//! Fair Shares Sec. 4.1 and Alg. 3, after Sharp. There are more tickets than slices, by the degree of
//! oversubscription. In every quantum the free tickets are granted as claims; every user may redeem as many tickets
//! as it demands slices; if that is more than there are slices, each slice is drawn, by the number of tickets held,
//! among the users who have not yet redeemed all they may. Redeemed tickets are free again, claims that end soonest
//! being redeemed first; and a claim ends after its term.

use crate::max_min::MaxMin;
use crate::{Account, Mechanism, MechanismError, Ties};
use fairplan_instances::{Entitlement, Random};

/// The stream of the seed that slices are drawn from.
const STREAM: u64 = 2;

/// What decides an outcome, beside the fair shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharpSettings {
    /// Tickets for every slice; at least 1.
    pub oversubscription: u64,
    /// Quanta after which a claim ends, that of its grant included; at least 1.
    pub term: usize,
    /// Who comes first among equals when tickets are granted.
    pub ties: Ties,
    /// Who asks for at least its fair share of the free tickets, by user.
    pub strategic: Vec<bool>,
    /// Seed of the draws.
    pub seed: u64,
}

/// The mechanism and the tickets that users hold.
#[derive(Clone, Debug)]
pub struct Sharp {
    settings: SharpSettings,
    random: Random,
    grants: MaxMin,
    capacity: u64,
    members: Vec<u32>,
    /// Tickets that nobody holds.
    free: u64,
    /// Tickets by the quantum their claim ends in, row-major `users × term`; the column of `quantum` modulo the term ends soonest.
    claims: Vec<u64>,
    /// Quanta allocated so far, modulo the term.
    quantum: usize,
    held: Vec<u64>,
    /// Tickets held when the slices of the last quantum were allocated.
    stakes: Vec<u64>,
    requests: Vec<u64>,
    granted: Vec<u64>,
    lottery: Lottery,
}

impl Sharp {
    /// Nobody holds a ticket yet.
    pub fn new(settings: SharpSettings) -> Self {
        let users = settings.strategic.len();
        Self {
            random: Random::new(settings.seed, STREAM),
            grants: MaxMin::new(settings.ties),
            capacity: 0,
            members: Vec::new(),
            free: 0,
            claims: vec![0; users * settings.term],
            quantum: 0,
            held: vec![0; users],
            stakes: vec![0; users],
            requests: vec![0; users],
            granted: vec![0; users],
            lottery: Lottery::default(),
            settings,
        }
    }

    /// Grants the free tickets by max-min fairness, as claims that end after the term.
    fn grant(&mut self, demands: &[u64]) {
        let term = self.settings.term;
        let last = (self.quantum + term - 1) % term;
        let fair = self.free / self.members.len().max(1) as u64;
        for user in self.members.iter().map(|user| *user as usize) {
            let least = if self.settings.strategic[user] { fair } else { 0 };
            self.requests[user] = demands[user].max(least);
        }
        self.grants.divide(self.free, &self.requests, &mut self.granted);
        for user in self.members.iter().map(|user| *user as usize) {
            let granted = self.granted[user];
            if granted > 0 {
                self.claims[user * term + last] = granted;
                self.held[user] += granted;
                self.free -= granted;
            }
        }
    }

    /// Takes back the redeemed tickets, from the claims that end soonest, and those of the claims that end now.
    fn redeem(&mut self, allocated: &[u64]) {
        let term = self.settings.term;
        for user in self.members.iter().map(|user| *user as usize) {
            // Who holds nothing has nothing to give back.
            if self.held[user] == 0 {
                continue;
            }
            let mut left = allocated[user];
            let (later, soonest) = self.claims[user * term..][..term].split_at_mut(self.quantum);
            for claim in soonest.iter_mut().chain(later) {
                if left == 0 {
                    break;
                }
                let redeemed = left.min(*claim);
                *claim -= redeemed;
                left -= redeemed;
            }
            let ended = std::mem::take(&mut self.claims[user * term + self.quantum]);
            let back = allocated[user] + ended;
            self.held[user] -= back;
            self.free += back;
        }
        self.quantum = (self.quantum + 1) % term;
    }
}

impl Mechanism for Sharp {
    fn name(&self) -> &'static str {
        "sharp"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.grants.admit(due)?;
        self.capacity = due.capacity();
        for user in self.members.iter().map(|user| *user as usize).filter(|user| due.weight(*user) == 0) {
            self.held[user] = 0;
            self.claims[user * self.settings.term..][..self.settings.term].fill(0);
        }
        self.members = due.members().to_vec();
        let held: u64 = self.members.iter().map(|user| self.held[*user as usize]).sum();
        // When the capacity has shrunk, tickets run out until claims end.
        self.free = (self.capacity * self.settings.oversubscription).saturating_sub(held);
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        self.grant(demands);
        self.stakes.copy_from_slice(&self.held);
        let mut redeemable = 0;
        for user in self.members.iter().map(|user| *user as usize) {
            allocated[user] = demands[user].min(self.held[user]);
            redeemable += allocated[user];
        }
        if redeemable > self.capacity {
            self.lottery.open(&self.members, &self.held, allocated);
            for user in self.members.iter().map(|user| *user as usize) {
                allocated[user] = 0;
            }
            for _ in 0..self.capacity {
                let user = self.lottery.draw(&mut self.random);
                allocated[user] += 1;
            }
        }
        self.redeem(allocated);
    }

    fn account(&self) -> Account {
        Account::Tickets
    }

    fn balance(&self, user: usize) -> f64 {
        self.stakes[user] as f64
    }
}

/// Draws users by their tickets until each has drawn as often as it may: a binary indexed tree of the tickets.
#[derive(Clone, Debug, Default)]
struct Lottery {
    users: Vec<u32>,
    tickets: Vec<u64>,
    left: Vec<u64>,
    /// As long as a power of two: no sum at the nodes beyond the users is ever reached.
    tree: Vec<u64>,
    total: u64,
}

impl Lottery {
    fn open(&mut self, members: &[u32], held: &[u64], may_draw: &[u64]) {
        self.users.clear();
        self.tickets.clear();
        self.left.clear();
        for user in members.iter().filter(|user| may_draw[**user as usize] > 0) {
            self.users.push(*user);
            self.tickets.push(held[*user as usize]);
            self.left.push(may_draw[*user as usize]);
        }
        self.total = self.tickets.iter().sum();
        self.tree.clear();
        self.tree.push(0);
        self.tree.extend_from_slice(&self.tickets);
        for node in 1..self.tree.len() {
            let parent = node + (node & node.wrapping_neg());
            if parent < self.tree.len() {
                self.tree[parent] += self.tree[node];
            }
        }
        self.tree.resize(self.tree.len().next_power_of_two(), u64::MAX);
    }

    fn draw(&mut self, random: &mut Random) -> usize {
        let mut ticket = random.below(self.total);
        let mut position = 0;
        let mut stride = self.tree.len() / 2;
        while stride > 0 {
            // Whether it is passed is a matter of luck: a number to multiply by, not a branch to guess.
            let count = self.tree[position + stride];
            let passed = count <= ticket;
            ticket -= if passed { count } else { 0 };
            position += stride * usize::from(passed);
            stride /= 2;
        }
        self.left[position] -= 1;
        if self.left[position] == 0 {
            self.total -= self.tickets[position];
            let mut node = position + 1;
            while node <= self.users.len() {
                self.tree[node] -= self.tickets[position];
                node += node & node.wrapping_neg();
            }
        }
        self.users[position] as usize
    }
}
