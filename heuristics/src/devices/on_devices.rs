//! The same on servers whose tasks come and go: which devices each task has is kept, and given back when it ends.
//!
//! A rule is kept when tasks begin. A task that ends may leave domains that differ by more than a spread; then the next ones go where
//! fewer are.

use super::device::Device;
use super::{Choice, Chosen, Servers, gang};
use fairplan_instances::{DeviceProfiles, Gang, ServerChoice, TaskRules};

/// A choice among servers with devices.
pub(crate) struct OnDevices<C> {
    servers: Servers,
    choice: C,
    tasks: Tasks,
}

/// The tasks that run, by number.
#[derive(Default)]
struct Tasks {
    held: Vec<Held>,
    vacant: Vec<u32>,
    /// The number of the task placed last.
    taken: u32,
}

/// A task that runs.
#[derive(Default)]
struct Held {
    /// Its server and shape; nowhere if the number is free.
    of: Option<(usize, usize)>,
    /// What it has of the devices of its server, positions there and parts.
    devices: Vec<(usize, Device)>,
}

impl Tasks {
    /// A task of a shape takes its room and has a number from now on.
    fn place(&mut self, servers: &mut Servers, Chosen { server, device }: Chosen, shape: usize) {
        let before = servers.devices(server).to_vec();
        servers.take(server, shape, device);
        let taken = before.iter().zip(servers.devices(server)).enumerate();
        let taken = taken.filter(|(_, (before, after))| before != after);
        let devices = taken.map(|(at, (before, after))| (at, after.taken_since(*before))).collect();
        self.taken = self.vacant.pop().unwrap_or_else(|| {
            self.held.push(Held::default());
            (self.held.len() - 1) as u32
        });
        self.held[self.taken as usize] = Held { of: Some((server, shape)), devices };
    }
}

impl<C: Choice> OnDevices<C> {
    /// No servers and no tasks yet, with devices of these sizes, one a resource, 0 where it has none.
    pub fn new(sizes: &[u128], choice: C) -> Self {
        let servers = Servers::empty(sizes);
        Self { servers, choice, tasks: Tasks::default() }
    }
}

impl<C: Choice + Send> ServerChoice for OnDevices<C> {
    fn add_server(&mut self, capacity: &[u128]) {
        self.add_server_in(capacity, 0);
    }

    fn cut_devices(&mut self, profiles: &[DeviceProfiles]) {
        self.servers.cut_devices(profiles);
    }

    fn add_server_in(&mut self, capacity: &[u128], domain: usize) {
        self.choice.added(capacity);
        self.servers.add_server(capacity, domain);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        self.choice.added(to);
        self.servers.resize(server, from, to)
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.add_shape_under(demand, TaskRules::default());
    }

    fn add_shape_under(&mut self, demand: &[u128], rules: TaskRules) {
        self.servers.add_shape(demand, rules);
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        let chosen = self.choice.choose(&self.servers, shape)?;
        self.tasks.place(&mut self.servers, chosen, shape);
        Some(chosen.server)
    }

    fn take_gang(&mut self, shape: usize, gang: Gang, on: &mut Vec<(usize, u32)>) {
        let Self { servers, choice, tasks } = self;
        gang::take(servers, choice, (shape, gang), |servers, chosen| {
            tasks.place(servers, chosen, shape);
            on.push((chosen.server, tasks.taken));
        });
        if (on.len() as u64) < gang.tasks {
            on.drain(..).for_each(|(server, devices)| self.release_from(server, shape, devices));
        }
    }

    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        let has_room = self.servers.has_room(server, shape);
        if has_room {
            self.choice.taken(&self.servers, server, shape);
            self.tasks.place(&mut self.servers, Chosen::server(server), shape);
        }
        has_room
    }

    fn devices_taken(&self) -> u32 {
        self.tasks.taken
    }

    /// Of tasks that are alike one is as good as another to who does not say which devices it has.
    fn release(&mut self, server: usize, shape: usize) {
        if let Some(any) = self.tasks.held.iter().position(|held| held.of == Some((server, shape))) {
            self.release_from(server, shape, any as u32);
        }
    }

    fn release_from(&mut self, server: usize, shape: usize, devices: u32) {
        let held = std::mem::take(&mut self.tasks.held[devices as usize]);
        self.servers.give_back(server, shape, &held.devices);
        self.choice.taken_back(&self.servers, server, shape, 1);
        self.tasks.vacant.push(devices);
    }
}

