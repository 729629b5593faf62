//! The stationary distribution by multilevel aggregation: balance the lines, solve the chain of groups of neighbours the
//! same way, scale every group to what came out, balance again.
//!
//! Neighbours in pairs give again a chain of birth and death, so that one kind of chain and one smoother do for all
//! levels. Each coarser chain is visited twice: groups of constant proportions move mass half as far as they should.

use super::lattice::{Lattice, Masses};

/// Visits of each coarser chain.
const VISITS: usize = 2;

/// One cycle over the chain and all coarser ones.
pub(super) fn cycle(chain: &Lattice, masses: &mut Masses) {
    if chain.is_line() {
        chain.solve_line(masses);
        return;
    }
    chain.smooth(masses);
    let factors = chain.coarsening(masses);
    let (coarse, before) = chain.aggregate(masses, &factors);
    let mut after = before.clone();
    for _ in 0..VISITS {
        cycle(&coarse, &mut after);
    }
    chain.prolong(masses, &factors, coarse.shape(), &before, &after);
    chain.smooth(masses);
    masses.normalise();
}
