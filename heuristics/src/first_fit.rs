//! First-Fit: the lowest-index server with room (DRFH Sec. V-B).

use crate::devices::{self, Choice, Chosen, OnDevices, Servers};
use crate::filling::fill;
use crate::first_with_room::{FirstFitting, FirstWithRoom};
use crate::packing::Packing;
use crate::{InOrder, PlacementError, PlacementPolicy};
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice};

/// Places every task on the first server that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFit;

impl PlacementPolicy for FirstFit {
    fn name(&self) -> String {
        "first-fit".into()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        if instance.has_server_rules() {
            return devices::place(instance, self.turn(), deadline, FirstInside);
        }
        let packing = Packing::in_resources(instance)?;
        fill(instance, &packing, FirstWithRoom::new(&packing), self.turn(), deadline)
    }

    fn place_in_order(&self, asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        devices::place_in_order(asked, FirstInside)
    }

    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(FirstFitting::new(totals.len()))
    }

    fn choice_on_devices(&self, _totals: &[u128], sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        Some(Box::new(OnDevices::new(sizes, FirstInside)))
    }
}

/// The same where there are rules inside servers.
struct FirstInside;

impl Choice for FirstInside {
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        servers.with_room(shape).next().map(Chosen::server)
    }
}
