//! The plain simulator: a list of tasks, looked through for everything. Written from the rules alone, it shares no code with
//! the one it is compared with.

use fairplan_instances::trace::{EventKind, EventSource, Trace, UserNumber};
use fairplan_instances::{
    Decimal, InstanceBuilder, NewUser, Objective, ServerClass, Solver, UserId, compare_ratios,
};
use fairplan_simulation::{ClusterSettings, ServiceOrder, TaskEvent};
use std::cmp::Ordering;

/// Where a task goes, and who is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    FirstFit,
    BestFit,
    WorstFit,
    DotProduct,
    Slots(u128),
    HadoopSlots(u128),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waiting,
    Running { server: usize, end: u64, number: u64 },
    Done,
    Lost,
}

#[derive(Clone, Debug)]
struct Task {
    user: usize,
    job: u32,
    shape: fairplan_instances::trace::ShapeNumber,
    demand: Vec<u128>,
    duration: u64,
    order: u64,
    state: State,
}

/// What came of it.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub events: Vec<(u64, TaskEvent)>,
    /// Job, when it was submitted and when it was done.
    pub jobs: Vec<(String, u64, u64)>,
    /// Submitted, completed, running, waiting, lost, too large.
    pub counts: [u64; 6],
    pub end: u64,
    pub utilization: Vec<f64>,
}

struct Cluster<'a> {
    rule: Rule,
    settings: ClusterSettings,
    order: ServiceOrder,
    solver: &'a dyn Solver,
    /// What had hardly any room after the last round.
    bottlenecks: Vec<usize>,
    trace: &'a Trace,
    /// What each server has, and whether it is there.
    servers: Vec<Vec<u128>>,
    tasks: Vec<Task>,
    /// What the cluster at the start gives to tasks.
    start_totals: Vec<u128>,
    start_largest: Vec<u128>,
    orders: u64,
    numbers: u64,
    outcome: Outcome,
}

