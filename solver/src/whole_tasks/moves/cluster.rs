//! The servers while tasks of users come and go: what is on each, what is free, and how many tasks each user has. Of users with kinds
//! every kind is one more user here, with its pieces as tasks.

use super::super::packing::{Packing, Quantities, copies, fits, less, more, times};
use fairplan_instances::{Instance, MoveRules, Placement, ServerTasks, Violation, tasks_of};
use std::collections::HashMap;

/// Tasks that leave a server, and others that come instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    /// `(user, tasks)`, no zeros.
    pub removed: Vec<(u32, u64)>,
    pub added: Vec<(u32, u64)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Server {
    /// The merged class.
    pub class: usize,
    pub free: Quantities,
    /// Users in order, no zeros.
    pub tasks: ServerTasks,
    /// Whether what runs there stays.
    pub is_kept: bool,
}

#[derive(Clone)]
pub(super) struct Cluster<'a> {
    pub packing: &'a Packing,
    /// In the instance's order.
    pub servers: Vec<Server>,
    /// Pieces of each kind; tasks of users without kinds.
    pub totals: Vec<u64>,
}

impl<'a> Cluster<'a> {
    /// # Errors
    /// A server that holds more than it has, or a task where it may not be.
    pub fn new(
        instance: &Instance,
        packing: &'a Packing,
        placement: &Placement,
        rules: &MoveRules,
    ) -> Result<Self, Violation> {
        let mut merged = vec![0; instance.classes().len()];
        for (l, class) in packing.classes.iter().enumerate() {
            class.members.iter().for_each(|member| merged[member.0] = l);
        }
        let mut servers = Vec::with_capacity(placement.servers.len());
        for (s, (class, tasks)) in instance.classes_of_servers().zip(&placement.servers).enumerate() {
            let class = merged[class.0];
            let mut free = packing.classes[class].capacity;
            for (user, count) in tasks {
                let shape = packing.shape_of[*user as usize].map(|shape| &packing.shapes[shape as usize]);
                let fitting =
                    shape.filter(|shape| shape.copies[class] > 0 && copies(&shape.demand, &free) >= *count);
                let Some(shape) = fitting else {
                    let place = format!("servers[{s}]");
                    let problem = "holds more than it has, or a task that may not run there: fewest moves are found from placements \
                                   that break no rule; mend it first, by the steps to a placement of your own";
                    return Err(Violation::new(place, "", problem));
                };
                free = less(&free, &times(&shape.demand, *count));
            }
            servers.push(Server { class, free, tasks: tasks.clone(), is_kept: rules.kept_servers[s] });
        }
        Ok(Self { packing, servers, totals: placement.pieces(instance) })
    }

    /// The demand of a task of a user that can have tasks.
    pub fn demand(&self, user: u32) -> &'a Quantities {
        let shape = self.packing.shape_of[user as usize].unwrap_or(0);
        &self.packing.shapes[shape as usize].demand
    }

    /// Whether one more task of `user` fits on a server.
    pub fn has_room(&self, server: usize, user: u32) -> bool {
        let Some(shape) = self.packing.shape_of[user as usize] else { return false };
        let (shape, server) = (&self.packing.shapes[shape as usize], &self.servers[server]);
        shape.copies[server.class] > 0 && fits(&shape.demand, &server.free)
    }

    /// How many more tasks of `user` fit on a server.
    pub fn room(&self, server: usize, user: u32) -> u64 {
        let Some(shape) = self.packing.shape_of[user as usize] else { return 0 };
        let (shape, server) = (&self.packing.shapes[shape as usize], &self.servers[server]);
        if shape.copies[server.class] > 0 { copies(&shape.demand, &server.free) } else { 0 }
    }

    /// How many tasks of a user a server has.
    pub fn count(&self, server: usize, user: u32) -> u64 {
        let tasks = &self.servers[server].tasks;
        tasks.binary_search_by_key(&user, |(user, _)| *user).map_or(0, |at| tasks[at].1)
    }

    /// Takes tasks off a server that has them.
    pub fn remove(&mut self, server: usize, user: u32, count: u64) {
        let load = times(self.demand(user), count);
        let server = &mut self.servers[server];
        server.free = more(&server.free, &load);
        if let Ok(at) = server.tasks.binary_search_by_key(&user, |(user, _)| *user) {
            server.tasks[at].1 -= count;
            if server.tasks[at].1 == 0 {
                server.tasks.remove(at);
            }
        }
        self.totals[user as usize] -= count;
    }

    /// Puts tasks on a server with room for them.
    pub fn add(&mut self, server: usize, user: u32, count: u64) {
        let load = times(self.demand(user), count);
        let server = &mut self.servers[server];
        server.free = less(&server.free, &load);
        match server.tasks.binary_search_by_key(&user, |(user, _)| *user) {
            Ok(at) => server.tasks[at].1 += count,
            Err(at) => server.tasks.insert(at, (user, count)),
        }
        self.totals[user as usize] += count;
    }

    pub fn exchange(&mut self, server: usize, exchange: &Exchange) {
        exchange.removed.iter().for_each(|(user, count)| self.remove(server, *user, *count));
        exchange.added.iter().for_each(|(user, count)| self.add(server, *user, *count));
    }

    /// Servers with the same tasks in the same class, each once with those like it.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<&Server, usize> = HashMap::new();
        for (s, server) in self.servers.iter().enumerate() {
            let group = *known.entry(server).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(s);
        }
        groups
    }

    pub fn placement(&self, instance: &Instance) -> Placement {
        let servers = self.servers.iter().map(|server| server.tasks.clone()).collect();
        Placement { tasks: tasks_of(instance, &self.totals), servers }
    }
}
