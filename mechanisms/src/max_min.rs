//! Periodic max-min fairness: in every quantum on its own, the user with the least by weight is served next.
//!
//! Weighted by the fair shares. Slices are whole: the last ones of a level that not all can reach go in the order of
//! the ties.

use crate::ladders::{Ladder, take_highest};
use crate::{Mechanism, MechanismError, Ties};
use fairplan_instances::Entitlement;

/// The mechanism; it remembers nothing.
#[derive(Clone, Debug, Default)]
pub struct MaxMin {
    ties: Ties,
    capacity: u64,
    members: Vec<(u32, u32)>,
    ladders: Vec<Ladder>,
}

impl MaxMin {
    /// `ties` decides among users who have the same.
    pub fn new(ties: Ties) -> Self {
        Self { ties, ..Self::default() }
    }

    /// Divides so many slices, or whatever there are.
    pub(crate) fn divide(&mut self, slices: u64, demands: &[u64], allocated: &mut [u64]) {
        self.ladders.clear();
        for &(user, weight) in &self.members {
            allocated[user as usize] = 0;
            let rungs = demands[user as usize].min(slices);
            if rungs > 0 {
                // What the user has, negated: with `j` slices it stands at `-j / weight`.
                self.ladders.push(Ladder { user, weight, top: 0, step: 1, rungs });
            }
        }
        take_highest(&self.ladders, slices, self.ties, demands, |user, slices| allocated[user] += slices);
    }
}

impl Mechanism for MaxMin {
    fn name(&self) -> &'static str {
        "max-min"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.capacity = due.capacity();
        self.members = due.members().iter().map(|user| (*user, due.weight(*user as usize) as u32)).collect();
        Ok(())
    }

    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]) {
        self.divide(self.capacity, demands, allocated);
    }
}
