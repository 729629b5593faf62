//! A trace run on a cluster (DRFH Sec. VI): tasks wait, are placed whole, run for their time and end, while servers come
//! and go.
//!
//! Events are totally ordered: by time; at one time tasks end first, in the order in which they began, then come the
//! trace's events in its order. Then is a scheduling opportunity ([`round`]). A run is a function of the trace, the rules
//! and the settings.

mod accounts;
mod dedicated;
mod fluid;
mod groups;
mod part;
mod present;
mod round;
mod running;
mod servers;
mod settings;
mod shapes;
mod shares;
mod tenants;
mod turns;
mod waiting;

pub use dedicated::dedicated_clouds;
pub use present::{Present, PresentServer, PresentTasks};
pub use settings::{ClusterRules, ClusterSettings, ServiceOrder, TaskEvent, Watch};
pub use tenants::Tenants;

use crate::SimulationError;
use crate::ranks::Ranks;
use accounts::Accounts;
use fairplan_instances::trace::{
    Event, EventKind, EventSource, RulesNumber, ServerNumber, ShapeNumber, Submission, UserNumber,
};
use fairplan_instances::{
    ClusterOutcome, ClusterSample, Decimal, Objective, TaskRules, UserSample, Violation,
};
use fluid::Fluid;
use groups::Groups;
use part::Part;
use present::Joined;
use round::{Round, Turn};
use running::{FOREVER, Running, Task};
use servers::Servers;
use settings::{check, weight_exponent};
use shapes::ShapeNumbers;
use shares::Shares;
use std::collections::{BTreeMap, VecDeque};
use waiting::Waiting;

/// Runs a trace on its cluster.
///
/// # Errors
/// A trace that breaks a rule, settings that mean nothing, a solver that failed; tasks that run at its beginning where there is no
/// room for them.
pub fn simulate_cluster(
    source: &mut dyn EventSource,
    rules: ClusterRules<'_>,
    settings: ClusterSettings,
    watch: &mut dyn Watch,
) -> Result<ClusterOutcome, SimulationError> {
    match rules.present {
        None => run(source, rules, settings, None, watch),
        Some(present) => run(&mut Joined::new(source, present)?, rules, settings, None, watch),
    }
}

fn run(
    source: &mut dyn EventSource,
    rules: ClusterRules<'_>,
    settings: ClusterSettings,
    part: Option<Part>,
    watch: &mut dyn Watch,
) -> Result<ClusterOutcome, SimulationError> {
    check(source, settings, &rules)?;
    let opening = opening(source)?;
    let mut run = Run::new(source, rules, settings, part, watch, opening);
    let mut event = run.next_event()?;
    run.outcome.start = event.map_or(0, |event| event.time);
    run.now = run.outcome.start;
    let horizon = settings.horizon.unwrap_or(u64::MAX);
    loop {
        let times = [event.map(|event| event.time), run.running.next_end()];
        let Some(time) = times.into_iter().flatten().min().filter(|time| *time <= horizon) else { break };
        run.advance(time)?;
        while let Some(task) = run.running.end(time) {
            run.end(task);
        }
        while let Some(Event { kind, .. }) = event.filter(|event| event.time == time) {
            run.happen(kind)?;
            event = run.next_event()?;
        }
        run.schedule()?;
        if run.watch.instant(time, &run.accounts.tasks) {
            run.outcome.partial = true;
            break;
        }
    }
    let unfinished = event.is_some() || run.running.are_any();
    if let Some(horizon) =
        settings.horizon.filter(|horizon| unfinished && *horizon > run.now && !run.outcome.partial)
    {
        run.advance(horizon)?;
    }
    run.finish()
}

/// What happens to servers at the first instant, and the event after that: servers that come then are there from the
/// beginning as much as those of the header.
fn opening(source: &mut dyn EventSource) -> Result<VecDeque<Event>, SimulationError> {
    let mut events: VecDeque<Event> = VecDeque::new();
    while let Some(event) = source.next_event()? {
        let first = events.front().map_or(event.time, |first| first.time);
        events.push_back(event);
        if event.time > first || matches!(event.kind, EventKind::Submitted(_)) {
            break;
        }
    }
    Ok(events)
}

