//! One user's part of the servers, where users do not share.

use fairplan_instances::Random;
use fairplan_instances::trace::UserNumber;

/// The random numbers that deal servers.
const STREAM: u64 = 61;

/// One user's part of the servers: servers are dealt to users in turn, those there from the beginning in a random order.
pub(super) struct Part {
    pub user: UserNumber,
    /// Where the user stands among those who submit tasks, and how many these are.
    pub turn: usize,
    pub turns: usize,
    pub seed: u64,
    /// The user's servers among those there from the beginning.
    pub own: Vec<bool>,
}

impl Part {
    /// Deals the servers that are there from the beginning.
    pub fn dealt(mut self, servers: usize) -> Self {
        let mut random = Random::new(self.seed, STREAM);
        let mut order: Vec<usize> = (0..servers).collect();
        for last in (1..servers).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        self.own = vec![false; servers];
        order.into_iter().skip(self.turn).step_by(self.turns).for_each(|server| self.own[server] = true);
        self
    }

    /// Whether a server is the user's.
    pub fn has(&self, server: usize) -> bool {
        self.own.get(server).copied().unwrap_or(server % self.turns == self.turn)
    }
}
