//! Strict partitioning: everyone its fair share, whatever the demands.
//!
//! Slices are whole: what rounding the fair shares down leaves goes, one slice each, to the users with the largest
//! remainders.

use crate::{Mechanism, MechanismError, Ties};
use fairplan_instances::Entitlement;

/// The mechanism and everybody's partition.
#[derive(Clone, Debug, Default)]
pub struct StrictPartitioning {
    ties: Ties,
    shares: Vec<(u32, u64)>,
}

impl StrictPartitioning {
    /// Nobody has a partition yet; `ties` decides among equal remainders.
    pub fn new(ties: Ties) -> Self {
        Self { ties, shares: Vec::new() }
    }
}

impl Mechanism for StrictPartitioning {
    fn name(&self) -> &'static str {
        "strict"
    }

    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError> {
        self.shares = due.members().iter().map(|user| (*user, due.fair_share(*user as usize).0)).collect();
        let given: u64 = self.shares.iter().map(|(_, share)| share).sum();
        let remainder = |position: usize| due.fair_share(due.members()[position] as usize).1;
        let mut order: Vec<usize> = (0..self.shares.len()).collect();
        // Remainders do not depend on demands, and neither does who comes first among equal ones.
        if self.ties == Ties::Highest {
            order.reverse();
        }
        order.sort_by_key(|position| std::cmp::Reverse(remainder(*position)));
        for position in order.into_iter().take((due.capacity() - given) as usize) {
            self.shares[position].1 += 1;
        }
        Ok(())
    }

    fn allocate(&mut self, _: &[u64], allocated: &mut [u64]) {
        for (user, share) in &self.shares {
            allocated[*user as usize] = *share;
        }
    }
}