/// The capacities of the servers that are there from the beginning.
fn first_capacities(source: &dyn EventSource, opening: &VecDeque<Event>) -> Vec<Vec<u64>> {
    let register = source.register();
    let units = |shape: ShapeNumber| register.shapes().units(shape).to_vec();
    let mut capacities: Vec<Vec<u64>> = register.initial_servers().map(|(_, shape)| units(shape)).collect();
    let first = opening.front().map_or(0, |event| event.time);
    for event in opening.iter().filter(|event| event.time == first) {
        match event.kind {
            EventKind::ServerRemoved(server) => capacities[server.index()].fill(0),
            EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                capacities.resize(capacities.len().max(server.index() + 1), Vec::new());
                capacities[server.index()] = units(shape);
            }
            EventKind::Submitted(_) => {}
        }
    }
    capacities
}

/// A run in progress.
struct Run<'a> {
    source: &'a mut dyn EventSource,
    /// Events read ahead.
    opening: VecDeque<Event>,
    rules: ClusterRules<'a>,
    settings: ClusterSettings,
    part: Option<Part>,
    watch: &'a mut dyn Watch,
    width: usize,
    weight_exponent: i8,
    now: u64,
    servers: Servers,
    waiting: Waiting,
    running: Running,
    shares: Shares,
    accounts: Accounts,
    round: Round,
    fluid: Fluid<'a>,
    /// Ideal shares, when they were found, and whether anything has changed since.
    ideal: Vec<f64>,
    solved: Option<u64>,
    changed: bool,
    /// The resources that had hardly any room after the last round.
    bottlenecks: Vec<usize>,
    /// Of how many users what runs at the beginning has begun.
    begun: usize,
    /// The shapes of tasks, and of each what it is in the trace and the rules that its tasks meet.
    numbers: ShapeNumbers,
    shapes: Vec<ShapeNumber>,
    met: Vec<TaskRules>,
    /// What tasks of each shape need; row-major.
    demands: Vec<u64>,
    /// What tasks have held and what servers have had of each resource, times microseconds.
    used_time: Vec<u128>,
    total_time: Vec<u128>,
    outcome: ClusterOutcome,
}

impl<'a> Run<'a> {
    fn new(
        source: &'a mut dyn EventSource,
        rules: ClusterRules<'a>,
        settings: ClusterSettings,
        part: Option<Part>,
        watch: &'a mut dyn Watch,
        opening: VecDeque<Event>,
    ) -> Self {
        let first = first_capacities(source, &opening).concat();
        let register = source.register();
        let width = register.header().resources.len();
        let capacities: Vec<u64> = register
            .initial_servers()
            .flat_map(|(_, shape)| register.shapes().units(shape).iter().copied())
            .collect();
        let mut servers = Servers::new(width, settings.over_commit, &first, rules.choice);
        let part = part.map(|part| part.dealt(capacities.len() / width));
        servers.cut_devices(&register.header().device_profiles);
        for (server, capacity) in capacities.chunks_exact(width).enumerate() {
            let domain = register.domain_of(ServerNumber(server as u32));
            match &part {
                Some(part) if !part.has(server) => servers.add(&vec![0; width], domain),
                _ => servers.add(capacity, domain),
            }
        }
        let weight_exponent = weight_exponent(source, rules.tenants);
        let scaled = |weight: Decimal| weight.scaled(weight_exponent).map_or(1, |weight| weight as u64);
        let groups =
            rules.tenants.map_or_else(Groups::default, |tenants| Groups::new(tenants, width, scaled));
        let mut shares = Shares::new(width, groups);
        shares.set_totals(servers.totals());
        Self {
            weight_exponent,
            source,
            opening,
            rules,
            settings,
            part,
            watch,
            width,
            now: 0,
            servers,
            waiting: Waiting::new(width),
            running: Running::default(),
            shares,
            accounts: Accounts::new(width),
            round: Round::default(),
            fluid: Fluid::new(rules.solver, rules.tenants),
            ideal: Vec::new(),
            solved: None,
            changed: true,
            bottlenecks: Vec::new(),
            begun: 0,
            numbers: ShapeNumbers::default(),
            shapes: Vec::new(),
            met: Vec::new(),
            demands: Vec::new(),
            used_time: vec![0; width],
            total_time: vec![0; width],
            outcome: ClusterOutcome::default(),
        }
    }

    fn next_event(&mut self) -> Result<Option<Event>, SimulationError> {
        let event = match self.opening.pop_front() {
            Some(event) => Some(event),
            None => self.source.next_event()?,
        };
        // Users are known from the event that first names them on.
        let register = self.source.register();
        for user in self.accounts.users.len()..register.users().len() {
            let id = register.users().get(user);
            self.accounts.add_user(id);
            let (weight, group) = self.rules.tenants.map_or((None, None), |tenants| tenants.user(id));
            let weight = weight.unwrap_or_else(|| register.weight(UserNumber(user as u32)));
            let weight = weight.scaled(self.weight_exponent);
            self.shares.add_user(weight.map_or(1, |weight| weight as u64), group);
        }
        Ok(event)
    }

