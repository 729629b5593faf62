//! Placing one task at a time on servers whose tasks come and go: asked for by whoever simulates a cluster, answered by
//! a placement policy.

use crate::{DeviceProfiles, Gang, ProfileId};

/// The rules that tasks which are alike meet where they are placed, as instances state them of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TaskRules {
    /// At most so many of them on one server.
    pub per_server: Option<u64>,
    /// So many of them at once, or none.
    pub gang: Option<Gang>,
    /// By how many two domains differ at most when one of them begins.
    pub spread: Option<u64>,
    /// The part of a device that each takes.
    pub profile: Option<ProfileId>,
}

/// Servers, what they have free, and the rule that chooses among those with room. All amounts are whole numbers of one
/// smallest unit of each resource, one amount a resource.
///
/// Servers and shapes (kinds of tasks) are numbered from 0 in the order in which they are added.
pub trait ServerChoice: Send {
    /// Adds a server without tasks.
    fn add_server(&mut self, capacity: &[u128]);

    /// Says into what devices can be cut, before any server comes.
    fn cut_devices(&mut self, _profiles: &[DeviceProfiles]) {}

    /// Adds a server without tasks in the domain of this number.
    fn add_server_in(&mut self, capacity: &[u128], _domain: usize) {
        self.add_server(capacity);
    }

    /// Gives a server of the capacity `from` the capacity `to`, 0 of everything if it is gone. Tells whether its tasks
    /// have room in it; if not, nothing has changed and some of them must be released first.
    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool;

    /// Adds a kind of tasks that need some of at least one resource.
    fn add_shape(&mut self, demand: &[u128]);

    /// The same of tasks that meet rules, asked only of who knows them.
    fn add_shape_under(&mut self, demand: &[u128], _rules: TaskRules) {
        self.add_shape(demand);
    }

    /// Takes the room of a whole gang and adds to `on` where each of its tasks is, with what [`ServerChoice::devices_taken`] says of it;
    /// nothing if the gang has no room.
    fn take_gang(&mut self, _shape: usize, _gang: Gang, _on: &mut Vec<(usize, u32)>) {}

    /// Chooses a server with room for one more task of this shape and takes the room, or finds that no server has any.
    fn take(&mut self, shape: usize) -> Option<usize>;

    /// Takes the room of a task of this shape on this server, unless there is none.
    fn take_on(&mut self, server: usize, shape: usize) -> bool;

    /// The same of a task that runs there already, which nobody chooses a server for any more.
    fn hold(&mut self, server: usize, shape: usize) -> bool {
        self.take_on(server, shape)
    }

    /// Gives back the room of a task of this shape.
    fn release(&mut self, server: usize, shape: usize);

    /// Which devices of its server the task has that was placed last, by a number of the choice's; 0 where servers have none.
    fn devices_taken(&self) -> u32 {
        0
    }

    /// Gives back the room of a task of this shape that has these devices.
    fn release_from(&mut self, server: usize, shape: usize, _devices: u32) {
        self.release(server, shape);
    }

    /// Whether every task that has room must go through [`ServerChoice::take`], also where only one server has any: who chooses
    /// keeps an account of its own.
    fn decides_alone(&self) -> bool {
        false
    }
}

/// Begins a [`ServerChoice`]. It is told what the servers there from the beginning have of each resource together, and the
/// most that one of them has.
pub type ServerRule<'a> = dyn Fn(&[u128], &[u128]) -> Box<dyn ServerChoice> + Sync + 'a;