/// Runs a trace.
pub fn simulate(
    trace: &Trace,
    rule: Rule,
    order: ServiceOrder,
    solver: &dyn Solver,
    settings: ClusterSettings,
) -> Outcome {
    let register = trace.register();
    let units = |shape| register.shapes().units(shape).iter().map(|u| u128::from(*u)).collect::<Vec<u128>>();
    let width = register.header().resources.len();
    let servers: Vec<Vec<u128>> = register.initial_servers().map(|(_, shape)| units(shape)).collect();
    let mut events = Vec::new();
    let mut source = trace.replay().unwrap();
    while let Some(event) = source.next_event().unwrap() {
        events.push((event, source.job_id().to_owned()));
    }
    // Servers that come at the first instant are there at the start.
    let mut at_start = servers.clone();
    for (event, _) in events.iter().take_while(|(event, _)| event.time == events[0].0.time) {
        match event.kind {
            EventKind::ServerRemoved(server) => at_start[server.index()] = vec![0; width],
            EventKind::ServerAdded(server, shape) if server.index() == at_start.len() => {
                at_start.push(units(shape));
            }
            EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                at_start[server.index()] = units(shape);
            }
            EventKind::Submitted(_) => {}
        }
    }
    let given: Vec<Vec<u128>> = at_start.iter().map(|c| over_committed(c, settings.over_commit)).collect();
    let mut cluster = Cluster {
        rule,
        settings,
        order,
        solver,
        bottlenecks: Vec::new(),
        trace,
        start_totals: (0..width).map(|r| given.iter().map(|c| c[r]).sum()).collect(),
        start_largest: (0..width).map(|r| given.iter().map(|c| c[r]).max().unwrap_or(0)).collect(),
        servers,
        tasks: Vec::new(),
        orders: 0,
        numbers: 0,
        outcome: Outcome::default(),
    };
    let horizon = settings.horizon.unwrap_or(u64::MAX);
    let (mut at, mut now) = (0, events.first().map_or(0, |(event, _)| event.time));
    let (mut used_time, mut total_time) = (vec![0u128; width], vec![0u128; width]);
    let mut submitted: Vec<(u32, String, u64, bool)> = Vec::new();
    let mut done: Vec<u32> = Vec::new();
    loop {
        let ends = cluster.tasks.iter().filter_map(|task| match task.state {
            State::Running { end, .. } => Some(end),
            _ => None,
        });
        let next = ends.chain(events.get(at).map(|(event, _)| event.time)).min();
        let time = match (next, settings.horizon) {
            (Some(next), _) if next <= horizon => next,
            (Some(_), Some(horizon)) => horizon.max(now),
            _ => break,
        };
        for r in 0..width {
            used_time[r] += u128::from(time - now) * cluster.used(None, r);
            total_time[r] += u128::from(time - now) * cluster.total(r);
        }
        now = time;
        if next.is_some_and(|next| next > horizon) {
            break;
        }
        let mut ending: Vec<(u64, usize)> = (0..cluster.tasks.len())
            .filter_map(|k| match cluster.tasks[k].state {
                State::Running { end, number, .. } if end == now => Some((number, k)),
                _ => None,
            })
            .collect();
        ending.sort();
        let mut finished: Vec<u32> = Vec::new();
        for (_, k) in ending {
            let State::Running { server, .. } = cluster.tasks[k].state else { unreachable!() };
            cluster.tasks[k].state = State::Done;
            let (user, demand) = (cluster.tasks[k].user as u32, cluster.tasks[k].shape);
            cluster.outcome.events.push((now, TaskEvent::Ended { user, demand, server: server as u32 }));
            finished.push(cluster.tasks[k].job);
            let job = cluster.tasks[k].job;
            cluster.close_job(job, now, &submitted, &mut done);
        }
        while let Some((event, id)) = events.get(at).filter(|(event, _)| event.time == now) {
            at += 1;
            match event.kind {
                EventKind::ServerRemoved(server) => {
                    cluster.resize(server.index(), vec![0; width], now, true);
                }
                EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                    cluster.resize(server.index(), units(shape), now, false);
                }
                EventKind::Submitted(s) => {
                    for _ in 0..s.count {
                        cluster.tasks.push(Task {
                            user: s.user.index(),
                            job: s.job.0,
                            shape: s.demand,
                            demand: units(s.demand),
                            duration: s.duration,
                            order: cluster.orders,
                            state: State::Waiting,
                        });
                    }
                    cluster.orders += 1;
                    match submitted.iter_mut().find(|(job, ..)| *job == s.job.0) {
                        Some(job) => job.3 = s.last,
                        None => submitted.push((s.job.0, id.clone(), now, s.last)),
                    }
                }
            }
        }
        cluster.schedule(now);
    }
    let count = |is: &dyn Fn(&Task) -> bool| cluster.tasks.iter().filter(|task| is(task)).count() as u64;
    let given: Vec<Vec<u128>> =
        cluster.servers.iter().map(|c| over_committed(c, settings.over_commit)).collect();
    let fits = |task: &Task| given.iter().any(|c| c.iter().zip(&task.demand).all(|(c, d)| d <= c));
    cluster.outcome.counts = [
        cluster.tasks.len() as u64,
        count(&|task| task.state == State::Done),
        count(&|task| matches!(task.state, State::Running { .. })),
        count(&|task| task.state == State::Waiting),
        count(&|task| task.state == State::Lost),
        count(&|task| task.state == State::Waiting && !fits(task)),
    ];
    let share = |(u, t): (&u128, &u128)| if *t == 0 { 0.0 } else { *u as f64 / *t as f64 };
    cluster.outcome.utilization = used_time.iter().zip(&total_time).map(share).collect();
    cluster.outcome.end = now;
    cluster.outcome
}

/// `⌊factor · capacity⌋`.
pub fn over_committed(capacity: &[u128], factor: Decimal) -> Vec<u128> {
    // Factors of these tests have at most two decimal places.
    let hundredths = factor.scaled(-2).unwrap();
    capacity.iter().map(|amount| amount * hundredths / 100).collect()
}