    /// Goes on to a time until which nothing happens.
    fn advance(&mut self, time: u64) -> Result<(), SimulationError> {
        let every = [self.settings.sample_every, self.settings.optimum_every].map(|every| every.unwrap_or(0));
        let next = |after: u64, every: u64| after.checked_next_multiple_of(every);
        let mut from = self.now;
        while let Some(sample) = every.iter().filter_map(|every| next(from, *every)).min()
            && sample < time
        {
            self.sample(sample)?;
            from = sample + 1;
        }
        let span = u128::from(time - self.now);
        for r in 0..self.width {
            self.used_time[r] += span * self.servers.used()[r];
            self.total_time[r] += span * self.servers.totals()[r];
        }
        self.now = time;
        Ok(())
    }

    fn sample(&mut self, time: u64) -> Result<(), SimulationError> {
        let at = |every: Option<u64>| every.is_some_and(|every| time.is_multiple_of(every));
        let optimum = if at(self.settings.optimum_every) {
            let register = self.source.register();
            Some(self.fluid.shares(Objective::Drfh, register, &self.servers, &self.accounts)?)
        } else {
            None
        };
        let totals = self.servers.totals();
        let part =
            |used: &[u128]| used.iter().zip(totals).map(|(used, total)| quotient(*used, *total)).collect();
        let users = self.accounts.users.iter().enumerate();
        let users = users.filter(|(_, account)| account.running + account.waiting > 0);
        let users = users.map(|(user, account)| UserSample {
            user: user as u32,
            running: account.running,
            waiting: account.waiting,
            dominant_share: self.shares.dominant(user),
            shares: part(self.shares.used(user)),
            optimal_share: optimum.as_ref().map_or(0.0, |shares| shares[user]),
        });
        let sample = ClusterSample {
            time,
            utilization: part(self.servers.used()),
            running: self.accounts.tasks.running,
            waiting: self.accounts.tasks.waiting,
            users: users.collect(),
            has_optimum: optimum.is_some(),
        };
        self.outcome.samples.push(sample);
        Ok(())
    }

    fn demand(&self, shape: u32) -> &[u64] {
        &self.demands[shape as usize * self.width..(shape as usize + 1) * self.width]
    }

    fn happen(&mut self, kind: EventKind) -> Result<(), SimulationError> {
        match kind {
            EventKind::ServerRemoved(server) => {
                let evicted = self.running.evict_all(server.0);
                self.evict(evicted);
                self.servers.resize(server.0, &vec![0; self.width]);
            }
            EventKind::ServerAdded(server, capacity) | EventKind::ServerChanged(server, capacity) => {
                let capacity = match &self.part {
                    Some(part) if !part.has(server.index()) => vec![0; self.width],
                    _ => self.source.register().shapes().units(capacity).to_vec(),
                };
                if server.index() == self.servers.len() {
                    self.servers.add(&capacity, self.source.register().domain_of(server));
                } else {
                    while !self.servers.resize(server.0, &capacity)
                        && let Some(task) = self.running.evict_last(server.0)
                    {
                        self.evict(vec![task]);
                    }
                }
            }
            EventKind::Submitted(submission) => {
                if self.part.as_ref().is_none_or(|part| part.user == submission.user) {
                    self.submit(submission)?;
                }
            }
        }
        self.shares.set_totals(self.servers.totals());
        self.changed = true;
        Ok(())
    }

    fn submit(&mut self, submission: Submission) -> Result<(), SimulationError> {
        let Submission { user, job, demand, count, duration, rules, .. } = submission;
        let shape = self.shape(demand, rules, count);
        let (now, row) = (self.now, shape as usize * self.width..(shape as usize + 1) * self.width);
        let demand = &self.demands[row];
        self.accounts.submit(now, &submission, demand, self.source.job_id());
        match self.rules.present.and_then(|present| Some((present, present.users.get(self.begun)?))) {
            None => self.waiting.push(user.0, shape, demand, job, duration, count),
            Some((present, tasks)) => {
                self.begun += 1;
                let duration = present.remaining.unwrap_or(FOREVER);
                let (server, devices, gang) = (0, 0, None);
                let task = Task { user: user.0, shape, job, duration, server, devices, gang, number: 0 };
                self.begin(tasks, task)?;
            }
        }
        Ok(())
    }

