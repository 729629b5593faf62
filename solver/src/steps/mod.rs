//! Steps from one placement to another, in an order in which each can be made: no task comes to a server that has no room for it at
//! that moment, nor where its user has as many as may be on one server. Rules between servers are kept by what the steps lead to: until
//! the last step domains may differ by more than a spread, and gangs may be on their way.
//!
//! What only stops does so first. Then tasks come wherever there is room; who makes room for others by it is preferred. Where
//! nothing can come, tasks wait for each other in a circle: one of them moves to a server that has room for it meanwhile, and from
//! there to its place later. Where no server has, it is stopped, and started again when there is room.

use fairplan_instances::{ClassId, Instance, MoveRules, Placement, ResourceId, Step, UserId};
use std::collections::{BTreeMap, BTreeSet};

/// Circles that are broken by moving a task out of the way.
const MOST_CIRCLES: u64 = 100_000;

/// The steps from `before` to `after`, and what they cost.
pub fn steps_between(
    instance: &Instance,
    before: &Placement,
    after: &Placement,
    rules: &MoveRules,
) -> (Vec<Step>, u64) {
    let mut carrying = Carrying::new(instance, before, after, rules);
    carrying.stop_what_ends();
    loop {
        carrying.come_where_there_is_room();
        if carrying.coming.is_empty() {
            break;
        }
        if !carrying.break_a_circle() {
            // Every server that tasks come to could be emptied of those that leave; so this is not reached.
            break;
        }
    }
    let cost = carrying.steps.iter().filter(|step| step.from.is_some());
    let cost =
        cost.map(|step| step.tasks.saturating_mul(rules.costs[step.user.0])).fold(0, u64::saturating_add);
    (carrying.steps, cost)
}

/// The servers while tasks are carried.
struct Carrying<'a> {
    instance: &'a Instance,
    rules: &'a MoveRules,
    demands: Vec<Vec<u128>>,
    class: Vec<ClassId>,
    load: Vec<Vec<u128>>,
    capacity: Vec<Vec<u128>>,
    /// Tasks of users with a limit a server.
    there: BTreeMap<(usize, u32), u64>,
    /// Tasks that are to leave a server, and that are to come: `(server, user)`.
    leaving: BTreeMap<(usize, u32), u64>,
    coming: BTreeMap<(usize, u32), u64>,
    /// Of each user, the servers that its tasks are to leave.
    sources: Vec<BTreeSet<usize>>,
    /// Of each user, how many are to leave and to come.
    to_leave: Vec<u64>,
    to_come: Vec<u64>,
    /// Tasks that are still to come, and circles that were broken.
    waiting: u64,
    circles: u64,
    /// Servers at which something may have changed for those that are to come.
    looked_at: BTreeSet<usize>,
    steps: Vec<Step>,
}

