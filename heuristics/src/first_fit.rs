//! First-Fit: the lowest-index server with room (DRFH Sec. V-B).

use crate::filling::fill;
use crate::first_with_room::{FirstFitting, FirstWithRoom};
use crate::packing::Packing;
use crate::{PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

/// Places every task on the first server that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFit;

impl PlacementPolicy for FirstFit {
    fn name(&self) -> String {
        "first-fit".into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        let packing = Packing::in_resources(instance)?;
        fill(instance, &packing, FirstWithRoom::new(&packing), deadline)
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(FirstFitting::new(totals.len()))
    }
}
