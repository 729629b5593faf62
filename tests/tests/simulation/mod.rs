//! Traces run on clusters: against the plain simulator, and against what must hold of any run.

mod devices;
mod naive;
mod present;
mod rules;
mod tenants;
mod traces;

use fairplan_heuristics::policy;
use fairplan_instances::trace::{EventKind, EventSource, NewTasks, Trace, TraceHeader};
use fairplan_instances::{ClusterOutcome, Decimal, Objective, ServerClass, TaskCounts};
use fairplan_simulation::{
    ClusterRules, ClusterSettings, Present, ServiceOrder, SimulationError, TaskEvent, Watch,
    dedicated_clouds, simulate_cluster,
};
use fairplan_solver::backend;
use naive::Rule;
use traces::random_trace;

const RULES: [(&str, Rule); 9] = [
    ("first-fit", Rule::FirstFit),
    ("best-fit", Rule::BestFit),
    ("worst-fit", Rule::WorstFit),
    ("dot-product", Rule::DotProduct),
    ("slots=1", Rule::Slots(1)),
    ("slots=3", Rule::Slots(3)),
    ("slots=14", Rule::Slots(14)),
    ("hadoop-slots=2", Rule::HadoopSlots(2)),
    ("hadoop-slots=5", Rule::HadoopSlots(5)),
];

const ORDERS: [ServiceOrder; 6] = [
    ServiceOrder::LowestShare,
    ServiceOrder::LowestShare,
    ServiceOrder::FewestTasks,
    ServiceOrder::BelowIdeal(Objective::Drfh),
    ServiceOrder::BelowIdeal(Objective::ProportionalFairness),
    ServiceOrder::LargestRank,
];

/// Writes down what happens, and checks with every event that no server is overloaded and no task is missing.
struct Ledger<'a> {
    trace: &'a Trace,
    over_commit: Decimal,
    /// How many events of the trace have happened.
    passed: usize,
    /// What each server has, and what the tasks on it hold.
    capacity: Vec<Vec<u64>>,
    used: Vec<Vec<u64>>,
    events: Vec<(u64, TaskEvent)>,
    running: i64,
    checked: usize,
}

impl<'a> Ledger<'a> {
    fn new(trace: &'a Trace, over_commit: Decimal) -> Self {
        let (capacity, used, events) = (Vec::new(), Vec::new(), Vec::new());
        let mut ledger =
            Self { trace, over_commit, passed: 0, capacity, used, events, running: 0, checked: 0 };
        for (server, shape) in trace.register().initial_servers() {
            ledger.resize(server.index(), trace.register().shapes().units(shape).to_vec());
        }
        ledger
    }

    fn resize(&mut self, server: usize, capacity: Vec<u64>) {
        let nothing = vec![0; self.trace.register().header().resources.len()];
        self.capacity.resize(self.capacity.len().max(server + 1), nothing.clone());
        self.used.resize(self.capacity.len(), nothing);
        self.capacity[server] = capacity;
    }

    /// Lets the servers of the trace come, change and go until a time.
    fn pass(&mut self, until: u64) {
        let width = self.trace.register().header().resources.len();
        while let Some(event) = self.trace.events().get(self.passed).filter(|event| event.time <= until) {
            self.passed += 1;
            match event.kind {
                EventKind::ServerRemoved(server) => self.resize(server.index(), vec![0; width]),
                EventKind::ServerAdded(server, shape) | EventKind::ServerChanged(server, shape) => {
                    self.resize(server.index(), self.trace.register().shapes().units(shape).to_vec());
                }
                EventKind::Submitted(_) => {}
            }
        }
    }

    fn is_within(&self, server: usize) -> bool {
        let ten = 10u128.pow(u32::from(self.over_commit.exponent().unsigned_abs()));
        let factor = self.over_commit.scaled(self.over_commit.exponent()).unwrap();
        let within = |(used, has): (&u64, &u64)| u128::from(*used) * ten <= u128::from(*has) * factor;
        self.over_commit.exponent() <= 0 && self.used[server].iter().zip(&self.capacity[server]).all(within)
    }
}