impl<'a> Carrying<'a> {
    fn new(instance: &'a Instance, before: &Placement, after: &Placement, rules: &'a MoveRules) -> Self {
        let (users, m) = (instance.user_count(), instance.resources().len());
        let units =
            |user: usize| (0..m).map(|r| instance.user(UserId(user)).demand_units(ResourceId(r))).collect();
        let demands: Vec<Vec<u128>> = (0..users).map(units).collect();
        let counts = instance.classes().iter().map(|class| class.count as usize).enumerate();
        let class: Vec<ClassId> =
            counts.flat_map(|(l, count)| std::iter::repeat_n(ClassId(l), count)).collect();
        let capacities: Vec<Vec<u128>> = (0..instance.classes().len())
            .map(|l| (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect())
            .collect();
        let mut carrying = Self {
            instance,
            rules,
            load: vec![vec![0; m]; class.len()],
            there: BTreeMap::new(),
            capacity: capacities,
            class,
            leaving: BTreeMap::new(),
            coming: BTreeMap::new(),
            sources: vec![BTreeSet::new(); users],
            to_leave: vec![0; users],
            to_come: vec![0; users],
            waiting: 0,
            circles: 0,
            looked_at: BTreeSet::new(),
            steps: Vec::new(),
            demands,
        };
        for (s, (before, after)) in before.servers.iter().zip(&after.servers).enumerate() {
            let count = |tasks: &[(u32, u64)], user: u32| {
                tasks.binary_search_by_key(&user, |(user, _)| *user).map_or(0, |at| tasks[at].1)
            };
            for (user, had) in before {
                carrying.change_load(s, *user, *had, true);
                let left = had.saturating_sub(count(after, *user));
                if left > 0 {
                    carrying.leaving.insert((s, *user), left);
                    carrying.sources[*user as usize].insert(s);
                    carrying.to_leave[*user as usize] += left;
                }
            }
            for (user, has) in after {
                let came = has.saturating_sub(count(before, *user));
                if came > 0 {
                    carrying.coming.insert((s, *user), came);
                    carrying.to_come[*user as usize] += came;
                    carrying.waiting = carrying.waiting.saturating_add(came);
                    carrying.looked_at.insert(s);
                }
            }
        }
        carrying
    }

    fn change_load(&mut self, server: usize, user: u32, count: u64, comes: bool) {
        for (load, demand) in self.load[server].iter_mut().zip(&self.demands[user as usize]) {
            let amount = demand.saturating_mul(u128::from(count));
            *load = if comes { load.saturating_add(amount) } else { load.saturating_sub(amount) };
        }
        if self.instance.user(UserId(user as usize)).per_server().is_some() {
            let there = self.there.entry((server, user)).or_default();
            *there = if comes { there.saturating_add(count) } else { there.saturating_sub(count) };
        }
    }

    /// How many tasks of a user fit on a server now.
    fn room(&self, server: usize, user: u32) -> u64 {
        let capacity = &self.capacity[self.class[server].0];
        let parts = self.demands[user as usize].iter().zip(capacity.iter().zip(&self.load[server]));
        let parts = parts.filter(|(demand, _)| **demand > 0);
        let fit = parts.map(|(demand, (capacity, load))| capacity.saturating_sub(*load) / demand).min();
        let fit = fit.map_or(u64::MAX, |fit| u64::try_from(fit).unwrap_or(u64::MAX));
        let most = self.instance.user(UserId(user as usize)).per_server();
        most.map_or(fit, |most| {
            fit.min(most.saturating_sub(self.there.get(&(server, user)).copied().unwrap_or(0)))
        })
    }

    fn step(&mut self, user: u32, from: Option<usize>, to: Option<usize>, tasks: u64) {
        let at = |server: Option<usize>| server.map(|server| server as u64);
        if let Some(from) = from {
            self.change_load(from, user, tasks, false);
            self.looked_at.insert(from);
        }
        if let Some(to) = to {
            self.change_load(to, user, tasks, true);
        }
        self.steps.push(Step { user: UserId(user as usize), from: at(from), to: at(to), tasks });
    }

    /// Takes tasks off the list of those that are to leave a server.
    fn left(&mut self, server: usize, user: u32, tasks: u64) {
        if let Some(left) = self.leaving.get_mut(&(server, user)) {
            *left -= tasks;
            if *left == 0 {
                self.leaving.remove(&(server, user));
                self.sources[user as usize].remove(&server);
            }
        }
        self.to_leave[user as usize] -= tasks;
    }

    /// Of users of whom more tasks leave than come, some stop: those first that leave a server that others come to.
    fn stop_what_ends(&mut self) {
        for user in 0..self.demands.len() {
            let mut ending = self.to_leave[user].saturating_sub(self.to_come[user]);
            let is_wanted = |server: &usize| self.looked_at.contains(server);
            let (wanted, others): (Vec<usize>, Vec<usize>) =
                self.sources[user].iter().partition(|s| is_wanted(s));
            for server in wanted.into_iter().chain(others) {
                let here = self.leaving.get(&(server, user as u32)).copied().unwrap_or(0);
                let tasks = here.min(ending);
                if tasks == 0 {
                    continue;
                }
                ending -= tasks;
                self.left(server, user as u32, tasks);
                let waits = self.looked_at.contains(&server);
                self.step(user as u32, Some(server), None, tasks);
                if !waits {
                    self.looked_at.remove(&server);
                }
            }
        }
    }

    /// Brings tasks to servers with room for them, as long as there are any.
    fn come_where_there_is_room(&mut self) {
        while let Some(server) = self.looked_at.pop_first() {
            let waiting = self.coming.range((server, 0)..=(server, u32::MAX));
            let waiting: Vec<(u32, u64)> = waiting.map(|((_, user), count)| (*user, *count)).collect();
            for (user, mut count) in waiting {
                while count > 0 {
                    let most = self.room(server, user).min(count);
                    if most == 0 {
                        break;
                    }
                    let tasks = self.bring(server, user, most);
                    count -= tasks;
                }
            }
        }
    }

    /// Brings some of `most` tasks of a user to a server: from where they leave, if any still do.
    fn bring(&mut self, server: usize, user: u32, most: u64) -> u64 {
        // What only waited here for its own way on has arrived.
        let there = self.leaving.get(&(server, user)).copied().unwrap_or(0).min(most);
        if there > 0 {
            self.left(server, user, there);
            self.came(server, user, there);
            return there;
        }
        // Where others wait for room, leaving helps the most.
        let waited_for =
            |source: &&usize| self.coming.range((**source, 0)..=(**source, u32::MAX)).next().is_some();
        let sources = &self.sources[user as usize];
        let source = sources.iter().take(64).find(waited_for).or_else(|| sources.first()).copied();
        let tasks = match source {
            Some(source) => {
                let tasks = most.min(self.leaving.get(&(source, user)).copied().unwrap_or(most));
                self.left(source, user, tasks);
                self.step(user, Some(source), Some(server), tasks);
                tasks
            }
            None => {
                self.step(user, None, Some(server), most);
                most
            }
        };
        self.came(server, user, tasks);
        tasks
    }

    /// Takes tasks off the list of those that are to come to a server.
    fn came(&mut self, server: usize, user: u32, tasks: u64) {
        if let Some(left) = self.coming.get_mut(&(server, user)) {
            *left -= tasks;
            if *left == 0 {
                self.coming.remove(&(server, user));
            }
        }
        self.to_come[user as usize] -= tasks;
        self.waiting = self.waiting.saturating_sub(tasks);
    }

    /// Moves tasks out of the way of others that come, one server at least; whether there was any.
    fn break_a_circle(&mut self) -> bool {
        // The server where the fewest tasks are in the way of the first that can come then.
        let blocked: BTreeSet<usize> = self.coming.keys().map(|(server, _)| *server).collect();
        let in_the_way = |server: &usize| -> u64 {
            self.leaving.range((*server, 0)..=(*server, u32::MAX)).map(|(_, count)| *count).sum()
        };
        let candidates = blocked.into_iter().map(|server| (in_the_way(&server), server));
        let Some((_, server)) = candidates.filter(|(count, _)| *count > 0).min() else { return false };
        self.circles += 1;
        let leaving = self.leaving.range((server, 0)..=(server, u32::MAX));
        let leaving: Vec<u32> = leaving.map(|((_, user), _)| *user).collect();
        for user in leaving {
            let elsewhere = (0..self.class.len()).find(|other| {
                let rule = self.instance.user(UserId(user as usize)).rule();
                // What came to a server that keeps its tasks could not leave it again.
                let is_way = *other != server && !self.rules.kept_servers[*other];
                is_way && rule.allows(self.class[*other]) && self.room(*other, user) > 0
            });
            // Tasks that are in each other's way again and again end in a stop.
            let elsewhere = elsewhere.filter(|_| self.circles <= MOST_CIRCLES);
            match elsewhere {
                Some(other) => {
                    self.left(server, user, 1);
                    self.step(user, Some(server), Some(other), 1);
                    *self.leaving.entry((other, user)).or_default() += 1;
                    self.sources[user as usize].insert(other);
                    self.to_leave[user as usize] += 1;
                }
                None => {
                    self.left(server, user, 1);
                    self.step(user, Some(server), None, 1);
                }
            }
            self.looked_at.insert(server);
            let waiting = self.waiting;
            self.come_where_there_is_room();
            if self.waiting < waiting {
                return true;
            }
        }
        true
    }
}