impl Cluster<'_> {
    fn on(&self, server: usize) -> impl Iterator<Item = &Task> {
        self.tasks
            .iter()
            .filter(move |task| matches!(task.state, State::Running { server: s, .. } if s == server))
    }

    fn used(&self, user: Option<usize>, r: usize) -> u128 {
        let running = self.tasks.iter().filter(|task| matches!(task.state, State::Running { .. }));
        running.filter(|task| user.is_none_or(|user| task.user == user)).map(|task| task.demand[r]).sum()
    }

    fn total(&self, r: usize) -> u128 {
        self.servers.iter().map(|capacity| capacity[r]).sum()
    }

    /// A server's capacity and a task's demand in what the rule packs by.
    fn packed(&self, amounts: &[u128], is_task: bool) -> Vec<u128> {
        if let Rule::HadoopSlots(n) = self.rule {
            let counted = || amounts.iter().zip(&self.start_largest).filter(|(_, most)| **most > 0);
            let slots = if is_task {
                let larger = amounts.iter().zip(&self.start_largest).any(|(d, most)| d * n > *most);
                if larger { u128::MAX } else { 1 }
            } else {
                // The mean of the parts, over the product of all that is largest.
                let product: u128 = counted().map(|(_, most)| most).product();
                let parts: u128 = counted().map(|(c, most)| c * (product / most)).sum();
                n * parts / (product * counted().count().max(1) as u128)
            };
            return std::iter::once(slots).chain(amounts.iter().copied()).collect();
        }
        let Rule::Slots(n) = self.rule else { return amounts.to_vec() };
        let counted = amounts.iter().zip(&self.start_largest);
        if is_task {
            let slots = counted.map(|(d, most)| match (*d, *most) {
                (0, _) => 0,
                (_, 0) => u128::MAX,
                (d, most) => (d * n).div_ceil(most),
            });
            vec![slots.max().unwrap()]
        } else {
            vec![counted.filter(|(_, most)| **most > 0).map(|(c, most)| c * n / most).min().unwrap_or(0)]
        }
    }

    /// What a server of this capacity would have free; `None` if it is overloaded.
    fn free(&self, server: usize, capacity: &[u128]) -> Option<Vec<u128>> {
        let mut free = self.packed(&over_committed(capacity, self.settings.over_commit), false);
        for task in self.on(server) {
            for (free, d) in free.iter_mut().zip(self.packed(&task.demand, true)) {
                *free = free.checked_sub(d)?;
            }
        }
        // Slots may have room for what the resources have not, when the cluster at the start was smaller.
        let mut left = over_committed(capacity, self.settings.over_commit);
        for task in self.on(server) {
            for (left, d) in left.iter_mut().zip(&task.demand) {
                *left = left.checked_sub(*d)?;
            }
        }
        Some(free)
    }

    fn resize(&mut self, server: usize, capacity: Vec<u128>, now: u64, all_oldest_first: bool) {
        self.servers.resize(self.servers.len().max(server + 1), vec![0; capacity.len()]);
        while self.free(server, &capacity).is_none() || (all_oldest_first && self.on(server).next().is_some())
        {
            let numbered = self.tasks.iter().enumerate().filter_map(|(k, task)| match task.state {
                State::Running { server: s, number, .. } if s == server => Some((number, k)),
                _ => None,
            });
            let (_, k) = if all_oldest_first { numbered.min() } else { numbered.max() }.unwrap();
            let task = &mut self.tasks[k];
            let event =
                TaskEvent::Evicted { user: task.user as u32, demand: task.shape, server: server as u32 };
            self.outcome.events.push((now, event));
            if self.settings.resubmit {
                task.state = State::Waiting;
                task.order = self.orders;
                self.orders += 1;
            } else {
                task.state = State::Lost;
            }
        }
        self.servers[server] = capacity;
    }

    fn close_job(&mut self, job: u32, now: u64, submitted: &[(u32, String, u64, bool)], done: &mut Vec<u32>) {
        let all = || self.tasks.iter().filter(|task| task.job == job);
        let Some((_, id, since, true)) = submitted.iter().find(|(other, ..)| *other == job) else { return };
        if !done.contains(&job) && all().all(|task| task.state == State::Done) {
            done.push(job);
            self.outcome.jobs.push((id.clone(), *since, now));
        }
    }

    /// Weighted dominant share as a fraction.
    fn share(&self, user: usize) -> (u128, u128) {
        // Weights of these tests have at most two decimal places.
        let weight = self.trace.register().weight(UserNumber(user as u32)).scaled(-2).unwrap();
        let shares = (0..self.start_totals.len()).map(|r| (self.used(Some(user), r), self.total(r)));
        let dominant = shares.filter(|(_, t)| *t > 0).max_by(|a, b| compare_ratios(*a, *b)).unwrap_or((0, 1));
        (dominant.0 * 100, dominant.1 * weight)
    }

    fn tasks_over_weight(&self, user: usize) -> (u128, u128) {
        let weight = self.trace.register().weight(UserNumber(user as u32)).scaled(-2).unwrap();
        let runs = |task: &&Task| task.user == user && matches!(task.state, State::Running { .. });
        (self.tasks.iter().filter(runs).count() as u128, weight)
    }

    fn dominant(&self, user: usize) -> f64 {
        let shares = (0..self.start_totals.len())
            .map(|r| self.used(Some(user), r) as f64 / self.total(r).max(1) as f64);
        shares.fold(0.0, f64::max)
    }

    fn schedule(&mut self, now: u64) {
        let users = self.trace.register().users().len();
        let ideal = match self.order {
            ServiceOrder::BelowIdeal(objective) => self.ideal_shares(objective),
            _ => Vec::new(),
        };
        let mut active: Vec<usize> = (0..users).collect();
        loop {
            let order = |a: &usize, b: &usize| match self.order {
                ServiceOrder::LowestShare | ServiceOrder::Hierarchical => {
                    compare_ratios(self.share(*a), self.share(*b))
                }
                ServiceOrder::FewestTasks => {
                    compare_ratios(self.tasks_over_weight(*a), self.tasks_over_weight(*b))
                }
                ServiceOrder::BelowIdeal(_) => {
                    let lacks = |user: usize| ideal[user] - self.dominant(user);
                    lacks(*b).total_cmp(&lacks(*a))
                }
                ServiceOrder::LargestRank => self.smallest_rank(*b).cmp(&self.smallest_rank(*a)),
            };
            // The first of equals.
            let Some(user) = active.iter().copied().min_by(order) else { break };
            let mut own: Vec<usize> = (0..self.tasks.len())
                .filter(|k| self.tasks[*k].user == user && self.tasks[*k].state == State::Waiting)
                .collect();
            own.sort_by_key(|k| (self.tasks[*k].order, *k));
            let found = own.into_iter().find_map(|k| Some((k, self.server_for(&self.tasks[k].demand)?)));
            let Some((k, server)) = found else {
                active.retain(|other| *other != user);
                continue;
            };
            let end = now + self.tasks[k].duration;
            self.tasks[k].state = State::Running { server, end, number: self.numbers };
            self.numbers += 1;
            let demand = self.tasks[k].shape;
            self.outcome
                .events
                .push((now, TaskEvent::Started { user: user as u32, demand, server: server as u32 }));
        }
        self.bottlenecks = self.find_bottlenecks();
    }

    /// One more than how many have more of a bottleneck, at the bottleneck where these are fewest; by dominant shares where
    /// there is no bottleneck. All over the users' weights.
    fn smallest_rank(&self, user: usize) -> usize {
        let users = || 0..self.trace.register().users().len();
        let weight = |user: usize| self.trace.register().weight(UserNumber(user as u32)).scaled(-2).unwrap();
        let has_more = |a: usize, b: usize, r: usize| {
            self.used(Some(a), r) * weight(b) > self.used(Some(b), r) * weight(a)
        };
        let at = |r: &usize| 1 + users().filter(|other| has_more(*other, user, *r)).count();
        let by_share = || {
            1 + users().filter(|other| compare_ratios(self.share(*other), self.share(user)).is_gt()).count()
        };
        self.bottlenecks.iter().map(at).min().unwrap_or_else(by_share)
    }

    /// The resources of which more than half is on servers with less of it free than the mean waiting task needs.
    fn find_bottlenecks(&self) -> Vec<usize> {
        let waiting: Vec<&Task> = self.tasks.iter().filter(|task| task.state == State::Waiting).collect();
        let is_bottleneck = |r: &usize| {
            let needed: u128 = waiting.iter().map(|task| task.demand[*r]).sum();
            let short = |(server, capacity): (usize, &Vec<u128>)| {
                let given = over_committed(capacity, self.settings.over_commit)[*r];
                let free = given - self.on(server).map(|task| task.demand[*r]).sum::<u128>();
                if free * (waiting.len() as u128) < needed { capacity[*r] } else { 0 }
            };
            2 * self.servers.iter().enumerate().map(short).sum::<u128>() > self.total(*r)
        };
        (0..self.start_totals.len()).filter(is_bottleneck).collect()
    }

    fn server_for(&self, demand: &[u128]) -> Option<usize> {
        let size = self.packed(demand, true);
        let free: Vec<Vec<u128>> =
            (0..self.servers.len()).map(|s| self.free(s, &self.servers[s]).unwrap()).collect();
        let with_room =
            (0..free.len()).filter(|s| size.iter().zip(&free[*s]).all(|(size, free)| size <= free));
        with_room.reduce(|best, s| {
            let order = match self.rule {
                Rule::FirstFit | Rule::Slots(_) | Rule::HadoopSlots(_) => Ordering::Equal,
                Rule::BestFit => {
                    let one = size.iter().position(|d| *d > 0).unwrap();
                    let h = |free: &[u128]| {
                        let terms = size.iter().zip(free);
                        (terms.map(|(d, c)| (d * free[one]).abs_diff(c * size[one])).sum(), free[one])
                    };
                    compare_ratios(h(&free[s]), h(&free[best]))
                }
                Rule::WorstFit => {
                    let copies = |free: &[u128]| {
                        let ratios = free.iter().copied().zip(size.iter().copied()).filter(|(_, d)| *d > 0);
                        ratios.min_by(|x, y| compare_ratios(*x, *y)).unwrap()
                    };
                    compare_ratios(copies(&free[best]), copies(&free[s]))
                }
                Rule::DotProduct => {
                    let totals: Vec<u128> = self.start_totals.iter().map(|t| (*t).max(1)).collect();
                    let others =
                        |r: usize| (0..totals.len()).filter(|s| *s != r).map(|s| totals[s]).product::<u128>();
                    let aligned = |free: &[u128]| {
                        (0..size.len()).map(|r| size[r] * free[r] * others(r) * others(r)).sum::<u128>()
                    };
                    aligned(&free[best]).cmp(&aligned(&free[s]))
                }
            };
            if order.is_lt() { s } else { best }
        })
    }

    /// What a solver gives users whose unfinished tasks are one divisible task each.
    fn ideal_shares(&self, objective: Objective) -> Vec<f64> {
        let register = self.trace.register();
        let header = register.header();
        let width = header.resources.len();
        let mut ideal = vec![0.0; register.users().len()];
        let names = header.resources.iter().map(|resource| resource.name.clone()).collect();
        let mut builder = InstanceBuilder::new("", names).unwrap();
        let decimal = |r: usize, units: u128| header.resources[r].amount(units as u64);
        let mut given: Vec<Vec<u128>> =
            self.servers.iter().map(|c| over_committed(c, self.settings.over_commit)).collect();
        given.retain(|c| c.iter().any(|amount| *amount > 0));
        given.sort();
        for chunk in given.chunk_by(|a, b| a == b) {
            let capacity = (0..width).map(|r| decimal(r, chunk[0][r])).collect();
            let id = format!("{:?}", chunk[0]);
            builder.class(ServerClass::new(id, chunk.len() as u64, capacity)).unwrap();
        }
        let mut asked = Vec::new();
        for user in 0..ideal.len() {
            let needs = |r: usize| {
                let open = |task: &&Task| {
                    task.user == user && matches!(task.state, State::Waiting | State::Running { .. })
                };
                self.tasks.iter().filter(open).map(|task| task.demand[r]).sum::<u128>()
            };
            let demand: Vec<u128> = (0..width).map(needs).collect();
            let total = |r: usize| given.iter().map(|c| c[r]).sum::<u128>();
            if demand.iter().all(|d| *d == 0) || (0..width).any(|r| demand[r] > 0 && total(r) == 0) {
                continue;
            }
            let decimals: Vec<Decimal> = (0..width).map(|r| decimal(r, demand[r])).collect();
            let weight = register.weight(UserNumber(user as u32));
            let id = user.to_string();
            builder.user(NewUser { weight, tasks: Some(1), ..NewUser::new(&id, &decimals) }).unwrap();
            let share =
                (0..width).filter(|r| self.total(*r) > 0).map(|r| demand[r] as f64 / self.total(r) as f64);
            asked.push((user, share.fold(0.0, f64::max)));
        }
        if asked.is_empty() {
            return ideal;
        }
        let instance = builder.build().unwrap();
        let solution = self.solver.solve(&instance, objective).unwrap();
        for (position, (user, share)) in asked.into_iter().enumerate() {
            ideal[user] = solution.allocation.tasks(UserId(position)) * share;
        }
        ideal
    }
}