impl Watch for Ledger<'_> {
    fn task(&mut self, time: u64, event: TaskEvent) {
        self.events.push((time, event));
        let (server, demand, starts) = match event {
            TaskEvent::Started { server, demand, .. } => (server as usize, demand, true),
            TaskEvent::Ended { server, demand, .. } | TaskEvent::Evicted { server, demand, .. } => {
                (server as usize, demand, false)
            }
        };
        self.running += if starts { 1 } else { -1 };
        assert!(self.running >= 0);
        if starts {
            self.pass(time);
        }
        for (used, units) in self.used[server].iter_mut().zip(self.trace.register().shapes().units(demand)) {
            *used = if starts { *used + units } else { used.checked_sub(*units).unwrap() };
        }
        assert!(!starts || self.is_within(server), "server {server} is overloaded at {time}");
    }

    fn instant(&mut self, time: u64, tasks: &TaskCounts) -> bool {
        self.checked += 1;
        self.pass(time);
        let overloaded = (0..self.used.len()).find(|server| !self.is_within(*server));
        assert_eq!(overloaded, None, "a server that changed at {time} is overloaded");
        assert_eq!(tasks.running as i64, self.running);
        assert_eq!(tasks.submitted, tasks.completed + tasks.running + tasks.waiting + tasks.lost);
        false
    }
}

fn run(
    trace: &Trace,
    name: &str,
    order: ServiceOrder,
    settings: ClusterSettings,
) -> Result<(ClusterOutcome, Vec<(u64, TaskEvent)>), SimulationError> {
    run_from([trace; 2], name, order, settings, None)
}

/// The same, begun with tasks on servers; shapes have the numbers that they have in the second trace.
fn run_from(
    [trace, numbered]: [&Trace; 2],
    name: &str,
    order: ServiceOrder,
    settings: ClusterSettings,
    present: Option<&Present>,
) -> Result<(ClusterOutcome, Vec<(u64, TaskEvent)>), SimulationError> {
    let policy = policy(name, 5).unwrap();
    let choice = |totals: &[u128], largest: &[u128]| policy.choice(totals, largest);
    let solver = backend("auto").unwrap();
    let rules = ClusterRules { choice: &choice, order, solver: &*solver, present, tenants: None };
    let mut ledger = Ledger::new(numbered, settings.over_commit);
    let outcome = simulate_cluster(&mut trace.replay().unwrap(), rules, settings, &mut ledger)?;
    assert!(ledger.checked > 0 || outcome.tasks.submitted == 0);
    Ok((outcome, ledger.events))
}

fn settings(number: u64) -> ClusterSettings {
    ClusterSettings {
        over_commit: ["1", "1", "0.5", "1.5", "2.25"][number as usize % 5].parse::<Decimal>().unwrap(),
        resubmit: !number.is_multiple_of(3),
        horizon: number.is_multiple_of(4).then_some(15 + number % 31),
        sample_every: number.is_multiple_of(2).then_some(1 + number % 7),
        ..ClusterSettings::default()
    }
}

#[test]
fn five_hundred_random_traces_run_as_in_the_plain_simulator() {
    let solver = backend("auto").unwrap();
    let (mut happened, mut evicted) = (0, 0);
    for number in 0..500 {
        let trace = random_trace(number);
        let settings = settings(number);
        let (name, rule) = RULES[number as usize % RULES.len()];
        let order = ORDERS[number as usize / RULES.len() % ORDERS.len()];
        let expected = naive::simulate(&trace, rule, order, &*solver, settings);
        let (outcome, events) = run(&trace, name, order, settings).unwrap();
        let context = format!("trace {number}, {name}, {order:?}, {settings:?}");
        for (step, (ours, plain)) in events.iter().zip(&expected.events).enumerate() {
            assert_eq!(ours, plain, "{context}: event {step}");
        }
        assert_eq!(events.len(), expected.events.len(), "{context}");
        let tasks = outcome.tasks;
        let counts =
            [tasks.submitted, tasks.completed, tasks.running, tasks.waiting, tasks.lost, tasks.too_large];
        assert_eq!(counts, expected.counts, "{context}");
        let jobs: Vec<(String, u64, u64)> =
            outcome.jobs.iter().map(|job| (job.id.clone(), job.submitted, job.completed)).collect();
        assert_eq!(jobs, expected.jobs, "{context}");
        assert_eq!(outcome.end, expected.end, "{context}");
        assert_eq!(outcome.utilization, expected.utilization, "{context}");
        happened += events.len();
        evicted += outcome.tasks.evicted;
    }
    assert!(
        happened > 2000 && evicted > 20,
        "the traces are too tame: {happened} events, {evicted} evictions"
    );
}