#[cfg(test)]
mod tests {
    use crate::{DEVICE_POLICIES, POLICIES, device_policy, policy};
    use fairplan_instances::Random;

    /// Where each task is, by the checker's rules alone: a device is never more than full, and no task waits that has room.
    #[test]
    fn tasks_that_come_and_go_keep_their_devices_and_wait_only_where_none_has_room() {
        const SIZE: u128 = 10;
        let sizes = [0, SIZE];
        let known = POLICIES.names().filter(|name| !name.contains('='));
        let known = known.map(|name| policy(name, 3).unwrap());
        let of_devices = DEVICE_POLICIES.names().map(|name| device_policy(name, 3).unwrap());
        let mut tried = 0;
        for policy in known.chain(of_devices) {
            let name = policy.name();
            let mut random = Random::new(24, 7);
            let mut choice = policy.choice_on_devices(&[60, 90], &sizes).unwrap();
            let counts = [4u128, 2, 3];
            counts.iter().for_each(|count| choice.add_server(&[20, count * SIZE]));
            let shapes = [[1, 6], [1, 4], [2, 10], [3, 20], [1, 0], [1, 3]];
            shapes.iter().for_each(|shape| choice.add_shape(shape));
            let mut running: Vec<(usize, usize, u32)> = Vec::new();
            for _ in 0..3_000 {
                if random.below(3) == 0 && !running.is_empty() {
                    let (server, shape, devices) =
                        running.swap_remove(random.below(running.len() as u64) as usize);
                    choice.release_from(server, shape, devices);
                    continue;
                }
                let shape = random.below(shapes.len() as u64) as usize;
                if let Some(server) = choice.take(shape) {
                    running.push((server, shape, choice.devices_taken()));
                    assert!((0..3).all(|server| fits(&shapes, &running, server, counts[server])), "{name}");
                    tried += 1;
                } else {
                    assert!((0..3).all(|server| !choice.take_on(server, shape)), "{name}");
                }
            }
            running.into_iter().for_each(|(server, shape, devices)| {
                choice.release_from(server, shape, devices);
            });
            // All devices are whole again.
            let whole = |server: usize| (0..counts[server]).all(|_| choice_takes(&mut *choice, server, 2));
            assert!((0..3).all(whole), "{name}");
        }
        assert!(tried > 8_000, "only {tried} tasks ran");
    }

    fn choice_takes(choice: &mut dyn fairplan_instances::ServerChoice, server: usize, shape: usize) -> bool {
        choice.take_on(server, shape)
    }

    /// Whether the amounts of a server hold its tasks, and some way to hand out its devices does.
    fn fits(shapes: &[[u128; 2]], running: &[(usize, usize, u32)], server: usize, count: u128) -> bool {
        let here: Vec<[u128; 2]> =
            running.iter().filter(|task| task.0 == server).map(|task| shapes[task.1]).collect();
        let whole: u128 = here.iter().filter(|task| task[1] >= 10).map(|task| task[1] / 10).sum();
        let mut parts: Vec<u128> =
            here.iter().map(|task| task[1]).filter(|part| (1..10).contains(part)).collect();
        parts.sort_unstable_by(|a, b| b.cmp(a));
        let cpu: u128 = here.iter().map(|task| task[0]).sum();
        cpu <= 20 && whole <= count && handed_out(&parts, &mut vec![10; (count - whole) as usize])
    }

    fn handed_out(parts: &[u128], free: &mut [u128]) -> bool {
        let Some((part, rest)) = parts.split_first() else { return true };
        (0..free.len()).any(|at| {
            if free[at] < *part || free[..at].contains(&free[at]) {
                return false;
            }
            free[at] -= part;
            let found = handed_out(rest, free);
            free[at] += part;
            found
        })
    }
}
