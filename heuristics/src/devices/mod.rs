//! Placing where there are rules inside servers: what is free is kept device by device, and all servers are looked at for each task.
//!
//! A task that takes a part of a device, at will or by a profile, takes it of one device, the one with the least free that has room
//! unless the policy says another (ties: the lowest index), and keeps it; a profile begins there where it leaves the most starts of all
//! profiles open (ties: the last). Whole devices are the first ones that nobody uses. A gang is placed where it
//! has room as a whole, the server of each task chosen like that of any other.

mod along;
mod best_fit;
mod between;
mod clustering;
mod device;
mod dot_product;
mod fgd;
mod gang;
mod least;
mod on_devices;
mod packing_gpus;
mod scored;
mod servers;

use between::Between;

pub use along::place_along;
pub(crate) use best_fit::GpuBestFit;
pub(crate) use clustering::GpuClustering;
pub(crate) use dot_product::GpuDotProduct;
pub(crate) use fgd::Fgd;
pub(crate) use least::Least;
pub(crate) use on_devices::OnDevices;
pub(crate) use packing_gpus::GpuPacking;
pub(crate) use scored::ByScore;
pub(crate) use servers::Servers;

use crate::filling::fill;
use crate::packing::Packing;
use crate::rule::Rule;
use crate::{InOrder, PlacementError, Turn};
use fairplan_instances::{Deadline, Gang, Instance, Placement};

/// Where a task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub server: usize,
    /// The device of which it takes a part, counted over all devices of the server; `None`: the one with the least room.
    pub device: Option<usize>,
}

impl Chosen {
    pub fn server(server: usize) -> Self {
        Self { server, device: None }
    }
}

/// Which of the servers with room a task goes to: the part in which policies differ.
pub(crate) trait Choice {
    /// The server for a task of a shape, which will be placed there; `None` if no server has room.
    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen>;

    /// There is a server of this capacity, or will be.
    fn added(&mut self, _capacity: &[u128]) {}

    /// For how many more tasks of a shape the policy finds room on a server.
    fn room(&self, servers: &Servers, server: usize, shape: usize) -> u64 {
        servers.room(server, shape)
    }

    /// A task is placed on a server that was not chosen.
    fn taken(&mut self, _servers: &Servers, _server: usize, _shape: usize) {}

    /// So many pieces of a shape that were placed on a server are there no more.
    fn taken_back(&mut self, _servers: &Servers, _server: usize, _shape: usize, _count: u64) {}
}

/// Fills the servers of an instance.
pub(crate) fn place(
    instance: &Instance,
    turn: Turn,
    deadline: &Deadline,
    choice: impl Choice,
) -> Result<Placement, PlacementError> {
    let packing = Packing::in_resources(instance)?.apart();
    let servers = Servers::new(instance, &packing);
    fill(instance, &packing, Inside { servers, choice }, turn, deadline)
}

/// Places one task after the other, each of the user named, where there is room: the servers of the tasks.
pub(crate) fn place_in_order(
    InOrder { instance, order, deadline }: InOrder<'_>,
    choice: impl Choice,
) -> Result<Vec<Option<usize>>, PlacementError> {
    instance.without_rules_between_servers("placing tasks as they come")?;
    let packing = Packing::in_resources(instance)?.apart();
    let mut rule = Inside { servers: Servers::new(instance, &packing), choice };
    let mut placed = Vec::with_capacity(order.len());
    for user in order {
        if deadline.is_over() {
            return Err(PlacementError::OutOfTime { placed: placed.iter().flatten().count() as u64 });
        }
        placed.push(rule.take(user.0));
    }
    Ok(placed)
}

/// A choice at work; shapes are kinds.
struct Inside<C> {
    servers: Servers,
    choice: C,
}

impl<C: Choice> Rule for Inside<C> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        let Chosen { server, device } = self.choice.choose(&self.servers, shape)?;
        self.servers.take(server, shape, device);
        Some(server)
    }

    fn take_gang(&mut self, shape: usize, gang: Gang, taken: &mut dyn FnMut(usize) -> Option<Vec<usize>>) {
        gang::take(&mut self.servers, &mut self.choice, (shape, gang), |servers, chosen| {
            servers.take(chosen.server, shape, chosen.device);
            if let Some(classes) = taken(chosen.server) {
                servers.allow(shape, &classes);
            }
        });
    }

    fn looks_at(&self) -> usize {
        self.servers.count()
    }

    fn begin(&mut self) {
        self.servers.begin();
    }

    fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        self.servers.take_back(server, shape, count);
        self.choice.taken_back(&self.servers, server, shape, count);
    }

    fn allow(&mut self, _packing: &Packing, shape: usize, classes: &[usize]) {
        self.servers.allow(shape, classes);
    }

    /// Nothing is sure of servers whose devices fill up one by one.
    fn sure(&mut self, _shape: usize) -> Option<usize> {
        None
    }

    fn free(&self, server: usize) -> &[u128] {
        self.servers.free(server)
    }

    fn take_many(&mut self, _server: usize, _shape: usize, _count: u64) {}
}