    /// Tasks that run at the beginning take their room.
    fn begin(&mut self, tasks: &PresentTasks, task: Task) -> Result<(), Violation> {
        let row = task.shape as usize * self.width..(task.shape as usize + 1) * self.width;
        let demand = self.shapes[task.shape as usize];
        for PresentServer { names, tasks: count } in &tasks.servers {
            let known = self.source.register().servers();
            let Some(server) = names.iter().find_map(|name| known.position(name)) else {
                let problem =
                    "runs tasks in the placement, and the trace has no such server at its beginning";
                return Err(Violation::new("server", names.join(" or "), problem));
            };
            let task = Task { server: server as u32, ..task };
            for _ in 0..*count {
                let held = self.servers.hold(task.server, task.shape, &self.demands[row.clone()]);
                let Some(devices) = held else {
                    let problem = format!(
                        "has no room, as this policy counts it, for all that the placement puts there; {} of user {}, for one",
                        if *count == 1 { "a task" } else { "tasks" },
                        tasks.user
                    );
                    return Err(Violation::new("server", known.get(server), problem));
                };
                self.shares.take(task.user as usize, &self.demands[row.clone()]);
                self.running.begin(self.now, Task { devices, ..task });
                self.accounts.start(task.user);
                let Task { user, server, .. } = task;
                self.watch.task(self.now, TaskEvent::Started { user, demand, server });
            }
        }
        Ok(())
    }

    /// The number, among those of tasks, of a shape of so many tasks that meet rules together.
    fn shape(&mut self, number: ShapeNumber, rules: Option<RulesNumber>, tasks: u32) -> u32 {
        let register = self.source.register();
        let met = register.header().task_rules(rules);
        let is_counted = met.per_server.is_some() || met.spread.is_some();
        let (shape, is_new) = self.numbers.find((number, rules), is_counted.then_some(tasks));
        if is_new {
            let demand = register.shapes().units(number);
            self.demands.extend_from_slice(demand);
            self.servers.add_shape(demand, met);
            self.waiting.add_shape(met);
            self.shapes.push(number);
            self.met.push(met);
        }
        shape
    }

    fn release(&mut self, task: &Task) {
        let row = task.shape as usize * self.width..(task.shape as usize + 1) * self.width;
        let demand = &self.demands[row];
        self.servers.release((task.server, task.devices), task.shape, demand);
        self.shares.release(task.user as usize, demand);
    }

    fn end(&mut self, task: Task) {
        self.release(&task);
        let row = task.shape as usize * self.width..(task.shape as usize + 1) * self.width;
        self.accounts.end(self.now, task.user, task.job, &self.demands[row]);
        self.numbers.ended(task.shape);
        self.changed = true;
        let demand = self.shapes[task.shape as usize];
        self.watch.task(self.now, TaskEvent::Ended { user: task.user, demand, server: task.server });
    }

    /// Tasks have lost their server, and those of their gangs end with them.
    fn evict(&mut self, mut evicted: Vec<Task>) {
        let mut gangs: BTreeMap<u64, Option<(Task, u32)>> =
            evicted.iter().filter_map(|task| Some((task.gang?, None))).collect();
        for gang in gangs.keys() {
            evicted.extend(self.running.evict_gang(*gang));
        }
        for task in evicted {
            self.release(&task);
            let row = task.shape as usize * self.width..(task.shape as usize + 1) * self.width;
            let needed = &self.demands[row];
            self.accounts.evict(self.now, task.user, task.job, needed, self.settings.resubmit);
            if !self.settings.resubmit {
                self.numbers.ended(task.shape);
            } else if let Some(gang) = task.gang.and_then(|gang| gangs.get_mut(&gang)) {
                gang.get_or_insert((task, 0)).1 += 1;
            } else {
                self.waiting.push(task.user, task.shape, needed, task.job, task.duration, 1);
            }
            let demand = self.shapes[task.shape as usize];
            self.watch.task(self.now, TaskEvent::Evicted { user: task.user, demand, server: task.server });
        }
        for (task, tasks) in gangs.into_values().flatten() {
            let row = task.shape as usize * self.width..(task.shape as usize + 1) * self.width;
            let needed = &self.demands[row];
            self.waiting.push(task.user, task.shape, needed, task.job, task.duration, tasks);
        }
    }