#[test]
fn the_same_bytes_on_every_run_and_number_of_threads() {
    let trace = random_trace(17);
    for name in ["best-fit", "random", "slots=3"] {
        for order in
            [ServiceOrder::LowestShare, ServiceOrder::BelowIdeal(Objective::Drfh), ServiceOrder::LargestRank]
        {
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let one = alone.install(|| run(&trace, name, order, settings(2)).unwrap());
            assert_eq!(one, run(&trace, name, order, settings(2)).unwrap(), "{name}");
        }
    }
}

#[test]
fn random_places_every_task_where_it_has_room_and_starts_as_many_as_it_can() {
    for number in 0..60 {
        let trace = random_trace(number);
        // That every task has room is checked by the ledger.
        let (outcome, events) = run(&trace, "random", ServiceOrder::LowestShare, settings(number)).unwrap();
        let starts = events.iter().filter(|(_, event)| matches!(event, TaskEvent::Started { .. })).count();
        let TaskCounts { completed, running, evicted, .. } = outcome.tasks;
        assert_eq!(starts as u64, completed + running + evicted);
        assert!(outcome.tasks.too_large <= outcome.tasks.waiting);
    }
}

#[test]
fn a_user_alone_on_its_dedicated_cloud_is_as_in_a_trace_of_its_own() {
    let mut header = TraceHeader::new("", &["cpu"]);
    let four = vec!["4".parse().unwrap()];
    header.server_classes.push(ServerClass::new("c", 3, four));
    let mut trace = Trace::new(header).unwrap();
    for user in ["a", "b", "c"] {
        let demand = ["2".parse().unwrap()];
        let tasks =
            NewTasks { user, job: user, demand: &demand, count: 4, duration: 10, rules: None, more: false };
        trace.submitted(0, tasks).unwrap();
    }
    let policy = policy("first-fit", 0).unwrap();
    let choice = |totals: &[u128], largest: &[u128]| policy.choice(totals, largest);
    let solver = backend("auto").unwrap();
    let rules = ClusterRules {
        choice: &choice,
        order: ServiceOrder::LowestShare,
        solver: &*solver,
        present: None,
        tenants: None,
    };
    let settings = ClusterSettings { horizon: Some(15), ..ClusterSettings::default() };
    let open = || Ok(Box::new(trace.replay().unwrap()) as Box<dyn EventSource>);
    let outcome = dedicated_clouds(&open, rules, settings, 3, &|| false).unwrap();
    // A server each: two tasks at once, so that by 15 two are done and two run.
    assert!(outcome.users.iter().all(|user| (user.submitted, user.completed) == (4, 2)), "{outcome:?}");
    assert_eq!((outcome.tasks.running, outcome.tasks.waiting), (6, 0));
}

#[test]
fn settings_that_mean_nothing_are_refused_with_their_name() {
    let refused = |settings| {
        run(&random_trace(1), "first-fit", ServiceOrder::LowestShare, settings).err().unwrap().to_string()
    };
    let default = ClusterSettings::default();
    assert_eq!(
        refused(ClusterSettings { over_commit: Decimal::ZERO, ..default }),
        "over_commit = 0: must be > 0 and at most 1000"
    );
    assert_eq!(
        refused(ClusterSettings { sample_every: Some(0), ..default }),
        "sample_every = 0: must be > 0"
    );
}
