//! Least attained service: the user that got least so far, by weight, is served next.
//!
//! Karma Sec. 6 notes that Karma with `α = 0` behaves so, as long as nobody runs out of credits. Who joins later
//! starts with what the others attained on the mean, by weight, as a newcomer to Karma does with credits.

use crate::ladders::{Ladder, take_highest};
use crate::{Mechanism, MechanismError, Ties};
use fairplan_instances::Entitlement;

/// The mechanism and what everybody attained.
#[derive(Clone, Debug)]
pub struct LeastAttained {
    ties: Ties,
    capacity: u64,
    members: Vec<u32>,
    weights: Vec<u32>,
    attained: Vec<u64>,
    ladders: Vec<Ladder>,
}

impl LeastAttained {
    /// Nobody got anything yet; `ties` decides among users who got the same.
    pub fn new(ties: Ties, users: usize) -> Self {
        Self {
            ties,
            capacity: 0,
            members: Vec::new(),
            weights: vec![0; users],
            attained: vec![0; users],
            ladders: Vec::new(),
        }
    }
}

impl Mechanism for LeastAttained {
    fn name(&self) -> &'static str {
        "las"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.capacity = due.capacity();
        let total: u128 = self.members.iter().map(|user| u128::from(self.attained[*user as usize])).sum();
        let weight: u128 = self.members.iter().map(|user| u128::from(self.weights[*user as usize])).sum();
        for user in due.members().iter().map(|user| *user as usize) {
            if self.weights[user] == 0 && weight > 0 {
                self.attained[user] = (total * u128::from(due.weight(user)) / weight) as u64;
            }
        }
        self.members = due.members().to_vec();
        self.weights = (0..self.weights.len()).map(|user| due.weight(user) as u32).collect();
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        self.ladders.clear();
        for &user in &self.members {
            let u = user as usize;
            allocated[u] = 0;
            let rungs = demands[u].min(self.capacity);
            if rungs > 0 {
                let top = -(self.attained[u] as i64);
                self.ladders.push(Ladder { user, weight: self.weights[u], top, step: 1, rungs });
            }
        }
        let attained = &mut self.attained;
        take_highest(&self.ladders, self.capacity, self.ties, demands, |user, slices| {
            allocated[user] += slices;
            attained[user] += slices;
        });
    }
}