    /// One scheduling opportunity.
    fn schedule(&mut self) -> Result<(), SimulationError> {
        if let ServiceOrder::BelowIdeal(objective) = self.rules.order {
            self.follow(objective)?;
        }
        let mut turn = match self.rules.order {
            ServiceOrder::LowestShare => Turn::LowestShare,
            ServiceOrder::FewestTasks => Turn::FewestTasks,
            ServiceOrder::Hierarchical => Turn::Hierarchical,
            ServiceOrder::BelowIdeal(_) => Turn::MostDeprived(&self.ideal),
            ServiceOrder::LargestRank => {
                let users = 0..self.accounts.users.len();
                let of =
                    |bottleneck| users.clone().map(|user| self.shares.weighted(user, bottleneck)).collect();
                Turn::LargestRank(Ranks::new(self.bottlenecks.iter().copied(), of))
            }
        };
        let Self { round, servers, waiting, shares, demands, now, running, accounts, watch, shapes, .. } =
            self;
        round.fill(&mut turn, servers, waiting, shares, demands, |task| {
            running.begin(*now, task);
            accounts.start(task.user);
            let demand = shapes[task.shape as usize];
            watch.task(*now, TaskEvent::Started { user: task.user, demand, server: task.server });
        });
        if self.rules.order == ServiceOrder::LargestRank {
            let waiting = self.accounts.tasks.waiting;
            self.bottlenecks = self.servers.bottlenecks(self.waiting.needed(), waiting);
        }
        Ok(())
    }

    /// Finds ideal shares if they are due.
    fn follow(&mut self, objective: Objective) -> Result<(), SimulationError> {
        let due = self.solved.is_none_or(|solved| self.now - solved >= self.settings.resolve_every);
        if self.changed && due {
            let register = self.source.register();
            self.ideal = self.fluid.shares(objective, register, &self.servers, &self.accounts)?;
            (self.solved, self.changed) = (Some(self.now), false);
        }
        // Users who came since have no ideal share yet.
        self.ideal.resize(self.accounts.users.len(), 0.0);
        Ok(())
    }

    /// Whether a task or a gang of a shape would have room under its rules if nothing else ran.
    fn fits_alone(&self, shape: u32) -> bool {
        let (demand, met) = (self.demand(shape), self.met[shape as usize]);
        let all: Vec<u64> = self.servers.capacities().flatten().copied().collect();
        let mut empty = Servers::new(self.width, self.settings.over_commit, &all, self.rules.choice);
        let register = self.source.register();
        empty.cut_devices(&register.header().device_profiles);
        for (server, capacity) in self.servers.capacities().enumerate() {
            empty.add(capacity, register.domain_of(ServerNumber(server as u32)));
        }
        empty.add_shape(demand, met);
        let mut on = Vec::new();
        match met.gang {
            Some(gang) => empty.take_gang(0, demand, gang, &mut on),
            None => on.extend(empty.take(0, demand, None)),
        }
        !on.is_empty()
    }

    fn finish(mut self) -> Result<ClusterOutcome, SimulationError> {
        let sampled = self.outcome.samples.last().map(|sample| sample.time);
        let at = |every: Option<u64>| every.is_some_and(|every| self.now.is_multiple_of(every));
        if sampled != Some(self.now) && (at(self.settings.sample_every) || at(self.settings.optimum_every)) {
            self.sample(self.now)?;
        }
        let given: Vec<Vec<u64>> = {
            let mut given: Vec<Vec<u64>> = self.servers.given().collect();
            given.sort_unstable();
            given.dedup();
            given
        };
        let fits = |shape: u32| {
            if self.met[shape as usize] != TaskRules::default() {
                return self.fits_alone(shape);
            }
            let demand = self.demand(shape);
            given.iter().any(|given| demand.iter().zip(given).all(|(demand, given)| demand <= given))
        };
        let too_large =
            self.waiting.counts().filter(|(shape, _)| !fits(*shape)).map(|(_, count)| count).sum();
        let parts = self.used_time.iter().zip(&self.total_time);
        let Self { outcome, accounts, fluid, .. } = self;
        Ok(ClusterOutcome {
            end: self.now,
            utilization: parts.map(|(used, total)| quotient(*used, *total)).collect(),
            tasks: fairplan_instances::TaskCounts { too_large, ..accounts.tasks },
            users: accounts.users.into_iter().map(|account| account.run).collect(),
            jobs: accounts.done,
            solves: fluid.solves,
            uncertified: fluid.uncertified,
            ..outcome
        })
    }
}

/// A part of a whole; 0 of nothing.
fn quotient(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
